"""TPC Explorer: `streamlit run app/main.py`. This is the server; the pages that it shows are in app/navigation.py."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # `streamlit run` puts app/ on the path, and not the folder that holds it
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402
from starlette.middleware import Middleware  # noqa: E402

from app.server.protection.address import hosts  # noqa: E402
from app.server.protection.closed import Closed  # noqa: E402
from app.server.protection.connections import Connections  # noqa: E402
from app.server.protection.cookie import Cookies  # noqa: E402
from app.server.protection.failures import show_one_sentence  # noqa: E402
from app.server.protection.headers import Headers  # noqa: E402
from app.server.protection.origins import Origins  # noqa: E402
from app.server.protection.outgoing import stay_at_home  # noqa: E402
from app.server.protection.sockets import bound_sockets  # noqa: E402
from app.server.protection.uploads import UploadDoor, account_for_uploads  # noqa: E402
from app.server.static_files import prepare_static  # noqa: E402
from app.server.streamlit_patches import own_the_pages_folder  # noqa: E402
from app.warm_up import warm_up  # noqa: E402

os.umask(0o077)  # what the server writes down is for itself: folders 0700, files 0600
if folder := os.environ.get("TPC_RUNS"):
    with suppress(OSError):  # a folder of somebody else, who answers for it
        Path(folder).expanduser().chmod(0o700)
log = logging.getLogger("tpc_core")
log.setLevel(logging.INFO)
if not log.handlers:
    log.addHandler(logging.StreamHandler())
stay_at_home()
bound_sockets()
account_for_uploads()
own_the_pages_folder()
prepare_static()
warm_up()

explorer = st.App(
    ROOT / "app" / "navigation.py",
    middleware=[
        Middleware(Headers),
        Middleware(Origins, hosts=hosts()),
        Middleware(Closed),
        Middleware(Connections),
        Middleware(Cookies),
        Middleware(UploadDoor),
    ],
    on_script_error=show_one_sentence,
)
