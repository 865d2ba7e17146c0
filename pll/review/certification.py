"""What a review says about the labels as they are: the certificate, its rounds and promises, calibrated confidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from pll.errors import UserError
from pll.review.active_labels import unjudged
from pll.review.calibration import Calibration, Method
from pll.review.certificate import Certificate
from pll.review.label_snapshot import LabelSnapshot
from pll.review.rounds import (
    Promise,
    calibration_of,
    certificate_of,
    control_answers,
    more_controls,
    new_round,
)
from pll.review.state import ReviewState
from pll.store.records import Opened, RoundRecord
from pll.store.store import Reader, Transaction


class Judging(ABC):
    """The part of `ReviewSession` that looks after rounds; see there for the attributes."""

    root: LabelSnapshot
    current: LabelSnapshot
    state: ReviewState
    rounds: tuple[RoundRecord, ...]
    asked: npt.NDArray[np.int64]
    clock: Callable[[], datetime]

    @abstractmethod
    def writing(self) -> AbstractContextManager[Transaction]:
        """A transaction in which the state is up to date."""

    @abstractmethod
    def refresh(self) -> bool:
        """Take in what was written, by other processes too."""

    @property
    @abstractmethod
    def under_review(self) -> tuple[RoundRecord, LabelSnapshot]:
        """The latest round and the labels that it judges."""

    @property
    def round(self) -> RoundRecord:
        """The latest round: the labels under certificate."""
        return self.rounds[-1]

    def certificate(self) -> Certificate:
        """What may be accepted unseen, as the controls answered so far say; `explanation` has it in words."""
        return certificate_of(*self.under_review, self.state, self.asked)

    def controls_answered(self) -> int:
        """How many controls count by now: those before the first that is still open."""
        record, labels = self.under_review
        return len(control_answers(record.controls, labels, self.state, self.asked))

    def new_promise(
        self, promise: Promise, *, by: str | None = None, verified: bool = False, instead_of: int | None = None
    ) -> RoundRecord:
        """Promise something else. Nothing answered is lost: decided controls of the new draw count from the record.

        While no control of the round is answered, that costs nothing. Afterwards it is a second certificate of the
        same labels: that both hold is promised only at the sum of their α.

        Args:
            instead_of: only where the round of this number is still the latest.

        Raises:
            UserError: other labels, or another promise, came meanwhile; or an impossible promise.
        """
        with self.writing() as t:
            last = t.rounds()[-1]
            if last.key != self.current.key or instead_of not in (None, last.number):
                raise UserError("The review has gone on meanwhile. Look at where it stands, then promise again.")
            opened = Opened("new promise", by, verified)
            t.open_round(new_round(last.number + 1, self.current, promise, self.clock(), opened=opened))
        self.refresh()
        return self.round

    def draw_more(self, share: float) -> int:
        """Draw further controls of the round, up to this share of all examples; how many these are."""
        with self.writing() as t:
            self.take_in_controls(t)
            further = more_controls(self.round, len(self.root), share)
            t.add_controls(self.round.number, further, first=len(self.round.controls))
        self.refresh()
        return len(further)

    def take_in_controls(self, reader: Reader) -> None:
        """Another process may have drawn more of them."""
        more = reader.controls(self.round.number, first=len(self.round.controls))
        if more:
            self.rounds = (*self.rounds[:-1], replace(self.round, controls=self.round.controls + more))

    def adopt(self, subject: LabelSnapshot, opened: Opened, *, instead_of: int | None = None) -> bool:
        """Put the labels of a taught run, or those taken over, in the place of the old ones, with a fresh draw.

        Args:
            opened: how they came about, and by whom.
            instead_of: only where the labels of the round of this number are still those under review.

        Returns:
            False where another process has done so already, or was before us with other labels.
        """
        with self.writing() as t:
            known = t.rounds()
            fresh = unjudged(subject, known) and instead_of in (None, known[-1].number)
            if fresh:
                last = known[-1]
                promise = Promise(last.share, last.max_error, last.level)
                t.open_round(new_round(last.number + 1, subject, promise, self.clock(), opened=opened))
        self.refresh()
        return fresh

    def calibration(self, method: Method = "temperature") -> Calibration:
        """Calibrated confidence, fitted on the random controls answered so far.

        Controls that the model has learnt from (they were decided before it was taught) are left out.

        Raises:
            UserError: too few of them.
        """
        record, labels = self.under_review
        return calibration_of(record, self.root.candidates, labels, self.state, self.asked, method)
