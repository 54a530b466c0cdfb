"""What identifies a brought network beside its stored weights: its settings, its code, and some of its answers.

Other code, or the same code with another setting, is another function: votes of the one prove nothing of the other.
What cannot be read from outside (a file or a variable of the environment that is asked at every call, a library that
was changed) is seen by the answers to a few clouds, or it is on trust.
"""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch import nn

from tpc_core.models.brought.own_code import own_sources
from tpc_core.models.brought.probe import USUAL_POINTS, probe
from tpc_core.models.brought.reading import Reading


def code_digest(network: nn.Module, dotted: str) -> str:
    """The sha256 of the source files that define a factory's network, and of what it set in the network beside weights.

    What these files import from their own package or folder is read as well (`own_sources`).
    """
    home, colon, _ = dotted.partition(":")
    homes = {type(module).__module__ for module in network.modules()}
    homes.add(home if colon else dotted.rpartition(".")[0])
    reading = Reading()
    for name, source in sorted(own_sources(homes).items()):
        reading.say(f"{name}\n{source}\n")
    reading.read_settings(network)
    return reading.digest()


def digest_of_state(network: nn.Module | Any, extra: str = "") -> str:
    """The sha256 of a network in memory, a module or a function: its weights, its settings and its source."""
    reading = Reading()
    reading.say(extra)
    reading.read(network)
    return reading.digest()


@torch.no_grad()
def digest_of_answers(module: nn.Module, points: int | None) -> str:
    """The sha256 of the classes that a network gives to one block of clouds, the same ones for ever."""
    answers = module(probe(32, points or USUAL_POINTS)).argmax(dim=-1).cpu().numpy().astype("<i8")
    return hashlib.sha256(answers.tobytes()).hexdigest()
