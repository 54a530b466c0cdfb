"""NumPy arrays: (N, 3) or wider, never unpickled."""

from __future__ import annotations

import io
import warnings

import numpy as np

from tpc_core.data.geometry import Geometry
from tpc_core.data.limits import MAX_VERTICES
from tpc_core.errors import InvalidFile


def parse_npy(content: bytes, name: str) -> Geometry:
    """Read a .npy array; columns after the third (normals, colours) are left out."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers from Python 2, which would reach the terminal
            shape, _, dtype = read_header(stream)
    except Exception as error:  # numpy reads the header with Python's tokenizer, which has errors of its own
        raise InvalidFile(f"{name} is not a NumPy array file") from error
    if dtype.kind not in "fiu":
        raise InvalidFile(f"{name} holds {dtype}, not numbers")
    # True passes for 1 wherever numbers are compared, and is refused where numpy makes an array of it.
    if len(shape) != 2 or any(type(side) is not int for side in shape) or shape[1] < 3 or shape[1] > 64:
        raise InvalidFile(f"{name} has shape {shape}; a cloud has shape (N, 3)")
    if shape[0] > MAX_VERTICES:
        raise InvalidFile(f"{name} declares {shape[0]:,} points, more than {MAX_VERTICES:,}")
    # Compare before reading: np.load would first allocate whatever the header promises.
    if shape[0] * shape[1] * dtype.itemsize != len(content) - stream.tell():
        raise InvalidFile(
            f"{name} declares shape {shape} but holds {len(content) - stream.tell()} bytes of data"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = np.load(io.BytesIO(content), allow_pickle=False)
    return Geometry(np.ascontiguousarray(array[:, :3], dtype=np.float64))
