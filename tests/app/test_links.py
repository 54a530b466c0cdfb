"""A link holds the screen: what is written is read back, and what makes no sense is left out with a notice."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from tpc_core import Question, list_models, parse_transform

MAIN = str(Path(__file__).resolve().parents[2] / "app" / "navigation.py")
HELD = {
    "object": "gallery:lamp-2",
    "transform": "z-twist+z-taper",
    "at": "40,-0.25",
    "points": "256",
    "all-points": "yes",
    "colour": "displacement",
    "surface": "no",
    "view": "plotly",
    "look": "projector",
    "side-by-side": "yes",
    "ghost": "no",
    "size": "4.5",
}
ASKED = {
    "object": "gallery:sofa-1",
    "transform": "z-twist+z-rotation",
    "largest": "yes",
    "radius": "twist=20,rotation=3",
    "model": "pointnet64-noise",
    "sigma": "0.1",
    "alpha": "0.01",
    "budget": "10000",
    "complete": "yes",
    "seed": "7",
    "map": "print",
}

needs_model = pytest.mark.skipif(
    not any(card.name == "pointnet64-noise" for card in list_models()),
    reason="needs checkpoints/pointnet64-noise",
)


def certify_page() -> None:
    """The Certify page by itself: AppTest cannot follow pages that are functions."""
    import streamlit as st

    from app.pages.certify.page import page
    from app.session.settings import keep_settings

    st.session_state["visitor"] = "linker"
    keep_settings()
    page()


def explore_page() -> None:
    """The Explore page by itself."""
    import streamlit as st

    from app.pages.explore.page import page
    from app.session.settings import keep_settings

    st.session_state["visitor"] = "linker"
    keep_settings()
    page()


def explore(**query: str) -> AppTest:
    return opened(AppTest.from_function(explore_page, default_timeout=60), query)


def certify(**query: str) -> AppTest:
    return opened(AppTest.from_function(certify_page, default_timeout=60), query)


def opened(app: AppTest, query: dict[str, str]) -> AppTest:
    for name, value in query.items():
        app.query_params[name.replace("_", "-")] = value
    app.run()
    assert not app.exception
    return app


def address(app: AppTest) -> dict[str, str]:
    """What the page writes into the address."""
    return dict(parse_qsl(app.session_state["link_shared"]))


def notices(app: AppTest) -> str:
    return " ".join(warning.value for warning in app.warning)


def test_a_page_as_a_newcomer_finds_it_has_a_bare_address() -> None:
    assert address(explore()) == {}


def test_everything_on_explore_is_in_its_address() -> None:
    app = explore(**{name.replace("-", "_"): value for name, value in HELD.items()})
    assert address(app) == HELD
    assert app.session_state["poser"].pose.values == (40.0, -0.25)
    assert not app.warning


@needs_model
def test_everything_on_certify_is_in_its_address() -> None:
    app = certify(**ASKED)
    assert address(app) == ASKED
    assert not app.warning


@needs_model
def test_the_words_of_the_address_are_those_of_the_question() -> None:
    """A link of the Certify page is a question anywhere: nothing in it needs the page to be understood."""
    words = {name: word for name, word in ASKED.items() if name != "map"}
    question = Question.from_query(words)
    assert {name: word for name, word in question.to_query().items() if name != "points"} == words


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("object", "gallery:no-such-thing", ("object", "gallery:chair-1")),
        ("object", "/etc/passwd", ("object", "gallery:chair-1")),
        ("object", "upload:0123456789abcdef", ("object", "gallery:chair-1")),
        ("points", "1000000", ("points", 1024)),
        ("colour", "<b>red</b>", ("colouring", "height")),
        ("size", "nan", ("point_size", 2.5)),
        ("surface", "perhaps", ("surface", True)),
        ("model", "../../etc", ("model", "pointnet64-noise")),
        ("nonsense", "1", ("points", 1024)),
    ],
)
def test_a_value_that_makes_no_sense_falls_back_with_a_notice(
    name: str, value: str, kept: tuple[str, Any]
) -> None:
    app = explore(**{name: value})
    assert app.session_state[kept[0]] == kept[1]
    assert name in notices(app)


@pytest.mark.parametrize(
    ("query", "pose"),
    [
        ({"transform": "z-banana"}, ("z-rotation", (0.0,))),
        ({"transform": "z-twist", "at": "1,2"}, ("z-twist", (0.0,))),
        ({"at": "far"}, ("z-rotation", (0.0,))),
        ({"at": "inf"}, ("z-rotation", (0.0,))),
    ],
)
def test_a_pose_that_makes_no_sense_falls_back_with_a_notice(query: dict[str, str], pose: Any) -> None:
    app = explore(**query)
    now = app.session_state["poser"].pose
    assert (now.transform, now.values) == pose
    assert "left out" in notices(app)


def test_a_value_beyond_its_slider_stops_at_its_end() -> None:
    end = parse_transform("z-taper").parameters[0].high
    assert explore(transform="z-taper", at="99").session_state["poser"].pose.values == (end,)


@needs_model
@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ({"transform": "z-twist", "radius": "-3"}, ("asked_transform", "z-twist")),
        ({"transform": "z-twist", "radius": "rotation=1"}, ("asked_transform", "z-twist")),
        ({"model": "pointnet64-z-twist"}, ("asked_model", "pointnet64-cylinder")),
        ({"sigma": "0.1"}, ("asked_model", "pointnet64-cylinder")),
        ({"alpha": "0"}, ("confidence", "99.9 %")),
        ({"seed": "-1"}, ("seed", None)),
        ({"budget": "all"}, ("budget", "no limit")),
    ],
)
def test_a_question_that_makes_no_sense_falls_back_with_a_notice(
    query: dict[str, str], kept: tuple[str, Any]
) -> None:
    app = certify(**query)
    assert app.session_state[kept[0]] == kept[1]
    assert "left out" in notices(app)


def test_a_notice_goes_once_the_visitor_moves_on() -> None:
    app = explore(colour="red")
    assert "colour" in notices(app)
    app.run()
    assert "colour" in notices(app)
    app.session_state["colouring"] = "displacement"
    app.run()
    app.run()
    assert not app.warning
