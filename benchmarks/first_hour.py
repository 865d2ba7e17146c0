"""The first hour: files as people have them, in a browser, from Home to the downloaded file.

    python -m benchmarks.first_hour [--only people,lines] [--shots FOLDER] [--write]

Makes six files with a fixed seed, whose true labels only this program knows, and takes each through the real app in an
empty `PLL_HOME`, in Chromium: *Upload my data*, the drop, *Get labels*, the download; every question is left as the
page proposes it. It prints clicks and seconds, the share of right labels beside what the most frequent answer (a
possible label at random, where nobody voted; ties broken at random) reaches on the same rows, and words, buttons and
height of each page on the way, counted of what is visible on 1440 × 900, and its words of the field (`JARGON`). Red
boxes and errors of the browser's console are counted. `--shots` keeps pictures of every page in three sizes, light and
dark, `--write` writes the tables of docs/first-hour.md and a few of them.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw
from scipy.io import savemat

from benchmarks.app import ROOT, Server, chromium
from benchmarks.marked import put, table

Rng = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A file, and what is true of its examples.

    Attributes
    ----------
    file
        What is brought.
    truth
        Of each example, in the order of the file.
    majority
        Of each example, what most answers say; empty where nothing is to be settled.
    """

    file: Path
    truth: list[str]
    majority: list[str] = field(default_factory=list)


# ---- the files -------------------------------------------------------------------------------------------------------

WORDS = {
    "Größe": "klein groß weit eng passt Ärmel lang kurz Schnitt Nummer",
    "Preis": "teuer billig Euro bezahlt Rabatt Rechnung Angebot günstig Kosten Aktion",
    "Sprache": "übersetzt Anleitung deutsch englisch verständlich Text Wort Menü Hinweis lesen",
}
TOPICS = {
    "sports": "match goal team coach league player final race medal stadium",
    "politics": "vote minister law party election senate budget treaty debate mayor",
    "tech": "phone chip software startup robot update battery browser server cloud",
}
FILLER = "heute gestern dann aber noch immer wieder today again still about more after before"


def _text(rng: Rng, words: dict[str, str], label: str) -> str:
    """Words, some of them about its label, one now and then about another."""
    about = list(rng.choice(words[label].split(), size=3, replace=False))
    stray = words[str(rng.choice(list(words)))].split()
    return " ".join(rng.permutation([*about, str(rng.choice(stray)), *rng.choice(FILLER.split(), size=4)]).tolist())


def _said(rng: Rng, label: str, names: Sequence[str], right: float) -> str:
    """What somebody answers who is right so often."""
    return label if rng.random() < right else str(rng.choice([name for name in names if name != label]))


def _most(rng: Rng, answers: Sequence[str]) -> str:
    counts = Counter(answers)
    return str(rng.choice([name for name, count in counts.items() if count == max(counts.values())]))


def people(folder: Path, n: int = 200) -> Case:
    """Semicolons and Umlauts: texts and five people's columns, one at chance, an eighth of the cells empty."""
    rng, names = np.random.default_rng(1), list(WORDS)
    truth = [str(rng.choice(names)) for _ in range(n)]
    table: dict[str, list[str]] = {"Text": [_text(rng, WORDS, label) for label in truth]}
    for who, right in (("Anna", 0.8), ("Björn", 0.7), ("Çağla", 0.75), ("Jürgen", 0.65), ("Zoë", 1 / 3)):
        table[who] = [_said(rng, label, names, right) if rng.random() > 1 / 8 else "" for label in truth]
    majority = [_most(rng, [one for one in row if one] or names) for row in zip(*list(table.values())[1:], strict=True)]
    file = folder / "umfrage.csv"
    pd.DataFrame(table).to_csv(file, sep=";", index=False, encoding="utf-8-sig")
    return Case(file, truth, majority)


