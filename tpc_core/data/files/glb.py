"""What a GLB file declares, checked before trimesh allocates any of it."""

from __future__ import annotations

import json
import struct
from typing import Any

from tpc_core.data.limits import MAX_FACES, MAX_VERTICES
from tpc_core.errors import InvalidFile

MAX_NODES = 20_000


def check_glb(content: bytes, name: str) -> None:
    """Refuse a GLB whose scene is cyclic, or larger than the limits once every instance is counted."""
    document = _document(content, name)
    try:
        accessors = [int(accessor["count"]) for accessor in document.get("accessors", [])]
        weights = [_corners(mesh, accessors) for mesh in document.get("meshes", [])]
        nodes = document.get("nodes", [])
        _check_forest(nodes, name)
        total = sum(weights[node["mesh"]] for node in nodes if "mesh" in node)
        largest = max(accessors, default=0)
        external = any("uri" in buffer for buffer in document.get("buffers", []))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InvalidFile(f"{name}: the GLB scene description is malformed") from error
    if external:
        raise InvalidFile(f"{name} refers to other files; export it as one self-contained GLB")
    if largest > max(3 * MAX_FACES, MAX_VERTICES) or total > 3 * MAX_FACES:
        raise InvalidFile(f"{name} describes more than {MAX_FACES:,} triangles")


def _document(content: bytes, name: str) -> dict[str, Any]:
    """The JSON chunk at the front of the file."""
    if len(content) < 20 or content[:4] != b"glTF":
        raise InvalidFile(f"{name} is not a GLB file")
    version, total, length = struct.unpack("<III", content[4:16])
    if version != 2 or total != len(content) or length > len(content) - 20:
        raise InvalidFile(f"{name}: the GLB header declares {total} bytes but the file has {len(content)}")
    try:
        document = json.loads(content[20 : 20 + length])
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"{name}: the GLB scene description is not JSON") from error
    if not isinstance(document, dict):
        raise InvalidFile(f"{name}: the GLB scene description is not an object")
    return document


def _corners(mesh: dict[str, Any], accessors: list[int]) -> int:
    """How many triangle corners one instance of this mesh brings."""
    return sum(
        accessors[primitive["indices"] if "indices" in primitive else primitive["attributes"]["POSITION"]]
        for primitive in mesh["primitives"]
    )


def _check_forest(nodes: list[dict[str, Any]], name: str) -> None:
    """Every node has at most one parent and none is its own ancestor, as the glTF standard demands."""
    if len(nodes) > MAX_NODES:
        raise InvalidFile(f"{name} has {len(nodes):,} scene nodes, more than {MAX_NODES:,}")
    parent = [-1] * len(nodes)
    for number, node in enumerate(nodes):
        for child in node.get("children", []):
            if parent[child] != -1:
                raise InvalidFile(f"{name}: a scene node has two parents")
            parent[child] = number
    settled: set[int] = set()
    for number in range(len(nodes)):
        path: set[int] = set()
        while number != -1 and number not in settled:
            if number in path:
                raise InvalidFile(f"{name}: the scene nodes form a circle")
            path.add(number)
            number = parent[number]
        settled |= path
