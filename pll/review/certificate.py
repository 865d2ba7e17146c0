"""The certificate of all labels of a table: "at most ε of these n labels are wrong, with 95 % confidence".

Labels and their order (the surest first, ties shuffled) are frozen. Of the n rows K are drawn at random: the controls.
People say of each whether its label is right. Everything ahead of the (c+1)-th wrong control is accepted; people look
at the rest, and wrong controls are corrected.

With A = ⌊εn⌋ labels allowed to be wrong, c is the largest number with

    Pr(Hypergeometric(n, A + 1 + c, K) ≤ c) ≤ α.

Then more than A of the n labels stay wrong with probability at most α, whatever the labels, their order and how often
they are wrong. A breach needs more than A + c wrong labels ahead of the (c+1)-th wrong control, hence at most c
controls among the *first* A + 1 + c wrong labels in the order. Which these are does not depend on the draw, so the
number of controls among them is hypergeometric: choosing the cut by the same answers costs nothing. docs/certificate.md
has the proof in full, and measurements.

Conditions: labels and confidences are fixed before the draw; there is one draw, whose seed was not chosen by
its result; ties are broken by another random stream than the draw; "unsure" counts as wrong; reviewers are right.

A certificate is one JSON object that holds all that its claims rest on: the labels and confidences with their
fingerprint, the plan and the seed of the draw with their hash, every decision in a hash chain that begins with that
hash, and the result of the rule. `verify_document` computes all of it again from labels, plan and decisions, its
sentences too, and compares: what a certificate holds besides is refused, but for names and dates, which prove nothing
and stand apart. What no computation can show (`TRUST`) is in its first sentences. Reviews, files and the count of
draws: `pll.review.certification`.
"""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import hypergeom

from pll import __version__
from pll.errors import UserError
from pll.io import check_unique_ids, from_json
from pll.review.events import broken_links, chained
from pll.weights import Flags, Floats, Ints
from pll.wording import excerpt, percent

Ids = Sequence[str] | npt.NDArray[np.str_]

CERTIFICATE_LEVEL = 0.95
ROUNDING = 1e-6
"""By how much the risk of a plan may come out larger with another version of SciPy."""

UNANSWERED, WRONG, RIGHT, UNSURE, REFUSED = -1, 0, 1, 2, 3
"""Answers to rows: whether the label is right; people could not tell; none of the candidates is right. The last two
count as wrong."""

Answers = npt.NDArray[np.int8]

CERTIFICATE_FORMAT = "candid-certificate"
CERTIFICATE_VERSION = 8
VERSIONS_READ = (7, CERTIFICATE_VERSION)
"""Those that `verify_document` knows. Version 7 differs in two sentences, and its bound could exceed n."""
INFORMATION = "not_part_of_the_proof"
"""Key of entries that cannot be verified: names and dates."""
RULE = (
    "Labels stand by confidence, ties in an order of their own random stream, not in that of the file. Everything "
    "ahead of the (c+1)-th wrong control is accepted; people look at the rest. Wrong controls are corrected; 'unsure' "
    "counts as wrong."
)
TRUST = (
    "That reviewers answered truly, and did not follow the model's label, which Candid hides.",
    "That labels, confidences and draw were fixed before the first answer: they were if the hash of the draw, which "
    "binds them, was published before it.",
    "That no other draw was made of these labels and dropped for its result; `draw_number` says how many are known.",
)
"""What a certificate takes on trust; all else in it is computed again by `verify_document`."""
ON_TRUST = (
    "This takes on trust that reviewers answered truly, and that the labels and their one draw were fixed before the "
    "first answer."
)
"""The same in its statement."""
SEED_GIVEN = "The seed of the draw was given by hand; that no other seed was tried before is not shown."
UNCOUNTED_DRAWS = (
    "How many draws of these labels there were is not known: draws.jsonl, in the home of the machine where this one "
    "was made, is missing or does not have it."
)


