"""The first hour: files as people have them, in a browser, and how right the labels are that come out.

    python -m benchmarks.first_hour [--only people,clinic] [--shots FOLDER] [--write]

Makes files with a fixed seed whose true labels are known here and nowhere else, and walks with each through the real
app in an empty `PLL_HOME`, in Chromium: the file is dropped, questions are answered, a run trains on the page's
defaults, a few labels are reviewed, and labels.csv is downloaded. A walk presses what a person would press who reads
the page and knows the own data. Counted are the share of right labels, beside what the most frequent answer (plurality;
ties broken at random) reaches on the same rows, everything red that a page shows, and every error of the browser's
console. `--shots` keeps pictures of every page on the way, `--write` puts the table into docs/first-hour.md.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw

from benchmarks.app import Server, chromium

Rng = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A file, and what is true of its rows.

    Attributes:
        name: of the case.
        file: what is brought.
        truth: of each row, in the order of the file, or by its id.
        plurality: of each row, what most answers or candidates say.
    """

    name: str
    file: Path
    truth: dict[str, str] | list[str]
    plurality: dict[str, str] | list[str]


# ---- texts ----------------------------------------------------------------------------------------------------------

COMPLAINTS = {
    "Late delivery": (
        "the parcel came nine days after the promised date",
        "still waiting, tracking has not moved since Monday",
        "courier missed the slot twice",
        "delivery estimate slipped again",
        "arrived long after the birthday",
        "the driver never rang, so another week went by",
    ),
    "Damaged item": (
        "the box was crushed and the glass inside broken",
        "a long scratch across the screen",
        "one leg of the table is cracked",
        "leaking bottle, everything sticky",
        "zip torn on the first day",
        "dented corner and a missing screw",
    ),
    "Billing": (
        "my card was charged twice",
        "the invoice shows the wrong VAT number",
        "refund of 24,90 never reached my account",
        "you billed me for express though I chose standard",
        "discount code was not deducted",
        "please correct the amount on the receipt",
    ),
    "Praise": (
        "lovely service, thank you so much",
        "best purchase I made this year",
        "the staff went out of their way to help",
        "five stars, would order again",
        "beautifully wrapped and exactly as described",
        "my mother is delighted with it",
    ),
    "Question": (
        "does it also come in dark green?",
        "which size fits a 40 cm drawer?",
        "can I collect it in the shop instead?",
        "is the battery included?",
        "how do I change the language of the display?",
        "do you ship to Norway?",
    ),
}
FILLER = (
    "Order {n}.",
    "Hello,",
    "I bought this last month.",
    "Please get back to me.",
    "Kind regards, {who}",
    "As I wrote before,",
    "See photo attached.",
    "My sister recommended your shop.",
    "Sent from my phone",
    "It was a present.",
)
WHO = ("M. Kowalski", "J. Okafor", "Léa", "S. Lindqvist", "Tom", "Frau Özdemir", "R. Iyer")


def _text(rng: Rng, phrases: Mapping[str, Sequence[str]], label: str, stray: float = 0.35) -> str:
    """A message mostly about its label, sometimes also about another."""
    parts = [str(rng.choice(phrases[label])) for _ in range(int(rng.integers(1, 3)))]
    if rng.random() < stray:
        parts.append(str(rng.choice(phrases[str(rng.choice([name for name in phrases if name != label]))])))
    filler = rng.choice(len(FILLER), size=int(rng.integers(1, 4)), replace=False)
    parts += [FILLER[k].format(n=int(rng.integers(10_000, 99_999)), who=rng.choice(WHO)) for k in filler]
    rng.shuffle(parts)
    return " ".join(parts)


