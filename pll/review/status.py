"""The state of a review in figures. Every page and file asks here, so that no two give two numbers for one thing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pll.analysis.health import Health
from pll.review.expected_checks import ExpectedChecks
from pll.review.state import ReviewState
from pll.weights import CONFIDENT, Certainty
from pll.wording import count


@dataclass(frozen=True)
class ReviewStatus:
    """How many labels there are, how sure they are, and what people have decided.

    Each label is one of: certain, worth a look, refused, unsure, disputed.

    Attributes
    ----------
    labels
        Of the examples that were learnt from.
    certain
        Confidence of at least `CONFIDENT`, or decided; None where it is not known how sure labels are, or they are not
        to be trusted.
    given
        Of them, those that nobody decided and that are the only candidate of their example: taken as right.
    wrong
        Expected number of wrong ones among the certain that nobody decided: Σ (1 − confidence).
    decided
        Examples that people settled: by a label, or by "none of these".
    corrected
        Of them, those with another label than was proposed.
    refused
        Of them, those decided as "none of these": they have no label.
    unsure
        Examples that nobody could tell: they keep the model's label.
    disputed
        Examples on which reviewers disagree, which is to be settled: they keep the model's label.
    is_known
        Whether it is known how sure the labels are.
    certificate
        What holds of all labels, as a sentence; "" before it is earned.
    checks
        To go for the certificate that is under way; None without one.
    is_checked
        Whether nothing is known of the run that would make more of them wrong (`Health.verdict`).
    """

    labels: int
    certain: int | None = None
    given: int = 0
    wrong: float = 0.0
    decided: int = 0
    corrected: int = 0
    refused: int = 0
    unsure: int = 0
    disputed: int = 0
    is_known: bool = True
    certificate: str = ""
    checks: ExpectedChecks | None = None
    is_checked: bool = True

    @property
    def doubtful(self) -> int | None:
        """Labels worth a look; None where that is not known."""
        others = self.refused + self.unsure + self.disputed
        return None if self.certain is None else self.labels - self.certain - others

    @property
    def confirmed(self) -> int:
        """Decisions that left the label as it was."""
        return self.decided - self.corrected - self.refused

    @property
    def sentence(self) -> str:
        """As a person reads it.

        Examples
        --------
        >>> ReviewStatus(60, 52, wrong=2.6).sentence
        '60 labels. 52 certain, 8 worth a look. About 3 of the 52 may be wrong.'
        >>> ReviewStatus(60, 52, 40, 2.6).sentence
        '60 labels. 52 certain, 8 worth a look. 40 taken as right, as the only candidate. About 3 of the other 12 \
may be wrong.'
        >>> ReviewStatus(60, 52, wrong=2.6, is_checked=False).sentence
        '60 labels. 52 certain, 8 worth a look. Unchecked: 3 or more of the 52 may be wrong.'
        >>> ReviewStatus(60, 4, wrong=0.1, is_checked=False).sentence
        '60 labels. 4 certain, 56 worth a look. Unchecked: some of the 4 may be wrong.'
        >>> ReviewStatus(60, is_known=False).sentence
        '60 labels. How sure they are is not known.'
        >>> ReviewStatus(60, 50, wrong=0.2, decided=21, corrected=5, refused=1, unsure=2).sentence
        '60 labels. 50 certain, 7 worth a look. Hardly any of the 30 undecided should be wrong. 21 decided of 60: \
5 corrected, 1 none of these. 2 unsure.'
        >>> ReviewStatus(60, 50, wrong=0.2, decided=1, disputed=2).sentence
        '60 labels. 50 certain, 8 worth a look. Hardly any of the 49 undecided should be wrong. 1 decided of 60: \
0 corrected. 2 disagreements to settle.'
        """
        text = f"{count(self.labels, 'label')}."
        if self.certificate:
            text += f" Certified: {self.certificate}"
        elif self.certain is not None:
            text += f" {self.certain:,} certain, {self.doubtful:,} worth a look.{self._expected_wrong}"
        elif not self.is_known:
            text += " How sure they are is not known."
        return text + self._decisions

    @property
    def _expected_wrong(self) -> str:
        left = (self.certain or 0) - self.given - (self.decided - self.refused)  # decided labels are certain, and right
        these = f"the {'other ' * bool(self.given)}{left:,}{' undecided' * (self.decided > self.refused)}"
        given = f" {self.given:,} taken as right, as the only candidate." * bool(self.given)
        few, is_few = f"{max(1, round(self.wrong)):,}", self.wrong < 0.5
        if not self.is_checked:
            wrong = f" Unchecked: {'some' if is_few else f'{few} or more'} of {these} may be wrong."
        else:
            wrong = f" Hardly any of {these} should be wrong." if is_few else f" About {few} of {these} may be wrong."
        return given + wrong * bool(left)

    @property
    def _decisions(self) -> str:
        decided = f" {self.decided:,} decided of {self.labels:,}: {self.corrected:,} corrected"
        refused = f", {self.refused:,} none of these" if self.refused else ""
        disputed = f" {count(self.disputed, 'disagreement')} to settle." * bool(self.disputed)
        unsure = f" {self.unsure:,} unsure." * bool(self.unsure)
        return (f"{decided}{refused}." if self.decided else "") + unsure + disputed


def status_of(
    labels: Certainty,
    state: ReviewState | None = None,
    *,
    health: Health | None = None,
    certificate: str = "",
    checks: ExpectedChecks | None = None,
) -> ReviewStatus:
    """Return the state of a review.

    Parameters
    ----------
    labels
        Of the n examples, as the decisions leave them.
    state
        What people decided; None without a review.
    health
        Of the run: while that is unhealthy no label is called certain. None where it is not known.
    certificate
        What it says of the labels (`Certification.claim`); "" before it is earned.
    checks
        To go for it.
    """
    n = len(labels.identified)
    outcomes = [] if state is None else list(state.outcomes())
    kinds = ("label", "none", "unsure", "conflict")
    rows = {status: [row for row, one in outcomes if one.status == status] for status in kinds}
    corrected = [row for row, one in outcomes if state and one.label is not None and one.label != state.proposed(row)]
    is_known = bool(labels.is_known.any())
    certain, given, wrong = None, 0, 0.0
    if is_known and (health is None or health.verdict != "unhealthy"):
        confidence = labels.confidence.astype(np.float64)
        confidence[rows["label"]] = 1.0
        confidence[rows["none"] + rows["unsure"] + rows["conflict"]] = 0.0
        is_certain = confidence >= CONFIDENT
        certain, wrong = int(is_certain.sum()), float((1 - confidence[is_certain]).sum())
        given = int(np.delete(is_certain & labels.is_given, rows["label"]).sum())
    return ReviewStatus(
        labels=n,
        certain=certain,
        given=given,
        wrong=wrong,
        decided=len(rows["label"]) + len(rows["none"]),
        corrected=len(corrected),
        refused=len(rows["none"]),
        unsure=len(rows["unsure"]),
        disputed=len(rows["conflict"]),
        is_known=is_known,
        certificate=certificate,
        checks=checks,
        is_checked=health is None or health.verdict != "unchecked",
    )
