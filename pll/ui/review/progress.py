"""How far the review has come: a line above the desk, and the whole of it on its own view."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from pll.errors import UserError
from pll.review.forecast import Forecast, Work, forecast, minutes_left, recent_rate, work_by_reviewer
from pll.review.session import ReviewSession
from pll.review.summary import last_sitting
from pll.ui.format import count, duration, percent
from pll.ui.review import calibrating, promising, proposed, rounds, teach, waits
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import told
from pll.ui.routes import link

REFRESHED = 10
"""Decisions after which the line says anew how far it is to the certificate. Were that after every one, it would tell
which of them were controls."""


def strip(sitting: Sitting) -> dict[str, Any]:
    """The line above the desk, for `desk.js`."""
    reviewing = sitting.guide.reviewing
    state, name = reviewing.state, sitting.desk.reviewer
    mine, done = int(state.answered_by(name).sum()), int((state.answers > 0).sum())
    by_others = f" ({done:,} by all)" if done > mine else ""
    rate = recent_rate(state.all_events, name)
    pace = f" · {rate:,.0f} a minute" if rate and mine >= 5 else ""
    certificate, share, holds = _certificate_line(sitting)
    return {
        "left": f"{mine:,} decided{by_others} · {len(reviewing.root) - done:,} left{pace}",
        "right": certificate,
        "share": share,
        "holds": holds,
    }


def _certificate_line(sitting: Sitting) -> tuple[str, float, bool]:
    """Where the certificate stands: in words, how far (0-1), whether it holds. As it was after every tenth decision."""
    reviewing = sitting.guide.reviewing
    key = (reviewing.round.number, len(reviewing.round.controls), reviewing.record.mix, sitting.made // REFRESHED)
    if sitting.line is None or sitting.line[0] != key:
        try:
            sitting.line = (key, line_of(reviewing, forecast(reviewing)))
        except UserError as error:  # the labels have changed under the certificate
            sitting.line = (key, (str(error), 0.0, False))
    return sitting.line[1]


def line_of(reviewing: ReviewSession, found: Forecast) -> tuple[str, float, bool]:
    """The same, anew."""
    certificate = found.certificate
    if certificate.threshold is not None:
        return (
            f"Certified: {certificate.accepted:,} labels, at most {percent(certificate.max_error)} wrong",
            1.0,
            True,
        )
    promise = f"{percent(certificate.max_error)} wrong at most"
    if found.needed is None:
        return f"{promise}: out of reach as it looks now", 0.0, False
    total = found.answered + found.needed
    minutes = minutes_left(found.needed, reviewing.record.mix, recent_rate(reviewing.state.all_events))
    when = "" if minutes is None else f", {_about(minutes)}"
    return f"{promise}: about {count(found.needed, 'control')} to go{when}", found.answered / max(total, 1), False


def _about(minutes: float) -> str:
    return "about " + duration(max(60, round(minutes) * 60)).removesuffix(" 0 s")


# ---- the view --------------------------------------------------------------------------------------------------------


def draw(sitting: Sitting) -> None:
    """Everything: the certificate, the reviewers, what comes next."""
    guide = sitting.guide
    guide.reviewing.refresh()
    figures(guide.reviewing)
    left, right = st.columns([3, 2], gap="large")
    with left:
        certificate(sitting)
    with right:
        teach.panel(sitting)
        proposed.panel(sitting)
        st.markdown("**Take the labels away**")
        st.caption("Your decisions count: each label says whether it is the model's or a person's, whose and when.")
        link("export", "Export the labels", run=guide.reviewing.current.run)
    calibrating.draw(guide.reviewing)
    work(work_by_reviewer(guide.reviewing))
    rounds.draw(guide.reviewing)
    st.caption(summary(sitting))


def figures(reviewing: ReviewSession) -> None:
    """A strip of figures."""
    state, n = reviewing.state, len(reviewing.root)
    done = int((state.answers > 0).sum())
    rate = recent_rate(state.all_events)
    changed = sum(said.label != reviewing.root.labels[row] for row, said in reviewing.decisions().items())
    for place, (name, value, help_text) in zip(
        st.columns(4),
        (
            ("Decided", f"{done:,}", "Examples that at least one reviewer has answered."),
            ("Left", f"{n - done:,}", "Examples that nobody has answered."),
            ("Labels put right", f"{changed:,}", "Decisions that differ from the model's label before the review."),
            ("Rate", "–" if rate is None else f"{rate:,.0f} a minute", "Decisions of late, all reviewers together."),
        ),
        strict=True,
    ):
        place.metric(name, value, help=help_text)


def certificate(sitting: Sitting) -> None:
    """What may be accepted unseen; or what is missing."""
    reviewing = sitting.guide.reviewing
    st.markdown("**The certificate**")
    try:
        found = forecast(reviewing)
    except UserError as error:
        st.warning(str(error), icon=":material/info:")
        return
    said = found.certificate
    if said.threshold is not None:
        st.success(said.explanation, icon=":material/verified:")
    else:
        st.info(said.explanation, icon=":material/hourglass_bottom:")
    st.progress(
        min(1.0, found.answered / max(found.drawn, 1)),
        text=f"{found.answered:,} of {count(found.drawn, 'control')} answered, in the order drawn",
    )
    st.caption(next_words(reviewing, found))
    waits.draw(sitting)
    steer(reviewing, found)
    promising.popover(sitting)
    st.caption(
        "Controls are drawn at random and come unmarked among the others. They count in the order drawn; "
        "*unsure* and *none of these* count as a wrong label. The promise was fixed before they were drawn."
    )


def next_words(reviewing: ReviewSession, found: Forecast) -> str:
    """How far it is to a (larger) certificate."""
    step = found.step
    certified = found.certificate
    if step is None or found.needed is None:
        if certified.threshold is None:
            return (
                "If further controls are wrong as often as those so far, no number of them would certify this promise. "
                "Teach the model, or take over what is proposed: other labels get a draw of their own."
            )
        if certified.accepted == len(reviewing.root):
            return "These are all labels; no further control is needed."
        return "If further controls are wrong as often as those so far, they would certify no more labels."
    minutes = minutes_left(found.needed, reviewing.record.mix, recent_rate(reviewing.state.all_events))
    when = "" if minutes is None else f" ({_about(minutes)} at the present rate)"
    short = found.needed - (found.drawn - found.answered)
    more = f" Only {found.drawn - found.answered:,} are drawn; draw more." if short > 0 else ""
    return (
        f"About {count(found.needed, 'further control')}{when} would certify the {step.accepted:,} labels of "
        f"confidence {step.threshold:.3f} and above, if they go on as they went.{more}"
    )


def steer(reviewing: ReviewSession, found: Forecast) -> None:
    """More controls among what is handed out; more controls drawn."""
    mixes = {0.1: "1 in 10", 0.25: "1 in 4", 0.5: "every second", 1.0: "all"}
    now = min(mixes, key=lambda mix: abs(mix - reviewing.record.mix))
    key = f"review-mix-{reviewing.id}"

    @told
    def mix() -> None:
        if st.session_state[key] is not None:
            reviewing.configure(mix=st.session_state[key])

    st.segmented_control(
        "Controls among the examples shown",
        list(mixes),
        default=now,
        format_func=mixes.__getitem__,
        key=key,
        on_change=mix,
        help="The more of them, the sooner the certificate, and the fewer of the uncertain examples are put right.",
    )
    share = found.drawn / len(reviewing.root)
    larger = min(1.0, round(share + 0.1, 2))
    if share < 1:
        st.button(
            f"Draw controls up to {percent(larger, 0)} of the examples",
            key=f"review-draw-{reviewing.id}",
            type="tertiary",
            icon=":material/casino:",
            on_click=draw_more,
            args=(reviewing, larger),
        )


@told
def draw_more(reviewing: ReviewSession, share: float) -> None:
    """Further controls of the same draw, or why not."""
    st.toast(f"{count(reviewing.draw_more(share), 'further control')} drawn.", icon=":material/casino:")


def work(done: list[Work]) -> None:
    """Who has done what."""
    st.markdown("**Reviewers**")
    if not done:
        st.caption("Nobody has decided anything yet.")
        return
    st.dataframe(work_table(done), hide_index=True, alt="What each reviewer has done")


def summary(sitting: Sitting) -> str:
    """What this reviewer has done since they sat down, breaks of half an hour or more apart."""
    name = sitting.desk.reviewer
    done = last_sitting(sitting.guide.reviewing, name)
    return f"{name} has decided nothing yet." if done is None else f"The last sitting of {name}: {done.words}"


def work_table(done: list[Work]) -> pd.DataFrame:
    """The same as a table."""
    return pd.DataFrame(
        {
            "reviewer": [
                (work.name or "all") + ("" if work.verified or not work.name else " (unverified)") for work in done
            ],
            "decisions": [work.decisions for work in done],
            "unsure": [work.unsure for work in done],
            "none of these": [work.none for work in done],
            "undone": [work.undone for work in done],
            "at work": [duration(work.seconds) for work in done],
            "a minute": [None if work.per_minute is None else round(work.per_minute, 1) for work in done],
        }
    )
