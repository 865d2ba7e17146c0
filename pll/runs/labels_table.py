"""The labels of all rows of a run's data, and labels.csv."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.formats.label_frame import LABELS_CSV, NUMBERS, labels_frame
from pll.io import blocks, write_atomically, write_csv
from pll.methods.base import PartialLabelEstimator
from pll.runs.data import Splits
from pll.weights import Weights, normalise


def save_labels(
    splits: Splits, estimator: PartialLabelEstimator, weights: Weights, held_out: Weights | None, path: Path
) -> None:
    """Write labels.csv of a run: identified labels of what was trained on, predicted ones of the other rows.

    Parameters
    ----------
    splits
        The data, split.
    estimator
        The fitted method.
    weights
        (nnz,) label weights.
    held_out
        (nnz,) held-out weights, NaN where they are not known; or None.
    path
        Of labels.csv.
    """
    train = splits.train
    frames = learnt_frames(train, weights, held_out, votes_alone=not estimator.needs_features)
    if splits.holdout is not None:
        frames = iter([label_table(pd.concat(frames, ignore_index=True), splits, estimator)])
    write_labels(frames, path)


def label_table(learnt: pd.DataFrame, splits: Splits, estimator: PartialLabelEstimator) -> pd.DataFrame:
    """Return the labels of the rows that were learnt from and of those that were not, in the order of the data.

    Parameters
    ----------
    learnt
        `labels_frame` of the examples that were learnt from.
    splits
        The data, split; rows that are in neither part are left out.
    estimator
        Fitted; it predicts the labels of the others.
    """
    if splits.holdout is None:
        return learnt
    predicted = predicted_frame(estimator, splits.holdout, splits.train.class_names)
    both = pd.concat([learnt, predicted], ignore_index=True)
    place = {name: row for row, name in enumerate(both["id"])}
    return both.iloc[[place[name] for name in splits.all_ids if name in place]].reset_index(drop=True)


def predicted_frame(
    estimator: PartialLabelEstimator, holdout: PartialLabelDataset, class_names: Sequence[str]
) -> pd.DataFrame:
    """Return the labels of rows that were not learnt from, as `labels_frame` with the source `predicted`.

    A label is the most probable of the row's own candidates; of all classes where it has none. How sure it is follows
    from the temperatures of the estimator; it is not known where these are not.

    Parameters
    ----------
    estimator
        Fitted.
    holdout
        (m rows) with features.
    class_names
        Of the estimator; those of `holdout` are the same.
    """
    own, names, frames, begin = holdout.candidates, tuple(class_names), [], 0
    for batch in estimator.iter_tempered(holdout.X):  # (b, c) each
        (b, c), rows = batch.shape, slice(begin, begin + len(batch))
        if own is None:
            sets = CandidateSets(np.arange(b + 1) * c, np.tile(np.arange(c, dtype=np.int32), b), c, names)
        else:
            sets = own[rows]
        weights = np.asarray(batch, dtype=np.float32)[sets.rows, sets.indices]
        if own is not None and holdout.prior is not None and type(estimator).takes_prior:
            weights = weights * holdout.prior[own.span(rows)]
        weights = weights if own is None else normalise(weights, sets)
        has_set = np.full(b, own is not None)
        if holdout.unanswered is not None:  # their set is every class; nobody named one
            has_set &= ~holdout.unanswered[rows]
        frames.append(
            labels_frame(
                sets,
                weights,
                holdout.row_ids[rows],
                held_out=weights if estimator.temperatures_ else None,
                y=None if holdout.y is None else holdout.y[rows],
                source="predicted",
                has_set=has_set,
            )
        )
        begin += b
    return pd.concat(frames, ignore_index=True)


def write_no_answer(ids: Sequence[str], path: Path) -> None:
    """Write the ids of examples that nobody answered and that have no label, one a row.

    Parameters
    ----------
    ids
        Of these examples.
    path
        The file.
    """
    write_csv(path, pd.DataFrame({"id": list(ids)}, dtype=str))


def write_labels(frames: Iterable[pd.DataFrame], path: Path) -> None:
    """Write labels.csv atomically: UTF-8, numbers with all their digits, missing values empty.

    Read it with `pandas.read_csv(path, dtype=str, keep_default_na=False)`: without these a label called `NA` is lost.

    Parameters
    ----------
    frames
        Of `labels_frame`, one after the other.
    path
        Of labels.csv.
    """

    def write(temporary: Path) -> None:
        for number, frame in enumerate(frames):
            # The csv module does not quote a lone carriage return, and readers would see two rows.
            texts = (frame[name] for name in LABELS_CSV if name not in NUMBERS)
            bare = any(text.str.contains("\r", regex=False).any() for text in texts)
            # As float64: a reader in double precision gets exactly the value of the float32.
            frame.astype({name: np.float64 for name, one in LABELS_CSV.items() if one.kind == "share"}).to_csv(
                temporary,
                index=False,
                encoding="utf-8",
                lineterminator="\n",
                quoting=csv.QUOTE_NONNUMERIC if bare else csv.QUOTE_MINIMAL,
                header=not number,
                mode="a" if number else "w",
            )

    write_atomically(path, write)


def learnt_frames(
    train: PartialLabelDataset, weights: Weights, held_out: Weights | None = None, *, votes_alone: bool = False
) -> Iterator[pd.DataFrame]:
    """Yield the `labels_frame` of the examples that were learnt from, `ROWS_AT_A_TIME` of them at a time.

    Parameters
    ----------
    train
        The examples.
    weights
        (nnz,) label weights.
    held_out
        (nnz,) held-out weights, NaN where they are not known; or None.
    votes_alone
        As for `labels_frame`.
    """
    sets, given, tied = train.sets(), train.given_sets, train.tied_votes
    for part in blocks(len(train), ROWS_AT_A_TIME):
        yield labels_frame(
            sets[part],
            np.asarray(weights[sets.span(part)]),
            train.ids_of(part),
            held_out=None if held_out is None else np.asarray(held_out[sets.span(part)]),
            y=None if train.y is None else train.y[part],
            votes_alone=votes_alone,
            tied_votes=None if tied is None else tied[part],
            given=given[part],
        )


ROWS_AT_A_TIME = 100_000
"""Rows of a table of labels that are made at once."""
