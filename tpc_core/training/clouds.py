"""The training clouds in memory: several samples of every object, and the objects kept aside."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tpc_core.errors import CannotWrite, InvalidFile
from tpc_core.machinery.atomic import write_atomically
from tpc_core.training.config import TrainConfig
from tpc_core.training.groups import groups_aside, similar_groups

FPS_BLOCK = 32
"""Objects that are sampled at once: their distances to 1,024 candidates stay in the cache."""


class Split(Protocol):
    """What training needs of a data set; `tpc_core.data.Dataset` is one."""

    labels: NDArray[np.int64]
    classes: list[str]

    def __len__(self) -> int: ...
    def points_array(self, count: int) -> NDArray[np.float32]: ...
    def part_labels(self, count: int) -> NDArray[np.int64]: ...


@dataclass(frozen=True)
class Clouds:
    """Objects with one or more clouds each: points (M, V, N, 3), targets (M,) or, per point, (M, V, N)."""

    points: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return int(self.points.shape[0])

    def pick(self, objects: Tensor, views: Tensor) -> tuple[Tensor, Tensor]:
        """The chosen clouds (B, N, 3) and their targets (B,) or (B, N)."""
        targets = self.targets[objects] if self.targets.ndim == 1 else self.targets[objects, views]
        return self.points[objects, views], targets.to(torch.int64)


def farthest_points(candidates: Tensor, starts: Tensor, count: int) -> Tensor:
    """Farthest-point samples of many clouds at once; (M, K, 3), (M,) -> indices (M, count)."""
    chosen = torch.empty(len(candidates), count, dtype=torch.int64)
    for low in range(0, len(candidates), FPS_BLOCK):
        block = candidates[low : low + FPS_BLOCK]
        rows = torch.arange(len(block))
        x, y, z = (block[..., axis].contiguous() for axis in range(3))
        current = starts[low : low + FPS_BLOCK]
        nearest = torch.full(x.shape, torch.inf)
        for step in range(count):
            chosen[low : low + FPS_BLOCK, step] = current
            pivot = block[rows, current]
            squared = (x - pivot[:, 0:1]).square_()
            squared += (y - pivot[:, 1:2]).square_()
            squared += (z - pivot[:, 2:3]).square_()
            torch.minimum(nearest, squared, out=nearest)
            current = nearest.argmax(dim=1)
    return chosen


def unit_ball(points: Tensor) -> Tensor:
    """Centre every cloud and scale it into the unit ball, as the data sets do; (..., N, 3)."""
    centred = points - points.mean(dim=-2, keepdim=True)
    radius: Tensor = centred.norm(dim=-1).amax(dim=-1)
    return centred / radius[..., None, None].clamp_min(1e-12)


def held_aside(labels: NDArray[np.int64], every: int, which: str) -> NDArray[np.bool_]:
    """Which objects of the train split are kept aside for tuning, the same ones for ever.

    Neighbours in ModelNet40's train split are often near-copies, so every k-th object flatters the model; the last
    ones of each class resemble the test split, which follows them.
    """
    kept = np.zeros(len(labels), dtype=np.bool_)
    if every and which == "spread":
        kept[::every] = True
    elif every:
        for label in np.unique(labels):
            members = np.flatnonzero(labels == label)
            kept[members[len(members) - len(members) // every :]] = True
    return kept


def split_clouds(split: Split, config: TrainConfig, cache: Path | None = None) -> tuple[Clouds, Clouds]:
    """The clouds to train on (several views each) and the clouds kept aside (as the data set cuts them)."""
    kept = _kept_aside(split, config)
    parts = config.dataset == "shapenetpart"
    points = torch.from_numpy(np.array(split.points_array(config.points)[kept]))
    targets = split.part_labels(config.points)[kept] if parts else split.labels[kept]
    aside = Clouds(points.unsqueeze(1), torch.from_numpy(np.array(targets)[:, None] if parts else targets))
    return _views(split, config, ~kept, cache), aside


def _kept_aside(split: Split, config: TrainConfig) -> NDArray[np.bool_]:
    if config.aside != "groups" or not config.hold_out:
        return held_aside(split.labels, config.hold_out, config.aside)
    # All stored points, whatever the size that is trained on, so that the groups are the same for all of them.
    pool, _ = _largest_pool(split, config.model_copy(update={"views": 2}))
    return groups_aside(similar_groups(pool), split.labels, config.hold_out)


def _views(split: Split, config: TrainConfig, use: NDArray[np.bool_], cache: Path | None) -> Clouds:
    pool, parts = _largest_pool(split, config)
    pool, labels = pool[torch.from_numpy(use)], torch.from_numpy(split.labels[use])
    if pool.shape[1] == config.points:
        stored = Clouds(unit_ball(pool).unsqueeze(1), labels)
        return stored if parts is None else Clouds(stored.points, parts[torch.from_numpy(use)].unsqueeze(1))
    chosen = _chosen(pool, config, cache)
    objects = torch.arange(len(pool))[:, None, None]
    points = unit_ball(pool[objects, chosen])
    if parts is None:
        return Clouds(points, labels)
    return Clouds(points, parts[torch.from_numpy(use)][objects, chosen])


def _largest_pool(split: Split, config: TrainConfig) -> tuple[Tensor, Tensor | None]:
    """All stored points of every object: what a farthest-point sample may choose from."""
    sizes = [size for size in (1024, 512, 256) if size > config.points] if config.views > 1 else []
    for size in [*sizes, config.points]:
        try:
            points = torch.from_numpy(np.array(split.points_array(size)))
        except ValueError:  # InvalidCloud: this release stores fewer points
            continue
        parts = split.part_labels(size) if config.dataset == "shapenetpart" else None
        return points, None if parts is None else torch.from_numpy(np.array(parts, dtype=np.uint8))
    raise InvalidFile(f"{config.dataset} holds no clouds of {config.points} points")


def _chosen(pool: Tensor, config: TrainConfig, cache: Path | None) -> Tensor:
    """Indices (M, V, N) of the views, computed once and kept in the cache directory."""
    objects, size = pool.shape[:2]
    aside = f"-{config.aside}" if config.hold_out and config.aside != "spread" else ""
    name = f"{config.dataset}-{objects}x{size}-{config.points}x{config.views}{aside}.npy"
    remembered = (
        None if cache is None else _remembered(cache / name, (objects, config.views, config.points), size)
    )
    if remembered is not None:
        return remembered
    # The views belong to the data, not to the run, so their seed is fixed.
    generator = torch.Generator().manual_seed(0)
    starts = torch.randint(size, (config.views, objects), generator=generator)
    chosen = torch.stack([farthest_points(pool, start, config.points) for start in starts], dim=1)
    if cache is not None:
        stream = io.BytesIO()
        np.save(stream, chosen.numpy().astype(np.int16))
        with contextlib.suppress(CannotWrite):  # a full disk costs time at the next start, nothing else
            write_atomically(cache / name, stream.getvalue())
    return chosen


def _remembered(path: Path, shape: tuple[int, ...], size: int) -> Tensor | None:
    """The views in the cache, or None where they are missing, damaged, or of something else."""
    try:
        stored = np.load(path, allow_pickle=False)
    except Exception:  # whatever is wrong with an old entry, making it again is the answer
        return None
    if stored.shape != shape or stored.dtype != np.int16 or not 0 <= stored.min() <= stored.max() < size:
        return None
    return torch.from_numpy(stored.astype(np.int64))
