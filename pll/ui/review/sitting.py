"""What one tab has on its desk, and what becomes of the keys pressed there. Knows nothing of how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from pll.review.assignment import Assignment, Step
from pll.review.desk import Desk
from pll.review.events import Kind
from pll.review.filters import QueueFilter
from pll.review.queue_manager import QueueManager
from pll.store.records import Event
from pll.ui.review.messages import Listener, Message, seconds_of

LOOKED_BACK = 200
"""Decisions of one's own that can be looked back at."""
SAID = {"unsure": "unsure", "none": "none of these", "skip": "skipped"}


@dataclass
class Sitting(Listener):
    """One reviewer at one desk in one tab.

    Attributes:
        guide: the review, its data and the order of its queue.
        desk: the reviewer's.
        blind: the model's view is hidden.
        fixed: candidates stand in the order of classes and not of weights.
        given: what is on the desk; None where nothing is left.
        open: what was on the desk before its reviewer looked back.
        past: the decision looked back at; None where none is.
        ack, said, problem: see `Listener`.
        made: decisions stored in this sitting; began: when it did, UTC.
        trail: what can be looked back at, the newest first.
        filter: what is handed out.
        line: where the certificate stood at the last tenth decision.
    """

    storing = "say"

    guide: QueueManager
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
    filter: QueueFilter = field(default_factory=lambda: QueueFilter(undecided=False))
    line: tuple[tuple[Any, ...], tuple[str, float, bool]] | None = None

    def begin(self) -> None:
        """Take something in hand, where nothing is."""
        if self.given is None:
            self.given = self.desk.next()

    def again(self) -> None:
        """Give back what is in hand, and ask anew: another order or filter is in force."""
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
        given = self.given
        if given is None or not given.token or message.get("token") != given.token:
            return  # it was meant for an example that has been answered
        kind, label, seconds = message.get("kind"), message.get("label"), seconds_of(message)
        if not (label is None or isinstance(label, str)) or not isinstance(kind, str):
            return
        said = cast(Kind, kind)  # one that there is not is refused by the desk
        step = self.desk.decide(given, said, label, seconds=seconds, blind=self.blind, stay=True)
        self._take(step)
        if step.stored:
            self.made += 1
            is_ = f"not {label}" if kind == "eliminate" else SAID.get(kind, label)
            self.said = f"Saved: {given.example} is {is_}."
            self.guide.keep_up()

    def _undo(self, nonce: str) -> None:
        step = self.desk.undo(token=nonce)
        self._take(step)
        if step.stored and step.event is not None:
            self.made = max(0, self.made - 1)
            self.said = f"Taken back: {step.event.example}."

    def _take(self, step: Step) -> None:
        self.given, self.open, self.past = step.next, None, None
        self.problem = step.notice

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
