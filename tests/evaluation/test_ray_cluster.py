"""On a real Ray cluster of several nodes: one node is killed in mid-run and the table is the local one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tpc_core.evaluation import InlineEngine, Request, evaluate
from tpc_core.evaluation.ray_engine import RayEngine

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.ray

Ask = Callable[..., Request]


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without CPUs of its own, so that every object runs on a node that can be killed."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_a_killed_node_changes_nothing(ask: Ask, tmp_path: Path, cluster: Any) -> None:
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    request = ask("tiny-noise", "l2:0.05", "z-taper:0.1", samples=2048, budget_samples=20_000)
    evaluate(request, tmp_path / "local", InlineEngine())
    killed = []

    def kill_a_node(settings: object, rows: dict[int, object]) -> None:
        if len(rows) == 5 and not killed:
            killed.append(nodes[0])
            cluster.remove_node(nodes[0], allow_graceful=False)

    with RayEngine(cluster.address) as engine:
        evaluate(request, tmp_path / "ray", engine, progress=kill_a_node)
    assert killed
    assert (tmp_path / "ray" / "objects.csv").read_bytes() == (
        tmp_path / "local" / "objects.csv"
    ).read_bytes()


def test_a_node_that_joins_late_gets_work(ask: Ask, tmp_path: Path, cluster: Any) -> None:
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    request = ask("tiny-noise", "l2:0.05", samples=1024)
    joined = []

    def join(settings: object, rows: dict[int, object]) -> None:
        if len(rows) == 3 and not joined:
            joined.append(cluster.add_node(num_cpus=1))

    with RayEngine(cluster.address) as engine:
        figures = evaluate(request, tmp_path / "ray", engine, progress=join)
    assert figures.finished
