"""The data page in a real browser: what AppTest cannot do, which is to type into a field and to poll."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pll.formats.forms import ROLE_DATA
from pll.ui.data.loader import LARGE_FILE

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (requirements-dev.txt)")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
NewPage = Callable[..., Any]
MESSY = ",Name,width,who_a,gold\n0,x-1,1.5,apple,apple\n1,x-2,2.5,pear,pear\n2,x-3,1.2,apple,pear\n"


@pytest.fixture(scope="module")
def folder(open_folder: Path) -> Path:
    """The folder that the page may read, with a file too large to be read at once."""
    rows = b"0.25,0.5,0.75,cat|dog\n0.5,0.25,0.125,dog\n"
    (open_folder / "large.csv").write_bytes(b"a,b,c,candidates\n" + rows * (LARGE_FILE // len(rows) + 1))
    return open_folder


def _correct(page: Any, name: str, becomes: str, fields: tuple[str, str] = ("Columns", "Taken for")) -> None:
    """Say of one column, or one class, what it is, by keyboard."""
    for field, words in zip(fields, (name, becomes), strict=True):
        box = page.get_by_role("combobox", name=field)
        box.scroll_into_view_if_needed()  # a menu that is open closes when the page moves
        box.fill(words)
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")


def test_columns_and_classes_are_corrected_under_details(app: str, new_page: NewPage) -> None:
    page = new_page()
    page.goto(f"{app}/data")
    page.locator("input[type=file]").set_input_files(
        {"name": "messy.csv", "mimeType": "text/csv", "buffer": MESSY.encode()}
    )
    page.get_by_text("3 examples, 2 classes").wait_for()
    page.get_by_text("Details", exact=True).click()
    page.get_by_text("Choose here what is something else").wait_for()
    _correct(page, "Name", ROLE_DATA["keep"]["title"])
    above = page.get_by_role("combobox", name="Name", exact=True)  # the same choice, above the column's first cells
    sync_api.expect(above).to_have_value(ROLE_DATA["keep"]["title"])
    _correct(page, "gold", ROLE_DATA["annotator"]["title"])
    page.get_by_text("2 people answered 6 times").wait_for()
    for becomes in ("quince", "apple"):  # another name, typed; and another class
        _correct(page, "pear", becomes, ("Classes", "Become"))
        page.get_by_text(f"Read as one class: pear → {becomes}" if becomes == "apple" else "(apple, quince)").wait_for()
    assert page.get_by_test_id("stException").count() == 0


def test_a_large_file_is_named_by_its_path_and_read_in_the_background(
    app: str, new_page: NewPage, folder: Path
) -> None:
    page = new_page()
    page.goto(f"{app}/data")
    page.get_by_role("button", name="Path on the server").click()
    box = page.get_by_role("combobox", name="Path on the server")
    box.fill("../large.csv")
    box.press("Enter")
    alert = page.get_by_test_id("stAlert").filter(has_text="leads out of its folder by '..'")
    alert.wait_for()
    assert str(folder) in alert.inner_text()
    box.fill("large.csv")
    box.press("Enter")
    page.get_by_text("2 classes (cat, dog)").wait_for()  # read, after a progress bar
    page.get_by_role("button", name="Get labels").wait_for()
    assert page.get_by_role("button", name="Stop").count() == 0
