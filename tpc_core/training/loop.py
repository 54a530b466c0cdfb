"""The training loop: each epoch ends in a state from which the next can be repeated exactly."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from tpc_core.errors import InvalidFile
from tpc_core.models.architectures import task_of
from tpc_core.models.folded import fast_path
from tpc_core.models.store import encode_weights, load_model, load_weights
from tpc_core.smoothing import Smoothing, TorchNoise, smoothing_from_json
from tpc_core.training.augment import augmented, mixed
from tpc_core.training.clouds import Clouds, Split, split_clouds
from tpc_core.training.config import TrainConfig
from tpc_core.training.export import export
from tpc_core.training.intervals import interval_logits, worst_middle
from tpc_core.training.journal import Journal
from tpc_core.training.losses import correct_share, smoothed_loss, taught
from tpc_core.training.measure import certain_rows, measured
from tpc_core.training.regions import Attacks, attacked, hardest, robust_rows
from tpc_core.training.schedule import WeightAverage, box_size, learning_rate
from tpc_core.training.start import split_for, starting_network
from tpc_core.training.state import load_state, save_state

PARTS = 50
"""The part labels of ShapeNet part, over all of its categories."""

QUICK_VOTES = 16


@dataclass(frozen=True)
class TrainResult:
    """Where the checkpoint went and what it reached on the held-aside part."""

    weights: Path
    epochs: int
    held_aside: dict[str, float] | None


class Run:
    """A training run in memory: the network, its optimiser, its weight average and its random state."""

    def __init__(self, config: TrainConfig, classes: int) -> None:
        torch.manual_seed(config.seed)
        self.config = config
        self.smoothing: Smoothing = smoothing_from_json(config.smoothing)
        self.module: nn.Module = starting_network(config, classes)
        self.classes = classes
        self.attacks = [Attacks.parse(claim) for claim in config.regions]
        self.teachers = [load_model(name).classifier() for name in config.teachers]
        self.optimiser = torch.optim.AdamW(_weight_groups(self.module, config.weight_decay), fused=True)
        self.average = WeightAverage(self.module, config.ema)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.epoch = 0
        self.step = 0
        self.eps = 0.0

    def state(self, journal: Journal) -> dict[str, Any]:
        """Everything that the next epoch depends on."""
        return {
            "config": self.config.model_dump_json(),
            "module": self.module.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "average": self.average.values,
            "generator": self.generator.get_state(),
            "dropout": torch.get_rng_state(),
            "epoch": self.epoch,
            "step": self.step,
            "log": journal.lines,
        }

    def restore(self, state: dict[str, Any], journal: Journal) -> None:
        """Continue where a saved state ended; refuses the state of another recipe."""
        if state.get("config") != self.config.model_dump_json():
            raise InvalidFile(
                f"the saved run of {self.config.name} used another recipe; start it again without --resume"
            )
        self.module.load_state_dict(state["module"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.average.values = state["average"]
        self.generator.set_state(state["generator"])
        torch.set_rng_state(state["dropout"])
        self.epoch, self.step = state["epoch"], state["step"]
        journal.lines = state["log"]

    def train_epoch(self, clouds: Clouds, on_step: Callable[[float], None]) -> dict[str, float]:
        """Show every object once, with fresh noise; gives the mean loss and share of right answers."""
        config = self.config
        self.module.train()
        order = self.order(clouds)
        views = torch.randint(clouds.points.shape[1], (len(clouds),), generator=self.generator)
        # The last, smaller batch is left out: BatchNorm dislikes it, and the order is new in every epoch.
        batches = max(1, len(clouds) // config.batch)
        losses, rights = torch.zeros(batches), torch.zeros(batches)
        rate = 0.0
        for index in range(batches):
            self.eps = box_size(self.step, batches * config.epochs, config.interval)
            chosen = order[index * config.batch : (index + 1) * config.batch]
            rate = learning_rate(self.step, batches, config.epochs, config.warmup, config.learning_rate)
            loss, right = self._train_step(*clouds.pick(chosen, views[chosen]), rate)
            losses[index], rights[index] = loss, right
            on_step(float(loss))
        self.epoch += 1
        return {"loss": float(losses.mean()), "train": 100 * float(rights.mean()), "rate": rate}

    def order(self, clouds: Clouds) -> Tensor:
        """The objects of one epoch: each once, or drawn so that rare classes come more often."""
        if not self.config.balance:
            return torch.randperm(len(clouds), generator=self.generator)
        sizes = torch.bincount(clouds.targets).to(torch.float32)[clouds.targets]
        return torch.multinomial(sizes**-self.config.balance, len(clouds), True, generator=self.generator)

    def _train_step(self, points: Tensor, targets: Tensor, rate: float) -> tuple[Tensor, Tensor]:
        config = self.config
        points = augmented(points, config.augment, self.generator)
        truth = targets.flatten()
        if config.augment.mix:
            points, targets = mixed(points, targets, self.classes, config.augment.mix, self.generator)
        copies = self._attacked(points.repeat(config.consistency.noises, 1, 1), truth)
        noisy = self.smoothing.perturb(copies, TorchNoise(self.generator))
        if config.interval.eps:
            logits, leads = self._bounded(noisy, truth)
        else:
            logits, leads = self.module(noisy), None
        logits, targets = logits.flatten(0, -2), targets if config.augment.mix else truth
        if self.teachers:
            targets = taught(targets, self._answers(noisy), config.teaching)
        loss = smoothed_loss(logits, targets, config.consistency, config.label_smoothing)
        if leads is not None:
            loss = torch.lerp(loss, F.cross_entropy(leads, truth), config.interval.share)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        self.step += 1
        self.average.update(self.module, self.step)
        return loss.detach(), correct_share(logits.detach(), truth, config.consistency.noises)

    def _attacked(self, copies: Tensor, truth: Tensor) -> Tensor:
        """The copies under attacks of the regions: any, or of several those that the network as it is answers worst."""
        if self.config.attempts == 1:
            return attacked(copies, self.attacks, self.generator)
        self.module.eval()
        classify, truth = fast_path(self.module), truth.repeat(self.config.consistency.noises)
        self.module.train()
        return hardest(copies, truth, self.attacks, self.config.attempts, classify, self.generator)

    def _bounded(self, noisy: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
        """Plain logits, and the worst leads over boxes: of the whole claim, or smaller ones where answers are worst."""
        box = self.config.interval.part * self.eps
        middle = None
        if box < self.eps:
            middle = worst_middle(self.module, noisy, truth, self.eps - box, self.generator)
        return interval_logits(self.module, noisy, truth, box, middle)

    @torch.no_grad()
    def _answers(self, noisy: Tensor) -> Tensor:
        """The mean answer of the teachers, as shares of the classes; (R, C)."""
        answers = torch.stack([teacher(noisy).softmax(dim=-1) for teacher in self.teachers])
        return answers.mean(dim=0).flatten(0, -2)

    def measure(self, aside: Clouds, votes: int) -> dict[str, float]:
        """Percentages of the objects kept aside, of the network as it would be shipped now."""
        shipped = self.shipped()
        classify, config = fast_path(shipped), self.config
        figures = measured(classify, aside, self.smoothing, votes, config.seed)
        if config.interval.eps:
            figures |= certain_rows(shipped, aside)
        if config.regions:
            figures |= robust_rows(classify, aside, config.regions, config.seed)
        return figures

    def shipped(self) -> nn.Module:
        """The network as its checkpoint will hold it: averaged weights, rounded to float16."""
        module = copy.deepcopy(self.module)
        load_weights(module, encode_weights(self.average.values), self.config.name)
        return module.eval()


def train(
    config: TrainConfig,
    *,
    runs: Path = Path("runs"),
    checkpoints: Path = Path("checkpoints"),
    resume: bool = False,
    tensorboard: bool = False,
    progress: bool = True,
    split: Split | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> TrainResult:
    """Train one recipe to the end and export its checkpoint; `resume` continues a run that was cut short.

    `watch` is told the steps that are done, and those that there are, after every step.
    """
    split = split if split is not None else split_for(config)
    seen, aside = split_clouds(split, config, runs / "cache")
    names = (
        [f"part {i}" for i in range(PARTS)]
        if task_of(config.architecture) == "segmentation"
        else split.classes
    )
    run, journal = Run(config, len(names)), Journal(runs / config.name, tensorboard)
    saved = runs / config.name / "state.pt"
    if resume and saved.exists():
        run.restore(load_state(saved), journal)
    steps = max(1, len(seen) // config.batch)
    with tqdm(
        total=config.epochs * steps,
        initial=run.epoch * steps,
        desc=config.name,
        disable=not progress,
        mininterval=5.0,
    ) as bar:

        def advance(loss: float) -> None:
            bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
            bar.update()
            if watch is not None:
                watch(run.step, config.epochs * steps)

        while run.epoch < config.epochs:
            started = time.monotonic()
            line = run.train_epoch(seen, advance)
            if run.epoch % config.measure_every == 0 and run.epoch < config.epochs and len(aside):
                line |= run.measure(aside, QUICK_VOTES)
            journal.add({"epoch": run.epoch, **line, "seconds": round(time.monotonic() - started, 2)})
            save_state(saved, run.state(journal))
    figures = None
    if len(aside):
        figures = run.measure(aside, config.votes)
    weights = export(run.average.values, config, names, len(seen), figures, checkpoints)
    return TrainResult(weights, run.epoch, figures)


def _weight_groups(module: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Weight decay for matrices only: shrinking biases and BatchNorm scales does not regularise."""
    matrices = [p for p in module.parameters() if p.ndim > 1]
    vectors = [p for p in module.parameters() if p.ndim <= 1]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
