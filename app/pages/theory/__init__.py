"""Theory: every certificate with its statement and its code."""
