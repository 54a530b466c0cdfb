"""The noise: Philox4x64-10, addressed by stream, block and draw; every device makes the same words and numbers."""

from __future__ import annotations

import pytest
import torch

from tpc_core.smoothing import ManyBlocksNoise, NoiseStream, stream_keys
from tpc_core.smoothing.philox import _rounds, _signed, words_on_cpu, words_on_device

STREAMS = [NoiseStream(3, name) for name in ("a", "b", "a")]
KEYS = torch.tensor(stream_keys(STREAMS))
BLOCKS = torch.tensor([0, 0, 7])
ONES = (1 << 64) - 1

# From the authors' reference implementation (Random123, kat_vectors, philox4x64 10).
KNOWN_ANSWERS = [
    (
        (0, 0, 0, 0),
        (0, 0),
        (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B),
    ),
    (
        (ONES,) * 4,
        (ONES,) * 2,
        (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
    ),
    (
        (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0x452821E638D01377, 0xBE5466CF34E90C6C),
        (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_known_answers(counter: tuple[int, ...], key: tuple[int, ...], answer: tuple[int, ...]) -> None:
    a, b, c, d = (torch.tensor([_signed(word)]) for word in counter)
    k, m = (torch.tensor([_signed(word)]) for word in key)
    assert tuple(int(word) % (1 << 64) for word in _rounds((a, b, c, d), (k, m))) == answer


@pytest.mark.parametrize("count", [1, 4, 7, 32 * 64 * 3])
def test_a_device_makes_the_words_of_the_cpu(count: int) -> None:
    for draw in (1, 2, 5):
        together = words_on_device(KEYS, BLOCKS, draw, count)
        for number, stream in enumerate(STREAMS):
            alone = words_on_cpu(stream.key(), int(BLOCKS[number]), draw, count)
            assert torch.equal(together[number], alone)


@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_a_block_gets_its_noise_in_any_company_and_on_any_device(draw: str) -> None:
    together = ManyBlocksNoise(KEYS, BLOCKS)
    first, second = getattr(together, draw)(96, 5, 3), getattr(together, draw)(96, 2)
    for number, stream in enumerate(STREAMS):
        rows = slice(32 * number, 32 * number + 32)
        one = ManyBlocksNoise(KEYS[number : number + 1], BLOCKS[number : number + 1])
        cpu = stream.block(int(BLOCKS[number]))
        for alone in (one, cpu):
            assert torch.equal(getattr(alone, draw)(32, 5, 3), first[rows])
            assert torch.equal(getattr(alone, draw)(32, 2), second[rows])
    assert not torch.equal(first[:32], first[32:64]), "another stream"
    assert not torch.equal(first[:32], first[64:]), "another block"
    assert not torch.equal(first[:32, 0, :2], second[:32]), "another draw"


def test_the_numbers_are_normal_and_uniform() -> None:
    blocks = torch.arange(250)
    noise = ManyBlocksNoise(torch.tensor(stream_keys([NoiseStream(0, "moments")])).expand(250, 2), blocks)
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
