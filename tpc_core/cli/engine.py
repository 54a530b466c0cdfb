"""Who does the work, on the command line: worker processes of this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tpc_core.errors import InvalidValue

if TYPE_CHECKING:
    from tpc_core.engines import Engine, InlineEngine


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--engine, --workers, --address and --gpus-per-worker."""
    options = [
        click.option(
            "--engine", "engine_name", type=click.Choice(["local", "ray"]), default="local", show_default=True
        ),
        click.option(
            "--workers", type=int, help="Worker processes of the local engine; default: the number of cores."
        ),
        click.option(
            "--address", help="Address of a Ray cluster; without it, Ray starts one on this machine."
        ),
        click.option(
            "--gpus-per-worker", type=float, default=0.0, help="GPUs of each Ray worker; 0.5 puts two on one."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def chosen_engine(
    name: str, workers: int | None, address: str | None, gpus: float, threads: int | None = 1
) -> Engine | InlineEngine:
    """The engine that was asked for; one worker is this process itself, on so many threads."""
    from tpc_core.engines import InlineEngine, LocalEngine

    if name == "ray":
        if workers is not None:
            raise InvalidValue("--workers belongs to the local engine; Ray takes the CPUs of its cluster")
        from tpc_core.engines.ray_cluster import RayEngine

        return RayEngine(address, gpus=gpus)
    if address is not None or gpus:
        raise InvalidValue("--address and --gpus-per-worker belong to --engine ray")
    return InlineEngine(threads) if workers == 1 else LocalEngine(workers)
