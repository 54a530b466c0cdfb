"""Objects per second of `tpc evaluate` with one worker and with several, on this machine's processes and on Ray."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import driver
from tpc_core.data import MODELNET40_CLASSES, gallery, load_object
from tpc_core.engines import Engine, LocalEngine, available_cores
from tpc_core.evaluation import Request, evaluate

CLAIMS = ["l2:0.05", "z-taper:0.1", "z-taper:0.2", "z-taper+z-rotation:taper=0.2,rotation=1"]
REQUEST = Request(model="pointnet64-noise", claims=CLAIMS, budget_samples=20_000, device="cpu")
POINTS = 256


def measure(*, full: bool) -> list[str]:
    """The table, from warm workers: what a long evaluation sees."""
    counts = sorted({1, min(2, available_cores()), available_cores()})
    lines = [
        "## Evaluation throughput",
        "",
        f"The gallery's objects, {len(CLAIMS)} claims of `{REQUEST.model}` at 64 points ({', '.join(CLAIMS)}), one "
        "thread per worker. Starting up (imports, the cluster, the first object of each worker) is not in the rate. "
        "The tables of all engines are compared byte by byte.",
        "",
        "| engine | workers | start, s | objects/s | times one worker | efficiency | same table |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    with TemporaryDirectory() as folder, packed_gallery(Path(folder)):
        reference: bytes | None = None
        for name, engines in _engines().items():
            alone = 0.0
            for count in counts:
                out = Path(folder) / f"{name}-{count}"
                started, rate, table = _one(engines, count, out)
                reference = reference or table
                alone = alone or rate
                gain = rate / alone
                lines.append(
                    f"| {name} | {count} | {started:.1f} | {rate:.2f} | {gain:.2f}x | {gain / count:.0%} "
                    f"| {'yes' if table == reference else 'NO'} |"
                )
                print(lines[-1], flush=True)
    lines += driver.measure()
    if not find_spec("ray"):
        lines += ["", "Ray is not installed here (`pip install 'tpc-explorer[ray]'`)."]
    return lines


def _one(engines: Callable[[int], Engine], count: int, out: Path) -> tuple[float, float, bytes]:
    """Seconds to start, objects per second after that, and the table."""
    begun = time.perf_counter()
    with engines(count) as engine:
        evaluate(REQUEST.model_copy(update={"limit": 2 * count}), out.with_suffix(".warm"), engine)
        started = time.perf_counter()
        figures = evaluate(REQUEST, out, engine)
        seconds = time.perf_counter() - started
    return started - begun, figures.done / seconds, (out / "objects.csv").read_bytes()


def _engines() -> dict[str, Callable[[int], Engine]]:
    found: dict[str, Callable[[int], Engine]] = {"local": LocalEngine}
    if find_spec("ray"):
        found["ray"] = _ray_engine
    return found


def _ray_engine(cpus: int) -> Engine:
    from tpc_core.engines.ray_cluster import RayEngine

    return RayEngine(size=cpus)


@contextmanager
def packed_gallery(folder: Path) -> Iterator[None]:
    """The gallery as the test split of a data set, so that anyone can run this."""
    entries = [entry for entry in gallery() if entry.category in MODELNET40_CLASSES]
    clouds = [load_object(f"gallery:{entry.name}", points=POINTS) for entry in entries]
    np.savez(
        folder / "modelnet40_test.npz",
        points=np.stack([cloud.points.numpy() for cloud in clouds]).astype(np.float16),
        labels=np.array([MODELNET40_CLASSES.index(entry.category) for entry in entries]),
        ids=np.array([entry.name for entry in entries]),
        classes=np.array(MODELNET40_CLASSES),
    )
    before = os.environ.get("TPC_MODELNET40")
    os.environ["TPC_MODELNET40"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("TPC_MODELNET40")
        if before is not None:
            os.environ["TPC_MODELNET40"] = before
