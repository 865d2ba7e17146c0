"""Files as the field has them: what is understood of each, and whether that is what the file means.

    python -m benchmarks.field FOLDER [--against EXPECTED.json] [--only PART,…] [--full]

Every file of the folder is read as the shell reads it, with no role given by hand. Printed are its form (what a row
is), examples, classes, voters, answers, questions asked, what is odd about the reading, notes and the error. Where
EXPECTED.json, by default that of the folder or `benchmarks/field.json`, has an entry of the file's name, a verdict
follows:

- *right*: as expected, and nothing was asked;
- *asked, right*: a question, or something odd, and the first answer, or what is offered to mend it, gives what is
  expected;
- *asked, wrong*: a question whose first answer does not;
- *odd*: not as expected, but the reading says itself that something is odd;
- *no labels*: nothing is taken for labels, which the reading says, and the remedy;
- *refused*: an error where the file can be read (*refused, rightly*: where it cannot, and the remedy is named);
- *silently wrong*: not as expected, and nobody is told.

EXPECTED.json is an object of files. Every field of an entry is optional, and only those given are compared:
`form`, `examples`, `classes` (their names, or how many), `voters`, `answers`, `counts` (whether it is kept how often
each label was given), `truth` (whether there are true labels), `sets` (the labels of an example, by its id), `learn`
and `never` (columns that must, and must not, be learnt from; not compared of arrays, which have no columns), `asks`
(what a question is to be about, where the file needs one) and `refused` (a word of an error that is right too).
Where `voters` is 0, `answers` is not compared: of answers that nobody's name stands at, some count none and some all.

Where FOLDER has a folder `truth` with NAME.csv (`id,label`) for a file NAME, which is never shown to the program, the
share of examples whose label by plain majority is the true one is printed too, and `agreement` is what is expected of
it, to .03.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pll import formats
from pll.catalog.sources import source_of, with_own_votes
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.classes import with_classes
from pll.formats.odd import OddReading
from pll.formats.reading import Question, form_of
from pll.formats.tabular.cells import spelling

MOST_ASKED = 5
MOST_APART = 0.03
TRACEBACK = "TRACEBACK"
EXPECTED = Path(__file__).with_name("field.json")
VERDICTS = (
    "right",
    "asked, right",
    "refused, rightly",
    "asked, wrong",
    "odd",
    "no labels",
    "refused",
    "silently wrong",
    "unknown",
)
"""From the best to the worst; of a file without an expectation nothing is known."""


@dataclass(frozen=True)
class Understood:
    """What is understood of a file.

    Attributes
    ----------
    facts
        What can be compared, by the fields of an expectation.
    questions, odd, notes
        Sentences for the user.
    error
        Why the file is refused; "" where it is read.
    seconds
        How long it took.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    questions: Sequence[str] = ()
    odd: Sequence[str] = ()
    notes: Sequence[str] = ()
    error: str = ""
    seconds: float = 0.0


def understood(path: Path, truth: Mapping[str, str] | None = None) -> Understood:
    """Read a file as the shell does; where it asks, its first answer is given, until nothing is asked."""
    begun, roles, asked = time.perf_counter(), dict[str, str](), list[str]()
    facts: dict[str, Any] = {}
    notes: Sequence[str] = ()
    odd: Sequence[str] = ()
    error = ""
    try:
        while len(asked) < MOST_ASKED and (question := question_of(path, roles)) is not None:
            asked.append(question.text)
            roles |= question.answers[0][1]
        source = with_own_votes(source_of(str(path)))
        source = replace(source, options={**source.options, "columns": roles}) if roles else source
        try:
            data = source.load()
        except OddReading as refused:  # until somebody accepts it
            odd, kinds = list(map(str, refused.findings)), [one.kind for one in refused.findings]
            data = replace(source, options={**source.options, "accept": kinds}).load()
            offered = {name: to for one in refused.findings for name, to in one.edits.items()}
            data = with_classes(data, offered, strict=False)
        facts, notes = facts_of(data), data.notes
        facts |= {"agreement": agreement(data, truth)} if truth else {}
        columns = formats.columns(path, options=formats.ReadOptions(columns=roles))
        facts |= {"form": form_of(columns)} if columns else {}
    except UserError as refused:
        error = f"{TRACEBACK} " * (refused.kind == formats.FAILED_TO_READ) + str(refused).removeprefix(f"{path.name}: ")
    except Exception as failed:  # a traceback is what the benchmark is to find
        error = f"{TRACEBACK} {type(failed).__name__}: {failed}"
    return Understood(facts, asked, odd, notes, error, time.perf_counter() - begun)


