"""Philox4x64-10, a random generator without state: word i of a stream follows from its key and a counter alone.

Counter-based (Salmon et al., SC 2011): noise is addressed, not drawn in sequence, so a block of votes gets the same
noise in any order, in any company and on any device. numpy's own generator makes the words on a CPU; on another
device the same rounds run in tensor operations, and the test compares the two word for word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tpc_core.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

GENERATOR = "philox4x64-10/box-muller/1"
"""The name under which a certificate says how its noise was made; another way of making it takes another name."""

_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_ROUNDS = 10
_LOW = 0xFFFFFFFF


def words_on_cpu(key: tuple[int, int], block: int, draw: int, count: int) -> Tensor:
    """The first `count` words of 64 bits of one draw of one block, as int64."""
    counter = np.array([0, draw, block, 0], dtype=np.uint64)
    # Given as arrays: a Python integer would be read as 128 or 256 bits.
    generator = np.random.Philox(key=np.array(key, dtype=np.uint64), counter=counter)
    return torch.from_numpy(np.asarray(generator.random_raw(count)).view(np.int64))


def words_on_device(keys: Tensor, blocks: Tensor, draw: int, count: int) -> Tensor:
    """The same words for many blocks at once: keys (G, 2) and blocks (G,) int64 on a device give (G, count)."""
    groups = -(-count // 4)
    # numpy counts before it draws, so its first four words have the number one.
    position = torch.arange(1, groups + 1, device=blocks.device)[None]
    zero = torch.zeros_like(position)
    block = blocks[:, None]
    state = torch.broadcast_tensors(position, zero + draw, block, zero)
    words = _rounds((state[0], state[1], state[2], state[3]), (keys[:, :1], keys[:, 1:]))
    return torch.stack(words, dim=-1).reshape(len(blocks), -1)[:, :count]


def _rounds(state: tuple[Tensor, Tensor, Tensor, Tensor], key: tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
    a, b, c, d = state
    k, m = key
    for _ in range(_ROUNDS):
        high, low = _product(a, _MULTIPLIERS[0])
        upper, lower = _product(c, _MULTIPLIERS[1])
        a, b, c, d = upper ^ b ^ k, lower, high ^ d ^ m, low
        k, m = k + _signed(_WEYL[0]), m + _signed(_WEYL[1])
    return a, b, c, d


def _product(x: Tensor, factor: int) -> tuple[Tensor, Tensor]:
    """The high and the low 64 bits of x * factor, both as int64; four products of 32 bits."""
    x_low, x_high = x & _LOW, (x >> 32) & _LOW
    f_low, f_high = factor & _LOW, factor >> 32
    cross = x_high * f_low + (((x_low * f_low) >> 32) & _LOW)
    middle = x_low * f_high + (cross & _LOW)
    high = x_high * f_high + ((cross >> 32) & _LOW) + ((middle >> 32) & _LOW)
    return high, x * _signed(factor)


def _signed(word: int) -> int:
    """The int64 of the same bits; int64 arithmetic wraps, so its low bits are those of unsigned words."""
    return word - (1 << 64) if word >= 1 << 63 else word
