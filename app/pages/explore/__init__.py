"""Explore: load an object, move it, look at it, and watch what the model says."""
