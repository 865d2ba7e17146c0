"""One number for one thing: a certificate from start to end, and its figures on Train, Review, Progress and Export."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from benchmarks.app import prepared_run
from tests.browser.conftest import NewPage
from tests.browser.test_review import LOOK, enter, press

pytestmark = [pytest.mark.browser, pytest.mark.slow]
N = 60
Figures = dict[str, set[Any]]
CHECKS = re.compile(r"Check about ([\d,]+) more")
DECIDED = re.compile(r"(\d+) decided of (\d+): (\d+) corrected")
CERTIFIED = re.compile(r"[Aa]t most (\d+) of all (\d+) labels")


def figures(text: str) -> Figures:
    """Every figure on a page, by what it counts."""
    return {one.pattern: set(one.findall(text)) for one in (CHECKS, DECIDED, CERTIFIED)}


def pages_of(page: Any, app: str, run_id: str) -> dict[str, Figures]:
    """The figures of Progress, Train and Export, in one tab."""
    result = {}
    page.get_by_text("Progress", exact=True).click()
    page.get_by_text("Agreed with the model").wait_for()
    page.get_by_text(re.compile(f"{CHECKS.pattern}|{CERTIFIED.pattern}")).first.wait_for()
    result["progress"] = figures(page.locator("main, .stMain").first.inner_text())
    for name, last in (("train", "For experts"), ("export", "For engineers")):
        page.goto(f"{app}/{name}?run={run_id}")
        page.get_by_text(last).wait_for()
        page.get_by_text(f"{N} labels.").first.wait_for()
        result[name] = figures(page.locator("main, .stMain").first.inner_text())
    return result


def agreed(by_page: dict[str, Figures], pattern: re.Pattern[str]) -> Any:
    """The one figure that every page shows."""
    found = {name: each[pattern.pattern] for name, each in by_page.items()}
    assert all(len(each) == 1 for each in found.values()) and len(set.union(*found.values())) == 1, found
    return next(iter(found["train"]))


def test_the_figures_of_a_certificate_agree_on_every_page(app: str, app_home: Path, new_page: NewPage) -> None:
    run_id = prepared_run(app_home, N, "agreeing")
    page = new_page(accept_downloads=True)
    review = f"{app}/review?run={run_id}"
    enter(page, review, "Ann")
    page.get_by_text("Progress", exact=True).click()
    page.get_by_text("Agreed with the model").wait_for()
    page.get_by_role("button", name="Certify", exact=False).first.click()
    page.get_by_role("radiogroup").get_by_text("Certify", exact=True).click()
    page.get_by_text("in 100 are wrong").first.wait_for()
    slider = page.get_by_role("slider", name="Wrong labels at most")
    slider.focus()
    page.keyboard.press("End")  # 20 %
    page.get_by_text("20 in 100 (12 of 60)").first.wait_for()
    page.get_by_text("at most 20 in 100 are wrong").first.wait_for()
    told = CHECKS.findall(page.get_by_text("Check about").first.inner_text())
    page.get_by_role("button", name="Start checking").click()
    page.locator(".desk .pick").first.wait_for()  # the first card, and its keys work
    assert CHECKS.findall(page.locator(".desk .strip").inner_text()) == told
    page.wait_for_timeout(400)
    for _ in range(3):
        press(page, page.locator(".desk .pick kbd").first.inner_text())
    on_desk = CHECKS.findall(page.locator(".desk .strip").inner_text())
    under_way = pages_of(page, app, run_id)
    assert agreed(under_way, CHECKS) == on_desk[0]
    assert agreed(under_way, DECIDED)[:2] == ("3", str(N))

    page.goto(review)
    page.locator(".desk .pick").first.wait_for()
    page.wait_for_timeout(400)
    while not page.get_by_text("accepted without a look").is_visible():
        before = page.evaluate("performance.getEntriesByName('candid-key-to-next').length")
        page.keyboard.press(page.locator(".desk .pick kbd").first.inner_text())
        page.wait_for_function(
            "before => performance.getEntriesByName('candid-key-to-next').length > before "
            "|| document.body.innerText.includes('accepted without a look')",
            arg=before,
        )
        page.wait_for_timeout(LOOK)
    ended = pages_of(page, app, run_id)
    certified = agreed(ended, CERTIFIED)
    assert not any(each[CHECKS.pattern] for each in ended.values())
    decided = agreed(ended, DECIDED)
    page.get_by_text("For engineers").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download all").click()
    with zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes())) as archive:
        readme = archive.read("README.md").decode()
        statement = archive.read("certificate.json").decode()
    assert set(CERTIFIED.findall(readme)) == {certified} and set(DECIDED.findall(readme)) == {decided}
    assert set(CERTIFIED.findall(statement)) == {certified}