def _messy(rng: Rng, label: str | None) -> str:
    """A label as people type it: case, spaces, a slip of the finger; no answer in many ways."""
    if label is None:
        return str(rng.choice(["", "", "N/A", "?", "don't know", "n/a", "Don't know "]))
    roll = rng.random()
    if roll < 0.70:
        return label
    if roll < 0.78:
        return label.upper()
    if roll < 0.88:
        return label.lower()
    if roll < 0.96:
        return f" {label} " if rng.random() < 0.5 else label + " "
    at = int(rng.integers(1, len(label) - 1))
    return label[:at] + label[at + 1] + label[at] + label[at + 2 :]


def _answer(rng: Rng, label: str, names: Sequence[str], right: float, silent: float) -> str | None:
    """What a person says who is right so often; mistakes fall on the neighbour mostly."""
    if rng.random() < silent:
        return None
    if rng.random() < right:
        return label
    at = list(names).index(label)
    return names[(at + 1) % len(names)] if rng.random() < 0.6 else str(rng.choice([n for n in names if n != label]))


def _plurality(rng: Rng, answers: Iterable[str | None], names: Sequence[str]) -> str:
    """The most frequent answer; of several one at random, and any label where nobody said one."""
    counts = Counter(answer for answer in answers if answer is not None)
    if not counts:
        return str(rng.choice(list(names)))
    most = max(counts.values())
    return str(rng.choice([name for name, count in counts.items() if count == most]))


def _write_csv(path: Path, rows: list[list[str]], delimiter: str = ",", windows: bool = False) -> Path:
    """Write a table; `windows`: with a byte order mark and Windows line ends, as a spreadsheet does there."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n" if windows else "\n").writerows(rows)
    path.write_bytes(text.getvalue().encode("utf-8-sig" if windows else "utf-8"))
    return path


def people(folder: Path, seed: int = 11, n: int = 420) -> Case:
    """Three people's columns with messy classes."""
    rng = np.random.default_rng(seed)
    names = list(COMPLAINTS)
    truth = [str(rng.choice(names, p=[0.3, 0.2, 0.2, 0.18, 0.12])) for _ in range(n)]
    rows = [["Ticket", "Message", "Anna", "Bert", "Chloé M.", "Received"]]
    plurality = []
    for i, label in enumerate(truth):
        said = [_answer(rng, label, names, *who) for who in ((0.82, 0.05), (0.70, 0.08), (0.62, 0.15))]
        plurality.append(_plurality(rng, said, names))
        day = f"{int(rng.integers(1, 29)):02}.{int(rng.integers(1, 13)):02}.2025"
        number = f"T-{20_000 + i - (i > 3 and rng.random() < 0.01)}"
        rows.append([number, _text(rng, COMPLAINTS, label), *(_messy(rng, one) for one in said), day])
    file = _write_csv(folder / "tickets.csv", rows, ";", windows=True)
    return Case("people", file, truth, plurality)