# ---- the plan --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """How many controls to draw, and how many of them may be wrong among the accepted labels.

    Attributes
    ----------
    n
        Labels.
    error
        ε, the share of them that may be wrong, in (0, 1).
    level
        1 − α.
    controls
        K.
    tolerated
        c, wrong controls that the accepted labels may hold.
    """

    n: int
    error: float
    level: float
    controls: int
    tolerated: int

    @property
    def allowed(self) -> int:
        """A = ⌊εn⌋: labels that may stay wrong."""
        return _allowed(self.n, self.error)

    @property
    def attained(self) -> float:
        """The largest probability that more than A labels stay wrong, over all datasets and orders; at most α."""
        return _risk(self.n, self.allowed, self.controls, self.tolerated)


@lru_cache(maxsize=256)
def plan_controls(n: int, error: float, level: float = CERTIFICATE_LEVEL, controls: int | None = None) -> Plan:
    """Choose (c, K) from n, ε and α alone: no label, confidence or answer is looked at.

    For each c the smallest K that is valid; of these pairs the one with the largest (1 − K/n) · √((c + ½) n / K), which
    weighs the labels accepted unseen against the precision of the cut.

    Parameters
    ----------
    n
        Number of labels, at least 1.
    error
        ε in (0, 1).
    level
        1 − α in (0, 1).
    controls
        K, where somebody chose it; c is then the largest valid.

    Raises
    ------
    UserError
        Numbers out of range, or too few controls to accept anything.

    Examples
    --------
    >>> plan = plan_controls(2299, 0.05)
    >>> plan.tolerated, plan.controls, round(plan.attained, 4)
    (17, 426, 0.0499)
    """
    _check_target(n, error, level)
    allowed, alpha = _allowed(n, error), 1 - level
    if controls is None:
        return Plan(n, error, level, *_best_pair(n, allowed, alpha))
    _check_number(n, controls)
    # The risk grows with c (docs/certificate.md).
    tolerable = range(min(controls, n - allowed - 1) + 1)
    tolerated = bisect_left(tolerable, True, key=lambda c: _risk(n, allowed, controls, c) > alpha) - 1
    if tolerated < 0:
        least = _fewest_controls(n, allowed, 0, alpha, (1, n))
        raise UserError(
            f"With {controls:,} of {n:,} labels as controls, an error of {error:g} cannot be shown even if all of "
            f"them are right. Draw at least {least:,}, or allow a larger error."
        )
    return Plan(n, error, level, controls, tolerated)


def _check_target(n: int, error: float, level: float) -> None:
    if not 0 < level < 1:
        raise UserError(f"The level of the certificate must lie between 0 and 1 (0.95, say), not {level}.")
    if not 0 < error < 1:
        raise UserError(
            f"The error to be excluded must lie between 0 and 1 (0.02, say), not {error}; "
            "that no label at all is wrong can only be shown by checking them all."
        )
    if n < 1:
        raise UserError("There are no labels to certify.")


def _check_number(n: int, controls: int) -> None:
    if not 1 <= controls <= n:
        raise UserError(f"Draw 1 to {n:,} controls from {n:,} labels, not {controls:,}.")


def _best_pair(n: int, allowed: int, alpha: float) -> tuple[int, int]:
    """Return (K, c)."""
    worth: dict[int, tuple[float, int]] = {}

    def value(c: int) -> float:
        if c not in worth:
            least = max((k for other, (_, k) in worth.items() if other < c), default=1)
            most_of = min((k for other, (_, k) in worth.items() if other > c), default=n)
            k = _fewest_controls(n, allowed, c, alpha, (least, most_of))
            worth[c] = ((1 - k / n) * math.sqrt((c + 0.5) * n / k), k)
        return worth[c][0]

    most = n - allowed - 1  # so that A + 1 + c ≤ n
    last, c = -1.0, 0
    while c <= most and (result := value(c)) >= 0.97 * last:  # the value rises and falls once, but for small steps
        last, c = max(last, result), c + max(1, c // 8)
    best = max(worth, key=lambda c: worth[c][0])
    for c in range(max(0, best - best // 6 - 2), min(most, best + best // 6 + 2) + 1, max(1, best // 180)):
        value(c)
    best = max(worth, key=lambda c: (worth[c][0], -c))
    return worth[best][1], best


def _fewest_controls(n: int, allowed: int, tolerated: int, alpha: float, within: tuple[int, int]) -> int:
    """Return the smallest K within bounds that tolerates c wrong controls at risk α; the upper one is known to do."""
    low, high = within  # the more controls, the less likely that so few of the wrong labels are among them
    return low + bisect_left(range(low, high), True, key=lambda k: _risk(n, allowed, k, tolerated) <= alpha)


def _risk(n: int, allowed: int, controls: int, tolerated: int) -> float:
    """Pr(at most c of A + 1 + c labels are controls): that the least favourable dataset breaks a plan.

    Every dataset with at least A + 1 + c wrong labels attains it, in any order. Where n has fewer labels than that,
    the least favourable dataset is the one whose labels are all wrong.
    """
    tolerated = min(tolerated, n - allowed - 1)
    return float(hypergeom.cdf(tolerated, n, allowed + 1 + tolerated, controls))


def _allowed(n: int, error: float) -> int:
    """⌊εn⌋, not spoilt by 0.29 · 100 = 28.999…"""
    return min(n - 1, math.floor(error * n + 1e-9))


# ---- the draw and the order ------------------------------------------------------------------------------------------


def hash_keys(seed: int, purpose: str, ids: Ids) -> npt.NDArray[np.uint64]:
    """Return (n,) uint64: for each of the n ids the first 64 bits of SHA-256 of "seed:purpose:id".

    They depend on nothing else, such as the order of rows or the version of a library, and keys of two purposes are two
    independent streams.

    Parameters
    ----------
    seed
        Of the plan.
    purpose
        Which stream.
    ids
        (n,) names of the rows.

    Examples
    --------
    >>> hash_keys(1, "draw", ["a"]).tolist()
    [3243511289833509501]
    """
    digests = [hashlib.sha256(f"{seed}:{purpose}:{one}".encode()).digest()[:8] for one in ids]
    return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64)


def hash_of_rows(*columns: Iterable[str]) -> str:
    """SHA-256 (hex) of the cells of some columns, row by row; the order of rows does not matter."""
    digest = hashlib.sha256()
    for cells in sorted(zip(*columns, strict=True)):
        digest.update("\x1f".join(cells).encode() + b"\x1e")
    return digest.hexdigest()


def draw_controls(number: int, seed: int, ids: Ids) -> Ints:
    """Return (number,) int64: rows to be checked, in the random order in which they are to be answered.

    Parameters
    ----------
    number
        How many.
    seed
        Of the draw; it must not be chosen by what it draws.
    ids
        (n,) text, unique.
    """
    return np.argsort(hash_keys(seed, "draw", ids), kind="stable").astype(np.int64)[:number]


def label_order(confidence: npt.ArrayLike, seed: int, ids: Ids) -> Ints:
    """Return (n,) int64: all rows by falling `confidence` (n,); ties by a hash of seed and id.

    Parameters
    ----------
    confidence
        (n,) numbers.
    seed
        Of the plan.
    ids
        (n,) names of the rows.
    """
    return np.lexsort((hash_keys(seed, "ties", ids), -np.asarray(confidence, dtype=np.float64))).astype(np.int64)


# ---- the rule --------------------------------------------------------------------------------------------------------


def count_accepted(order: Ints, controls: Ints, answers: Answers, tolerated: int) -> int:
    """Return how many rows are accepted: all ahead of the (c+1)-th wrong control, the controls among them included.

    An unanswered control counts as right here: nothing is certified while the accepted part holds one.

    Parameters
    ----------
    order
        (n,) rows, the surest first.
    controls
        (K,) rows.
    answers
        (K,) aligned with `controls`.
    tolerated
        c, wrong controls that may be among the accepted.
    """
    places = np.flatnonzero(np.isin(order, controls[is_wrong(answers)]))
    return len(order) if len(places) <= tolerated else int(places[tolerated])


def is_wrong(answers: Answers) -> Flags:
    """Return which answers count as wrong."""
    return np.asarray((answers != RIGHT) & (answers != UNANSWERED))


# ---- labels, drawn plan, decisions -----------------------------------------------------------------------------------


class LabelTable:
    """Labels to certify; not changed once they are made.

    Parameters
    ----------
    ids
        (n,) names of the rows, unique.
    labels
        (n,) identified labels.
    confidence
        (n,) finite numbers, the larger the surer; only their order counts.

    Raises
    ------
    UserError
        Lengths differ, an id twice, a confidence that is not a finite number.
    """

    def __init__(self, ids: Ids, labels: Ids, confidence: npt.ArrayLike) -> None:
        self.ids, self.labels = np.array(ids, dtype=np.str_), np.array(labels, dtype=np.str_)
        self.confidence: Floats = np.array(confidence, dtype=np.float64)
        if not len(self.ids):
            raise UserError("There are no labels to certify.")
        if not len(self.ids) == len(self.labels) == len(self.confidence):
            raise UserError("Ids, labels and confidences must be of one length.")
        check_unique_ids(self.ids)
        bad = np.flatnonzero(~np.isfinite(self.confidence))
        if len(bad):
            raise UserError(f"The confidence of {str(self.ids[bad[0]])!r} is not a number.")

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def place(self) -> dict[str, int]:
        """The row of each id."""
        return {name: row for row, name in enumerate(self.ids.tolist())}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of ids, labels and confidences; the order of rows does not matter."""
        return hash_of_rows(self.ids.tolist(), self.labels.tolist(), map(repr, self.confidence.tolist()))


