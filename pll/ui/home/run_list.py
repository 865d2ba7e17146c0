"""List of recent runs and comparisons: state, result, actions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from pll.errors import UserError
from pll.methods import method_title
from pll.runs.config import differences
from pll.runs.folder import MOST_NAME
from pll.runs.run import Run, readable
from pll.ui import labelstudio_routes, session
from pll.ui.choose_run import begun
from pll.ui.format import format_state, headline, plain, state_icon
from pll.ui.routes import go
from pll.ui.widgets import beside, button, toast_errors
from pll.wording import count

RECENT_RUNS = 8
"""Runs shown at first, and more at each press."""
LISTED = "runs-listed"
COLUMN_WIDTHS = (4, 4, 3, 3, 3)
"""Widths: name and method, data and date, state, result, actions."""


def runs() -> None:
    """The runs of the past, the newest first."""
    everybodys = _heading()
    past = _past_runs(everybodys=everybodys)
    if not past:
        st.caption("None yet.")
    limit = st.session_state.get(LISTED, RECENT_RUNS)
    differences = _differences(past[:limit])
    for one in past[:limit]:
        try:
            _row(one, differences.get(one.id, ""))
        except UserError as error:
            _damaged_row(one, str(error))
    if len(past) > limit:
        more = st.session_state.__setitem__, LISTED, limit + RECENT_RUNS
        button(f"Show more of {count(len(past), 'run')}", *more, icon="expand_more")


def _heading() -> bool:
    """Show the heading; return whether an administrator shows everybody's runs."""
    person = session.registry().person
    if person is None or not person.is_admin:
        st.subheader("Recent runs")
        return False
    with beside(horizontal_alignment="distribute"):
        st.subheader("Recent runs")
        return st.toggle("Everybody's runs", key="everybodys-runs", help="You are an administrator of this server.")


def _past_runs(*, everybodys: bool = False) -> list[Run]:
    """Runs and comparisons, the newest first; lanes that were trained together are one.

    An administrator may see everybody's, not only what is theirs or shared with them.
    """
    comparisons = session.registry().comparisons(everybodys=everybodys)
    lanes = {lane.id for one in comparisons if one.is_together for lane in one.lanes}
    made: list[tuple[str, Run]] = []
    for run in (*comparisons, *session.registry().all(everybodys=everybodys)):
        if run.id not in lanes:
            with suppress(OSError):  # deleted meanwhile
                made.append((run.created(), run))
    return [one for _, one in sorted(made, key=lambda pair: pair[0], reverse=True)]


def _damaged_row(one: Run, problem: str) -> None:
    """One run or comparison whose files cannot be read: what is wrong, and the way to remove it."""
    name, message, actions = st.columns([3, 6, 3], vertical_alignment="center")
    name.markdown(f":material/broken_image: **Damaged**  \n{one.id}")
    with message:
        st.text(problem)
    with (
        actions.container(horizontal=True),
        st.popover("", icon=":material/delete:", type="tertiary", help="Delete", key=f"remove-{one.id}"),
    ):
        _confirm_delete(one, "Move its folder to the bin, with all that may still be readable in it?")


def _differences(runs: Sequence[Run]) -> dict[str, str]:
    """Of runs with one name: in which settings each differs from the others, by id."""
    by_name: dict[str, list[Run]] = defaultdict(list)
    for run in readable(run for run in runs if not run.is_comparison):
        by_name[run.name].append(run)
    result: dict[str, str] = {}
    for alike in by_name.values():
        said = differences([run.config for run in alike], defaults=False)
        result |= dict(zip([run.id for run in alike], said, strict=True))
    return result


