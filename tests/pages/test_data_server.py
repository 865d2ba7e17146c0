"""Files on the server, and files that are large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pll.catalog.sources import Source
from pll.runs.config import DataConfig
from pll.ui.data import loader
from tests.page_helpers import bring_by, understood
from tests.pages.test_shared_data import until_read

TABLE = "id,width,candidates\n" + "".join(f"r{k},{k},{'x|y' if k % 2 else 'y'}\n" for k in range(40))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "open"
    place.mkdir()
    (place / "table.csv").write_text(TABLE)
    monkeypatch.setenv("PLL_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("PLL_DATA_PATH", str(place))
    return place


def named(page: Any, path: str) -> Any:
    page.session_state["server-path"] = path
    return bring_by(page, "Path on the server")


def test_paths_out_of_the_folders_are_refused(open_page: Any, folder: Path) -> None:
    page = named(open_page("data"), "../secret.csv")
    assert not page.exception and "'..'" in page.error[0].value and str(folder) in page.error[0].value


@pytest.mark.parametrize("at", ["open", "run"])
def test_data_of_a_run_is_open_wherever_it_lies(open_page: Any, folder: Path, at: str) -> None:
    file = folder.parent / at / "table.csv"
    file.parent.mkdir(exist_ok=True)
    file.write_text(TABLE)
    page = open_page("home")
    page.session_state["choice"] = DataConfig(Source("table.csv", path=str(file)))
    page = page.switch_page("../../pages/data.py").run()
    assert understood(page).startswith("40 examples") and not page.info
    assert [box.value for box in page.selectbox if box.key == "server-path"] == ([str(file)] if at == "open" else [])


def test_a_file_that_changes_in_its_place_is_read_again(open_page: Any, folder: Path) -> None:
    page = named(open_page("data"), str(folder / "table.csv"))
    (folder / "table.csv").write_text(TABLE + "r40,1,x\n")
    assert understood(page.run()).startswith("41 examples")


def test_what_is_wrong_with_a_large_file_is_said(open_page: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "LARGE_FILE", 100)
    (folder / "bad.csv").write_text(TABLE + "r41,1,x,9\n")
    page = until_read(named(open_page("data"), str(folder / "bad.csv")))
    assert not page.exception and "bad.csv: Row 42 has 4 fields" in page.error[0].value
    (folder / "bad.csv").write_text(TABLE)
    assert understood(until_read(page.run())).startswith("40 examples")