def question_of(path: Path, roles: Mapping[str, str]) -> Question | None:
    """The first question about the columns of a file, where some have these roles."""
    columns = formats.columns(path, options=formats.ReadOptions(columns=roles))
    return next((column.asks for column in columns if column.asks is not None), None)


def facts_of(data: PartialLabelDataset) -> dict[str, Any]:
    """What a dataset holds, by the fields of an expectation."""
    annotations, sets = data.annotations, data.candidates
    facts: dict[str, Any] = {
        "examples": len(data),
        "counts": data.prior is not None or annotations is not None,
        "classes": sorted(data.class_names),
        "voters": 0 if annotations is None or annotations.anonymous else annotations.n_annotators,
        "answers": 0 if annotations is None else annotations.n_answers,
        "truth": data.y is not None and bool((data.y >= 0).any()),
    }
    if data.feature_names or data.kind == "table":
        facts["learnt"] = [*data.feature_names, *data.categories, *_read_in(data)]
    if sets is not None:
        rows = {name: row for row, name in enumerate(data.row_ids.tolist())}
        facts["sets"] = {name: sorted(sets.names(row)) for name, row in (_other_names(data) | rows).items()}
    return facts


def _other_names(data: PartialLabelDataset) -> dict[str, int]:
    """The rows by what else names them: what stands in one row alone, of pictures and columns carried along."""
    columns = [*data.extras.values(), *([] if data.pictures is None else [data.pictures.names])]
    cells = [(str(cell), row) for column in columns for row, cell in enumerate(column.tolist())]
    times = Counter(cell for cell, _ in cells)
    return {cell: row for cell, row in cells if times[cell] == 1}


def agreement(data: PartialLabelDataset, truth: Mapping[str, str]) -> tuple[float, float]:
    """The share of the true labels that the plain majority has, where every tie is lost, and where it is won."""
    if data.annotations is None and data.candidates is None:
        return 0.0, 0.0
    sets, votes = data.sets(), data.annotations
    scores = np.zeros((len(data), data.n_classes))
    if votes is not None:
        np.add.at(scores, (votes.rows, votes.labels), 1.0)
    else:
        scores[sets.rows, sets.indices] = 1.0 if data.prior is None else data.prior
    columns = [data.row_ids, *data.extras.values(), *data.categories.values()]
    columns += [] if data.pictures is None else [data.pictures.names]
    cells = [leaves(row) for row in zip(*(column.tolist() for column in columns), strict=True)]
    if 2 * sum(not truth.keys().isdisjoint(some) for some in cells) < len(truth):  # the truth counts rows
        cells = [[str(row)] for row in range(len(data))]
    named, alone = 0, 0
    for some, row in zip(cells, scores, strict=True):
        meant = spelling(next((truth[key] for key in some if key in truth), "\0"))
        best = {spelling(data.class_names[k]) for k in np.flatnonzero((row == row.max()) & (row > 0))}
        named, alone = named + (meant in best), alone + (best == {meant})
    return round(alone / len(truth), 2), round(named / len(truth), 2)


def leaves(value: Any) -> list[str]:
    """All texts and numbers in a value of JSON, as text."""
    if isinstance(value, dict | list | tuple):
        return [one for inner in (value.values() if isinstance(value, dict) else value) for one in leaves(inner)]
    return [str(value)]


def truth_of(path: Path) -> dict[str, str]:
    """The true labels beside a file, by id; none where there are none."""
    file = path.parent / "truth" / f"{path.name}.csv"
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as text:
        return {row["id"]: row["label"] for row in csv.DictReader(text)}


def _read_in(data: PartialLabelDataset) -> list[str]:
    """The columns of texts, pictures and vectors, and those that name the examples where these are what is read."""
    roles = data.reading.get("roles", {})
    read = [name for name, role in roles.items() if role in ("text", "image", "vector")]
    is_task = data.texts is not None or data.pictures is not None
    return read or [name for name, role in roles.items() if role == "task" and is_task]


