"""A share link made in one browser and opened in others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LINK = "train?link=1&data=iris&flip=binomial&q=0.3&holdout=0.2&seed=3&method=proden&model=linear&epochs=12&lr=0.05"


@pytest.fixture
def fresh(new_page: Any) -> Callable[[str], Any]:
    """Opens a link in a browser that knows nothing yet."""

    def open_link(link: str) -> Any:
        page = new_page(viewport={"width": 1280, "height": 1400}, accept_downloads=True)
        page.goto(link)
        return page

    return open_link


def begun(page: Any) -> Any:
    """The page of a link, where a click starts what it sets up."""
    page.get_by_role("button", name="Start", exact=True).click()
    return page


def ended(page: Any) -> Any:
    result = page.get_by_text("worth a look").or_(page.get_by_text("Do not trust these labels"))
    result.first.wait_for()
    page.get_by_text("After 12 passes", exact=True).first.wait_for()
    page.locator(".timeline .track[aria-valuenow='12']").wait_for()
    return page


def run_of(page: Any) -> str:
    page.wait_for_url("**run=*")
    return parse_qs(urlsplit(page.url).query)["run"][0]


def figures(page: Any) -> tuple[list[str], bytes]:
    """What is to be read off, and all label weights in full precision. Not the time: that is the machine's."""
    shown = page.get_by_test_id("stMetricValue").all_inner_texts()[:4]
    page.get_by_role("button", name="Options").nth(1).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Label weights as CSV").click()
    return shown, Path(download.value.path()).read_bytes()


def test_the_same_link_gives_the_same_figures_in_two_fresh_browsers(app: str, fresh: Callable[[str], Any]) -> None:
    first, second = begun(fresh(f"{app}/{LINK}")), begun(fresh(f"{app}/{LINK}"))
    ended(first)
    ended(second)
    mine, yours = run_of(first), run_of(second)
    assert mine != yours  # everybody has a run of their own
    assert figures(first) == figures(second)
    first.reload()
    ended(first)
    assert run_of(first) == mine  # not a second one


def test_a_lesson_is_made_and_opened(app: str, fresh: Callable[[str], Any]) -> None:
    page = ended(begun(fresh(f"{app}/{LINK}")))
    track = page.locator(".timeline .track")
    track.focus()
    page.keyboard.press("ArrowLeft")
    page.get_by_text("in view: after 11 passes").wait_for()
    page.get_by_role("button", name="Share").click()
    code = page.get_by_test_id("stCode")
    page.get_by_role("button", name="Transport: step, pause, resume, stop").click()
    code.filter(has_text="hidden=transport").wait_for()  # two presses within one rerun are more than Streamlit takes in
    page.get_by_role("button", name="Navigation between pages").click()
    code.filter(has_text="navigation").wait_for()
    link = code.inner_text().replace("\n", "")
    assert link.startswith(f"{app}/train?link=1&data=iris") and "run=" not in link

    pupil = begun(fresh(link))
    pupil.get_by_text("worth a look").wait_for()
    pupil.get_by_text("in view: after 11 passes").wait_for()
    pupil.get_by_text("Lesson mode: some controls are hidden.").wait_for()
    assert pupil.get_by_role("button", name="Restart").count() == 0
    assert pupil.get_by_role("link", name="Export").count() == 0
    assert run_of(pupil) != run_of(page)
    pupil.get_by_role("button", name="Show everything").click()
    pupil.get_by_role("button", name="Restart").wait_for()
    pupil.get_by_role("link", name="Export").wait_for()


def test_a_bad_link_and_a_file_that_has_to_be_given(app: str, fresh: Callable[[str], Any]) -> None:
    page = fresh(f"{app}/{LINK}&momentun=0.5")
    page.get_by_text("The link has a part 'momentun' that means nothing here").wait_for()
    lines = ["id,candidates,true_label,a,b"]
    lines += [
        f"{k},{'cat|dog' if k % 3 else 'cat'},{('cat', 'dog')[k % 2] if k % 3 else 'cat'},{k % 7},{k % 5}"
        for k in range(60)
    ]
    content = "\n".join(lines).encode()
    fingerprint = hashlib.sha256(content).hexdigest()[:16]
    page = fresh(f"{app}/train?link=1&file=pets.csv&sha256={fingerprint}&method=proden&epochs=12")
    page.get_by_text("One file is needed").wait_for()
    give = page.locator("input[type=file]")
    give.set_input_files({"name": "pets.csv", "mimeType": "text/csv", "buffer": content + b"\n"})
    page.get_by_text("pets.csv is not a file of this link").wait_for()
    give = page.locator("input[type=file]")
    give.set_input_files({"name": "renamed.csv", "mimeType": "text/csv", "buffer": content})
    ended(begun(page))


LANES = (
    "compare?link=1&lanes=proden,proden-naive,pn-oracle&data=iris&flip=binomial&q=0.3&holdout=0.2&seed=3&epochs=12"
    "&lr=0.05&lr.2=0.1&threads=1"
)


def lanes_ended(page: Any) -> str:
    """All that the table of figures says, once the lanes have ended."""
    page.locator(".plot .when").filter(has_text="After 12 passes").nth(2).wait_for()
    return str(page.get_by_test_id("stTable").last.inner_text())


def test_a_comparison_is_shared_and_set_up_again_with_the_same_figures(app: str, fresh: Callable[[str], Any]) -> None:
    page = begun(fresh(f"{app}/{LANES}"))
    mine = lanes_ended(page)
    page.wait_for_url("**comparison=*")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Transport: step, pause, resume, stop").click()
    code = page.get_by_test_id("stCode").filter(has_text="hidden=transport")
    code.wait_for()
    link = code.inner_text().replace("\n", "")
    assert link.startswith(f"{app}/compare?link=1&lanes=") and "comparison=" not in link

    pupil = begun(fresh(link))
    assert lanes_ended(pupil) == mine
    assert pupil.get_by_role("button", name="Restart").count() == 0
    pupil.get_by_role("button", name="Show everything").click()
    pupil.get_by_role("button", name="Restart").wait_for()
