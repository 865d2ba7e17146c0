"""Progress line above the desk, and the Progress view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pll.analysis.intervals import wilson
from pll.annotations.voters import LEAST_CHECKED
from pll.colors import percent
from pll.errors import UserError
from pll.review import certification
from pll.review.forecast import Forecast, ReviewWork, forecast, minutes_left, recent_rate, work_by_reviewer
from pll.review.rounds import miss_rate_of, reachable
from pll.review.sampling_plan import achievable
from pll.review.session import ReviewSession
from pll.review.summary import last_work_session
from pll.runs.labels_table import added_labels
from pll.store.tables import Opened, RoundRecord
from pll.ui.data.annotators import MOST_SHOWN, show_voters, voter_table
from pll.ui.format import count, duration, plain
from pll.ui.review import blocking_notice, calibration_panel, promise_panel, relabel_panel, setup_form, teaching_panel
from pll.ui.review.error_messages import toast_errors
from pll.ui.review.review_tab import ReviewTab
from pll.ui.routes import link

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
    certificate, share, holds = _certificate_line(tab)
    return {
        "left": f"{done:,} decided{by_me} · {len(review.root) - done:,} left{pace}",
        "right": certificate,
        "share": share,
        "holds": holds,
    }


def _certificate_line(tab: ReviewTab) -> tuple[str, float, bool]:
    """Certificate as a sentence, progress (0-1), whether it holds; updated after every tenth decision."""
    review = tab.manager.review
    promised = 0 if review.promise is None else review.promise.record.number
    key = (review.round.number, len(review.round.controls), review.record.mix, tab.made // REFRESHED, promised)
    if tab.line is None or tab.line[0] != key:
        try:
            made = line_of(review, forecast(review)) if review.promise is None else promise_panel.line(review)
            tab.line = (key, made)
        except UserError as error:  # the labels have changed under the certificate
            tab.line = (key, (str(error), 0.0, False))
    return tab.line[1]


def line_of(review: ReviewSession, found: Forecast) -> tuple[str, float, bool]:
    """The same, again."""
    certificate = found.certificate
    if certificate.threshold is not None:
        return (
            f"Certified: {certificate.accepted:,} labels, at most {percent(certificate.max_error)} wrong",
            1.0,
            True,
        )
    guarantee = f"{percent(certificate.max_error)} wrong at most"
    few = too_few(review)
    if few.startswith("Too few"):
        return few, found.answered / max(found.drawn, 1), False
    if found.needed is None:
        return f"{guarantee}: out of reach at the present error rate", 0.0, False
    total = found.answered + found.needed
    minutes = minutes_left(found.needed, review.record.mix, recent_rate(review.state))
    when = "" if minutes is None else f", {_about(minutes)}"
    return f"{guarantee}: about {count(found.needed, 'control')} to go{when}", found.answered / max(total, 1), False


def _about(minutes: float) -> str:
    return f"about {duration(max(60, round(minutes) * 60)).removesuffix(' 0 s')} of work"


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
        if manager.review.promise is None:
            certificate(tab)
        missing_truths(tab)
        if tab.may("owner"):
            with st.container(horizontal=True, gap="small"):
                promise_panel.chooser(tab)
                setup_form.reviewers(tab)
    with right:
        if tab.may("owner"):
            teaching_panel.panel(tab)
            relabel_panel.panel(tab)
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


def certificate(tab: ReviewTab) -> None:
    """What may be accepted unseen; or what is missing."""
    review = tab.manager.review
    st.markdown("**The certificate**")
    try:
        found = forecast(review)
    except UserError as error:
        st.warning(plain(error), icon=":material/info:")
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
    if said.threshold is None:
        st.markdown(estimate(review, found))
    st.caption(next_words(review, found))
    blocking_notice.draw(tab)
    if tab.may("owner"):
        steer(tab, found)
    st.caption(
        "Controls are drawn at random after the target is set, and are not marked. They count in the order drawn; "
        "*unsure* and *none of these* count as a wrong label."
    )


def missing_truths(tab: ReviewTab) -> None:
    """How many candidate sets miss the right label, by the controls."""
    review, data = tab.manager.review, tab.manager.data
    found = miss_rate_of(review.round, data.given or data.sets(), review.state, review.asked)
    if found is None:
        st.caption("How many sets miss the right label is estimated from answered controls; there are none yet.")
        return
    unknown = f" ({found.unknown:,} not known)" if found.unknown else ""
    st.caption(
        f"The set missed the right label in {found.missing:,} of {count(found.answered, 'control')}{unknown}; of all "
        f"sets that is {percent(found.low)} to {percent(found.high)} (exact 95 % interval)."
    )


def too_few(review: ReviewSession) -> str:
    """Why no certificate is to be expected from the controls drawn, however the answers turn out; "" where one is."""
    record, n = review.round, len(review.root)
    share = len(record.controls) / n
    if achievable(n, share, record.level) > record.max_error:
        return "Too few for a certificate; you will get an estimate."
    if reachable(n, share, record.level) > record.max_error:
        return "Few labels: a certificate only if nearly every control is right; an estimate in any case."
    return ""


def estimate(review: ReviewSession, found: Forecast) -> str:
    """What share of all labels is wrong, by the controls answered so far."""
    every = found.certificate.steps[-1]
    few = too_few(review)
    if not every.controls:
        return few
    low, high = wilson(every.wrong, every.controls)
    return (
        f"{few} **Estimate:** {every.wrong:,} of {count(every.controls, 'control')} wrong, "
        f"{percent(every.wrong / every.controls)} (95 % interval {percent(low)} to {percent(high)})."
    ).lstrip()


def next_words(review: ReviewSession, found: Forecast) -> str:
    """How far it is to a (larger) certificate."""
    step = found.step
    certified = found.certificate
    if step is None or found.needed is None:
        if certified.threshold is None:
            return (
                "If further controls are wrong as often as those so far, no number of them would reach this target. "
                "Retrain the model or accept suggested labels: new labels get new controls."
            )
        if certified.accepted == len(review.root):
            return "These are all labels; no further control is needed."
        return "If further controls are wrong as often as those so far, they would certify no more labels."
    minutes = minutes_left(found.needed, review.record.mix, recent_rate(review.state))
    when = "" if minutes is None else f" ({_about(minutes)} at the present rate)"
    short = found.needed - (found.drawn - found.answered)
    more = f" Only {found.drawn - found.answered:,} are drawn; draw more." if short > 0 else ""
    return (
        f"About {count(found.needed, 'further control')}{when} would certify the {step.accepted:,} labels of "
        f"confidence {step.threshold:.3f} and above, if the error rate stays the same.{more}"
    )


def steer(tab: ReviewTab, found: Forecast) -> None:
    """More controls among what is assigned; more controls drawn."""
    review = tab.manager.review
    mixes = {0.1: "1 in 10", 0.25: "1 in 4", 0.5: "every second", 1.0: "all"}
    now = min(mixes, key=lambda mix: abs(mix - review.record.mix))
    key = f"review-mix-{review.id}"

    @toast_errors
    def mix() -> None:
        tab.require("owner")
        if st.session_state[key] is not None:
            review.configure(mix=st.session_state[key])

    st.segmented_control(
        "Controls among the examples shown",
        list(mixes),
        default=now,
        format_func=mixes.__getitem__,
        key=key,
        on_change=mix,
        help="More of them: the certificate comes sooner, and fewer uncertain examples are corrected.",
    )
    share = found.drawn / len(review.root)
    larger = min(1.0, round(share + 0.1, 2))
    if share < 1:
        st.button(
            f"Draw controls up to {percent(larger, 0)} of the examples",
            key=f"review-draw-{review.id}",
            type="tertiary",
            icon=":material/casino:",
            on_click=draw_more,
            args=(tab, larger),
        )


@toast_errors
def draw_more(tab: ReviewTab, share: float) -> None:
    """Further controls of the same draw, or why not."""
    tab.require("owner")
    drawn = certification.draw_more(tab.manager.review, share)
    st.toast(
        f"{count(drawn, 'further control')} drawn.",
        icon=":material/casino:",
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
    drawn = np.asarray(review.round.controls, dtype=np.int64)
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
    "taken over": "suggested labels were accepted",
    "new promise": "the target was changed",
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
            "maximum error": [percent(record.max_error) for record in latest_first],
            "confidence level": [percent(record.level, 0) for record in latest_first],
            "controls": [f"{len(record.controls):,}" for record in latest_first],
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
