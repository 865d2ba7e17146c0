"""Look-alikes view: many examples with one proposed label, accepted together except for marked ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from pll.colors import class_colours
from pll.review.desk import Assignment
from pll.runs.access import Role
from pll.ui.format import count
from pll.ui.review.desk_view import component
from pll.ui.review.error_messages import show_errors
from pll.ui.review.payload import NEIGHBOUR, Payload, neighbour
from pll.ui.review.progress import strip
from pll.ui.review.review_tab import Message, MessageHandler, ReviewTab, pressed, seconds_of

TILES = 24
"""Examples of a group: as many as an eye takes in."""
_batch = component("batch")


@dataclass
class LookAlikeBatch(MessageHandler):
    """Look-alikes in one reviewer's hands.

    Attributes
    ----------
    tab
        Whose.
    tiles
        What is assigned.
    label
        Proposed for all of them.
    passed
        Examples that groups were made around and that were put aside.
    ack, said, problem
        See `MessageHandler`.
    """

    storing = "accept"

    tab: ReviewTab
    tiles: list[Assignment] = field(default_factory=list)
    label: str = ""
    passed: set[int] = field(default_factory=set)
    ack: str = ""
    said: str = ""
    problem: str = ""

    def require(self, needed: Role) -> None:
        """As `ReviewTab.require`."""
        self.tab.require(needed)

    def fill(self) -> None:
        """Take the look-alikes of the first example of the queue assigned."""
        manager, review = self.tab.manager, self.tab.manager.review
        self.tiles = []
        free = review.state.answers < review.required
        free &= ~review.state.answered_by(self.tab.desk.reviewer)
        if review.promise is not None:
            free[review.promise.controls] = False  # each of them is to be looked at by itself
        order = review.order[1]
        for row in order[free[order]]:
            if int(row) in self.passed:
                continue
            self.tiles = self.tab.desk.batch(manager.look_alikes(int(row), free, TILES))
            self.label = str(review.current.labels[row])
            self.passed.add(int(row))
            if self.tiles:
                return

    @property
    def token(self) -> str:
        """Of the group as a whole."""
        return self.tiles[0].token if self.tiles else ""

    def do(self, message: Message, nonce: str) -> None:
        """A key of the grid."""
        what = message.get("what")
        if what == "undo":
            result = self.tab.desk.undo(token=nonce)
            self.said = "Undone." if result.stored else result.notice
            self.passed.clear()
            self.fill()
        elif what in ("other", "accept") and message.get("token") == self.token:
            if what == "accept":
                self._accept(message)
            self.fill()

    def _accept(self, message: Message) -> None:
        wanted = message.get("tokens")
        if not isinstance(wanted, list):
            return
        chosen = [tile for tile in self.tiles if tile.token in wanted]
        made = self.tab.desk.accept(chosen, self.label, seconds=seconds_of(message), blind=self.tab.blind)
        self.tab.made += len(made)
        self.said = f"Saved: {count(len(made), 'example')} {'is' if len(made) == 1 else 'are'} {self.label}."
        self.tab.manager.update_order()


@st.fragment
@show_errors
def draw(tab: ReviewTab) -> None:
    """The group assigned."""
    group = group_of(tab)
    if not group.tiles:
        st.info("No group of look-alikes is left.", icon=":material/check_circle:")
        if group.passed and st.button("Show skipped groups"):
            group.passed.clear()
            group.fill()
            st.rerun(scope="fragment")
        return
    key = f"batch-{tab.manager.review.id}"
    _batch(key=key, data=batch_payload(group), on_act_change=pressed(key, group.act))


def group_of(tab: ReviewTab) -> LookAlikeBatch:
    """This tab's group; a new one where the work session is another."""
    current: LookAlikeBatch | None = st.session_state.get("review-group")
    if current is None or current.tab is not tab:
        current = st.session_state["review-group"] = LookAlikeBatch(tab)
        current.fill()
    return current


def batch_payload(group: LookAlikeBatch) -> Payload:
    """What `batch.js` is sent."""
    tab = group.tab
    data = tab.manager.data
    names = list(data.class_names)
    return {
        "ack": group.ack,
        "said": group.said or f"{count(len(group.tiles), 'example')} that may be {group.label}.",
        "problem": group.problem,
        "token": group.token,
        "label": group.label,
        "colour": class_colours(len(names))[names.index(group.label)],
        "undo": bool(tab.desk.history(1)),
        "strip": strip(tab),
        "tiles": [
            neighbour(data, tile.row, 2 * NEIGHBOUR)
            | {"token": tile.token, "weight": None if tab.blind else round(weight_of(tile, group.label), 3)}
            for tile in group.tiles
        ],
    }


def weight_of(tile: Assignment, label: str) -> float:
    """The model's weight of a label; 0 where it is no candidate."""
    return next((choice.weight for choice in tile.choices if choice.label == label), 0.0)
