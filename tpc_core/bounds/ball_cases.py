"""The ball in cases: numbers of the head that may change their sign are taken as positive, then as negative.

In each case one ReLU less has to be replaced by lines, and the given sign helps on its own (`Lines.push`). All cases
together are the whole ball, so the least of their bounds holds for it. Most balls need no case at all.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tpc_core.bounds.ball import BallTrace, Lines, bounds_with, trace_ball, turned
from tpc_core.bounds.network import Network
from tpc_core.transforms.forms import InputForm

TURNS = 24
"""Steps that turn the lines of a whole ball."""
CASE_TURNS = 10
"""The same for each case, which starts from the lines of the case that it is a part of."""
CASES = 48
"""Most cases of one rival: where they do not do, twice as many hardly ever did."""
TOGETHER = 8
"""Cases that are bounded at once."""


def ball_margin(network: Network, form: InputForm, label: int, cases: int = CASES) -> float:
    """No rival comes nearer than this within the ball: one cell without parameters, every coordinate on its own."""
    rivals = torch.tensor([k for k in range(network.classes) if k != label])
    with torch.no_grad():
        trace = trace_ball(network, form)
        lower = bounds_with(network, trace, label, rivals)
        doubtful = torch.nonzero(lower <= 0).flatten()
        if len(doubtful) == 0:
            return float(lower.min())
        found = turned(network, trace, label, rivals[doubtful], trace.lines(len(doubtful)), TURNS)
        lower[doubtful] = torch.maximum(lower[doubtful], found.bounds)
        logits = network.evaluate(form.centre)[0]
        if float(lower.min()) < -float((logits[label] - logits[rivals]).min()):
            return float(lower.min())  # cases mend a little, never more than the margin itself
        # The worst first: where it stays open, the others need not be looked at.
        for place in torch.argsort(lower[doubtful]).tolist():
            if cases == 0 or float(lower[doubtful[place]]) > 0:
                break
            rival = rivals[doubtful[place]]
            least = _in_cases(network, trace, label, rival, found.lines.take(slice(place, place + 1)), cases)
            lower[doubtful[place]] = torch.maximum(lower[doubtful[place]], least)
            if float(least) <= 0:
                break
    return float(lower.min())


def _in_cases(
    network: Network, trace: BallTrace, label: int, rival: Tensor, lines: Lines, most: int
) -> Tensor:
    """The least bound over all cases, or, where one stays open, minus infinity."""
    open_cases, passed, used = lines, torch.tensor(torch.inf, dtype=torch.float64), 0
    while len(open_cases.share):
        if used >= most:
            return torch.tensor(-torch.inf, dtype=torch.float64)
        part, rest = open_cases.take(slice(0, TOGETHER)), open_cases.take(slice(TOGETHER, None))
        halves = _halved(network, trace, label, rival, part)
        if halves is None:
            return torch.tensor(-torch.inf, dtype=torch.float64)
        count = len(halves.share)
        found = turned(network, trace, label, rival.expand(count), halves, CASE_TURNS)
        used += count
        proved = found.bounds > 0
        passed = torch.minimum(passed, found.bounds.masked_fill(~proved, torch.inf).min())
        open_cases = _joined(found.lines.take(~proved), rest)
    return passed


def _halved(network: Network, trace: BallTrace, label: int, rival: Tensor, lines: Lines) -> Lines | None:
    """Every case in two, by the number of the head whose lines cost it most; None where no sign is left to give."""
    costs = head_costs(network, trace, label, rival, lines)
    widths = [cost.shape[1] for cost in costs]
    worst, place = torch.cat(costs, dim=1).max(dim=1)
    if bool((worst <= 0).any()):
        return None
    pair = []
    for sign in (1.0, -1.0):
        signs, start = [], 0
        for layer, width in zip(lines.signs, widths, strict=True):
            inside = (place >= start) & (place < start + width)
            given = layer.clone()
            given[inside, place[inside] - start] = sign
            signs.append(given)
            start += width
        copy = lines.take(slice(None))
        pair.append(Lines(copy.points, copy.share, copy.head, signs, copy.push))
    return _joined(*pair)


def head_costs(network: Network, trace: BallTrace, label: int, rival: Tensor, lines: Lines) -> list[Tensor]:
    """What the lines of every ReLU of the head cost the margin at most (V, K), where no sign is given."""
    output = network.output
    coefficients = (output.weight[:, label] - output.weight[:, rival]).expand(len(lines.share), -1)
    costs: list[Tensor] = []
    for number in reversed(range(len(network.head))):
        ends, signs, below = trace.head[number], lines.signs[number], lines.head[number]
        helps, hurts = coefficients.clamp_min(0), coefficients.clamp_max(0)
        above, rise = ends.above[0], ends.rise[0]
        # The upper line is off by rise at most (at zero), the lower one by as much at the end that it misses.
        unsure = (above > 0) & (above < 1) & (signs == 0)
        costs.insert(0, (coefficients.abs() * rise).masked_fill(~unsure, 0.0))
        on = (signs > 0).to(below.dtype)
        up, down = torch.where(signs == 0, above, on), torch.where(signs == 0, below, on)
        coefficients = helps * down + hurts * up - signs * lines.push[number]
        coefficients = coefficients @ network.head[number].transposed
    return costs


def _joined(first: Lines, second: Lines) -> Lines:
    def lists(a: list[Tensor], b: list[Tensor]) -> list[Tensor]:
        return [torch.cat(pair) for pair in zip(a, b, strict=True)]

    return Lines(
        lists(first.points, second.points),
        torch.cat([first.share, second.share]),
        lists(first.head, second.head),
        lists(first.signs, second.signs),
        lists(first.push, second.push),
    )
