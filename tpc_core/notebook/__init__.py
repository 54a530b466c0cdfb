"""In a notebook: `Explorer(model, cloud)` with the stage, sliders and verdict; `CertificateMap` with the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpc_core.errors import MissingDependency
from tpc_core.notebook.certificate_map import CertificateMap

if TYPE_CHECKING:
    from tpc_core.notebook.widget import Explorer


def __getattr__(name: str) -> Any:
    if name != "Explorer":
        raise AttributeError(name)
    try:
        from tpc_core.notebook.widget import Explorer
    except ImportError as error:
        raise MissingDependency(
            "the Explorer needs anywidget: pip install 'tpc-explorer[notebook]'"
        ) from error
    return Explorer


__all__ = ["CertificateMap", "Explorer"]