def labelstudio(folder: Path, seed: int = 21, n: int = 260) -> Case:
    """A Label Studio export: annotations of several people, cancelled ones, predictions, drafts, several choices."""
    rng = np.random.default_rng(seed)
    names = list(COMPLAINTS)
    staff = [({"id": 7, "email": "ines@example.org"}, 0.85), ({"id": 12, "email": "oskar@example.org"}, 0.7)]
    staff += [({"id": 15, "email": "yuki@example.org"}, 0.66), ({"id": 31, "email": "temp@example.org"}, 0.5)]
    tasks, truth, plurality = [], {}, {}
    for i in range(n):
        label = str(rng.choice(names))
        number = 90_000 + 3 * i
        annotations = []
        votes: list[str | None] = []
        for k in rng.choice(len(staff), size=int(rng.integers(2, 4)), replace=False):
            person, right = staff[int(k)]
            said = [_answer(rng, label, names, right, 0.0) or label]
            if rng.random() < 0.12:
                said.append(str(rng.choice([name for name in names if name not in said])))
            cancelled = bool(rng.random() < 0.06)
            result = [_choice("topic", said), _choice("tone", [str(rng.choice(["calm", "angry"]))])]
            if rng.random() < 0.3:
                rating = {"rating": int(rng.integers(1, 6))}
                result.append({"from_name": "stars", "to_name": "msg", "type": "rating", "value": rating})
            if cancelled:
                result = []
            else:
                votes += said
            annotations.append(
                {
                    "id": int(rng.integers(1, 10**6)),
                    "completed_by": person["id"],
                    "was_cancelled": cancelled,
                    "ground_truth": False,
                    "lead_time": round(float(rng.gamma(2, 4)), 3),
                    "created_at": "2025-03-04T09:12:44.100000Z",
                    "result": result,
                }
            )
        guess = str(rng.choice(names))
        tasks.append(
            {
                "id": number,
                "annotations": annotations,
                "drafts": [{"id": 1, "user": "temp@example.org", "result": [_choice("topic", [guess])]}]
                if rng.random() < 0.1
                else [],
                "predictions": [{"model_version": "bert-2", "score": 0.61, "result": [_choice("topic", [guess])]}],
                "data": {"msg": _text(rng, COMPLAINTS, label), "channel": str(rng.choice(["mail", "chat", "phone"]))},
                "meta": {},
                "inner_id": i + 1,
                "total_annotations": len(annotations),
                "file_upload": "3fa0c2-upload.csv",
            }
        )
        truth[str(number)] = label
        plurality[str(number)] = _plurality(rng, votes, names)
    file = folder / "project-4-at-2025-03-09.json"
    file.write_text(json.dumps(tasks, ensure_ascii=False), "utf-8")
    return Case("labelstudio", file, truth, plurality)


def _choice(name: str, said: list[str]) -> dict[str, object]:
    return {"id": "x1", "from_name": name, "to_name": "msg", "type": "choices", "value": {"choices": said}}


ORGANS = {
    "Musculoskeletal disorder": ("knee", "shoulder joint", "lower back", "tendon"),
    "Musculoskeletal injury": ("wrist fracture", "ankle sprain", "torn ligament", "rib"),
    "Mental health condition": ("low mood", "panic", "sleep", "worry"),
    "Respiratory tract infection": ("cough", "sputum", "wheeze", "sore throat"),
    "Respiratory tract disorder": ("asthma inhaler", "breathless on stairs", "COPD", "peak flow"),
    "Skin and subcutaneous tissue": ("itchy rash", "ulcer on shin", "mole", "eczema"),
    "Digestive system disorder": ("heartburn", "bloating", "loose stools", "abdominal cramp"),
    "Circulatory system disorder": ("palpitations", "blood pressure", "swollen legs", "chest tightness"),
}
COURSES = {
    "acute": ("since yesterday", "sudden onset", "started this morning", "sent to emergency"),
    "chronic": ("for years", "long-standing", "stable on medication", "annual review"),
    "follow-up": ("seen again", "control visit", "recovering after treatment", "stitches removed"),
}


