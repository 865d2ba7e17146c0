"""Checks of data before training: errors and warnings."""

from __future__ import annotations

import numpy as np

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.checks import listing

ADDRESSES_ALONE = (
    "The file names pictures, and they are not in it: to learn from them, bring them in a ZIP archive or a folder, "
    "beside the table."
)


def warnings_about(data: PartialLabelDataset) -> list[str]:
    """Return warnings about data before training, first the notes of its reader; empty where there are none."""
    warnings = list(data.notes)
    if 0 in data.input_shape:
        annotations = data.annotations
        votes_alone = not data.contents and annotations is not None and not annotations.anonymous
        no_features = "There are no features: labels come from the votes alone."
        warnings.append(no_features if votes_alone else _no_features(data))
        if votes_alone and data.pictures is not None:
            warnings.append(ADDRESSES_ALONE)
    if data.candidates is not None:
        warnings += _candidate_warnings(data, data.candidates)
    missing = int(np.isnan(data.X).sum()) if data.kind == "table" else 0
    if missing:
        warnings.append(f"{missing:,} cells are missing; each is filled with the mean of its column.")
    return warnings


def check_features(data: PartialLabelDataset) -> None:
    """Raise UserError for data that has no features yet.

    Raises
    ------
    UserError
        There is not one feature; it says what features can be made of.
    """
    if 0 in data.input_shape:
        raise UserError(f"{data.name}: {_no_features(data)}")


def check_trainable(data: PartialLabelDataset, *, strict: bool = False) -> None:
    """Raise UserError for data that no method can learn from.

    Raises
    ------
    UserError
        Fewer than two examples or classes, no candidate sets; with `strict`, also truth outside a set.
    """
    sets = data.sets()
    if len(data) < 2:
        raise UserError(
            f"{data.name} has {len(data)} example{'s' * (len(data) != 1)} to learn from; at least 2 are needed."
        )
    if sets.n_classes < 2:
        raise UserError(
            f"{data.name} has one class ({sets.class_names[0]}); there is nothing to tell apart. "
            "Bring data with at least two classes."
        )
    outside = data.truth_outside()
    if strict and len(outside):
        raise UserError(
            f"The true label of row {int(outside[0])} (id {data.row_ids[outside[0]]}) is not among its "
            f"candidates ({len(outside)} such rows); correct them, or train without --strict."
        )


def _no_features(data: PartialLabelDataset) -> str:
    there = " and ".join({"words": "columns of words"}.get(kind, kind) for kind in data.contents)
    if there:
        return f"There are {there} but no features yet; choose what is learnt from (in the shell: --features)."
    if data.pictures is not None:
        return f"There is nothing to learn from. {ADDRESSES_ALONE}"
    message = "There are no features, so there is nothing to learn from; add columns of numbers, or texts."
    if data.extras:
        columns = listing(list(data.extras))
        message += f" Only carried along: {columns}; say which is a text or a feature (--column NAME=text)."
    return message


def _candidate_warnings(data: PartialLabelDataset, sets: CandidateSets) -> list[str]:
    warnings = []
    outside = data.truth_outside()
    if len(outside):
        warnings.append(
            f"{len(outside):,} of {len(data):,} true labels are not among their candidates "
            f"(first: id {data.row_ids[outside[0]]}); only a method that may add labels (proden-outside) can identify "
            "these examples correctly."
        )
    whole = int((sets.sizes == sets.n_classes).sum())  # with a prior even these carry information
    if whole and data.prior is None:
        warnings.append(
            f"{whole:,} of {len(data):,} examples have every class as a candidate; they carry no information."
        )
    single = int((sets.sizes == 1).sum())
    if single == len(sets) and single:
        warnings.append("Every set has one candidate: nothing is ambiguous here.")
    ever = np.zeros(sets.n_classes, dtype=np.bool_)
    for part in sets.row_blocks():
        ever[sets.indices[sets.span(part)]] = True
    never = int((~ever).sum())
    if never:
        warnings.append(f"{never:,} of {sets.n_classes:,} classes are never a candidate.")
    return warnings
