"""State of one browser tab of a reviewer, and handling of the messages that its component sends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.errors import BusyError, UserError
from pll.review.desk import Assignment, DecisionResult, Desk
from pll.review.queue_manager import QueueManager
from pll.review.state import Kind
from pll.review.tables import Event
from pll.runs.access import Role

Message = Mapping[str, Any]
Chosen = tuple[npt.NDArray[np.int64], str]
LOOKED_BACK = 200
"""Decisions of one's own that can be looked back at."""
SAID = {"unsure": "unsure", "none": "none of these", "skip": "skipped"}


def pressed(key: str, act: Callable[[Any], None]) -> Callable[[], None]:
    """What the component calls: passes the message on."""

    def callback() -> None:
        sent = st.session_state.get(key)
        if sent is not None:  # after an error of the page the component is mounted again, and sends again
            act(sent.get("act"))

    return callback


class MessageHandler(ABC):
    """Handles the messages of one component.

    Attributes
    ----------
    ack
        Nonce of the last message that was handled.
    said
        The result, for those who do not see it; problem: what went wrong.
    storing
        The kind of message that brings decisions.
    check
        Raises UserError where a role is missing; None without a login.
    """

    ack: str
    said: str
    problem: str
    storing: ClassVar[str]
    check: Callable[[Role], None] | None = None

    def act(self, message: object) -> None:
        """Handle a message from the browser. Messages already handled and malformed ones are ignored."""
        if not isinstance(message, Mapping) or not isinstance(message.get("nonce"), str):
            return
        nonce = message["nonce"][:80]
        if nonce == self.ack:
            return
        self.said = self.problem = ""
        try:
            self.require("reviewer")
            self.do(message, nonce)
        except BusyError as error:  # not acknowledged: the browser keeps it, and sends it again
            self.problem = f"{error} What you pressed is kept on this page and sent again by itself."
            return
        except UserError as error:
            lost = " Nothing was stored; give it again." if message.get("what") == self.storing else ""
            self.problem = f"{error}{lost}"
        self.ack = nonce

    def require(self, needed: Role) -> None:
        """Raise UserError where whoever looks at this page may not do what that role may, or no longer."""
        if self.check is not None:
            self.check(needed)

    @abstractmethod
    def do(self, message: Message, nonce: str) -> None:
        """What it asks for.

        Raises
        ------
        UserError
            That cannot be done.
        """


def seconds_of(message: Message) -> float | None:
    """The time spent, as the browser says; None where that makes no sense.

    Examples
    --------
    >>> seconds_of({"seconds": 2}), seconds_of({"seconds": -1}), seconds_of({"seconds": "2"})
    (2.0, None, None)
    """
    seconds = message.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 86_400 else None


@dataclass
class ReviewTab(MessageHandler):
    """One reviewer at one desk in one tab.

    Attributes
    ----------
    manager
        The review, its data and the order of its queue.
    desk
        The reviewer's.
    blind
        The model's view is to be hidden.
    fixed
        Candidates are in the order of classes and not of weights.
    given
        What is on the desk; None where nothing is left.
    open
        What was on the desk before its reviewer looked back.
    past
        The decision looked back at; None where none is.
    ack, said, problem, check
        See `MessageHandler`.
    made
        Decisions stored in this work session; began: when it did, UTC.
    trail
        What can be looked back at, the newest first.
    only
        The rows that are assigned, and what they are in words; None for all.
    standing
        How far the certificate was (`promise_panel.Standing`), and when.
    """

    storing = "say"

    manager: QueueManager
    desk: Desk
    blind: bool = False
    fixed: bool = False
    given: Assignment | None = None
    open: Assignment | None = None
    past: Event | None = None
    ack: str = ""
    said: str = ""
    problem: str = ""
    made: int = 0
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    trail: list[Event] = field(default_factory=list)
    only: Chosen | None = None
    standing: tuple[tuple[Any, ...], Any] | None = None
    check: Callable[[Role], None] | None = None

    def may(self, needed: Role) -> bool:
        """Whether whoever looks at this page may do what that role may."""
        try:
            self.require(needed)
        except UserError:
            return False
        return True

    @property
    def hides(self) -> bool:
        """Whether the model's view of the example on the desk is hidden: on the controls of a certificate, always."""
        return self.blind or (self.given is not None and self.given.is_control)

    def begin(self) -> None:
        """Take something assigned, where nothing is."""
        if self.given is None:
            self.given = self.desk.next()

    def again(self) -> None:
        """Give back what is assigned, and ask again: another order or choice is in force."""
        self.desk.release()
        self.open = self.past = None
        self.given = self.desk.next()

    def do(self, message: Message, nonce: str) -> None:
        """A key of the desk."""
        match message.get("what"):
            case "say":
                self._say(message)
            case "undo":
                self._undo(nonce)
            case "back":
                self._look(1)
            case "forward":
                self._look(-1)
            case "now":
                self._now()

    # ---- decisions -----------------------------------------------------------------------------------------------

    def _say(self, message: Message) -> None:
        assignment = self.given
        if assignment is None or not assignment.token or message.get("token") != assignment.token:
            return  # it was meant for an example that has been answered
        kind, label, seconds = message.get("kind"), message.get("label"), seconds_of(message)
        if not (label is None or isinstance(label, str)) or not isinstance(kind, str):
            return
        decision = cast(Kind, kind)  # one that there is not is refused by the desk
        result = self.desk.decide(assignment, decision, label, seconds=seconds, blind=self.hides, stay=True)
        self._take(result)
        if result.stored:
            self.made += 1
            is_ = f"not {label}" if kind == "eliminate" else SAID.get(kind, label)
            self.said = f"Saved: {assignment.example} is {is_}."
            self.manager.update_order()
            review = self.manager.review
            if review.promise is not None and review.promise.status(review.state, review.required).done:
                self.again()  # this answer was the last one needed, and the next example is out already

    def _undo(self, nonce: str) -> None:
        result = self.desk.undo(token=nonce)
        self._take(result)
        if result.stored and result.event is not None:
            self.made = max(0, self.made - 1)
            self.said = f"Undone: {result.event.example}."

    def _take(self, result: DecisionResult) -> None:
        self.given, self.open, self.past = result.next, None, None
        self.problem = result.notice

    # ---- looking back --------------------------------------------------------------------------------------------

    def _look(self, back: int) -> None:
        """One decision further back, or forward again until what is open."""
        if self.past is None:
            self.open, self.trail = self.given, self._own()
        at = self.place + back
        if at < 1:
            self._now()
        elif at <= len(self.trail):
            self.past = self.trail[at - 1]
            self.given = self.desk.show(self.past.row)

    def _now(self) -> None:
        self.given = self.open if self.open is not None else self.desk.next()
        self.open = self.past = None

    @property
    def place(self) -> int:
        """How many decisions back; 0 where the open example is in view."""
        return 0 if self.past is None else 1 + self.trail.index(self.past)

    def _own(self) -> list[Event]:
        """This reviewer's decisions, the newest first, the last one of each example."""
        last: dict[int, Event] = {}
        for event in self.desk.history(LOOKED_BACK):
            if event.kind != "skip":
                last.setdefault(event.row, event)
        return list(last.values())
