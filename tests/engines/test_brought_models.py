"""A brought model promises to run on workers that never saw it: it travels by its digest, as its card and its file.

The workers here have an empty model folder, as the nodes of a cluster do.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.models.test_own_models import CODE, onnx_file, script, strangers_network
from tpc_core import CoordinateSmoothing, Model, load_object
from tpc_core.engines import Call, LocalEngine, Report
from tpc_core.engines.parcels import Shelf, key_of, pack_model
from tpc_core.errors import InvalidValue
from tpc_core.models import bring

CLASSES = list("abcd")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("brought")
    (place / "strangers_net.py").write_text(CODE)
    yield place
    sys.modules.pop("strangers_net", None)


@pytest.fixture(scope="module")
def worker(home: Path) -> Iterator[LocalEngine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TPC_MODELS", str(home / "empty"))
        with LocalEngine(1) as engine:
            yield engine


def brought(kind: str, home: Path) -> Model:
    network = strangers_network(home)
    smoothing = CoordinateSmoothing(0.2)
    if kind == "factory":
        return bring("strangers_net:make", classes=CLASSES, smoothing=smoothing, folder=home)
    source = onnx_file(network, home / "net.onnx") if kind == "onnx" else script(network, home / "net.ts")
    return bring(source, classes=CLASSES, smoothing=smoothing, run_code=True)


def _answers(model: Model) -> list[float]:
    points = torch.from_numpy(load_object("gallery:lamp-1", points=64).array).float()[None]
    answers: list[float] = model.classifier()(points)[0].tolist()
    return answers


@pytest.mark.parametrize("kind", ["factory", "onnx", "torchscript"])
def test_a_brought_model_answers_on_a_worker_as_here(kind: str, home: Path, worker: LocalEngine) -> None:
    model = brought(kind, home)
    (report,) = worker.submit(Call(_answers, (model,))).messages()
    assert isinstance(report, Report)
    assert report.result == pytest.approx(_answers(model), abs=1e-5)


def test_a_worker_without_the_code_of_a_factory_says_so_in_one_sentence(
    tmp_path: Path, worker: LocalEngine
) -> None:
    package = tmp_path / "away"
    package.mkdir()
    (package / "gone_net.py").write_text(CODE)
    try:
        model = bring("gone_net:make", classes=CLASSES, folder=package)
    finally:
        sys.modules.pop("gone_net", None)
    shutil.rmtree(package)
    with pytest.raises(InvalidValue, match="must be on every machine that runs it") as told:
        list(worker.submit(Call(_answers, (model,))).messages())
    assert "\n" not in str(told.value)
    assert list(worker.submit(Call(len, ("abc",))).messages()) == [Report(3, part=1.0)]


def test_another_file_than_the_one_asked_for_is_not_taken(home: Path) -> None:
    """Whoever answers a worker cannot pass off other weights under a digest."""
    model, shelf = brought("onnx", home), Shelf()
    from tpc_core.engines.wire import from_bytes, to_bytes

    card, content, precision = from_bytes(pack_model(model))
    shelf.put(key_of(model), to_bytes((card, content + b"\0", precision)))
    with pytest.raises(InvalidValue, match="is not the file its card describes"):
        shelf.find(key_of(model), model.digest, model.name)
