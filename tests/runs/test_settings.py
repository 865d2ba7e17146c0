"""The settings of a server: validated, and documented as they are."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest

from pll.errors import UserError
from pll.runs.events import log_event, set_up_log
from pll.runs.settings import SETTINGS, check_settings, setting

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PLL_RANKS", "many"),
        ("PLL_RANKS", "-1"),
        ("PLL_MOST_SESSIONS", "1e3"),
        ("PLL_METRICS_TOKEN", "short"),
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
    for one in SETTINGS:
        monkeypatch.delenv(one.name, raising=False)
    for one in SETTINGS:
        setting(one.name)
    read = {
        name
        for file in (ROOT / "pll").rglob("*.py")
        for name in re.findall(r'(?:environ\.get\(|getenv\(|setting\()"(PLL_[A-Z_]+)"', file.read_text("utf-8"))
    }
    assert read <= {one.name for one in SETTINGS}


def test_a_line_of_the_log_is_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    loggers = [logging.getLogger(name) for name in ("candid", "pll")]
    before = [(one.handlers, one.propagate, one.level) for one in loggers]
    try:
        set_up_log("json")
        log_event("run deleted", by="ada@example.org", run="x", level_of="y")
        set_up_log("text")
        log_event("run started", run="a\nb")
    finally:
        for one, (handlers, propagate, level) in zip(loggers, before, strict=True):
            one.handlers, one.propagate = handlers, propagate
            one.setLevel(level)
    first, second = capsys.readouterr().err.splitlines()  # a line each, whatever is in them
    told = json.loads(first)
    assert (told["event"], told["run"], told["by"]) == ("run deleted", "x", "ada@example.org") and told["time"]
    assert second.endswith(r'INFO run started run="a\nb"')
