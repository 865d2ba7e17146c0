"""State of one reviewer in one browser tab, and the messages that the components of the page send."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.errors import BusyError, UserError
from pll.review.desk import Assignment, DecisionResult, Desk
from pll.review.events import Event
from pll.review.queue import LEARNING, ReviewQueue
from pll.review.session import ReviewSession
from pll.review.state import Kind
from pll.runs.access import Role
from pll.ui import login

Message = Mapping[str, Any]
Chosen = tuple[npt.NDArray[np.int64], str]
LOOKED_BACK = 200
"""Decisions of one's own that can be looked back at."""
DECIDING = ("decide", "accept")
"""Kinds of messages that bring decisions."""
ONE_BY_ONE, DISAGREEMENTS = "One by one", "Disagreements"
"""Names of the view with a card, and of that in which reviewers' disagreements are settled."""
PAIR = "disagree"
"""Name in the address of the two voters whose disagreements alone are assigned."""
SAVED_AS = {"unsure": "unsure", "none": "none of these", "skip": "skipped"}


@dataclass
class ReviewTab:
    """One reviewer at one desk in one tab."""

    queue: ReviewQueue
    desk: Desk
    blind: bool = False  # whether the model's view is to be hidden
    fixed: bool = False  # whether candidates are in the order of classes and not of weights
    assignment: Assignment | None = None  # what is on the desk; None where nothing is left
    open: Assignment | None = None  # what was on the desk before its reviewer looked back
    back: int = 0  # how many decisions back the example in view is; 0 for the open one
    ack: str = ""  # nonce of the last message that was handled
    message: str = ""  # what came of it
    problem: str = ""  # what went wrong
    goes_on: bool = False  # whether labels are assigned, too, that are not worth a look
    only: Chosen | None = None  # the rows that are assigned, and what they are in words; None for all

    @property
    def review(self) -> ReviewSession:
        """The review that is under way."""
        return self.queue.review

    @property
    def view_key(self) -> str:
        """Key of the choice of a view."""
        return f"review-view-{self.review.id}"

    def require(self, needed: Role) -> None:
        """Raise UserError where whoever looks at this page may not do what that role may, or no longer."""
        registry = self.queue.runs.for_person(login.person())
        try:
            run = registry.get(self.review.root.run)
        except UserError as error:
            raise UserError("This run was deleted, or is no longer shared with you.") from error
        registry.require(run, needed)

    def may(self, needed: Role) -> bool:
        """Whether whoever looks at this page may do what that role may."""
        try:
            self.require(needed)
        except UserError:
            return False
        return True

    @property
    def is_blind(self) -> bool:
        """Whether the model's view of the example on the desk is hidden: on the controls of a certificate, always."""
        return self.blind or (self.assignment is not None and self.assignment.is_control)

    @property
    def is_enough(self) -> bool:
        """Whether all that was worth a look was looked at, and nobody chose to go on with the others."""
        return not self.goes_on and self.only is None and self.queue.worth_a_look() == 0

    def begin(self) -> None:
        """Take something assigned, where nothing is and there is something worth a look."""
        if self.assignment is None and not self.is_enough:
            self.assignment = self.desk.next()

    def reassign(self) -> None:
        """Give back what is assigned, and ask for an example: another order or choice is in force."""
        self.desk.release()
        self._show(self.desk.next())

    def restrict(self, only: Chosen | None) -> None:
        """Assign these examples only; None for all."""
        st.query_params.pop(PAIR, None)
        self.only, mask = only, None
        if only is not None:
            mask = np.zeros(self.review.state.answers.shape, dtype=np.bool_)
            mask[only[0]] = True
        self.desk.restrict(mask)
        self.reassign()

    def look_at(self, rows: npt.NDArray[np.int64], name: str) -> None:
        """These examples first, in their order.

        Parameters
        ----------
        rows
            (m,) examples, the first leading.
        name
            Why, as the history of decisions has it.
        """
        self.desk.look_at(rows, name)
        self.reassign()

    def _show(self, assignment: Assignment | None) -> None:
        self.assignment, self.open, self.back = assignment, None, 0

    # ---- messages ------------------------------------------------------------------------------------------------

    def act(self, message: object, do: Callable[[Message, str], None] | None = None) -> None:
        """Handle a message from the desk, or else by `do`; those already handled and malformed ones are ignored.

        Parameters
        ----------
        message
            What the browser sent: a `nonce` of its own, `what` was pressed, and what belongs to that.
        do
            What handles it, with its nonce; None for the desk.
        """
        if not isinstance(message, Mapping) or not isinstance(message.get("nonce"), str):
            return
        nonce = message["nonce"][:80]
        if nonce == self.ack:
            return
        self.message = self.problem = ""
        try:
            self.require("reviewer")
            (do or self._do)(message, nonce)
        except BusyError as error:  # not acknowledged: the browser keeps it, and sends it again
            self.problem = f"{error} What you pressed is kept on this page and sent again by itself."
            return
        except UserError as error:
            again = "; give it again" if self.may("reviewer") else ""
            lost = f" Nothing was stored{again}." if message.get("what") in DECIDING else ""
            self.problem = f"{error}{lost}"
        self.ack = nonce

    def _do(self, message: Message, nonce: str) -> None:
        match message.get("what"):
            case "decide":
                self._decide(message)
            case "undo":
                self.undo(nonce)
            case "back":
                self._look(self.back + 1)
            case "forward":
                self._look(self.back - 1)
            case "now":
                self._look(0)

    def _decide(self, message: Message) -> None:
        assignment = self.assignment
        if assignment is None or not assignment.token or message.get("token") != assignment.token:
            return  # it was meant for an example that has been answered
        kind, label, seconds = message.get("kind"), message.get("label"), seconds_of(message)
        if not (label is None or isinstance(label, str)) or not isinstance(kind, str):
            return
        decision = cast(Kind, kind)  # one that there is not is refused by the desk
        result = self.desk.decide(assignment, decision, label, seconds=seconds, blind=self.is_blind)
        self._take(result)
        if result.stored:
            is_ = f"not {label}" if kind == "eliminate" else SAVED_AS.get(kind, label)
            self.message = f"Saved: {assignment.example} is {is_}."
            self.queue.update_order()
            if self.review.is_certified:
                self.reassign()  # this answer was the last one needed, and the next example is out already
            elif self.assignment is not None and self.assignment.queue == LEARNING and self.is_enough:
                self.desk.release()
                self._show(None)

    def undo(self, nonce: str | None = None) -> None:
        """Take back the last decision, and go back to its example."""
        result = self.desk.undo(token=nonce)
        self._take(result)
        if result.stored and result.event is not None:
            self.queue.forget(result.event)
            if result.next is not None:  # with weights that do not know the answer
                self._show(self.desk.show(result.next.row))
            self.message = f"Undone: {result.event.example}."

    def _take(self, result: DecisionResult) -> None:
        self._show(result.next)
        self.problem = result.notice

    # ---- looking back --------------------------------------------------------------------------------------------

    def _look(self, back: int) -> None:
        """Show the decision so many back; 0 for what is open."""
        if back < 1:
            self._show(self.open if self.open is not None else self.desk.next())
        elif back <= len(self.trail):
            if not self.back:
                self.open = self.assignment
            self.back = back
            self.assignment = self.desk.show(self.trail[back - 1].row)

    @property
    def trail(self) -> list[Event]:
        """This reviewer's decisions, the newest first, the last one of each example."""
        last: dict[int, Event] = {}
        for event in self.desk.history(LOOKED_BACK):
            if event.kind != "skip":
                last.setdefault(event.row, event)
        return list(last.values())

    @property
    def past(self) -> Event | None:
        """The decision looked back at; None where none is."""
        return self.trail[self.back - 1] if 0 < self.back <= len(self.trail) else None


def seconds_of(message: Message) -> float | None:
    """The time spent, as the browser says; None where that makes no sense.

    Examples
    --------
    >>> seconds_of({"seconds": 2}), seconds_of({"seconds": -1}), seconds_of({"seconds": "2"})
    (2.0, None, None)
    """
    seconds = message.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 86_400 else None
