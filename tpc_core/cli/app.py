"""`tpc app`: the explorer, from any folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from tpc_core.errors import MissingDependency
from tpc_core.shipped import shipped

ENTRY = "main.py"
"""What Streamlit runs, in the folder of the explorer."""


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=8501, show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0 lets other machines in.")
@click.option("--no-browser", is_flag=True, help="Serve it, and open no window.")
def app(port: int, host: str, no_browser: bool) -> int:
    """Open the explorer in a browser: see, certify and attack the gallery or files of your own."""
    for needed in ("streamlit", "plotly", "PIL"):
        if find_spec(needed) is None:
            raise MissingDependency(f"the explorer needs {needed}: pip install 'tpc-explorer[app]'")
    folder = writable_explorer()
    subprocess.run([sys.executable, "-m", "app.server.system"], cwd=folder.parent, check=True)
    command = [sys.executable, "-m", "streamlit", "run", str(folder / ENTRY)]
    command += ["--server.port", str(port), "--server.address", host]
    if no_browser:
        command += ["--server.headless", "true"]
    # Two torch processes on two cores must not fight: a thread that waits lets go of its core.
    environment = {"GOMP_SPINCOUNT": "0", **os.environ}
    if os.name == "posix":  # this process becomes the server, so that a signal to it reaches the server
        os.execve(sys.executable, command, environment)
    return subprocess.run(command, env=environment, check=False).returncode


def writable_explorer() -> Path:
    """The folder of the explorer; a copy among the caches where the shipped one belongs to somebody else.

    The browser is served from a folder beside main.py that the first visit fills (plotly.js comes from its wheel).
    """
    folder = shipped("app")
    static = folder / "static"
    if os.access(static if static.is_dir() else folder, os.W_OK):
        static.mkdir(exist_ok=True)  # Streamlit warns if it is not there at the start
        return folder
    from tpc_core.data.cache import cache_folder

    copy = cache_folder() / "explorer" / "app"
    for file in folder.rglob("*"):  # not copytree, which would make the copies of folders read-only as well
        if file.is_file() and "__pycache__" not in file.parts:
            target = copy / file.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    (copy / "static").mkdir(exist_ok=True)
    return copy
