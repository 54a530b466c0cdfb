"""Home: what this is, an object that is twisted until the model is wrong, and three ways in."""
