"""Look-alikes view: many examples with one proposed label, accepted together; of marked ones it is ruled out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from pll.colors import class_colours
from pll.review.desk import Assignment
from pll.ui.components.component import Payload
from pll.ui.review.desk_view import component
from pll.ui.review.payload import NEIGHBOUR_PIXELS, neighbour, whole
from pll.ui.review.review_tab import Chosen, Message, ReviewTab, seconds_of
from pll.ui.widgets import button, show_errors
from pll.weights import Ints
from pll.wording import count

TILES = 24
"""Examples of a group: as many as an eye takes in."""
_batch = component("batch")


@dataclass
class LookAlikeBatch:
    """Look-alikes assigned in one tab."""

    tab: ReviewTab
    tiles: list[Assignment] = field(default_factory=list)  # what is assigned
    label: str = ""  # proposed for all of them
    passed: set[int] = field(default_factory=set)  # examples that groups were made around and that were put aside
    only: Chosen | None = None  # what the tab was restricted to when the group was made
    marked: set[int] = field(default_factory=set)  # examples that are marked to begin with
    # groups by their stroke, to be shown again: rows, label, and what was marked
    accepted: dict[str, tuple[list[int], str, set[int]]] = field(default_factory=dict)

    def fill(self) -> None:
        """Take the look-alikes of the first example of the queue assigned."""
        queue, review = self.tab.queue, self.tab.review
        self.tiles, self.marked, self.only = [], set(), self.tab.only
        free = review.state.answers < review.state.required
        free &= ~review.state.answered_by(self.tab.desk.reviewer)
        if review.certification is not None:
            free[review.certification.controls] = False  # each of them is to be looked at by itself
        if self.only is not None:
            free &= np.isin(np.arange(len(free)), self.only[0])
        order, identified = review.order[1], self._identified()
        for row in order[free[order]]:
            if int(row) in self.passed:
                continue
            same = np.flatnonzero(free & (identified == identified[row]))
            self.tiles = self.tab.desk.batch(queue.similar.look_alikes(int(row), same, TILES))
            self.label = review.current.candidates.class_names[identified[row]]
            self.passed.add(int(row))
            if self.tiles:
                return

    def _identified(self) -> Ints:
        """(n,) the model's labels, of the candidates that nobody has ruled out since the order was made."""
        review = self.tab.review
        names, result = review.current.candidates.class_names, review.current.certainty.identified.copy()
        for row, outcome in review.state.outcomes():
            if outcome.eliminated:
                result[row] = names.index(review.model_label(row, outcome))
        return result

    def begin_anew(self) -> None:
        """Offer groups that were put aside again."""
        self.passed.clear()
        self.fill()

    @property
    def token(self) -> str:
        """Of the group as a whole."""
        return self.tiles[0].token if self.tiles else ""

    def do(self, message: Message, nonce: str) -> None:
        """A key of the grid.

        Parameters
        ----------
        message
            What the browser sent: `what` was pressed, and the `token` of the group it was meant for.
        nonce
            Of the message: an undo that is sent twice is done once.
        """
        what = message.get("what")
        if what == "undo":
            result = self.tab.desk.undo(token=nonce)
            self.tab.message = "Undone." if result.stored else result.notice
            if result.event is not None:
                self.tab.queue.forget(result.event)
            batch = None if result.event is None else result.event.batch
            if batch in self.accepted:
                self._show_again(*self.accepted.pop(batch))
            else:
                self.begin_anew()
        elif what in ("other", "accept") and message.get("token") == self.token:
            if what == "accept":
                self._accept(message)
            self.fill()

    def _accept(self, message: Message) -> None:
        wanted, different = message.get("tokens"), message.get("marked", [])
        if not isinstance(wanted, list) or not isinstance(different, list):
            return
        chosen = [tile for tile in self.tiles if tile.token in wanted]
        marked = [tile for tile in self.tiles if tile.token in different and tile not in chosen]
        seconds, blind = seconds_of(message), self.tab.blind
        made = self.tab.desk.accept(chosen, self.label, marked=marked, seconds=seconds, blind=blind)
        accepted = {event.row for event in made if event.kind == "accept"}
        if made and made[0].batch is not None:
            rows = [tile.row for tile in self.tiles]
            self.accepted[made[0].batch] = rows, self.label, set(rows) - accepted
        are, ruled_out = "is" if len(accepted) == 1 else "are", len(made) - len(accepted)
        others = f"; of {ruled_out:,} {self.label} is ruled out" if ruled_out else ""
        self.tab.message = f"Saved: {count(len(accepted), 'example')} {are} {self.label}{others}."
        self.tab.queue.update_order()

    def _show_again(self, rows: list[int], label: str, marked: set[int]) -> None:
        """A group as it was before it was accepted."""
        self.tab.queue.compute_order()  # labels follow at once what was undone, and have the weights that they had
        self.tab.desk.release()  # after an undo one of them may be assigned by itself
        self.tiles, self.label, self.marked = self.tab.desk.batch(rows), label, marked
        if not self.tiles:  # others have all of them
            self.begin_anew()

    def payload(self) -> Payload:
        """What `batch.js` is sent."""
        tab, data = self.tab, self.tab.queue.data
        names = list(data.class_names)
        return {
            "message": f"{tab.message} {count(len(self.tiles), 'example')} that may be {self.label}.".lstrip(),
            "token": self.token,
            "label": self.label,
            "colour": class_colours(len(names))[names.index(self.label)],
            "undo": bool(tab.desk.history(1)),
            "marked": [tile.token for tile in self.tiles if tile.row in self.marked],
            "tiles": [
                neighbour(data, tile.row, 2 * NEIGHBOUR_PIXELS)
                | {"token": tile.token, "weight": None if tab.blind else self._weight(tile)}
                | {"whole": whole(data, tile.row)}
                for tile in self.tiles
            ],
        }

    def _weight(self, tile: Assignment) -> float:
        """The model's weight of the proposed label; 0 where it is no candidate."""
        return round(next((choice.weight for choice in tile.choices if choice.label == self.label), 0.0), 3)


@st.fragment
@show_errors
def draw(tab: ReviewTab) -> None:
    """The group assigned; a new one where the work session is another."""
    group: LookAlikeBatch | None = st.session_state.get("review-group")
    if group is None or group.tab is not tab or group.only is not tab.only:
        group = st.session_state["review-group"] = LookAlikeBatch(tab)
        group.fill()
    if group.tiles:
        _batch(tab, group.payload(), group.do)
        return
    st.info("No group of look-alikes is left.", icon=":material/check_circle:")
    if group.passed:
        button("Show skipped groups", group.begin_anew)
