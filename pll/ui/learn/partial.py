"""Idea 1: what a partial label is, and how little it says by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from pll.catalog.sources import Source
from pll.colors import percent
from pll.dataset import PartialLabelDataset
from pll.synthesis import flip
from pll.ui import session
from pll.ui.components.gallery import gallery
from pll.ui.learn.guess import guess
from pll.ui.learn.layout import beside, formula, heading

CARDS = 6
BANDS = (0.12, 0.2, 0.35)
"""Shares between which a reader chooses."""
ANSWERS = ("below 12 %, hardly better than any of ten", "12 to 20 %", "20 to 35 %", "above 35 %")


@st.fragment
def draw() -> None:
    heading("partial")
    words, figure = beside()
    with words:
        st.markdown(
            "An ordinary label says what an example *is*. A **partial label** says what it *may be*: a set of "
            "candidates. Exactly one is true; nobody says which."
        )
        q = st.slider(
            "A wrong label joins with probability q",
            0.1,
            0.9,
            0.7,
            0.1,
            key="learn-partial-q",
            bind="query-params",
            persist_state="session",
        )
        data = digits(q)
        first = int(st.session_state.get("learn-partial-first", 0))
        rows = np.arange(first, first + CARDS)
        row = int(rows[0])
        sets = data.sets()
        names = sets.names(row)
        formula(
            rf"\begin{{gathered}} S = \{{{', '.join(names)}\}} \\ "
            rf"|S| = {len(names)}, \quad \Pr(Y \in S) = 1 \end{{gathered}}"
        )
        st.caption(
            f"The first digit has {len(names)} candidates. The paper assumes only that the true label is among them. "
            "The ✓ is for you; no method sees it."
        )
        chance = blind_share(data)
        if guess(
            "partial",
            "Take one candidate of every digit at random. How many would be right?",
            ANSWERS,
            lambda: int(np.searchsorted(BANDS, chance, side="right")),
        ):
            formula(rf"\frac{{1}}{{n}} \sum_{{i=1}}^{{n}} \frac{{1}}{{|S_i|}} = {100 * chance:.1f}\,\%")
            st.markdown(
                f"{percent(chance)} of {len(data):,} digits, with {sets.nnz / len(sets):.2f} candidates on average. "
                "Everything better than this comes from looking at many pictures at once."
            )
            full = int((sets.sizes == sets.n_classes).sum())
            if full:
                st.caption(
                    f"{full:,} sets hold every label and say nothing. The paper's definition excludes them; flipping "
                    "makes them."
                )
    with figure:
        gallery(data, rows, key="learn-partial-cards")
        st.button(
            "Other digits",
            key="learn-partial-next",
            icon=":material/shuffle:",
            on_click=lambda: st.session_state.update({"learn-partial-first": (first + CARDS) % (len(data) - CARDS)}),
        )


def digits(q: float, how: str = "binomial") -> PartialLabelDataset:
    """The embedded digits, with candidate sets made from their truth."""
    data = session.dataset(Source("digits"))
    assert data.y is not None
    return replace(data, candidates=flip(how, data.y, data.n_classes, q, 0, data.class_names))


def blind_share(data: PartialLabelDataset) -> float:
    """Share that a random candidate gets right, on average over all draws, where every set holds the truth."""
    return float((1 / data.sets().sizes).mean())
