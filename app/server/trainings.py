"""Trainings that whoever runs the server starts from a page: one at a time, with progress, stopped with the server."""

from __future__ import annotations

import atexit
import threading
from dataclasses import dataclass

import streamlit as st

from tpc_core.errors import TpcError
from tpc_core.training import Retraining, TrainConfig


class OneAtATime(TpcError):
    """A second training would only make both slow."""


@dataclass(frozen=True)
class Started:
    """A training, whose it is, and the certificate that it is to repair."""

    visitor: str
    case: str
    training: Retraining

    @property
    def model(self) -> str:
        """The name of the new model."""
        return self.training.recipe.name


class Trainings:
    """All trainings of this server: at most one runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: Started | None = None

    def start(self, visitor: str, case: str, recipe: TrainConfig) -> Started:
        """Begin to train; OneAtATime where another training runs."""
        with self._lock:
            if self._started is not None and self._started.training.live:
                raise OneAtATime(f"{self._started.model} is being trained; stop that first, or wait for it")
            self._started = Started(visitor, case, Retraining(recipe))
            return self._started

    def of(self, visitor: str) -> Started | None:
        """The training of a visitor, under way or ended, until it was taken."""
        with self._lock:
            found = self._started
            return found if found is not None and found.visitor == visitor else None

    def take(self, visitor: str) -> Started | None:
        """The training of a visitor that has ended; once."""
        with self._lock:
            found = self._started
            if found is None or found.visitor != visitor or found.training.live:
                return None
            self._started = None
            return found

    def stop(self) -> None:
        """Stop what runs, with the server."""
        with self._lock:
            if self._started is not None:
                self._started.training.cancel()


@st.cache_resource(show_spinner=False)
def trainings() -> Trainings:
    """The one register of trainings."""
    made = Trainings()
    atexit.register(made.stop)
    return made
