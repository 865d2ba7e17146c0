"""Data sent to `desk.js`: the example, its candidates with their keys, neighbours and votes."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice

import numpy as np

from pll.colors import class_colours
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.review.desk import Assignment, CandidateOption
from pll.review.events import Event
from pll.ui.components.component import Payload
from pll.ui.components.gallery import picture_uri
from pll.ui.example import cells_of
from pll.ui.review.keys import ACTIONS, Fact, action_keys, candidate_keys, stand_for_classes
from pll.ui.review.review_tab import ReviewTab
from pll.wording import excerpt, likely, short_by_name, short_names

PICTURE_PIXELS, NEIGHBOUR_PIXELS = 640, 64
"""Pixels of the longer side, at most: of the example, and of a neighbour."""
MOST_BESIDE, BESIDE_LETTERS = 3, 12
"""Candidates whose nearest sure example is shown beside a row of numbers; letters of their names there."""
WITH_NEIGHBOURS = 12
"""Maximum number of candidates that come with neighbours."""
MOST_NAMED_VOTERS = 6
"""Annotators named one by one; of more, each candidate shows how many named it."""
MOST_LETTERS_SHOWN = 20_000
"""Characters of a text."""
MOST_LETTERS_OF_HINT, MOST_COLUMNS_OF_HINT = 3_000, 30
"""Of an example among look-alikes, shown where the pointer rests."""


def payload(tab: ReviewTab) -> Payload:
    """Everything the desk shows now. It never says whether an example is a control."""
    assignment = tab.assignment
    if assignment is None:
        sentences = (tab.problem or tab.message, "Nothing is left to decide.")
        return {"message": " ".join(filter(None, sentences)), "token": "", "row": -1}
    data, past = tab.queue.data, tab.past
    can_undo = bool(tab.desk.history(1))
    n_past = 0 if past is None else len(tab.trail)
    holds: dict[Fact, bool] = {
        "can decide": bool(assignment.token),
        "several open": sum(not one.eliminated for one in assignment.choices) > 1,
        "is present": past is None,
        "is past": past is not None,
        "can undo": can_undo,
        "can go back": can_undo if past is None else tab.back < n_past,
    }
    keys = action_keys(data.class_names)
    votes = _votes_of(data, assignment.row)
    listed = ordered(tab, assignment)
    return {
        "message": _spoken(tab, assignment, listed),
        "token": assignment.token,
        "row": assignment.row,
        "actions": [
            vars(one) | {"key": keys[one.name], "possible": all(holds[need] for need in one.needs)} for one in ACTIONS
        ],
        "id": assignment.example,
        "hero": _hero(tab, assignment.row, listed),
        "choices": _choices(tab, assignment, listed),
        "beyond": None if tab.is_blind else round(max(0.0, 1 - sum(one.weight for one in listed)), 4),  # none of these
        "votes": _by_voter(data, votes),
        "texts": _known_classes(tab),
        "by_place": not stand_for_classes(data.class_names),
        "past": None if past is None else {"place": tab.back, "of": n_past, "words": _format_event(past)},
        "decidable": holds["can decide"],
    }


def _known_classes(tab: ReviewTab) -> list[str]:
    """All classes, those last that people have added in this review."""
    state = tab.review.state
    added = (event.label for event in state.all_events if event.kind == "other" and state.is_live(event))
    return list(dict.fromkeys((*tab.queue.data.class_names, *filter(None, added))))


def _hero(tab: ReviewTab, row: int, listed: list[CandidateOption]) -> Payload:
    """The example itself: its picture, its text, or the columns in which it differs most from its neighbours."""
    data = tab.queue.data
    picture = _picture(data, row, PICTURE_PIXELS)
    text = None if data.texts is None else str(data.texts[row])[:MOST_LETTERS_SHOWN]
    if picture is None and text is None and data.pictures is not None and data.pictures.where is not None:
        text = f"The picture {data.pictures.names[row]} cannot be read."
    if picture is None and text is None and not data.X.size:  # votes alone: there is the id and nothing else
        text = str(data.row_ids[row])
    place = _places(data)
    is_row = picture is None and text is None
    likeliest = listed if tab.is_blind else sorted(listed, key=lambda one: -one.weight)
    nearest = [place[one.label] for one in likeliest if one.label in place][:MOST_BESIDE] if is_row else []
    short = short_names(data.class_names, BESIDE_LETTERS)
    columns = []
    if is_row or ((data.feature_names or data.categories) and data.X.ndim == 2 and data.texts is None):
        neighbours = tab.queue.signals.neighbours
        near = None if neighbours is None else neighbours[row][neighbours[row] >= 0].astype(np.int64)
        columns = tab.queue.similar.columns(row, near, most=10 if is_row else 4, classes=nearest)
    return {
        "picture": picture,
        "text": text,
        "beside": [short[label] for label in nearest],
        "columns": [vars(one) | {"distance": round(one.distance, 2)} for one in columns],
    }


def _choices(tab: ReviewTab, assignment: Assignment, listed: list[CandidateOption]) -> list[Payload]:
    """The candidates in the order of their keys."""
    data, place = tab.queue.data, _places(tab.queue.data)
    colours = class_colours(len(place))
    votes = _votes_of(data, assignment.row)
    n_votes, n_voters = Counter(label for _, label in votes), len({voter for voter, _ in votes})
    keys = candidate_keys([one.label for one in listed], data.class_names)
    is_shown = data.texts is not None or data.pictures is not None or data.images is not None or data.is_image
    result = []
    for rank, one in enumerate(listed):
        label = place.get(one.label)
        near: list[int] = []
        if is_shown and label is not None and rank < WITH_NEIGHBOURS:
            near = tab.queue.similar.of_class(assignment.row, label).tolist()
        result.append(
            {
                "label": one.label,
                "key": keys[rank],
                "colour": colours[label] if label is not None else "transparent",
                "weight": None if tab.is_blind else round(one.weight, 4),
                "out": one.eliminated,
                "picked": one.label == assignment.mine,
                "votes": f"{n_votes[one.label]} of {n_voters} voters" if n_voters > 1 else "",
                "near": [neighbour(data, row) for row in near],
            }
        )
    return result


def ordered(tab: ReviewTab, assignment: Assignment) -> list[CandidateOption]:
    """The candidates in the order of classes where keys stand for these, the model's view is hidden, or it is wanted.

    Else by weight.

    Parameters
    ----------
    tab
        The reviewer's tab, with its choices of display.
    assignment
        What is on the desk.
    """
    data = tab.queue.data
    if not (tab.is_blind or tab.fixed or stand_for_classes(data.class_names)):
        return list(assignment.choices)
    place = _places(data)
    return sorted(assignment.choices, key=lambda one: place.get(one.label, len(place)))


def _places(data: PartialLabelDataset) -> dict[str, int]:
    return {name: j for j, name in enumerate(data.class_names)}


def neighbour(data: PartialLabelDataset, row: int, pixels: int = NEIGHBOUR_PIXELS) -> Payload:
    """A small picture, the beginning of a text, or of a row of numbers.

    Parameters
    ----------
    data
        The data.
    row
        The example.
    pixels
        Of the longer side of its picture, at most.
    """
    picture, text = _picture(data, row, pixels), None
    if picture is None and data.texts is not None:
        text = excerpt(data.texts[row])
    elif picture is None and data.X.ndim == 2:
        text = _row_of(data, row, 6)
    return {"id": str(data.row_ids[row]), "picture": picture, "text": text}


def whole(data: PartialLabelDataset, row: int) -> str:
    """What a small example does not show: the text, or the row, as far as a hint can hold it.

    Parameters
    ----------
    data
        The data.
    row
        The example.
    """
    if data.texts is not None:
        return str(data.texts[row])[:MOST_LETTERS_OF_HINT]
    return _row_of(data, row, MOST_COLUMNS_OF_HINT) if data.X.ndim == 2 and not data.is_image else ""


def _row_of(data: PartialLabelDataset, row: int, most: int) -> str:
    """The first columns of a row, a line each."""
    return "\n".join(f"{name} {cell}" for name, cell in islice(cells_of(data, row), most))


def _picture(data: PartialLabelDataset, row: int, pixels: int) -> str | None:
    try:
        return picture_uri(data, row, pixels)
    except UserError:  # its file is gone; the rest can still be judged
        return None


# ---- votes -----------------------------------------------------------------------------------------------------------


def _votes_of(data: PartialLabelDataset, row: int) -> list[tuple[int, str]]:
    """(annotator, label) of every vote on an example."""
    votes = data.annotations
    if votes is None:
        return []
    start, end = np.searchsorted(votes.rows, [row, row + 1])
    names = [votes.class_names[label] for label in votes.labels[start:end]]
    return list(zip(votes.annotators[start:end].tolist(), names, strict=True))


def _by_voter(data: PartialLabelDataset, votes: list[tuple[int, str]]) -> list[dict[str, str]]:
    """What each voter answered; empty where nobody knows who they were, or they are too many to be named."""
    if data.annotations is None or data.annotations.anonymous:
        return []
    by: dict[int, list[str]] = defaultdict(list)
    for voter, label in votes:
        by[voter].append(label)
    short, names = short_by_name(data.class_names), data.annotations.annotator_names
    answers = [
        {
            "who": f"Voter {names[voter]}" if names[voter].isdigit() else names[voter],  # a number would be a key
            "labels": ", ".join(labels),
            "short": ", ".join(short.get(label, label) for label in labels),
        }
        for voter, labels in by.items()
    ]
    return answers if len(answers) <= MOST_NAMED_VOTERS else []


# ---- words -----------------------------------------------------------------------------------------------------------


def _format_event(event: Event) -> str:
    """What somebody answered on an example.

    Examples
    --------
    >>> from datetime import datetime
    >>> _format_event(Event("r", "t", "run", 1, 0, "a", "Ada", "pick", datetime(2026, 1, 1), label="cat"))
    'You said cat.'
    """
    others = {"eliminate": f"ruled out {event.label}", "none": "said none of these", "unsure": "were unsure"}
    return f"You {others.get(event.kind, f'said {event.label}')}."


def _spoken(tab: ReviewTab, assignment: Assignment, listed: list[CandidateOption]) -> str:
    """What a screen reader says: what was saved, then what is next."""
    open_ = [one for one in listed[:9] if not one.eliminated]
    names = [one.label if tab.is_blind else f"{one.label} {likely(one.weight)}" for one in open_]
    now = f"Now: example {assignment.example}; {', '.join(names)}."
    return " ".join(filter(None, (tab.problem or tab.message, _format_event(tab.past) if tab.past else "", now)))
