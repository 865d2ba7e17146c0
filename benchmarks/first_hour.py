"""The first hour: files as people have them, through the shell, and how right the labels are that come out.

    python -m benchmarks.first_hour [--only people,gold,…] [--recipe auto|default] [--keep FOLDER] [--files-only]
    python -m benchmarks.first_hour --browser [--only …] [--shots FOLDER] [--write]

Makes files with a fixed seed whose true labels are known here and nowhere else, reads each as `python -m pll fit` does
with the options that a person would give (`Case.options`), and compares the labels with the truth: the share that is
right, beside what the most frequent answer (plurality; ties broken at random) reaches on the same rows. What a file
makes the reader do wrong is counted as an error. Nothing in the product reads this module, and nothing here was chosen
to suit a reader.

`--browser` walks through the real app with four of the files (`benchmarks.first_hour_browser`); `--shots` keeps
pictures of every page on the way, `--write` puts the table into docs/first-hour.md.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw

Rng = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A file, what is true of its rows, and how a person would give it to the shell.

    Attributes:
        name: of the case.
        file: what is brought.
        truth: of each row, in the order of the file.
        plurality: of each row, what most answers or candidates say.
        options: of `fit`, beside the file.
        key: the column of labels.csv to look the truth up by, where rows are not in the order of `truth`.
    """

    name: str
    file: Path
    truth: dict[str, str] | list[str]
    plurality: dict[str, str] | list[str]
    options: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)


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


def people(folder: Path, seed: int = 11, gold: str | None = None, n: int = 420) -> Case:
    """Three people's columns with messy classes; `gold`: a tenth of the rows has the truth under that header."""
    rng = np.random.default_rng(seed)
    names = list(COMPLAINTS)
    truth = [str(rng.choice(names, p=[0.3, 0.2, 0.2, 0.18, 0.12])) for _ in range(n)]
    rows = [["Ticket", "Message", "Anna", "Bert", "Chloé M.", *([gold] if gold else []), "Received"]]
    plurality = []
    for i, label in enumerate(truth):
        said = [_answer(rng, label, names, *who) for who in ((0.82, 0.05), (0.70, 0.08), (0.62, 0.15))]
        plurality.append(_plurality(rng, said, names))
        known = [label if rng.random() < 0.1 else ""] if gold else []
        day = f"{int(rng.integers(1, 29)):02}.{int(rng.integers(1, 13)):02}.2025"
        number = f"T-{20_000 + i - (i > 3 and rng.random() < 0.01)}"
        rows.append([number, _text(rng, COMPLAINTS, label), *(_messy(rng, one) for one in said), *known, day])
    file = _write_csv(folder / f"tickets{'-' + gold if gold else ''}.csv", rows, ";", windows=True)
    merges = sorted({cell for row in rows[1:] for cell in row[2:5]})
    options: list[str] = []
    for cell in merges:
        plain = cell.strip()
        close = next((name for name in names if sorted(name.casefold()) == sorted(plain.casefold())), None)
        if close is None and plain:
            options += ["--drop", plain]
        elif close is not None and plain != close:
            options += ["--merge", f"{plain}={close}"]
    once = dict.fromkeys(zip(options[::2], options[1::2], strict=True))
    return Case(f"people{' ' + gold if gold else ''}", file, truth, plurality, tuple(x for pair in once for x in pair))


def long_ids(folder: Path, seed: int = 12) -> Case:
    """Three people again, with a column `id` of which some stand twice."""
    case = people(folder, seed, n=240)
    text = case.file.read_text("utf-8-sig").replace("Ticket;", "id;", 1)
    lines = text.split("\n")
    lines[20] = lines[19].split(";")[0] + lines[20][lines[20].index(";") :]
    file = folder / "tickets-id.csv"
    file.write_bytes("\n".join(lines).encode("utf-8-sig"))
    return Case("people, ids twice", file, case.truth, case.plurality, (*case.options, "--column", "id=keep"))


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
NOTATIONS: dict[str, Callable[[list[str]], str]] = {
    "bar": " | ".join,
    "list": str,
    "slash": "/".join,
}


def clinic(folder: Path, notation: str = "bar", seed: int = 31, n: int = 720) -> Case:
    """Texts with 24 long classes that share prefixes, sets in an odd notation, the truth in a tenth of the rows."""
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
        rows.append([f"N{i:05}", note, NOTATIONS[notation](codes), known, str(rng.choice(["North", "South"]))])
    file = _write_csv(folder / f"clinic-{notation}.csv", rows)
    return Case(f"clinic, {notation}", file, truth, plurality, ("--column", "possible codes=candidates"))


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


