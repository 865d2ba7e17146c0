"""Progress line above the desk, and the Progress view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pll.annotations.voters import LEAST_CHECKED
from pll.errors import UserError
from pll.review.certificate import draw_controls
from pll.review.certification import answered_sample
from pll.review.session import ReviewSession
from pll.review.state import with_decisions
from pll.review.work import recent_rate, were_wrong, work_by_reviewer
from pll.ui.format import plain, short_duration
from pll.ui.review import certify_panel, changes, queue_controls
from pll.ui.review.review_tab import ONE_BY_ONE, ReviewTab
from pll.ui.routes import link, next_step
from pll.ui.voters import can_be_judged, show_voters, show_worth, voter_table
from pll.ui.widgets import ShownFigure, beside, button, choose_one, folded, popover, show_figures, show_table
from pll.wording import count, percent


def strip(tab: ReviewTab) -> dict[str, Any]:
    """The line above the desk, for `common.js`."""
    review, name = tab.review, tab.desk.reviewer
    mine, done = int(review.state.answered_by(name).sum()), int((review.state.answers > 0).sum())
    by_me = f", {mine:,} by you" if done > mine else ""
    rate = recent_rate(review.state, name)
    pace = "" if rate is None else f" · {_a_minute(rate)} a minute"
    worth = tab.queue.worth_a_look()
    to_go = f" · {worth:,} worth a look" if worth else ""
    left = f"{done:,} of {count(len(review.root), 'example')} answered{by_me}{to_go}{pace}"  # unsure is no decision
    line = {"left": left, "right": _looked(tab), "note": "", "share": 0.0, "holds": False}
    try:
        certification = review.certification
    except UserError as error:  # the labels have changed under the certificate
        return line | {"right": str(error)}
    if certification is None:
        return line
    standing = certify_panel.standing_of(tab, certification)
    return line | {
        "right": standing.words,
        "note": standing.note,
        "share": standing.share,
        "holds": standing.checks is None,
    }


def _looked(tab: ReviewTab) -> str:
    """How many of the last labels were wrong, and how many other labels the decisions changed; "" before the first."""
    late = were_wrong(tab.review.state)
    if not late:
        return ""
    wrong = sum(late)
    others = len(tab.queue.changes())
    changed = f" · the answers changed {count(others, 'other label')}" if others else ""
    if len(late) == 1:
        return f"The last one was {'wrong' if wrong else 'right'}{changed}"
    return f"{wrong} of the last {len(late)} {'was' if wrong == 1 else 'were'} wrong{changed}"


def _a_minute(rate: float) -> str:
    """A rate in few figures.

    Examples
    --------
    >>> _a_minute(12.4), _a_minute(3.27)
    ('12', '3.3')
    """
    return f"{round(rate, 0 if rate >= 10 else 1):,g}"


# ---- the view --------------------------------------------------------------------------------------------------------


def draw(tab: ReviewTab) -> None:
    """How far people are, what their answers changed; the rest is for experts."""
    review = tab.review
    review.refresh()
    _figures(tab)
    is_certified, is_owner = certify_panel.draw(tab), tab.may("owner")
    with beside():
        if not is_certified:
            _go_on(tab)
        if is_owner:
            certify_panel.chooser(tab)
            popover("Reviewers", _reviewers, tab, key="review-reviewers", icon="group")
    if is_owner:
        changes.retraining(tab)
        changes.followed(tab)
    folded("For experts", _experts, tab, key="review-experts")


def _go_on(tab: ReviewTab) -> None:
    """The next step: disagreements to settle, what is worth a look or to be checked, or else the labels to take."""
    status, run = tab.queue.status(), tab.review.current.run
    if status.disputed:
        queue_controls.settle(tab, kind="primary")
    elif tab.assignment is not None and (status.checks is not None or status.doubtful != 0):
        to_desk = (st.session_state.__setitem__, tab.view_key, ONE_BY_ONE)
        button("Go on reviewing", *to_desk, icon="rate_review", key="review-go-on", kind="primary")
    else:
        next_step("export", "Export the labels", run=run)
        return
    link("export", "Export the labels", run=run)


def _experts(tab: ReviewTab) -> None:
    """The certificate's controls, who has done what, and what the voters are worth."""
    certify_panel.for_experts(tab)
    _work(tab.review)
    _voters(tab)


