"""The very first visitor of a server that has just started may come by a link to any page."""

from __future__ import annotations

from typing import Any

import pytest

from app.server.serve import served

pytestmark = pytest.mark.browser


def test_a_link_to_a_page_works_on_a_server_that_nobody_has_opened_yet(chromium: Any) -> None:
    with served({"OMP_NUM_THREADS": "1"}) as fresh:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{fresh.address}/theory")
        page.wait_for_selector(".tpc-link")
        assert page.get_by_text("Page not found").count() == 0
        context.close()