PLAN_JSON = {"confidence": "level"} | {
    name: name for name in ("n", "error", "controls", "tolerated", "seed", "seed_given", "fingerprint")
}
"""Fields of a plan by what plan.json calls them."""
PLAN_NOTES = ("draw_number", "draws_counted", "made_at")
"""Its other fields: what is noted of the draw; nothing shows that it is right."""


@dataclass(frozen=True, kw_only=True)
class DrawnPlan(Plan):
    """A plan with everything that decides the draw of its controls. Made before the first answer.

    Attributes
    ----------
    seed
        Of draw and ties.
    seed_given
        Whether somebody chose the seed.
    fingerprint
        Of the labels.
    draw_number
        How many draws of these labels are known, this one included.
    draws_counted
        Whether this draw was in the list that they were counted from.
    made_at
        ISO time, UTC.
    """

    seed: int
    seed_given: bool = False
    fingerprint: str
    draw_number: int = 1
    draws_counted: bool = True
    made_at: str = ""

    @property
    def draw_hash(self) -> str:
        """SHA-256 (hex) of all fields but `PLAN_NOTES`; published before the first answer, it binds them."""
        bound = {name: value for name, value in asdict(self).items() if name not in PLAN_NOTES}
        return hashlib.sha256(json.dumps(bound, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return what a certificate holds of it; plan.json and the database have `made_at` besides."""
        return {name: getattr(self, field) for name, field in PLAN_JSON.items()} | {
            "allowed": self.allowed,
            "attained_alpha": self.attained,
            "draw_hash": self.draw_hash,
            "draw_number": self.draw_number,
            "draws_counted": self.draws_counted,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return the plan of `to_json`. Whether it is valid: `controls_of`.

        Raises
        ------
        UserError
            It is no plan, or was altered after the draw.
        """
        try:
            bound = {field: document[name] for name, field in PLAN_JSON.items()}
            notes = {"draw_number": document["draw_number"], "draws_counted": document["draws_counted"]}
            plan = from_json(cls, bound | notes | {"made_at": document.get("made_at", "")})
            stated = document["draw_hash"]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise UserError(f"This is no plan of Candid, or damaged ({type(error).__name__}: {error}).") from error
        if plan.draw_hash != stated:
            raise UserError(
                "The plan was altered after the controls were drawn: its figures and seed do not have its draw_hash."
            )
        return plan


def controls_of(plan: DrawnPlan, table: LabelTable) -> Ints:
    """Return the (K,) rows of the controls, in the random order in which they are to be answered.

    Parameters
    ----------
    plan
        The plan that was drawn before. That its hash is right is checked where it is read (`DrawnPlan.from_json`).
    table
        The labels under certificate.

    Raises
    ------
    UserError
        A certificate cannot rest on this plan: a figure is out of range, the risk is above 1 − level, or it is of other
        labels.
    """
    _check_target(plan.n, plan.error, plan.level)
    _check_number(plan.n, plan.controls)
    if plan.seed < 0 or plan.tolerated < 0:
        raise UserError("The plan's seed, or the number of wrong controls that it tolerates, is below 0.")
    if plan.attained > 1 - plan.level + ROUNDING:
        raise UserError(
            f"The plan is not valid: with {plan.controls:,} controls of which {plan.tolerated:,} may be wrong, the "
            f"risk is {plan.attained:.4f}, above {1 - plan.level:.4f}. Make a new plan."
        )
    if table.fingerprint != plan.fingerprint or len(table) != plan.n:
        raise UserError(
            "The labels are not those of the plan: ids, labels or confidences have changed since the controls were "
            "drawn. Use the labels that the plan was made of, or make a new plan for these."
        )
    return draw_controls(plan.controls, plan.seed, table.ids)


@dataclass(frozen=True)
class CheckedLabel:
    """Answers of people to one row.

    Attributes
    ----------
    label
        The right one; None for unsure, and where people differ.
    by
        The reviewer; "" where not recorded.
    at
        ISO time; "" where not recorded.
    refused
        None of the candidates is right, and the right label is not known: it ends without a label.
    """

    id: str
    label: str | None
    by: str = ""
    at: str = ""
    refused: bool = False

    def verdict_on(self, label: str) -> int:
        """Return what it says of a row's own label."""
        if self.label is None:
            return REFUSED if self.refused else UNSURE
        return RIGHT if self.label == label else WRONG


def answers_of(table: LabelTable, decisions: Iterable[CheckedLabel]) -> Answers:
    """(n,) answers, `UNANSWERED` for most.

    Parameters
    ----------
    table
        The labels under certificate.
    decisions
        What people checked.

    Raises
    ------
    UserError
        A decision on an id that is not in the table, or two on the same id.
    """
    result = np.full(len(table), UNANSWERED, dtype=np.int8)
    for decision in decisions:
        row = table.place.get(decision.id)
        if row is None:
            raise UserError(f"There is a decision on {decision.id!r}, but the labels have no such id.")
        if result[row] != UNANSWERED:
            raise UserError(f"There are two decisions on {decision.id!r}; keep one.")
        result[row] = decision.verdict_on(table.labels[row])
    return result


# ---- what follows from the decisions ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Judgement:
    """Status of a table under the decisions so far.

    Attributes
    ----------
    plan
        With its draw.
    controls
        (K,) rows.
    order
        (n,) rows, the surest first (`label_order`).
    answers
        (n,) to all rows.
    version
        Of the certificate that states it, one of `VERSIONS_READ`.
    """

    plan: DrawnPlan
    controls: Ints
    order: Ints
    answers: Answers
    version: int = CERTIFICATE_VERSION

    @property
    def unsure(self) -> Flags:
        """(n,) bool, people could not tell, or did not agree: the label stays as it was."""
        return np.asarray(self.answers == UNSURE)

    @property
    def refused(self) -> Flags:
        """(n,) bool, none of the candidates is right: it has no label, and so no wrong one."""
        return np.asarray(self.answers == REFUSED)

    @cached_property
    def _cut(self) -> int:
        return count_accepted(self.order, self.controls, self.answers[self.controls], self.plan.tolerated)

    @cached_property
    def accepted(self) -> Flags:
        """(n,) bool, by the rule; nothing is certified before the controls among them are answered."""
        result = np.zeros(len(self.answers), dtype=np.bool_)
        result[self.order[: self._cut]] = True
        return result

    @cached_property
    def remaining(self) -> Ints:
        """Rows still to be looked at, the least sure first."""
        behind = self.order[self._cut :][::-1]
        return np.asarray(behind[self.answers[behind] == UNANSWERED])

    @property
    def looked_at(self) -> Flags:
        """(n,) bool, rows that a person answered, unsure included."""
        return np.asarray(self.answers != UNANSWERED)

    @property
    def unseen(self) -> int:
        """Number of labels accepted unseen."""
        return int((self.accepted & ~self.looked_at).sum())

    @property
    def answered(self) -> int:
        """Number of controls answered."""
        return int((self.answers[self.controls] != UNANSWERED).sum())

    @property
    def wrong(self) -> int:
        """Number of wrong controls."""
        return int(is_wrong(self.answers[self.controls]).sum())

    @property
    def wrong_inside(self) -> int:
        """Number of wrong controls among the accepted."""
        return int(is_wrong(self.answers[self.controls[self.accepted[self.controls]]]).sum())

    @property
    def waiting(self) -> Ints:
        """Controls that must be answered before anything can be certified."""
        inside = self.controls[self.accepted[self.controls]]
        return np.asarray(inside[self.answers[inside] == UNANSWERED])

    @property
    def done(self) -> bool:
        """Whether people have looked at all that they have to."""
        return not len(self.waiting) and not len(self.remaining)

    @property
    def bound(self) -> int:
        """Upper bound on wrong labels: those allowed and those unsure or differed on, all n at most."""
        bound = self.plan.allowed + int(self.unsure.sum())
        return bound if self.version == 7 else min(bound, self.plan.n)

    @property
    def claim(self) -> str:
        """What holds of all labels once people have looked at all that they have to, as a sentence."""
        n, unsure, refused = self.plan.n, int(self.unsure.sum()), int(self.refused.sum())
        claim = f"at most {self.bound:,} of all {n:,} labels ({percent(self.bound / n, 2)}) are wrong, sure to "
        claim += f"{100 * self.plan.level:.4g} %."
        untold = (
            f" Of {unsure:,} of these, reviewers could not tell the label or did not agree on it." if unsure else ""
        )
        return claim + untold + (f" {refused:,} have no label: none of these was right." if refused else "")


def judge(plan: DrawnPlan, table: LabelTable, decisions: Iterable[CheckedLabel]) -> Judgement:
    """Apply the rule.

    Parameters
    ----------
    plan
        The plan that was drawn before.
    table
        The labels under certificate.
    decisions
        What people checked.

    Raises
    ------
    UserError
        The plan is not valid for the table (`controls_of`), or the decisions do not belong to it.
    """
    controls = controls_of(plan, table)
    order = label_order(table.confidence, plan.seed, table.ids)
    return Judgement(plan, controls, order, answers_of(table, decisions))


def check_controls(table: LabelTable, judgement: Judgement) -> None:
    """Raise UserError where a control among the labels to be accepted is open.

    Parameters
    ----------
    table
        The labels under certificate.
    judgement
        Of `judge`.
    """
    waiting = judgement.waiting
    if len(waiting):
        some = ", ".join(repr(str(table.ids[row])) for row in waiting[:3])
        more = " …" if len(waiting) > 3 else ""
        raise UserError(
            f"{len(waiting):,} control{'s are' if len(waiting) > 1 else ' is'} not answered yet ({some}{more}); every "
            "control among the labels to be accepted needs a decision. Where nobody can tell, answer ? (it counts as "
            "wrong)."
        )


# ---- the document ----------------------------------------------------------------------------------------------------


def certificate_document(
    table: LabelTable,
    decisions: Sequence[CheckedLabel],
    judgement: Judgement,
    *,
    name: str = "",
    audit: str = "",
) -> dict[str, Any]:
    """Return the certificate as plain JSON values; `verify_document` computes every figure in it again.

    Parameters
    ----------
    table
        The labels under certificate.
    decisions
        What people checked.
    judgement
        Of `judge`.
    name
        Of the dataset.
    audit
        Hash of the last event of the review's audit trail; "" for none.

    Raises
    ------
    UserError
        A control that matters is not answered.
    """
    check_controls(table, judgement)
    plan = judgement.plan
    controls = set(table.ids[judgement.controls].tolist())
    entries = [asdict(one) | {"control": one.id in controls} for one in decisions]
    proof: dict[str, Any] = {
        "format": CERTIFICATE_FORMAT,
        "version": judgement.version,
        "plan": plan.to_json() | {"rule": RULE},
        "result": _result(table, judgement),
        "taken_on_trust": list(TRUST),
        "notes": [one for one in (SEED_GIVEN if plan.seed_given else "", draws_note(plan)) if one],
        "labels": {
            "n": len(table),
            "fingerprint": table.fingerprint,
            "id": table.ids.tolist(),
            "identified_label": table.labels.tolist(),
            "confidence": table.confidence.tolist(),
        },
        "decisions": chained(entries, plan.draw_hash),
    }
    by_person = Counter(decision.by for decision in decisions)
    information = {
        "name": name,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "planned_at": plan.made_at,
        "candid": __version__,
        "reviewers": [{"name": by, "decisions": count} for by, count in by_person.items()],
        "audit": audit,
    }
    return proof | {"hash": _hash(proof), INFORMATION: information}


def _hash(proof: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of the certificate, without the entries that are not part of the proof."""
    return hashlib.sha256(json.dumps(proof, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _result(table: LabelTable, judgement: Judgement) -> dict[str, Any]:
    remaining, bound = len(judgement.remaining), judgement.bound
    return {
        "accepted": int(judgement.accepted.sum()),
        "accepted_unseen": judgement.unseen,
        "looked_at": int(judgement.looked_at.sum()),
        "to_be_looked_at": remaining,
        "complete": remaining == 0,
        "unsure": int(judgement.unsure.sum()),
        "refused": int(judgement.refused.sum()),
        "wrong_controls": judgement.wrong,
        "wrong_controls_inside": judgement.wrong_inside,
        "bound": bound,
        "bound_share": bound / len(table),
        "attained_alpha": judgement.plan.attained,
        "statement": _statement(table, judgement),
    }


def _statement(table: LabelTable, judgement: Judgement) -> str:
    """The certificate as a few sentences."""
    n, remaining = len(table), len(judgement.remaining)
    once = f"Once people have looked at {remaining:,} more, at" if remaining else "At"
    left = table.confidence[~judgement.accepted]
    top = f"{left.max():.4g}" if 0 < len(left) < n else "1"
    is_old = judgement.version == 7  # which said of the unseen what holds of the accepted, and called all others wrong
    above = f"all of a confidence above {top}"
    above = "" if top == "1" else f", among them {above}" if is_old else f"; {above} are accepted"
    unseen = f" {judgement.unseen:,} labels are accepted without anybody having looked at them{above}."
    untold = " or could not be told" * bool(judgement.unsure[judgement.controls].any() and not is_old)
    return (
        f"{once}{judgement.claim.removeprefix('at')} {ON_TRUST}{unseen * bool(judgement.unseen or is_old)} "
        f"{len(judgement.controls):,} random controls were drawn, {judgement.wrong:,} of them had a wrong label"
        f"{untold}."
    )


def draws_note(plan: DrawnPlan) -> str:
    """Return the note on further draws of the same labels; "" for a single known draw."""
    unknown = "" if plan.draws_counted else UNCOUNTED_DRAWS
    if plan.draw_number < 2:
        return unknown
    number = plan.draw_number if plan.draws_counted else f"at least {plan.draw_number}"
    together = max(0.0, 1 - plan.draw_number * (1 - plan.level))
    return (
        f"Controls were drawn {number} times for labels of these examples. If a draw was chosen by its result, the "
        f"confidence is not {plan.level:.4g} but that of all draws together, {together:.4g}. {unknown}"
    ).strip()


# ---- verification ----------------------------------------------------------------------------------------------------


def verify_document(document: Mapping[str, Any]) -> list[str]:
    """Compute a certificate again from its labels, plan and decisions; return what does not fit, [] where all does.

    Raises
    ------
    UserError
        It is no certificate, or of another version.
    """
    if document.get("format") != CERTIFICATE_FORMAT:
        raise UserError("This file is no certificate of Candid: it has no format 'candid-certificate'.")
    if document.get("version") not in VERSIONS_READ:
        raise UserError(
            f"This certificate was made by another version of Candid (format {document.get('version')}; this one reads "
            f"{' and '.join(map(str, VERSIONS_READ))}). Certify again, or verify it with the version that made it."
        )
    try:
        return _problems(document)
    except UserError as error:
        return [str(error)]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        return [f"The certificate is damaged: {type(error).__name__}, {error}."]


def _problems(document: Mapping[str, Any]) -> list[str]:
    labels, entries = document["labels"], document["decisions"]
    table = LabelTable(labels["id"], labels["identified_label"], labels["confidence"])
    if table.fingerprint != labels["fingerprint"]:
        return ["The labels were altered: ids, labels or confidences do not have the fingerprint stated."]
    plan = DrawnPlan.from_json(document["plan"])
    broken = broken_links(entries, plan.draw_hash)
    if broken:
        return [
            f"Decision {position + 1}, on {entries[position]['id']!r}, was altered, or one before it was removed: it "
            "does not fit the hash chain."
            for position in broken
        ]
    decisions = [CheckedLabel(one["id"], one["label"], one["by"], one["at"], one["refused"]) for one in entries]
    judgement = replace(judge(plan, table, decisions), version=document["version"])
    anew = certificate_document(table, decisions, judgement)
    proof = {name: value for name, value in document.items() if name not in (INFORMATION, "hash")}
    problems = _differences(proof, {name: value for name, value in anew.items() if name not in (INFORMATION, "hash")})
    if not problems and document["hash"] != _hash(proof):
        problems.append("The certificate does not have its hash.")
    stray = sorted(document[INFORMATION].keys() - anew[INFORMATION].keys())
    return [*problems, *(f"{INFORMATION} holds {name!r}, which no certificate has." for name in stray)]


def _differences(stated: Any, anew: Any, where: str = "") -> list[str]:
    """Return where a certificate differs from the one computed again, as sentences."""
    if isinstance(stated, Mapping) and isinstance(anew, Mapping):
        unknown = sorted(stated.keys() - anew.keys())
        result = [f"It holds {where + name!r}, which no certificate has." for name in unknown]
        result += [f"{where + name} is missing." for name in sorted(anew.keys() - stated.keys())]
        for name in anew.keys() & stated.keys():
            result += _differences(stated[name], anew[name], f"{where}{name}.")
        return sorted(result)
    if isinstance(stated, list) and isinstance(anew, list) and len(stated) == len(anew):
        result = []
        for position, (one, other) in enumerate(zip(stated, anew, strict=True), start=1):
            name = repr(other["id"]) if isinstance(other, Mapping) and "id" in other else str(position)
            result += _differences(one, other, f"{where}{name}.")
        return result
    if isinstance(anew, float) and isinstance(stated, float):  # other versions of libraries may round otherwise
        same = abs(stated - anew) <= 1e-6 * max(1.0, abs(anew))
    else:
        same = type(stated) is type(anew) and stated == anew
    place = where.rstrip(".").replace(".", ", ")
    said = [excerpt(repr(value), 120) for value in (stated, anew)]
    return [] if same else [f"{place} was altered: it is stated as {said[0]}, and comes out as {said[1]}."]
