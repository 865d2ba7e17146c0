"""An odd reading is asked about on the page, refused by the shell, and neither trains on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pll.cli.main import main
from pll.ui.data import loader
from tests.page_helpers import button, labels, said, understood
from tests.pages.test_shared_data import until_read

IN_EVERY_SET = "id,width,candidates\n" + "".join(f"e{k},{k}.5,all|{'xyz'[k % 3]}\n" for k in range(30))
"""A class that says nothing, since every example may have it."""
MTURK = "HITId,WorkerId,Input.text,Answer.mood\n" + "".join(
    f"h{k // 3},w{k % 3},some text of number {k // 3},{'glad' if k % 4 else 'sad'}\n" for k in range(36)
)


def bring(page: Any, name: str, content: str) -> Any:
    return page.file_uploader(key="uploader").set_value((name, content.encode(), "text/plain")).run()


def test_what_is_odd_is_shown_with_its_cells_and_accepted_with_a_click(open_page: Any) -> None:
    page = bring(open_page("data"), "odd.csv", IN_EVERY_SET)
    (warning,) = page.warning
    assert "all" in warning.value
    assert "--" not in warning.value
    assert "Get labels" not in labels(page)
    page = button(page, "It is meant so").click().run()
    assert understood(page).startswith("30 examples")
    assert not button(page, "Get labels").disabled


def test_the_shell_refuses_it_until_it_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "odd.csv").write_text(IN_EVERY_SET)
    assert main(["read", str(tmp_path / "odd.csv")]) == 2
    words = capsys.readouterr().err
    kind = words.rpartition("--accept ")[2].split(".")[0].split()[0]
    assert main(["read", str(tmp_path / "odd.csv"), "--accept", kind]) == 0


def test_a_class_that_is_no_label_is_dropped_where_it_is_odd(
    open_page: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = bring(open_page("data"), "odd.csv", IN_EVERY_SET)
    page = button(page, "Drop all").click().run()
    assert "all" not in understood(page)
    assert not button(page, "Get labels").disabled
    (tmp_path / "odd.csv").write_text(IN_EVERY_SET)
    fit = ("fit", str(tmp_path / "odd.csv"), "--method", "majority", "--out", str(tmp_path / "run"))
    assert main([*fit]) == 2
    hint = capsys.readouterr().err.partition("In the shell: ")[2].partition(";")[0]
    assert hint == "--drop=all"
    assert main([*fit, hint]) == 0


def test_slips_of_the_pen_are_merged_with_a_click(open_page: Any) -> None:
    words = [["benign", "malignant"][k % 2] for k in range(60)]
    rows = [[f"e{k}", *(words[(k + j * (k % 7 == 0)) % 60] for j in range(3))] for k in range(60)]
    rows[3][1], rows[8][2] = "B", "benigne"
    page = bring(open_page("data"), "slips.csv", "\n".join(["id,Ann,Bob,Cleo", *map(",".join, rows)]))
    page = button(page, "Merge them").click().run()
    assert "2 classes (benign, malignant)" in understood(page)
    assert not button(page, "Get labels").disabled


def test_a_click_answers_what_it_mends_and_the_rest_is_still_asked(open_page: Any) -> None:
    rows = [f"e{k},{k}.5,all|{'xyz'[k % 3]}|w{k}" for k in range(30)]
    page = bring(open_page("data"), "odd.csv", "\n".join(["id,width,candidates", *rows]))
    assert len(page.warning) == 2
    page = button(page, "Drop all").click().run()
    (warning,) = page.warning
    assert "classes for 30 examples" in warning.value
    assert "Get labels" not in labels(page)
    page = button(page, "It is meant so").click().run()
    assert not button(page, "Get labels").disabled


def test_of_slips_of_the_pen_only_those_are_merged_that_are_the_same(open_page: Any) -> None:
    words = [["benign", "malignant"][k % 2] for k in range(60)]
    rows = [[f"e{k}", *(words[(k + j * (k % 7 == 0)) % 60] for j in range(3))] for k in range(60)]
    rows[3][1], rows[8][2] = "B", "benigne"
    page = bring(open_page("data"), "slips.csv", "\n".join(["id,Ann,Bob,Cleo", *map(",".join, rows)]))
    (same,) = (group for group in page.button_group if group.label == "The same class")
    page = same.set_value(["benigne"]).run()
    page = button(page, "Merge them").click().run()
    assert "3 classes (B, benign, malignant)" in understood(page)
    assert not button(page, "Get labels").disabled


@pytest.mark.parametrize("answer", ["Drop all", "It is meant so"])
def test_a_file_read_in_the_background_offers_the_same_answers(
    open_page: Any, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr(loader, "LARGE_FILE", 100)
    page = until_read(bring(open_page("data"), "large.csv", IN_EVERY_SET))
    (warning,) = page.warning
    assert "all" in warning.value and "--" not in warning.value and not page.error
    assert {"Drop all", "It is meant so"} <= labels(page) and "Try again" not in labels(page)
    page = until_read(button(page.run(), answer).click().run())
    assert understood(page).startswith("30 examples")
    assert ("all" in understood(page)) == (answer == "It is meant so")


def test_ids_that_stand_twice_in_a_large_file_are_numbered_with_a_click(
    open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "LARGE_FILE", 100)
    twice = "id,width,candidates\n" + "".join(f"e{k % 20},{k}.5,{'xy'[k % 2]}\n" for k in range(30))
    page = until_read(bring(open_page("data"), "twice.csv", twice))
    page = until_read(button(page, "Number the examples instead").click().run())
    assert understood(page).startswith("30 examples")


def test_a_signature_is_named(open_page: Any) -> None:
    page = bring(open_page("data"), "batch.csv", MTURK)
    assert "Read as a batch of Amazon Mechanical Turk" in said(page)
    assert understood(page).startswith("12 texts")
