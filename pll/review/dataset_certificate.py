"""Certificate of a whole dataset: the promise as it was frozen, the decisions that count, and what follows from them.

A certificate is one JSON object that holds all that its claims rest on: the labels and confidences with their
fingerprint, the plan and the seed of the draw with their commitment, every decision in a hash chain that begins with
that commitment, and the result of the rule. `verify` makes all of it anew from labels, plan and decisions, its words
too, and compares: what a certificate holds besides is refused, but for names and dates, which prove nothing and stand
apart.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import fisher_exact

from pll import __version__
from pll.errors import UserError
from pll.io import check_unique_ids
from pll.review.evidence import LEVEL, Ints
from pll.review.promise import (
    RIGHT,
    UNANSWERED,
    WRONG,
    Answers,
    DatasetPlan,
    bound_with_reviewers,
    commitment,
    cut_of,
    dataset_order,
    draw_dataset_controls,
    plan_dataset,
    reviewer_error,
)
from pll.review.reranking import Pool, PoolFeatures, pool_features
from pll.review.sampling_plan import how_many
from pll.store.tables import broken_links, chained

FORMAT = "candid-certificate"
VERSION = 3
INFORMATION = "not_part_of_the_proof"
"""Key of what anybody could have written: names and dates."""
NODDING = 0.05
"""Significance from which on people are said to follow the model's label when they see it."""
ASSUMPTIONS = (
    "A person's answer is right, and does not follow the model's label (Candid hides that label by default, and "
    "compares answers with it hidden and in sight).",
    "Controls were drawn by the seed named here and by nobody's choice; the draw below is made anew by `verify`.",
    "This is the only draw whose result was looked at; `draw_number` says how many are known for these labels.",
    "Labels and confidences were fixed before the draw; their fingerprint is checked.",
    "Ties of confidence are in an order of their own random stream, not in that of the file.",
    "An answer 'unsure' counts as a wrong label.",
)


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels to make a promise about.

    Args:
        ids: (n,) text, unique.
        labels: (n,) identified labels.
        confidence: (n,) finite numbers, the larger the surer; only their order counts.
        groups: (n,) to what each row belongs, where a promise is made for each group.

    Raises:
        UserError: lengths differ, an id twice, a confidence that is not a finite number.
    """

    ids: npt.NDArray[np.str_]
    labels: npt.NDArray[np.str_]
    confidence: npt.NDArray[np.float64]
    groups: npt.NDArray[np.str_] | None = None

    def __post_init__(self) -> None:
        if not len(self.ids):
            raise UserError("There are no labels to make a promise about.")
        if not len(self.ids) == len(self.labels) == len(self.confidence):
            raise UserError("Ids, labels and confidences must be of one length.")
        check_unique_ids(self.ids)
        bad = np.flatnonzero(~np.isfinite(self.confidence))
        if len(bad):
            raise UserError(f"The confidence of {str(self.ids[bad[0]])!r} is not a number.")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of ids, labels, confidences and groups; the order of rows does not matter."""
        groups = np.full(len(self), "") if self.groups is None else self.groups
        order = np.argsort(self.ids, kind="stable")
        digest = hashlib.sha256()
        for row in order.tolist():
            cells = (str(self.ids[row]), str(self.labels[row]), repr(float(self.confidence[row])), str(groups[row]))
            digest.update("\x1f".join(cells).encode() + b"\x1e")
        return digest.hexdigest()

    def parts(self) -> list[tuple[str, Ints]]:
        """(group, its rows); one part named "" where there are no groups."""
        if self.groups is None:
            return [("", np.arange(len(self), dtype=np.int64))]
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.groups.tolist()):
            rows.setdefault(name, []).append(row)
        return [(name, np.array(own, dtype=np.int64)) for name, own in rows.items()]


