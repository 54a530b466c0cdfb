"""Data sets of your own: folders, tables and releases that were added by name, read where they lie."""

from __future__ import annotations

from tpc_core.data.own.registry import OwnSet, add_set, find_own, own_names, read_set, remove_set

__all__ = ["OwnSet", "add_set", "find_own", "own_names", "read_set", "remove_set"]