def pictures(folder: Path, manifest: bool = True, seed: int = 41, n: int = 300) -> Case:
    """Pictures in a ZIP as a Mac makes it, with a manifest of candidates or in a folder per class; one is corrupt."""
    rng = np.random.default_rng(seed)
    truth: dict[str, str] = {}
    plurality: dict[str, str] = {}
    table = [["file", "could be", "photographer"]]
    file = folder / f"shapes-{'manifest' if manifest else 'folders'}.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for i in range(n):
            shape = str(rng.choice(SHAPES))
            data = _picture(rng, shape)
            ending = "png" if data.startswith(b"\x89PNG") else "JPG"
            others = [name for name in SHAPES if name != shape]
            wrong = [name for name in others if rng.random() < 0.35]
            if manifest:
                path = f"shapes/batch {i % 3 + 1}/IMG_{1000 + i}.{ending}"
                may = sorted([shape, *wrong])
                table.append([path.removeprefix("shapes/"), "; ".join(may), str(rng.choice(["AB", "CD"]))])
                given = str(rng.choice(may))
            else:
                given = shape if rng.random() < 0.85 else str(rng.choice(others))
                path = f"shapes/2024/{given}/IMG_{1000 + i}.{ending}"
            archive.writestr(path, data if i != 17 else data[: len(data) // 3])
            head, _, last = path.rpartition("/")
            archive.writestr(f"__MACOSX/{head}/._{last}", b"\x00\x05\x16\x07" + bytes(40))
            truth[path], plurality[path] = shape, given
        archive.writestr("shapes/.DS_Store", b"\x00\x00\x00\x01Bud1")
        if manifest:
            text = io.StringIO(newline="")
            csv.writer(text).writerows(table)
            archive.writestr("shapes/manifest.csv", text.getvalue())
    options = ("--column", "could be=candidates") if manifest else ("--noisy", "topk:2")
    if manifest:  # without ids in the table, its rows are numbered
        return Case("pictures, manifest", file, list(truth.values()), list(plurality.values()), options)
    return Case("pictures, folders", file, truth, plurality, options)


# ---- tables ---------------------------------------------------------------------------------------------------------


def _measured(
    rng: Rng, n: int, d: int, c: int, apart: float
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], list[int]]:
    """Numbers around a centre for each class."""
    centres = rng.normal(size=(c, d)) * apart
    y = [int(k) for k in rng.integers(c, size=n)]
    return centres[y] + rng.normal(size=(n, d)), y


def _sets(rng: Rng, y: Sequence[int], c: int, q: float, most: int = 6) -> list[list[int]]:
    """The true class with wrong ones beside it, in no order."""
    found = []
    for k in y:
        wrong = [int(j) for j in rng.choice(c, size=min(int(rng.binomial(c - 1, q)), most), replace=False) if j != k]
        found.append([int(j) for j in rng.permutation([k, *wrong])])
    return found


def titled(folder: Path, seed: int = 51, n: int = 300) -> Case:
    """A sheet saved as CSV: above the header of the table stand a title and an empty row."""
    rng = np.random.default_rng(seed)
    names = ["weld ok", "porosity", "crack", "undercut"]
    X, y = _measured(rng, n, 5, 4, 1.4)
    header = ["Part", "Current", "Voltage", "Speed", "Gas", "Temp", "Inspector A", "Inspector B", "Inspector C"]
    blank = [""] * (len(header) - 1)
    rows = [["Weld inspection, both shifts (exported 12.02.2025)", *blank], ["", *blank], header]
    plurality = []
    for i in range(n):
        label = names[y[i]]
        said = [_answer(rng, label, names, right, 0.06) for right in (0.8, 0.7, 0.65)]
        plurality.append(_plurality(rng, said, names))
        rows.append([f"P{i:04}", *(f"{value:.3f}" for value in X[i]), *(one or "" for one in said)])
    return Case("title rows", _write_csv(folder / "welds.csv", rows), [names[k] for k in y], plurality)


def parquet(folder: Path, seed: int = 52, n: int = 400) -> Case:
    """Parquet whose columns hold lists: candidates, and an embedding."""
    rng = np.random.default_rng(seed)
    names = ["jazz", "blues", "techno", "folk", "choir", "ambient"]
    X, y = _measured(rng, n, 16, 6, 0.9)
    sets = _sets(rng, y, 6, 0.4)
    table = pd.DataFrame(
        {
            "track_id": [f"trk_{i:04}" for i in range(n)],
            "tags": [[names[k] for k in row] for row in sets],
            "embedding": [row.astype(np.float32).tolist() for row in X],
            "seconds": rng.integers(60, 400, n),
        }
    )
    file = folder / "tracks.parquet"
    table.to_parquet(file, index=False)
    plurality = [names[int(rng.choice(row))] for row in sets]
    return Case("parquet", file, [names[k] for k in y], plurality, ("--column", "tags=candidates"))


def batches(folder: Path, seed: int = 53, n: int = 300) -> Case:
    """A CSV of batch results of a model API: three answers for each request, the answer inside a JSON body."""
    rng = np.random.default_rng(seed)
    names = list(COMPLAINTS)
    rows = [["id", "custom_id", "response", "error"]]
    truth, plurality = {}, {}
    for i in range(n):
        label = names[int(rng.integers(5))]
        said = [_answer(rng, label, names, 0.7, 0.0) for _ in range(3)]
        for k, answer in enumerate(said):
            words = str(rng.choice([f"{answer}", f"{answer}.", f"Label: {answer}", str(answer).lower()]))
            message = {"index": k, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
            body = {"id": f"chatcmpl-{i}{k}", "object": "chat.completion", "model": "gpt-4o-mini", "choices": [message]}
            response = {"status_code": 200, "request_id": f"r{i}{k}", "body": body}
            rows.append([f"batch_req_{i:04}{k}", f"ticket-{i}", json.dumps(response), ""])
        truth[f"ticket-{i}"], plurality[f"ticket-{i}"] = label, _plurality(rng, said, names)
    file = _write_csv(folder / "batch_output.csv", rows)
    return Case("model answers", file, truth, plurality, ("--votes",))


def many(folder: Path, seed: int = 54, n: int = 6000) -> Case:
    """A thousand classes, numbers as features, up to seven candidates joined by semicolons."""
    rng = np.random.default_rng(seed)
    X, y = _measured(rng, n, 24, 1000, 1.6)
    sets = _sets(rng, y, 1000, 0.003)
    rows = [["item", "candidates", *(f"f{k}" for k in range(24))]]
    rows += [[f"i{i}", ";".join(f"SKU-{k:04}" for k in sets[i]), *(f"{v:.4f}" for v in X[i])] for i in range(n)]
    plurality = [f"SKU-{int(rng.choice(row)):04}" for row in sets]
    return Case("1,000 classes", _write_csv(folder / "skus.csv", rows), [f"SKU-{k:04}" for k in y], plurality)


def flags(folder: Path, seed: int = 55, n: int = 400, stem: str = "suspect.") -> Case:
    """Numbers, and columns of 0 and 1 for the labels, under names of one's own."""
    rng = np.random.default_rng(seed)
    names = ["bearing", "leak", "imbalance", "cavitation", "none"]
    X, y = _measured(rng, n, 6, 5, 1.3)
    sets = _sets(rng, y, 5, 0.35)
    rows = [["pump", "vib_x", "vib_y", "temp", "flow", "rpm", "kw", *(stem + name for name in names)]]
    for i in range(n):
        marks = [str(int(k in sets[i])) for k in range(5)]
        rows.append([f"pump {i}", *(f"{v:.3f}" for v in X[i]), *marks])
    file = _write_csv(folder / f"pumps{'' if stem else '-bare'}.csv", rows)
    options: tuple[str, ...] = ()
    if not stem:
        options = tuple(word for name in names for word in ("--column", f"{name}=class"))
    plurality = [names[int(rng.choice(row))] for row in sets]
    return Case(f"0/1 columns{'' if stem else ', bare'}", file, [names[k] for k in y], plurality, options)


def german(folder: Path, seed: int = 56, n: int = 360) -> Case:
    """Decimal commas and thousands with a point, semicolons, headers in German."""
    rng = np.random.default_rng(seed)
    names = ["Buche", "Eiche", "Fichte", "Kiefer"]
    X, y = _measured(rng, n, 5, 4, 1.2)
    sets = _sets(rng, y, 4, 0.45)
    rows = [["Probe", "Länge", "Breite", "Gewicht", "Dichte", "Feuchte", "Mögliche Arten"]]
    for i in range(n):
        numbers = [f"{value:.2f}".replace(".", ",") for value in X[i]]
        weight = f"{1500 + 300 * X[i][2]:,.1f}".replace(",", "_").replace(".", ",").replace("_", ".")
        may = "|".join(names[k] for k in sets[i])
        rows.append([f"P{i}", *numbers[:2], weight, *numbers[3:], may])
    file = _write_csv(folder / "holz.csv", rows, ";", windows=True)
    plurality = [names[int(rng.choice(row))] for row in sets]
    return Case("German numbers", file, [names[k] for k in y], plurality, ("--column", "Mögliche Arten=candidates"))


CASES: dict[str, Callable[[Path], Case]] = {
    "people": people,
    "ids": long_ids,
    "expert": lambda folder: people(folder, 13, "expert"),
    "adjudicated": lambda folder: people(folder, 14, "adjudicated"),
    "labelstudio": labelstudio,
    "clinic-bar": lambda folder: clinic(folder, "bar"),
    "clinic-list": lambda folder: clinic(folder, "list", 32),
    "clinic-slash": lambda folder: clinic(folder, "slash", 33),
    "manifest": pictures,
    "folders": lambda folder: pictures(folder, False, 42),
    "titled": titled,
    "parquet": parquet,
    "batches": batches,
    "many": many,
    "flags": flags,
    "flags-bare": lambda folder: flags(folder, 57, stem=""),
    "german": german,
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
        truth = [_find(case.truth, one) for one in ids]
        usual = [_find(case.plurality, one) for one in ids]
    else:
        assert isinstance(case.plurality, list)
        truth, usual = case.truth, case.plurality
    right = np.mean([a == b for a, b in zip(said, truth, strict=True)])
    return float(right), float(np.mean([a == b for a, b in zip(usual, truth, strict=True)]))


def _find(known: dict[str, str], name: str) -> str:
    """The label of an example; a picture may be named by the end of its path."""
    return known[name] if name in known else next(label for path, label in known.items() if path.endswith(name))


def fit(case: Case, out: Path, recipe: str) -> tuple[str, float]:
    """Run the shell on a file; what it says where it fails ("" where not), and seconds."""
    brought = ["--votes", str(case.file)] if case.options[:1] == ("--votes",) else [str(case.file)]
    options = case.options[1:] if case.options[:1] == ("--votes",) else case.options
    chosen = () if brought[0] == "--votes" else ("--recipe", recipe)  # votes alone have no model to set
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pll", "fit", *brought, *options, *chosen, "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    words = "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]
    return words, time.monotonic() - began


WALKED = ("people", "labelstudio", "clinic-bar", "manifest")
"""Files that a browser walks with, where none are named."""
PAGE = Path(__file__).resolve().parents[1] / "docs" / "first-hour.md"
_HEAD = """\
# The first hour

<!-- Written by `python -m benchmarks.first_hour --browser --write`. -->

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
    "clinic-bar": "CSV: texts, 24 long class names, sets joined by a bar, the truth in a tenth of the rows",
    "manifest": "ZIP of 300 pictures with a manifest of candidates; one picture is damaged",
}


def walks(chosen: Sequence[str], folder: Path, shots: Path | None) -> str:
    """Walk with each file; the table."""
    from playwright.sync_api import sync_playwright

    from benchmarks.app import Server, chromium
    from benchmarks.first_hour_browser import walk

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
    """Make the files, fit each, print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help=f"of {', '.join(CASES)}; joined by commas")
    parser.add_argument("--recipe", default="auto")
    parser.add_argument("--keep", type=Path, help="folder for the files and the runs")
    parser.add_argument("--files-only", action="store_true")
    parser.add_argument("--browser", action="store_true", help="walk through the app instead of the shell")
    parser.add_argument("--shots", type=Path, help="folder for pictures of the pages (with --browser)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/first-hour.md (with --browser)")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(CASES)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if options.browser:
            table = walks(chosen if options.only else WALKED, folder, options.shots)
            if options.write:
                from benchmarks.first_hour_browser import REVIEWED

                head = _HEAD.format(cores=f"{len(os.sched_getaffinity(0))} cores", reviewed=REVIEWED)
                PAGE.write_text(head + table + "\n", encoding="utf-8")
            return
        print("| file | rows | right | plurality | seconds |\n|---|---|---|---|---|")
        for name in chosen:
            case = CASES[name](folder)
            if options.files_only:
                truth = {"truth": case.truth, "plurality": case.plurality, "options": case.options}
                (folder / f"{name}.truth.json").write_text(json.dumps(truth, ensure_ascii=False), "utf-8")
                continue
            out = folder / f"run-{name}"
            words, seconds = fit(case, out, options.recipe)
            if words:
                print(f"| {case.name} | {len(case.truth)} | error: {words} | | {seconds:.0f} |", flush=True)
                continue
            labels = pd.read_csv(out / "labels.csv", dtype=str, keep_default_na=False)
            try:
                right, usual = score(case, labels)
                print(f"| {case.name} | {len(labels)} | {right:.1%} | {usual:.1%} | {seconds:.0f} |", flush=True)
            except (ValueError, KeyError, StopIteration) as error:
                print(f"| {case.name} | {len(labels)} | mismatch: {error} | | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
