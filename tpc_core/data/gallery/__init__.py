"""The gallery: small meshes of our own making, to look at before any data set is fetched."""

from __future__ import annotations

from tpc_core.data.gallery.library import GalleryEntry, gallery, load_gallery_shape

__all__ = ["GalleryEntry", "gallery", "load_gallery_shape"]