def _row(one: Run, differs: str = "") -> None:
    """One run or comparison: its methods, data, time, state, result, and what can be done with it.

    `differs` says in which settings it differs from others of its name.
    """
    snapshot, registry = one.snapshot(), session.registry()
    name, data, progress, figure, actions = st.columns(COLUMN_WIDTHS, vertical_alignment="center")
    whose = "" if registry.is_own(one) else f" · :gray[of {plain(registry.owner(one) or 'nobody')}]"
    title = f"{state_icon(snapshot)} **{plain(snapshot.name)}**{whose}"
    methods = plain(", ".join(method_title(lane.method) for lane in snapshot.lanes))
    if one.is_comparison:
        name.markdown(f"{title}  \nComparison: {methods}")
        figure.markdown(f"{len(snapshot.lanes)}  \n:gray[:small[lanes]]")
        together = " and the runs of its lanes" if one.is_together else "; its runs stay"
        question = f"Move this comparison{together} to the bin?"
    else:
        name.markdown(f"{title}  \n:gray[:small[{plain(differs)}]]" if differs else title, help=methods)
        metrics = snapshot.lane.metrics or (snapshot.lane.rows[-1] if snapshot.lane.rows else {})
        share, of_what = headline(metrics, snapshot.lane.health)
        figure.markdown(f"{plain(share)}  \n:gray[:small[{of_what}]]")
        question = f"Move **{plain(snapshot.name)}** with its labels and model to the bin?"
    data.caption(_data_and_date(one))
    failure = plain(snapshot.error) if snapshot.state == "failed" and snapshot.error else None
    progress.caption(failure or format_state(snapshot))
    with actions.container(horizontal=True):
        if st.button("Open", key=f"open-{one.id}"):
            go("compare", comparison=one.id) if one.is_comparison else go("train", run=one.id)
        if not registry.may(one, "owner"):
            return
        if snapshot.state in ("stopped", "interrupted") and one.is_together:
            button("Resume", _resume, one, icon="play_arrow", key=f"resume-{one.id}")
        # by its key it is that of the run, and not of the place, to which another run may move
        with st.popover("", icon=":material/more_horiz:", type="tertiary", help="Rename, delete", key=f"more-{one.id}"):
            with st.form(f"rename-{one.id}", border=False):
                st.text_input("Name", value=snapshot.name, max_chars=MOST_NAME, key=f"name-{one.id}")
                st.form_submit_button("Rename", on_click=_rename, args=(one,))
            if not snapshot.is_active:
                _confirm_delete(one, question)


def _data_and_date(run: Run) -> str:
    """The data, its size, and when the run was made, in the zone of the reader."""
    about = run.folder.about().get("data", {})
    data = [plain(run.config.source.name)]
    if "examples" in about:
        n = about["examples"] + about.get("test_examples", 0)
        data += [count(n, "example"), count(len(about["class_names"]), "class", "classes")]
    return " · ".join(data) + f"  \n{begun(run)}"


@toast_errors
def _rename(one: Run) -> None:
    """Give a run or comparison the name that was typed."""
    session.registry().rename(one, st.session_state[f"name-{one.id}"])


def _resume(run: Run) -> None:
    """Resume a run."""
    session.registry().control(run, run.resume, "resumed", trains=True)


CONFIRMING = "delete-confirming"
"""Where this tab has the id of the run under review whose deletion waits to be confirmed, and the warning."""


def _confirm_delete(one: Run, question: str) -> None:
    """The question and the button; where there is a review, a second one that says what becomes of its decisions."""
    st.write(question)
    run_id, reviews = st.session_state.get(CONFIRMING, ("", ""))
    if run_id == one.id:
        st.warning(reviews, icon=":material/rate_review:")
    st.caption("The bin is a folder on this machine: whoever runs Candid can move it back from there.")
    label = "Delete all the same" if run_id == one.id else "Delete"
    button(label, _delete, one, key=f"delete-{one.id}")


def _delete(one: Run) -> None:
    """Move a run or comparison to the bin; what is under review only after a second confirmation."""
    if st.session_state.get(CONFIRMING, ("",))[0] != one.id and (reviews := _under_review(one)):
        st.session_state[CONFIRMING] = (one.id, reviews)
        return
    st.session_state.pop(CONFIRMING, None)
    session.registry().delete(one.id)
    labelstudio_routes.forget_deleted()
    if st.session_state.get("run") == one.id:
        session.view(None)


def _under_review(one: Run) -> str:
    """What else disappears with it; "" without decisions."""
    from pll.review.label_snapshot import review_id
    from pll.review.store import reading
    from pll.ui.review.service import database  # loads a database, which the home page needs for this alone

    decisions, reviewers = 0, 0
    for lane in one.lanes if one.is_together else ():
        try:
            review = review_id(lane.folder)
        except UserError:  # damaged: which review it belongs to is not known
            continue
        with reading(database(), review) as reader:
            own, people = reader.n_decisions()
        decisions, reviewers = decisions + own, max(reviewers, people)
    if not decisions:
        return ""
    return (
        f"This is under review: {count(decisions, 'decision')} of {count(reviewers, 'reviewer')}. The decisions are "
        "kept."
    )
