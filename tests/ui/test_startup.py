"""Getting ready makes what follows cheap."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import pll
from pll.catalog.sources import Source
from pll.errors import UserError
from pll.runs.config import RunConfig
from pll.runs.registry import RunRegistry
from pll.synthesis import Flip
from pll.ui import startup
from pll.ui.review import service
from pll.ui.startup import MODULES, get_ready_in_background

HEAVY = ("torch", "sklearn", "scipy.stats", "scipy.io", "pandas", "sqlalchemy")
"""Each takes from .3 to 2.5 s to import."""
FIRST_PAGE = """
import sys
import app
from streamlit.testing.v1 import AppTest
at = AppTest.from_file(sys.argv[1], default_timeout=60).run()
assert not at.exception and any("listed there" in one.value for one in at.markdown)
print(*sys.modules)
"""


def test_the_first_page_waits_for_none_of_the_large_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLL_HOME", str(tmp_path))
    config = RunConfig(Source("digits"), flip=Flip("binomial", 0.5), params={"epochs": 1}, name="listed there")
    RunRegistry(tmp_path / "runs").start(config).join(60)
    main = Path(pll.__file__).parent / "ui" / "main.py"
    command = [sys.executable, "-c", FIRST_PAGE, str(main)]
    ran = subprocess.run(command, cwd=main.parents[2], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert not set(HEAVY) & set(ran.stdout.split())


def test_until_all_is_loaded_one_page_runs_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "ALL_LOADED", threading.Event())
    seen = list[str]()

    def page(name: str) -> threading.Thread:
        def run() -> None:
            with startup.one_at_a_time():
                seen.append(name)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    with startup.one_at_a_time():
        waits = page("second")
        waits.join(0.05)
        assert waits.is_alive() and not seen
        startup.ALL_LOADED.set()
        page("third").join(10)
        assert seen == ["third"]
    waits.join(10)
    assert seen == ["third", "second"]


def test_what_is_loaded_is_not_looked_through_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLL_HOME", str(tmp_path))
    gc.unfreeze()  # what conftest.py has frozen
    before = len(gc.get_objects())
    startup.FIRST_PAGE_SENT.set()
    try:
        get_ready_in_background().join(60)
        assert all(name in sys.modules for name in MODULES)
        assert len(gc.get_objects()) < before / 5  # what a collection goes through
    finally:
        gc.freeze()


def test_a_database_that_cannot_be_used_is_one_line_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise UserError("The database cannot be used.")

    lines, warmed = list[str](), threading.Event()
    monkeypatch.setattr(service, "database", refuse)
    monkeypatch.setattr(startup, "warm_up", warmed.set)
    monkeypatch.setattr(logging.getLogger("candid"), "error", lambda text, *values: lines.append(text % values))
    monkeypatch.setenv("PLL_HOME", str(tmp_path))
    startup.FIRST_PAGE_SENT.set()
    get_ready_in_background().join(60)
    assert lines == ["The database cannot be used."] and warmed.is_set()
