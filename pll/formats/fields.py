"""What an annotation tool shows of an example, and what else it carries: from its fields to a dataset, and back.

Every tool keeps these in a container of its own (`data`, `fields`, the line itself). What tools have no place for
(features, words, truth, split) stands in that container under the names of `OWN`, so that a file of ours comes back
whole; everything else in it is carried along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats.base import ReadOptions
from pll.formats.checks import as_features
from pll.formats.guessing import SAMPLE_ROWS, guesses, roles_of
from pll.formats.losses import ALL_BUT_PIXELS, class_names, is_union, losses
from pll.formats.results import RESULT_COLUMNS, results_among
from pll.formats.roles import marked, shown_as
from pll.formats.words import listing, shorten
from pll.images import Pictures
from pll.io import Column as ObjectColumn
from pll.io import as_column

OWN = ("id", "text", "image", "candidates", "features", "categories", "true_label", "split")
"""Names in a tool's container that have a meaning of their own."""


_LARGEST = float(np.finfo(np.float32).max)


@dataclass
class Payload:
    """What the fields of all examples hold, but the labels; as `PartialLabelDataset` has it.

    Attributes:
        truths: (n,) the values of the field `true_label`, or none.
    """

    X: npt.NDArray[np.float32]
    feature_names: tuple[str, ...] = ()
    kind: str = "array"
    texts: ObjectColumn | None = None
    pictures: Pictures | None = None
    categories: dict[str, ObjectColumn] = field(default_factory=dict)
    extras: dict[str, ObjectColumn] = field(default_factory=dict)
    is_test: npt.NDArray[np.bool_] | None = None
    truths: Sequence[Any] = ()
    notes: list[str] = field(default_factory=list)


def read_fields(fields: Mapping[str, Sequence[Any]], rows: Sequence[int], options: ReadOptions) -> Payload:
    """What there is to read, to see, to learn from and to carry along.

    Args:
        fields: by name, (n,) values as JSON has them.
        rows: (n,) the number a message gives to each example.

    Raises:
        UserError: features that are not the same numbers everywhere, a split that is none; the row is named.
    """
    results = results_among(list(fields))
    others = {name: values for name, values in fields.items() if name not in (*OWN, *results)}
    others |= {name: fields[name] for name in ("text", "image") if name in fields}
    payload = Payload(np.empty((len(rows), 0), dtype=np.float32), truths=fields.get("true_label", ()))
    payload.is_test = _split(fields["split"], rows) if "split" in fields else None
    roles, payload.notes = _roles(others, options, measured="features" not in fields)
    for name, role in roles.items():
        values = others[name]
        if role == "text":
            payload.texts = as_column([_text(value) or "" for value in values])
        elif role == "image":
            payload.pictures = Pictures(as_column([_text(value) or "" for value in values]))
        elif role == "category":
            payload.categories[shown_as(name)] = as_column([_text(value) for value in values])
        elif role == "keep":
            payload.extras[shown_as(name)] = as_column(values)
    words = [_words(row, rows[at]) for at, row in enumerate(fields.get("categories", ()))]
    for name in dict.fromkeys(name for row in words for name in row):
        payload.categories[name] = as_column([_text(row.get(name)) for row in words])
    numbers = {name: others[name] for name, role in roles.items() if role == "feature"}
    if "features" in fields:
        _read_features(payload, fields["features"], rows)
    elif numbers:
        _read_features(
            payload, [dict(zip(numbers, row, strict=True)) for row in zip(*numbers.values(), strict=True)], rows
        )
    return payload


def _roles(
    fields: Mapping[str, Sequence[Any]], options: ReadOptions, *, measured: bool
) -> tuple[dict[str, str], list[str]]:
    """Of each field: text, image, feature, category, keep or ignore, and what was guessed.

    Args:
        measured: numbers may be features, where there is nothing to read or to see.
    """
    told = {name: role for name, role in options.columns.items() if name in fields}
    unknown = [name for name, role in options.columns.items() if name not in fields and role != "candidates"]
    if unknown:
        raise UserError(f"There is no field {shorten(unknown[0])}; there are {listing(list(fields))}.")
    sample = [[_text(value) for value in values[:SAMPLE_ROWS]] for values in fields.values()]
    columns = roles_of(list(fields), sample, told)
    roles = {
        column.name: column.role if column.role in ("text", "image") or column.name in told else "keep"
        for column in columns
    }
    if measured and not {"text", "image"} & set(roles.values()):
        roles |= {name: "feature" for name, role in roles.items() if role == "keep" and _is_measured(fields[name])}
    return roles, guesses([column for column in columns if column.role in ("text", "image")])


def _read_features(payload: Payload, given: Sequence[Any], rows: Sequence[int]) -> None:
    """`{name: number}` or a list of numbers for every example, null where one is missing."""
    first = given[0]
    names = list(first) if isinstance(first, dict) else []
    width = len(first) if isinstance(first, dict | list) else -1
    X = np.full((len(given), max(width, 0)), np.nan)
    for at, row in enumerate(given):
        values = [row.get(name) for name in names] if isinstance(row, dict) and names else row
        same = isinstance(row, type(first)) and isinstance(values, list) and len(row) == width
        if not same or (names and set(row) != set(names)):
            raise UserError(
                f"Row {rows[at]}: its features are not those of row {rows[0]}; give every example the same, as "
                '{"name": number} or [number, …], null where one is missing.'
            )
        for k, value in enumerate(values):
            if value is not None and not (_is_number(value) and abs(value) <= _LARGEST):
                where = names[k] if names else k
                raise UserError(
                    f"Row {rows[at]}: the feature {where} is {shorten(str(value))}; features must be finite numbers."
                )
            X[at, k] = np.nan if value is None else value
    payload.X = as_features(X, "features", allow_missing=True)
    payload.feature_names = tuple(map(str, names))
    payload.kind = "table" if names or np.isnan(X).any() else "array"


