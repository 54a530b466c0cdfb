"""Two servers on one Ray cluster of two nodes; a node is killed in mid-run, and the votes are those of one machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.slow import slow_question
from tests.models.test_own_models import CODE, script, strangers_network
from tpc_core import CoordinateSmoothing, load_object
from tpc_core.certificate import Certificate
from tpc_core.certify import Done, Options, certify
from tpc_core.engines.ray_cluster import RayEngine
from tpc_core.models import bring
from tpc_core.question import Question
from tpc_core.runs import CertifyWork

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.ray, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
KIND = "many cells of rotations"
SERVER = """
import sys
from pathlib import Path
from app.server.engine import engine_of
from app.server.jobs import JobBoard, Request
from tests.faults.slow import slow_request
engine = engine_of({"TPC_ENGINE": "ray", "TPC_RAY_ADDRESS": sys.argv[1]})
job = JobBoard(engine).submit("a visitor", slow_request(Request, pause=0.03))
told = False
while not job.join(0.05):
    if job.view().samples and not told:
        told = True
        print("voting", flush=True)
view = job.view()
assert view.status == "done", view.message
Path(sys.argv[2]).write_text(view.certificate.to_json())
print(view.notice, flush=True)
engine.close()
"""


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without CPUs of its own, and two nodes that can be killed."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  Ray's own 15 starves its workers on a busy machine
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        yield made
    finally:
        made.shutdown()


def test_two_servers_share_a_cluster_and_a_dead_node_costs_them_nothing(cluster: Any, tmp_path: Path) -> None:
    pytest.importorskip("streamlit")
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    servers = [
        subprocess.Popen(
            [sys.executable, "-c", SERVER, cluster.address, str(tmp_path / f"{number}.json")],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    guard = threading.Timer(240, lambda: [server.kill() for server in servers])
    guard.start()
    try:
        for server in servers:
            assert server.stdout is not None
            assert server.stdout.readline() == "voting\n"
        cluster.remove_node(nodes[0], allow_graceful=False)
        assert [server.wait() for server in servers] == [0, 0]
    finally:
        guard.cancel()
        for server in servers:
            server.kill()
    here = certify(*slow_question(KIND))
    for number in range(2):
        made = Certificate.load(tmp_path / f"{number}.json")
        assert made.sentence == here.sentence
        mine, theirs = made.votes().tallies, here.votes().tallies
        assert mine.keys() == theirs.keys()
        assert all((mine[place].blocks == theirs[place].blocks).all() for place in theirs)
    _a_brought_model_goes_to_an_actor_that_lacks_it(cluster.address, tmp_path)


def _a_brought_model_goes_to_an_actor_that_lacks_it(address: str, home: Path) -> None:
    """On the node that is left: its model folder is empty, and the network travels as its card and its file."""
    (home / "strangers_net.py").write_text(CODE)
    network, smoothing = strangers_network(home), CoordinateSmoothing(0.2)
    model = bring(script(network, home / "net.ts"), classes=list("abcd"), smoothing=smoothing, run_code=True)
    cloud = load_object("gallery:lamp-1", points=64)
    question = Question.of(model.name, cloud.name, len(cloud), "l2", 0.05, Options())
    with RayEngine(address) as engine:
        *_, last = engine.submit(CertifyWork(question, model, cloud)).messages()
    assert isinstance(last, Done)
    here = certify(model, cloud, "l2", 0.05)
    assert last.certificate.sentence == here.sentence
    assert last.certificate.ledger == here.ledger
