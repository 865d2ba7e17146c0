"""The result of a run that has ended: a sentence, what to do next, and whether the labels can be used."""

from __future__ import annotations

import streamlit as st

from pll.annotations.voters import FEATURES_ADD_NOTHING
from pll.methods import METHODS
from pll.review.status import ReviewStatus
from pll.ui import controls, session
from pll.ui.choose_run import has_labels
from pll.ui.export import download
from pll.ui.result import sentence_of, show_disputes, show_health, status_of_run
from pll.ui.routes import go
from pll.ui.view_state import Scene, stored_frame
from pll.ui.widgets import button
from pll.weights import Certainty, taken_home
from pll.wording import percent


def draw(now: Scene) -> None:
    """The first screen of a run that has ended; nothing before."""
    if now.snapshot.is_active or not has_labels(now.run):
        return
    labels = _labels(now.result_stamp, now)
    status = status_of_run(now.run, labels, now.snapshot.health)
    predicted = 0 if now.splits.holdout is None else len(now.splits.holdout)
    alone = not METHODS[now.snapshot.method].needs_features
    result = sentence_of(status, now.data.annotations, labels, predicted=predicted, votes_alone=alone)
    st.markdown(f"#### {_found(now)}{result}")
    if "next" not in now.looking.hidden:
        _onward(now, status)
    if not status.certificate:  # which proves more than a run's health can say
        show_health(now.snapshot.health, more=[one for one in now.data.notes if one == FEATURES_ADD_NOTHING])
    if "next" not in now.looking.hidden:
        _longer(now)
    show_disputes(now.run)


@st.cache_resource(max_entries=8, show_spinner=False)
def _labels(stamp: tuple[str, int], _now: Scene) -> Certainty:
    """The labels of the run, whatever epoch is in view: of a million they take longer than all else on the page."""
    weights = stored_frame(_now.history, _now.epochs[-1], _now.sets).weights
    return taken_home(weights, _now.lane.folder.held_out(_now.sets), _now.sets, _now.data.tied_votes)


def _longer(now: Scene) -> None:
    """A button, where the verdict says that more epochs may help."""
    health = now.snapshot.health
    if health is None or not any("Train longer" in finding.remedy for finding in health.findings):
        return
    if session.registry().may(now.run, "owner"):
        button("Train longer", controls.train_longer, now.run, icon="update", key="longer")


def _found(now: Scene) -> str:
    """Say how many true labels were found again, against chance, where they were known and made ambiguous."""
    evidence = None if now.snapshot.health is None else now.snapshot.health.evidence
    if now.run.config.flip is None or evidence is None or evidence.by != "truth":
        return ""
    share, chance = percent(evidence.share, 0), percent(evidence.chance, 0)
    return f"{evidence.hits:,} of {evidence.n:,} true labels found: {share}, by chance {chance}. "


def _onward(now: Scene, status: ReviewStatus) -> None:
    """Show the next steps; the download stands out where the run is healthy."""
    is_healthy = now.snapshot.health is not None and now.snapshot.health.is_healthy
    may_find_out = now.snapshot.state == "finished" and session.registry().may(now.run, "owner")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not status.is_known and may_find_out:
            button(
                "Find out how sure",
                controls.find_out,
                now.run,
                icon="query_stats",
                key="find-out",
                kind="primary",
                help="Trains models on parts of the data and asks each about the rest.",
            )
        many = f" {status.doubtful:,}" if status.doubtful else ""
        if st.button(f"Review{many}", icon=":material/rate_review:", key="review"):
            go("review", run=now.run.id)
        download.in_hand(now.run, is_first=is_healthy and (status.is_known or not may_find_out))
        if st.button("Other formats", type="tertiary", key="export"):
            go("export", run=now.run.id)
        if st.button("Compare with other methods", type="tertiary", key="compare"):
            session.choose(session.ChosenData.of(now.run.config))
            session.view(None, "comparison")
            go("compare")
