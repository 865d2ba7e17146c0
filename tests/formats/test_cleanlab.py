"""cleanlab's multi-annotator tables: round trips, what pandas writes, and consensus columns on the way out."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll import formats
from pll.annotations.data import Annotations
from pll.dataset import PartialLabelDataset
from pll.formats import FORMATS, Results
from pll.formats.labels import sets_of
from pll.formats.limitations import cannot_hold

from .strategies import answers, check_held, named_sets


@st.composite
def votes(draw: st.DrawFn) -> PartialLabelDataset:
    """At most one label an annotator and example; classes are numbers."""
    n, c, people = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    cells = draw(st.lists(st.none() | st.integers(0, c - 1), min_size=n * people, max_size=n * people))
    triples = [(at // people, at % people, label) for at, label in enumerate(cells) if label is not None]
    if not triples:
        triples = [(0, 0, c - 1)]
    rows, who, labels = np.array(triples).T
    annotations = Annotations(
        rows, who, labels, n, tuple(map(str, range(c))), tuple(f"annotator_{k}" for k in range(people))
    )
    return PartialLabelDataset(np.empty((n, 0)), sets_of(annotations)[0], annotations=annotations)


@given(data=votes())
def test_writing_then_reading_gives_everything_back(
    tmp_path_factory: pytest.TempPathFactory, data: PartialLabelDataset
) -> None:
    path = tmp_path_factory.mktemp("round") / "data.csv"
    formats.write(data, path, "cleanlab")
    assert formats.detect(path).name == "cleanlab" or data.annotations is None or data.annotations.n_annotators < 2
    check_held(formats.read(path, format="cleanlab"), data, cannot_hold(data, FORMATS["cleanlab"]))


@pytest.mark.parametrize(
    "header", [",annotator_1,annotator_2", ",annotator_1,annotator_2,num_annotations,consensus_label"]
)
def test_what_pandas_writes_is_recognised(tmp_path: Path, header: str) -> None:
    more = ",9,0" if "consensus" in header else ""
    (tmp_path / "t.csv").write_text(f"{header}\na,0.0,2.0{more}\nb,,0.0{more}\n")
    assert formats.detect(tmp_path / "t.csv").name == "cleanlab"
    data = formats.read(tmp_path / "t.csv")
    assert data.row_ids.tolist() == ["a", "b"] and data.class_names == ("0", "1", "2")
    assert answers(data) == [(0, "annotator_1", "0"), (0, "annotator_2", "2"), (1, "annotator_2", "0")]


def test_its_long_form(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("task,annotator,label\na,1,0\na,2,1\nb,1,1\n")
    data = formats.read(tmp_path / "t.csv", format="cleanlab")
    assert data.row_ids.tolist() == ["a", "b"] and named_sets(data) == [{"0", "1"}, {"1"}]


def test_consensus_on_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",annotator_1,annotator_2,note\na,0.0,2.0,x\nb,,0.0,y\nc,,,z\n")
    results = Results(["a", "b"], {"identified_label": ["2", "0"], "confidence": ["0.75", "1.0"]}, "proden")
    formats.give_back(tmp_path / "t.csv", tmp_path / "out.csv", results, format="cleanlab")
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["", "annotator_1", "annotator_2", "note", "num_annotations", "consensus_label", "annotator_agreement",
         "consensus_quality_score"],
        ["a", "0.0", "2.0", "x", "2", "2", "0.5", "0.75"],
        ["b", "", "0.0", "y", "1", "0", "1.0", "1.0"],
        ["c", "", "", "z", "0", "", "", ""],
    ]  # fmt: skip
    data = formats.read(tmp_path / "t.csv", format="cleanlab")
    formats.write(data, tmp_path / "new.csv", "cleanlab", results)
    assert (tmp_path / "new.csv").read_text().splitlines()[1] == '"a","0","2","2","2","0.5","0.75"'