def _words(given: Any, row: int) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise UserError(f'Row {row}: categories is {shorten(str(given))}; write an object {{"column": "word"}}.')
    return given


def _split(marks: Sequence[Any], rows: Sequence[int]) -> npt.NDArray[np.bool_]:
    for at, mark in enumerate(marks):
        if mark not in ("train", "test"):
            raise UserError(f"Row {rows[at]}: split is {shorten(str(mark))}; write train or test.")
    return np.array([mark == "test" for mark in marks], dtype=np.bool_)


# ---- back ------------------------------------------------------------------------------------------------------------


def fields_of(dataset: PartialLabelDataset) -> Iterator[dict[str, Any]]:
    """The container of each example: what `Examples` reads back."""
    names = class_names(dataset)
    flat = dataset.X.reshape(len(dataset), -1)
    extras = {_safe(name): values for name, values in dataset.extras.items()}
    for i in range(len(dataset)):
        fields: dict[str, Any] = {}
        if dataset.texts is not None:
            fields["text"] = dataset.texts[i]
        if dataset.pictures is not None:
            fields["image"] = dataset.pictures.names[i]
        if flat.shape[1]:
            row = [None if np.isnan(x) else x for x in flat[i].astype(np.float64).tolist()]
            fields["features"] = dict(zip(dataset.feature_names, row, strict=True)) if dataset.feature_names else row
        if dataset.categories:
            fields["categories"] = {name: values[i] for name, values in dataset.categories.items()}
        if dataset.y is not None:
            fields["true_label"] = None if dataset.y[i] == UNKNOWN else names[dataset.y[i]]
        if dataset.is_test is not None:
            fields["split"] = "test" if dataset.is_test[i] else "train"
        fields |= {name: values[i] for name, values in extras.items()}
        yield fields


def states_sets(dataset: PartialLabelDataset) -> bool:
    """Whether the candidate sets have to be written, since they are not just what the annotators named."""
    if dataset.candidates is None or dataset.annotations is None:
        return dataset.candidates is not None
    named = set(dataset.annotations.labels.tolist())  # who is annotated by nobody may have any label that is known
    return not is_union(dataset) or not set(dataset.candidates.indices.tolist()) <= named


def example_losses(dataset: PartialLabelDataset) -> list[str]:
    """What a tool's file loses, whatever the tool."""
    lost = losses(dataset, ALL_BUT_PIXELS)
    twice = sorted({name for name in dataset.feature_names if dataset.feature_names.count(name) > 1})
    if twice:
        lost.append(f"That several features have one name: {listing(twice)}.")
    said = dataset.annotations
    if said is not None and said.anonymous:
        lost.append("That the annotators are anonymous: each vote becomes a person.")
    if said is not None and len(set(said.annotators.tolist())) < said.n_annotators:
        lost.append("Annotators who said nothing.")
    misread = _misread(dataset)
    if misread:
        lost.append(f"That these fields are only carried along: {listing(misread)}.")
    return lost


def answers_of(dataset: PartialLabelDataset) -> list[list[tuple[str, list[str]]]]:
    """(annotator, labels) of everyone who answered, by example."""
    said = dataset.annotations
    found: list[list[tuple[str, list[str]]]] = [[] for _ in range(len(dataset))]
    if said is None:
        return found
    names = class_names(dataset)
    ends = [*said.answer_starts[1:].tolist(), len(said.rows)]
    for start, end in zip(said.answer_starts.tolist(), ends, strict=True):
        who = said.annotator_names[said.annotators[start]]
        found[said.rows[start]].append((who, [names[k] for k in said.labels[start:end].tolist()]))
    return found


def _misread(dataset: PartialLabelDataset) -> list[str]:
    """What is carried along and would be taken for texts or pictures."""
    few = dataset.take(slice(0, SAMPLE_ROWS))
    names = [_safe(name) for name in few.extras]
    sample = [[_text(value) for value in values] for values in few.extras.values()]
    own = (["text"] if few.texts is not None else []) + (["image"] if few.pictures is not None else [])
    found = roles_of([*own, *names], [*([["a"]] * len(own)), *sample])
    payload = [column.name for column in found[len(own) :] if column.role in ("text", "image")]
    if own or payload or dataset.X.shape[1]:
        return payload
    return [name for name, values in dataset.extras.items() if _is_measured(values.tolist())]


def _safe(name: str) -> str:
    """A field that cannot be taken for one of our own."""
    reserved = (
        name in (*OWN, *RESULT_COLUMNS) or name.casefold() in ("text", "image") or name != name.strip() or not name
    )
    return marked("keep", name) if reserved or shown_as(name) != name else name


def _is_measured(values: Sequence[Any]) -> bool:
    """Whether all are numbers, but for those that are missing."""
    return all(value is None or _is_number(value) for value in values) and any(value is not None for value in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)
