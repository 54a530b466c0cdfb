"""Run as a script: starts the server with the parsers that it was told to use, and nothing else.

The packages on the way to them import torch and most of the library, which takes seconds and hundreds of megabytes
that no parser needs. Here they are put in place empty, so that only the modules asked for are imported.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[3]


def empty_package(name: str) -> None:
    """A package whose modules can be imported, without what its __init__ does."""
    package = ModuleType(name)
    package.__path__ = [str(ROOT.joinpath(*name.split(".")))]
    sys.modules[name] = package


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    for name in (
        "tpc_core",
        "tpc_core.data",
        "tpc_core.data.files",
        "tpc_core.data.sandbox",
        "tpc_core.certificate",
    ):
        empty_package(name)
    *given, folder = sys.argv[1:]
    sys.path.insert(1, folder)  # of the reader, which need not be part of this library
    importlib.import_module("tpc_core.data.sandbox.server").main(*given)
