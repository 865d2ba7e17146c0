"""Look-alikes: many examples with one proposed label, accepted at a stroke but for those that are marked."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from pll.colors import class_colours
from pll.review.assignment import Assignment
from pll.ui.format import count
from pll.ui.review.desk import component, pressed
from pll.ui.review.messages import Listener, Message, seconds_of
from pll.ui.review.payload import NEIGHBOUR, Payload, neighbour
from pll.ui.review.progress import strip
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import shown

TILES = 24
"""Examples of a group: as many as an eye takes in."""
_batch = component("batch")


@dataclass
class Group(Listener):
    """Look-alikes in one reviewer's hands.

    Attributes:
        sitting: whose.
        tiles: what is in hand.
        label: proposed for all of them.
        passed: examples that groups were made around and that were put aside.
        ack, said, problem: see `Listener`.
    """

    storing = "accept"

    sitting: Sitting
    tiles: list[Assignment] = field(default_factory=list)
    label: str = ""
    passed: set[int] = field(default_factory=set)
    ack: str = ""
    said: str = ""
    problem: str = ""

    def fill(self) -> None:
        """Take the look-alikes of the first example of the queue in hand."""
        guide, reviewing = self.sitting.guide, self.sitting.guide.reviewing
        self.tiles = []
        free = reviewing.state.answers < reviewing.asked
        free &= ~reviewing.state.answered_by(self.sitting.desk.reviewer)
        free[np.asarray(reviewing.round.controls, dtype=np.int64)] = False  # each of them is to be looked at by itself
        order = reviewing.order[1]
        for row in order[free[order]]:
            if int(row) in self.passed:
                continue
            self.tiles = self.sitting.desk.batch(guide.look_alikes(int(row), free, TILES))
            self.label = str(reviewing.current.labels[row])
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
            step = self.sitting.desk.undo(token=nonce)
            self.said = "Taken back." if step.stored else step.notice
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
        made = self.sitting.desk.accept(chosen, self.label, seconds=seconds_of(message), blind=self.sitting.blind)
        self.sitting.made += len(made)
        self.said = f"Saved: {count(len(made), 'example')} {'is' if len(made) == 1 else 'are'} {self.label}."
        self.sitting.guide.keep_up()


@st.fragment
@shown
def draw(sitting: Sitting) -> None:
    """The group in hand."""
    group = group_of(sitting)
    if not group.tiles:
        st.info("No group of look-alikes is left.", icon=":material/check_circle:")
        if group.passed and st.button("Begin again with those put aside"):
            group.passed.clear()
            group.fill()
            st.rerun(scope="fragment")
        return
    key = f"batch-{sitting.guide.reviewing.id}"
    _batch(key=key, data=batch_payload(group), on_act_change=pressed(key, group.act))


def group_of(sitting: Sitting) -> Group:
    """This tab's group; a new one where the sitting is another."""
    known: Group | None = st.session_state.get("review-group")
    if known is None or known.sitting is not sitting:
        known = st.session_state["review-group"] = Group(sitting)
        known.fill()
    return known


def batch_payload(group: Group) -> Payload:
    """What `batch.js` is sent."""
    sitting = group.sitting
    data = sitting.guide.data
    names = list(data.class_names)
    return {
        "ack": group.ack,
        "said": group.said or f"{count(len(group.tiles), 'example')} that may be {group.label}.",
        "problem": group.problem,
        "token": group.token,
        "label": group.label,
        "colour": class_colours(len(names))[names.index(group.label)],
        "undo": bool(sitting.desk.history(1)),
        "strip": strip(sitting),
        "tiles": [
            neighbour(data, tile.row, 2 * NEIGHBOUR)
            | {"token": tile.token, "weight": None if sitting.blind else round(weight_of(tile, group.label), 3)}
            for tile in group.tiles
        ],
    }


def weight_of(tile: Assignment, label: str) -> float:
    """The model's weight of a label; 0 where it is no candidate."""
    return next((choice.weight for choice in tile.choices if choice.label == label), 0.0)
