"""Small browser components (st.components.v2): the plot, the sliders and the thumbnails."""
