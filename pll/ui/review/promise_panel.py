"""The promise about all labels: its form, its state, and the effect of further decisions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.colors import percent
from pll.errors import UserError
from pll.review import certification
from pll.review.dataset_certificate import Nodding, draw_words
from pll.review.forecast import recent_rate
from pll.review.groups import CLASS, group_columns, groups_of
from pll.review.promise import plan_dataset
from pll.review.promise_state import PromiseInForce, PromiseStatus
from pll.review.session import ReviewSession
from pll.store.tables import GOALS
from pll.ui import charts
from pll.ui.format import count, duration, plain
from pll.ui.review import blocking_notice, setup_form
from pll.ui.review.error_messages import toast_errors
from pll.ui.review.review_tab import ReviewTab
from pll.ui.routes import link

ACCEPTED, ALL = GOALS
NAMED = {ACCEPTED: "Accepted labels", ALL: "All labels"}
EXPLAINED = {
    ACCEPTED: "Of the labels that Candid accepts for their confidence, at most this share is wrong. It says nothing of "
    "the other labels, and needs random controls only.",
    ALL: "Of all labels of this run, at most this share is wrong in the end. You look at random controls and at the "
    "least sure labels, and Candid says when you may stop.",
}
ERRORS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)
BOX = setup_form.BOX
COOKIE = "candid_promise"
"""The browser remembers which promise was chosen last, for the next review."""
TWICE = 0.1
"""Share of the examples that a second person answers where reviewers' own errors are to be measured."""


@dataclass(frozen=True)
class Wanted:
    """What is to be promised of all labels.

    Attributes:
        error, level, reranked: see `certification.promise_all_labels`.
        grouped_by: the column whose values have a promise each; None for one promise.
        twice: a second person answers some examples, so that reviewers' own errors are measured.
    """

    error: float
    level: float
    reranked: bool
    grouped_by: str | None = None
    twice: bool = False


# ---- the choice ------------------------------------------------------------------------------------------------------


def chooser(tab: ReviewTab) -> None:
    """Which promise people work for, in a box that costs nothing while it is closed; owners only."""
    if not tab.may("owner"):
        return
    box = st.popover("Promise", icon=":material/verified_user:", type="tertiary", key=BOX, on_change="rerun")
    if not box.open:
        return
    review = tab.manager.review
    with box:
        now = ACCEPTED if review.promise is None else ALL
        chosen = st.radio(
            "Guarantee for",
            GOALS,
            index=GOALS.index(suggested(review)),
            format_func=NAMED.__getitem__,
            captions=[EXPLAINED[goal] for goal in GOALS],
            key=f"review-goal-{review.id}",
        )
        made = review.promise_made
        if chosen == ALL and now == ACCEPTED and made is not None:
            st.caption(f"Made before: {target(made)}. Its controls are drawn, and what was decided since counts.")
        if chosen != now and (chosen == ACCEPTED or made is not None):
            st.button(
                f"Work for the promise about {NAMED[chosen].lower()}",
                key="review-goal-save",
                type="primary",
                on_click=switch,
                args=(tab, chosen),
            )
        elif chosen == ACCEPTED:
            setup_form.form(tab)
        if chosen == ALL:
            form(tab)


def suggested(review: ReviewSession) -> str:
    """The promise that people work for; before anybody chose one, that which this browser chose last."""
    if review.promise is not None:
        return ALL
    last = st.context.cookies.get(COOKIE, "") if review.record.goal is None else ""
    return last if last in GOALS else ACCEPTED


