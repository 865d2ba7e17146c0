"""Live view of a run of one lane: the result once it has ended, progress, pictures, and what experts ask for."""

from __future__ import annotations

import time
from datetime import datetime

import streamlit as st

from pll.runs.link import slug
from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.training.metrics import ABOUT, Metric
from pll.ui import controls, live_page, session
from pll.ui.format import plain, short_duration
from pll.ui.run_view import RunView, run_view
from pll.ui.scenes import Scene, identified
from pll.ui.train import ended, pictures
from pll.ui.train.pictures import choose_classes
from pll.ui.train.views import EXPERT_VIEWS, VIEWS, example
from pll.ui.widgets import ShownFigure, beside, bound, button, kept_in, show_figures
from pll.weights import CONFIDENT
from pll.wording import count, percent

HEIGHT_OF_PICTURES = pictures.PICTURES_HEIGHT + 300


def draw(lanes: list[Scene], snapshot: Snapshot) -> None:
    """Everything about a run of one lane that changes.

    Parameters
    ----------
    lanes
        What is to be seen of its one lane.
    snapshot
        Where the run stands.
    """
    now = lanes[0]
    controls.seen(now.run, now.frame.epoch)
    if now.looking.lost:
        st.caption(f":material/info: The link names an example that is not here: {plain(now.looking.lost)}.")
    if now.looking.presenting:
        _presenter_line(now)
        live_page.draw_timeline(lanes, snapshot)
        pictures.draw(now)
        return
    with st.container(gap="xsmall"):
        with st.container(gap="xsmall"):  # always there: pictures that change places are made anew
            ended.draw(now)
        live_page.progress(lanes, snapshot)
        _views(now)
    _experts(now)


def _views(now: Scene) -> None:
    """Show the selector of views, the selected view, and the history of the selected example."""
    looking = now.looking
    names = [name for name in VIEWS if f"view-{slug(name)}" not in looking.hidden]
    if not names:
        return
    if looking.view not in names:
        looking.view = names[0]
    with beside():
        options = {"required": True, "label_visibility": "collapsed", **kept_in(looking, "view")}
        bound(st.segmented_control, "View", names, key=f"view-{looking.run_id}", **options)
        choose_classes(now)
    VIEWS[looking.view](now)
    if looking.selected is not None:
        example.draw(now, looking.selected)


def _experts(now: Scene) -> None:
    """Show the figures, and one of the views for experts where one is chosen."""
    hidden = now.looking.hidden
    names = [name for name in EXPERT_VIEWS if not hidden & {f"view-{slug(name)}", slug(name)}]
    has_figures = "figures" not in hidden
    if not names and not has_figures:
        return
    with st.expander("For experts", icon=":material/science:", key=f"experts-{now.run.id}"):
        if has_figures:
            _figures(now)
        key = f"expert-view-{now.run.id}"
        view = st.segmented_control("What to show", names, key=key, label_visibility="collapsed")
        if view is not None:
            EXPERT_VIEWS[view](now)


HELP = {
    "Epoch": "The epoch in view.",
    "Identified": "Training examples whose largest label weight is that of the true label, of those where that is "
    "known. The labels taken home also ask models that did not learn from the example, and so differ in a few. And, "
    "where examples were held out, how many of those are predicted correctly. From some known labels the share of all "
    "follows within an interval (95 %), if those labelled were chosen at random.",
    "Sharp": "Examples whose largest label weight is at least this. Sharp is not sure: that is found out at the end.",
    "Changed": "Identified labels that changed in this epoch.",
    "Sharpness": "The largest label weight, on average; and the share of examples where it is "
    f"{percent(CONFIDENT, 0)} or more. Sharp is not sure.",
    "Time": "The search for settings and pauses included.",
}


