"""Candidate sets from annotations: which of the labels people gave become candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its parts load when they are used

from pll.annotations.data import Annotations
from pll.annotations.voters import fit_voters
from pll.candidates import CandidateSets
from pll.errors import UserError, unknown
from pll.weights import Flags, Ints, Weights, checked_prior

if TYPE_CHECKING:
    import pandas as pd

SET_RULES: dict[str, tuple[float | None, str]] = {
    "union": (None, "named by anybody"),
    "votes": (2.0, "named by at least {:g}"),
    "reliability": (0.05, "probability at least {:g}"),
    "voters": (None, "named by anybody, or likely by voter models"),
}
"""The rules by name: the value that each takes where none is given, and what it is in words."""

MOST_FILLED = 50_000_000
"""Maximum number of entries in the sets of all classes that examples without annotations get."""
SIZES_SHOWN = 5
"""Sets of this many candidates or more share a column of `rule_table`."""


@dataclass(frozen=True)
class SetRule:
    """Which labels become candidates.

    Parameters
    ----------
    how
        `"union"` (every label somebody named), `"votes"` (every label that at least `value` annotators named) or
        `"reliability"` (every label whose probability, given how far each annotator can be relied on, is at least
        `value`) or `"voters"` (the union here; with features at hand, voter models make a prior of it and add likely
        labels that nobody named: `pll.methods.aggregation`).
    value
        As `how` says; by default 2 votes, probability 0.05.

    Raises
    ------
    UserError
        a rule that does not exist, or a value it cannot have.

    Examples
    --------
    >>> SetRule.parse("votes:3"), str(SetRule("union")), SetRule("reliability").words
    (SetRule(how='votes', value=3.0), 'union', 'probability at least 0.05')
    """

    how: str = "union"
    value: float | None = None

    def __post_init__(self) -> None:
        if self.how not in SET_RULES:
            raise unknown("rule", self.how, SET_RULES)
        if self.value is None:
            object.__setattr__(self, "value", SET_RULES[self.how][0])
        elif SET_RULES[self.how][0] is None:
            raise UserError(f"The rule {self.how} has no value.")
        if self.how == "votes" and not (self.least >= 1 and self.least == int(self.least)):
            raise UserError(f"At least {self.value} votes: this must be a whole number, 1 or more.")
        if self.how == "reliability" and not 0 < self.least <= 1:
            raise UserError(f"The probability a candidate must have is {self.value}; it must lie between 0 and 1.")

    @property
    def least(self) -> float:
        """The value, 0 for the union."""
        return self.value or 0.0

    @classmethod
    def parse(cls, text: str) -> SetRule:
        """From `union`, `votes:2`, `reliability:0.05`; the number may be left out.

        Raises
        ------
        UserError
            Not of this form.
        """
        how, _, value = text.partition(":")
        try:
            return cls(how.strip(), float(value) if value else None)
        except UserError:
            raise
        except ValueError as error:
            raise UserError(f"{text!r}: {value!r} is not a number; write for example votes:2.") from error

    def __str__(self) -> str:
        return self.how if self.value is None else f"{self.how}:{self.value:g}"

    @property
    def words(self) -> str:
        """The rule in words, for a page."""
        return SET_RULES[self.how][1].format(self.value)


@dataclass(frozen=True, eq=False)
class Resolved:
    """Candidate sets that a rule made.

    Attributes
    ----------
    candidates
        Of the annotated rows, in order.
    rows
        (k,) which rows these are: the others nobody annotated.
    unannotated
        How many others there are.
    fallback
        (j,) rows whose set the rule left empty, and whose most voted label (or labels, where several share the lead)
        stands in.
    """

    candidates: CandidateSets
    rows: Ints
    unannotated: int
    fallback: Ints

    @property
    def can_be_filled(self) -> bool:
        """Whether sets of every class for all examples without an annotation fit into memory."""
        return self.unannotated * self.candidates.n_classes <= MOST_FILLED

    def filled(self) -> CandidateSets:
        """The sets of all rows: every class where nobody annotated.

        Examples
        --------
        >>> some = Annotations.from_votes([[0], [-1], [1]], ["a", "b"])
        >>> [row.tolist() for row in resolve(some, SetRule("union")).filled()]
        [[0], [0, 1], [1]]
        """
        made, c = self.candidates, self.candidates.n_classes
        sizes = np.full(len(self.rows) + self.unannotated, c, dtype=np.int64)
        sizes[self.rows] = made.sizes
        silent = np.ones(len(sizes), dtype=np.bool_)
        silent[self.rows] = False
        indices = np.empty(int(sizes.sum()), dtype=np.int32)
        at_silent = np.repeat(silent, sizes)
        indices[at_silent] = np.tile(np.arange(c, dtype=np.int32), self.unannotated)
        indices[~at_silent] = made.indices
        return CandidateSets(np.concatenate([[0], np.cumsum(sizes)]), indices, c, made.class_names)

    def notes(self) -> tuple[str, ...]:
        """Messages for the user about rows left out and rows without a label that meets the rule."""
        messages = []
        if self.unannotated and not self.can_be_filled:
            messages.append(
                f"{self.unannotated:,} examples have no annotation; with {self.candidates.n_classes:,} classes that is "
                "too many to predict, and they are left out."
            )
        if len(self.fallback):
            messages.append(
                f"In {len(self.fallback):,} examples no label meets the rule; the most voted one stands in "
                "(all of them where several share the lead)."
            )
        return tuple(messages)


def counted_prior(annotations: Annotations, sets: CandidateSets) -> Weights | None:
    """Return how often nobody-knows-who named each candidate, (nnz,) float32: 2 against 1 stays 2 against 1.

    None where it is known who did, or an answer names several labels.

    Parameters
    ----------
    annotations
        On the examples of the sets.
    sets
        Each with a label that somebody named; or with all, where nobody answered.

    Examples
    --------
    >>> votes = Annotations.from_counts([[2, 1], [0, 0]], ["a", "b"])
    >>> [round(float(share), 2) for share in counted_prior(votes, CandidateSets.from_lists([[0, 1], [0, 1]], 2))]
    [0.67, 0.33, 0.5, 0.5]
    """
    if not annotations.anonymous or len(annotations.answer_starts) < len(annotations.rows):
        return None
    counts = annotations.votes.tocsr()
    weights = np.asarray(counts[sets.rows, sets.indices], dtype=np.float64).ravel()
    weights[np.diff(counts.indptr)[sets.rows] == 0] = 1.0
    return checked_prior(weights, sets)


def resolve(annotations: Annotations, rule: SetRule) -> Resolved:
    """The candidate sets that a rule makes of annotations.

    Parameters
    ----------
    annotations
        The labels that annotators gave.
    rule
        How sets are made of them.

    Raises
    ------
    UserError
        Nobody annotated anything, or reliability cannot be estimated (the reason is given).

    Examples
    --------
    >>> annotations = Annotations.from_votes([[0, 0, 1], [1, 2, 3]], ["a", "b", "c", "d"])
    >>> [resolve(annotations, rule).candidates.names(0) for rule in (SetRule("union"), SetRule("votes", 2))]
    [['a', 'b'], ['a']]
    """
    votes = annotations.votes
    if rule.how == "reliability":
        if not annotations.anonymous and annotations.n_answers and not (annotations.answers_per_row >= 2).any():
            raise UserError(
                "No row has the answers of two annotators; how far each can be relied on shows only in comparison."
            )
        entries = votes.tocoo()
        is_selected = fit_voters(annotations, kind="one-coin").product[entries.row, entries.col] >= rule.least
    else:
        is_selected = votes.data >= rule.least
    return _resolved(annotations, votes, is_selected)


def rule_table(annotations: Annotations, y: Ints | None = None) -> pd.DataFrame:
    """Number of rows by number of candidates, for the union, 2 and 3 votes, and reliability where they mean something.

    Parameters
    ----------
    annotations
        The labels that annotators gave.
    y
        (n_rows,) true labels, −1 where unknown.

    Returns
    -------
    pd.DataFrame
        A row a rule: `rule` (as `SetRule.parse` reads it), `meaning`, `rows` (with a set), `fallback`,
        `mean_candidates`, `1` … `4`, `5+` (rows with so many candidates) and, with `y`, `truth_inside` (a share).

    Raises
    ------
    UserError
        Nobody annotated anything.
    """
    import pandas as pd  # half a second that other uses of annotations need not wait for

    table = []
    for rule in _usual(annotations):
        made = resolve(annotations, rule)
        sizes = np.bincount(np.minimum(made.candidates.sizes, SIZES_SHOWN), minlength=SIZES_SHOWN + 1)
        row = {
            "rule": str(rule),
            "meaning": rule.words,
            "rows": len(made.rows),
            "fallback": len(made.fallback),
            "mean_candidates": float(made.candidates.sizes.mean()),
        } | {_column(size): int(sizes[size]) for size in range(1, SIZES_SHOWN + 1)}
        if y is not None:
            truth = np.asarray(y)[made.rows]
            has_truth = truth >= 0
            row["truth_inside"] = (
                float(made.candidates.contains(truth)[has_truth].mean()) if has_truth.any() else np.nan
            )
        table.append(row)
    return pd.DataFrame(table)


def _column(size: int) -> str:
    return f"{size}+" if size == SIZES_SHOWN else str(size)


def _usual(annotations: Annotations) -> list[SetRule]:
    most = int(annotations.votes.data.max(initial=0))
    rules = [SetRule("union")] + [SetRule("votes", k) for k in (2, 3) if k <= most]
    if not annotations.anonymous and annotations.n_classes > 1 and (annotations.answers_per_row >= 2).any():
        rules.append(SetRule("reliability"))
    return rules


def _resolved(annotations: Annotations, votes: scipy.sparse.csr_array, is_selected: Flags) -> Resolved:
    """The sets of the kept entries of `votes`; where none of a row is kept, its entries with the most votes."""
    if not votes.nnz:
        raise UserError("Nobody annotated anything; there is nothing to make candidate sets of.")
    row_of = np.repeat(np.arange(annotations.n_rows), np.diff(votes.indptr))
    n_selected = np.bincount(row_of[is_selected], minlength=annotations.n_rows)
    empty = (n_selected == 0) & (annotations.answers_per_row > 0)
    most = np.zeros(annotations.n_rows, dtype=votes.data.dtype)
    np.maximum.at(most, row_of, votes.data)
    is_selected = is_selected | (empty[row_of] & (votes.data == most[row_of]))
    rows = np.flatnonzero(annotations.answers_per_row)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row_of[is_selected], minlength=annotations.n_rows)[rows])])
    sets = CandidateSets(indptr, votes.indices[is_selected], annotations.n_classes, annotations.class_names)
    return Resolved(sets, rows, annotations.n_rows - len(rows), np.flatnonzero(empty))
