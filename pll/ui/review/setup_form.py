"""How a review begins, and the forms that change its target and how many reviewers are asked."""

from __future__ import annotations

import streamlit as st

from pll.colors import percent
from pll.review import certification
from pll.review.rounds import MOST_ERROR, Guarantee, default_guarantee, reachable
from pll.review.sampling_plan import achievable, how_many
from pll.review.session import ReviewSession, Settings
from pll.runs.run import Run
from pll.ui import session
from pll.ui.format import count
from pll.ui.review import service
from pll.ui.review.error_messages import toast_errors
from pll.ui.review.review_tab import ReviewTab
from pll.ui.review.reviewer import Reviewer

BOX = "review-promise-box"
LEVELS = {0.9: "90 %", 0.95: "95 %", 0.99: "99 %"}
MOST_CONTROLS = 0.25
"""Share of the examples shown that are controls when a review begins, at most: the uncertain ones come first."""
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)


def begin(run: Run, who: Reviewer) -> None:
    """Begin the review with defaults that suit the number of labels; Progress changes them."""
    guarantee = default_guarantee(len(run.parts().train))
    mix = min(MOST_CONTROLS, guarantee.share)
    session.registry().require(run, "owner")
    service.manager_of(run, Settings(mix=mix, guarantee=guarantee, begun_by=who.name, verified=who.verified))


def draw(n: int) -> tuple[float, float]:
    """The share drawn as controls, and the level."""
    share = st.select_slider(
        "Random controls",
        SHARES,
        value=default_guarantee(n).share,
        format_func=lambda share: f"{percent(share, 0)} ({count(how_many(n, share), 'example')})",
        key="review-share",
        help="Share of all examples drawn as controls. At first, about this share of the examples shown are some.",
    )
    return float(share), confidence_level("review-level")


def confidence_level(key: str) -> float:
    """The level of a guarantee or a promise."""
    level = st.segmented_control(
        "Confidence level",
        list(LEVELS),
        default=0.95,
        required=True,
        format_func=LEVELS.__getitem__,
        key=key,
    )
    return float(level or 0.95)


def guarantee(n: int, share: float, level: float) -> float:
    """x: how many of the accepted labels may be wrong; with what the controls can reach."""
    best = achievable(n, share, level)
    two = reachable(n, share, level)
    wanted = st.number_input(
        "Maximum error of the accepted labels, %",
        min_value=0.1,
        max_value=100 * MOST_ERROR,
        value=round(100 * min(MOST_ERROR, two), 1),
        step=0.5,
        key=f"review-error-{share}-{level}",
    )
    asked = float(wanted) / 100
    k = how_many(n, share)
    st.caption(
        f"With {count(k, 'control')}: {percent(best, 2)} can be certified for all labels if every control is right, "
        f"about {percent(two)} if two of them are wrong. The most confident labels may be certified sooner."
    )
    enough = next((other for other in SHARES if other > share and reachable(n, other, level) <= MOST_ERROR), None)
    if two > MOST_ERROR and enough is not None:
        st.caption(
            f":material/info: There are few labels: {count(how_many(n, enough), 'control')} ({percent(enough, 0)}) "
            f"would reach about {percent(reachable(n, enough, level))}."
        )
    if asked < best:
        st.warning(
            f"{percent(asked, 2)} is out of reach with {count(k, 'control')}: too few for a certificate, you will get "
            "an estimate. Draw more controls or allow a larger error.",
            icon=":material/info:",
        )
    return asked


# ---- another guarantee, later ----------------------------------------------------------------------------------------


def form(tab: ReviewTab) -> None:
    """Ask what is to be guaranteed of the accepted labels instead, and say what that costs."""
    review = tab.manager.review
    n = len(review.root)
    st.caption(
        "A target is set before its controls are drawn. A new one draws new controls; examples already decided count."
    )
    share, level = draw(n)
    max_error = guarantee(n, share, level)
    st.caption(f":material/info: {together(review, level)}")
    st.button(
        f"Save and draw {count(how_many(n, share), 'control')}",
        key="review-promise",
        type="primary",
        on_click=make,
        args=(tab, Guarantee(share, max_error, level), review.round.number),
    )


def reviewers(tab: ReviewTab) -> None:
    """How many reviewers are asked, and on which share of the examples."""
    record = tab.manager.review.record
    box = st.popover("Reviewers", icon=":material/group:", type="tertiary", key="review-reviewers", on_change="rerun")
    if not box.open:
        return
    with box:
        overlap = st.segmented_control(
            "Reviewers for each example",
            [1, 2, 3],
            default=min(3, record.overlap),
            required=True,
            key="review-overlap",
            help="With two or more, Candid says how far they agree, and lists where they do not.",
        )
        shares = (0.05, 0.1, 0.2, 0.5, 1.0)
        share = st.select_slider(
            "On which share of the examples",
            shares,
            value=min(shares, key=lambda one: abs(one - (record.overlap_share if record.overlap > 1 else 0.1))),
            format_func=lambda share: percent(share, 0),
            key="review-overlap-share",
            disabled=overlap in (None, 1),
            help="On the others one reviewer is enough.",
        )
        asked = int(overlap or 1)
        st.button("Save", key="review-ask", on_click=ask, args=(tab, asked, float(share) if asked > 1 else 1.0))


@toast_errors
def ask(tab: ReviewTab, overlap: int, share: float) -> None:
    """From now on so many reviewers answer each example of that share."""
    tab.require("owner")
    tab.manager.review.configure(overlap=overlap, overlap_share=share)
    st.toast("Saved.", icon=":material/group:")


def together(review: ReviewSession, level: float) -> str:
    """How sure all guarantees of these labels are together, a further one of this level among them."""
    levels = [record.level for record in review.rounds if record.key == review.current.key] + [level]
    every = "both" if len(levels) == 2 else f"all {len(levels)}"
    all_hold = max(0.0, 1 - sum(1 - one for one in levels))
    return (
        f"Each target of these labels has its own confidence level. Together, {every} hold with "
        f"{percent(all_hold, 0)} confidence. Do not choose between them by their results."
    )


@toast_errors
def make(tab: ReviewTab, guarantee: Guarantee, instead_of: int) -> None:
    """Draw the controls of the new guarantee; the certificate begins again."""
    tab.require("owner")
    review, me = tab.manager.review, tab.desk
    st.session_state[BOX] = False
    opened = review.round.opened
    if review.round.number == instead_of + 1 and (opened.how, opened.by) == ("new promise", me.reviewer):
        return  # pressed twice
    certification.change_guarantee(review, guarantee, by=me.reviewer, verified=me.verified, instead_of=instead_of)
    review.configure(goal="accepted")
    tab.again()
    st.toast("Saved. The certificate starts again with new controls.", icon=":material/handshake:")
