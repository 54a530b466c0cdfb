"""Random numbers that depend on their name only: same seed, cell and block, same noise, in any order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
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
    """Noise from a torch generator; it lives on the generator's device."""

    generator: torch.Generator

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.generator, device=self.generator.device)

    def uniform(self, *shape: int) -> Tensor:
        return torch.rand(*shape, generator=self.generator, device=self.generator.device)


@dataclass(frozen=True)
class NumpyNoise:
    """Noise from a numpy generator, on the CPU."""

    generator: np.random.Generator

    def normal(self, *shape: int) -> Tensor:
        return torch.from_numpy(self.generator.standard_normal(shape, dtype=np.float32))

    def uniform(self, *shape: int) -> Tensor:
        return torch.from_numpy(self.generator.random(shape, dtype=np.float32))


@dataclass(frozen=True)
class NoiseStream:
    """An endless supply of independent blocks of noise, addressed by number.

    Philox is counter-based: the stream's name is the key, the block's number the counter, so two blocks
    never share a number. On the CPU numpy draws it; elsewhere `PhiloxNoise` does, for many blocks at once.
    (Seeding torch's CPU generator per block would not do: it keeps 32 bits of the seed.)
    """

    seed: int
    name: str

    def block(self, index: int) -> Noise:
        """The noise of block `index` on the CPU; asking twice gives the same numbers."""
        key = np.frombuffer(self._digest()[:16], dtype="<u8").astype(np.uint64)
        counter = np.array([0, 0, 0, index], dtype=np.uint64)
        return NumpyNoise(np.random.Generator(np.random.Philox(key=key, counter=counter)))

    def words(self) -> tuple[int, int]:
        """The stream's key as `PhiloxNoise` takes it: two words of 32 bits."""
        digest = self._digest()
        return int.from_bytes(digest[16:20], "little"), int.from_bytes(digest[20:24], "little")

    def _digest(self) -> bytes:
        return hashlib.sha256(f"tpc-noise|{self.seed}|{self.name}".encode()).digest()
