"""The noise that devices draw in bulk: Philox4x32-10, block by block, whatever the company."""

from __future__ import annotations

import pytest
import torch

from tpc_core.smoothing import NoiseStream, PhiloxNoise
from tpc_core.smoothing.philox import WORD, philox

KEYS = torch.tensor([NoiseStream(3, name).words() for name in ("a", "b", "a")])
BLOCKS = torch.tensor([0, 0, 7])

# From the authors' reference implementation (Random123, kat_vectors).
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((WORD,) * 4, (WORD,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_known_answers(counter: tuple[int, ...], key: tuple[int, ...], answer: tuple[int, ...]) -> None:
    a, b, c, d = (torch.tensor([word]) for word in counter)
    k, m = (torch.tensor([word]) for word in key)
    assert tuple(int(word) for word in philox((a, b, c, d), (k, m))) == answer


@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_a_block_gets_its_noise_in_any_company(draw: str) -> None:
    together = PhiloxNoise(KEYS, BLOCKS)
    first, second = getattr(together, draw)(96, 5, 3), getattr(together, draw)(96, 2)
    for number in range(3):
        alone = PhiloxNoise(KEYS[number : number + 1], BLOCKS[number : number + 1])
        rows = slice(32 * number, 32 * number + 32)
        assert torch.equal(getattr(alone, draw)(32, 5, 3), first[rows])
        assert torch.equal(getattr(alone, draw)(32, 2), second[rows])
    assert not torch.equal(first[:32], first[32:64]), "another stream"
    assert not torch.equal(first[:32], first[64:]), "another block"
    assert not torch.equal(first[:32, 0, :2], second[:32]), "another draw"


def test_the_numbers_are_normal_and_uniform() -> None:
    blocks = torch.arange(250)
    noise = PhiloxNoise(torch.tensor([NoiseStream(0, "moments").words()]).expand(250, 2), blocks)
    normal = noise.normal(8_000, 32).double()
    count = normal.numel()
    # Mean, variance, skewness and kurtosis within five standard errors; so is the share beyond three sigmas.
    for power, value, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(float((normal**power).mean()) - value) < 5 * (spread / count) ** 0.5
    assert abs(float((normal.abs() > 3).double().mean()) - 0.0026998) < 5 * (0.0027 / count) ** 0.5
    pairs = float((normal[:, 0::2] * normal[:, 1::2]).mean())
    assert abs(pairs) < 5 * (2 / count) ** 0.5, "the two numbers of a pair are uncorrelated"
    uniform = noise.uniform(8_000, 8).double()
    assert 0 <= float(uniform.min()) <= float(uniform.max()) < 1
    assert abs(float(uniform.mean()) - 0.5) < 5 * (1 / 12 / uniform.numel()) ** 0.5
    assert abs(float(uniform.var()) - 1 / 12) < 5 * (1 / 180 / uniform.numel()) ** 0.5
