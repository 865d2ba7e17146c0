"""Form that starts a review: target of the certificate, controls, reviewers; and the form that changes the target."""

from __future__ import annotations

import streamlit as st

from pll.errors import UserError
from pll.review import certification
from pll.review.rounds import Guarantee, reachable
from pll.review.sampling_plan import achievable, how_many
from pll.review.session import ReviewSession, Settings
from pll.runs.run import Run
from pll.ui import session
from pll.ui.format import count, percent, plain
from pll.ui.review import promise_panel, service
from pll.ui.review.error_messages import toast_errors
from pll.ui.review.review_tab import ReviewTab
from pll.ui.review.reviewer import Reviewer

BOX = "review-another-promise"
LEVELS = {0.9: "90 %", 0.95: "95 %", 0.99: "99 %"}
MODEST = 0.1
"""Above this a guarantee is hardly worth having, and more controls are suggested."""
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)


def settle(run: Run, n: int, who: Reviewer) -> None:
    """Ask what is to be guaranteed, say what can be reached, and begin."""
    st.markdown(f"**Before you begin** — {count(n, 'label')} of this run can be reviewed.")
    st.caption(
        "A random share of the examples is used as controls. They look like any other example. From your answers to "
        "them Candid can certify the other labels. The target is set now and cannot be changed by the answers."
    )
    promised, shared = st.columns(2, gap="large")
    with promised:
        about_all = promise_panel.kind() == "all"
        wanted, share, level, max_error = None, 0.1, 0.95, None
        if about_all:
            wanted = promise_panel.ask(n)
        else:
            share, level = draw(n)
            max_error = guarantee(n, share, level)
    with shared:
        overlap, overlap_share = people()
        blind = st.toggle(
            "Hide the model's view",
            value=about_all,
            key=f"review-blind-{about_all}",
            help="No weights, and candidates in fixed order. Answers are then not swayed by the model, which counts "
            "where the certificate does. You can change this at any time.",
        )
    if st.button("Start review", type="primary", icon=":material/rate_review:"):
        settings = Settings(
            overlap,
            overlap_share,
            mix=min(1.0, share),
            guarantee=Guarantee(share, max_error, level),
            begun_by=who.name,
            verified=who.verified,
        )
        try:
            session.registry().require(run, "owner")
            review = service.manager_of(run, settings).review
            if wanted is not None:
                promise_panel.begin(review, wanted, who.name, verified=who.verified)
        except UserError as error:
            st.error(plain(error), icon=":material/error:")
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
        help="Share of all examples drawn as controls. At first, about this share of the examples shown are some.",
    )
    level = st.segmented_control(
        "Confidence level",
        list(LEVELS),
        default=0.95,
        required=True,
        format_func=LEVELS.__getitem__,
        key="review-level",
    )
    return float(share), float(level or 0.95)


def guarantee(n: int, share: float, level: float) -> float:
    """x: how many of the accepted labels may be wrong; with what the controls can reach."""
    best = achievable(n, share, level)
    two = reachable(n, share, level)
    wanted = st.number_input(
        "Maximum error of the accepted labels, %",
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
        f"about {percent(two)} if two of them are wrong. The most confident labels may be certified sooner."
    )
    enough = next((other for other in SHARES if other > share and reachable(n, other, level) <= MODEST), None)
    if two > MODEST and enough is not None:
        st.caption(
            f":material/info: There are few labels: {count(how_many(n, enough), 'control')} ({percent(enough, 0)}) "
            f"would reach about {percent(reachable(n, enough, level))}."
        )
    if asked < best:
        st.warning(
            f"{percent(asked, 2)} is out of reach with {count(k, 'control')}; draw more or allow a larger error.",
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


# ---- another guarantee, later ----------------------------------------------------------------------------------------


def popover(tab: ReviewTab) -> None:
    """Ask what is to be guaranteed instead, and say what that costs."""
    box = st.popover("Change target", icon=":material/handshake:", type="tertiary", key=BOX, on_change="rerun")
    if not box.open:  # a closed one costs nothing
        return
    review = tab.manager.review
    n = len(review.root)
    with box:
        st.caption(
            "A target is set before its controls are drawn. A new target draws new controls; examples already decided "
            "count."
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
    tab.again()
    st.toast("Saved. The certificate starts again with new controls.", icon=":material/handshake:")
