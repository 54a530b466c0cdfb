"""One table from every engine: one worker, two, Ray; and after kill -9 of the driver, of a worker and of a node.

`python -m benchmarks.same_table` evaluates every 25th object of ModelNet40's test split (`TPC_MODELNET40` says where
it lies; `--every 1` takes all, `--gallery` takes the built-in objects) in each of these ways, and compares the tables
byte by byte. It exits with 1 where one differs. Ray is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.evaluation import packed_gallery
from tpc_core.data import open_dataset
from tpc_core.engines import LocalEngine
from tpc_core.errors import InvalidFile
from tpc_core.evaluation import InlineEngine, Request, evaluate
from tpc_core.evaluation.sums import Sums

CLAIMS = ["l2:0.05", "z-taper:0.1", "z-taper:0.2", "z-taper+z-rotation:taper=0.2,rotation=1"]
PATIENCE = 3600.0


class OnePart:
    """Does something once, when a third of the objects is done."""

    def __init__(self, deed: Callable[[], object]) -> None:
        self.deed, self.done = deed, False

    def __call__(self, settings: Any, sums: Sums) -> None:
        if not self.done and 3 * sums.done >= settings.objects:
            self.done = True
            self.deed()


def one_worker(request: Request, folder: Path) -> None:
    evaluate(request, folder, InlineEngine())


def two_workers(request: Request, folder: Path) -> None:
    with LocalEngine(2) as engine:
        evaluate(request, folder, engine)


def worker_killed(request: Request, folder: Path) -> None:
    with LocalEngine(2) as engine:
        kill = OnePart(lambda: os.kill(engine.processes[0], signal.SIGKILL))
        evaluate(request, folder, engine, progress=kill)
        assert kill.done


def driver_killed(request: Request, folder: Path) -> None:
    """The whole process dies with its two workers; another goes on."""
    command = [
        str(Path(sys.executable).with_name("tpc")),
        "evaluate",
        "--model",
        request.model,
        "--out",
        str(folder),
    ]
    command += ["--every", str(request.every), "--device", "cpu", "--workers", "2"]
    command += ["--budget-samples", str(request.budget_samples)]
    command += [part for claim in request.claims for part in ("--claim", claim)]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal, end = folder / "journal.jsonl", time.monotonic() + PATIENCE
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 3):
        assert driver.poll() is None, "the driver ended before it could be killed"
        assert time.monotonic() < end
        time.sleep(0.02)
    driver.kill()
    driver.wait()
    with LocalEngine(2) as engine:
        evaluate(request, folder, engine, resume=True)


def on_ray(request: Request, folder: Path) -> None:
    with _cluster() as (address, _):
        _on(address, request, folder)


def node_killed(request: Request, folder: Path) -> None:
    with _cluster() as (address, kill_a_node):
        kill = OnePart(kill_a_node)
        _on(address, request, folder, kill)
        assert kill.done


def _on(address: str, request: Request, folder: Path, progress: Any = lambda settings, sums: None) -> None:
    from tpc_core.engines.ray_cluster import RayEngine

    with RayEngine(address) as engine:
        evaluate(request, folder, engine, progress=progress)


@contextmanager
def _cluster() -> Iterator[tuple[str, Callable[[], object]]]:
    """Two nodes with a CPU each, and a head with none: its address, and what kills one of the nodes."""
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  Ray's own 15 starves its workers on a busy machine
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        cluster.wait_for_nodes()
        yield cluster.address, lambda: cluster.remove_node(nodes[0], allow_graceful=False)
    finally:
        cluster.shutdown()


WAYS: dict[str, Callable[[Request, Path], None]] = {
    "local, 1 worker": one_worker,
    "local, 2 workers": two_workers,
    "local, 2 workers, one killed": worker_killed,
    "local, driver killed, then --resume": driver_killed,
    "Ray, 2 nodes": on_ray,
    "Ray, 2 nodes, one killed": node_killed,
}


@dataclass(frozen=True)
class Made:
    """A table that was made in one of the ways."""

    way: str
    digest: str
    seconds: float


def compare(request: Request, folder: Path) -> Iterator[Made]:
    """The tables of all ways that are possible here, one after the other."""
    for number, (name, way) in enumerate(WAYS.items()):
        if "Ray" in name and not find_spec("ray"):
            continue
        out, start = folder / str(number), time.monotonic()
        way(request, out)
        digest = hashlib.sha256((out / "objects.csv").read_bytes()).hexdigest()[:16]
        made = Made(name, digest, time.monotonic() - start)
        print(f"{name:38} {digest} {made.seconds:8.1f} s", flush=True)
        yield made


def tables(every: int, *, of_gallery: bool) -> list[Made]:
    """One evaluation in all ways."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with packed_gallery(folder) if of_gallery else nullcontext():
            request = Request(
                model="pointnet64-noise", claims=CLAIMS, budget_samples=20_000, device="cpu", every=every
            )
            return list(compare(request, folder))


def _has_modelnet40() -> bool:
    try:
        open_dataset("modelnet40", "test")
    except InvalidFile:
        return False
    return True


def measure(*, full: bool) -> list[str]:
    """The section of RESULTS.md: of ModelNet40 where it is, else of the gallery."""
    here = _has_modelnet40()
    every = (25 if full else 100) if here else (1 if full else 4)
    made = tables(every, of_gallery=not here)
    of = (
        f"every {every}th object of {'ModelNet40' if here else 'the gallery'}" if every > 1 else "the gallery"
    )
    lines = [
        "## One table from every engine",
        "",
        f"`pointnet64-noise` on {of}, {len(CLAIMS)} claims ({', '.join(CLAIMS)}). The tables (objects.csv) are "
        "compared byte by byte; seconds with all that is started, killed and resumed.",
        "",
        "| engine | s | SHA-256 of the table | same |",
        "|---|---:|---|---|",
    ]
    same = {True: "yes", False: "NO"}
    lines += [
        f"| {each.way} | {each.seconds:.0f} | `{each.digest}` | {same[each.digest == made[0].digest]} |"
        for each in made
    ]
    if not find_spec("ray"):
        lines += ["", "Ray is not installed here."]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_table", description=__doc__)
    parser.add_argument("--every", type=int, default=25)
    parser.add_argument(
        "--gallery", action="store_true", help="the built-in objects in the place of ModelNet40"
    )
    given = parser.parse_args()
    made = tables(given.every, of_gallery=given.gallery)
    wrong = [each.way for each in made if each.digest != made[0].digest]
    for name in wrong:
        print(f"another table: {name}")
    print("all tables are the same, byte for byte" if not wrong else "tables differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
