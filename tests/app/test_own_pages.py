"""The Runs and Library pages: an evaluation object by object, objects as pictures, and a door for the owner alone."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest
from torch import nn

from app.figures.portraits import portrait
from app.server import cache
from app.server.owner import asked_here, may_add, may_run_code
from tests.data.test_own_data import meshes
from tests.models.test_public_layouts import Sequential
from tpc_core import list_models, load_model
from tpc_core.certificate import Certificate
from tpc_core.data.own import own_names
from tpc_core.evaluation.run_objects import open_run, reason_of
from tpc_core.models import add_model
from tpc_core.shipped import shipped
from tpc_core.verify import verify

CODE = """
from torch import nn

def make():
    return nn.Sequential(nn.Conv1d(3, 5, 1), nn.AdaptiveMaxPool1d(1), nn.Flatten())
"""
GALLERY_RUN = shipped("results", "gallery")


def library_page() -> None:
    import streamlit as st

    from app.pages.library.page import page

    st.session_state["visitor"] = "tester"
    page()


def runs_page() -> None:
    import streamlit as st

    from app.pages.runs.page import page

    st.session_state["visitor"] = "tester"
    page()


def opened(page: object, **state: object) -> AppTest:
    app = AppTest.from_function(page, default_timeout=60)  # type: ignore[arg-type]
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception
    return app


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TPC_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("TPC_DATA_SETS", str(tmp_path / "sets"))
    monkeypatch.setenv("TPC_ADD", "1")
    monkeypatch.delenv("TPC_RUN_CODE", raising=False)
    return tmp_path


def said(app: AppTest) -> str:
    return " ".join(
        str(item.value)
        for kind in (app.markdown, app.caption, app.info, app.error, app.success, app.warning)
        for item in kind
    )


def fill(app: AppTest, button: str, **texts: str) -> AppTest:
    for title, text in texts.items():
        next(box for box in app.text_input if box.label.startswith(title.replace("_", " "))).set_value(text)
    next(item for item in app.button if item.label == button).click()
    app.run()
    assert not app.exception
    return app


# -- the run that is shipped -----------------------------------------------------------------------------------


def test_the_shipped_run_is_of_the_shipped_model_and_every_certificate_holds() -> None:
    run = open_run(GALLERY_RUN)
    assert run.settings.model_digest == load_model(run.settings.model).digest, "run `make gallery-run` again"
    found = set()
    for number in range(len(run.settings.claims)):
        for item in run.objects(number):
            found.add(item.status)
            if item.certificate is not None:
                certificate = Certificate.load(item.certificate)
                assert verify(certificate).verdict == item.status
                assert certificate.cloud.name == item.row.id
                assert reason_of(certificate).title
    assert {"certified", "refuted", "undecided"} <= found


def test_a_run_is_sliced_by_class_verdict_and_reason() -> None:
    app = opened(runs_page)
    assert "44 objects" in said(app)
    claims = (
        app.segmented_control[0].options if hasattr(app, "segmented_control") else app.button_group[0].options
    )
    assert len(claims) == 3
    boxes = {box.label: box for box in app.selectbox}
    assert {"Run", "Class", "Verdict", "Reason", "Order by"} <= set(boxes)
    boxes["Class"].set_value("chair")
    app.run()
    assert not app.exception
    assert "3 objects" in said(app)
    next(box for box in app.selectbox if box.label == "Order by").set_value("margin")
    app.run()
    assert not app.exception


def test_a_folder_of_runs_that_holds_nonsense_gets_one_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    (home / "runs" / "bad").mkdir(parents=True)
    (home / "runs" / "bad" / "journal.jsonl").write_text(json.dumps({"format": "<script>"}) + "\n")
    app = opened(runs_page, runs_run="bad")
    assert len(app.error) == 1


# -- the library -----------------------------------------------------------------------------------------------


def test_the_library_shows_objects_and_models(home: Path) -> None:
    assert "44 objects" in said(opened(library_page))
    assert f"{len(list_models())} models" in said(opened(library_page, library_part="Models"))


def test_a_portrait_is_a_picture_of_the_points() -> None:
    points = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32) / 4
    assert portrait(points).startswith("data:image/png;base64,")
    assert portrait(points) != portrait(-points)


def test_a_data_set_is_added_from_the_page_and_browsed(home: Path) -> None:
    app = opened(library_page, library_part="Add a data set")
    fill(app, "Add the data set", Name="mine", Folder=str(meshes(home / "objects")))
    assert "Added mine" in said(app).replace("\\", "")
    assert own_names() == ["mine"]
    app = opened(library_page, library_part="Objects", library_set="mine")
    assert "3 objects" in said(app)
    app = opened(library_page, library_part="Add a data set")
    fill(app, "Add the data set", Name="mine", Folder=str(home / "objects"))
    assert "already" in said(app)


def test_a_model_is_added_from_the_page(home: Path) -> None:
    torch.save(Sequential().state_dict(), home / "w.pth")
    app = opened(library_page, library_part="Add a model")
    fill(app, "Add the model", Name="mine", File=str(home / "w.pth"), Classes="a,b,c,d,e")
    assert "one more model on every page" in said(app)
    assert load_model("mine").classes == list("abcde")


def test_a_factory_with_its_weights_is_added_from_the_page_where_the_owner_allows_code(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import save_file

    monkeypatch.setenv("TPC_RUN_CODE", "1")
    (home / "page_net.py").write_text(CODE)
    network = nn.Sequential(nn.Conv1d(3, 5, 1), nn.AdaptiveMaxPool1d(1), nn.Flatten())
    save_file(network.state_dict(), home / "net.safetensors")
    try:
        app = opened(library_page, library_part="Add a model")
        texts = {"Weights": str(home / "net.safetensors"), "Folder_of": str(home), "Classes": "a,b,c,d,e"}
        fill(app, "Add the model", Name="mine", File="page_net:make", **texts)
        assert "tpc train --from mine --data DATA" in [item.value for item in app.code]
        clouds = torch.randn(3, 64, 3)
        with torch.no_grad():
            expected = network(clouds.transpose(1, 2))
        torch.testing.assert_close(load_model("mine").classifier()(clouds), expected)
        app = opened(library_page, library_part="Add a model")
        fill(app, "Add the model", Name="mine", File="page_net:make", **texts)
        assert "already" in said(app)
        next(box for box in app.checkbox if box.label.startswith("Put it in the place")).check()
        fill(app, "Add the model")
        assert "one more model on every page" in said(app)
    finally:
        sys.modules.pop("page_net", None)


def note_page() -> None:
    """What Explore and Debug say of a model."""
    from app.widgets.untrained import untrained_note
    from tpc_core.transforms import parse_transform

    untrained_note("mine@z-twist:30", parse_transform("z-twist"))
    untrained_note("mine", parse_transform("z-rotation"))
    untrained_note("pointnet64-noise", parse_transform("z-rotation"))


def test_a_model_that_saw_no_noise_says_so_with_the_command(home: Path) -> None:
    torch.save(Sequential().state_dict(), home / "net.pth")
    add_model("mine", str(home / "net.pth"), classes=list("abcde"), num_points=64)
    cache.model_cards.clear()
    try:
        app = opened(note_page)
    finally:
        cache.model_cards.clear()
    assert [item.value for item in app.code] == [
        "tpc train --from mine --data DATA --smoothing z-twist:30",
        "tpc train --from mine --data DATA --smoothing z-rotation:20",
    ]
    assert said(app).count("was not trained under noise") == 2
    assert "tpc data add" in said(app)


def test_runs_of_any_folder_are_opened_for_the_owner_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(GALLERY_RUN, home / "elsewhere" / "mine")
    for root, name in ((home / "elsewhere", "mine"), (home / "elsewhere" / "mine", "mine")):
        app = opened(runs_page, runs_root=str(root), runs_run=name)
        (chooser,) = [box for box in app.selectbox if box.label == "Run"]
        assert chooser.options == ["Gallery", "mine"]
        assert "44 objects" in said(app)
    monkeypatch.setenv("TPC_ADD", "0")
    app = opened(runs_page, runs_root=str(home / "elsewhere"))
    assert [box.options for box in app.selectbox if box.label == "Run"] == [["Gallery"]]
    assert not app.text_input


@pytest.mark.parametrize("source", ["net.pt2", "net.ts", "my_package.nets:make"])
def test_files_that_hold_code_are_refused_unless_the_owner_allows_them(home: Path, source: str) -> None:
    app = opened(library_page, library_part="Add a model")
    fill(app, "Add the model", Name="mine", File=str(home / source) if ":" not in source else source)
    assert "TPC_RUN_CODE=1" in said(app).replace("\\", "")
    assert not (home / "models").exists()


def test_on_a_shared_server_nobody_adds_anything(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPC_ADD", "0")
    for part in ("Add a model", "Add a data set"):
        app = opened(library_page, library_part=part)
        assert "The person who runs this server" in said(app)
        assert not app.text_input
    monkeypatch.delenv("TPC_ADD")
    monkeypatch.setattr("streamlit.get_option", lambda name: "0.0.0.0")
    assert not may_add()
    monkeypatch.setattr("streamlit.get_option", lambda name: "127.0.0.1")
    assert may_add()
    monkeypatch.setenv("TPC_HOST", "class.example.org")
    assert not may_add()
    assert not may_run_code()


@pytest.mark.parametrize(
    ("address", "headers", "here"),
    [
        ("127.0.0.1", {"Host": "localhost:8501"}, True),
        ("::1", {"host": "[::1]:8501"}, True),
        ("192.168.1.7", {"Host": "localhost:8501"}, False),  # a forged Host
        ("127.0.0.1", {"Host": "class.example"}, False),  # a proxy, or a name that was bent to this machine
        ("127.0.0.1", {"Host": "localhost", "X-Forwarded-For": "127.0.0.1"}, False),
        ("127.0.0.1", {"Host": "localhost", "X-Forwarded-Proto": "https"}, False),
        ("127.0.0.1", {"Host": "localhost", "via": "1.1 proxy"}, False),
        ("127.0.0.1", {}, False),
        (None, {"Host": "localhost"}, False),
    ],
)
def test_the_owner_is_who_asks_on_this_machine(
    address: str | None, headers: dict[str, str], here: bool
) -> None:
    """A server that listens to this machine alone may still be shared, by a proxy before it."""
    assert asked_here(address, headers.items()) == here


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", "../../x", "a b", "**bold**"])
def test_names_from_outside_stay_text(home: Path, name: str) -> None:
    app = opened(library_page, library_part="Add a data set")
    fill(app, "Add the data set", Name=name, Folder=str(meshes(home / "objects")))
    assert len(app.error) == 1
    assert re.search(r"(?<!\\)<", app.error[0].value) is None  # every mark is escaped
    assert own_names() == []


def certify_page() -> None:
    import streamlit as st

    from app.pages.certify.page import page

    st.session_state["visitor"] = "tester"
    page()


def test_the_certify_page_lists_a_brought_network_under_other_smoothings(home: Path) -> None:
    torch.save(Sequential().state_dict(), home / "net.pth")
    add_model("mine", str(home / "net.pth"), classes=list("abcde"), num_points=64)
    for cached in (cache.model_cards, cache.fitting):
        cached.clear()
    try:
        app = opened(certify_page, asked_transform="z-twist", asked_model="mine@z-twist:20")
        (choice,) = [box for box in app.selectbox if box.label == "Model"]
        assert {"mine", "mine@z-twist:20"} <= set(choice.options)
        assert choice.value == "mine@z-twist:20"
        assert cache.knows("mine@z-twist:25")
        for name in (
            "mine@bfloat16",
            "mine@nonsense",
            "mine@z-twist:nan",
            "other@z-twist:20",
            "../mine@noise:1",
        ):
            assert not cache.knows(name)
    finally:
        for cached in (cache.model_cards, cache.fitting):
            cached.clear()


def button_page() -> None:
    import streamlit as st

    from app.widgets.objects import current_shape, object_button

    st.session_state["visitor"] = "tester"
    object_button(current_shape())


def test_a_page_that_runs_again_by_itself_does_not_close_the_dialog(home: Path) -> None:
    """As when the last votes of the safe band come in while somebody looks for a file."""
    app = opened(button_page)
    assert "upload_file" not in {item.key for item in app.get("file_uploader")}
    app.button(key="choose_object").click().run()
    for _ in range(2):
        assert len(app.get("file_uploader")) == 1
        app.run()
