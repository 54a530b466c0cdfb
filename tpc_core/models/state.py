"""What a network holds now: whether it is still the one that its digest was taken of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import torch
from torch import Tensor, nn


def mark_of(module: nn.Module) -> bytes:
    """The sha256 of its weights, its buffers, and the plain values of its layers."""
    whole = hashlib.sha256()
    for name, content in _held(module):
        whole.update(name.encode())
        whole.update(content)
    return whole.digest()


def _held(module: nn.Module) -> Iterator[tuple[str, bytes]]:
    for name, tensor in (*module.named_parameters(), *module.named_buffers()):
        yield f"{name} {tensor.dtype} {tuple(tensor.shape)}", _bytes_of(tensor)
    for name, layer in module.named_modules():
        plain = {key: value for key, value in vars(layer).items() if isinstance(value, int | float | str)}
        yield name, repr(sorted(plain.items())).encode()


def _bytes_of(tensor: Tensor) -> bytes:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes()