def _figures(now: Scene) -> None:
    """The strip of five figures, at the epoch in view, and those of metrics with a caption."""
    snapshot, row = now.snapshot, now.row
    changed = row.get("changed_labels", 0)
    sure = float((now.frame.sharp.top >= CONFIDENT).mean()) if now.frame.epoch else None
    if now.data.y is None:
        right = ("Sharp", percent(sure), f"label weight {percent(CONFIDENT, 0)} or more")
        below = "largest label weight"
    else:
        share, counts = identified(row, now.data, now.splits.test)
        right = ("Identified", share, f"{counts}, by label weights")
        below = f"{percent(sure)} at {percent(CONFIDENT, 0)} or more"
    every = [
        ("Epoch", f"{now.frame.epoch:,}", f"of {snapshot.total:,}" if snapshot.total else "…"),
        right,
        ("Changed", "–" if changed is None else f"{changed:,}", f"of {count(len(now.data), 'label')}"),
        ("Sharpness", percent(row.get("mean_confidence")), "not begun" if sure is None else below),
        ("Time", short_duration(_elapsed(now)), "from the start"),
    ]
    every += [(one.title, _figure(row.get(name), one), one.caption) for name, one in ABOUT.items() if one.caption]
    with st.container(key="run-figures"):
        show_figures([ShownFigure(name, value, HELP.get(name, ""), below) for name, value, below in every])


def _figure(value: float | None, about: Metric) -> str:
    """A metric as people read it: a share in percent, a count with separators."""
    if value is None:
        return "–"
    return percent(value) if about.unit == "%" else f"{value:,.6g}"


def _elapsed(now: Scene) -> float:
    """Seconds from the start of a run to its end, or to now while it is active."""
    folder = now.lane.folder
    began = datetime.fromisoformat(str(folder.about()["created"])).timestamp()
    return (time.time() if now.snapshot.is_active else float(folder.state()["changed"])) - began


# ---- presenter mode --------------------------------------------------------------------------------------------------


PRESENT_KEY = "f"
"""The key that begins presenter mode, and ends it."""
STYLE = """<style>
header[data-testid="stHeader"] { display: none; }
[data-testid="stMainBlockContainer"] { max-width: none; padding: 0.6rem 1.2rem 0; }
[data-testid="stMainBlockContainer"] [data-testid="stVerticalBlock"] { gap: 0.4rem; }
[class*="st-key-picture-head-"] { display: none; }
html { font-size: 18px; }
.st-key-pause, .st-key-play_arrow { min-width: 8rem; }  /* its width on the page is in pixels */
</style>"""


def presenter_switch(looking: RunView) -> None:
    """Show the button that begins presenter mode, or ends it."""
    button(
        "Leave" if looking.presenting else "Present",
        setattr,
        looking,
        "presenting",
        not looking.presenting,
        icon="close_fullscreen" if looking.presenting else "present_to_all",
        key="present",
        shortcut=PRESENT_KEY,
        help=None if looking.presenting else "The pictures fill the screen, for a projector.",
    )


def presenter_strip(run: Run, snapshot: Snapshot) -> None:
    """Show the transport in one strip, and the way out.

    Parameters
    ----------
    run
        The run.
    snapshot
        Where it stands.
    """
    st.html(STYLE)
    looking = run_view(run)
    movable = snapshot.state in controls.MOVABLE and not run.is_elsewhere() and session.registry().may(run, "owner")
    with beside():
        presenter_switch(looking)
        if movable and "transport" not in looking.hidden:
            moving = snapshot.state in ("running", "queued")
            controls.play_or_pause(run, moving=moving, disabled=False)
            controls.steps(run, disabled=False)
        if movable and "speed" not in looking.hidden:
            controls.speed(run)


def _presenter_line(now: Scene) -> None:
    """The figures at the epoch in view, in one line."""
    total = f" of {now.snapshot.total:,}" if now.snapshot.total and now.frame.epoch and now.frame.has_passes else ""
    words = [f"**{now.frame.when}{total}**"]
    if now.data.y is not None and now.row:
        share, below = identified(now.row, now.data, now.splits.test)
        words.append(f"{share} right ({below})")
    if now.row:
        words.append(f"{now.row['changed_labels']:,} labels changed")
    st.markdown(" · ".join(words))
