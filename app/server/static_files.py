"""Files that the browser fetches by name: plotly.js from its wheel, the stage, and the gallery's thumbnails."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from app.components.stage import BUNDLE, bundle_name
from tpc_core.machinery import write_atomically
from tpc_core.shipped import shipped

APP = Path(__file__).resolve().parents[1]
STATIC = APP / "static"
THUMBNAILS = shipped("assets", "thumbnails")


def prepare_static() -> None:
    """Put everything where Streamlit's static serving finds it; files that are there already are left alone."""
    STATIC.mkdir(exist_ok=True)
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("the explorer needs plotly: pip install 'tpc-explorer[app]'")
    _copy(Path(spec.origin).parent / "package_data" / "plotly.min.js", STATIC / "plotly.min.js")
    _copy(BUNDLE, STATIC / bundle_name())
    (STATIC / "thumbnails").mkdir(exist_ok=True)
    for picture in THUMBNAILS.glob("*.png"):
        _copy(picture, STATIC / "thumbnails" / picture.name)


def _copy(source: Path, target: Path) -> None:
    """Copy if missing or older; whole or not at all, since another process may be starting too."""
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        write_atomically(target, source.read_bytes())
