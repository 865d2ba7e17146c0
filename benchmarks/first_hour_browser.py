"""The first hour in a browser: a file is dropped, questions are answered, a run trains on the page's defaults, a few
labels are reviewed, and labels.csv is downloaded.

The real app in an empty `PLL_HOME`, in Chromium. A walk presses what a person would press who reads the page and knows
the own data: it merges and drops the classes that the page proposes, answers what is asked, and decides the first
examples of the review rightly. Everything red that a page shows, and every error of the browser's console, is counted.
`benchmarks.first_hour` makes the files and runs it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.first_hour import Case, score

PATIENCE = 600_000
"""Milliseconds after which a walk gives up: machines that run it may be busy."""
REVIEWED = 5
"""Labels that are decided in the review."""
SIZES = {"1440": (1440, 900), "1280": (1280, 720), "390": (390, 844)}
TALLEST = 6000
"""Pixels of a picture of a whole page at the most."""


@dataclass
class Walk:
    """What was seen on one walk.

    Attributes:
        clicks: presses of the mouse from the file in hand to settled labels, the drop of the file being one.
        seconds: from the drop to settled labels.
        errors: everything red on the pages, and what the browser complained of.
        right: share of labels in labels.csv that are right.
        plurality: the same of the most frequent answers.
        rows: of labels.csv.
        to_export: clicks and keys from there to labels.csv, the review in between.
    """

    clicks: int = 0
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)
    right: float = float("nan")
    plurality: float = float("nan")
    rows: int = 0
    to_export: int = 0


class Walker:
    """A person at a browser.

    Args:
        browser: a Chromium of playwright.
        url: of the app.
        shots: where pictures of each page go; None for none.

    Attributes:
        clicks: so far.
        errors: everything red that was seen, and what the browser complained of.
        posing: seconds that the pictures took.
    """

    def __init__(self, browser: Any, url: str, shots: Path | None = None) -> None:
        self.url, self.shots = url, shots
        self.clicks, self.errors, self.posing = 0, list[str](), 0.0
        self._context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
        self.page = self._context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self._complain(str(error)))

    def close(self) -> None:
        """Close the browser's window."""
        self._context.close()

    def press(self, name: str | re.Pattern[str], role: str = "button", *, exact: bool = False) -> None:
        """Press what is called so, once it is there."""
        self.page.get_by_role(role, name=name, exact=exact).first.click()
        self.clicks += 1

    def sees(self, name: str | re.Pattern[str], role: str = "button") -> bool:
        """Whether something of this name is on the page."""
        return bool(self.page.get_by_role(role, name=name).count())

    def settle(self) -> None:
        """Wait until the page no longer works, and note what is red on it."""
        self.page.wait_for_timeout(400)
        self.page.wait_for_function(
            "() => !document.querySelector('[data-testid=stStatusWidget], [data-testid=stSpinner]')"
        )
        self.look()

    def look(self) -> None:
        """Note what is red on the page."""
        for box in self.page.locator("[data-testid=stException], [data-testid=stAlertContentError]").all():
            self._complain(box.inner_text())

    def picture(self, name: str) -> None:
        """Keep pictures of the page: three sizes, the small one dark too, the large ones as a screen shows them."""
        if self.shots is None:
            return
        began = time.monotonic()
        for size, (width, height) in SIZES.items():
            for dark in (False, True):
                if dark and size == "1440":
                    continue
                self.page.emulate_media(color_scheme="dark" if dark else "light")
                self.page.set_viewport_size({"width": width, "height": height})
                self.page.wait_for_timeout(700)
                tail = "-dark" if dark else ""
                self.page.screenshot(path=str(self.shots / f"{name}-{size}{tail}.png"))
                if size != "1280":
                    tall = self.page.evaluate(
                        "Math.max(...[...document.querySelectorAll('[data-testid=stMain]')].map(e => e.scrollHeight))"
                    )
                    self.page.set_viewport_size({"width": width, "height": min(int(tall) + 60, TALLEST)})
                    self.page.wait_for_timeout(500)
                    self.page.screenshot(path=str(self.shots / f"{name}-{size}{tail}-whole.png"))
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 1280, "height": 720})
        self.page.wait_for_timeout(500)
        self.posing += time.monotonic() - began

    def _listen(self, message: Any) -> None:
        # Streamlit itself probes for its endpoints under every page and is told 404 there.
        if message.type == "error" and "_stcore" not in message.location.get("url", ""):
            self._complain(message.text)

    def _complain(self, words: str) -> None:
        if words not in self.errors:
            self.errors.append(words)


