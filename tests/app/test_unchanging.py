"""The theme is read once, and again after the configuration has changed."""

from __future__ import annotations

import pytest
from streamlit import config

from app.server.streamlit_patches import remember_theme


def test_sections_are_picked_out_once_until_the_file_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    honest = config.get_options_for_section

    def counting(section: str) -> dict[str, object]:
        asked.append(section)
        return honest(section)

    monkeypatch.setattr(config, "get_options_for_section", counting)
    remember_theme()
    first = config.get_options_for_section("theme.light")
    assert first == config.get_options_for_section("theme.light") == honest("theme.light")
    assert asked == ["theme.light"]
    config.get_config_options(force_reparse=True)  # as Streamlit does when the file was edited
    assert config.get_options_for_section("theme.light") == first
    assert asked == ["theme.light", "theme.light"]