@dataclass(frozen=True)
class Promise:
    """What is promised of a table, with everything that decides the draw. Made before the first answer.

    Attributes:
        error, level: ε and 1 − α.
        seed: of draw and ties.
        fingerprint: of the labels.
        plans: group → plan; the group "" where the promise is about the whole table.
        reranked: the order changes while people review.
        draw_number: how many draws of these labels are known, this one included.
        draws_counted: whether this draw was in the list that they were counted from.
        seed_given: whether somebody chose the seed.
        made_at: ISO time, UTC.
    """

    error: float
    level: float
    seed: int
    fingerprint: str
    plans: dict[str, DatasetPlan]
    reranked: bool = False
    draw_number: int = 1
    draws_counted: bool = True
    seed_given: bool = False
    made_at: str = ""

    @property
    def commitments(self) -> dict[str, str]:
        """Group → hash of all that decides its draw."""
        return {group: commitment(self.seed, self.fingerprint, plan, group) for group, plan in self.plans.items()}

    @property
    def draw_hash(self) -> str:
        """SHA-256 (hex) over the commitments of all groups."""
        joined = "\n".join(f"{group}\x1f{value}" for group, value in self.commitments.items())
        return hashlib.sha256(joined.encode()).hexdigest()


@dataclass(frozen=True)
class CheckedLabel:
    """What a person said of one row.

    Attributes:
        label: the right one; None for unsure.
        by: the reviewer; "" where not recorded. at: ISO time.
        blind: whether the model's label was hidden; None where not known.
        second: labels of the same row by further reviewers.
        settled: people differed and one of them had the last word: `label` is theirs, and `second` holds all answers
            from before.
    """

    id: str
    label: str | None
    by: str = ""
    at: str = ""
    blind: bool | None = None
    second: tuple[str | None, ...] = ()
    settled: bool = False

    @property
    def answers(self) -> tuple[str | None, ...]:
        """Return each person's own answer."""
        return self.second if self.settled else (self.label, *self.second)


@dataclass(frozen=True)
class Nodding:
    """How often people differ from the model's label on controls, with it hidden and with it in sight.

    Attributes:
        blind, sighted: (answers that differ, answers).
        p: one-sided p-value of Fisher's exact test that they differ less often when they see it; None without both.
    """

    blind: tuple[int, int]
    sighted: tuple[int, int]
    p: float | None

    def as_json(self) -> dict[str, Any]:
        """As a certificate holds it."""
        return {"blind": list(self.blind), "sighted": list(self.sighted), "p": self.p}

    @property
    def suspected(self) -> bool:
        """Whether people seem to follow the model."""
        return self.p is not None and self.p < NODDING

    @property
    def words(self) -> str:
        """A sentence for the certificate; "" where there is nothing to say."""
        if self.suspected:
            return (
                f"Reviewers seem to follow the model's label: they differed from it on {self.sighted[0]:,} of "
                f"{self.sighted[1]:,} controls with the label in sight, and on {self.blind[0]:,} of "
                f"{self.blind[1]:,} with it hidden (p = {self.p:.3f})."
            )
        if self.sighted[1] and not self.blind[1]:
            return (
                "All controls were answered with the model's label in sight; it may have swayed reviewers, and nothing "
                "shows whether it did."
            )
        return ""


