"""Data sent to `desk.js`: the example, its candidates with their keys, neighbours and votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pll.annotations.data import Annotations
from pll.colors import class_colours, percent, short_by_name, short_names
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.review.desk import Assignment, CandidateOption
from pll.review.similar import Similar
from pll.review.tables import Event
from pll.ui.components.gallery import picture_uri
from pll.ui.review.keys import action_keys, candidate_keys
from pll.ui.review.review_tab import ReviewTab

Payload = dict[str, Any]

PICTURE = 640
"""Pixels of the example's longer side, at most; of a neighbour's: `NEIGHBOUR`."""
NEIGHBOUR = 64
BESIDE = 3
"""Candidates whose nearest sure example is shown beside a row of numbers."""
BESIDE_LETTERS = 12
"""Letters of their names there."""
WITH_NEIGHBOURS = 12
"""Maximum number of candidates that come with neighbours."""
MOST_CLASSES = 2000
"""Class names offered for another label."""
MOST_VOTERS = 6
"""Annotators named one by one; of more, each candidate shows how many named it."""
LONGEST = 20_000
"""Characters of a text."""


def payload(tab: ReviewTab) -> Payload:
    """Everything the desk shows now. It never says whether an example is a control."""
    assignment = tab.given
    base: Payload = {"ack": tab.ack, "said": _spoken(tab), "problem": tab.problem}
    if assignment is None:
        return base | {"token": "", "row": -1}
    data, similar = tab.manager.data, tab.manager.similar
    voters = votes_of(data, assignment.row)
    return base | {
        "token": assignment.token,
        "row": assignment.row,
        "keys": action_keys(data.class_names),
        "id": assignment.example,
        "hero": hero(tab, assignment, similar),
        "choices": choices(tab, assignment, similar),
        "votes": voters if len(voters) <= MOST_VOTERS else [],
        "classes": list(data.class_names[:MOST_CLASSES]),
        "past": _past(tab),
        "can": {
            "decide": bool(assignment.token),
            "why": "" if assignment.token else "Somebody else has this example, or has answered it.",
            "undo": bool(tab.desk.history(1)),
            "back": tab.place < len(tab.trail) if tab.past is not None else bool(tab.desk.history(1)),
        },
    }


def hero(tab: ReviewTab, assignment: Assignment, similar: Similar) -> Payload:
    """The example itself: its picture, its text, or the columns in which it differs most from its neighbours."""
    data, row = tab.manager.data, assignment.row
    try:
        picture = picture_uri(data, row, PICTURE)
    except UserError:  # its file is gone; the rest can still be judged
        picture = None
    text = None if data.texts is None else str(data.texts[row])[:LONGEST]
    if picture is None and text is None and not data.X.size:  # votes alone: the id is all that is known
        text = str(data.row_ids[row])
    alone = picture is None and text is None
    place = _places(tab)
    nearest_labels = [one.label for one in ordered(tab, assignment) if one.label in place][:BESIDE] if alone else []
    short = short_names(data.class_names, BESIDE_LETTERS)
    near = tab.manager.signals.neighbours
    columns = (
        similar.columns(
            row,
            None if near is None else near[row].astype(np.int64),
            most=10 if alone else 4,
            classes=[place[label] for label in nearest_labels],
        )
        if alone or _has_columns(data)
        else []
    )
    return {
        "picture": picture,
        "text": text,
        "beside": [short[place[label]] for label in nearest_labels],
        "columns": [
            {
                "name": one.name,
                "value": one.value,
                "usual": one.usual,
                "distance": round(one.distance, 2),
                "classes": one.of_classes,
            }
            for one in columns
        ],
    }


def choices(tab: ReviewTab, assignment: Assignment, similar: Similar) -> list[Payload]:
    """The candidates in the order of their keys."""
    data, blind = tab.manager.data, tab.hides
    place = _places(tab)
    colours = class_colours(len(place))
    short = short_by_name(data.class_names)
    listed = ordered(tab, assignment)
    votes = vote_counts(data, assignment.row)
    keys = candidate_keys([one.label for one in listed], data.class_names, fixed=blind or tab.fixed)
    pictureless = data.texts is None and data.pictures is None and data.images is None and not data.is_image
    result = []
    for rank, one in enumerate(listed):
        label = place.get(one.label)
        near = [] if label is None or rank >= WITH_NEIGHBOURS else similar.of_class(assignment.row, label).tolist()
        result.append(
            {
                "label": one.label,
                "short": short.get(one.label, one.label),
                "key": keys[rank],
                "colour": colours[label] if label is not None else "transparent",
                "weight": None if blind else round(one.weight, 4),
                "out": one.eliminated,
                "picked": one.label == assignment.mine,
                "votes": _votes_in_words(votes, one.label),
                "near": [] if pictureless else [neighbour(data, row) for row in near],
            }
        )
    return result


def ordered(tab: ReviewTab, assignment: Assignment) -> list[CandidateOption]:
    """The candidates by weight; in the order of classes where the model's view is hidden or that order is wanted."""
    if not (tab.hides or tab.fixed):
        return list(assignment.choices)
    place = _places(tab)
    return sorted(assignment.choices, key=lambda one: place.get(one.label, len(place)))


