"""Bounds without probability: what a network can answer while its input varies within known limits (THEORY section 9).

`forms` is imported by the transforms, which are imported by the models: so nothing is gathered here.
"""
