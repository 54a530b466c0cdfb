"""Where a person's own models and data sets are kept, on whichever system this is."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_folder(kind: str, variable: str) -> Path:
    """The folder that the variable names, or `kind` in the place where this platform keeps a user's data."""
    chosen = os.environ.get(variable)
    if chosen:
        return Path(os.path.expanduser(chosen))  # unlike Path.expanduser, it never raises
    if sys.platform == "darwin":
        home = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA", str(Path.home())))
    else:
        home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return home / "tpc-explorer" / kind
