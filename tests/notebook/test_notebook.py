"""In a notebook everything promises to show itself: clouds, certificates, maps, and an Explorer that answers."""

from __future__ import annotations

import pytest

from tests.certificate.made import genuine
from tpc_core import Cloud, Options, certify, load_model, load_object
from tpc_core.errors import UnsupportedRequest
from tpc_core.notebook import CertificateMap
from tpc_core.question import Budget


def test_a_cloud_shows_its_points() -> None:
    cloud = load_object("gallery:chair-1")
    shown = cloud._repr_html_()
    assert shown.count("<circle") == 64
    assert "chair" in shown


def test_a_certificate_shows_its_verdict_and_a_map_its_cells() -> None:
    certificate = certify(load_model("pointnet64-noise"), load_object("gallery:chair-1"), "z-taper", 0.2)
    shown = certificate._repr_html_()
    assert "CERTIFIED" in shown
    assert certificate.sentence in shown
    cells = CertificateMap(certificate)._repr_html_()
    assert (
        cells.count("<rect") == len(certificate.votes().tallies) - 1
    )  # all places but the choice of the class
    assert "needed" in cells


def test_a_map_of_two_parameters_is_a_picture_and_one_of_three_says_why_not() -> None:
    options = Options(budget=Budget(samples=3000))
    model, lamp = load_model("pointnet64-noise"), load_object("gallery:lamp-1")
    two = certify(model, lamp, "z-taper+z-rotation", "taper=0.1,rotation=5", options)
    assert "<rect" in CertificateMap(two)._repr_html_()
    three = certify(model, lamp, "z-twist+z-taper+z-rotation", "twist=2,taper=0.05,rotation=1", options)
    with pytest.raises(UnsupportedRequest, match="3 parameters has no picture"):
        CertificateMap(three)._repr_html_()


def test_names_from_files_stay_text() -> None:
    evil = "<script>alert(1)</script>"
    points = load_object("gallery:chair-1").array
    assert "<script>" not in Cloud(points, name=evil, label=evil)._repr_html_()
    made = genuine("cover")
    named = made.model_copy(update={"model": made.model.model_copy(update={"name": evil})})
    assert "<script>" not in named._repr_html_()


def test_an_edited_certificate_shows_no_verdict_on_its_map_and_none_says_that_it_was_checked() -> None:
    made = genuine("cover")
    edited = made.model_copy(update={"verdict": "undecided" if made.verdict == "certified" else "certified"})
    shown = CertificateMap(edited)._repr_html_()
    assert "NOT VALID" in shown
    assert "CERTIFIED" not in shown
    assert "<rect" not in shown
    assert "checked" in edited._repr_html_()
    assert "not here" in edited._repr_html_()


def test_the_explorer_answers_to_its_sliders_and_its_button() -> None:
    from tpc_core.notebook import Explorer

    explorer = Explorer(load_model("pointnet64-noise"), load_object("gallery:car-1"), "z-rotation", 5)
    assert explorer.answer["classes"][0] == "car"
    assert [slider["name"] for slider in explorer.sliders] == ["rotation"]
    before = dict(explorer.answer)
    explorer.values = [90.0]
    assert explorer.answer != before
    explorer.asked += 1
    assert explorer.verdict["word"] == explorer.certificate.verdict
    explorer.radius = "nonsense"
    explorer.asked += 1
    assert explorer.verdict["word"] == "error"
    with pytest.raises(UnsupportedRequest, match="no slider"):
        Explorer(load_model("pointnet64-noise"), load_object("gallery:chair-1"), "l2")


def test_a_notebook_runs_with_a_kernel_of_its_own() -> None:
    import nbclient
    import nbformat

    cells = [
        "from tpc_core import load_model, load_object\nfrom tpc_core.notebook import Explorer",
        "Explorer(load_model('pointnet64-noise'), load_object('gallery:chair-1'), 'z-taper')",
        "load_object('gallery:chair-1')",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    done = nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    widget, cloud = (cell["outputs"][0]["data"] for cell in done.cells[1:])
    assert "application/vnd.jupyter.widget-view+json" in widget
    assert "<svg" in cloud["text/html"]
