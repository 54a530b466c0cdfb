"""Certify: a question, its run, the map and the verdict."""