def lines(folder: Path, n: int = 108, voters: int = 39) -> Case:
    """One answer a line: 39 people on two classes, as good as they happen to be; the true labels are not in it."""
    rng, names = np.random.default_rng(2), ["no", "yes"]
    truth = [str(rng.choice(names)) for _ in range(n)]
    skill = rng.beta(3, 2, size=voters)
    answers = [[_said(rng, label, names, right) for right in skill] for label in truth]
    rows = [(f"q{k:03}", f"P{at:02}", answer) for k, row in enumerate(answers) for at, answer in enumerate(row)]
    file = folder / "votes.csv"
    pd.DataFrame(rows, columns=["item", "worker", "answer"]).to_csv(file, index=False)
    return Case(file, truth, [_most(rng, row) for row in answers])


SHAPES = ("circle", "square", "triangle", "cross", "ring")


def pictures(folder: Path, n: int = 80) -> Case:
    """A ZIP as a Mac makes it: shapes in folders, and a table of what each could be under headings of its own."""
    rng, truth, majority = np.random.default_rng(3), list[str](), list[str]()
    table = []
    file = folder / "shapes.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for k in range(n):
            shape = str(rng.choice(SHAPES))
            may = sorted([shape, *(name for name in SHAPES if name != shape and rng.random() < 0.35)])
            path = f"batch {k % 3 + 1}/IMG_{1000 + k}.png"
            archive.writestr(f"shapes/{path}", _picture(rng, shape))
            archive.writestr(f"__MACOSX/shapes/batch {k % 3 + 1}/._IMG_{1000 + k}.png", bytes(40))
            table.append({"file": path, "could be": "; ".join(may), "photographer": str(rng.choice(["AB", "CD"]))})
            truth.append(shape)
            majority.append(str(rng.choice(may)))
        archive.writestr("shapes/manifest.csv", pd.DataFrame(table).to_csv(index=False))
    return Case(file, truth, majority)


def _picture(rng: Rng, shape: str) -> bytes:
    side = int(rng.choice([48, 64, 80]))
    picture = Image.new("RGB", (side, side), tuple(rng.integers(150, 256, size=3).tolist()))
    draw, r = ImageDraw.Draw(picture), side * float(rng.uniform(0.2, 0.34))
    x, y = (side / 2 + rng.uniform(-5, 5, size=2)).tolist()
    fill, box = tuple(rng.integers(0, 90, size=3).tolist()), (x - r, y - r, x + r, y + r)
    if shape == "circle":
        draw.ellipse(box, fill=fill)
    elif shape == "square":
        draw.rectangle(box, fill=fill)
    elif shape == "triangle":
        draw.polygon([(x, y - r), (x - r, y + r), (x + r, y + r)], fill=fill)
    elif shape == "cross":
        draw.line([(x - r, y), (x + r, y)], fill=fill, width=int(r / 2))
        draw.line([(x, y - r), (x, y + r)], fill=fill, width=int(r / 2))
    else:
        draw.ellipse(box, outline=fill, width=max(int(r / 3), 2))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def sentences(folder: Path, n: int = 150) -> Case:
    """JSON lines of one model: the prompt, and an answer in words that names one class, two, or none."""
    rng, names = np.random.default_rng(4), list(TOPICS)
    truth, majority, rows = list[str](), list[str](), list[str]()
    for _ in range(n):
        label, roll = str(rng.choice(names)), rng.random()
        other = str(rng.choice([name for name in names if name != label]))
        choice = label if rng.random() < 0.9 else other
        answer, named = f"I would say this is about {choice}.", [choice]
        if roll < 0.25:
            answer, named = (
                f"It could be {choice} or {label if choice == other else other}; hard to tell.",
                [label, other],
            )
        elif roll < 0.32:
            answer, named = "I am not sure what this one is.", names
        rows.append(json.dumps({"prompt": _text(rng, TOPICS, label), "answer": answer}))
        truth.append(label)
        majority.append(str(rng.choice(named)))
    file = folder / "answers.jsonl"
    file.write_text("\n".join(rows) + "\n", "utf-8")
    return Case(file, truth, majority)