def differences(facts: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """In what the facts are not as expected; empty where they are.

    Examples
    --------
    >>> differences({"examples": 2, "classes": ["a", "b"]}, {"examples": 2, "classes": 3})
    ['classes: 2 (a, b), expected 3']
    """
    wrong, free = [], ("answers",) if expected.get("voters") == 0 else ()
    for name in ("form", "examples", "voters", "answers", "counts", "truth"):
        if name in expected and name in facts and facts[name] != expected[name] and name not in free:
            wrong.append(f"{name}: {facts[name]}, expected {expected[name]}")
    if "agreement" in expected:
        least, most = facts.get("agreement", (0.0, 0.0))
        if not least - MOST_APART <= expected["agreement"] <= most + MOST_APART:
            wrong.append(f"agreement: {least} to {most}, expected {expected['agreement']}")
    if "classes" in expected:
        found, meant = facts["classes"], expected["classes"]
        if (len(found) if isinstance(meant, int) else found) != (meant if isinstance(meant, int) else sorted(meant)):
            wrong.append(f"classes: {len(found)} ({short(', '.join(found))}), expected {meant}")
    for example, meant in expected.get("sets", {}).items():
        sets = facts.get("sets", {})
        found = sets.get(example) or next((some for name, some in sets.items() if example.endswith(f"[{name}]")), None)
        if found != sorted(meant):
            wrong.append(f"set of {example}: {found}, expected {sorted(meant)}")
    parts = {f"{name}." for name in expected.get("never", ())}  # of an object, each field may be a column
    wrong += [
        f"learnt from: {name}" for name in facts.get("learnt", ()) if any(f"{name}.".startswith(x) for x in parts)
    ]
    learnt = facts.get("learnt", ())
    wanted = expected.get("learn", ()) if "learnt" in facts else ()
    left = [name for name in wanted if not any(f"{one}.".startswith(f"{name}.") for one in learnt)]
    wrong += [f"not learnt from: {name}" for name in left]
    return wrong


def verdict(one: Understood, expected: Mapping[str, Any] | None) -> tuple[str, list[str]]:
    """The verdict on a file, one of `VERDICTS`, and what is not as expected."""
    if expected is None:
        return "unknown", []
    if one.error:
        named = expected.get("refused")
        return ("refused, rightly" if named and named.casefold() in one.error.casefold() else "refused"), []
    wrong = differences(one.facts, expected)
    about = expected.get("asks", "")
    if wrong and about and not any(about in question for question in one.questions):
        wrong.append(f"not asked about {about}")
    if one.questions:
        return ("asked, wrong" if wrong else "asked, right"), wrong
    if wrong and not one.odd and not one.facts.get("classes", [""]):
        return "no labels", wrong
    if not wrong:
        return ("asked, right" if one.odd else "right"), wrong
    return ("odd" if one.odd else "silently wrong"), wrong


def short(text: str, width: int = 60) -> str:
    """A text in one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def lines(name: str, one: Understood, judged: str, wrong: Sequence[str], *, full: bool) -> list[str]:
    """What is printed of a file."""
    facts, width = one.facts, 10_000 if full else 110
    agreed = "–".join(f"{share:.2f}" for share in facts.get("agreement", ()))
    counts = "" if one.error else (
        f"{facts.get('form', '–'):8} {facts['examples']:>5} {len(facts['classes']):>4} {facts['voters']:>4} "
        f"{facts['answers']:>6} {'yes' if facts['truth'] else 'no':>5} {agreed:>9}"
    )  # fmt: skip
    said = [("expected", text) for text in wrong]
    said += [("asks", text) for text in one.questions] + [("odd", text) for text in one.odd]
    said += [("error", one.error)] if one.error else []
    said += [("note", text) for text in one.notes] if full else []
    return [
        f"{name:38.38} {counts:48} {len(one.questions):>2} {len(one.odd):>2} {len(one.notes):>2}  {judged}",
        *(f"    {kind}: {short(text, width)}" for kind, text in said),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns how many files were silently wrong or gave a traceback."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path, help="expectations; by default FOLDER/expected.json, else ours")
    parser.add_argument("--only", default="", help="parts of names, with commas")
    parser.add_argument("--full", action="store_true", help="whole sentences, and the notes")
    given = parser.parse_args(arguments)
    against = given.against or next(filter(Path.exists, (given.folder / "expected.json", EXPECTED)))
    expected: dict[str, Any] = json.loads(against.read_text(encoding="utf-8")) if against.exists() else {}
    parts = [part for part in given.only.split(",") if part]
    about = ("README.md", "truth", "make.py", "expected.json")
    paths = [path for path in sorted(given.folder.iterdir()) if not path.name.startswith((".", *about))]
    paths = [path for path in paths if not parts or any(part in path.name for part in parts)]
    titles = f"{'form':8} {'ex.':>5} {'cl.':>4} {'vot.':>4} {'answ.':>6} {'truth':>5} {'agree':>9}"
    print(f"{'file':38} {titles:48}  ?  !  i  verdict")
    counts, failed = Counter[str](), 0
    for path in paths:
        one = understood(path, truth_of(path))
        judged, wrong = verdict(one, expected.get(path.name))
        counts[judged] += 1
        failed += judged == "silently wrong" or one.error.startswith(TRACEBACK)
        print("\n".join(lines(path.name, one, judged, wrong, full=given.full)), flush=True)
    print(f"\n{len(paths)} files: " + ", ".join(f"{counts[name]} {name}" for name in VERDICTS if counts[name]))
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 100))
