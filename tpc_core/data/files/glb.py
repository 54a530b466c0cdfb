"""What a GLB file declares, checked before trimesh allocates any of it."""

from __future__ import annotations

import struct
from typing import Any

from tpc_core.border import SCENE, read_json
from tpc_core.data.limits import MAX_FACES
from tpc_core.errors import InvalidFile

MAX_NODES = 20_000
LOOKS = ("KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_", "MSFT_texture_", "KHR_xmp")
"""Beginnings of the extensions that change how a scene looks and nothing of its shape."""


def check_glb(content: bytes, name: str) -> None:
    """Refuse a GLB whose scene is cyclic, or larger than the limits once every instance is counted."""
    document = _document(content, name)
    _check_extensions(document, name)
    try:
        accessors = [_whole(accessor["count"]) for accessor in document.get("accessors", [])]
        _check_accessors(document, name)
        weights = [_corners(mesh, accessors) for mesh in document.get("meshes", [])]
        nodes = document.get("nodes", [])
        _check_forest(nodes, name)
        total = sum(weights[_whole(node["mesh"])] for node in nodes if "mesh" in node)
        largest = max(accessors, default=0)
        external = any("uri" in buffer for buffer in document.get("buffers", []))
    except InvalidFile:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InvalidFile(f"{name}: the GLB scene description is malformed") from error
    if external:
        raise InvalidFile(f"{name} refers to other files; export it as one self-contained GLB")
    # An accessor may be copied when it is read, so a thousand of them over the same bytes count a thousand times.
    if sum(accessors) > 8 * MAX_FACES or largest > 3 * MAX_FACES or total > 3 * MAX_FACES:
        raise InvalidFile(f"{name} describes more than {MAX_FACES:,} triangles")


def _document(content: bytes, name: str) -> dict[str, Any]:
    """The JSON chunk at the front of the file."""
    if len(content) < 20 or content[:4] != b"glTF":
        raise InvalidFile(f"{name} is not a GLB file")
    version, total, length = struct.unpack("<III", content[4:16])
    if version != 2 or total != len(content) or length > len(content) - 20:
        raise InvalidFile(f"{name}: the GLB header declares {total} bytes but the file has {len(content)}")
    document = read_json(content[20 : 20 + length], SCENE, f"the front of {name}")
    if not isinstance(document, dict):
        raise InvalidFile(f"{name}: the GLB scene description is not an object")
    return document


def _check_extensions(document: dict[str, Any], name: str) -> None:
    """A scene that cannot be read without an extension (draco, meshopt, ...) cannot be read here.

    Its positions are packed away, and whoever passes over the extension finds zeros in their place.
    """
    required = document.get("extensionsRequired", [])
    if not isinstance(required, list) or not all(isinstance(entry, str) for entry in required):
        raise InvalidFile(f"{name}: the GLB scene description is malformed")
    unknown = [entry for entry in required if not entry.startswith(LOOKS)]
    if unknown:
        raise InvalidFile(
            f"{name} needs the glTF extension {unknown[0]!r}, which is not read here; export it without compression"
        )


def _check_accessors(document: dict[str, Any], name: str) -> None:
    """What a mesh is made of must be in the file: not patched by a sparse accessor, not left to be zeros."""
    accessors = document.get("accessors", [])
    for mesh in document.get("meshes", []):
        for primitive in mesh["primitives"]:
            used = [primitive["attributes"]["POSITION"]]
            used += [primitive["indices"]] if "indices" in primitive else []
            for accessor in (accessors[_whole(number)] for number in used):
                if "sparse" in accessor:
                    raise InvalidFile(
                        f"{name} has sparse accessors, which are not read here; export it without"
                    )
                if "bufferView" not in accessor:
                    raise InvalidFile(f"{name}: the points of a mesh are not in the file")


def _whole(value: Any) -> int:
    """A count or an index as JSON should have it: true and 3.0 are equal to whole numbers, and are none."""
    if type(value) is not int or value < 0:
        raise ValueError("not a whole number")
    return value


def _corners(mesh: dict[str, Any], accessors: list[int]) -> int:
    """How many triangle corners one instance of this mesh brings."""
    return sum(
        accessors[
            _whole(primitive["indices"] if "indices" in primitive else primitive["attributes"]["POSITION"])
        ]
        for primitive in mesh["primitives"]
    )


def _check_forest(nodes: list[dict[str, Any]], name: str) -> None:
    """Every node has at most one parent and none is its own ancestor, as the glTF standard demands."""
    if len(nodes) > MAX_NODES:
        raise InvalidFile(f"{name} has {len(nodes):,} scene nodes, more than {MAX_NODES:,}")
    parent = [-1] * len(nodes)
    for number, node in enumerate(nodes):
        for child in map(_whole, node.get("children", [])):
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
