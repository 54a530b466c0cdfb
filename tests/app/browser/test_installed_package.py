"""`tpc app` of an installed package shows a working page."""

from __future__ import annotations

from typing import Any

import pytest

from tests.app.browser.conftest import PATIENCE, READY
from tests.packaging.installed import Installed, installed

__all__ = ["installed"]

pytestmark = pytest.mark.browser


def test_the_installed_explorer_draws_its_first_object(installed: Installed, chromium: Any) -> None:
    with installed.explorer() as address:
        page = chromium.new_page()
        page.set_default_timeout(PATIENCE)
        served: dict[str, int] = {}
        page.on("response", lambda answer: served.update({answer.url: answer.status}))
        page.goto(f"{address}/explore")
        page.wait_for_selector(READY["explore"])
        page.goto(f"{address}/theory")
        page.get_by_text("What is proved").wait_for()
        page.goto(f"{address}/results")
        page.get_by_text("Certified accuracy, compared with the TPC paper").wait_for()
        page.wait_for_selector(".tpc-plot[data-drawn]")
        page.close()
    static = {url: status for url, status in served.items() if "/app/static/" in url}
    assert any("/stage-" in url for url in static)
    assert any(url.endswith("plotly.min.js") for url in static)
    assert set(static.values()) <= {200, 304}
