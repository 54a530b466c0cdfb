"""Figures as pure functions: tpc_core objects in, Plotly figures (plain dicts) out."""
