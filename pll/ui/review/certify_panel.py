"""Certify: the form that fixes what is to hold of all labels, a sentence on how far it is, the certified labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import streamlit as st

from pll.errors import UserError
from pll.review.certificate import UNANSWERED, Plan, draws_note, plan_controls
from pll.review.certification import Certification, draws_of, expected_before, miss_rate_of, table_of
from pll.review.events import GOALS
from pll.review.expected_checks import ExpectedChecks
from pll.review.session import ReviewSession
from pll.review.work import recent_rate
from pll.ui.export.download import made_now
from pll.ui.format import plain
from pll.ui.review.review_tab import ONE_BY_ONE, ReviewTab
from pll.ui.routes import link
from pll.ui.widgets import beside, button, choose, choose_one, download, popover
from pll.wording import count, percent

LOOK, CERTIFY = GOALS
GOAL_NAMES = {LOOK: "Look", CERTIFY: "Certify"}
EXPLAINED = {
    LOOK: "The labels that are most likely wrong, for as long as you like.",
    CERTIFY: "Check labels until at most a few in 100 are wrong, as sure as you choose.",
}
SHARES_OF_ERRORS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)
SURE_LEVELS = {0.9: "90 %", 0.95: "95 %", 0.99: "99 %"}


# ---- the choice ------------------------------------------------------------------------------------------------------


def chooser(tab: ReviewTab) -> None:
    """Whether people look or certify, in a box that costs nothing while it is closed; for owners only."""
    popover("Certify", _goals, tab, key=box_key(tab.review), icon="verified_user")


def _goals(tab: ReviewTab) -> None:
    review = tab.review
    now = LOOK if review.certification is None else CERTIFY
    key, words = f"review-goal-{review.id}", {"captions": list(EXPLAINED.values()), "label_visibility": "collapsed"}
    at = list(GOAL_NAMES).index(now)
    chosen = choose("What is reviewed", GOAL_NAMES, widget=st.radio, index=at, key=key, **words)
    begun = review.latest_certification
    if chosen == CERTIFY and now == LOOK and begun is not None:
        st.caption(f"Begun before: {_target(begun.plan)}. What was decided since counts.")
    if chosen != now and (chosen == LOOK or begun is not None):
        button(GOAL_NAMES[chosen], _switch, tab, chosen, key="review-goal-save", kind="primary")
    if chosen == CERTIFY:
        _form(tab)


def box_key(review: ReviewSession) -> str:
    """The box, another one as soon as something else is reviewed: it is closed then, on every view."""
    return f"review-certify-{len(review.plans)}-{review.certification is None}"


def _switch(tab: ReviewTab, goal: str) -> None:
    """Do the other from now on; nothing that was decided or drawn is lost."""
    tab.require("owner")
    tab.review.configure(goal=goal)
    tab.reassign()


def _form(tab: ReviewTab) -> None:
    """How many labels may be wrong, how many checks that takes, and the button that begins them."""
    review, key = tab.review, f"review-all-{tab.review.id}"
    n = len(review.root)
    error = st.select_slider(
        "Wrong labels at most",
        SHARES_OF_ERRORS,
        value=0.05,
        format_func=lambda share: f"{_in_100(share)} ({int(share * n + 1e-9):,} of {n:,})",
        key=f"{key}-error",
    )
    level = choose_one("How sure", list(SURE_LEVELS), 0.95, key=f"{key}-level", format_func=SURE_LEVELS.__getitem__)
    now = review.certification
    is_that = now is not None and (now.plan.error, now.plan.level) == (error, level)
    if now is not None and is_that and not now.status(review.state).done:
        st.caption("This is under way.")  # how far it is stands above: no second number beside that
        return
    table = table_of(review.current, review.state)
    expected = expected_before(table, review.state, error, level, tab.queue.neighbours_disagree(table.labels))
    st.caption(_sentence(expected.after(0, expected.controls), error, level))
    if plan_controls(n, error, level).controls > n / 2:
        st.caption(":material/info: There are few labels for that: most of them have to be looked at.")
    before = len(draws_of(table, [record.plan for record in review.plans]))
    if before:
        together = max(0.0, 1 - (before + 1) * (1 - level))
        st.caption(
            f":material/info: Begun {before + 1} times, all of it together is sure to {percent(together, 0)}. The "
            "certificate says so."
        )
    button(
        "Start checking",
        _begin,
        tab,
        error,
        level,
        len(review.plans),
        key="review-all-save",
        kind="primary",
    )


def _begin(tab: ReviewTab, error: float, level: float, after: int) -> None:
    """Freeze the labels and draw the checks; the desk hands them out from now on."""
    tab.require("owner")
    tab.queue.compute_order()  # the labels of this moment
    tab.review.certify(error, level, after=after)
    tab.restrict(None)
    st.session_state[tab.view_key] = ONE_BY_ONE  # to the first card, whichever view it was begun in


# ---- words -----------------------------------------------------------------------------------------------------------


def _in_100(share: float) -> str:
    """A share in words.

    Examples
    --------
    >>> _in_100(0.05), _in_100(0.075)
    ('5 in 100', '7.5 in 100')
    """
    return f"{100 * share:g} in 100"


def _sentence(checks: ExpectedChecks, error: float, level: float) -> str:
    """What is to be done, and what holds then.

    Examples
    --------
    >>> _sentence(ExpectedChecks(250, 340, 420, 175), 0.05, 0.95)
    'Check about 340 more (250-420): 175 random ones, then about 165 others. Then at most 5 in 100 are wrong (sure to \
95 %).'
    """
    return f"{checks.sentence}. Then at most {_in_100(error)} are wrong (sure to {percent(level, 0)})."


def _target(plan: Plan) -> str:
    """What is to hold of all labels, as half a sentence."""
    return f"at most {_in_100(plan.error)} labels are wrong (sure to {percent(plan.level, 0)})"


# ---- how far it is ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """How far the certificate is."""

    checks: ExpectedChecks | None  # to go; None where all are made
    words: str  # the certificate in one sentence
    note: str = ""  # why the desk shows no percentages; "" where it does
    minutes: int | None = None  # to go at the present pace; None where it is too early to say
    share: float = 1.0  # of the checks, done; in [0, 1]


def standing_of(tab: ReviewTab, certification: Certification) -> Standing:
    """Return how far the certificate is.

    Parameters
    ----------
    tab
        The reviewer's tab, whose queue knows what is left to check.
    certification
        The certificate that is worked for.
    """
    review, plan = tab.review, certification.plan
    status, checks = certification.status(review.state), tab.queue.checks()
    disputed = len(review.conflicts())
    settle = f" {count(disputed, 'disagreement')} to settle: each counts as wrong until then." * bool(disputed)
    if checks is None:
        unseen = f"{status.unseen:,} of {plan.n:,} labels were accepted without a look."
        return Standing(None, f"Certified: {status.claim} {unseen}{settle}")
    done = int(status.looked_at.sum())
    share = done / max(1, done + checks.likely)
    waiting = status.controls[status.answers[status.controls] == UNANSWERED]
    if len(waiting) and (review.state.answers[waiting] > 0).all():
        return Standing(checks, f"{count(len(waiting), 'label')} wait for a second reviewer.{settle}", share=share)
    rate = recent_rate(review.state)
    note = ""
    if checks.controls:
        note = f"No percentages for the first {plan.controls:,}: your answers measure the model, so it must not hint."
    words = _sentence(checks, plan.error, plan.level) + settle
    return Standing(checks, words, note, max(1, round(checks.likely / rate)) if rate else None, share)


def draw(tab: ReviewTab) -> bool:
    """How far the certificate is, nothing where people look; return whether it is earned."""
    try:
        certification = tab.review.certification
    except UserError as error:
        st.warning(plain(error), icon=":material/warning:")
        return False
    if certification is None:
        return False
    standing = standing_of(tab, certification)
    if standing.checks is None:
        certified(tab, certification)
    else:
        st.progress(min(1.0, standing.share), text=plain(standing.words))
    return standing.checks is None


def certified(tab: ReviewTab, certification: Certification) -> None:
    """The certified labels to take away, where the certificate is earned.

    Parameters
    ----------
    tab
        The reviewer's tab.
    certification
        The certificate that is worked for, or was.
    """
    st.success(plain(standing_of(tab, certification).words), icon=":material/verified:")
    with beside():
        made = partial(made_now, tab.queue.run, "final")
        download("Download certified labels", made, "final.csv", key="review-certified", kind="primary")
        link("export", "Certificate and other files", run=tab.queue.run.id)


def for_experts(tab: ReviewTab) -> None:
    """The controls behind the certificate, and how many candidate sets they say miss the right label."""
    review, data = tab.review, tab.queue.data
    certification = review.latest_certification
    if certification is None:
        return
    plan, status = certification.plan, certification.status(review.state)
    st.markdown("**Certificate**")
    st.caption(
        plain(
            f"At most {plan.allowed:,} of {plan.n:,} labels wrong. {status.answered:,} of "
            f"{count(plan.controls, 'control')} answered, {status.wrong:,} wrong or not told. {draws_note(plan)}"
        )
    )
    miss_rate = miss_rate_of(certification.controls, data.given_sets, review.state)
    if miss_rate is None:
        return
    unknown = f" ({miss_rate.unknown:,} not known)" if miss_rate.unknown else ""
    st.caption(
        f"The set missed the right label in {miss_rate.missing:,} of {count(miss_rate.answered, 'control')}{unknown}; "
        f"of all sets that is {percent(miss_rate.low)} to {percent(miss_rate.high)} (exact 95 % interval)."
    )
