"""The official archives, and the whole way from a name to a folder that `open_dataset` can read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tpc_core.data.fetch.progress import Progress, silent
from tpc_core.data.fetch.transfer import download
from tpc_core.data.fetch.unpack import unpack_zip
from tpc_core.errors import unknown_name


@dataclass(frozen=True)
class Archive:
    """Where a data set is published, and the folder that its zip holds.

    Neither publisher states a checksum, so none is pinned: the first download records one beside the file.
    """

    url: str
    folder: str


ARCHIVES: dict[str, Archive] = {
    "modelnet40": Archive("http://modelnet.cs.princeton.edu/ModelNet40.zip", "ModelNet40"),
    "shapenetpart": Archive(
        "https://shapenet.cs.stanford.edu/media/shapenetcore_partanno_segmentation_benchmark_v0_normal.zip",
        "shapenetcore_partanno_segmentation_benchmark_v0_normal",
    ),
}


@dataclass(frozen=True)
class Fetched:
    """What a fetch left on disk."""

    folder: Path
    archive: Path
    sha256: str


def fetch(
    name: str,
    into: Path,
    *,
    url: str | None = None,
    sha256: str | None = None,
    downloading: Progress = silent,
    unpacking: Progress = silent,
) -> Fetched:
    """Download and unpack a data set into a folder; what is there already is checked and kept."""
    if name not in ARCHIVES:
        raise unknown_name("data set to fetch", name, list(ARCHIVES))
    archive = ARCHIVES[name]
    target = into / f"{archive.folder}.zip"
    digest = download(url or archive.url, target, sha256=sha256, progress=downloading)
    folder = into / archive.folder
    if not folder.exists():
        unpack_zip(target, into, archive.folder, progress=unpacking)
    return Fetched(folder, target, digest)