def _figures(tab: ReviewTab) -> None:
    """A strip of figures."""
    review, status = tab.review, tab.queue.status()
    st.markdown(plain(status.sentence))
    settled = status.decided - status.refused
    agreed = f"{status.confirmed:,} of {settled:,}" if settled else "–"
    cells = [
        ShownFigure(
            "Decided", f"{status.decided:,} of {status.labels:,}", "By a label, or as none of these.", "labels"
        ),
        ShownFigure("Agreed with the model", agreed, "Decisions that left the label as it was.", "decisions"),
    ]
    if review.certification is not None:
        checks, standing = status.checks, certify_panel.standing_of(tab, review.certification)
        to_go = "0" if checks is None else f"about {checks.likely:,}"
        minutes = "0" if checks is None else "–" if standing.minutes is None else f"about {standing.minutes:,}"
        parts = "" if checks is None else f"{checks.sentence}."
        cells.append(ShownFigure("Checks to go", to_go, parts))
        cells.append(ShownFigure("Minutes to go", minutes, "At your present pace."))
    else:
        changed = f"{len(tab.queue.changes()):,}"
        rate = recent_rate(review.state)
        followed = "Labels that nobody has looked at and that followed the decisions."
        pace = "–" if rate is None else f"{_a_minute(rate)} a minute"
        cells.append(ShownFigure("Other labels changed", changed, followed))
        cells.append(ShownFigure("Pace", pace, "Recent decisions per minute of work, but for look-alikes."))
    show_figures(cells, width=150)


def _work(review: ReviewSession) -> None:
    """Who has done what."""
    done = work_by_reviewer(review)
    st.markdown("**Reviewers**")
    if not done:
        st.caption("No decisions yet.")
        return
    rows = []
    for one in done:
        name = (one.name or "all") + ("" if one.verified or not one.name else " (unverified)")
        pace = "" if one.per_minute is None else _a_minute(one.per_minute)
        rows.append((name, one.decisions, one.unsure, one.none, one.undone, short_duration(one.seconds), pace))
    columns = ["reviewer", "decisions", "unsure", "none of these", "undone", "at work", "decisions a minute"]
    show_table(pd.DataFrame(rows, columns=columns), "What each reviewer has done")


def _voters(tab: ReviewTab) -> None:
    """What the decisions say about whoever gave the votes."""
    annotations, review = tab.queue.data.annotations, tab.review
    if annotations is None or not can_be_judged(annotations):
        return
    controls = np.full(annotations.n_rows, -1, dtype=np.int64)  # the others were chosen because they are hard
    y = with_decisions(controls, annotations, review.state)
    sample = np.empty(0, dtype=np.int64)
    if review.plans:  # of whichever run's labels: its controls are a random sample of the examples
        plan = review.plans[-1].plan
        sample = answered_sample(draw_controls(plan.controls, plan.seed, review.root.ids), review.state)
    controls[sample] = y[sample]
    table = voter_table(f"{review.root.run} {review.state.last} {len(sample)}", annotations, y, controls)
    st.markdown("**Voters**")
    st.caption(
        "Accuracy is estimated from agreement and your decisions. "
        f"From {LEAST_CHECKED} decided random controls on it is counted on these, with its interval."
    )
    show_voters(table)
    show_worth(annotations, controls)


# ---- how many reviewers are asked ------------------------------------------------------------------------------------


OVERLAP_SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Of the examples."""


def _reviewers(tab: ReviewTab) -> None:
    """How many reviewers are asked, and on which share of the examples."""
    record = tab.review.record
    hint = "With two or more, Candid says how far they agree, and lists where they do not."
    asked = min(3, record.overlap)
    overlap = choose_one("Reviewers for each example", [1, 2, 3], asked, key="review-overlap", help=hint)
    share_now = record.overlap_share if record.overlap > 1 else 0.1
    share = st.select_slider(
        "On which share of the examples",
        OVERLAP_SHARES,
        value=min(OVERLAP_SHARES, key=lambda one: abs(one - share_now)),
        format_func=lambda share: percent(share, 0),
        key="review-overlap-share",
        disabled=overlap == 1,
        help="On the others one reviewer is enough.",
    )
    button("Save", _ask, tab, overlap, share if overlap > 1 else 1.0, key="review-ask")


def _ask(tab: ReviewTab, overlap: int, share: float) -> None:
    """From now on so many reviewers answer each example of that share."""
    tab.require("owner")
    tab.review.configure(overlap=overlap, overlap_share=share)
    st.toast("Saved.", icon=":material/group:")
