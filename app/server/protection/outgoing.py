"""The explorer calls nobody: what Streamlit would look up elsewhere is answered here, or not at all."""

from __future__ import annotations

from streamlit import config, net_util

from app.server.protection.address import hosts


def stay_at_home() -> None:
    """Take the two look-ups of this machine's address out of Streamlit, and tell it the host names instead.

    One asks a host on the Internet, for up to two seconds and on the thread that serves everybody, whenever a page of
    another site calls; the other opens a socket towards one. Names that are ours come from TPC_HOST.
    """
    net_util.get_external_ip = _nothing
    net_util.get_internal_ip = _nothing
    config.set_option(
        "server.corsAllowedOrigins",
        [f"{scheme}://{name}" for name in sorted(hosts()) for scheme in ("https", "http")],
    )


def _nothing() -> None:
    return None
