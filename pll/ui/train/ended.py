"""What a run came to: how many labels are certain, what to do next, whether they can be used; of Train and Export."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pll.analysis.health import Health
from pll.annotations.agreement import majority_sentence
from pll.annotations.voters import FEATURES_ADD_NOTHING, LEAST_CHECKED
from pll.export.run_export import export_source
from pll.review.state import ReviewState, with_decisions
from pll.review.status import ReviewStatus, status_of
from pll.runs.data import Splits
from pll.runs.files import COMPUTED_FILE
from pll.runs.run import Run
from pll.runs.run_data import computed_of
from pll.ui import controls, session
from pll.ui.choose_run import has_labels
from pll.ui.export import download
from pll.ui.format import plain
from pll.ui.review.queue_controls import DISPUTED, choose_rows
from pll.ui.routes import go, link
from pll.ui.scenes import Scene, stored_frame
from pll.ui.widgets import beside, button
from pll.weights import Certainty, Ints, taken_home
from pll.wording import percent, ties


def draw(now: Scene) -> None:
    """The first screen of a run that has ended; nothing before."""
    if now.snapshot.is_active or not has_labels(now.run):
        return
    labels = _labels(now.result_stamp, now)
    status, sentence = came_to(now.run, now.splits, labels, now.snapshot.health, votes_alone=now.votes_alone)
    st.markdown(f"#### {_found(now)}{sentence}")
    show_successor(now.run, "train")
    if "next" not in now.looking.hidden:
        _onward(now, status)
    is_disputed = show_disputes(now.run)
    if not status.certificate:  # which proves more than a run's health can say
        more = [one for one in now.data.notes if one == FEATURES_ADD_NOTHING]
        show_health(now.snapshot.health, more=more, is_reviewed=status.decided > 0)
    if "next" not in now.looking.hidden and not is_disputed:  # where no training tells who is right
        _again(now)


@st.cache_resource(max_entries=8, show_spinner=False)
def _labels(stamp: tuple[str, int], _now: Scene) -> Certainty:
    """The labels of the run, whatever epoch is in view: of a million they take longer than all else on the page."""
    weights = stored_frame(_now.history, _now.epochs[-1]).weights
    return taken_home(weights, _now.lane.folder.held_out(_now.sets), _now.sets, _now.data.tied_votes)


def _again(now: Scene) -> None:
    """A button, where the verdict says that more epochs or smaller steps may help."""
    health = now.snapshot.health
    ways = [finding.again for finding in health.findings if finding.again] if health is not None else []
    if ways and session.registry().may(now.run, "owner"):
        label = {"epochs": "Train longer", "steps": "Train with smaller steps"}[ways[0]]
        button(label, controls.train_again, now.run, icon="update", key="again")


def _found(now: Scene) -> str:
    """Say how many true labels were found again, against chance, where they were known and made ambiguous."""
    evidence = None if now.snapshot.health is None else now.snapshot.health.evidence
    if now.run.config.flip is None or evidence is None or evidence.by != "truth":
        return ""
    share, chance = percent(evidence.share, 0), percent(evidence.chance, 0)
    return f"{evidence.hits:,} of {evidence.n:,} true labels found: {share}, by chance {chance}. "


def _onward(now: Scene, status: ReviewStatus) -> None:
    """Show the next steps; the download stands out where the run is healthy."""
    health = now.snapshot.health
    is_left_out = not status.is_known and not (health and health.is_asked) and now.snapshot.state == "finished"
    may_find_out = is_left_out and session.registry().may(now.run, "owner")
    with beside():
        if may_find_out:
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
        download.in_hand(now.run, is_first=bool(health and health.is_healthy) and not may_find_out)
        if st.button("Other formats", type="tertiary", key="export"):
            go("export", run=now.run.id)
        if st.button("Compare with other methods", type="tertiary", key="compare"):
            session.choose(now.run.config.untested())
            session.view(None, "comparison")
            go("compare")


# ---- on the Export page, too -----------------------------------------------------------------------------------------


HEALTH_ICONS = {"healthy": ":material/verified:", "unchecked": ":material/help:", "unhealthy": ":material/warning:"}
IN_SHORT = {
    "diverging": "Training diverged.",
    "changing": "Labels still change.",
    "unsteady": "Labels go back and forth.",
    "collapsed": "One class takes nearly every set that may hold it.",
    "flat": "Nothing was learnt.",
    "unsupported": "They are not clearly better than chance.",
    "doubtful": "Too few are expected to be right.",
    "refuted": "Known true labels contradict those called certain.",
    "dependent": f"Voters may copy one another. Review {LEAST_CHECKED} random examples: they tell whom to trust.",
}


def came_to(
    run: Run, splits: Splits, labels: Certainty, health: Health | None, *, votes_alone: bool
) -> tuple[ReviewStatus, str]:
    """Return the state of the review of a run, and what the run came to in a few sentences.

    Parameters
    ----------
    run
        The run.
    splits
        Its data.
    labels
        Its own: what counts where nobody has begun to review them.
    health
        The verdict on it; None where there is none.
    votes_alone
        Whether the labels come from votes and nothing else.
    """
    (status, labels, state), votes = _as_reviewed(run, splits, labels, health), splits.train.annotations
    is_one = votes is None or (votes.n_annotators == 1 and not votes.anonymous)
    words = [
        status.sentence,
        "" if votes is None or is_one else majority_sentence(with_decisions(labels.identified, votes, state), votes),
        ties(int(labels.is_tied.sum())) if votes_alone else "",
        "" if splits.holdout is None else f"{len(splits.holdout):,} more are predicted.",
        "" if status.checks is None else f"{status.checks.sentence} for the certificate.",
    ]
    return status, " ".join(filter(None, words))


def _as_reviewed(
    run: Run, splits: Splits, labels: Certainty, health: Health | None
) -> tuple[ReviewStatus, Certainty, ReviewState | None]:
    """The state of the review of a run, the labels as it leaves them, and the decisions; else what its own come to."""
    from pll.ui.review import service  # loads a database

    if not service.is_begun(run):
        return status_of(labels, health=health), labels, None
    queue = service.queue_of(run)
    state = queue.review.state
    if queue.review.own.run == run.id:
        current = queue.review.current
        return queue.status(), current.certainty if current.follows else labels, state
    return *_as_exported(f"{run.id} {state.last}", run, splits), state  # another one was trained on the decisions since


@st.cache_resource(max_entries=8, show_spinner=False)
def _as_exported(stamp: str, _run: Run, _splits: Splits) -> tuple[ReviewStatus, Certainty]:
    """What the files of a run have in them."""
    source = export_source(_run.folder, _splits)
    assert source.status is not None  # it has a review
    return source.status, source.certainty


# ---- whether they can be used ---------------------------------------------------------------------------------------


def show_health(health: Health | None, *, more: Sequence[str] = (), is_reviewed: bool = False) -> None:
    """Show the verdict on a run that has ended in one line; one that is not good opens to what was found.

    `more` also speaks against the labels: beside a verdict that is not good, it is among what was found.

    Parameters
    ----------
    health
        The verdict; None where there is none.
    more
        What else speaks against the labels.
    is_reviewed
        Whether people have decided some: how many are expected to be right was said of the labels before that.
    """
    more = list(dict.fromkeys((*more, *(() if health is None else health.doubts))))
    if health is None or health.verdict != "unhealthy":
        for warning in more:
            st.warning(plain(warning), icon=HEALTH_ICONS["unhealthy"])
        if health is not None and not is_reviewed:
            evidence = "" if health.evidence is None else health.evidence.sentence
            st.caption(f"{HEALTH_ICONS[health.verdict]} {health.headline}", help=evidence or None)
        return
    lines = [f"{plain(finding.sentence)} {finding.remedy}" for finding in health.findings]
    if health.evidence is not None and all(finding.name != "unsupported" for finding in health.findings):
        lines.append(health.evidence.sentence)
    in_short = f"**Do not trust these labels yet.** {IN_SHORT[health.findings[0].name]}"
    with st.container(key="health-notice"), st.expander(in_short, icon=HEALTH_ICONS["unhealthy"]):
        st.markdown("  \n".join([*lines, *map(plain, more)]))


def show_successor(run: Run, page: str) -> None:
    """Where the review of a run went on with one that learnt the decisions, say so, and lead there.

    Parameters
    ----------
    run
        The run, with labels.
    page
        Name of the page on which the other run is to be seen.
    """
    from pll.review.retraining import changed_by_retraining  # both load a database
    from pll.ui.review import service

    if not service.is_begun(run):
        return
    queue = service.queue_of(run)
    latest, review = queue.run, queue.review
    were_reviewed = {review.root.run, *(version.run for version in review.versions)}
    if latest.id != run.id and run.id in were_reviewed:  # not of one that the review has yet to go on with
        is_before = review.previous is not None and review.previous.run == run.id
        age = "the same as" if is_before and not len(changed_by_retraining(review)) else "older than"
        with beside():
            words = f"These labels are {age} those in Review, which are of a later run: {plain(latest.name)}."
            st.caption(words, width="content")
            link(page, "Open the later run", run=latest.id)


def show_disputes(run: Run) -> bool:
    """Say where the votes of a run that has ended do not tell whom to believe, and lead to a review of those.

    Parameters
    ----------
    run
        The run.

    Returns
    -------
    bool
        Whether there are such votes.
    """
    if not run.folder.path.joinpath(COMPUTED_FILE).exists() or run.snapshot().is_active:
        return False
    sentence, rows = _disputed(run.id, run)
    if not len(rows):
        return False
    with beside():
        st.warning(plain(sentence), icon=":material/balance:")
        if st.button("Settle", key=f"settle-{run.id}", icon=":material/rate_review:"):
            choose_rows(run.id, rows, DISPUTED)
            go("review", run=run.id)
    return True


@st.cache_resource(max_entries=8, show_spinner=False)
def _disputed(run_id: str, _run: Run) -> tuple[str, Ints]:
    """The sentence, and the rows in the order of the review."""
    computed = computed_of(_run.folder)
    notes = () if computed is None or computed.votes is None else computed.votes.notes
    return (notes[0], computed.disputed) if computed is not None and notes else ("", np.empty(0, dtype=np.int64))
