"""On a real Ray cluster of several nodes: one node is killed in mid-run and the table is the local one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tpc_core.engines.ray_cluster import RayEngine
from tpc_core.errors import InvalidValue
from tpc_core.evaluation import InlineEngine, Request, evaluate
from tpc_core.evaluation.sums import Sums

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.ray, pytest.mark.slow]

Ask = Callable[..., Request]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without CPUs of its own, so that every object runs on a node that can be killed."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  Ray's own 15 starves its workers on a machine with other work
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_nodes_that_die_and_join_change_nothing(ask: Ask, tmp_path: Path, cluster: Any) -> None:
    """Three raylets: one is killed with its objects under way, a fourth joins; the table is the local one."""
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    request = ask("tiny-noise", "l2:0.05", "z-taper:0.1", budget_samples=3_000)
    evaluate(request, tmp_path / "local", InlineEngine())
    changes: list[Any] = []

    def change(settings: object, sums: Sums) -> None:
        if sums.done >= 5 and not changes:
            changes.append(cluster.remove_node(nodes[0], allow_graceful=False))
        if sums.done >= 12 and len(changes) == 1:
            changes.append(cluster.add_node(num_cpus=1))

    with RayEngine(cluster.address) as engine:
        figures = evaluate(request, tmp_path / "ray", engine, progress=change)
    assert len(changes) == 2
    assert figures.finished
    assert (tmp_path / "ray" / "objects.csv").read_bytes() == (
        tmp_path / "local" / "objects.csv"
    ).read_bytes()


def test_a_worker_gets_the_gpu_that_it_asks_for(ask: Ask, tmp_path: Path, cluster: Any) -> None:
    """Ray counts GPUs by what a node declares, so that the asking can be tested without one."""
    with pytest.raises(InvalidValue, match="no node of the cluster has 1 GPU"):
        RayEngine(cluster.address, gpus=1)
    cluster.add_node(num_cpus=1, num_gpus=1)
    cluster.wait_for_nodes()
    request = ask("tiny-group", "z-rotation:180", limit=3)
    evaluate(request, tmp_path / "local", InlineEngine())
    with RayEngine(cluster.address, gpus=0.5) as engine:
        evaluate(request, tmp_path / "ray", engine)
    assert (tmp_path / "ray" / "objects.csv").read_bytes() == (
        tmp_path / "local" / "objects.csv"
    ).read_bytes()
