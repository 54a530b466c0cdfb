"""OBJ, PLY, STL and GLB, read by trimesh from bytes alone: it can follow no link to another file."""

from __future__ import annotations

import io
import logging
import re
import warnings

import numpy as np
import trimesh

from tpc_core.data.files.glb import check_glb
from tpc_core.data.geometry import Geometry
from tpc_core.data.limits import MAX_FACES, MAX_VERTICES
from tpc_core.errors import InvalidFile

# What trimesh logs about a broken file would reach the terminal beside our own sentence about it.
logging.getLogger("trimesh").addHandler(logging.NullHandler())

_PLY_COUNT = re.compile(rb"^element[ \t]+(vertex|face)[ \t]+(\d{1,18})[ \t]*\r?$", re.MULTILINE)


def parse_obj(content: bytes, name: str) -> Geometry:
    """Read an OBJ mesh; materials are left out."""
    return _read(content, "obj", name)


def parse_stl(content: bytes, name: str) -> Geometry:
    """Read an STL mesh, binary or ascii."""
    return _read(content, "stl", name)


def parse_ply(content: bytes, name: str) -> Geometry:
    """Read a PLY mesh or cloud, binary or ascii."""
    header, end, _ = content[:65536].partition(b"end_header")
    if not content.startswith(b"ply") or not end:
        raise InvalidFile(f"{name} has no PLY header")
    declared = {kind.decode(): int(count) for kind, count in _PLY_COUNT.findall(header)}
    vertices, faces = declared.get("vertex", 0), declared.get("face", 0)
    if vertices > MAX_VERTICES or faces > MAX_FACES:
        raise InvalidFile(f"{name} declares {vertices:,} vertices and {faces:,} faces, more than can be read")
    geometry = _read(content, "ply", name)
    # trimesh reads a truncated ascii file without complaint.
    if len(geometry.vertices) != vertices or (geometry.faces is None) != (faces == 0):
        raise InvalidFile(f"{name} declares {vertices} vertices and {faces} faces but does not hold them")
    return geometry


def parse_glb(content: bytes, name: str) -> Geometry:
    """Read a GLB scene as one mesh; glTF is y-up by definition, so it is turned z-up."""
    check_glb(content, name)
    return _read(content, "glb", name).turned_z_up()


def _read(content: bytes, file_type: str, name: str) -> Geometry:
    """Let trimesh parse the bytes; whatever it stumbles over becomes an InvalidFile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scene = trimesh.load_scene(
                io.BytesIO(content), file_type=file_type, process=False, skip_materials=True
            )
            return _merged(scene)
        except MemoryError:
            raise InvalidFile(f"{name} needs more memory than there is to read it") from None
        except Exception as error:  # a parser fed hostile bytes may raise anything at all
            raise InvalidFile(f"{name} is not a readable {file_type.upper()} file") from error


def _merged(scene: trimesh.Scene) -> Geometry:
    """All meshes of a scene as one; if there are none, all its points as one cloud."""
    placed = scene.dump()
    meshes = [item for item in placed if isinstance(item, trimesh.Trimesh) and len(item.faces)]
    if meshes:
        offsets = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
        vertices = np.concatenate([np.asarray(mesh.vertices, dtype=np.float64) for mesh in meshes])
        faces = [
            np.asarray(mesh.faces, dtype=np.int64) + start
            for mesh, start in zip(meshes, offsets, strict=False)
        ]
        return Geometry(vertices, np.concatenate(faces))
    clouds = [np.asarray(item.vertices, dtype=np.float64) for item in placed if hasattr(item, "vertices")]
    return Geometry(np.concatenate(clouds) if clouds else np.empty((0, 3)))
