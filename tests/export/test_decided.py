"""What people decided, in every file that leaves the product: a label with confidence 1; refused, no label and none."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io

from pll import formats
from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.export.convert import certified_results
from pll.export.parts import EXPORTS
from pll.export.source import ExportSource
from pll.formats import FORMATS, Results
from pll.formats.label_frame import Decision
from pll.formats.results import read_results
from pll.methods import METHODS
from pll.review.certificate import CheckedLabel, LabelTable
from pll.review.certification import Certification, draw_plan
from pll.review.label_snapshot import LabelSnapshot
from pll.runs.data import Splits
from pll.runs.files import LABELS_FILE
from pll.runs.labels_table import write_labels

N, REFUSED, DECIDED = 12, 3, 5
NAMES = ("ant", "bee", "quagga")
SURE = {REFUSED: 0.6173, DECIDED: 0.5392}
"""How sure the model was of the label that people refused, and of one that they decided."""

OF_THE_MODEL = {"label-weights", "certificate", "audit-csv", "audit-jsonl", "torch-program", "onnx"}
"""Files that say what the model, or the people, said before: no labels to take home."""


def weights() -> tuple[CandidateSets, np.ndarray]:
    sets = CandidateSets.from_lists([[0, 1, 2]] * N, 3, NAMES)
    rows = np.tile(np.array([0.75, 0.125, 0.125], np.float32), (N, 1))
    rows[REFUSED] = 0.25, 0.1327, SURE[REFUSED]
    rows[DECIDED] = 0.25, SURE[DECIDED], 0.2108
    return sets, rows.ravel()


def exported(label: str | None) -> ExportSource:
    """A reviewed run: one example was given a label, and this label to another; None refuses all its candidates."""
    sets, given = weights()
    X = np.arange(N * 2, dtype=np.float32).reshape(N, 2)
    ids = np.array([f"id{row}" for row in range(N)])
    at = datetime(2026, 1, 2, tzinfo=UTC)
    decisions = {REFUSED: Decision(label, "Ada", at), DECIDED: Decision("bee", "Ada", at)}
    labels = np.array(NAMES)[given.reshape(N, 3).argmax(axis=1)]
    table = LabelTable(ids, labels.tolist(), given.reshape(N, 3).max(axis=1))
    checked = [
        CheckedLabel(str(name), str(labels[row]), "Ada")
        for row, name in enumerate(ids)
        if row not in (REFUSED, DECIDED)
    ]
    checked += [CheckedLabel(f"id{DECIDED}", "bee"), CheckedLabel(f"id{REFUSED}", label, refused=label is None)]
    certification = Certification(draw_plan(table, 0.3, 0.5, seed=0), table)
    return ExportSource(
        METHODS["proden"](epochs=1).fit(X, sets),
        "proden",
        LabelSnapshot("run", ids, sets, given, given),
        Splits(PartialLabelDataset(X, sets, ids=ids)),
        "small",
        decisions=decisions,
        certificate=lambda: certification.certified(checked),
    )


def contents(path: Path) -> Iterator[str]:
    """All that a file holds, as text."""
    if zipfile.is_zipfile(path):
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file():
                    yield from contents(file)
    elif path.suffix == ".npy":
        yield json.dumps(np.load(path, allow_pickle=False).tolist(), default=str)
    elif path.suffix == ".mat":
        for name, value in scipy.io.loadmat(path).items():
            dense = value.toarray() if hasattr(value, "toarray") else value
            yield f"{name} {dense.tolist() if isinstance(dense, np.ndarray) else dense}"
    elif path.read_bytes()[:4] == b"PAR1":
        yield pd.read_parquet(path).to_csv()
    else:
        yield path.read_text("utf-8", errors="replace")


def check(file: Path, other: Path) -> None:
    """Compare a file in which an example was refused with one in which it was called *ant*, or has no result at all."""
    text, named = "\n".join(contents(file)), "\n".join(contents(other))
    for sure in SURE.values():  # also rounded to three places
        assert f"{sure:.3f}" not in text.replace(",", ".") and f"{sure:.6g}" not in text, sure
    assert text.count("quagga") <= named.count("quagga")  # the rejected label is a candidate, and nothing else


@pytest.fixture(scope="module")
def pair() -> tuple[ExportSource, ExportSource]:
    return exported(None), exported("ant")


@pytest.mark.parametrize("name", [name for name in EXPORTS if name not in OF_THE_MODEL])
def test_in_every_export(pair: tuple[ExportSource, ExportSource], tmp_path: Path, name: str) -> None:
    exporter, files = EXPORTS[name], []
    for number, source in enumerate(pair):
        if exporter.made_of(source) is None or exporter.why_not(source) is not None:
            pytest.skip("this run has no such file")
        files.append(tmp_path / str(number) / exporter.file_name)
        files[-1].parent.mkdir()
        exporter.write(source, files[-1])
    check(*files)


def test_the_cells(pair: tuple[ExportSource, ExportSource]) -> None:
    for frame in (pair[0].frame, pair[0].certified.final if pair[0].certified else None):
        assert frame is not None
        cells = frame.set_index("id")
        assert cells.source[f"id{REFUSED}"] == cells.source[f"id{DECIDED}"] == "human"
        assert pd.isna(cells.identified_label[f"id{REFUSED}"]) and pd.isna(cells.confidence[f"id{REFUSED}"])
        assert (cells.identified_label[f"id{DECIDED}"], cells.confidence[f"id{DECIDED}"]) == ("bee", 1.0)
    certified = pair[0].certified
    assert certified is not None and certified.final.accepted[REFUSED] == 0


def test_the_certified_file_says_who_reviewed(pair: tuple[ExportSource, ExportSource]) -> None:
    folder: Any = SimpleNamespace(config=lambda: SimpleNamespace(method="proden"), path=Path("run"))
    own = certified_results(folder, pair[0]).in_own_file()
    assert own.cell(f"id{DECIDED}", "reviewed by") == own.cell(f"id{REFUSED}", "reviewed by") == "Ada"


# ---- formats ---------------------------------------------------------------------------------------------------------


def examples() -> Iterator[PartialLabelDataset]:
    """Data of several kinds: each format holds one of them."""
    sets, _ = weights()
    table = PartialLabelDataset(
        np.arange(N * 2, dtype=np.float32).reshape(N, 2), sets, ids=np.array([f"id{row}" for row in range(N)])
    )
    rows = np.arange(N)
    votes = Annotations(np.tile(rows, 3), np.repeat([0, 1, 2], N), np.repeat([0, 1, 2], N), N, NAMES, ("a", "b", "c"))
    yield table
    yield replace(table, texts=np.array([f"text {row}" for row in range(N)], dtype=object))
    yield replace(table, X=np.zeros((N, 0), np.float32), candidates=None, annotations=votes)
    yield replace(table, X=np.arange(N * 27, dtype=np.float32).reshape(N, 3, 3, 3) % 255)


def results_in(source: ExportSource, folder: Path) -> Results:
    write_labels([source.frame], folder / LABELS_FILE)
    return read_results(folder / LABELS_FILE, "proden")


def without(results: Results, example: str) -> Results:
    """The results of all the others."""
    places = [at for at, name in enumerate(results.ids) if name != example]
    columns = {name: [cells[at] for at in places] for name, cells in results.columns.items()}
    return replace(results, ids=[results.ids[at] for at in places], columns=columns)


@pytest.fixture(scope="module")
def kinds(pair: tuple[ExportSource, ExportSource], tmp_path_factory: pytest.TempPathFactory) -> list[list[Results]]:
    """The labels of a run and those of a certificate, each with the refused example and without it."""
    path = tmp_path_factory.mktemp("run")
    folder: Any = SimpleNamespace(config=lambda: SimpleNamespace(method="proden"), path=path)
    both = results_in(pair[0], path), certified_results(folder, pair[0])
    return [[results, without(results, f"id{REFUSED}")] for results in both]


@pytest.mark.parametrize("name", FORMATS)
def test_in_every_format(kinds: list[list[Results]], tmp_path: Path, name: str) -> None:
    """Written anew and back into the file that came in, with the labels of a run; once with those of a certificate."""
    suffix = FORMATS[name].suffixes[0] if FORMATS[name].suffixes else ""
    written = 0
    for place, data in enumerate(examples()):
        for kind, both in enumerate(kinds if not written else kinds[:1]):
            files = []
            try:
                for number, results in enumerate(both):
                    files.append(tmp_path / f"{place}-{kind}-{number}{suffix}")
                    formats.write(data, files[-1], name, results)
            except UserError:
                continue  # it does not hold such data
            check(*files)
            written += 1
            came, given = tmp_path / f"{place}-{kind}-in{suffix}", []
            formats.write(data, came, name)
            try:
                for number, results in enumerate(both):
                    given.append(tmp_path / f"{place}-{kind}-{number}-back{suffix}")
                    formats.give_back(came, given[-1], results.rounded(), format=name)
            except (UserError, NotImplementedError):
                continue  # nothing goes back into it
            check(*given)
    assert written or not FORMATS[name].suffixes
