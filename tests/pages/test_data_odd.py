"""An odd reading is asked about on the page, refused by the shell, and neither trains on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pll.catalog.sources import Source
from pll.cli.main import main
from pll.formats.odd import OddReading
from pll.ui.data import loader
from tests.page_helpers import button, labels, understood
from tests.pages.test_shared_data import until_read

IN_EVERY_SET = "id,width,candidates\n" + "".join(f"e{k},{k}.5,all|{'xyz'[k % 3]}\n" for k in range(30))
"""A class that says nothing, since every example may have it."""


def bring(page: Any, name: str, content: str) -> Any:
    return page.file_uploader(key="uploader").set_value((name, content.encode(), "text/plain")).run()


def test_the_shell_refuses_it_until_it_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "odd.csv").write_text(IN_EVERY_SET)
    assert main(["read", str(tmp_path / "odd.csv")]) == 2
    words = capsys.readouterr().err
    kind = words.rpartition("--accept ")[2].split(".")[0].split()[0]
    assert main(["read", str(tmp_path / "odd.csv"), "--accept", kind]) == 0
    fit = ("fit", str(tmp_path / "odd.csv"), "--method", "majority", "--out", str(tmp_path / "run"))
    assert main([*fit]) == 2
    hint = capsys.readouterr().err.partition("In the shell: ")[2].partition(";")[0]
    assert hint == "--drop=all"
    assert main([*fit, hint]) == 0


@pytest.mark.parametrize(
    ("same", "classes"), [(None, "2 classes (benign, malignant)"), (["benigne"], "3 classes (B, benign, malignant)")]
)
def test_slips_of_the_pen_are_merged_with_a_click(open_page: Any, same: list[str] | None, classes: str) -> None:
    words = [["benign", "malignant"][k % 2] for k in range(60)]
    rows = [[f"e{k}", *(words[(k + j * (k % 7 == 0)) % 60] for j in range(3))] for k in range(60)]
    rows[3][1], rows[8][2] = "B", "benigne"
    page = bring(open_page("data"), "slips.csv", "\n".join(["id,Ann,Bob,Cleo", *map(",".join, rows)]))
    (offered,) = (group for group in page.button_group if group.label == "The same class")
    if same is not None:  # not all of them
        page = offered.set_value(same).run()
    page = button(page, "Merge them").click().run()
    assert classes in understood(page)
    assert not button(page, "Get labels").disabled


def test_one_thing_is_asked_at_a_time_and_a_click_answers_only_that(open_page: Any) -> None:
    rows = [f"e{k},{k}.5,all|{'xyz'[k % 3]}|w{k}" for k in range(30)]
    page = bring(open_page("data"), "odd.csv", "\n".join(["id,width,candidates", *rows]))
    (warning,) = page.warning
    assert "classes for 30 examples" in warning.value
    page = button(page, "It is meant so").click().run()
    (warning,) = page.warning
    assert "in every set" in warning.value
    assert "Get labels" not in labels(page)
    page = button(page, "Drop all").click().run()
    assert not page.warning and not button(page, "Get labels").disabled


def test_classes_that_were_dropped_are_not_counted(tmp_path: Path) -> None:
    lines = [f"e{k},{k}.5,{'xyz'[k % 3]}|w{k if k < 16 else k % 2}" for k in range(30)]
    (tmp_path / "odd.csv").write_text("\n".join(["id,width,candidates", *lines]))
    source = Source("odd.csv", str(tmp_path / "odd.csv"))
    with pytest.raises(OddReading, match=r"odd\.csv: There are 19 classes"):
        source.load()
    with pytest.raises(OddReading, match="There are 16 classes"):
        replace(source, classes={f"w{k}": None for k in range(13, 16)}).load()
    assert replace(source, classes={f"w{k}": None for k in range(4, 16)}).load().n_classes == 7


@pytest.mark.parametrize("answer", ["Drop all", "It is meant so"])
@pytest.mark.parametrize("large", [10**6, 100], ids=["at once", "in the background"])
def test_what_is_odd_is_shown_with_its_cells_and_answered_with_a_click(
    open_page: Any, monkeypatch: pytest.MonkeyPatch, large: int, answer: str
) -> None:
    monkeypatch.setattr(loader, "LARGE_FILE", large)
    page = until_read(bring(open_page("data"), "odd.csv", IN_EVERY_SET))
    (warning,) = page.warning
    assert "all" in warning.value and "--" not in warning.value and not page.error
    assert {"Drop all", "It is meant so"} <= labels(page) and not {"Try again", "Get labels"} & labels(page)
    page = until_read(button(page.run(), answer).click().run())
    assert understood(page).startswith("30 examples")
    assert ("all" in understood(page)) == (answer == "It is meant so")
    assert not button(page, "Get labels").disabled
