"""Bounds without probability: what a network can answer while its input varies within known limits."""
