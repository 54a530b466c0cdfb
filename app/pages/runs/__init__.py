"""Runs of `tpc evaluate`, object by object."""
