"""Data: from files, data sets and the built-in gallery to clouds in the unit ball."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core.door import open_door

if TYPE_CHECKING:
    from tpc_core.data.classes import match_classes
    from tpc_core.data.dataset import CLASSES_BY_SET, Dataset, open_dataset
    from tpc_core.data.gallery import GalleryEntry, gallery
    from tpc_core.data.limits import MAX_UPLOAD_BYTES
    from tpc_core.data.names import (
        MODELNET10_CLASSES,
        MODELNET40_CLASSES,
        SHAPENET_CATEGORIES,
        SHAPENET_PARTS,
        Part,
    )
    from tpc_core.data.pose import shapenet_pose, turned_z_up
    from tpc_core.data.roots import FOLDER_VARIABLES
    from tpc_core.data.shape import Shape
    from tpc_core.data.spec import load_object, load_shape

# The readers bring trimesh, SciPy and HDF5; a model card needs none of them.
open_door(
    __name__,
    {
        "tpc_core.data.roots": ("FOLDER_VARIABLES",),
        "tpc_core.data.classes": ("match_classes",),
        "tpc_core.data.limits": ("MAX_UPLOAD_BYTES",),
        "tpc_core.data.dataset": ("Dataset", "open_dataset", "CLASSES_BY_SET"),
        "tpc_core.data.gallery": ("GalleryEntry", "gallery"),
        "tpc_core.data.names": (
            "MODELNET10_CLASSES",
            "MODELNET40_CLASSES",
            "SHAPENET_CATEGORIES",
            "SHAPENET_PARTS",
            "Part",
        ),
        "tpc_core.data.pose": ("shapenet_pose", "turned_z_up"),
        "tpc_core.data.shape": ("Shape",),
        "tpc_core.data.spec": ("load_object", "load_shape"),
    },
)

__all__ = [
    "CLASSES_BY_SET",
    "FOLDER_VARIABLES",
    "MAX_UPLOAD_BYTES",
    "MODELNET10_CLASSES",
    "MODELNET40_CLASSES",
    "SHAPENET_CATEGORIES",
    "SHAPENET_PARTS",
    "Dataset",
    "GalleryEntry",
    "Part",
    "Shape",
    "gallery",
    "load_object",
    "load_shape",
    "match_classes",
    "open_dataset",
    "shapenet_pose",
    "turned_z_up",
]