def _places(tab: ReviewTab) -> dict[str, int]:
    return {name: j for j, name in enumerate(tab.manager.data.class_names)}


def neighbour(data: PartialLabelDataset, row: int, pixels: int = NEIGHBOUR) -> Payload:
    """A small picture, the beginning of a text, or of a row of numbers."""
    text = None
    try:
        picture = picture_uri(data, row, pixels)
    except UserError:
        picture = None
    if picture is None and data.texts is not None:
        text = str(data.texts[row])[:140]
    elif picture is None and data.X.ndim == 2:
        text = " · ".join(f"{value:.3g}" for value in data.X[row][:6])
    return {"id": str(data.row_ids[row]), "picture": picture, "text": text}


def votes_of(data: PartialLabelDataset, row: int) -> list[dict[str, str]]:
    """Who named which labels of an example; empty without annotators, or where nobody knows who they were."""
    annotations = data.annotations
    if annotations is None or annotations.anonymous:
        return []
    by: dict[int, list[str]] = {}
    for annotator, label in _named(annotations, row):
        by.setdefault(annotator, []).append(annotations.class_names[label])
    short = short_by_name(data.class_names)
    return [
        {
            "who": _name(annotations.annotator_names[who]),
            "labels": ", ".join(labels),
            "short": ", ".join(short.get(label, label) for label in labels),
        }
        for who, labels in by.items()
    ]


def _name(annotator: str) -> str:
    """A bare number would be taken for a key.

    >>> _name("Ann"), _name("1")
    ('Ann', 'Annotator 1')
    """
    return f"Annotator {annotator}" if annotator.isdigit() else annotator


def vote_counts(data: PartialLabelDataset, row: int) -> tuple[dict[str, int], int]:
    """How many annotators named each label of an example, and how many there were."""
    annotations = data.annotations
    if annotations is None:
        return {}, 0
    named = _named(annotations, row)
    counts: dict[str, int] = {}
    for _, label in named:
        counts[annotations.class_names[label]] = counts.get(annotations.class_names[label], 0) + 1
    return counts, len({annotator for annotator, _ in named})


def _named(annotations: Annotations, row: int) -> list[tuple[int, int]]:
    start, end = np.searchsorted(annotations.rows, [row, row + 1])
    return list(zip(annotations.annotators[start:end].tolist(), annotations.labels[start:end].tolist(), strict=True))


def _votes_in_words(votes: tuple[dict[str, int], int], label: str) -> str:
    counts, people = votes
    return f"{counts.get(label, 0)} of {people} annotators" if people > 1 else ""


def _has_columns(data: PartialLabelDataset) -> bool:
    return bool(data.feature_names or data.categories) and data.X.ndim == 2 and data.texts is None


def _past(tab: ReviewTab) -> Payload | None:
    if tab.past is None:
        return None
    return {"place": tab.place, "of": len(tab.trail), "words": format_event(tab.past)}


def format_event(event: Event) -> str:
    """What somebody said of an example.

    Examples
    --------
    >>> from datetime import datetime
    >>> format_event(Event("r", "t", "run", 1, 0, "a", "Ada", "pick", datetime(2026, 1, 1), label="cat"))
    'You said cat.'
    """
    match event.kind:
        case "eliminate":
            return f"You ruled out {event.label}."
        case "none":
            return "You said none of these."
        case "unsure":
            return "You were unsure."
        case _:
            return f"You said {event.label}."


def _spoken(tab: ReviewTab) -> str:
    """What a screen reader says: what was saved, then what is next."""
    assignment, sentences = tab.given, [tab.problem or tab.said]
    if assignment is None:
        sentences.append("Nothing is left to decide.")
    else:
        if tab.past is not None:
            sentences.append(format_event(tab.past))
        names = [
            one.label if tab.hides else f"{one.label} {percent(one.weight, 0)}"
            for one in ordered(tab, assignment)[:9]
            if not one.eliminated
        ]
        sentences.append(f"Now: example {assignment.example}; {', '.join(names)}.")
    return " ".join(part for part in sentences if part)