def research(folder: Path, n: int = 300) -> Case:
    """A research file: features, candidate sets and true labels as matrices."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 5, n)
    X = rng.normal(size=(n, 12)) + 2.2 * rng.normal(size=(5, 12))[y]
    mask = np.eye(5, dtype=bool)[y] | (rng.random((n, 5)) < 0.4)
    file = folder / "research.mat"
    savemat(file, {"data": X, "partial_target": mask.T.astype(float), "target": np.eye(5)[y].T})
    return Case(file, [str(k) for k in y], [str(rng.choice(np.flatnonzero(row))) for row in mask])


def truth_only(folder: Path, n: int = 150) -> Case:
    """A table of measurements with a true label each."""
    rng, names = np.random.default_rng(6), ["oak", "beech", "birch"]
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 4)) + 3 * rng.normal(size=(3, 4))[y]
    table = pd.DataFrame(X.round(2), columns=["height", "girth", "leaf", "bark"]).assign(label=[names[k] for k in y])
    file = folder / "trees.csv"
    table.to_csv(file, index=False)
    return Case(file, table["label"].tolist())


CASES: dict[str, tuple[str, Callable[[Path], Case]]] = {
    "people": ("CSV of a spreadsheet: 200 texts, five people's columns, one of them at chance", people),
    "lines": ("CSV, one answer a line: 39 people on two classes", lines),
    "pictures": ("ZIP of 80 pictures, with a table of what each could be", pictures),
    "sentences": ("JSON lines: prompts, and one model's answers in sentences", sentences),
    "research": ("research .mat: 300 rows with their candidate sets", research),
    "truth": ("CSV: 150 rows with true labels only", truth_only),
}

# ---- the walk --------------------------------------------------------------------------------------------------------

PATIENCE = 600_000
"""Milliseconds after which a walk gives up: machines that run it may be busy."""
SIZES = {"1440": (1440, 900), "1280": (1280, 720), "390": (390, 844)}
JARGON = (
    *("votes of models", "joined on the id", "kappa", "alpha", "voter model", "truth inside", "interval"),
    *("feature", "tfidf", "γ", "PRODEN-outside", "Dawid-Skene", "recipe", "epoch", "learning rate", "weight decay"),
    *("momentum", "batch", "seed", "held out", "entropy", "reliability", "calibration error"),
    *("controls", "confidence level", "isotonic", "margin", "Parquet", "sparse matrix", "safetensors", "ONNX"),
    *("audit trail",),
)
"""Words that stand only in what is opened (*Details*, *For experts*, *For engineers*), or in Learn, Compare and
Experiments."""
TEXT = """() => {
  const read = (one) => {
    if (one.nodeType === Node.TEXT_NODE) return one.data;
    if (one.matches?.('canvas, style, script, details:not([open]) > :not(summary)')) return "";
    return [...one.childNodes, ...(one.shadowRoot ? [one.shadowRoot] : [])].map(read).join(" ");
  };
  return read(document.querySelector('[data-testid=stMain]'));
}"""
MEASURE = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const how = {visibilityProperty: true, opacityProperty: true};
  const seen = (one) => one.checkVisibility(how) && !one.parentElement.closest('details:not([open]) > :not(summary)');
  const words = (text) => text.split(/\\s+/).filter((word) => /\\p{L}|\\d/u.test(word)).length;
  const cut = [...main.querySelectorAll('*')].filter(  // a line that ends in three points shows a part of its words
    (one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).textOverflow === 'ellipsis');
  const hidden = cut.map((one) => Math.floor(words(one.innerText) * (1 - one.clientWidth / one.scrollWidth)));
  return {
    words: words(main.innerText) - hidden.reduce((sum, some) => sum + some, 0),
    buttons: [...main.querySelectorAll('button, [role=button], [role=radio], summary')].filter(seen).length,
    height: Math.round(main.querySelector('[data-testid=stMainBlockContainer]').scrollHeight),
  };
}"""


