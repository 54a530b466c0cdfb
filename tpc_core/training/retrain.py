"""Training a model further for the attack that broke it, in a process of its own that can be watched and stopped."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from tpc_core.data import open_dataset
from tpc_core.errors import TpcError, UnsupportedRequest, one_line
from tpc_core.machinery.user_folder import user_folder
from tpc_core.models.card import ModelCard
from tpc_core.models.store import models_folder, shipped_names, users_names
from tpc_core.smoothing import smoothing_from_json
from tpc_core.training.config import TrainConfig, parse_config
from tpc_core.training.start import tuning_recipe

EPOCHS = 10
RATE = 5e-4
"""The learning rate: the network is trained already, and is to be moved a little."""
VIEWS = 1
"""One sample of each object, the stored one: it is at hand, and others take minutes to choose. Noise makes it new."""
PASSES_PER_STEP = 3
"""A step of training costs about as much as so many forward passes: there, back, and the weights."""
_SAY_EVERY = 0.5
_ENDING = 10.0
_LONGEST_NAME = 60

State = Literal["running", "done", "failed", "cancelled"]


def retraining_recipe(
    card: ModelCard, smoothing: dict[str, Any], attacks: str = "", *, epochs: int = EPOCHS
) -> TrainConfig:
    """The recipe of a model once more, from its own weights, under the smoothing of a run.

    `attacks` is a claim such as "z-taper:0.5": every cloud is then shown under a random attack of that region. Raises
    a TpcError where the model cannot be trained.
    """
    name = _free_name(card.name)
    if card.brought is not None:
        tuned = tuning_recipe(card.name, smoothing_from_json(smoothing), name=name, epochs=epochs)
        return tuned.model_copy(update={"regions": [attacks] if attacks else []})
    if not card.recipe:
        raise UnsupportedRequest(f"the card of {card.name} has no recipe, so it cannot be trained further")
    changed = {
        "name": name,
        "initial": card.name,
        "smoothing": smoothing,
        "regions": [attacks] if attacks else [],
        "teachers": [],
        "epochs": epochs,
        "warmup": min(1, epochs - 1),
        "learning_rate": RATE,
        "views": VIEWS,
        "measure_every": epochs,
        "hold_out": 0,
    }
    return parse_config({**card.recipe, **changed}, card.name)


def clouds_shown(recipe: TrainConfig) -> int:
    """Clouds that go forward and back through the network in all: what says how long it takes.

    Raises a TpcError where the data are not on this machine.
    """
    return len(open_dataset(recipe.dataset, "train")) * recipe.consistency.noises * recipe.epochs


def _free_name(start: str) -> str:
    base = start.split("-retrained")[0][:_LONGEST_NAME].lower() + "-retrained"
    taken = {*shipped_names(), *users_names()}
    return next(name for name in (base, *(f"{base}-{k}" for k in range(2, 10_000))) if name not in taken)


class Retraining:
    """A training under way: how far it is, and a way to stop it. The new model appears among the user's own."""

    def __init__(self, recipe: TrainConfig, ended: Callable[[Retraining], None] | None = None) -> None:
        self.recipe = recipe
        self._ended = ended
        self._lock = threading.Lock()
        self._state: State = "running"
        self._done, self._total, self._message = 0, 0, ""
        self._began, self._first = time.monotonic(), 0.0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tpc_core.training.retrain"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died at once; its last words say why
            self._process.stdin.write(recipe.model_dump_json())
            self._process.stdin.close()
        self._thread = threading.Thread(target=self._follow, name="retraining", daemon=True)
        self._thread.start()

    @property
    def state(self) -> State:
        with self._lock:
            return self._state

    @property
    def live(self) -> bool:
        return self.state == "running"

    @property
    def message(self) -> str:
        """Why it failed, in one line."""
        with self._lock:
            return self._message

    @property
    def part(self) -> float:
        """How much is done."""
        with self._lock:
            return self._done / self._total if self._total else 0.0

    @property
    def eta(self) -> float | None:
        """Seconds to go, if it goes on as it went; None before the first steps."""
        with self._lock:
            if not self._done or not self._total:
                return None
            each = (time.monotonic() - self._first) / self._done
            return each * (self._total - self._done)

    @property
    def words(self) -> str:
        """What it does now."""
        with self._lock:
            if not self._total:
                return "preparing the objects"
            epoch = min(self.recipe.epochs, 1 + self._done * self.recipe.epochs // self._total)
            return f"epoch {epoch} of {self.recipe.epochs}"

    def cancel(self) -> None:
        """Stop it; nothing of it is kept."""
        with self._lock:
            if self._state != "running":
                return
            self._state = "cancelled"
        self._process.terminate()

    def join(self, timeout: float | None = None) -> bool:
        """Wait for its end; whether it came."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _follow(self) -> None:
        said = ""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                done, total = json.loads(line)["step"]
            except (ValueError, KeyError, TypeError):
                said = line.strip() or said
                continue
            with self._lock:
                if not self._total:
                    self._first = time.monotonic()
                self._done, self._total = int(done), int(total)
        try:
            code = self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        with self._lock:
            if self._state == "running":
                self._state = "done" if code == 0 else "failed"
                self._message = "" if code == 0 else said or f"the training stopped with code {code}"
        if self._ended is not None:
            self._ended(self)


def _main() -> int:
    """Train the recipe that comes in, and say every step that is done; the last line says what went wrong."""
    from tpc_core.training.loop import train

    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)  # whoever looks at a page comes first
    last = 0.0

    def say(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > _SAY_EVERY or done == total:
            last = time.monotonic()
            print(json.dumps({"step": [done, total]}), flush=True)

    try:
        recipe = parse_config(json.loads(sys.stdin.read()), "the recipe")
        folder = _folder()
        train(recipe, runs=folder, checkpoints=models_folder(), progress=False, watch=say)
    except TpcError as error:
        print(one_line(str(error)), flush=True)
        return 1
    return 0


def _folder() -> Path:
    """Where the states of trainings from a page lie."""
    return user_folder("trainings", "TPC_TRAININGS")


if __name__ == "__main__":
    sys.exit(_main())
