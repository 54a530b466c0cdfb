"""Try a network on clouds: which layout it takes, where its answer stands, and whether it is a function at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from tpc_core.errors import InvalidValue
from tpc_core.models.brought.adapter import Adapter, shown
from tpc_core.models.brought.digest import digest_of_state
from tpc_core.models.brought.probe import USUAL_POINTS, probe
from tpc_core.models.card import Frame

Network = nn.Module | Callable[[Tensor], Any]

SIZES = (USUAL_POINTS, 1024, 2048, 256, 512, 128)
"""Sizes of clouds that are tried where none is given: what programs of a fixed size are made for."""
BATCHES = (4, 1, 32, 16, 8, 2)
SAME = 1e-3
"""Logits that differ by more than this, relative to the largest of them, are different answers."""


@dataclass(frozen=True)
class Recognised:
    """How the network wants its clouds, how many classes it has, and what there is to say about that."""

    frame: Frame
    classes: int
    num_points: int
    notes: tuple[str, ...]


@torch.no_grad()
def recognise(
    network: Network,
    frame: Frame,
    *,
    name: str,
    task: str = "classification",
    layout: str | None = None,
    num_points: int | None = None,
) -> Recognised:
    """Find the layout, the answer and the sizes that work; InvalidValue says why nothing does."""
    found: list[tuple[Frame, int, int]] = []
    first_error = ""
    wanted = (layout,) if layout is not None else ("points-first", "channels-first")
    sizes = (num_points,) if num_points is not None else SIZES
    for size, batch in product(sizes, BATCHES):
        for candidate in wanted:
            tried = frame.model_copy(update={"layout": candidate})
            try:
                answer = Adapter(network, tried).ask(_shown(tried, batch, size))
                place, classes = _logits(answer, batch, size, task)
                found.append((tried.model_copy(update={"answer": place}), classes, size))
            except Exception as error:  # whatever somebody's network stumbles over, the next way may do
                first_error = first_error or (str(error).splitlines() or [type(error).__name__])[0]
        if found:
            break
    if not found:
        raise InvalidValue(
            f"{name} does not accept clouds of shape (B, N, 3) or (B, 3, N): {first_error}"
            if layout is None
            else f"{name} does not accept {layout} clouds: {first_error}"
        )
    # Points have no order: of two layouts that both run, the right one does not mind when points change places.
    blind = [item for item in found if len(found) == 1 or _ignores_order(network, item[0], batch, size)]
    chosen, classes, size = (blind or found)[0]
    chosen = _with_sizes(network, chosen, batch, size, given=num_points)
    notes = list(_notes(chosen, unsure=len(found) > 1 and len(blind) != 1))
    check_function(Adapter(network, chosen), size, name)
    return Recognised(chosen, classes, size, tuple(notes))


@torch.no_grad()
def check_function(module: Adapter, size: int, name: str) -> None:
    """Refuse what is no function of one cloud: certificates count answers, and a replay must find the same ones."""
    clouds = probe(4, size)
    module(clouds)  # what is made ready in the first call, such as a table for this size, is no memory
    before = digest_of_state(module)
    first = module(clouds)
    if not bool(torch.isfinite(first).all()):
        raise InvalidValue(f"{name} answers with NaN or infinity")
    tolerance = SAME * float(first.abs().max().clamp_min(1e-6))
    if not _close(first, module(clouds), tolerance):
        raise InvalidValue(
            f"{name} answers the same cloud differently each time (dropout, or random sampling inside); "
            "give it in eval mode, without randomness"
        )
    others = torch.cat([clouds[:1], probe(6, size)[4:6], clouds[:1]])
    among = module(others)
    if not (_close(first[:1], among[:1], tolerance) and _close(first[:1], among[3:], tolerance)):
        raise InvalidValue(
            f"what {name} says of a cloud depends on the others in its batch; give it in eval mode, "
            "with statistics of its own for every cloud"
        )
    if digest_of_state(module) != before:
        raise InvalidValue(
            f"{name} keeps something from one call to the next: its answers would depend on what it was asked before; "
            "give it in eval mode, without a memory"
        )


def _shown(frame: Frame, batch: int, size: int) -> Tensor:
    return shown(probe(batch, size), frame)


def _logits(answer: Any, batch: int, size: int, task: str) -> tuple[int | str | None, int]:
    """Where the logits stand in an answer, and how many classes they have."""
    for place, value in _items(answer):
        if not isinstance(value, Tensor) or not value.is_floating_point():
            continue
        shape = tuple(value.shape)
        if task == "classification" and len(shape) == 2 and shape[0] == batch and shape[1] > 1:
            return place, shape[1]
        if task == "segmentation" and len(shape) == 3 and shape[:2] == (batch, size):
            return place, shape[2]
    wanted = "(B, classes)" if task == "classification" else "(B, N, parts)"
    shapes = [tuple(v.shape) if isinstance(v, Tensor) else type(v).__name__ for _, v in _items(answer)]
    raise InvalidValue(f"it gave {shapes}; logits of shape {wanted} were expected")


def _items(answer: Any) -> Iterator[tuple[int | str | None, Any]]:
    if isinstance(answer, Mapping):
        names = sorted(map(str, answer), key=lambda key: key != "logits")
        yield from ((name, answer[name]) for name in names)
    elif isinstance(answer, tuple | list):
        yield from enumerate(answer)
    else:
        yield None, answer


def _with_sizes(network: Network, frame: Frame, batch: int, size: int, *, given: int | None) -> Frame:
    """Whether a program takes this batch and this number of points only."""
    module = Adapter(network, frame)
    other_batch = 3 if batch != 3 else 5
    fixed_batch = batch if not _accepts(module, other_batch, size) else None
    other_size = size // 2 if given is None or size >= 32 else size * 2
    fixed_size = size if not _accepts(module, batch, other_size) else None
    return frame.model_copy(update={"batch": fixed_batch, "points": fixed_size})


def _ignores_order(network: Network, frame: Frame, batch: int, size: int) -> bool:
    """Whether the answer stays the same when the points of the clouds change places."""
    clouds = probe(batch, size)
    order = torch.randperm(size, generator=torch.Generator().manual_seed(1))
    module = Adapter(network, frame)
    before, after = (module.ask(shown(points, frame)) for points in (clouds, clouds[:, order]))
    return _close(before, after, SAME * float(before.abs().max().clamp_min(1e-6)))


def _accepts(module: Adapter, batch: int, size: int) -> bool:
    try:
        answer = module.ask(_shown(module.frame, batch, size))
    except Exception:
        return False
    return len(answer) == batch


def _notes(frame: Frame, *, unsure: bool) -> Iterator[str]:
    shape = "(B, N, 3)" if frame.layout == "points-first" else "(B, 3, N)"
    if unsure:
        yield (
            "it accepts clouds as (B, N, 3) and as (B, 3, N); (B, N, 3) was taken, and --layout channels-first "
            "says otherwise"
        )
    elif frame.layout == "channels-first":
        yield f"it takes clouds as {shape}"
    if frame.answer is not None:
        kind = "item" if isinstance(frame.answer, int) else "entry"
        yield f"its logits are {kind} {frame.answer} of what it gives"
    if frame.batch is not None:
        yield f"it takes {frame.batch} cloud{'s' if frame.batch > 1 else ''} at a time"
    if frame.points is not None:
        yield f"it takes clouds of {frame.points} points and no others"
    if frame.up == "y":
        yield "clouds are turned y-up for it"
    if frame.scale != "ball":
        yield f"each cloud is fitted into its {frame.scale} first"


def _close(a: Tensor, b: Tensor, tolerance: float) -> bool:
    return a.shape == b.shape and bool((a - b).abs().max() <= tolerance)
