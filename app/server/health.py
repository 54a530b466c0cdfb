"""Whether the server of this container answers: `python -m app.server.health` exits with 0 where it does."""

from __future__ import annotations

import os
import sys
from urllib.request import urlopen


def address() -> str:
    """Where Streamlit says that it is well, under the port and the path prefix that it was started with."""
    port = os.environ.get("STREAMLIT_SERVER_PORT", "8501")
    prefix = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    return f"http://127.0.0.1:{port}/{prefix}{'/' if prefix else ''}_stcore/health"


if __name__ == "__main__":
    try:
        with urlopen(address(), timeout=4):
            pass
    except OSError as error:
        sys.exit(f"{address()}: {error}")
