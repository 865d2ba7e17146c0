"""The promise about all labels: its form, its state, and the effect of further decisions."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pll.colors import percent
from pll.errors import UserError
from pll.review import certification
from pll.review.dataset_certificate import draw_words
from pll.review.promise import plan_dataset
from pll.review.promise_state import PromiseInForce, PromiseStatus
from pll.review.session import ReviewSession
from pll.review.tables import GOALS
from pll.review.work import recent_rate
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
        error, level: see `certification.promise_all_labels`.
    """

    error: float
    level: float


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
    tab.again()
    st.toast("Saved.", icon=":material/verified_user:")


def form(tab: ReviewTab) -> None:
    """What is to be promised of all labels, and the button that makes it."""
    review = tab.manager.review
    wanted = ask(tab, f"review-all-{review.id}")
    known = review.promises[-1].number if review.promises else 0
    before = certification.draws_before(review)
    if before:
        together = max(0.0, 1 - (before + 1) * (1 - wanted.level))
        st.caption(
            f":material/info: This would be draw {before + 1} of controls in this review; what is decided counts. "
            f"All {before + 1} together hold "
            f"with {percent(together, 0)} confidence. The certificate says so."
        )
    now = review.promise
    same = (
        now is not None
        and (now.record.error, now.record.level) == (wanted.error, wanted.level)
        and not now.status(review.state, review.asked).done
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
    wanted = Wanted(float(error), float(level or 0.95))
    plan = plan_dataset(n, wanted.error, wanted.level)
    st.caption(
        f"{count(plan.controls, 'random control')} first, then the labels that look wrong. *Unsure* counts as wrong."
    )
    if plan.controls > n / 2:
        st.caption(":material/info: There are few labels for such a promise: most of the labels have to be looked at.")
    return wanted


@toast_errors
def make(tab: ReviewTab, wanted: Wanted, instead_of: int) -> None:
    """Draw the controls of the promise; the desk hands them out from now on."""
    tab.require("owner")
    review = tab.manager.review
    tab.manager.rank_now()  # the labels of this moment
    certification.promise_all_labels(
        review,
        wanted.error,
        level=wanted.level,
        by=tab.desk.reviewer,
        verified=tab.desk.verified,
        instead_of=instead_of,
    )
    st.session_state[BOX] = False
    tab.manager.promised()
    tab.again()
    st.toast("Saved. The model's view is hidden on the controls.", icon=":material/verified_user:")


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
        standing(tab, promise)
    elif review.record.goal == CERTIFY:
        st.info(
            "Other labels are under review now; the promise about all labels was about the ones before.",
            icon=":material/info:",
        )


# ---- state -----------------------------------------------------------------------------------------------------------


def standing(tab: ReviewTab, promise: PromiseInForce) -> None:
    """What is certified, how far it is, and what further decisions buy."""
    review = tab.manager.review
    status = promise.status(review.state, review.asked)
    st.caption(plain(f"{target(promise)}."))
    if status.done:
        unsure = f" {count(status.unsure, 'label')} could not be told and count as wrong." if status.unsure else ""
        st.success(
            f"Certified. {status.unseen:,} labels are accepted unchecked; nothing is left to check.{unsure}",
            icon=":material/verified:",
        )
        link("export", "Download the certificate", run=review.current.run)
    else:
        st.info(next_words(review, promise, status, error_rate(tab)), icon=":material/hourglass_bottom:")
    st.progress(
        min(1.0, status.answered / max(1, status.controls)),
        text=f"{status.answered:,} of {count(status.controls, 'control')} answered, {status.wrong:,} wrong",
    )
    draws = draw_words(promise.promise)
    if draws:
        st.caption(f":material/info: {draws}")


def target(promise: PromiseInForce) -> str:
    """Guarantee for, as half a sentence."""
    record = promise.record
    sure = f"{percent(record.level, 0)} confidence"
    return f"At most {promise.plan.allowed:,} of {promise.n:,} labels wrong ({percent(record.error, None)}), {sure}"


def error_rate(tab: ReviewTab) -> float | None:
    """Return the share of wrong labels to be expected before any control is answered; None where confidences say it."""
    return None if tab.manager.data.annotations is not None else tab.manager.signals.neighbour_disagreement


def next_words(review: ReviewSession, promise: PromiseInForce, status: PromiseStatus, rate: float | None) -> str:
    """What is left to do, and how long it may take."""
    if status.halfway and status.answered + status.halfway == status.controls:
        return f"{count(status.halfway, 'control')} wait for a second reviewer."
    found = promise.expected(review.state, review.asked, rate)
    pace = recent_rate(review.state)
    spent = duration(max(60, round(found.likely / pace) * 60)).removesuffix(" 0 s") if pace else ""
    when = f" About {spent} at the present rate." if spent and found.likely else ""
    return f"Check about {found.likely:,} more labels ({found.low:,} to {found.high:,}).{when}"


def line(tab: ReviewTab) -> tuple[str, float, bool]:
    """The promise as the line above the desk: words, progress (0-1), whether it holds."""
    review, promise = tab.manager.review, tab.manager.review.promise
    assert promise is not None
    status = promise.status(review.state, review.asked)
    words = f"At most {percent(promise.record.error, None)} of all labels wrong"
    if status.done:
        return f"{words}: certified", 1.0, True
    rest = max(1, promise.expected(review.state, review.asked, error_rate(tab)).likely)
    return f"{words}: about {rest:,} to go", status.looked_at / (status.looked_at + rest), False


def nothing_left(tab: ReviewTab) -> bool:
    """Say that the promise is kept; whether it is."""
    review = tab.manager.review
    if review.promise is None or not review.promise.status(review.state, review.asked).done:
        return False
    standing(tab, review.promise)
    return True
