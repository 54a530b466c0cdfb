"""The on-disk releases that people have of each data set, one file per release."""

from __future__ import annotations

from tpc_core.data.releases.detect import find_release
from tpc_core.data.releases.release import Release

__all__ = ["Release", "find_release"]