class Walker:
    """A person at a browser, who counts clicks and notes what is red.

    Parameters
    ----------
    browser
        a Chromium of playwright.
    shots
        a folder for pictures of each page; None for none.

    Attributes
    ----------
    clicks
        So far.
    errors
        Red boxes, exceptions and errors of the browser's console.
    pages
        Words, buttons and height of each page that was measured.
    jargon
        Those of `JARGON` that are on each.
    posing
        Seconds spent on measuring and pictures.
    """

    def __init__(self, browser: Any, shots: Path | None = None) -> None:
        self.shots, self.clicks, self.posing = shots, 0, 0.0
        self.errors, self.pages, self.jargon = list[str](), dict[str, dict[str, int]](), dict[str, list[str]]()
        self._context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
        self.page = self._context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def close(self) -> None:
        """Close the browser's window."""
        self._context.close()

    def press(self, name: str | re.Pattern[str]) -> None:
        """Press a button, once it is there and can be pressed."""
        self.page.get_by_role("button", name=name).first.click()
        self.clicks += 1

    def settle(self) -> None:
        """Wait until the page no longer works, and note what is red on it."""
        self.page.wait_for_timeout(500)
        self.page.wait_for_function(
            "() => !document.querySelector('[data-testid=stStatusWidget], [data-testid=stSpinner], [data-stale=true]')"
        )
        for box in self.page.locator("[data-testid=stException], [data-testid=stAlertContentError]").all():
            self.errors.append(box.inner_text())

    def look(self, name: str) -> None:
        """Measure the page, and keep pictures of it."""
        began = time.monotonic()
        self.settle()
        self.pages[name], text = self.page.evaluate(MEASURE), self.page.evaluate(TEXT)
        self.jargon[name] = [word for word in JARGON if re.search(rf"\b{re.escape(word)}s?\b", text, re.IGNORECASE)]
        for size, (width, height) in SIZES.items() if self.shots else ():
            self.page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                self.page.emulate_media(color_scheme=scheme)
                self.page.wait_for_timeout(700)
                self.page.screenshot(path=f"{self.shots}/{name}-{size}-{scheme}.png")
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 1440, "height": 900})
        self.posing += time.monotonic() - began

    def _listen(self, message: Any) -> None:
        # Streamlit itself probes for its endpoints under every page and is told 404 there.
        if message.type == "error" and "_stcore" not in message.location.get("url", ""):
            self.errors.append(message.text)


@dataclass(frozen=True)
class Walk:
    """What was seen on one walk.

    Attributes
    ----------
    clicks
        From Home to the downloaded file, the drop being one.
    seconds
        The same way, without those of measuring.
    right
        Share of labels that are right.
    majority
        The same of the most frequent answers; NaN where there are none.
    errors
        See `Walker`.
    pages, jargon
        See `Walker`.
    """

    clicks: int
    seconds: float
    right: float
    majority: float
    errors: list[str]
    pages: dict[str, dict[str, int]]
    jargon: dict[str, list[str]]


