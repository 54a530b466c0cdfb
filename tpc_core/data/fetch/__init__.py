"""Fetch a data set: download its official archive, check it, unpack it safely."""

from __future__ import annotations

from tpc_core.data.fetch.archives import ARCHIVES, Archive, Fetched, fetch
from tpc_core.data.fetch.transfer import download
from tpc_core.data.fetch.unpack import unpack_zip

__all__ = ["ARCHIVES", "Archive", "Fetched", "download", "fetch", "unpack_zip"]
