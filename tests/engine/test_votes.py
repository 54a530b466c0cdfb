"""A vote is the same on any number of threads and in any company; a device counts without looking back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.classifiers import small_cloud
from tests.engine.conftest import Untrained, untrained
from tpc_core.cloud import Cloud
from tpc_core.machinery.thread_pool import share_out
from tpc_core.models.canonical import CANONICAL
from tpc_core.smoothing import (
    CoordinateSmoothing,
    GroupSmoothing,
    NoiseStream,
    ParameterSmoothing,
    Smoothing,
)
from tpc_core.transforms import parse_transform
from tpc_core.votes import BLOCK, BLOCKS_PER_PASS, Ballot, Voter

CPU = torch.device("cpu")
CLOUD = small_cloud(24)
MOVED = Cloud(CLOUD.points.flip(0) * 0.9, CLOUD.name, CLOUD.label)
BALLOTS = [
    Ballot(CLOUD.points, "cell|root", 0, 96),
    Ballot(MOVED.points, "cell|0", 33, 290),
    Ballot(MOVED.points, "cell|1", 64, 64),
    Ballot(CLOUD.points, "cell|root", 96, 97),
]


def parameter(name: str, *sigmas: float) -> ParameterSmoothing:
    return ParameterSmoothing(parse_transform(name), sigmas)


SMOOTHINGS: list[Smoothing] = [
    CoordinateSmoothing(0.2),
    parameter("z-rotation", 1.0),
    parameter("z-shear", 0.3),
    parameter("z-twist+z-rotation", 1.0, 0.5),
    parameter("linear", 0.2),
    GroupSmoothing("so3"),
    GroupSmoothing("z-rotation"),
]


def voter_of(model: Untrained, device: torch.device = CPU) -> Voter:
    return Voter(model, model.smoothing, seed=11, device=device)


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("segmentation", [False, True])
def test_votes_do_not_depend_on_threads_or_company(threads: None, segmentation: bool) -> None:
    model = untrained(CoordinateSmoothing(0.3), segmentation=segmentation)
    torch.set_num_threads(1)
    alone = [voter_of(model).count(b.points, b.stream, b.start, b.stop) for b in BALLOTS]
    assert [int(counts.sum()) for counts in alone] == [
        (b.stop - b.start) * (len(CLOUD) if segmentation else 1) for b in BALLOTS
    ]
    assert np.count_nonzero(alone[0]) > 1, "a model whose votes all agree would show nothing"
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        voter = voter_of(model)
        for one, together in zip(alone, voter.cast(BALLOTS), strict=True):
            assert np.array_equal(one, together.sum(axis=0))
        assert torch.get_num_threads() == count
        # 3 blocks, then 33..290 lies in blocks 1 to 9, none, and one vote of one block.
        assert voter.evaluations == BLOCK * (3 + 9 + 0 + 1)


def test_a_thread_of_the_crew_computes_on_one_core(threads: None) -> None:
    """Helpers of its own would fight with the rest of the crew for the cores."""

    def product(size: int) -> int:
        square = torch.ones(size, size)
        assert float((square @ square).sum()) == size**3
        return torch.get_num_threads()

    for count in (2, 3):
        torch.set_num_threads(count)
        assert list(share_out(product, [64] * 9)) == [1] * 9
        assert torch.get_num_threads() == count


@pytest.mark.parametrize(
    ("smoothing", "segmentation"),
    [*((smoothing, False) for smoothing in SMOOTHINGS), (SMOOTHINGS[1], True)],
    ids=lambda value: str(value) if isinstance(value, bool) else value.describe(),
)
def test_a_device_counts_what_the_cpu_counts(smoothing: Smoothing, segmentation: bool) -> None:
    """The bulk path, run on the CPU, against one vote after the other and against the voter's own path."""
    model = untrained(smoothing, segmentation=segmentation)
    voter = voter_of(model)
    many = [*BALLOTS, *(Ballot(CLOUD.points, f"cell|{n}", 0, 96) for n in range(17))]
    blocks = [block for which, ballot in enumerate(many) for block in _blocks_of(which, ballot)]
    found = voter._count_on_device(many, blocks).numpy()
    assert np.array_equal(found, np.concatenate(voter.cast(many)))
    classify = model.classifier()
    for block, counts in zip(blocks, found, strict=True):
        answers = _answers(classify, smoothing, many[block.which], block.index)[block.first : block.last]
        expected = np.zeros_like(counts)
        for answer in answers:
            for row, picked in enumerate(np.atleast_1d(answer)):
                expected[(row, picked) if segmentation else picked] += 1
        assert np.array_equal(counts, expected)


def _blocks_of(which: int, ballot: Ballot) -> list[Any]:
    from tpc_core.votes import _blocks

    return list(_blocks(which, ballot))


def _answers(classify: Any, smoothing: Smoothing, ballot: Ballot, index: int) -> np.ndarray:
    noise = NoiseStream(11, ballot.stream).block(index)
    shaken = smoothing.perturb(ballot.points.expand(BLOCK, *ballot.points.shape), noise)
    return classify(shaken).argmax(dim=-1).numpy()


class Watch(TorchDispatchMode):
    """Notes every operation that has a tensor on the host among its arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[str] = []
        self.on_host: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        self.operations.append(name)
        tensors = [
            arg for arg in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(arg, torch.Tensor)
        ]
        if any(tensor.device.type == "cpu" for tensor in tensors):
            self.on_host.append(name)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("smoothing", "canonical"),
    [*((smoothing, "none") for smoothing in SMOOTHINGS), *((SMOOTHINGS[0], pose) for pose in CANONICAL)],
    ids=lambda value: value if isinstance(value, str) else value.describe(),
)
def test_no_pass_waits_for_the_device(smoothing: Smoothing, canonical: str) -> None:
    """Tensors of the meta device have no values: whatever looks at one (item, nonzero, bincount) fails.

    What is sent to the device is sent once, however many passes there are.
    """
    model = untrained(smoothing, canonical=canonical)
    voter = voter_of(model, torch.device("meta"))

    def watched(votes: int) -> Watch:
        ballots = [Ballot(CLOUD.points, "cell|root", 0, votes)]
        with Watch() as watch:
            totals = voter._count_on_device(ballots, _blocks_of(0, ballots[0]))
        assert totals.device.type == "meta"
        return watch

    one, three = watched(96), watched(2 * BLOCKS_PER_PASS * BLOCK + 1)
    assert len(three.operations) > 2 * len(one.operations)
    assert len(three.on_host) == len(one.on_host)


def test_a_device_s_pass_has_one_shape_whatever_is_asked() -> None:
    model = untrained(CoordinateSmoothing(0.3))
    shapes = set()

    class Shapes(Untrained):
        def classifier(self, device: torch.device | str = "cpu") -> Any:
            def classify(points: torch.Tensor) -> torch.Tensor:
                shapes.add(tuple(points.shape))
                return model.classifier()(points)

            return classify

    voter = voter_of(Shapes(model.smoothing, model.module))
    for votes in (1, 96, BLOCK * BLOCKS_PER_PASS + 1):
        ballot = Ballot(CLOUD.points, "cell|root", 0, votes)
        assert int(voter._count_on_device([ballot], _blocks_of(0, ballot)).sum()) == votes
    assert shapes == {(BLOCK * BLOCKS_PER_PASS, len(CLOUD), 3)}
    assert math.prod(next(iter(shapes))) > 0
