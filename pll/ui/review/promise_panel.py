"""The promise about all labels: its form, where it stands, and what further decisions buy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.errors import UserError
from pll.review import certification
from pll.review.forecast import recent_rate
from pll.review.promise import plan_dataset
from pll.review.promise_state import Nodding, PromiseInForce, PromiseStatus
from pll.review.session import ReviewSession
from pll.ui import charts
from pll.ui.format import count, duration, percent, plain
from pll.ui.review.error_messages import toast_errors
from pll.ui.review.review_tab import ReviewTab
from pll.ui.routes import link

EXPLAINED = (
    "Of all labels of this run at most this share is wrong in the end. You look at random controls and at the least "
    "sure labels, and Candid says when you may stop."
)
ERRORS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)
LEVELS = {0.9: "90 %", 0.95: "95 %", 0.99: "99 %"}
BOX = "review-promise-box"


@dataclass(frozen=True)
class Wanted:
    """What is to be promised of all labels."""

    error: float
    level: float
    reranked: bool


def ask(n: int, key: str) -> Wanted:
    """Ask how many labels may be wrong, and say how many controls that takes."""
    error = st.select_slider(
        "Wrong labels at most",
        ERRORS,
        value=0.05,
        format_func=lambda share: f"{share_text(share)} ({int(share * n + 1e-9):,} of {n:,})",
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
        help="A model learns from your answers which of the other labels look wrong, and shows these sooner. It never "
        "learns from a control that is still among the labels to be accepted.",
    )
    wanted = Wanted(float(error), float(level or 0.95), bool(reranked))
    plan = plan_dataset(n, wanted.error, wanted.level)
    st.caption(
        f"{count(plan.controls, 'random control')} first, then the least sure labels. Everything surer than the "
        f"{plan.tolerated + 1:,}. wrong control is accepted. *Unsure* counts as wrong."
    )
    if plan.controls > n / 2:
        st.caption(":material/info: There are few labels for such a promise: most of them have to be looked at.")
    return wanted


def draw(tab: ReviewTab) -> None:
    """The promise in force, or an offer to make one."""
    review = tab.manager.review
    try:
        promise = review.promise
    except UserError as error:
        st.warning(plain(error), icon=":material/info:")
        return
    if promise is None:
        offer(tab)
        return
    st.markdown("**The promise about all labels**")
    standing(review, promise)
    if tab.may("owner"):
        another(tab)


def offer(tab: ReviewTab) -> None:
    """No promise about all labels was made of these."""
    if not tab.may("owner"):
        return
    if tab.manager.review.promises:
        st.info(
            "Other labels are under review now; the promise about all labels was about the ones before.",
            icon=":material/info:",
        )
    another(tab, "Promise about all labels")


def another(tab: ReviewTab, title: str = "Another promise about all labels") -> None:
    """A form that makes a (further) promise."""
    review = tab.manager.review
    box = st.popover(title, icon=":material/verified_user:", type="tertiary", key=BOX, on_change="rerun")
    if not box.open:  # a closed one costs nothing
        return
    with box:
        st.caption(EXPLAINED)
        wanted = ask(len(review.root), f"review-all-{review.id}")
        known = review.promises[-1].number if review.promises else 0
        if review.promise is not None:
            st.caption(
                ":material/info: It draws new controls; what is decided counts. Each promise has its own confidence: "
                "do not choose between them by their results."
            )
        st.button(
            "Save and draw controls", key="review-all-save", type="primary", on_click=make, args=(tab, wanted, known)
        )


@toast_errors
def make(tab: ReviewTab, wanted: Wanted, instead_of: int) -> None:
    """Draw the controls of the promise; the desk hands them out from now on."""
    tab.require("owner")
    st.session_state[BOX] = False
    begin(tab.manager.review, wanted, tab.desk.reviewer, verified=tab.desk.verified, instead_of=instead_of)
    tab.blind = True
    tab.again()
    st.toast("Saved. The model's view is hidden now; you can change that under View.", icon=":material/verified_user:")


def begin(review: ReviewSession, wanted: Wanted, by: str, *, verified: bool, instead_of: int = 0) -> None:
    """Store the promise.

    Raises:
        UserError: it cannot be made, or the review has changed.
    """
    certification.promise_all_labels(
        review,
        wanted.error,
        level=wanted.level,
        reranked=wanted.reranked,
        by=by,
        verified=verified,
        instead_of=instead_of,
    )


def share_text(share: float) -> str:
    """A declared share without needless digits.

    >>> share_text(0.05), share_text(0.075)
    ('5 %', '7.5 %')
    """
    return f"{share * 100:.4g} %"


# ---- where it stands -------------------------------------------------------------------------------------------------


def standing(review: ReviewSession, promise: PromiseInForce) -> None:
    """What is certified, how far it is, and what further decisions buy."""
    status = promise.status(review.state, review.asked)
    st.caption(
        f"At most {promise.plan.allowed:,} of {promise.plan.n:,} labels wrong ({share_text(promise.record.error)}), "
        f"{percent(promise.record.level, 0)} confidence."
    )
    if status.done:
        unsure = f" {count(status.unsure, 'label')} could not be told and count as wrong." if status.unsure else ""
        st.success(
            f"Certified. {status.cut.unseen:,} labels are accepted without a look; nothing is left to look at.{unsure}",
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
    doubts(promise.nodding(review.state))


def next_words(review: ReviewSession, promise: PromiseInForce, status: PromiseStatus) -> str:
    """What is left to do, and how long it may take."""
    n, state, asked = promise.plan.n, review.state, review.asked
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
    target = f"At most {share_text(promise.record.error)} of all labels wrong"
    if status.done:
        return f"{target}: certified", 1.0, True
    if status.answered < status.controls:
        found = promise.forecast(review.state, review.asked)
        rest = max(1, found.likely - status.looked_at)
        band = "" if not status.answered else f"about {rest:,} to go"
        return f"{target}: {band or 'controls first'}", status.looked_at / max(1, status.looked_at + rest), False
    rest = max(1, len(status.open))
    words = f"{rest:,} to go" if not promise.record.reranked else f"at most {rest:,} to go"
    return f"{target}: {words}", status.looked_at / (status.looked_at + rest), False


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


def doubts(found: Nodding) -> None:
    """Whether people seem to follow the model's label."""
    blind, sighted = found.blind, found.sighted
    if found.suspected:
        st.warning(
            f"Reviewers seem to follow the model: they differ from its label on {sighted[0]} of {sighted[1]} controls "
            f"with the label in sight, and on {blind[0]} of {blind[1]} with it hidden. Hide the model's view.",
            icon=":material/visibility_off:",
        )
    elif sighted[1]:
        shares = np.divide(sighted[0], sighted[1])
        st.caption(
            f":material/visibility: {count(sighted[1], 'control')} answered with the model's view in sight "
            f"({percent(float(shares))} differ); answers are safer with it hidden (*View*)."
        )


def nothing_left(tab: ReviewTab) -> bool:
    """Say that the promise is kept; whether it is."""
    review = tab.manager.review
    if review.promise is None or not review.promise.status(review.state, review.asked).done:
        return False
    standing(review, review.promise)
    return True
