"""The web server around the pages: visitors, runs and the queue, protection, health, and Streamlit patched."""
