"""The promise about all labels: its form, its state, and the effect of further decisions."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.colors import percent
from pll.errors import UserError
from pll.review import certification
from pll.review.dataset_certificate import draw_words
from pll.review.forecast import recent_rate
from pll.review.promise import plan_dataset
from pll.review.promise_state import PromiseInForce, PromiseStatus
from pll.review.session import ReviewSession
from pll.store.tables import GOALS
from pll.ui import charts
from pll.ui.format import count, duration, plain
from pll.ui.review.error_messages import toast_errors
from pll.ui.review.review_tab import ReviewTab
from pll.ui.routes import link

LOOK, CERTIFY = GOALS
NAMED = {LOOK: "Look", CERTIFY: "Certify"}
EXPLAINED = {
    LOOK: "Look at the labels that are most likely wrong, for as long as you like.",
    CERTIFY: "At most a share of all labels is wrong in the end, and that is shown. You look at random controls and at "
    "the least sure labels, and Candid says when you may stop.",
}
ERRORS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)
BOX = "review-promise-box"
LEVELS = {0.9: "90 %", 0.95: "95 %", 0.99: "99 %"}


@dataclass(frozen=True)
class Wanted:
    """What is to be promised of all labels.

    Attributes:
        error, level, reranked: see `certification.promise_all_labels`.
    """

    error: float
    level: float
    reranked: bool


# ---- the choice ------------------------------------------------------------------------------------------------------


def chooser(tab: ReviewTab) -> None:
    """Whether people look or certify, in a box that costs nothing while it is closed; owners only."""
    if not tab.may("owner"):
        return
    box = st.popover("Certify", icon=":material/verified_user:", type="tertiary", key=BOX, on_change="rerun")
    if not box.open:
        return
    review = tab.manager.review
    with box:
        now = LOOK if review.promise is None else CERTIFY
        chosen = st.radio(
            "What is reviewed",
            GOALS,
            index=GOALS.index(now),
            format_func=NAMED.__getitem__,
            captions=[EXPLAINED[goal] for goal in GOALS],
            key=f"review-goal-{review.id}",
        )
        made = review.promise_made
        if chosen == CERTIFY and now == LOOK and made is not None:
            st.caption(f"Made before: {target(made)}. Its controls are drawn, and what was decided since counts.")
        if chosen != now and (chosen == LOOK or made is not None):
            st.button(NAMED[chosen], key="review-goal-save", type="primary", on_click=switch, args=(tab, chosen))
        if chosen == CERTIFY:
            form(tab)


@toast_errors
def switch(tab: ReviewTab, goal: str) -> None:
    """Do the other from now on; nothing that was decided or drawn is lost."""
    tab.require("owner")
    st.session_state[BOX] = False
    tab.manager.review.configure(goal=goal)
    tab.blind = goal == CERTIFY
    tab.again()
    st.toast("Saved.", icon=":material/verified_user:")


def form(tab: ReviewTab) -> None:
    """What is to be promised of all labels, and the button that makes it."""
    review, made = tab.manager.review, tab.manager.review.promise_made
    wanted = ask(tab, f"review-all-{review.id}")
    known = review.promises[-1].number if review.promises else 0
    before = certification.draws_before(review)
    if before:
        together = max(0.0, 1 - (before + 1) * (1 - wanted.level))
        st.caption(
            f":material/info: This would be draw {before + 1} of controls for these labels; what is decided counts. "
            f"All {before + 1} together hold "
            f"with {percent(together, 0)} confidence. The certificate says so."
        )
    same = made is not None and (made.record.error, made.record.level) == (wanted.error, wanted.level)
    st.button(
        "Save and draw controls",
        key="review-all-save",
        type="secondary" if same else "primary",
        on_click=make,
        args=(tab, wanted, known),
        disabled=same,
        help="This promise has been made already; go on with it." if same else None,
    )


def ask(tab: ReviewTab, key: str) -> Wanted:
    """Ask how many labels may be wrong, and say how many controls that takes."""
    review = tab.manager.review
    n = len(review.root)
    error = st.select_slider(
        "Wrong labels at most",
        ERRORS,
        value=0.05,
        format_func=lambda share: f"{percent(share, None)} ({int(share * n + 1e-9):,} of {n:,})",
        key=f"{key}-error",
    )
    level = st.segmented_control(
        "Confidence level",
        list(LEVELS),
        default=0.95,
        required=True,
        format_func=LEVELS.__getitem__,
        key=f"{key}-level",
    )
    reranked = st.toggle(
        "Order the labels anew while people review",
        key=f"{key}-rerank",
        help="A model learns from your answers which of the other labels look wrong, and shows these sooner. It looks "
        "at confidences, labels, features, texts and votes, and never at an answer to a control that is still among "
        "the labels to be accepted.",
    )
    wanted = Wanted(float(error), float(level or 0.95), bool(reranked))
    plan = plan_dataset(n, wanted.error, wanted.level)
    st.caption(
        f"{count(plan.controls, 'random control')} first, then the least sure labels. Everything surer than the "
        f"{plan.tolerated + 1:,}. wrong control is accepted. *Unsure* counts as wrong."
    )
    if plan.controls > n / 2:
        st.caption(":material/info: There are few labels for such a promise: most of the labels have to be looked at.")
    return wanted


@toast_errors
def make(tab: ReviewTab, wanted: Wanted, instead_of: int) -> None:
    """Draw the controls of the promise; the desk hands them out from now on."""
    tab.require("owner")
    review = tab.manager.review
    certification.promise_all_labels(
        review,
        wanted.error,
        level=wanted.level,
        reranked=wanted.reranked,
        by=tab.desk.reviewer,
        verified=tab.desk.verified,
        instead_of=instead_of,
    )
    st.session_state[BOX] = False
    tab.manager.promised()
    tab.blind = True
    tab.again()
    st.toast("Saved. The model's view is hidden now; you can change that under View.", icon=":material/verified_user:")


def draw(tab: ReviewTab) -> None:
    """The promise about all labels that people work for; nothing where it is another."""
    review = tab.manager.review
    try:
        promise = review.promise
    except UserError as error:
        st.warning(plain(error), icon=":material/info:")
        return
    if promise is not None:
        st.markdown("**The promise about all labels**")
        standing(review, promise)
    elif review.record.goal == CERTIFY:
        st.info(
            "Other labels are under review now; the promise about all labels was about the ones before.",
            icon=":material/info:",
        )


# ---- state -----------------------------------------------------------------------------------------------------------


def standing(review: ReviewSession, promise: PromiseInForce) -> None:
    """What is certified, how far it is, and what further decisions buy."""
    status = promise.status(review.state, review.asked)
    st.caption(plain(f"{target(promise)}."))
    if status.done:
        unsure = f" {count(status.unsure, 'label')} could not be told and count as wrong." if status.unsure else ""
        st.success(
            f"Certified. {status.cut.unseen:,} labels are accepted unchecked; nothing is left to check.{unsure}",
            icon=":material/verified:",
        )
        link("export", "Download the certificate", run=review.current.run)
    else:
        st.info(next_words(review, promise, status), icon=":material/hourglass_bottom:")
    st.progress(
        min(1.0, status.answered / max(1, status.controls)),
        text=f"{status.answered:,} of {count(status.controls, 'control')} answered, {status.wrong:,} wrong",
    )
    buys(review, promise)
    draws = draw_words(promise.promise)
    if draws:
        st.caption(f":material/info: {draws}")


def target(promise: PromiseInForce) -> str:
    """Guarantee for, as half a sentence."""
    record = promise.record
    sure = f"{percent(record.level, 0)} confidence"
    return f"At most {promise.plan.allowed:,} of {promise.n:,} labels wrong ({percent(record.error, None)}), {sure}"


def next_words(review: ReviewSession, promise: PromiseInForce, status: PromiseStatus) -> str:
    """What is left to do, and how long it may take."""
    n, state, asked = promise.n, review.state, review.asked
    if status.halfway and status.answered + status.halfway == status.controls:
        return f"{count(status.halfway, 'control')} wait for a second reviewer."
    if status.answered == 0:
        return "Answer the controls first; after the first few dozen Candid says how many labels are left to look at."
    found = promise.forecast(state, asked)
    rate = recent_rate(state)
    rest = max(0, found.likely - status.looked_at)
    spent = duration(max(60, round(rest / rate) * 60)).removesuffix(" 0 s") if rate else ""
    when = f" About {spent} at the present rate." if spent and rest else ""
    if status.answered == status.controls and not promise.record.reranked:
        return f"{count(len(status.open), 'label')} left to look at.{when}"
    order = " in the order of confidence; the changing order usually needs fewer" if promise.record.reranked else ""
    return (
        f"About {found.likely:,} of {n:,} labels to look at in all{order} ({found.low:,} to {found.high:,}, 90 %); "
        f"{status.looked_at:,} are done.{when}"
    )


def line(review: ReviewSession) -> tuple[str, float, bool]:
    """The promise as the line above the desk: words, progress (0-1), whether it holds."""
    promise = review.promise
    assert promise is not None
    status = promise.status(review.state, review.asked)
    words = f"At most {percent(promise.record.error, None)} of all labels wrong"
    if status.done:
        return f"{words}: certified", 1.0, True
    if status.answered < status.controls:
        found = promise.forecast(review.state, review.asked)
        rest = max(1, found.likely - status.looked_at)
        band = "" if not status.answered else f"about {rest:,} to go"
        return f"{words}: {band or 'controls first'}", status.looked_at / max(1, status.looked_at + rest), False
    rest = max(1, len(status.open))
    to_go = f"{rest:,} to go" if not promise.record.reranked else f"at most {rest:,} to go"
    return f"{words}: {to_go}", status.looked_at / (status.looked_at + rest), False


def buys(review: ReviewSession, promise: PromiseInForce) -> None:
    """The curve "decisions → certified error"."""
    points = promise.curve(review.state, review.asked)
    if not points or promise.status(review.state, review.asked).answered == 0:
        return
    table = pd.DataFrame(
        {
            "certified error": [point.error for point in points],
            "decisions in all": [point.decisions for point in points],
            "still to be looked at": [point.left for point in points],
            "final": ["yes" if point.certain else "not yet: controls are open" for point in points],
        }
    )
    with st.expander("What further decisions buy", icon=":material/show_chart:"):
        hourly = st.number_input("Cost of an hour (optional)", min_value=0.0, value=0.0, key="review-promise-cost")
        rate = recent_rate(review.state)
        if rate:
            table["hours left"] = (table["still to be looked at"] / rate / 60).round(2)
            if hourly:
                table["cost left"] = (table["hours left"] * hourly).round(2)
        figure = go.Figure(
            go.Scatter(
                x=table["decisions in all"].to_numpy(),
                y=(table["certified error"] * 100).to_numpy(),
                mode="lines+markers",
                line={"shape": "hv"},
                name="certified",
            )
        )
        done = promise.status(review.state, review.asked).looked_at
        figure.add_vline(x=done, line_dash="dot", annotation_text="now")
        charts.dress(figure, "Decisions and certified error", "labels looked at", "wrong labels at most, %")
        charts.show(figure, table, "promise-curve", "Decisions and certified error")
        order = " It is that of the order of confidence." if promise.record.reranked else ""
        open_ = "" if all(point.certain for point in points) else " Open controls are taken for right: planning only."
        st.caption(
            f"All points hold together with {percent(promise.record.level, 0)} confidence, so you may choose one "
            f"afterwards; the promise above, made beforehand, needs fewer decisions.{order}{open_}"
        )


def nothing_left(tab: ReviewTab) -> bool:
    """Say that the promise is kept; whether it is."""
    review = tab.manager.review
    if review.promise is None or not review.promise.status(review.state, review.asked).done:
        return False
    standing(review, review.promise)
    return True
