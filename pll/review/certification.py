"""Certification: labels are frozen, controls drawn, people's answers judged, the certificate and final labels made.

One mechanism at the desk and in the shell: `draw_plan` freezes a `LabelTable` and draws its controls; a `Certification`
of both judges decisions, says which rows are handed out next, and makes certificate and final labels. In the shell the
decisions are those of a file; a desk asks with the state of its review, which is kept up to date event by event.

Draws of controls are counted, in a review and on a machine, so that a second draw is recognised as one: one line of
JSON a draw in `draws.jsonl` of Candid's home. A draw belongs to ids and labels alone: other confidences, errors or
files do not make a second look at the same labels a first one.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll.analysis.intervals import hypergeometric
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.paths import candid_home
from pll.review.certificate import (
    CERTIFICATE_LEVEL,
    RIGHT,
    UNANSWERED,
    CheckedLabel,
    DrawnPlan,
    Ids,
    Judgement,
    LabelTable,
    answers_of,
    certificate_document,
    controls_of,
    hash_of_rows,
    label_order,
    plan_controls,
)
from pll.review.expected_checks import ExpectedChecks, evenly, expected_checks
from pll.review.follow import CERTIFY_QUEUE, CONTROL_QUEUE
from pll.review.label_snapshot import LabelSnapshot
from pll.review.state import ReviewState
from pll.weights import Flags, Ints

# ---- the draw --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlanRecord:
    """The plan of a certificate of all labels of a run. The labels are stored beside it (`Reader.frozen`).

    Attributes
    ----------
    number
        1, 2, … within the review.
    """

    number: int
    run: str
    plan: DrawnPlan

    @staticmethod
    def last_of(plans: Sequence[PlanRecord], run: str) -> PlanRecord | None:
        """Return the last plan of a review that is of the labels of this run; None where none is.

        Parameters
        ----------
        plans
            Of the review, in the order in which they were made.
        run
            Id of the run.
        """
        return next((record for record in reversed(plans) if record.run == run), None)


def draw_plan(
    table: LabelTable,
    error: float,
    level: float = CERTIFICATE_LEVEL,
    *,
    drawn: Collection[str] = (),
    share: float | None = None,
    seed: int | None = None,
) -> DrawnPlan:
    """Plan the controls of a table and fix the seed of their draw; call `remember_draw` once the plan is stored.

    Parameters
    ----------
    table
        The labels.
    error, level
        ε and 1 − α.
    drawn
        Hashes of the draws of these labels that are known.
    share
        Of the rows that are controls; by default what the plan finds best.
    seed
        By default a random one.

    Raises
    ------
    UserError
        Numbers out of range, or too few controls.
    """
    if share is not None and not 0 < share <= 1:
        raise UserError(f"The control share must be above 0 and at most 1, not {share}.")
    controls = None if share is None else max(1, int(share * len(table) + 0.5))
    plan = DrawnPlan(
        **asdict(plan_controls(len(table), error, level, controls)),
        seed=secrets.randbits(62) if seed is None else seed,
        fingerprint=table.fingerprint,
        seed_given=seed is not None,
    )
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(plan, draw_number=len({*drawn, plan.draw_hash}), made_at=made_at)


def draws_of(table: LabelTable, plans: Iterable[DrawnPlan] = ()) -> set[str]:
    """Return the hashes of all known draws: those of the plans, and of these labels on this machine.

    Parameters
    ----------
    table
        The labels.
    plans
        Of certificates of these labels.
    """
    return {plan.draw_hash for plan in plans} | earlier_draws({labels_key(table.ids, table.labels)})


def labels_key(ids: Ids, labels: Ids) -> str:
    """SHA-256 (hex) of ids and labels; the order of rows does not matter.

    Parameters
    ----------
    ids
        (n,) names of the rows.
    labels
        (n,) labels.

    Examples
    --------
    >>> labels_key(["a", "b"], ["cat", "dog"]) == labels_key(["b", "a"], ["dog", "cat"])
    True
    """
    return hash_of_rows(map(str, ids), map(str, labels))


def earlier_draws(keys: Collection[str]) -> set[str]:
    """Return the hashes of the draws made on this machine of the labels with one of these keys (`labels_key`)."""
    result = set()
    with suppress(OSError):
        for line in (candid_home() / "draws.jsonl").read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError):
                entry = json.loads(line)
                if not set(keys).isdisjoint(entry["keys"]):
                    result.add(str(entry["draw_hash"]))
    return result


def remember_draw(keys: Collection[str], draw_hash: str) -> None:
    """Add a draw. A home that cannot be written to is no reason to fail: the certificate says that it is not known.

    Parameters
    ----------
    keys
        Of the labels (`labels_key`).
    draw_hash
        Of the plan.
    """
    if draw_hash in earlier_draws(keys):
        return
    with suppress(OSError):
        candid_home().mkdir(parents=True, exist_ok=True)
        with (candid_home() / "draws.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"keys": sorted(keys), "draw_hash": draw_hash}) + "\n")


# ---- the labels of a review ------------------------------------------------------------------------------------------


def table_of(snapshot: LabelSnapshot, state: ReviewState) -> LabelTable:
    """Return the labels of this moment as a table: people's where they decided, with confidence 1, else the model's.

    Where it is not known how sure a label is, its confidence is 0: it is among the first to be looked at.

    Parameters
    ----------
    snapshot
        The labels under review.
    state
        Of the review.
    """
    labels, confidence = snapshot.labels.copy(), np.nan_to_num(snapshot.certainty.confidence.astype(np.float64))
    rows, decided = state.labels()
    labels[rows], confidence[rows] = decided, 1.0
    return LabelTable(snapshot.ids, labels.tolist(), confidence)


def expected_before(
    table: LabelTable, state: ReviewState, error: float, level: float, disagrees: Flags | None
) -> ExpectedChecks:
    """Return how many labels people would look at for a certificate whose controls are not drawn yet.

    Parameters
    ----------
    table
        Of `table_of`.
    state
        Of the review.
    error, level
        ε and 1 − α.
    disagrees
        As for `expected_checks`.
    """
    plan = plan_controls(len(table), error, level)
    answers = np.full(len(table), UNANSWERED, dtype=np.int8)
    answers[state.labels()[0]] = RIGHT
    order = np.argsort(-table.confidence, kind="stable")
    controls = evenly(order, plan.controls)
    return expected_checks(order, table.confidence, controls, answers, plan.tolerated, disagrees=disagrees)


# ---- certification ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Certified:
    """A certificate of all labels, and these labels.

    Attributes
    ----------
    document
        The certificate, as plain JSON values.
    final
        final.csv as a table.
    """

    document: dict[str, Any]
    final: pd.DataFrame


class Certification:
    """The certification of a table of labels. Not safe between threads.

    Parameters
    ----------
    plan
        With its draw.
    table
        The labels that it is of.

    Attributes
    ----------
    controls
        (K,) rows, in the order in which they are handed out.
    order
        (n,) rows, the surest first.

    Raises
    ------
    UserError
        The plan is not valid for these labels (`pll.review.certificate.controls_of`).
    """

    def __init__(self, plan: DrawnPlan, table: LabelTable) -> None:
        self.plan, self.table = plan, table
        self.controls = controls_of(plan, table)
        self.order = label_order(table.confidence, plan.seed, table.ids)
        self._judged: tuple[tuple[int, bytes], Judgement] | None = None  # after so many events, with so many reviewers

    def judge(self, decisions: Iterable[CheckedLabel]) -> Judgement:
        """Return what follows from some decisions, as `pll.review.certificate.judge` does."""
        return Judgement(self.plan, self.controls, self.order, answers_of(self.table, decisions))

    def certified(
        self, decisions: Sequence[CheckedLabel], *, drawn: Collection[str] = (), name: str = "", audit: str = ""
    ) -> Certified:
        """Return the certificate, and the labels as they are after it.

        Parameters
        ----------
        decisions
            The answers.
        drawn
            Hashes of the draws of these labels that are known; the largest of their number and what was counted before
            holds.
        name, audit
            See `certificate_document`.

        Raises
        ------
        UserError
            A control that matters is not answered, or decisions that do not belong to the labels.
        """
        own = self.plan.draw_hash
        number = max(len({*drawn, own}), self.plan.draw_number)
        plan = replace(self.plan, draw_number=number, draws_counted=own in drawn)
        judgement = replace(self.judge(decisions), plan=plan)
        document = certificate_document(self.table, decisions, judgement, name=name, audit=audit)
        return Certified(document, _final_labels(self.table, decisions, judgement))

    # ---- at the desk ---------------------------------------------------------------------------------------------

    def status(self, state: ReviewState) -> Judgement:
        """Return what follows from the decisions so far; only those since the last call are looked at."""
        key = len(state.all_events), state.required.tobytes()
        if self._judged is None or self._judged[0] != key:
            self._judged = key, self.judge(self.decisions(state))
        return self._judged[1]

    def claim(self, labels: npt.NDArray[np.object_], state: ReviewState) -> str:
        """Return what holds of the certified labels; "" before it is earned.

        Parameters
        ----------
        labels
            (n,) labels of the run as the decisions leave them; the sentence says how many are not the certified.
        state
            Of the review.
        """
        judgement = self.status(state)
        differ = int(((labels != self.table.labels) & ~judgement.looked_at).sum())
        since = f" That is of the certified labels, from which those of today differ in {differ:,}." * bool(differ)
        return judgement.claim + since if judgement.done else ""

    def expected(self, judgement: Judgement, disagrees: Flags | None = None) -> ExpectedChecks:
        """Return how many labels people will still look at.

        Parameters
        ----------
        judgement
            What follows from the decisions so far.
        disagrees
            (n,) whether the neighbours of an example have another label; None where that is not known.
        """
        confidence, answers = self.table.confidence, judgement.answers
        return expected_checks(self.order, confidence, self.controls, answers, self.plan.tolerated, disagrees=disagrees)

    def queue(self, state: ReviewState) -> tuple[str, Ints]:
        """Return (name, rows) of what is handed out now: the controls, then what is to be looked at.

        Rows behind the first one that is open may be handed out too, to several reviewers at a time; which they are
        follows from the answers so far.
        """
        judgement = self.status(state)
        if judgement.answered < len(self.controls):
            return CONTROL_QUEUE, self.controls
        return CERTIFY_QUEUE, judgement.remaining

    def decisions(self, state: ReviewState) -> list[CheckedLabel]:
        """Return the answers as the certificate counts them: of rows that all their reviewers have answered.

        Of a row that the certificate asks of nobody, the answer of one reviewer of several is enough: it was looked at.
        """
        rows = sorted(row for row, outcome in state.outcomes() if outcome.status != "open")
        closed = [self._checked(row, state) for row in rows if state.is_closed(row)]
        free = self.judge(closed).accepted
        free[self.controls] = False
        clear = [row for row in rows if free[row] and state.outcome(row).status in ("label", "none")]
        early = [self._checked(row, state) for row in clear if not state.is_closed(row)]
        return sorted((*closed, *early), key=lambda one: self.table.place[one.id])

    def _checked(self, row: int, state: ReviewState) -> CheckedLabel:
        """What people decided about a row that has an answer."""
        outcome = state.outcome(row)
        event = outcome.event or next((one.event for one in outcome.answers.values() if one.event is not None), None)
        by, at = ("", "") if event is None else (event.reviewer, event.at.isoformat())
        return CheckedLabel(str(self.table.ids[row]), outcome.label, by, at, outcome.status == "none")


def _final_labels(table: LabelTable, decisions: Sequence[CheckedLabel], judgement: Judgement) -> pd.DataFrame:
    """final.csv: every row in input order, with people's labels where they looked; no label where they refused all."""
    labels, confidence = table.labels.astype(object), table.confidence.copy()
    by_people = np.zeros(len(table), dtype=np.bool_)
    for decision in decisions:
        if decision.label is None and not decision.refused:
            continue  # an unsure reviewer leaves the label as it is
        row = table.place[decision.id]
        labels[row], confidence[row] = decision.label, 1.0 if decision.label is not None else np.nan
        by_people[row] = True
    # An accepted label that a reviewer was unsure of still needs a decision, and one refused has no label.
    done = np.where(judgement.looked_at, ~judgement.unsure & ~judgement.refused, judgement.accepted)
    return pd.DataFrame(
        {
            "id": table.ids,
            "identified_label": labels,
            "confidence": confidence,
            "source": np.where(by_people, "human", "model"),
            "accepted": done.astype(np.int64),
        }
    )


