"""Before the first example: what the certificate is to promise, and how the work is shared."""

from __future__ import annotations

import streamlit as st

from pll.errors import UserError
from pll.review.rounds import Promise, reachable
from pll.review.sampling_plan import achievable, how_many
from pll.review.settings import Settings
from pll.runs.run import Run
from pll.ui.format import count, percent
from pll.ui.review import service
from pll.ui.review.reviewer import Reviewer

LEVELS = {0.9: "90 %", 0.95: "95 %", 0.99: "99 %"}
MODEST = 0.1
"""Above this a promise is hardly worth having, and more controls are suggested."""
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)


def settle(run: Run, n: int, who: Reviewer) -> None:
    """Ask what is to be promised, say what can be reached, and begin."""
    st.markdown(f"**Before you begin** — {count(n, 'label')} of this run can be reviewed.")
    st.caption(
        "A random share of the examples, unmarked among the others, tells how many of the labels are wrong. From your "
        "answers Candid can certify the rest. The promise is fixed now: it may not be chosen by the answers."
    )
    promised, shared = st.columns(2, gap="large")
    with promised:
        share, level = draw(n)
        max_error = promise(n, share, level)
    with shared:
        overlap, overlap_share = people()
        blind = st.toggle(
            "Hide the model's view",
            key="review-blind",
            help="No weights, and candidates in fixed order. Answers are then not swayed by the model, which counts "
            "where the certificate does. You can change this at any time.",
        )
    if st.button("Begin the review", type="primary", icon=":material/rate_review:"):
        settings = Settings(
            overlap,
            overlap_share,
            mix=min(1.0, share),
            promise=Promise(share, max_error, level),
            begun_by=who.name,
            verified=who.verified,
        )
        try:
            service.guide_of(run, settings)
        except UserError as error:
            st.error(str(error), icon=":material/error:")
            return
        st.session_state["review-starts-blind"] = blind
        st.rerun()


def draw(n: int) -> tuple[float, float]:
    """The share drawn as controls, and the level."""
    share = st.select_slider(
        "Random controls",
        SHARES,
        value=0.1,
        format_func=lambda share: f"{percent(share, 0)} ({count(how_many(n, share), 'example')})",
        key="review-share",
        help="So many of all examples are drawn as controls. At first, about as many of those you are shown are some.",
    )
    level = st.segmented_control(
        "How sure", list(LEVELS), default=0.95, required=True, format_func=LEVELS.__getitem__, key="review-level"
    )
    return float(share), float(level or 0.95)


def promise(n: int, share: float, level: float) -> float:
    """x: how many of the accepted labels may be wrong; with what the controls can reach."""
    best = achievable(n, share, level)
    two = reachable(n, share, level)
    wanted = st.number_input(
        "At most so many of the accepted labels may be wrong, %",
        min_value=0.1,
        max_value=50.0,
        value=round(two * 100, 1),
        step=0.5,
        key=f"review-error-{share}-{level}",
    )
    asked = float(wanted) / 100
    k = how_many(n, share)
    st.caption(
        f"With {count(k, 'control')}: {percent(best, 2)} can be certified for all labels if every control is right, "
        f"about {percent(two)} if two of them are wrong. A part of the labels, the surest, may be certified sooner."
    )
    enough = next((other for other in SHARES if other > share and reachable(n, other, level) <= MODEST), None)
    if two > MODEST and enough is not None:
        st.caption(
            f":material/info: There are few labels: {count(how_many(n, enough), 'control')} ({percent(enough, 0)}) "
            f"would reach about {percent(reachable(n, enough, level))}."
        )
    if asked < best:
        st.warning(
            f"{percent(asked, 2)} is out of reach with {count(k, 'control')}; draw more, or promise less.",
            icon=":material/info:",
        )
    return asked


def people() -> tuple[int, float]:
    """How many reviewers are asked, and on which share of the examples."""
    overlap = st.segmented_control(
        "Reviewers for each example",
        [1, 2, 3],
        default=1,
        required=True,
        key="review-overlap",
        help="With two or more, Candid says how far they agree, and lists where they do not.",
    )
    if overlap in (None, 1):
        return 1, 1.0
    share = st.select_slider(
        "On which share of the examples",
        (0.05, 0.1, 0.2, 0.5, 1.0),
        value=0.1,
        format_func=lambda share: percent(share, 0),
        key="review-overlap-share",
        help="On the others one reviewer is enough.",
    )
    return int(overlap), float(share)