@toast_errors
def switch(tab: ReviewTab, goal: str) -> None:
    """Work for the other promise from now on; nothing that was decided or drawn is lost."""
    tab.require("owner")
    st.session_state[BOX] = False
    tab.manager.review.configure(goal=goal)
    tab.blind = goal == ALL
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
    same = made is not None and (made.record.error, made.record.level, made.record.grouped_by) == (
        wanted.error,
        wanted.level,
        wanted.grouped_by,
    )
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
    grouped_by = _ask_groups(tab, key)
    each = " of each group" if grouped_by is not None else ""

    error = st.select_slider(
        f"Wrong labels at most{each}",
        ERRORS,
        value=0.05,
        format_func=lambda share: (
            percent(share, None) if each else f"{percent(share, None)} ({int(share * n + 1e-9):,} of {n:,})"
        ),
        key=f"{key}-error",
    )
    level = setup_form.confidence_level(f"{key}-level")
    reranked = st.toggle(
        "Order the labels anew while people review",
        key=f"{key}-rerank",
        help="A model learns from your answers which of the other labels look wrong, and shows these sooner. It looks "
        "at confidences, labels, features, texts and votes, and never at an answer to a control that is still among "
        "the labels to be accepted.",
    )
    twice = st.toggle(
        "Measure reviewers' own errors",
        value=review.record.overlap > 1,
        key=f"{key}-twice",
        help=f"A second person answers {percent(TWICE, 0)} of the examples. From how often they differ the certificate "
        "says what holds where reviewers err too.",
    )
    wanted = Wanted(float(error), level, bool(reranked), grouped_by, bool(twice))
    groups = groups_of(grouped_by, review.current, tab.manager.data)
    sizes = [n] if groups is None else list(Counter(groups.tolist()).values())
    plans = [plan_dataset(size, wanted.error, wanted.level) for size in sizes]
    controls = sum(plan.controls for plan in plans)
    if groups is None:
        st.caption(
            f"{count(controls, 'random control')} first, then the least sure labels. Everything surer than the "
            f"{plans[0].tolerated + 1:,}. wrong control is accepted. *Unsure* counts as wrong."
        )
    else:
        st.caption(
            f"{count(controls, 'random control')} in {count(len(sizes), 'group')} of {min(sizes):,} to {max(sizes):,} "
            "labels. Each group holds with this confidence by itself. *Unsure* counts as wrong."
        )
    if controls > n / 2:
        few = "Groups are small" if groups is not None else "There are few labels"
        st.caption(f":material/info: {few} for such a promise: most of the labels have to be looked at.")
    return wanted


def _ask_groups(tab: ReviewTab, key: str) -> str | None:
    """One promise, or one for each class or source."""
    classes = len(set(tab.manager.review.current.labels.tolist()))
    columns = group_columns(tab.manager.data)
    names = {None: "all labels together", CLASS: f"each class ({classes:,})"}
    names |= {name: f"each {name} ({values:,})" for name, values in columns.items()}
    options = [name for name in names if name != CLASS or classes > 1]
    if len(options) == 1:
        return None
    return st.selectbox("For", options, format_func=names.__getitem__, key=f"{key}-groups")


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
        grouped_by=wanted.grouped_by,
        by=tab.desk.reviewer,
        verified=tab.desk.verified,
        instead_of=instead_of,
    )
    st.session_state[BOX] = False
    if wanted.twice != (review.record.overlap > 1):
        review.configure(overlap=2 if wanted.twice else 1, overlap_share=TWICE if wanted.twice else 1.0)
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
        blocking_notice.draw(tab)
    elif review.record.goal == ALL:
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
    if promise.grouped:
        st.dataframe(group_table(status), hide_index=True, alt="Where each group of the promise stands")
    buys(review, promise)
    doubts(promise.nodding(review.state, review.asked))
    draws = draw_words(promise.promise)
    if draws:
        st.caption(f":material/info: {draws}")


def target(promise: PromiseInForce) -> str:
    """Guarantee for, as half a sentence."""
    record = promise.record
    sure = f"{percent(record.level, 0)} confidence"
    if not promise.grouped:
        return f"At most {promise.allowed:,} of {promise.n:,} labels wrong ({percent(record.error, None)}), {sure}"
    each = "class" if record.grouped_by == CLASS else record.grouped_by
    return f"At most {percent(record.error, None)} of the labels of each {each} wrong, {sure} for each"


def group_table(status: PromiseStatus) -> pd.DataFrame:
    """A row a group."""
    return pd.DataFrame(
        {
            "group": [part.group or "(empty)" for part in status.parts],
            "labels": [part.plan.n for part in status.parts],
            "controls": [part.plan.controls for part in status.parts],
            "answered": [part.answered for part in status.parts],
            "wrong": [part.wrong for part in status.parts],
            "may stay wrong": [part.plan.allowed for part in status.parts],
            "accepted unseen": [f"{part.cut.unseen:,}" if part.finished else "not yet" for part in status.parts],
        }
    )


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
    of = "each group's" if promise.grouped else "all"
    words = f"At most {percent(promise.record.error, None)} of {of} labels wrong"
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


def doubts(found: Nodding) -> None:
    """Whether people seem to follow the model's label."""
    blind, sighted = found.blind, found.sighted
    if found.suspected:
        st.warning(
            f"Reviewers may be influenced by the model: they differ from its label on {sighted[0]} of {sighted[1]} "
            f"controls with the label in sight, and on {blind[0]} of {blind[1]} with it hidden. Hide the model's view.",
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
