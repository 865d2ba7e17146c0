"""The table of labels says what the label weights say, and every file of it can be read back exactly."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.export.source import ExportSource
from pll.formats.label_frame import LABELS_CSV, NUMBERS, Decision, LabelColumn, labels_frame
from pll.formats.results import Results
from pll.formats.tabular.cells import split_cell
from pll.methods import METHODS
from pll.runs import labels_table
from pll.runs.data import Splits
from pll.runs.labels_table import predicted_frame, save_labels, write_labels
from pll.weights import VOTES, ChangedSets, normalise, restricted_softmax

WHEN = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)


def read_csv(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def none_for_missing(column: pd.Series) -> list[object]:
    return [None if pd.isna(value) else value for value in column]


def test_a_table_computed_by_hand() -> None:
    sets = CandidateSets.from_lists([[0, 2], [1], [0, 1, 2]], 3, ["cat", "dog", "fox"])
    weights = np.array([0.25, 0.75, 1, 0.5, 0.5, 0], dtype=np.float32)
    frame = labels_frame(sets, weights, ["x", "y", "z"], held_out=weights, y=np.array([2, -1, 1]))
    assert frame["id"].tolist() == ["x", "y", "z"]
    assert frame["identified_label"].tolist() == ["fox", "dog", "cat"]
    assert frame["confidence"].tolist() == [0.75, 1, 0.5]
    assert frame["margin"].tolist() == [0.5, 1, 0]
    halves = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75)) / np.log(2)
    np.testing.assert_allclose(frame["entropy"], [halves, 0, np.log(2) / np.log(3)], rtol=1e-6)
    assert frame["candidates"].tolist() == ["cat|fox", "dog", "cat|dog|fox"]
    assert frame["source"].tolist() == ["model"] * 3
    assert none_for_missing(frame["true_label"]) == ["fox", None, "dog"]
    assert frame["reviewer"].isna().all()
    assert frame["decided_at"].isna().all()


def test_labels_are_of_both_weights_and_numbers_of_the_held_out_ones_alone() -> None:
    sets = CandidateSets.from_lists([[0, 1], [0, 1], [0, 1]], 2, ["cat", "dog"])
    weights = np.array([0.9, 0.1, 0.6, 0.4, 1.0, 0.0], dtype=np.float32)
    held_out = np.array([0.4, 0.6, 0.3, 0.7, np.nan, np.nan], dtype=np.float32)
    frame = labels_frame(sets, weights, ["x", "y", "z"], held_out=held_out)
    assert frame["identified_label"].tolist() == ["cat", "dog", "cat"]
    np.testing.assert_allclose(frame["confidence"], [0.4, 0.7, np.nan], rtol=1e-6)
    np.testing.assert_allclose(frame["margin"], [0.2, 0.4, np.nan], rtol=1e-5)
    unknown = labels_frame(sets, weights, ["x", "y", "z"])
    assert unknown[["confidence", "margin", "entropy"]].isna().all().all()


def test_a_tie_of_votes_alone_is_called_a_tie() -> None:
    sets = CandidateSets.from_lists([[0, 1], [0, 1], [0, 1], [1]], 2, ["cat", "dog"])
    weights = np.array([0.5, 0.5, 0.6, 0.4, 0.5, 0.5, 1], dtype=np.float32)
    decided = {2: Decision("dog", "Ada", WHEN)}
    frame = labels_frame(sets, weights, list("xyzw"), held_out=weights, votes_alone=True, decisions=decided)
    assert frame["source"].tolist() == ["tie", "model", "human", "model"]
    assert labels_frame(sets, weights, list("xyzw"), held_out=weights)["source"].tolist() == ["model"] * 4


def test_decisions_replace_the_label_and_how_sure_it_is() -> None:
    sets = CandidateSets.from_lists([[0, 1], [0, 1]], 2, ["cat", "dog"])
    weights = np.array([0.75, 0.25, 0.25, 0.75], dtype=np.float32)
    plain = labels_frame(sets, weights, ["x", "y"], held_out=weights)
    decided = labels_frame(
        sets, weights, ["x", "y"], held_out=weights, decisions={1: Decision("a new label", "Ada", WHEN)}
    )
    assert decided["identified_label"].tolist() == ["cat", "a new label"]
    assert decided["source"].tolist() == ["model", "human"]
    assert none_for_missing(decided["reviewer"]) == [None, "Ada"]
    assert none_for_missing(decided["decided_at"]) == [None, "2026-11-20T12:30:00+00:00"]
    assert decided[["confidence", "margin", "entropy"]].iloc[1].tolist() == [1, 1, 0]
    pd.testing.assert_series_equal(decided.loc[0, ["confidence", "margin"]], plain.loc[0, ["confidence", "margin"]])
    kept = ["id", "candidates", "true_label"]
    pd.testing.assert_frame_equal(decided[kept], plain[kept])


def test_the_csv_gives_back_every_name_and_number(source: ExportSource, tmp_path: Path) -> None:
    write_labels([source.frame], tmp_path / "labels.csv")
    table = read_csv(tmp_path / "labels.csv")
    names = source.labels.candidates.class_names
    assert table["identified_label"].tolist() == [names[j] for j in source.estimator.identify()]
    assert table["id"].tolist() == source.labels.ids.tolist()
    assert source.train.y is not None
    assert table["true_label"].tolist() == ["" if j < 0 else names[j] for j in source.train.y]
    found = [split_cell(cell) for cell in table["candidates"]]
    assert found == [tuple(source.labels.candidates.names(row)) for row in range(len(source.labels.candidates))]
    for name in ("confidence", "margin", "entropy"):
        np.testing.assert_array_equal(table[name].astype(float).to_numpy(), source.frame[name].to_numpy())


def test_a_column_of_whole_numbers_stays_whole_in_every_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LABELS_CSV, "rounds", LabelColumn("whole"))
    done = Results(["a", "b"], {"identified_label": ["x", "y"], "rounds": ["4", ""], "confidence": ["0.98765", ""]})
    assert done.record("a") == {"identified_label": "x", "rounds": 4, "confidence": 0.98765}
    assert done.rounded().added(["a", "b"]) == {
        "identified_label": ["x", "y"],
        "rounds": [4, None],
        "confidence": [0.988, None],
    }


def test_what_needs_a_set_is_blank_without_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(LABELS_CSV, "margin", LabelColumn("whole", needs_set=True))
    sets, weights = CandidateSets.from_lists([[0], [1]], 2), np.ones(2, dtype=np.float32)
    frame = labels_frame(sets, weights, ["a", "b"], held_out=weights, has_set=np.array([True, False]))
    frame.to_csv(tmp_path / "a.csv", index=False)
    table = read_csv(tmp_path / "a.csv")
    assert table[["candidates", "margin", "confidence"]].to_numpy().tolist() == [["0", "1", "1.0"], ["", "", "1.0"]]


@st.composite
def tables(draw: st.DrawFn) -> tuple[CandidateSets, np.ndarray, list[str], np.ndarray]:
    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6)
    names = draw(st.lists(text, min_size=1, max_size=5, unique=True))
    c = len(names)
    rows = draw(st.lists(st.sets(st.integers(0, c - 1), min_size=1), min_size=1, max_size=6))
    sets = CandidateSets.from_lists(rows, c, names)
    scores = draw(st.lists(st.floats(-50, 50), min_size=sets.nnz, max_size=sets.nnz))
    ids = draw(st.lists(text, min_size=len(sets), max_size=len(sets)))
    y = draw(st.lists(st.integers(-1, c - 1), min_size=len(sets), max_size=len(sets)))
    return sets, restricted_softmax(np.array(scores), sets), ids, np.array(y)


@given(tables())
def test_any_name_survives_the_csv(table: tuple[CandidateSets, np.ndarray, list[str], np.ndarray]) -> None:
    sets, weights, ids, y = table
    frame = labels_frame(sets, weights, ids, held_out=weights, y=y)
    with tempfile.TemporaryDirectory() as folder:
        write_labels([frame], Path(folder) / "labels.csv")
        result = read_csv(Path(folder) / "labels.csv")
    for name in NUMBERS:
        np.testing.assert_array_equal(result.pop(name).astype(float), frame.pop(name))
    pd.testing.assert_frame_equal(result, frame.fillna(""))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"decisions": {1: Decision("cat", "Ada", WHEN)}}, "decision for row 1, but rows run from 0 to 0"),
        ({"ids": ["\ud800"]}, "a character that no file can hold"),
    ],
)
def test_what_does_not_fit_is_refused(changed: dict[str, object], message: str) -> None:
    sets = CandidateSets.from_lists([[0, 1]], 2)
    given = {"label_weights": sets.uniform_weights(), "ids": ["x"]} | changed
    with pytest.raises(UserError, match=message):
        labels_frame(sets, given.pop("label_weights"), given.pop("ids"), **given)


@pytest.mark.parametrize("own_ids", [False, True])
def test_many_rows_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_ids: bool) -> None:
    rng = np.random.default_rng(0)
    n, names = 23, ("a", 'b"c', "d,e", "f\rg" if own_ids else "f")
    sets = CandidateSets.from_lists([rng.choice(4, rng.integers(1, 5), replace=False) for _ in range(n)], 4, names)
    ids = np.array([f"row\r{i}" for i in range(n)]) if own_ids else None
    data = PartialLabelDataset(np.ones((n, 1)), sets, rng.integers(-1, 4, n), ids=ids)
    if own_ids:
        data = data.changed(ChangedSets(sets, sets, reason=VOTES))
    weights, held_out = normalise(rng.random(sets.nnz), sets), normalise(rng.random(sets.nnz), sets)
    held_out[sets.span(slice(7, 9))] = np.nan
    monkeypatch.setattr(labels_table, "ROWS_AT_A_TIME", 5)
    save_labels(Splits(data), METHODS["proden"](), weights, held_out, tmp_path / "parts.csv")
    write_labels([labels_frame(sets, weights, data.row_ids, held_out=held_out, y=data.y)], tmp_path / "whole.csv")
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_predicted_rows_are_sure_where_the_temperature_is_known_and_nothing_takes_its_place(
    source: ExportSource,
) -> None:
    rng = np.random.default_rng(0)
    model = METHODS["proden"](epochs=2).fit(rng.normal(size=(40, 5)), source.labels.candidates.take(slice(40)))
    others = PartialLabelDataset(
        rng.normal(size=(7, 5)).astype(np.float32), class_names=source.labels.candidates.class_names
    )
    unknown = predicted_frame(model, others, others.class_names)
    assert unknown[["confidence", "margin", "entropy"]].isna().all().all() and set(unknown["source"]) == {"predicted"}
    model.temperatures_ = (2.0,)
    known = predicted_frame(model, others, others.class_names)
    assert known["identified_label"].tolist() == unknown["identified_label"].tolist()
    p = softmax(model.predict_scores(others.X) / 2, axis=1)
    np.testing.assert_allclose(known["confidence"], p.max(axis=1), rtol=1e-5)
