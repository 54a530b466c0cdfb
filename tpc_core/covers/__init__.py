"""Covers: cells that together hold every attack of a region."""

from tpc_core.covers.lattice import Cell, Lattice, cell_level
from tpc_core.covers.prices import Prices

__all__ = ["Cell", "Lattice", "Prices", "cell_level"]
