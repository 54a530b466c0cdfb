"""The process that renders stills is killed in mid-render: one sentence, and the next still is a picture again."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from app.server.stills import CannotRender, Renderer, Still, obstacle

STILL = Still(np.eye(3) / 2, np.full((3, 3), 0.5), (1.0, -1.0, 0.5))


@pytest.fixture(scope="module")
def renderer() -> Iterator[Renderer]:
    if reason := obstacle():
        pytest.skip(reason)
    made = Renderer(timeout=90)
    try:
        made.render(STILL)
        yield made
    finally:
        made.close()


def test_a_worker_killed_in_mid_render_costs_one_still(renderer: Renderer) -> None:
    worker = renderer._worker
    assert worker is not None
    os.kill(worker.pid, signal.SIGSTOP)  # it has the still, and will not finish it
    told: list[str] = []

    def ask() -> None:
        try:
            renderer.render(STILL)
        except CannotRender as error:
            told.append(str(error))

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.3)
    os.kill(worker.pid, signal.SIGKILL)
    asking.join(20)
    assert len(told) == 1
    assert "\n" not in told[0]
    assert renderer.render(STILL).startswith(b"\x89PNG")


def test_a_worker_killed_while_it_waits_costs_nothing(renderer: Renderer) -> None:
    worker = renderer._worker
    assert worker is not None
    worker.kill()
    worker.wait()
    assert renderer.render(STILL).startswith(b"\x89PNG")


def test_a_worker_that_hangs_is_ended_in_time(renderer: Renderer) -> None:
    worker = renderer._worker
    assert worker is not None
    os.kill(worker.pid, signal.SIGSTOP)
    renderer.timeout = 0.5
    with pytest.raises(CannotRender):
        renderer.render(STILL)
    assert worker.poll() is not None
    renderer.timeout = 90
    assert renderer.render(STILL).startswith(b"\x89PNG")
