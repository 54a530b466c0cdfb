"""Philox4x32-10 in tensor operations: noise for many blocks at once, made where it is used.

Counter-based (Salmon et al., SC 2011): number i of a block follows from the stream's key, the block and i alone,
so one call fills a whole pass on the device, and a block gets the same noise in any company.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

WORD = 0xFFFFFFFF
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


def philox(counter: tuple[Tensor, Tensor, Tensor, Tensor], key: tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
    """Four random words for every counter; all are int64 tensors that hold 32 bits and broadcast together."""
    a, b, c, d = counter
    k, m = key
    for _ in range(_ROUNDS):
        # int64 wraps, and the mask takes the bits that a 64-bit unsigned product has there.
        first, second = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = (second >> 32) & WORD ^ b ^ k, second & WORD, (first >> 32) & WORD ^ d ^ m, first & WORD
        k, m = (k + _WEYL[0]) & WORD, (m + _WEYL[1]) & WORD
    return a, b, c, d


@dataclass
class PhiloxNoise:
    """The noise of several blocks, one under the other: block g has the key keys[g] and the number blocks[g].

    keys: (G, 2) int64 words, blocks: (G,) int64, both on the device where the noise is wanted. Every draw has
    G times as many rows as a draw of one block.
    """

    keys: Tensor
    blocks: Tensor
    _draws: int = field(default=0, init=False)

    def normal(self, *shape: int) -> Tensor:
        """Standard normal float32 numbers, two by two (Box and Muller)."""
        words = self._words(math.prod(shape))
        radius = torch.sqrt(-2 * torch.log((words[0::2].float() + 0.5) * 2.0**-32))
        angle = words[1::2].float() * (2 * math.pi * 2.0**-32)
        pairs = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)])
        return self._shaped(pairs, shape)

    def uniform(self, *shape: int) -> Tensor:
        """Float32 numbers, uniform in [0, 1)."""
        return self._shaped((self._words(math.prod(shape)) >> 8).float() * 2.0**-24, shape)

    def _words(self, count: int) -> Tensor:
        """Enough words for `count` numbers over all blocks: (4, G, ...)."""
        groups = len(self.blocks)
        each = -(-count // groups // 4)
        place = torch.arange(each, device=self.blocks.device)
        block = self.blocks[:, None]
        counter = (place[None], torch.full_like(place, self._draws)[None], block & WORD, block >> 32)
        self._draws += 1
        words = philox(counter, (self.keys[:, :1], self.keys[:, 1:]))
        return torch.stack(list(torch.broadcast_tensors(*words)))

    def _shaped(self, numbers: Tensor, shape: tuple[int, ...]) -> Tensor:
        groups = len(self.blocks)
        each = math.prod(shape) // groups
        by_block = numbers.reshape(-1, groups, numbers.shape[-1]).transpose(0, 1).reshape(groups, -1)
        return by_block[:, :each].reshape(shape)
