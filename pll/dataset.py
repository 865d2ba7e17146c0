"""`PartialLabelDataset`: features, candidate sets, and optionally true labels, texts, pictures and annotations."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.annotations.rules import Resolved, counted_prior
from pll.candidates import MOST_CLASSES, CandidateSets, Rows, check_class_names, whole_numbers
from pll.copies import first_copies, near_copies, seen_in
from pll.errors import RowError, UserError, notes_of
from pll.images import Pictures
from pll.io import Column, as_column, blocks, check_finite, check_lengths, check_unique_ids, feature_array, taken
from pll.weights import DECISIONS, ChangedSets, Flags, HasChanges, Ints, Weights, checked_prior

UNKNOWN = -1
"""The value of `y` where the true label is not known."""
CONTENTS = ("numbers", "words", "texts", "pictures")
"""Kinds of content that features are made of; data may hold several."""
IDS_AT_ONCE = 100_000
"""Rows whose ids are made at once for the fingerprint."""


_flags = partial(np.asarray, dtype=np.bool_)


def _true_labels(y: npt.ArrayLike) -> Ints:
    return whole_numbers(y, "true labels").astype(np.int64)


def _columns(table: Mapping[str, Any]) -> dict[str, Column]:
    return {name: as_column(values) for name, values in table.items()}


def _comparable(*parts: PartialLabelDataset) -> list[npt.NDArray[np.float32]]:
    """Return (n, d) numbers of every part that are equal where features, words and texts are."""
    import pandas as pd  # late: most data has numbers alone

    columns = [part.X.reshape(len(part), math.prod(part.input_shape)) for part in parts]
    words = [[*part.categories.values(), *([] if part.texts is None else [part.texts])] for part in parts]
    ends = np.cumsum([len(part) for part in parts])[:-1]
    for cells in zip(*words, strict=True):
        codes = pd.factorize(pd.concat([pd.Series(one) for one in cells]).str.strip())[0]
        columns = [np.column_stack(pair) for pair in zip(columns, np.split(codes, ends), strict=True)]
    return [part.astype(np.float32, copy=False) for part in columns]


@dataclass(frozen=True, eq=False)
class PartialLabelDataset(HasChanges):
    """Examples with ambiguous labels: what every reader returns and every method is trained on.

    Inputs that are not numbers yet (texts, pictures, columns of words) are kept beside X, which is (n, 0) where there
    is nothing else. Turning them into features is a separate step; methods raise UserError for (n, 0).

    Parameters
    ----------
    X
        (n, d) features or (n, C, H, W) images, float32. NaN marks a missing cell and is allowed in tables only. A
        memory-mapped array stays mapped: it may be larger than memory.
    candidates
        The candidate sets, or None where the file has none (labelled or unlabelled data).
    y
        (n,) int64 true labels, `UNKNOWN` (−1) where not known; or None.
    class_names
        c names; taken from `candidates` where they are given.
    ids
        (n,) str; None stands for `"0"` … `"n-1"` (`row_ids`).
    feature_names
        d names of the columns of a table; empty for images.
    images
        (n, H, W) or (n, H, W, 3) uint8, the pictures shown to people; derived from X for images.
    texts
        (n,) str as objects.
    pictures
        n pictures by name, of any size, read on demand.
    categories
        Columns of words that become features, by name; (n,) str or None each.
    extras
        Columns that are kept and exported but never learnt from, by name; (n,) plain values as in JSON.
    annotations
        The annotators' answers that `candidates` were made of; over the same classes and examples.
    prior
        (nnz,) float32, prior of the candidates, at least 0, aligned with `candidates.indices`; or None. Stored
        normalised on each set.
    changes
        How `candidates` came of the sets that the data has, the first change first (`changed`).
    is_test
        (n,) bool, True on the published or given test part; or None.
    unanswered
        (n,) bool, True where nobody gave an answer that could be used: these are not learnt from (their sets hold every
        class), and a classifier predicts their labels; or None.
    name
        What to call it on a page.
    kind
        `"table"`, `"array"` or `"image"`.
    notes
        Remarks of the reader for the user (columns dropped, cells imputed, …).
    reading
        What was understood of its file, the fields of a `pll.formats.reading.Reading`; empty where that is not a table.

    Raises
    ------
    UserError
        Lengths that do not fit, NaN or infinite features where they are not allowed, labels out of range, duplicate
        ids; the row is named.
    """

    X: npt.NDArray[np.float32] = field(metadata={"rows": "rows of features", "form": feature_array})
    candidates: CandidateSets | None = field(default=None, metadata={"rows": "candidate sets"})
    y: Ints | None = field(default=None, metadata={"rows": "true labels", "form": _true_labels})
    class_names: tuple[str, ...] = ()
    ids: npt.NDArray[np.str_] | None = field(
        default=None, metadata={"rows": "ids", "form": partial(np.asarray, dtype=np.str_)}
    )
    feature_names: tuple[str, ...] = ()
    images: npt.NDArray[np.uint8] | None = field(default=None, metadata={"rows": "images", "form": np.asarray})
    texts: Column | None = field(default=None, metadata={"rows": "texts", "form": as_column})
    pictures: Pictures | None = field(default=None, metadata={"rows": "pictures"})
    categories: Mapping[str, Column] = field(default_factory=dict, metadata={"rows": "cells of {!r}", "form": _columns})
    extras: Mapping[str, Column] = field(default_factory=dict, metadata={"rows": "cells of {!r}", "form": _columns})
    annotations: Annotations | None = field(default=None, metadata={"rows": "annotated examples"})
    prior: Weights | None = field(default=None, metadata={"candidates": "priors"})
    changes: tuple[ChangedSets, ...] = field(default=(), metadata={"rows": "changed candidate sets"})
    is_test: Flags | None = field(default=None, metadata={"rows": "split marks", "form": _flags})
    unanswered: Flags | None = field(default=None, metadata={"rows": "marks of unanswered examples", "form": _flags})
    name: str = "data"
    kind: str = "array"
    notes: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        set_field = object.__setattr__  # the class is frozen; these are its normal forms
        for one in fields(self):
            if "form" in one.metadata and (value := getattr(self, one.name)) is not None:
                set_field(self, one.name, one.metadata["form"](value))
        X = self.X
        set_field(self, "class_names", self._names())
        check_lengths(self, len(X))
        if self.ids is not None:
            check_unique_ids(self.ids)
        if self.feature_names and X.ndim == 2 and len(self.feature_names) != X.shape[1]:
            raise UserError(f"There are {X.shape[1]} features but {len(self.feature_names)} feature names.")
        check_finite(X, allow_missing=self.kind == "table", feature_names=self.feature_names)
        if self.y is not None:
            self._check_truth()
        if self.prior is not None:
            if self.candidates is None:
                raise UserError("There is a prior but no candidate sets that it could be of; give both.")
            set_field(self, "prior", checked_prior(self.prior, self.candidates))
        annotations = self.annotations
        if annotations is not None and annotations.class_names != self.class_names:
            raise UserError("The annotations are of other classes than the candidate sets; give those.")
        if self.changes and self.changes[-1].candidates != self.candidates:
            raise UserError("The candidate sets are other than those that the changes led to.")

    def _names(self) -> tuple[str, ...]:
        if self.candidates is not None:
            return self.candidates.class_names
        names = tuple(self.class_names)
        if names:
            check_class_names(names, len(names))
        elif self.annotations is not None:
            names = self.annotations.class_names
        elif self.y is not None:
            most = int(np.max(self.y, initial=-1))
            if most >= MOST_CLASSES:
                raise RowError(
                    f"Row {int(np.argmax(self.y))}: the true label {most} cannot be a class index; "
                    "number the classes from 0, or give class names."
                )
            names = tuple(str(j) for j in range(most + 1))
        return names

    def _check_truth(self) -> None:
        assert self.y is not None
        c = self.n_classes
        outside = np.flatnonzero((self.y < UNKNOWN) | (self.y >= c))
        if len(outside):
            row = int(outside[0])
            raise RowError(
                f"Row {row} (id {self.row_ids[row]}): the true label {int(self.y[row])} is unknown; "
                f"labels run from 0 to {c - 1}, or {UNKNOWN} where the truth is not known."
            )

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        parts = [repr(self.name), f"{len(self)} examples", f"{self.n_classes} classes", f"X {self.X.shape}"]
        parts += [] if self.candidates is None else [f"{self.candidates.sizes.mean():.2f} candidates on average"]
        return f"{type(self).__name__}({', '.join(parts)})"

    @cached_property
    def row_ids(self) -> npt.NDArray[np.str_]:
        """(n,) ids; "0" … "n-1", made on demand, where the data has none."""
        return np.arange(len(self)).astype(np.str_) if self.ids is None else self.ids

    def ids_of(self, rows: slice) -> npt.NDArray[np.str_]:
        """Return the (m,) ids of m consecutive rows, without making those of all."""
        return np.arange(*rows.indices(len(self))).astype(np.str_) if self.ids is None else self.ids[rows]

    @property
    def n_classes(self) -> int:
        """c, the number of classes."""
        return len(self.class_names)

    @property
    def n_labelled(self) -> int:
        """How many examples have a true label that is known."""
        return 0 if self.y is None else int((self.y >= 0).sum())

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one example: (d,) or (C, H, W)."""
        return self.X.shape[1:]

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns of numbers, or their places, from 1."""
        return self.feature_names or tuple(f"column {k + 1}" for k in range(self.X.shape[1]))

    @property
    def is_image(self) -> bool:
        """Whether the examples are (C, H, W)."""
        return self.X.ndim == 4

    @property
    def contents(self) -> tuple[str, ...]:
        """Which of `CONTENTS` the examples have, that features can be made of; addresses of pictures alone are none."""
        pictures = self.images is not None or self.is_image
        there = {
            "numbers": self.X.ndim == 2 and self.X.shape[1] > 0,
            "words": bool(self.categories),
            "texts": self.texts is not None,
            "pictures": pictures or (self.pictures is not None and self.pictures.where is not None),
        }
        return tuple(name for name in CONTENTS if there[name])

    def sets(self) -> CandidateSets:
        """Return the candidate sets.

        Raises
        ------
        UserError
            The data has none.
        """
        if self.candidates is None:
            remedy = "add a column or array of candidates, or say which column holds them"
            shell = (
                "--column NAME=candidates, NAME=candidate where each candidate has a column, or NAME=annotator for "
                "each person's labels; --votes for answers of models"
            )
            open_questions = notes_of(self.notes, "labels") if self.y is None else []
            if open_questions:
                raise UserError(f"{self.name}: {' '.join(open_questions)}", shell=open_questions[-1].hint)
            if self.y is not None:
                remedy = "synthesise them from the true labels"
                shell = "--flip binomial --q 0.7, or --noisy topk:2 where the labels may be wrong"
            asked = "".join(f" {note}" for note in notes_of(self.notes, "question"))
            raise UserError(f"{self.name} has no candidate sets; {remedy}.{asked}", shell=shell)
        return self.candidates

    def take(self, rows: Rows) -> PartialLabelDataset:
        """Return some of the examples in that order; `rows` is a slice, an (n,) bool mask or (m,) indices."""
        chosen = np.arange(len(self))[rows]
        return replace(self, **taken(self, chosen) | {"ids": self.row_ids[chosen]})

    def answered(self) -> PartialLabelDataset:
        """The examples that somebody answered: all, unless `unanswered` marks some."""
        return self if self.unanswered is None else replace(self.take(~self.unanswered), unanswered=None)

    def resolved_to(self, resolved: Resolved, annotations: Annotations) -> PartialLabelDataset:
        """The data with the candidate sets that a rule made of annotations; where nobody annotated, `unanswered`.

        Too many without an annotation for the number of classes are left out, with a note.

        Parameters
        ----------
        resolved
            What the rule made.
        annotations
            Those that it was made of.
        """
        data, sets, silent = self, resolved.candidates, None
        if resolved.unannotated and resolved.can_be_filled:
            sets = resolved.filled()
            silent = np.ones(len(self), dtype=np.bool_)
            silent[resolved.rows] = False
        elif resolved.unannotated:
            data, annotations = self.take(resolved.rows), annotations.take(resolved.rows)
        return replace(
            data,
            candidates=sets,
            class_names=(),
            prior=counted_prior(annotations, sets),
            changes=(),
            annotations=annotations,
            unanswered=silent,
            notes=(*data.notes, *resolved.notes()),
        )

    def changed(self, change: ChangedSets, **more: Any) -> PartialLabelDataset:
        """Return the data with changed candidate sets, their prior and the notes of the change.

        Parameters
        ----------
        change
            Of `candidates`.
        more
            Fields that change with them, as in `dataclasses.replace`.
        """
        return replace(
            self,
            candidates=change.candidates,
            prior=change.prior_after(self.prior),
            changes=(*self.changes, change),
            notes=(*self.notes, *change.notes),
            **more,
        )

    @cached_property
    def copies(self) -> Ints | None:
        """(n,) row of the first example with the same features, words and text (`first_copies`), or None.

        Texts are the same but for spaces around them. Pictures that are read on demand are not compared.
        """
        return first_copies(_comparable(self)[0], are_texts=self.texts is not None)

    @cached_property
    def alike(self) -> Ints | None:
        """The same with those whose numbers are nearly another one's, where there are no words (`near_copies`)."""
        return self.copies if self._has_words else near_copies(self.X, self.copies)

    @property
    def _has_words(self) -> bool:
        return self.texts is not None or bool(self.categories)

    def copied_from(self, train: PartialLabelDataset) -> Flags:
        """Return (n,) whether each example is a copy of one of these, as in `alike`; none is where inputs differ."""
        if self.input_shape != train.input_shape or [*self.categories] != [*train.categories]:
            return np.zeros(len(self), dtype=np.bool_)
        parts = _comparable(self, train)
        is_seen = seen_in(*parts, are_texts=self.texts is not None)
        near = None if self._has_words else near_copies(np.concatenate(parts), None)
        return is_seen if near is None else is_seen | np.isin(near[: len(self)], near[len(self) :])

    @cached_property
    def given_sets(self) -> CandidateSets:
        """The candidate sets that people gave and settled, without labels that joined them since.

        Raises
        ------
        UserError
            As `sets`.
        """
        sets = self.changes[0].given if self.changes else self.sets()
        for change in self.changes:
            sets = change.applied_to(sets) if change.reason == DECISIONS else sets
        return sets

    @property
    def needs_vote_sets(self) -> bool:
        """Whether candidate sets and prior are still to be made of annotations and features together."""
        return self.annotations is not None and self.annotations.joint and not self.changes

    def picture(self, i: int) -> npt.NDArray[np.uint8] | None:
        """(H, W) or (H, W, 3) uint8 of example i, or None where it has no picture that can be reached.

        Raises
        ------
        UserError
            Its file is gone or damaged.
        """
        if self.images is not None:
            return np.asarray(self.images[i])
        if self.pictures is not None:
            return self.pictures[i]
        if not self.is_image:
            return None
        low, high = self._pixel_range
        scaled: npt.NDArray[np.uint8] = np.clip((self.X[i] - low) / (high - low) * 255, 0, 255).astype(np.uint8)
        return np.asarray(scaled.transpose(1, 2, 0) if len(scaled) == 3 else scaled[0])

    @cached_property
    def _pixel_range(self) -> tuple[float, float]:
        low, high = float(self.X.min(initial=0.0)), float(self.X.max(initial=0.0))
        return (low, high) if high > low else (low, low + 1.0)

    @cached_property
    def without_truth(self) -> PartialLabelDataset:
        """The same dataset without its true labels."""
        return self if self.y is None else replace(self, y=None)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over features, candidate sets, truth, ids and names: the same data gives the same string."""
        digest = hashlib.sha256()
        for part in (self.X, self.y, self.is_test):
            if part is not None:
                digest.update(f"{part.dtype}{part.shape}".encode())
                digest.update(np.ascontiguousarray(part).data)
        for rows in blocks(len(self), IDS_AT_ONCE):  # their text, not their bytes: those grow with the longest id
            digest.update(("\x00" * bool(rows.start) + "\x00".join(self.ids_of(rows).tolist())).encode())
        if self.candidates is not None:
            digest.update(self.candidates.indptr.data)
            digest.update(self.candidates.indices.data)
        if self.prior is not None:
            digest.update(b"prior" + self.prior.tobytes())
        digest.update("\x00".join(self.class_names).encode())
        for part_name, column in self._columns():
            # repr distinguishes surrogates from characters, and None from "None".
            digest.update(f"{part_name}\x00{column.tolist()!r}".encode())
        return digest.hexdigest()

    def _columns(self) -> list[tuple[str, Column]]:
        """The other columns that features are made of; `extras` change no result and are left out."""
        result = [] if self.texts is None else [("texts", self.texts)]
        result += [] if self.pictures is None else [("pictures", self.pictures.names)]
        return result + [(f"category {name}", values) for name, values in self.categories.items()]

    def truth_outside(self) -> Ints:
        """Return the (m,) rows whose known true label is not among the given candidates."""
        if self.y is None or self.candidates is None:
            return np.empty(0, dtype=np.int64)
        sets = self.candidates if self.outside is None else self.outside.given
        return np.flatnonzero((self.y >= 0) & ~sets.contains(self.y))
