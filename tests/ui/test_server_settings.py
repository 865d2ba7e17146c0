"""The settings of a server: validated, and documented as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pll.errors import UserError
from pll.ui.server_settings import SERVER_SETTINGS, check_settings, setting

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PLL_MOST_SESSIONS", "-1"),
        ("PLL_MOST_SESSIONS", "1e3"),
        ("PLL_LOG", "xml"),
        ("PLL_ADMINS", "ada lovelace"),
        ("PLL_FRAME_ANCESTORS", "*"),
        ("PLL_FRAME_ANCESTORS", "https://a.org; script-src *"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_by_name(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(UserError, match=name):
        check_settings()


def test_defaults_are_valid_and_all_variables_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    for one in SERVER_SETTINGS:
        monkeypatch.delenv(one.name, raising=False)
    for one in SERVER_SETTINGS:
        setting(one.name)
    read = {
        name
        for file in (ROOT / "pll").rglob("*.py")
        for name in re.findall(r'(?:environ\.get\(|getenv\(|setting\()"(PLL_[A-Z_]+)"', file.read_text("utf-8"))
    }
    assert read <= {one.name for one in SERVER_SETTINGS}