@dataclass(frozen=True, eq=False)
class PartResult:
    """What holds of one part.

    Attributes:
        group: its name.
        plan: of the part.
        rows: (m,) of the table. controls: (K,) of them.
        accepted: (m,) bool, aligned with `rows`.
        wrong_inside, wrong: wrong controls among the accepted, and in all.
        waiting: controls that must be answered first.
        left: rows that people look at, in the order in which they should.
        unsure: looked-at rows without a label.
        pool_left: rows that left the pool, in their order (re-ranked reviews).
    """

    group: str
    plan: DatasetPlan
    rows: Ints
    controls: Ints
    accepted: npt.NDArray[np.bool_]
    wrong_inside: int
    wrong: int
    waiting: Ints
    left: Ints
    unsure: int
    pool_left: Ints | None = None


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the decisions so far say of the whole table.

    Attributes:
        parts: one for each group.
        accepted: (n,) bool. checked: (n,) bool, rows with a person's label.
        looked_at: (n,) bool, rows that a person answered, unsure included.
    """

    parts: tuple[PartResult, ...]
    accepted: npt.NDArray[np.bool_]
    checked: npt.NDArray[np.bool_]
    looked_at: npt.NDArray[np.bool_]

    @property
    def unseen(self) -> int:
        """Number of labels accepted unseen."""
        return count_unseen(self.accepted, self.looked_at)

    @property
    def waiting(self) -> Ints:
        """Rows of the controls that must be answered before anything can be certified."""
        return np.concatenate([part.waiting for part in self.parts])

    @property
    def remaining(self) -> Ints:
        """Rows that people still have to look at, in the order in which they should."""
        rows = np.concatenate([part.left for part in self.parts])
        open_: Ints = rows[~self.looked_at[rows]]
        return open_

    @property
    def bound(self) -> int:
        """At most so many of all labels are wrong: those allowed, and those that reviewers left as unsure."""
        return sum(part.plan.allowed + part.unsure for part in self.parts)

    @property
    def attained(self) -> float:
        """The exact risk of the part with the largest."""
        return max(part.plan.attained for part in self.parts)


def count_unseen(accepted: npt.NDArray[np.bool_], looked_at: npt.NDArray[np.bool_]) -> int:
    """Return how many labels are accepted although nobody has looked at them; both arrays are (n,)."""
    return int((accepted & ~looked_at).sum())


def make_promise(
    table: LabelTable,
    error: float,
    level: float = LEVEL,
    *,
    share: float | None = None,
    seed: int | None = None,
    reranked: bool = False,
    draw_number: int = 1,
) -> Promise:
    """Plan each part of a table and fix the seed of its draw.

    Args:
        share: of the rows that are controls; by default what the plan finds best.
        seed: by default a random one.

    Raises:
        UserError: numbers out of range, or too few controls.
    """
    plans = {group: _plan_of(group, len(rows), error, level, share) for group, rows in table.parts()}
    return Promise(
        error=error,
        level=level,
        seed=secrets.randbits(62) if seed is None else seed,
        fingerprint=table.fingerprint,
        plans=plans,
        reranked=reranked,
        draw_number=draw_number,
        seed_given=seed is not None,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def with_draws(promise: Promise, known: Collection[str]) -> Promise:
    """Return the promise with its draws counted anew.

    Args:
        known: hashes of the draws of these labels; the largest of their number and what was counted before holds.
    """
    counted = promise.draw_hash in known
    number = len(set(known) | {promise.draw_hash})
    return replace(promise, draw_number=max(number, promise.draw_number), draws_counted=counted)


def _plan_of(group: str, n: int, error: float, level: float, share: float | None) -> DatasetPlan:
    try:
        return plan_dataset(n, error, level, controls=None if share is None else how_many(n, share))
    except UserError as problem:
        if not group:
            raise
        raise UserError(f"Group {group!r} ({n:,} labels): {problem}") from problem


def controls_by_group(promise: Promise, table: LabelTable) -> dict[str, Ints]:
    """Return, by group, the (K,) rows of its controls, in the random order in which they are to be answered.

    Raises:
        UserError: the table is not the one that the promise is about.
    """
    if table.fingerprint != promise.fingerprint:
        raise UserError(
            "The labels are not those of the plan: ids, labels or confidences have changed since the controls were "
            "drawn. Use the labels that the plan was made of, or make a new plan for these."
        )
    found = {}
    for group, rows in table.parts():
        drawn = draw_dataset_controls(promise.plans[group], promise.seed, table.ids[rows])
        found[group] = rows[drawn]
    return found


def order_of(promise: Promise, table: LabelTable, rows: Ints) -> Ints:
    """Return the (m,) rows of a part, the surest first."""
    return rows[dataset_order(table.confidence[rows], promise.seed, table.ids[rows])]


def answers_of(table: LabelTable, decisions: Iterable[CheckedLabel]) -> Answers:
    """(n,) `RIGHT`, `WRONG` or `UNANSWERED`. Unsure, and a second person who says otherwise, count as wrong.

    Raises:
        UserError: a decision on an id that is not in the table, or two on the same id.
    """
    place = {str(one): row for row, one in enumerate(table.ids)}
    found = np.full(len(table), UNANSWERED, dtype=np.int8)
    for said in decisions:
        row = place.get(said.id)
        if row is None:
            raise UserError(f"There is a decision on {said.id!r}, but the labels have no such id.")
        if found[row] != UNANSWERED:
            raise UserError(f"There are two decisions on {said.id!r}; keep one.")
        found[row] = RIGHT if label_of(said) == table.labels[row] else WRONG
    return found


def label_of(said: CheckedLabel) -> str | None:
    """The label that counts; None where all were unsure, or a disagreement is not settled."""
    return said.label if said.settled or all(other == said.label for other in said.second) else None


def nodding_of(table: LabelTable, decisions: Iterable[CheckedLabel], controls: Ints) -> Nodding:
    """Compare people's answers to controls with the model's label hidden and in sight.

    Of several people's answers to one control the first counts; an answer that settled others' is left out, and so is
    "unsure", which follows no label.

    Args:
        controls: (K,) rows.
    """
    model = {str(table.ids[row]): table.labels[row] for row in controls}
    counts = {True: [0, 0], False: [0, 0]}
    for said in decisions:
        if said.id in model and said.blind is not None and said.label is not None and not said.settled:
            counts[said.blind][0] += said.label != model[said.id]
            counts[said.blind][1] += 1
    (blind_differ, blind), (sighted_differ, sighted) = counts[True], counts[False]
    p = None
    if blind and sighted:
        cells = [[sighted_differ, sighted - sighted_differ], [blind_differ, blind - blind_differ]]
        p = float(fisher_exact(cells, alternative="less").pvalue)
    return Nodding((blind_differ, blind), (sighted_differ, sighted), p)


def judge(
    promise: Promise,
    table: LabelTable,
    decisions: Sequence[CheckedLabel],
    *,
    features: Mapping[str, PoolFeatures] | None = None,
) -> Judgement:
    """Apply the rule to the decisions so far.

    Args:
        features: group → what a re-ranked promise looks at, of the rows of that group counted from 0; by default made
            of confidences and labels.

    Raises:
        UserError: decisions or labels that do not belong to the promise.
    """
    answers = answers_of(table, decisions)
    unsure = np.zeros(len(table), dtype=np.bool_)
    place = {str(one): row for row, one in enumerate(table.ids)}
    for said in decisions:
        unsure[place[said.id]] = label_of(said) is None
    accepted, parts = np.zeros(len(table), dtype=np.bool_), []
    controls = controls_by_group(promise, table)
    for group, rows in table.parts():
        own = None if features is None else features[group]
        part = _judge_part(promise, table, group, rows, controls[group], answers, unsure, own)
        accepted[part.rows[part.accepted]] = True
        parts.append(part)
    looked = answers != UNANSWERED
    return Judgement(tuple(parts), accepted, looked & ~unsure, looked)


def _judge_part(
    promise: Promise,
    table: LabelTable,
    group: str,
    rows: Ints,
    controls: Ints,
    answers: Answers,
    unsure: npt.NDArray[np.bool_],
    features: PoolFeatures | None,
) -> PartResult:
    plan = promise.plans[group]
    local = np.empty(len(table), dtype=np.int64)
    local[rows] = np.arange(len(rows))
    result = partial(
        PartResult,
        group=group,
        plan=plan,
        rows=rows,
        controls=controls,
        wrong=int((answers[controls] == WRONG).sum()),
        unsure=int(unsure[rows].sum()),
    )
    if not promise.reranked:
        order = order_of(promise, table, rows)
        cut = cut_of(local[order], local[controls], answers[controls], plan.tolerated)
        accepted = np.zeros(len(rows), dtype=np.bool_)
        accepted[local[order[: cut.accepted]]] = True
        return result(accepted=accepted, wrong_inside=cut.wrong_inside, waiting=rows[cut.waiting], left=rows[cut.left])
    if features is None:
        order = local[order_of(promise, table, rows)]
        features = pool_features(order, table.confidence[rows], table.labels[rows])
    pool = Pool(features, local[controls], plan.tolerated)
    pool.advance(answers[rows])
    left = rows[np.array(pool.left, dtype=np.int64)]
    accepted = np.ones(len(rows), dtype=np.bool_)
    accepted[np.array(pool.left, dtype=np.int64)] = False
    inside = controls[accepted[local[controls]]]
    waiting = inside[answers[inside] == UNANSWERED]
    if not pool.done:
        accepted[:] = False
    return result(
        accepted=accepted,
        wrong_inside=int((answers[inside] == WRONG).sum()),
        waiting=waiting,
        left=left if pool.done else np.concatenate([left, rows[pool.waiting]]),
        pool_left=left,
    )


def check_complete(judgement: Judgement, table: LabelTable) -> None:
    """Raises UserError where a control among the labels to be accepted is open, or a re-ranked review has not ended."""
    waiting = judgement.waiting
    if len(waiting):
        some = ", ".join(repr(str(table.ids[row])) for row in waiting[:3])
        more = " …" if len(waiting) > 3 else ""
        raise UserError(
            f"{len(waiting):,} control{'s are' if len(waiting) > 1 else ' is'} not answered yet ({some}{more}); every "
            "control among the labels to be accepted needs a decision. Where nobody can tell, answer ? (it counts as "
            "wrong)."
        )
    for part in judgement.parts:
        if part.wrong_inside > part.plan.tolerated:
            row = judgement.remaining[0] if len(judgement.remaining) else part.rows[0]
            raise UserError(
                f"{part.wrong_inside:,} wrong controls are among the labels nobody has looked at; at most "
                f"{part.plan.tolerated:,} may be. Go on looking at labels, {str(table.ids[row])!r} next."
            )


def final_frame(table: LabelTable, decisions: Sequence[CheckedLabel], judgement: Judgement) -> pd.DataFrame:
    """final.csv: every row in input order, with people's labels where they looked."""
    labels = table.labels.astype(object)
    place = {str(one): row for row, one in enumerate(table.ids)}
    for said in decisions:
        right = label_of(said)
        if right is not None:
            labels[place[said.id]] = right
    # An accepted label that a reviewer was unsure of still needs a decision.
    done = judgement.checked | (judgement.accepted & ~judgement.looked_at)
    return pd.DataFrame(
        {
            "id": table.ids,
            "identified_label": labels,
            "confidence": table.confidence,
            "source": np.where(judgement.checked, "human", "model"),
            "accepted": done.astype(np.int64),
        }
    )


