"""The first screen says what the model really answers, and words are explained where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from app.components.terms import TERMS, with_terms
from app.pages.about.page import CITE
from app.pages.home.twisted_object import MODEL, OBJECT, STEP, TRANSFORM, answers
from tpc_core import list_models, load_model, load_shape, parse_transform
from tpc_core.version import VERSION

needs_model = pytest.mark.skipif(
    not any(card.name == MODEL for card in list_models()), reason=f"needs checkpoints/{MODEL}"
)


@needs_model
def test_a_twist_fools_the_classifier_of_the_first_screen_and_it_is_its_own_answer() -> None:
    found = answers()
    assert found.classes[0] == found.truth
    wrong = found.first_wrong
    assert wrong is not None
    assert STEP * wrong < found.farthest
    model, transform = load_model(MODEL), parse_transform(TRANSFORM)
    points = load_shape(OBJECT).cloud(model.num_points).points.double()
    for place in (wrong - 1, wrong):
        pose = transform.apply(points, transform.from_edge([STEP * place])).float()
        logits = model.classifier("cpu")(pose[None])
        assert model.classes[int(torch.argmax(logits))] == found.classes[place]


def test_every_term_is_marked_once_where_it_stands_first() -> None:
    shown = with_terms("The radius of a cell, and the radii of other cells.")
    assert shown.count("<dfn") == 2
    assert 'data-term="radius" tabindex="0">radius</dfn>' in shown
    assert "the radii of other cells" in shown


@pytest.mark.parametrize("name", TERMS)
def test_each_term_is_found_by_its_own_name(name: str) -> None:
    assert f'data-term="{name}"' in with_terms(f"This is {name}.")


def test_marking_words_lets_no_html_through() -> None:
    assert "<img" not in with_terms('<img src=x onerror="alert(1)"> radius')


def test_words_inside_other_words_are_left_alone() -> None:
    assert (
        with_terms("pivotes, z-radius-x, database models, p_AB")
        == "pivotes, z-radius-x, database models, p_AB"
    )


def test_it_is_cited_as_the_citation_file_says() -> None:
    text = (Path(__file__).resolve().parents[2] / "CITATION.cff").read_text()
    assert f"version: {VERSION}" in text
    assert f"version = {{{VERSION}}}" in CITE
    for word in (
        "TPC: Transformation-Specific Smoothing for Point Cloud Models",
        "2022",
        "The TPC Explorer developers",
    ):
        assert word in text
        assert word in CITE
