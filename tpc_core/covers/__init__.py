"""Covers: cells that together hold every attack of a region."""

from tpc_core.covers.levels import PathLevels
from tpc_core.covers.price import PriceList
from tpc_core.covers.tree import Cell, CoverTree

__all__ = ["Cell", "CoverTree", "PathLevels", "PriceList"]
