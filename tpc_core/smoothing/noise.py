"""Random numbers that depend on their name only: same seed, stream and block, same noise, on every device."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tpc_core.lazy_torch import torch
from tpc_core.smoothing.philox import words_on_cpu, words_on_device

if TYPE_CHECKING:
    from torch import Tensor


class Noise(Protocol):
    """A source of random tensors on one device."""

    def normal(self, *shape: int) -> Tensor:
        """Standard normal float32 numbers."""
        ...

    def uniform(self, *shape: int) -> Tensor:
        """Float32 numbers, uniform in [0, 1)."""
        ...


@dataclass(frozen=True)
class TorchNoise:
    """Noise from a torch generator, for training; it lives on the generator's device."""

    generator: torch.Generator

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.generator, device=self.generator.device)

    def uniform(self, *shape: int) -> Tensor:
        return torch.rand(*shape, generator=self.generator, device=self.generator.device)


@dataclass(frozen=True)
class NoiseStream:
    """An endless supply of independent blocks of noise, addressed by number; seed and name are the key."""

    seed: int
    name: str

    def key(self) -> tuple[int, int]:
        """Two words of 64 bits."""
        digest = hashlib.sha256(f"tpc-noise|{self.seed}|{self.name}".encode()).digest()
        return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")

    def block(self, index: int) -> Noise:
        """The noise of block `index` on the CPU; asking twice gives the same numbers."""
        return BlockNoise(self.key(), index)


@dataclass
class BlockNoise:
    """The noise of one block on the CPU; each draw has words of its own."""

    key: tuple[int, int]
    index: int
    _draws: int = field(default=0, init=False)

    def normal(self, *shape: int) -> Tensor:
        return gaussians(self._words(math.prod(shape))[None])[0, : math.prod(shape)].reshape(shape)

    def uniform(self, *shape: int) -> Tensor:
        return uniforms(self._words(math.prod(shape))[: math.prod(shape)]).reshape(shape)

    def _words(self, count: int) -> Tensor:
        self._draws += 1
        return words_on_cpu(self.key, self.index, self._draws, count + count % 2)


@dataclass
class ManyBlocksNoise:
    """The same noise for several blocks, one under the other, made on their device.

    keys: (G, 2) int64 words, blocks: (G,) int64. Every draw has G times as many rows as a draw of one block.
    """

    keys: Tensor
    blocks: Tensor
    _draws: int = field(default=0, init=False)

    def normal(self, *shape: int) -> Tensor:
        each = math.prod(shape) // len(self.blocks)
        return gaussians(self._words(each))[:, :each].reshape(shape)

    def uniform(self, *shape: int) -> Tensor:
        each = math.prod(shape) // len(self.blocks)
        return uniforms(self._words(each)[:, :each]).reshape(shape)

    def _words(self, each: int) -> Tensor:
        self._draws += 1
        return words_on_device(self.keys, self.blocks, self._draws, each + each % 2)


def gaussians(words: Tensor) -> Tensor:
    """Standard normal float32 numbers (G, n) from as many words, two by two (Box and Muller).

    In float64, and rounded once: devices whose logarithm differs in its last bit still give the same float32.
    """
    radius = torch.sqrt(-2 * torch.log(_open_unit(words[:, 0::2])))
    angle = (2 * math.pi) * _open_unit(words[:, 1::2])
    pairs = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=-1)
    return pairs.flatten(1).to(torch.float32)


def uniforms(words: Tensor) -> Tensor:
    """Float32 numbers in [0, 1) from the upper 24 bits of each word."""
    return ((words >> 40) & 0xFFFFFF).to(torch.float32) * 2.0**-24


def _open_unit(words: Tensor) -> Tensor:
    """Float64 numbers in (0, 1) from the upper 52 bits of each word."""
    return (((words >> 12) & ((1 << 52) - 1)).to(torch.float64) + 0.5) * 2.0**-52


def stream_keys(streams: list[NoiseStream]) -> list[tuple[int, int]]:
    """The keys of several streams as int64 words, for `ManyBlocksNoise`."""
    return [tuple(k - (1 << 64) if k >= 1 << 63 else k for k in stream.key()) for stream in streams]  # type: ignore[misc]