# ---- what controls say of all rows -----------------------------------------------------------------------------------


def answered_sample(controls: Ints, state: ReviewState) -> Ints:
    """The controls before the first open one, in the order drawn: a random sample of all rows.

    A control behind it that is answered was looked at for another reason, for being hard say.

    Parameters
    ----------
    controls
        (K,) rows, in the order drawn.
    state
        Of the review.
    """
    first_open = next((k for k, row in enumerate(controls.tolist()) if not state.is_closed(row)), None)
    return controls[:first_open]


@dataclass(frozen=True)
class MissRate:
    """How many candidate sets miss the right label, by the controls answered so far.

    Attributes
    ----------
    answered
        Controls, in the order drawn.
    missing
        Of these, the set misses the right label.
    unknown
        Of these, unsure or in conflict.
    low, high
        Exact 95 % interval of the share of all sets; it holds whatever the unknown ones are.
    """

    answered: int
    missing: int
    unknown: int
    low: float
    high: float


def miss_rate_of(controls: Ints, sets: CandidateSets, state: ReviewState) -> MissRate | None:
    """The share of candidate sets that miss the right label; None where no control is answered.

    Parameters
    ----------
    controls
        (K,) rows, in the order drawn.
    sets
        Of the data, without labels that a method added.
    state
        Of the review.
    """
    missing = unknown = 0
    sample = answered_sample(controls, state)
    for row in sample.tolist():
        result = state.outcome(row)
        unknown += result.status not in ("label", "none")
        missing += result.status == "none" or (result.status == "label" and result.label not in sets.names(row))
    if not len(sample):
        return None
    low, high = hypergeometric(missing, len(sample), len(sets), unknown=unknown)
    return MissRate(len(sample), missing, unknown, low, high)
