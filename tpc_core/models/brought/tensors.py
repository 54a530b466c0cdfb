"""Weights files of other people: tables of named tensors. Nothing that they pickle is ever run."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import torch
from safetensors.torch import load as load_tensors
from torch import Tensor, nn

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile
from tpc_core.models.store import MAX_WEIGHTS_BYTES, check_finite

WEIGHTS = frozenset({".safetensors", ".pth", ".pt", ".t7", ".ckpt", ".bin", ".tar"})
"""Endings of files that hold weights alone."""

_NESTED = ("model_state_dict", "state_dict", "model", "net", "base_model")


def read_tensors(path: str | Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, or of a pickle that holds nothing but tensors."""
    path = Path(path)
    data = read_bytes(path, MAX_WEIGHTS_BYTES)
    if path.suffix == ".safetensors":
        return decoded(data, str(path))
    try:
        content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:
        raise InvalidFile(
            f"{path} cannot be read as plain weights (pickled code is refused): {str(error).splitlines()[0]}"
        ) from error
    for key in _NESTED:
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            content = content[key]
    if not isinstance(content, dict):
        raise InvalidFile(f"{path} holds a {type(content).__name__}, not a table of named weights")
    tensors = {str(k).removeprefix("module."): v for k, v in content.items() if isinstance(v, Tensor)}
    if not tensors:
        raise InvalidFile(f"{path} holds no tensors")
    check_finite(tensors, str(path))
    return tensors


def decoded(data: bytes, source: str) -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    try:
        tensors = dict(load_tensors(data))
    except Exception as error:
        raise InvalidFile(f"{source} is not a safetensors file: {error}") from error
    check_finite(tensors, source)
    return tensors


def fill(network: nn.Module, tensors: dict[str, Tensor], source: str) -> None:
    """Put the tensors into a network whose names they have, or say in one line what does not fit."""
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        raise InvalidFile(
            f"the weights in {source} do not fit: {str(error).splitlines()[-1].strip()}"
        ) from error


def is_torchscript(path: Path) -> bool:
    """Whether a .pt file is a program: TorchScript archives hold their source in a folder called code."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any("/code/" in name for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False
