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
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll import __version__
from pll.errors import UserError
from pll.io import check_unique_ids
from pll.review.promise import (
    LEVEL,
    RIGHT,
    UNANSWERED,
    WRONG,
    Answers,
    DatasetPlan,
    Ints,
    commitment,
    cut_of,
    dataset_order,
    draw_dataset_controls,
    how_many,
    plan_dataset,
)
from pll.review.reranking import Pool, PoolFeatures, pool_features
from pll.review.tables import broken_links, chained

FORMAT = "candid-certificate"
VERSION = 3
INFORMATION = "not_part_of_the_proof"
"""Key of entries that cannot be verified: names and dates."""
ASSUMPTIONS = (
    "A person's answer is right, and does not follow the model's label, which Candid hides.",
    "Controls were drawn by the seed named here and by nobody's choice; the draw below is made anew by `verify`.",
    "This is the only draw whose result was looked at; `draw_number` says how many are known for these labels.",
    "Labels and confidences were fixed before the draw; their fingerprint is checked.",
    "Ties of confidence are in an order of their own random stream, not in that of the file.",
    "An answer 'unsure' counts as a wrong label.",
)


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels to make a promise about.

    Parameters
    ----------
    ids
        (n,) text, unique.
    labels
        (n,) identified labels.
    confidence
        (n,) finite numbers, the larger the surer; only their order counts.

    Raises
    ------
    UserError
        Lengths differ, an id twice, a confidence that is not a finite number.
    """

    ids: npt.NDArray[np.str_]
    labels: npt.NDArray[np.str_]
    confidence: npt.NDArray[np.float64]

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
        """SHA-256 (hex) of ids, labels and confidences; the order of rows does not matter."""
        order = np.argsort(self.ids, kind="stable")
        digest = hashlib.sha256()
        for row in order.tolist():
            cells = (str(self.ids[row]), str(self.labels[row]), repr(float(self.confidence[row])))
            digest.update("\x1f".join(cells).encode() + b"\x1e")
        return digest.hexdigest()


@dataclass(frozen=True)
class Promise:
    """What is promised of a table, with everything that decides the draw. Made before the first answer.

    Attributes
    ----------
    error, level
        ε and 1 − α.
    seed
        Of draw and ties.
    fingerprint
        Of the labels.
    plan
        Of the controls.
    reranked
        The order changes while people review.
    draw_number
        How many draws of these labels are known, this one included.
    draws_counted
        Whether this draw was in the list that they were counted from.
    seed_given
        Whether somebody chose the seed.
    made_at
        ISO time, UTC.
    """

    error: float
    level: float
    seed: int
    fingerprint: str
    plan: DatasetPlan
    reranked: bool = False
    draw_number: int = 1
    draws_counted: bool = True
    seed_given: bool = False
    made_at: str = ""

    @property
    def draw_hash(self) -> str:
        """SHA-256 (hex) of all that decides the draw."""
        return commitment(self.seed, self.fingerprint, self.plan)


@dataclass(frozen=True)
class CheckedLabel:
    """Answers of people to one row.

    Attributes
    ----------
    label
        The right one; None for unsure, and where people differ.
    by
        The reviewer; "" where not recorded. at: ISO time.
    """

    id: str
    label: str | None
    by: str = ""
    at: str = ""


@dataclass(frozen=True, eq=False)
class Judgement:
    """Status of a table under the decisions so far.

    Attributes
    ----------
    controls
        (K,) rows.
    accepted
        (n,) bool. checked: (n,) bool, rows with a person's label.
    looked_at
        (n,) bool, rows that a person answered, unsure included.
    wrong_inside, wrong
        Wrong controls among the accepted, and in all.
    waiting
        Rows of the controls that must be answered before anything can be certified.
    left
        Rows that people look at, in the order in which they should.
    unsure
        Looked-at rows without a label.
    pool_left
        Rows that left the pool, in their order; None unless the review is re-ranked.
    """

    controls: Ints
    accepted: npt.NDArray[np.bool_]
    checked: npt.NDArray[np.bool_]
    looked_at: npt.NDArray[np.bool_]
    wrong_inside: int
    wrong: int
    waiting: Ints
    left: Ints
    unsure: int
    pool_left: Ints | None = None

    @property
    def unseen(self) -> int:
        """Number of labels accepted unseen."""
        return count_unseen(self.accepted, self.looked_at)

    @property
    def remaining(self) -> Ints:
        """Rows still to be looked at, in order."""
        open_: Ints = self.left[~self.looked_at[self.left]]
        return open_


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
    """Plan the controls of a table and fix the seed of their draw.

    Parameters
    ----------
    share
        Of the rows that are controls; by default what the plan finds best.
    seed
        By default a random one.

    Raises
    ------
    UserError
        Numbers out of range, or too few controls.
    """
    controls = None if share is None else how_many(len(table), share)
    return Promise(
        error=error,
        level=level,
        seed=secrets.randbits(62) if seed is None else seed,
        fingerprint=table.fingerprint,
        plan=plan_dataset(len(table), error, level, controls=controls),
        reranked=reranked,
        draw_number=draw_number,
        seed_given=seed is not None,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def with_draws(promise: Promise, drawn: Collection[str]) -> Promise:
    """Return the promise with its draws counted anew.

    Parameters
    ----------
    drawn
        Hashes of the draws of these labels; the largest of their number and what was counted before holds.
    """
    counted = promise.draw_hash in drawn
    number = len(set(drawn) | {promise.draw_hash})
    return replace(promise, draw_number=max(number, promise.draw_number), draws_counted=counted)


def controls_of(promise: Promise, table: LabelTable) -> Ints:
    """Return the (K,) rows of the controls, in the random order in which they are to be answered.

    Raises
    ------
    UserError
        The table is not the one that the promise is about.
    """
    if table.fingerprint != promise.fingerprint:
        raise UserError(
            "The labels are not those of the plan: ids, labels or confidences have changed since the controls were "
            "drawn. Use the labels that the plan was made of, or make a new plan for these."
        )
    return draw_dataset_controls(promise.plan, promise.seed, table.ids)


def order_of(promise: Promise, table: LabelTable) -> Ints:
    """Return the (n,) rows, the surest first."""
    return dataset_order(table.confidence, promise.seed, table.ids)


def answers_of(table: LabelTable, decisions: Iterable[CheckedLabel]) -> tuple[Answers, npt.NDArray[np.bool_]]:
    """(n,) `RIGHT`, `WRONG` or `UNANSWERED`, and (n,) whether the answer is no label, which counts as wrong.

    Raises
    ------
    UserError
        a decision on an id that is not in the table, or two on the same id.
    """
    place = {str(one): row for row, one in enumerate(table.ids)}
    result, unsure = np.full(len(table), UNANSWERED, dtype=np.int8), np.zeros(len(table), dtype=np.bool_)
    for decision in decisions:
        row = place.get(decision.id)
        if row is None:
            raise UserError(f"There is a decision on {decision.id!r}, but the labels have no such id.")
        if result[row] != UNANSWERED:
            raise UserError(f"There are two decisions on {decision.id!r}; keep one.")
        result[row] = RIGHT if decision.label == table.labels[row] else WRONG
        unsure[row] = decision.label is None
    return result, unsure


def judge(
    promise: Promise, table: LabelTable, decisions: Sequence[CheckedLabel], *, features: PoolFeatures | None = None
) -> Judgement:
    """Apply the rule to the decisions so far.

    Parameters
    ----------
    features
        What a re-ranked promise looks at; by default made of confidences and labels.

    Raises
    ------
    UserError
        Decisions or labels that do not belong to the promise.
    """
    answers, unsure = answers_of(table, decisions)
    controls, order = controls_of(promise, table), order_of(promise, table)
    if not promise.reranked:
        cut = cut_of(order, controls, answers[controls], promise.plan.tolerated)
        accepted = np.zeros(len(table), dtype=np.bool_)
        accepted[order[: cut.accepted]] = True
        return _judgement(controls, answers, unsure, accepted, left=cut.left)
    if features is None:
        features = pool_features(order, table.confidence, table.labels)
    pool = Pool(features, controls, promise.plan.tolerated)
    pool.advance(answers)
    left = np.array(pool.left, dtype=np.int64)
    result = _pooled(controls, answers, unsure, left)
    if pool.done:
        return result
    return replace(result, accepted=np.zeros(len(table), dtype=np.bool_), left=np.concatenate([left, pool.waiting]))


def _pooled(controls: Ints, answers: Answers, unsure: npt.NDArray[np.bool_], left: Ints) -> Judgement:
    """What holds of a re-ranked review once these rows have left the pool and the others are accepted."""
    accepted = np.ones(len(answers), dtype=np.bool_)
    accepted[left] = False
    return replace(_judgement(controls, answers, unsure, accepted, left=left), pool_left=left)


def _judgement(
    controls: Ints, answers: Answers, unsure: npt.NDArray[np.bool_], accepted: npt.NDArray[np.bool_], *, left: Ints
) -> Judgement:
    inside, looked = controls[accepted[controls]], answers != UNANSWERED
    return Judgement(
        controls=controls,
        accepted=accepted,
        checked=looked & ~unsure,
        looked_at=looked,
        wrong_inside=int((answers[inside] == WRONG).sum()),
        wrong=int((answers[controls] == WRONG).sum()),
        waiting=inside[answers[inside] == UNANSWERED],
        left=left,
        unsure=int(unsure.sum()),
    )


def check_complete(promise: Promise, table: LabelTable, judgement: Judgement) -> None:
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
    if judgement.wrong_inside > promise.plan.tolerated:
        row = judgement.remaining[0] if len(judgement.remaining) else 0
        raise UserError(
            f"{judgement.wrong_inside:,} wrong controls are among the labels nobody has looked at; at most "
            f"{promise.plan.tolerated:,} may be. Go on looking at labels, {str(table.ids[row])!r} next."
        )


def final_frame(table: LabelTable, decisions: Sequence[CheckedLabel], judgement: Judgement) -> pd.DataFrame:
    """final.csv: every row in input order, with people's labels where they looked."""
    labels = table.labels.astype(object)
    place = {str(one): row for row, one in enumerate(table.ids)}
    for decision in decisions:
        if decision.label is not None:
            labels[place[decision.id]] = decision.label
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
    """Entries of a certificate that are not part of its proof.

    Attributes
    ----------
    name
        Of the dataset.
    audit
        Hash of the last event of the review's audit trail; "" for none.
    """

    name: str = ""
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

    Raises
    ------
    UserError
        a control that matters is not answered.
    """
    check_complete(promise, table, judgement)
    extras = extras or Extras()
    drawn = set(table.ids[judgement.controls].tolist())
    entries = [
        {
            "id": decision.id,
            "label": decision.label,
            "control": decision.id in drawn,
            "by": decision.by,
            "at": decision.at,
        }
        for decision in decisions
    ]
    by: dict[str, int] = {}
    for decision in decisions:
        by[decision.by] = by.get(decision.by, 0) + 1
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
        "plan": {
            "n": promise.plan.n,
            "allowed": promise.plan.allowed,
            "controls": promise.plan.controls,
            "tolerated": promise.plan.tolerated,
            "attained_alpha": promise.plan.attained,
        },
        "assumptions": list(ASSUMPTIONS),
        "notes": [one for one in (_seed_words(promise), draw_words(promise)) if one],
        "labels": {
            "n": len(table),
            "fingerprint": promise.fingerprint,
            "id": table.ids.tolist(),
            "identified_label": table.labels.tolist(),
            "confidence": table.confidence.tolist(),
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
    """SHA-256 (hex) of the certificate, without the entries that are not part of the proof."""
    return hashlib.sha256(json.dumps(proof, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _seed_words(promise: Promise) -> str:
    return (
        "The seed of the draw was given by hand; that no other seed was tried before is not shown."
        if promise.seed_given
        else ""
    )


def draw_words(promise: Promise) -> str:
    """Return the note on further draws of the same labels; "" for a single known draw."""
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
        f"Controls were drawn {number} times for labels of these examples. If a draw was chosen by its result, the "
        f"confidence is not {promise.level:.4g} but that of all draws together, {together:.4g}. {unknown}"
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


def _bound(promise: Promise, judgement: Judgement) -> int:
    """Upper bound on wrong labels: those allowed plus those that reviewers left as unsure."""
    return promise.plan.allowed + judgement.unsure


def _result(promise: Promise, table: LabelTable, judgement: Judgement) -> dict[str, Any]:
    remaining, bound = len(judgement.remaining), _bound(promise, judgement)
    return {
        "accepted": int(judgement.accepted.sum()),
        "accepted_unseen": judgement.unseen,
        "looked_at": int(judgement.looked_at.sum()),
        "to_be_looked_at": remaining,
        "complete": remaining == 0,
        "unsure": judgement.unsure,
        "wrong_controls": judgement.wrong,
        "wrong_controls_inside": judgement.wrong_inside,
        "left_the_pool": None if judgement.pool_left is None else table.ids[judgement.pool_left].tolist(),
        "bound": bound,
        "bound_share": bound / len(table),
        "attained_alpha": promise.plan.attained,
        "statement": statement(promise, table, judgement),
    }


def statement(promise: Promise, table: LabelTable, judgement: Judgement) -> str:
    """The certificate as a few sentences."""
    n, bound, remaining = len(table), _bound(promise, judgement), len(judgement.remaining)
    once = f"Once people have looked at {remaining:,} more, at" if remaining else "At"
    open_ = f" {judgement.unsure:,} of these are labels that reviewers could not tell." if judgement.unsure else ""
    return (
        f"{once} most {bound:,} of all {n:,} labels ({bound / n:.2%}) are wrong, with "
        f"{promise.level:.4g} confidence.{open_} {judgement.unseen:,} labels are accepted without anybody having "
        f"looked at them{_threshold(promise, table, judgement)}. {len(judgement.controls):,} random controls were "
        f"drawn, {judgement.wrong:,} of them had a wrong label."
    )


def _threshold(promise: Promise, table: LabelTable, judgement: Judgement) -> str:
    """The confidence above which all labels are accepted, as a clause; "" where the order has changed."""
    left = table.confidence[~judgement.accepted]
    if promise.reranked or not len(left) or not judgement.accepted.any():
        return ""
    return f", among them all of a confidence above {left.max():.4g}"


# ---- verification ----------------------------------------------------------------------------------------------------


def verify_document(document: Mapping[str, Any]) -> list[str]:
    """Make a certificate anew from its labels, plan and decisions; return what does not fit, [] where all does.

    Raises
    ------
    UserError
        It is no certificate, or of another version.
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
    )
    problems = []
    if table.fingerprint != labels["fingerprint"]:
        problems.append("The labels were altered: ids, labels or confidences do not have the fingerprint stated.")
    figures = document["plan"]
    plan = DatasetPlan(
        figures["n"],
        stated["error"],
        stated["confidence"],
        figures["controls"],
        figures["tolerated"],
    )
    promise = Promise(
        error=stated["error"],
        level=stated["confidence"],
        seed=stated["seed"],
        fingerprint=labels["fingerprint"],
        plan=plan,
        reranked=stated["reranked"],
        draw_number=stated["draw_number"],
        draws_counted=stated["draws_counted"],
        seed_given=stated["seed_given"],
    )
    if promise.draw_hash != stated["draw_hash"]:
        problems.append("The plan or the seed was altered: they do not have the hash fixed before the answers.")
    if plan.n != len(table):
        problems.append(f"The plan is of {plan.n} labels, but there are {len(table):,}.")
    elif plan.attained > 1 - plan.level + 1e-6:
        problems.append(f"The rule is not valid: its risk is {plan.attained:.4f}, above {1 - promise.level:.4f}.")
    entries = document["decisions"]
    for position in broken_links(entries, stated["draw_hash"]):
        problems.append(
            f"Decision {position + 1}, on {entries[position]['id']!r}, was altered, or one before it was removed: it "
            "does not fit the hash chain."
        )
    if problems:
        return problems
    decisions = [CheckedLabel(one["id"], one["label"], one["by"], one["at"]) for one in entries]
    judgement = _judged_again(document, promise, table, decisions)
    anew = certificate_document(promise, table, decisions, judgement)
    proof = {name: value for name, value in document.items() if name not in (INFORMATION, "hash")}
    problems = _differences(proof, {name: value for name, value in anew.items() if name not in (INFORMATION, "hash")})
    if not problems and document["hash"] != _hash(proof):
        problems.append("The certificate does not have its hash.")
    stray = sorted(document[INFORMATION].keys() - anew[INFORMATION].keys())
    return [*problems, *(f"{INFORMATION} holds {name!r}, which no certificate has." for name in stray)]


def _differences(stated: Any, anew: Any, where: str = "") -> list[str]:
    """Return where a certificate differs from the one made anew, as sentences."""
    if isinstance(stated, Mapping) and isinstance(anew, Mapping):
        result = [
            f"It holds {where + name!r}, which no certificate has." for name in sorted(stated.keys() - anew.keys())
        ]
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
    answers, unsure = answers_of(table, decisions)
    place = {str(one): row for row, one in enumerate(table.ids)}
    left = np.array([place[one] for one in document["result"]["left_the_pool"]], dtype=np.int64)
    missing = left[answers[left] == UNANSWERED]
    if len(missing):
        raise UserError(f"{str(table.ids[missing[0]])!r} is said to have left the pool, but has no decision.")
    return _pooled(controls_of(promise, table), answers, unsure, left)
