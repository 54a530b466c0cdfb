"""Models and data sets: look through them, and add your own."""
