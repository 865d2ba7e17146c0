"""Progress line above the desk, and the Progress view."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pll.annotations.voters import LEAST_CHECKED
from pll.colors import percent
from pll.errors import UserError
from pll.review.rounds import miss_rate_of
from pll.review.session import ReviewSession
from pll.review.tables import Opened, RoundRecord
from pll.review.work import ReviewWork, last_work_session, recent_rate, work_by_reviewer
from pll.runs.labels_table import added_labels
from pll.ui.data.voters import MOST_SHOWN, show_voters, voter_table
from pll.ui.format import count, duration, plain
from pll.ui.review import calibration_panel, follow_panel, promise_panel, setup_form, teaching_panel
from pll.ui.review.review_tab import ReviewTab
from pll.ui.routes import link

CHANGING = ("pick", "other", "none", "accept", "settle", "eliminate")
"""Kinds of events that may change a label."""
LATE = 20
REFRESHED = 10
"""Decisions after which the line says again how far it is to the certificate. Were that after every one, it would tell
which of them were controls."""


def strip(tab: ReviewTab) -> dict[str, Any]:
    """The line above the desk, for `desk.js`."""
    review = tab.manager.review
    state, name = review.state, tab.desk.reviewer
    mine, done = int(state.answered_by(name).sum()), int((state.answers > 0).sum())
    by_me = f", {mine:,} by you" if done > mine else ""
    rate = recent_rate(state, name)
    pace = "" if rate is None else f" · {pace_of(rate)}"
    right, share, holds = (looked(tab), 0.0, False) if review.promise is None else _promise_line(tab)
    return {
        "left": f"{done:,} decided{by_me} · {len(review.root) - done:,} left{pace}",
        "right": right,
        "share": share,
        "holds": holds,
    }


def looked(tab: ReviewTab) -> str:
    """What the decisions changed: of the last ones their own labels, and of all of them other labels."""
    of_late, others = changed_of_late(tab.manager.review), len(tab.manager.changes())
    return f"{of_late} · {count(others, 'other label')} followed" if others else of_late


def changed_of_late(review: ReviewSession) -> str:
    """How many of the last decisions changed a label, as a sentence; "" before the first."""
    state = review.state
    labelled = (event for event in reversed(state.all_events) if state.is_live(event) and event.kind in CHANGING)
    late = list(islice(labelled, LATE))
    changed = sum(event.after != event.before for event in late)
    return f"{changed} of the last {count(len(late), 'decision')} changed a label" if late else ""


def _promise_line(tab: ReviewTab) -> tuple[str, float, bool]:
    """The promise as a sentence, progress (0-1), whether it holds; updated after every tenth decision."""
    review = tab.manager.review
    assert review.promise is not None
    key = (review.round.number, tab.made // REFRESHED, review.promise.record.number)
    if tab.line is None or tab.line[0] != key:
        try:
            tab.line = (key, promise_panel.line(tab))
        except UserError as error:  # the labels have changed under the certificate
            tab.line = (key, (str(error), 0.0, False))
    return tab.line[1]


def rounded(rate: float) -> float:
    """As precise as it is known; everywhere the same.

    >>> rounded(12.34), rounded(3.14)
    (12.0, 3.1)
    """
    return round(rate, 0 if rate >= 10 else 1)


def pace_of(rate: float) -> str:
    """Decisions a minute in words.

    >>> pace_of(12.34), pace_of(3.14)
    ('12 a minute', '3.1 a minute')
    """
    return f"{rounded(rate):,g} a minute"


# ---- the view --------------------------------------------------------------------------------------------------------


def draw(tab: ReviewTab) -> None:
    """Everything: the certificate, the reviewers, what comes next."""
    manager = tab.manager
    manager.review.refresh()
    figures(manager.review)
    left, right = st.columns([3, 2], gap="large")
    with left:
        promise_panel.draw(tab)
        missing_truths(tab)
        if tab.may("owner"):
            with st.container(horizontal=True, gap="small"):
                promise_panel.chooser(tab)
                setup_form.reviewers(tab)
    with right:
        if tab.may("owner"):
            teaching_panel.panel(tab)
            follow_panel.panel(tab)
        st.markdown("**Export**")
        st.caption("Your decisions count: each label says whether it is the model's or a person's, whose and when.")
        link("export", "Export the labels", run=manager.review.current.run)
    calibration_panel.draw(manager.review)
    work(manager.review)
    voters(tab)
    labels_added(manager.review)
    round_history(manager.review)
    st.caption(plain(summary(tab)))


def figures(review: ReviewSession) -> None:
    """A strip of figures."""
    state, n = review.state, len(review.root)
    done = int((state.answers > 0).sum())
    rate = recent_rate(state)
    changed = sum(said.label != review.root.labels[row] for row, said in review.decisions().items())
    for place, (name, value, help_text) in zip(
        st.columns(4),
        (
            ("Decided", f"{done:,}", "Examples that at least one reviewer has answered."),
            ("Left", f"{n - done:,}", "Examples that nobody has answered."),
            ("Corrected labels", f"{changed:,}", "Decisions that differ from the model's label before the review."),
            (
                "Rate",
                "–" if rate is None else pace_of(rate),
                "Recent decisions per minute of work.",
            ),
        ),
        strict=True,
    ):
        place.metric(name, value, help=help_text)


def missing_truths(tab: ReviewTab) -> None:
    """How many candidate sets miss the right label, by the controls."""
    review, data = tab.manager.review, tab.manager.data
    promise = review.promise_made
    if promise is None:
        return
    found = miss_rate_of(promise.controls, data.given or data.sets(), review.state, review.asked)
    if found is None:
        return
    unknown = f" ({found.unknown:,} not known)" if found.unknown else ""
    st.caption(
        f"The set missed the right label in {found.missing:,} of {count(found.answered, 'control')}{unknown}; of all "
        f"sets that is {percent(found.low)} to {percent(found.high)} (exact 95 % interval)."
    )


def work(review: ReviewSession) -> None:
    """Who has done what."""
    done = work_by_reviewer(review)
    st.markdown("**Reviewers**")
    if not done:
        st.caption("No decisions yet.")
        return
    rates = [recent_rate(review.state, one.name) for one in done]
    st.dataframe(work_table(done, rates), hide_index=True, alt="What each reviewer has done")


def labels_added(review: ReviewSession) -> None:
    """The labels that people gave and the candidate sets did not have."""
    table = added_labels(review.state.candidates, review.root.ids, review.decisions())
    if not len(table):
        return
    st.markdown("**Labels added to sets**")
    st.caption(f"In {count(len(table), 'example')} the set did not have the label that a person gave.")
    st.dataframe(
        table[["id", "candidates", "added_label", "reviewer"]].rename(columns={"added_label": "label added"}),
        hide_index=True,
        alt="Examples whose candidate set missed the label that was given: the set, the label, and who gave it",
    )


def voters(tab: ReviewTab) -> None:
    """What the decisions say about whoever gave the votes."""
    said, review = tab.manager.data.annotations, tab.manager.review
    if said is None or said.anonymous or said.n_classes < 2 or said.n_rows * said.n_classes > MOST_SHOWN:
        return
    place = {name: k for k, name in enumerate(said.class_names)}
    known = np.full(said.n_rows, -1, dtype=np.int64)
    for row, made in review.decisions().items():
        known[row] = place.get(made.label or "", -1)
    controls = np.full(said.n_rows, -1, dtype=np.int64)  # the others were chosen because they are hard
    promise = review.promise_made
    drawn = np.empty(0, dtype=np.int64) if promise is None else promise.controls
    controls[drawn] = known[drawn]
    table, notes = voter_table(f"{review.root.run} {review.state.last} {len(drawn)}", said, known, controls)
    st.markdown("**Voters**")
    decided = int((controls >= 0).sum())
    st.caption(
        "Accuracy is estimated from agreement and your decisions. "
        + (
            f"Where {LEAST_CHECKED} random controls or more are decided, it is counted on these, with its interval."
            if decided >= LEAST_CHECKED
            else f"From {LEAST_CHECKED} decided random controls on it is counted on these, with an interval."
        )
    )
    for words in notes:
        st.text(words)
    show_voters(table)


def summary(tab: ReviewTab) -> str:
    """What this reviewer has done since they sat down, breaks of half an hour or more apart."""
    name = tab.desk.reviewer
    done = last_work_session(tab.manager.review, name)
    return f"{name} has not decided anything yet." if done is None else f"Last session of {name}: {done.words}"


def work_table(done: list[ReviewWork], rates: list[float | None]) -> pd.DataFrame:
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
            "a minute": [None if rate is None else rounded(rate) for rate in rates],
        }
    )


HOW = {
    "first": "the review was started",
    "taught": "the model was retrained",
    "run went on": "the run was continued",
}


def round_history(review: ReviewSession) -> None:
    """The rounds, the latest first."""
    st.markdown("**The labels under review**")
    st.dataframe(
        round_table(review.rounds), hide_index=True, alt="Which labels were under review since when, and by whom"
    )


def round_table(rounds: tuple[RoundRecord, ...]) -> pd.DataFrame:
    """A row a round."""
    latest_first = rounds[::-1]
    return pd.DataFrame(
        {
            "round": [record.number for record in latest_first],
            "since": [f"{record.opened_at.day} {record.opened_at:%B %Y, %H:%M} UTC" for record in latest_first],
            "because": [HOW[record.opened.how] for record in latest_first],
            "by": [opened_by(record.opened) for record in latest_first],
        }
    )


def opened_by(opened: Opened) -> str:
    """By whom.

    >>> (
    ...     opened_by(Opened("first", "Ada")),
    ...     opened_by(Opened("first", "Ada", verified=True)),
    ...     opened_by(Opened("run went on")),
    ... )
    ('Ada (unverified)', 'Ada', 'nobody')
    """
    if opened.by is None:
        return "nobody" if opened.how == "run went on" else "not recorded"
    return opened.by if opened.verified else f"{opened.by} (unverified)"