def clinic(folder: Path, seed: int = 31, n: int = 720) -> Case:
    """Texts with 24 long classes that share prefixes, sets joined by a bar, the truth in a tenth of the rows."""
    rng = np.random.default_rng(seed)
    names = [f"{organ} — {course}" for organ in ORGANS for course in COURSES]
    rows = [["note_no", "note", "possible codes", "gold", "clinic"]]
    truth, plurality = [], []
    for i in range(n):
        at = int(rng.integers(24))
        organ, course = list(ORGANS)[at // 3], list(COURSES)[at % 3]
        label = names[at]
        clues = [*rng.choice(ORGANS[organ], size=2, replace=False), *rng.choice(COURSES[course], 2, replace=False)]
        rng.shuffle(clues)
        note = f"Pt {int(rng.integers(18, 90))} y, {clues[0]}, {clues[1]}; {clues[2]}. {clues[3]}. RR {i % 40 + 110}."
        relatives = [3 * (at // 3) + k for k in range(3)] + [3 * k + at % 3 for k in range(8)]
        wrong = rng.choice([k for k in relatives if k != at], size=int(rng.integers(0, 4)), replace=False)
        codes = [label, *(names[int(k)] for k in dict.fromkeys(wrong.tolist()))]
        rng.shuffle(codes)
        truth.append(label)
        plurality.append(str(rng.choice(codes)))
        known = label if rng.random() < 0.1 else ""
        rows.append([f"N{i:05}", note, " | ".join(codes), known, str(rng.choice(["North", "South"]))])
    return Case("clinic", _write_csv(folder / "clinic.csv", rows), truth, plurality)


# ---- pictures -------------------------------------------------------------------------------------------------------

SHAPES = ("circle", "square", "triangle", "cross", "ring")


def _picture(rng: Rng, shape: str) -> bytes:
    """A shape in some place, of some size, as PNG or JPEG, grey, coloured or with transparency."""
    mode = str(rng.choice(["RGB", "L", "RGBA"], p=[0.6, 0.2, 0.2]))
    side = int(rng.choice([48, 64, 80, 120]))
    picture = Image.new(mode, (side, int(side * rng.choice([1, 1, 1.5]))), _colour(rng, mode, 150, 256))
    draw = ImageDraw.Draw(picture)
    r = side * float(rng.uniform(0.2, 0.34))
    x, y = side / 2 + rng.uniform(-5, 5), picture.height / 2 + rng.uniform(-5, 5)
    fill = _colour(rng, mode, 0, 90)
    box = [x - r, y - r, x + r, y + r]
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
    picture.save(out, "PNG" if mode == "RGBA" or rng.random() < 0.5 else "JPEG")
    return out.getvalue()


def _colour(rng: Rng, mode: str, low: int, high: int) -> int | tuple[int, ...]:
    levels = tuple(int(level) for level in rng.integers(low, high, size=3))
    if mode == "L":
        return levels[0]
    return levels if mode == "RGB" else (*levels, 255)


def pictures(folder: Path, seed: int = 41, n: int = 300) -> Case:
    """Pictures in a ZIP as a Mac makes it, with a manifest of candidates; one is corrupt."""
    rng = np.random.default_rng(seed)
    truth, plurality = list[str](), list[str]()
    table = [["file", "could be", "photographer"]]
    file = folder / "shapes-manifest.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for i in range(n):
            shape = str(rng.choice(SHAPES))
            data = _picture(rng, shape)
            ending = "png" if data.startswith(b"\x89PNG") else "JPG"
            others = [name for name in SHAPES if name != shape]
            wrong = [name for name in others if rng.random() < 0.35]
            path = f"shapes/batch {i % 3 + 1}/IMG_{1000 + i}.{ending}"
            may = sorted([shape, *wrong])
            table.append([path.removeprefix("shapes/"), "; ".join(may), str(rng.choice(["AB", "CD"]))])
            truth.append(shape)
            plurality.append(str(rng.choice(may)))
            archive.writestr(path, data if i != 17 else data[: len(data) // 3])
            head, _, last = path.rpartition("/")
            archive.writestr(f"__MACOSX/{head}/._{last}", b"\x00\x05\x16\x07" + bytes(40))
        archive.writestr("shapes/.DS_Store", b"\x00\x00\x00\x01Bud1")
        text = io.StringIO(newline="")
        csv.writer(text).writerows(table)
        archive.writestr("shapes/manifest.csv", text.getvalue())
    return Case("pictures", file, truth, plurality)  # without ids in the table, its rows are numbered


CASES: dict[str, Callable[[Path], Case]] = {
    "people": people,
    "labelstudio": labelstudio,
    "clinic": clinic,
    "pictures": pictures,
}


def score(case: Case, labels: pd.DataFrame) -> tuple[float, float]:
    """The share of right labels, and what plurality reaches.

    Raises:
        ValueError: rows are missing or too many.
    """
    said = labels["identified_label"].tolist()
    if len(said) != len(case.truth):
        raise ValueError(f"{len(said)} labels for {len(case.truth)} rows")
    if isinstance(case.truth, dict):
        assert isinstance(case.plurality, dict)
        ids = labels["id"].tolist()
        truth = [case.truth[one] for one in ids]
        usual = [case.plurality[one] for one in ids]
    else:
        assert isinstance(case.plurality, list)
        truth, usual = case.truth, case.plurality
    right = np.mean([a == b for a, b in zip(said, truth, strict=True)])
    return float(right), float(np.mean([a == b for a, b in zip(usual, truth, strict=True)]))


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


PAGE = Path(__file__).resolve().parents[1] / "docs" / "first-hour.md"
_HEAD = """\
# The first hour

<!-- Written by `python -m benchmarks.first_hour --write`. -->

Four files made like those that people bring (`benchmarks/first_hour.py` makes them, with truth that only it knows), and
what it takes to come from each to settled labels: the real app in an empty `PLL_HOME`, in Chromium, everything left as
the pages propose it. The first click is the drop of the file, the last one *Start training*; the seconds are of one
walk ({cores}, shared with other work), the recipe search of *Auto* in them. Then {reviewed} labels are decided in the
review and labels.csv is downloaded. *Right* is the share of its labels that are the true ones, *plurality* what the
most frequent answer (a candidate, where nobody voted) reaches on the same rows, ties broken at random. *Errors* counts
red boxes, exceptions and errors of the browser's console on all pages.

"""
_ABOUT = {
    "people": "semicolon CSV of Excel: texts, three people's columns with slips, cases and four ways to say nothing",
    "labelstudio": "Label Studio export: texts, 2–3 of four people a task, cancelled answers, drafts, predictions",
    "clinic": "CSV: texts, 24 long class names, sets joined by a bar, the truth in a tenth of the rows",
    "pictures": "ZIP of 300 pictures with a manifest of candidates; one picture is damaged",
}


def walks(chosen: Sequence[str], folder: Path, shots: Path | None) -> str:
    """Walk with each file; the table."""
    from playwright.sync_api import sync_playwright

    rows = []
    with sync_playwright() as driver:
        browser = chromium(driver)
        for name in chosen:
            place, home = folder / f"walk-{name}", folder / f"home-{name}"
            home.mkdir(parents=True, exist_ok=True)
            place.mkdir(exist_ok=True)
            pictures = None if shots is None else shots / name
            if pictures is not None:
                pictures.mkdir(parents=True, exist_ok=True)
            with Server(home) as server:
                found = walk(browser, server.url, CASES[name](place), place, pictures)
            for error in found.errors:
                print(f"{name}: {error}", file=sys.stderr)
            cells = (
                *(_ABOUT.get(name, name), f"{found.rows:,}", str(found.clicks), f"{found.seconds:.0f}"),
                *(str(len(found.errors)), f"{found.right:.1%}", f"{found.plurality:.1%}"),
            )
            rows.append(f"| {' | '.join(cells)} |")
            print(rows[-1], flush=True)
        browser.close()
    return "\n".join(
        ["| file | rows | clicks | seconds | errors | right | plurality |", "|---|---|---|---|---|---|---|", *rows]
    )


def main() -> None:
    """Make the files, walk with each, print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(CASES), help=f"of {', '.join(CASES)}; joined by commas")
    parser.add_argument("--shots", type=Path, help="folder for pictures of the pages")
    parser.add_argument("--write", action="store_true", help="put the table into docs/first-hour.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = walks(options.only.split(","), Path(folder), options.shots)
    if options.write:
        head = _HEAD.format(cores=f"{len(os.sched_getaffinity(0))} cores", reviewed=REVIEWED)
        PAGE.write_text(head + table + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