def walk(browser: Any, url: str, case: Case, folder: Path, shots: Path | None = None) -> Walk:
    """Go from the file to labels.csv, and compare its labels with the truth.

    Args:
        browser: a Chromium of playwright.
        url: of the app.
        folder: for what is downloaded.
        shots: see `Walker`.
    """
    walker, found = Walker(browser, url, shots), Walk()
    page = walker.page
    try:
        page.goto(url)
        walker.press("Upload my data")
        page.get_by_text("Upload a file or choose a dataset to continue").wait_for()
        walker.settle()
        walker.clicks, began = 1, time.monotonic()  # the drop
        page.locator("input[type=file]").set_input_files(str(case.file))
        answer_questions(walker)
        walker.picture("data")
        walker.press("Train on this")
        page.get_by_role("button", name="Start training").wait_for()
        walker.settle()
        walker.picture("train")
        walker.press("Start training")
        page.get_by_text(re.compile(r"Finished: \d+ epoch|settled")).first.wait_for()
        page.get_by_role("button", name="Review uncertain labels").wait_for()
        found.clicks, found.seconds = walker.clicks, time.monotonic() - began - walker.posing
        walker.settle()
        walker.picture("trained")
        review(walker, case)
        walker.picture("review")
        labels = export(walker, folder)
        walker.picture("export")
        found.to_export, found.errors, found.rows = walker.clicks - found.clicks, walker.errors, len(labels)
        found.right, found.plurality = score(case, labels)
    except Exception:
        if shots is not None:
            page.screenshot(path=str(shots / "failed.png"))
        raise
    finally:
        walker.close()
    return found


def answer_questions(walker: Walker) -> None:
    """Answer what the Data page asks: classes to merge and to drop, and whether columns are classes."""
    page = walker.page
    asked: Sequence[tuple[str, re.Pattern[str], Callable[[Any], Any]]] = (
        ("button", re.compile(r"^\W*\w*\s*Merge \d+ class"), lambda one: one.click()),
        ("button", re.compile(r"Drop \d+ class"), lambda one: one.click()),
    )
    page.get_by_test_id("stExpander").first.wait_for()
    walker.settle()
    walker.picture("asked")
    for role, name, act in asked:
        if walker.sees(name, role):
            act(page.get_by_role(role, name=name).first)
            walker.clicks += 1
            walker.settle()
    page.get_by_role("button", name="Train on this").wait_for()
    walker.settle()


def review(walker: Walker, case: Case, count: int = REVIEWED) -> None:
    """Decide the first labels of the queue: the true one where it is among the candidates, else the first."""
    page = walker.page
    truth = list(case.truth.values()) if isinstance(case.truth, dict) else case.truth
    walker.press("Review uncertain labels")
    page.get_by_role("textbox", name="Your name").fill("Kim")
    page.keyboard.press("Enter")
    walker.clicks += 1
    page.locator(".desk .pick").first.wait_for()
    walker.settle()
    walker.picture("desk")
    for _ in range(count):
        row = int(page.locator(".desk").first.get_attribute("data-row"))
        names = page.locator(".desk .pick .name").evaluate_all("all => all.map((one) => one.firstChild.textContent)")
        at = next((k for k, name in enumerate(names) if name.strip() == truth[row]), 0)
        page.wait_for_timeout(300)
        page.locator(".desk .pick").nth(at).click()
        page.locator(f".desk:not([data-row='{row}'])").first.wait_for()
        walker.clicks += 1
    walker.settle()


def export(walker: Walker, folder: Path) -> pd.DataFrame:
    """Download labels.csv from the Export page."""
    page = walker.page
    page.get_by_role("link", name="Export").first.click()
    walker.clicks += 1
    page.get_by_role("button", name="labels.csv").wait_for()
    walker.settle()
    with page.expect_download() as download:
        walker.press("labels.csv")
    file = folder / "labels.csv"
    download.value.save_as(file)
    return pd.read_csv(file, dtype=str, keep_default_na=False)
