"""State of the interactive toy data set that ideas 5 and 6 share."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from pll.analysis.theory.toy import (
    EPOCHS,
    LEARNING_RATES,
    LR,
    MOST,
    Toy,
    ToyHistory,
    drawn_set,
    three_clouds,
    toy_history,
)
from pll.errors import UserError
from pll.ui.learn.toy import Edit

Q = 0.5


@dataclass
class Playground:
    """What a reader has made of the toy, in one tab.

    Attributes
    ----------
    toy
        The points.
    q
        How candidate sets are drawn.
    draw
        Counts the draws of candidate sets; their seed.
    start
        Seed of the initial parameters, the same for every method.
    lr
        Learning rate.
    epoch
        In view.
    look
        Counts the times that the page, and not the reader's hand on the scrubber, chose the epoch.
    asked
        Number of the last report from each picture, by its key.
    selected
        The point in view.
    said
        What went wrong, in words.
    """

    toy: Toy = field(default_factory=lambda: three_clouds(q=Q))
    q: float = Q
    draw: int = 0
    start: int = 0
    lr: float = LR
    epoch: int = 0
    look: int = 0
    asked: dict[str, int] = field(default_factory=dict)
    selected: int = 0
    said: str = ""

    def edit(self, key: str, edit: Edit) -> None:
        """Do to the points what the reader did in the picture called `key`."""
        self.asked[key] = edit.asked
        self.said = ""
        try:
            if edit.kind == "move":
                self.toy = self.toy.moved(edit.point, edit.x, edit.y)
                self.selected = edit.point
            elif edit.kind == "add":
                self._add(edit)
            else:
                self.toy = self.toy.without(edit.point)
                self.selected = min(self.selected, len(self.toy) - 1)
        except UserError as error:
            self.said = str(error)

    def _add(self, edit: Edit) -> None:
        if len(self.toy) >= MOST:
            raise UserError(f"{MOST} points are the most that can be retrained while you drag; remove some first.")
        # A seed of its own for each point, so that not all of them draw the same wrong labels.
        candidates = drawn_set(edit.label, self.q, seed=1000 * (self.draw + 1) + len(self.toy))
        self.toy = self.toy.added(edit.x, edit.y, edit.label, candidates)
        self.selected = len(self.toy) - 1

    def look_at(self, key: str, epoch: int, asked: int) -> None:
        """Another epoch is in view."""
        self.asked[key] = asked
        self.epoch = epoch
        self.look += 1

    def redraw(self, q: float, *, anew: bool = False) -> None:
        """Candidate sets drawn with this q; `anew` draws others with the same q."""
        self.q = q
        self.draw += anew
        self.toy = self.toy.flipped(q, self.draw)

    def set_candidates(self, labels: list[int]) -> None:
        """Other candidates for the point in view."""
        if labels:
            self.toy = self.toy.with_set(self.selected, labels)

    def reset(self) -> None:
        """The points and sets of the beginning."""
        self.toy, self.q, self.draw = three_clouds(q=Q), Q, 0
        self.selected = self.epoch = 0
        self.said = ""
        self.look += 1

    def history(self, method: str) -> ToyHistory:
        """What a method does to the points as they are."""
        return _history(self.toy.key, method, self.start, self.lr, self.toy)


def playground() -> Playground:
    """This tab's; at first, with the sets and the start that its link asks for."""
    if "learn-playground" not in st.session_state:
        rates = {f"{rate:g}": rate for rate in LEARNING_RATES}
        lr = rates.get(st.query_params.get("learn-toy-lr", ""), LR)
        new = Playground(draw=_seed("draw"), start=_seed("start"), lr=lr)
        q = _asked_q()
        if new.draw or q != new.q:
            new.redraw(q)
        st.session_state["learn-playground"] = new
    ground: Playground = st.session_state["learn-playground"]
    return ground


def remember_seeds(ground: Playground) -> None:
    """Put what buttons have changed into the address; sliders and choices put themselves there."""
    for name, seed in (("draw", ground.draw), ("start", ground.start)):
        if seed == _seed(name):  # an address that is touched forgets which idea it led to
            continue
        if seed:
            st.query_params[f"learn-toy-{name}"] = str(seed)
        else:
            st.query_params.pop(f"learn-toy-{name}", None)


def _asked_q() -> float:
    """The q in the address; the usual one where there is none, or none that the slider has."""
    said = st.query_params.get("learn-toy-q", "")
    return next((k / 10 for k in range(10) if said in (f"{k / 10:g}", f"{k / 10:.1f}")), Q)


def _seed(name: str) -> int:
    """A seed in the address; 0 where there is none, or none that can be meant."""
    said = st.query_params.get(f"learn-toy-{name}", "")
    return int(said) if said.isdecimal() and len(said) < 7 else 0


@st.cache_resource(max_entries=24, show_spinner=False)
def _history(key: tuple[bytes, ...], method: str, start: int, lr: float, _toy: Toy) -> ToyHistory:
    return toy_history(_toy, method, epochs=EPOCHS, seed=start, lr=lr)
