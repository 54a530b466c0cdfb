"""Every page runs, and answers to its widgets."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.server.visitors import board, uploads
from app.session.uploads import read_upload
from tpc_core import list_models

MAIN = str(Path(__file__).resolve().parents[2] / "app" / "navigation.py")

needs_model = pytest.mark.skipif(
    not any(card.name == "pointnet64-noise" for card in list_models()),
    reason="needs checkpoints/pointnet64-noise",
)


def explore_page() -> None:
    """The Explore page by itself: AppTest cannot follow pages that are functions."""
    import streamlit as st

    from app.pages.explore.page import page
    from app.session.settings import keep_settings

    st.session_state["visitor"] = "tester"
    keep_settings()
    page()


@pytest.fixture
def explore() -> AppTest:
    app = AppTest.from_function(explore_page, default_timeout=60)
    app.run()
    assert not app.exception
    return app


def certify_page() -> None:
    """The Certify page by itself: AppTest cannot follow pages that are functions."""
    import streamlit as st

    from app.pages.certify.page import page
    from app.session.settings import keep_settings

    st.session_state["visitor"] = "tester"
    keep_settings()
    page()


@pytest.fixture
def certify() -> AppTest:
    app = AppTest.from_function(certify_page, default_timeout=60)
    app.run()
    assert not app.exception
    return app


class TestExplore:
    def test_it_starts_on_a_gallery_object(self, explore: AppTest) -> None:
        assert any("Wooden chair" in text.value for text in explore.markdown)
        assert explore.session_state["object"] == "gallery:chair-1"

    def test_another_transform_brings_its_own_sliders(self, explore: AppTest) -> None:
        explore.multiselect(key="pose_kinds").set_value(["twist", "rotation"]).run()
        assert not explore.exception
        assert explore.session_state["poser"].pose.transform == "z-twist+z-rotation"
        assert any("first z-rotation, then z-twist" in text.value for text in explore.caption)

    def test_presets_reset_undo_and_redo(self, explore: AppTest) -> None:
        explore.multiselect(key="pose_kinds").set_value(["taper"]).run()
        explore.button_group(key="preset_z-taper").set_value("0.2").run()
        poser = explore.session_state["poser"]
        assert poser.pose.values == (0.2,)
        explore.button(key="reset").click().run()
        assert poser.pose.values == (0.0,)
        explore.button(key="undo").click().run()
        assert poser.pose.values == (0.2,)
        explore.button(key="redo").click().run()
        assert poser.pose.values == (0.0,)

    def test_what_cannot_be_composed_is_said(self, explore: AppTest) -> None:
        explore.multiselect(key="pose_kinds").set_value(["twist", "l2"]).run()
        assert not explore.exception
        assert any("coordinate noise" in warning.value for warning in explore.warning)

    @pytest.mark.parametrize("kind", ["general-rotation", "zyx-rotation", "shear", "linear", "l2", "linf"])
    def test_every_kind_can_be_posed(self, explore: AppTest, kind: str) -> None:
        explore.multiselect(key="pose_kinds").set_value([kind]).run()
        assert not explore.exception

    @pytest.mark.parametrize("colouring", ["displacement", "height", "parts", "critical"])
    def test_every_colouring_draws(self, explore: AppTest, colouring: str) -> None:
        explore.session_state["colouring"] = colouring
        for view in ("stage", "plotly"):
            explore.session_state["view"] = view
            explore.run()
            assert not explore.exception

    def test_points_alone_and_side_by_side_draw(self, explore: AppTest) -> None:
        for view in ("stage", "plotly"):
            explore.session_state["view"] = view
            explore.session_state["surface"] = False
            explore.session_state["side_by_side"] = True
            explore.run()
            assert not explore.exception

    def test_without_a_transform_the_object_stands_as_it_is(self, explore: AppTest) -> None:
        explore.multiselect(key="pose_kinds").set_value(["taper"]).run()
        explore.button_group(key="preset_z-taper").set_value("0.2").run()
        explore.multiselect(key="pose_kinds").set_value([]).run()
        poser = explore.session_state["poser"]
        assert poser.pose.values == (0.0,)
        assert any("No transform is chosen" in text.value for text in explore.caption)
        explore.button(key="undo").click().run()
        assert poser.pose.values == (0.2,)
        assert explore.multiselect(key="pose_kinds").value == ["taper"]

    def test_an_object_that_is_not_there_falls_back_with_a_notice(self, explore: AppTest) -> None:
        explore.session_state["object"] = "gallery:no-such-thing"
        explore.run()
        assert not explore.exception
        assert any("chair-1" in warning.value for warning in explore.warning)

    def test_fewer_points_than_wished_for_are_announced_and_the_wish_is_kept(self, explore: AppTest) -> None:
        explore.select_slider(key="points").set_value(2048).run()
        cloud = np.random.default_rng(0).uniform(-1, 1, (600, 3))
        content = "\n".join(" ".join(f"{value:.5f}" for value in point) for point in cloud).encode()
        shape = read_upload(content, "few.xyz")
        spec = uploads().put(explore.session_state["visitor"], content, shape)
        explore.session_state["object"] = spec
        explore.run()
        assert not explore.exception
        assert explore.select_slider(key="points").value == 512
        assert any("512 are shown in place of 2,048" in text.value for text in explore.caption)
        explore.session_state["object"] = "gallery:chair-1"
        explore.run()
        assert explore.select_slider(key="points").value == 2048
        assert not any("in place of" in text.value for text in explore.caption)

    @pytest.mark.parametrize("points", [16, 64, 2048])
    def test_any_number_of_points(self, explore: AppTest, points: int) -> None:
        explore.select_slider(key="points").set_value(points).run()
        assert not explore.exception


@needs_model
class TestCertify:
    def finish(self, app: AppTest) -> AppTest:
        end = time.monotonic() + 90
        while any(job.view().live for job in board().of("tester")):
            assert time.monotonic() < end
            time.sleep(0.05)
        return app.run()

    def test_it_says_what_a_run_will_take_before_it_starts(self, certify: AppTest) -> None:
        end = time.monotonic() + 90
        while not any(
            "votes/s on" in text.value for text in certify.caption
        ):  # the speed comes when it is measured
            assert any("being measured" in text.value for text in certify.caption)
            assert time.monotonic() < end
            certify.run()

    def test_models_that_do_not_fit_are_named_with_the_reason(self, certify: AppTest) -> None:
        reasons = [text.value for text in certify.markdown if "cannot certify z-taper" in text.value]
        assert all("take a model" in reason for reason in reasons)

    def test_a_run_ends_with_a_verdict_in_words(self, certify: AppTest) -> None:
        certify.selectbox(key="asked_transform").set_value("z-taper").run()
        certify.button(key="start").click().run()
        assert not certify.exception
        self.finish(certify)
        assert not certify.exception
        view = board().of("tester")[0].view()
        assert view.certificate is not None
        assert any(code.value.startswith("tpc certify gallery:chair-1") for code in certify.code)
        assert any("load_object('gallery:chair-1', points=" in code.value for code in certify.code)

    def test_a_radius_of_zero_is_refused_in_words(self, certify: AppTest) -> None:
        transform = certify.session_state["asked_transform"]
        certify.session_state[f"radius_{transform}_taper"] = 0.0
        certify.run()
        assert not certify.exception
        assert certify.button(key="start").disabled
        assert any("out of range" in warning.value for warning in certify.warning)

    @pytest.mark.parametrize(
        "name", ["z-rotation", "general-rotation", "linear", "l2", "z-twist+z-taper+z-rotation"]
    )
    def test_every_transform_can_be_asked_about(self, certify: AppTest, name: str) -> None:
        certify.selectbox(key="asked_transform").set_value(name).run()
        assert not certify.exception
