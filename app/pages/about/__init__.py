"""About: what this is, which version, how to cite it, and how to use it."""
