"""Find out which release of a data set lies in a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tpc_core.data.releases.hdf5 import find_modelnet_hdf5, find_shapenet_hdf5
from tpc_core.data.releases.modelnet_off import find_modelnet_off
from tpc_core.data.releases.modelnet_resampled import find_modelnet_resampled
from tpc_core.data.releases.packed import find_packed_modelnet, find_packed_shapenet
from tpc_core.data.releases.release import Release
from tpc_core.data.releases.shapenet_text import find_shapenet_text

Finder = Callable[[Path, str], Release | None]

# Folder under the root ('' is the root itself) and who knows how to read it. First come, first served:
# the packed file is whole and opens at once, the others follow by how close they are to the original.
_MODELNET40: list[tuple[str, Finder]] = [
    ("", find_packed_modelnet),
    ("", find_modelnet_off),
    ("ModelNet40", find_modelnet_off),
    ("", find_modelnet_resampled),
    ("modelnet40_normal_resampled", find_modelnet_resampled),
    ("", find_modelnet_hdf5),
    ("modelnet40_ply_hdf5_2048", find_modelnet_hdf5),
]
_SHAPENETPART: list[tuple[str, Finder]] = [
    ("", find_packed_shapenet),
    ("", find_shapenet_text),
    ("shapenetcore_partanno_segmentation_benchmark_v0_normal", find_shapenet_text),
    ("", find_shapenet_hdf5),
    ("shapenet_part_seg_hdf5_data", find_shapenet_hdf5),
    ("hdf5_data", find_shapenet_hdf5),  # the name of the folder inside the official archive
]
_FINDERS: dict[str, list[tuple[str, Finder]]] = {
    "modelnet40": _MODELNET40,
    "modelnet10": [("ModelNet10", find_modelnet_off), *_MODELNET40],
    "shapenetpart": _SHAPENETPART,
}


def find_release(name: str, split: str, root: Path) -> Release | None:
    """The first release of this split under the root, or None."""
    for folder, find in _FINDERS[name]:
        release = find(root / folder, split)
        if release is not None:
            return release
    return None
