"""What is stored of a review, as values: events, claims, label versions; and the hash chain that binds the events.

Nothing here needs a database: `pll.review.schema` has the tables, `pll.review.store` reads and writes these values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

# ---- the hash chain: each entry of a list carries the hash of itself and of the entry before. A changed, removed or
# inserted entry is detected, and located, unless all later hashes are computed again.

CHAIN_START = "0" * 64
"""Hash before the first entry."""


def entry_hash(before: str, content: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of the hash before and of the content as JSON with sorted keys.

    Parameters
    ----------
    before
        Hash of the entry before.
    content
        Of the entry.

    Examples
    --------
    >>> entry_hash(CHAIN_START, {"id": "a"})[:8]
    'e609d782'
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def chained(entries: Iterable[Mapping[str, Any]], start: str = CHAIN_START) -> list[dict[str, Any]]:
    """The entries with a field `hash` each.

    Parameters
    ----------
    entries
        In their order.
    start
        What stands for the hash before the first one.
    """
    result: list[dict[str, Any]] = []
    before = start
    for entry in entries:
        before = entry_hash(before, entry)
        result.append({**entry, "hash": before})
    return result


def broken_links(entries: Iterable[Mapping[str, Any]], start: str = CHAIN_START) -> list[int]:
    """Positions of entries whose hash does not fit them and the entry before: altered, or something before is gone.

    Entries may lack a hash, where somebody repaired the database by hand; the next one that has it binds them.

    Parameters
    ----------
    entries
        In their order, each with its `hash`.
    start
        As for `chained`.
    """
    before, broken = start, []
    for position, entry in enumerate(entries):
        made = entry_hash(before, {name: value for name, value in entry.items() if name != "hash"})
        stated = entry.get("hash")
        before = made if stated is None else str(stated)
        if before != made:
            broken.append(position)
    return broken


# ---- the rows as values ----------------------------------------------------------------------------------------------


NOT_IN_HASH = ("review", "token", "row", "example", "id", "hash")
"""Fields of an event that say where it is stored."""


@dataclass(frozen=True)
class Event:
    """Something a reviewer did. What each kind means: `pll.review.state`.

    Attributes
    ----------
    id
        Grows in the order in which events were committed; 0 before it is stored.
    token
        Unique within the review; an event of the same token is not stored twice.
    run, version
        The model whose label weights were shown.
    row, example
        Which example, by its place among the training examples and by its id.
    reviewer, verified
        Who, and whether the name was verified.
    kind
        Of `pll.review.state.EVENT_KINDS`.
    label
        What was picked, eliminated, accepted or settled on; a class name.
    before, after
        The label of the example before and after, the model's where no person had decided.
    seconds
        Time spent.
    weights
        (label, weight) of the candidates, heaviest first, the first 50.
    queue, position
        The order it came up in, and its place there; "" where it was sought out.
    control
        Whether it was assigned as a random control.
    blind
        Whether the model's view was hidden.
    batch
        Common to events of one stroke.
    undoes
        The event that this one undoes.
    at
        When, UTC.
    hash
        Of this event and all before (`broken_links`); None where it is not stored.
    """

    review: str
    token: str
    run: str
    version: int
    row: int
    example: str
    reviewer: str
    kind: str
    at: datetime
    verified: bool = False
    label: str | None = None
    before: str | None = None
    after: str | None = None
    seconds: float | None = None
    weights: tuple[tuple[str, float], ...] = ()
    queue: str = ""
    position: int | None = None
    control: bool = False
    blind: bool = False
    batch: str | None = None
    undoes: int | None = None
    note: str = ""
    id: int = 0
    hash: str | None = field(default=None, compare=False)

    def content(self) -> dict[str, Any]:
        """Fields in the audit trail that the hash covers, as JSON values: there `id` is the example's."""
        result = {name: value for name, value in vars(self).items() if name not in NOT_IN_HASH}
        return result | {
            "at": self.at.astimezone(UTC).isoformat(),
            "id": self.example,
            "weights": [list(pair) for pair in self.weights],
        }


@dataclass(frozen=True)
class Claim:
    """An example assigned to a reviewer (or answered by them).

    Attributes
    ----------
    slot
        0 … reviewers per example − 1.
    token
        That of the decision which this assignment will bring.
    expires_at
        From then on others may have it; None once answered.
    """

    row: int
    slot: int
    reviewer: str
    token: str
    answered: bool
    expires_at: datetime | None
    since: datetime
    queue: str = ""
    position: int | None = None
    control: bool = False

    def is_active(self, now: datetime) -> bool:
        """Whether it is assigned: not answered, and its reviewer was active lately."""
        return self.expires_at is not None and self.expires_at > now


GOALS = ("look", "certify")
"""Goals of a review: look at labels, or certify all labels."""


@dataclass(frozen=True)
class ReviewRecord:
    """A review, as the table `review` keeps it.

    Attributes
    ----------
    examples
        n.
    seed
        Of the choice which examples get several reviewers.
    overlap
        Reviewers per example, on a share `overlap_share` of the examples; one on the others.
    goal
        One of `GOALS`; None where not chosen.
    """

    id: str
    examples: int
    seed: int
    overlap: int
    overlap_share: float
    opened_at: datetime
    goal: str | None = None


@dataclass(frozen=True)
class LabelVersion:
    """Labels of one model that came under review.

    Attributes
    ----------
    number
        1, 2, …
    fingerprint
        Of labels and confidences, as they were when the review came to them.
    how
        Why these labels came under review: the review began ("first"), a model was retrained ("taught"), or the run
        continued ("run went on").
    opened_by, verified
        By whom, None if by no person; and whether that name was verified.
    """

    number: int
    run: str
    fingerprint: str
    opened_at: datetime
    how: str = "first"
    opened_by: str | None = None
    verified: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Which labels: the run, and their fingerprint."""
        return self.run, self.fingerprint