def walk(browser: Any, url: str, case: Case, folder: Path, shots: Path | None = None) -> Walk:
    """Go from Home to the downloaded file, and compare its labels with the truth.

    Parameters
    ----------
    browser
        a Chromium of playwright.
    url
        Of the app.
    folder
        For what is downloaded.
    shots
        See `Walker`.
    """
    walker = Walker(browser, shots)
    page = walker.page
    try:
        page.goto(url)
        page.get_by_role("button", name="Upload my data").wait_for()
        walker.look("Home")
        began, posed = time.monotonic(), walker.posing
        walker.press("Upload my data")
        page.locator("input[type=file]").set_input_files(str(case.file))
        walker.clicks += 1
        page.get_by_role("button", name="Get labels", disabled=False).wait_for()
        walker.look("Data")
        walker.press("Get labels")
        page.get_by_role("button", name="Other formats").first.wait_for()
        walker.look("Train, ended")
        with page.expect_download() as download:  # where there is no file of the tool's own, Download is labels.csv
            walker.press("labels.csv" if page.get_by_role("button", name="labels.csv").count() else "Download")
        download.value.save_as(folder / "labels.csv")
        seconds, clicks = time.monotonic() - began - (walker.posing - posed), walker.clicks
        page.get_by_test_id("stTopNavLink").filter(has_text="Review").click()
        page.get_by_role("textbox", name="Your name").fill("Ada")
        page.get_by_role("button", name="Start", exact=True).click()
        page.locator(".desk .pick").first.wait_for()
        walker.look("Review")
        page.get_by_test_id("stTopNavLink").filter(has_text="Export").click()
        page.get_by_role("button", name="Download labels.csv").wait_for()
        walker.look("Export")
        labels = pd.read_csv(folder / "labels.csv", dtype=str, keep_default_na=False)["identified_label"].tolist()
        right, majority = (np.mean([a == b for a, b in zip(column, case.truth, strict=True)]) if column else np.nan
                           for column in (labels, case.majority))  # fmt: skip
        seen = (walker.errors, walker.pages, walker.jargon)
        return Walk(clicks, seconds, float(right), float(majority), *seen)
    except Exception:
        page.screenshot(path=str((shots or folder) / "failed.png"))
        raise
    finally:
        walker.close()


# ---- what is written of it -------------------------------------------------------------------------------------------

DOCS = ROOT / "docs"


def files_table(walks: dict[str, Walk]) -> str:
    """Return the table with one row a file."""
    rows = []
    for name, walked in walks.items():
        majority = "" if np.isnan(walked.majority) else f"{walked.majority:.1%}"
        figures = (walked.clicks, f"{walked.seconds:.0f}", f"{walked.right:.1%}", majority, len(walked.errors))
        rows.append([CASES[name][0], *map(str, figures)])
    return table(["file", "clicks", "seconds", "right", "majority", "errors"], rows)


def pages_table(first: Walk) -> str:
    """Return the table with one row a page."""
    rows = [
        [page, str(sizes["words"]), str(sizes["buttons"]), f"{sizes['height']:,}", ", ".join(first.jargon[page])]
        for page, sizes in first.pages.items()
    ]
    return table(["page", "words", "buttons", "height", "technical terms"], rows)


def main() -> None:
    """Make the files, walk with each, print the tables."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(CASES), help=f"of {', '.join(CASES)}; joined by commas")
    parser.add_argument("--shots", type=Path, help="folder for pictures of the pages")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/first-hour.md")
    options = parser.parse_args()
    walks: dict[str, Walk] = {}
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as driver:
        browser = chromium(driver)
        for name in options.only.split(","):
            home, shots = Path(scratch) / name, (options.shots or Path(scratch) / "shots") / name
            home.mkdir()
            shots.mkdir(parents=True, exist_ok=True)
            with Server(home) as server:
                wanted = shots if options.shots or options.write else None
                walks[name] = walk(browser, server.url, CASES[name][1](home), home, wanted)
            print(name, walks[name], flush=True)
            for error in walks[name].errors:
                print(f"{name}: {error}", file=sys.stderr)
        browser.close()
        files, pages = files_table(walks), pages_table(next(iter(walks.values())))
        print(files, pages, sep="\n\n")
        if options.write:
            put(DOCS / "first-hour.md", "files", files)
            put(DOCS / "first-hour.md", "pages", pages)
            for page, name in (("Data", "data"), ("Train, ended", "train")):
                picture = Image.open(shots.parent / next(iter(walks)) / f"{page}-1440-light.png")
                picture.resize((960, 600)).quantize(64).save(DOCS / f"first-hour-{name}.png", optimize=True)


if __name__ == "__main__":
    main()