# ---- the document ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Extras:
    """What a certificate says besides its proof.

    Attributes:
        name: of the dataset.
        reviewers_err: count reviewers' own errors too, as far as examples answered twice measure them.
        audit: hash of the last event of the review's audit trail; "" for none.
    """

    name: str = ""
    reviewers_err: bool = False
    audit: str = ""
    made_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


def certificate_document(
    promise: Promise,
    table: LabelTable,
    decisions: Sequence[CheckedLabel],
    judgement: Judgement,
    extras: Extras | None = None,
) -> dict[str, Any]:
    """Return the certificate as plain JSON values; `verify` recomputes every figure in it.

    Raises:
        UserError: a control that matters is not answered.
    """
    check_complete(judgement, table)
    extras = extras or Extras()
    drawn = {str(table.ids[row]) for part in judgement.parts for row in part.controls}
    entries = [
        {
            "id": said.id,
            "label": said.label,
            "control": said.id in drawn,
            "by": said.by,
            "at": said.at,
            "blind": said.blind,
            "second": list(said.second),
            "settled": said.settled,
        }
        for said in decisions
    ]
    nodding = nodding_of(table, decisions, np.concatenate([part.controls for part in judgement.parts]))
    by: dict[str, int] = {}
    for said in decisions:
        by[said.by] = by.get(said.by, 0) + 1
    proof: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "promise": {
            "error": promise.error,
            "confidence": promise.level,
            "reranked": promise.reranked,
            "draw_number": promise.draw_number,
            "draws_counted": promise.draws_counted,
            "seed": promise.seed,
            "seed_given": promise.seed_given,
            "draw_hash": promise.draw_hash,
            "rule": _rule(promise),
        },
        "result": _result(promise, table, judgement),
        "parts": [_part(part, promise, table) for part in judgement.parts],
        "reviewer_error": _with_reviewers(promise, decisions, judgement) if extras.reviewers_err else None,
        "nodding": nodding.as_json(),
        "assumptions": list(ASSUMPTIONS),
        "notes": [one for one in (_seed_words(promise), nodding.words, draw_words(promise)) if one],
        "labels": {
            "n": len(table),
            "fingerprint": promise.fingerprint,
            "id": table.ids.tolist(),
            "identified_label": table.labels.tolist(),
            "confidence": table.confidence.tolist(),
            "group": None if table.groups is None else table.groups.tolist(),
        },
        "decisions": chained(entries, promise.draw_hash),
    }
    information = {
        "name": extras.name,
        "made_at": extras.made_at,
        "promised_at": promise.made_at,
        "candid": __version__,
        "reviewers": [{"name": name, "decisions": count} for name, count in by.items()],
        "audit": extras.audit,
    }
    return proof | {"hash": _hash(proof), INFORMATION: information}


