"""The one engine of the server: worker processes of this machine, or a Ray cluster that several servers share.

TPC_ENGINE=ray TPC_RAY_ADDRESS=10.0.0.1:6379 takes a cluster; TPC_RAY_CPUS and TPC_RAY_GPUS say how much of a CPU and
of a GPU each worker takes there. TPC_WORKERS bounds the processes of this machine, and TPC_NICE says how far they stand
back for pages and browsers on it.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from tpc_core.engines import PROMPT, Call, Engine, LocalEngine, Report
from tpc_core.errors import InvalidValue

SHARE = "0.25"
"""The part of a CPU that a worker asks of a cluster, unless told otherwise: there is room for four servers."""


NICE = "10"
"""The priority of local workers: two of them that vote beside a browser on two cores would slow its sliders down."""


@st.cache_resource(show_spinner=False)
def engine() -> Engine:
    """The engine, started with the server and ended with it."""
    made = engine_of(os.environ)
    made.warm()
    atexit.register(made.close)
    return made


def ask(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of the library answers, called in a worker before all that can wait; the page waits for it."""
    handle = engine().submit(Call(function, arguments), rank=PROMPT)
    answers = [message.result for message in handle.messages() if isinstance(message, Report)]
    return answers[-1]


def engine_of(settings: Mapping[str, str]) -> Engine:
    """The engine that the environment asks for."""
    name = settings.get("TPC_ENGINE", "local")
    if name == "local":
        workers = _number(settings, "TPC_WORKERS", "0")
        return LocalEngine(int(workers) or None, nice=int(_number(settings, "TPC_NICE", NICE)))
    if name != "ray":
        raise InvalidValue(f"TPC_ENGINE is local or ray, not {name!r}")
    from tpc_core.engines import RayEngine

    return RayEngine(
        settings.get("TPC_RAY_ADDRESS"),
        cpus=_number(settings, "TPC_RAY_CPUS", SHARE),
        gpus=_number(settings, "TPC_RAY_GPUS", "0"),
    )


def _number(settings: Mapping[str, str], name: str, default: str) -> float:
    try:
        return float(settings.get(name) or default)
    except ValueError:
        raise InvalidValue(f"{name} is a number, not {settings[name]!r}") from None