def _hash(proof: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of a certificate without what is no part of the proof."""
    return hashlib.sha256(json.dumps(proof, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _seed_words(promise: Promise) -> str:
    return (
        "The seed of the draw was given by hand; that no other seed was tried before is not shown."
        if promise.seed_given
        else ""
    )


def draw_words(promise: Promise) -> str:
    """What further draws of the same labels mean, and whether they are known; "" for one draw that is."""
    unknown = (
        ""
        if promise.draws_counted
        else (
            "How many draws of these labels there were is not known: draws.jsonl, in the home of the machine where "
            "this one was made, is missing or does not have it."
        )
    )
    if promise.draw_number < 2:
        return unknown
    together = max(0.0, 1 - promise.draw_number * (1 - promise.level))
    number = promise.draw_number if promise.draws_counted else f"at least {promise.draw_number}"
    return (
        f"Controls were drawn {number} times for these labels. If a draw was chosen by its result, the confidence is "
        f"not {promise.level:.4g} but that of all draws together, {together:.4g}. {unknown}"
    ).strip()


def _rule(promise: Promise) -> str:
    if promise.reranked:
        return (
            "Rows leave from the least sure end, people look at each, and the order inside is made anew from their "
            "answers; what is inside is accepted once it holds at most c wrong controls. Wrong controls are corrected."
        )
    return (
        "Labels stand by confidence. Everything ahead of the (c+1)-th wrong control is accepted; people look at the "
        "rest. Wrong controls are corrected."
    )


def _result(promise: Promise, table: LabelTable, judgement: Judgement) -> dict[str, Any]:
    remaining = len(judgement.remaining)
    bound = judgement.bound
    return {
        "accepted": int(judgement.accepted.sum()),
        "accepted_unseen": judgement.unseen,
        "looked_at": int(judgement.looked_at.sum()),
        "to_be_looked_at": remaining,
        "complete": remaining == 0,
        "unsure": sum(part.unsure for part in judgement.parts),
        "bound": bound,
        "bound_share": bound / len(table),
        "attained_alpha": judgement.attained,
        "statement": statement(promise, table, judgement),
    }


def statement(promise: Promise, table: LabelTable, judgement: Judgement) -> str:
    """The certificate as a sentence or two."""
    n, bound, remaining = len(table), judgement.bound, len(judgement.remaining)
    once = f"Once people have looked at {remaining:,} more, at" if remaining else "At"
    groups = len(judgement.parts)
    unsure = sum(part.unsure for part in judgement.parts)
    left_open = f" {unsure:,} of these are labels that reviewers could not tell." if unsure else ""
    if groups > 1:
        beside = f" beside the {unsure:,} that reviewers could not tell" if unsure else ""
        words = (
            f"{once} most {promise.error:.2%} of the labels of each of {groups:,} groups are wrong{beside}, with "
            f"{promise.level:.4g} confidence for each group by itself. If all of these hold, at most {bound:,} of all "
            f"{n:,} labels are wrong."
        )
    else:
        words = (
            f"{once} most {bound:,} of all {n:,} labels ({bound / n:.2%}) are wrong, with "
            f"{promise.level:.4g} confidence.{left_open}"
        )
    controls = sum(len(part.controls) for part in judgement.parts)
    wrong = sum(part.wrong for part in judgement.parts)
    return (
        f"{words} {judgement.unseen:,} labels are accepted without anybody having looked at them. "
        f"{controls:,} random controls were drawn, {wrong:,} of them had a wrong label."
    )


def _part(part: PartResult, promise: Promise, table: LabelTable) -> dict[str, Any]:
    plan = part.plan
    left = None if part.pool_left is None else table.ids[part.pool_left].tolist()
    return {
        "group": part.group,
        "n": plan.n,
        "allowed": plan.allowed,
        "controls": plan.controls,
        "tolerated": plan.tolerated,
        "draw": plan.draw,
        "commitment": commitment(promise.seed, promise.fingerprint, plan, part.group),
        "attained_alpha": plan.attained,
        "accepted": int(part.accepted.sum()),
        "wrong_controls": part.wrong,
        "wrong_controls_inside": part.wrong_inside,
        "unsure": part.unsure,
        "left_the_pool": left,
    }


def _with_reviewers(promise: Promise, decisions: Sequence[CheckedLabel], judgement: Judgement) -> dict[str, Any] | None:
    """What holds where reviewers err too; None where no example was answered twice.

    Unsure against a label of another person counts as a disagreement.
    """
    twice = [said for said in decisions if len(said.answers) > 1]
    if not twice:
        return None
    rest = (1 - promise.level) / 2
    differ = sum(len(set(said.answers)) > 1 for said in twice)
    measured = reviewer_error(len(twice), differ, 1 - rest)
    bound = 0
    for part in judgement.parts:
        inside = part.accepted & ~np.isin(part.rows, part.controls)
        looked = len(part.rows) - int(inside.sum())
        bound += bound_with_reviewers(part.plan, looked, measured.at_most, 1 - rest) + part.unsure
    return {
        "answered_twice": measured.pairs,
        "disagreements": measured.disagreements,
        "error_at_most": measured.at_most,
        "bound": bound,
        "confidence": 1 - 2 * (1 - promise.level),
        "assumption": "Two people err independently of each other, and as often on every example.",
    }


# ---- verification ----------------------------------------------------------------------------------------------------


def verify_document(document: Mapping[str, Any]) -> list[str]:
    """Make a certificate anew from its labels, plan and decisions; return what does not fit, [] where all does.

    Raises:
        UserError: it is no certificate, or of another version.
    """
    if document.get("format") != FORMAT:
        raise UserError("This file is no certificate of Candid: it has no format 'candid-certificate'.")
    if document.get("version") != VERSION:
        raise UserError(
            f"This certificate was made by another version of Candid (format {document.get('version')}; this one reads "
            f"{VERSION}). Certify again, or verify it with the version that made it."
        )
    try:
        return _problems(document)
    except UserError as error:
        return [str(error)]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        return [f"The certificate is damaged: {type(error).__name__}, {error}."]


def _problems(document: Mapping[str, Any]) -> list[str]:
    labels, stated = document["labels"], document["promise"]
    table = LabelTable(
        np.array(labels["id"], dtype=np.str_),
        np.array(labels["identified_label"], dtype=np.str_),
        np.array(labels["confidence"], dtype=np.float64),
        None if labels["group"] is None else np.array(labels["group"], dtype=np.str_),
    )
    problems = []
    if table.fingerprint != labels["fingerprint"]:
        problems.append("The labels were altered: ids, labels or confidences do not have the fingerprint stated.")
    plans = {
        part["group"]: DatasetPlan(
            part["n"], stated["error"], stated["confidence"], part["controls"], part["tolerated"], part["draw"]
        )
        for part in document["parts"]
    }
    promise = Promise(
        error=stated["error"],
        level=stated["confidence"],
        seed=stated["seed"],
        fingerprint=labels["fingerprint"],
        plans=plans,
        reranked=stated["reranked"],
        draw_number=stated["draw_number"],
        draws_counted=stated["draws_counted"],
        seed_given=stated["seed_given"],
    )
    commitments = promise.commitments
    if promise.draw_hash != stated["draw_hash"] or any(
        commitments[part["group"]] != part["commitment"] for part in document["parts"]
    ):
        problems.append("The plan or the seed was altered: they do not have the hash fixed before the answers.")
    for group, rows in table.parts():
        if group not in plans or plans[group].n != len(rows):
            problems.append(f"The parts of the promise do not fit the labels (group {group!r}).")
            return problems
    over = [plan for plan in plans.values() if plan.attained > 1 - plan.level + 1e-6]
    if over:
        problems.append(f"The rule is not valid: its risk is {over[0].attained:.4f}, above {1 - promise.level:.4f}.")
    entries = document["decisions"]
    for position in broken_links(entries, stated["draw_hash"]):
        problems.append(
            f"Decision {position + 1}, on {entries[position]['id']!r}, was altered, or one before it was removed: it "
            "does not fit the hash chain."
        )
    if problems:
        return problems
    decisions = [
        CheckedLabel(
            one["id"],
            one["label"],
            one["by"],
            one["at"],
            one["blind"],
            tuple(one["second"]),
            settled=one["settled"],
        )
        for one in entries
    ]
    judgement = _judged_again(document, promise, table, decisions)
    extras = Extras(reviewers_err=document["reviewer_error"] is not None)
    anew = certificate_document(promise, table, decisions, judgement, extras)
    proof = {name: value for name, value in document.items() if name not in (INFORMATION, "hash")}
    problems = _differences(proof, {name: value for name, value in anew.items() if name not in (INFORMATION, "hash")})
    if not problems and document["hash"] != _hash(proof):
        problems.append("The certificate does not have its hash.")
    stray = sorted(document[INFORMATION].keys() - anew[INFORMATION].keys())
    return [*problems, *(f"{INFORMATION} holds {name!r}, which no certificate has." for name in stray)]


def _differences(stated: Any, anew: Any, where: str = "") -> list[str]:
    """Return where a certificate differs from the one made anew, as sentences."""
    if isinstance(stated, Mapping) and isinstance(anew, Mapping):
        found = [
            f"It holds {where + name!r}, which no certificate has." for name in sorted(stated.keys() - anew.keys())
        ]
        found += [f"{where + name} is missing." for name in sorted(anew.keys() - stated.keys())]
        for name in anew.keys() & stated.keys():
            found += _differences(stated[name], anew[name], f"{where}{name}.")
        return sorted(found)
    if isinstance(stated, list) and isinstance(anew, list) and len(stated) == len(anew):
        found = []
        for position, (one, other) in enumerate(zip(stated, anew, strict=True), start=1):
            name = repr(other["id"]) if isinstance(other, Mapping) and "id" in other else str(position)
            found += _differences(one, other, f"{where}{name}.")
        return found
    if isinstance(anew, float) and isinstance(stated, float):  # other versions of libraries may round otherwise
        same = abs(stated - anew) <= 1e-6 * max(1.0, abs(anew))
    else:
        same = type(stated) is type(anew) and stated == anew
    place = where.rstrip(".").replace(".", ", ")
    return [] if same else [f"{place} was altered: it is stated as {_short(stated)}, and comes out as {_short(anew)}."]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:119] + "…"


def _judged_again(
    document: Mapping[str, Any], promise: Promise, table: LabelTable, decisions: Sequence[CheckedLabel]
) -> Judgement:
    """The same as `judge`; of a re-ranked review, with the rows that left as the certificate names them.

    Which model ranked them does not matter for the rule; that it saw nothing of what is inside is an assumption.
    """
    if not promise.reranked:
        return judge(promise, table, decisions)
    answers = answers_of(table, decisions)
    place = {str(one): row for row, one in enumerate(table.ids)}
    unsure = np.zeros(len(table), dtype=np.bool_)
    for said in decisions:
        unsure[place[said.id]] = label_of(said) is None
    controls = controls_by_group(promise, table)
    parts, accepted = [], np.zeros(len(table), dtype=np.bool_)
    of_group = dict(table.parts())
    for stated in document["parts"]:
        group, rows = stated["group"], of_group[stated["group"]]
        left = np.array([place[one] for one in stated["left_the_pool"]], dtype=np.int64)
        missing = left[answers[left] == UNANSWERED]
        if len(missing):
            raise UserError(f"{str(table.ids[missing[0]])!r} is said to have left the pool, but has no decision.")
        stays = ~np.isin(rows, left)
        inside = controls[group][~np.isin(controls[group], left)]
        wrong_inside = int((answers[inside] == WRONG).sum())
        plan = promise.plans[group]
        if wrong_inside > plan.tolerated:
            raise UserError(
                f"{wrong_inside} wrong controls are among the accepted labels; the rule allows {plan.tolerated}."
            )
        accepted[rows[stays]] = True
        parts.append(
            PartResult(
                group=group,
                plan=plan,
                rows=rows,
                controls=controls[group],
                accepted=stays,
                wrong_inside=wrong_inside,
                wrong=int((answers[controls[group]] == WRONG).sum()),
                waiting=inside[answers[inside] == UNANSWERED],
                left=left,
                unsure=int(unsure[rows].sum()),
                pool_left=left,
            )
        )
    looked = answers != UNANSWERED
    return Judgement(tuple(parts), accepted, looked & ~unsure, looked)
