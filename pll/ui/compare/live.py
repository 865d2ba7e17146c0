"""Live view of several lanes: timeline, star plots, charts and verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from pll.analysis.comparison_report import Verdict, figures_table, verdict, verdict_by_lane
from pll.runs.config import format_settings
from pll.runs.lanes import lane_titles
from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.training.metrics import ABOUT
from pll.ui import charts, live_page
from pll.ui.compare import lines
from pll.ui.compare.lines import swatch
from pll.ui.components.canvas import Presentation, mount
from pll.ui.components.star import STAR, star_payload
from pll.ui.format import count, plain
from pll.ui.routes import link
from pll.ui.train.pictures import CORNERS, STAR_TITLE, choose_colours
from pll.ui.train.shown_classes import shown_classes
from pll.ui.view_state import Scene
from pll.ui.widgets import popover
from pll.wording import percent

PLACEHOLDER = 900
STAR_HEIGHT = 250
POINTS = 600
"""Examples in each small star plot, a fixed sample: five at once must not keep the browser busier than a large one."""
STAR_HELP = f"{CORNERS} A sample: the same examples in every lane."


def format_shared(run: Run) -> str:
    """What all lanes share, in one line."""
    if not run.is_together:
        return "Finished runs, trained separately."
    config = run.config
    words = [f"{count(len(run.lanes), 'lane')} with the same examples, start and batches"]
    words += [f"candidates {config.candidates}"] if config.flip is None else [f"candidates made: {config.flip.words}"]
    words += [f"{percent(config.holdout, 0)} held out"] if config.holdout else []
    return " · ".join([*words, f"seed {config.seed}"])


def settings(run: Run) -> None:
    """Every lane in one line."""
    configs = [lane.config for lane in run.lanes]
    for title, config in zip(lane_titles(configs), configs, strict=True):
        st.markdown(f"**{plain(title)}**  \n:small[{plain(format_settings(config))}]")


def draw(lanes: list[Scene], snapshot: Snapshot) -> None:
    """Everything about several lanes that changes.

    Parameters
    ----------
    lanes
        What is to be seen of each lane.
    snapshot
        Where the comparison stands.
    """
    looking = lanes[0].looking
    verdict = _lanes_verdict(lanes)
    live_page.progress(lanes, snapshot)
    if "star" not in looking.hidden:
        _stars(lanes)
    if "verdict" not in looking.hidden:
        _show_verdict(snapshot, verdict)
    if "curves" not in looking.hidden:
        _over_epochs(lanes, snapshot)
    if "table" not in looking.hidden:
        _show_table(lanes)


def _stars(lanes: Sequence[Scene]) -> None:
    """A small star plot a lane, all alike, and its figures at the epoch in view."""
    looking = lanes[0].looking
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"**{STAR_TITLE}**", help=STAR_HELP, width="content")
        if any(lane.y_true is not None for lane in lanes):
            choose_colours(looking)
    cells = st.grid(len(lanes), min_column_width=220, gap="small")
    for lane in lanes:
        with cells.cell(), st.container(gap=None):
            st.html(swatch(lane.place, lane.title))
            right, sure = lane.right, lane.confidence
            large, small = (percent(sure), "sharpness") if right is None else (percent(right), "correct")
            st.markdown(f"### {large}", width="content")
            st.caption(small if right is None else f"{small} · sharpness {percent(sure, 0)}")
            payload = star_payload(
                lane.frame.weights,
                lane.sets,
                Presentation(lane.frame.when, ids=lane.data.row_ids, height=STAR_HEIGHT),
                truth=lane.truth if looking.truth and lane.y_true is not None else None,
                most=POINTS,
                classes=shown_classes(lane),
            )
            mount(STAR, payload, f"compare-star-{lane.lane.id}", len(lane.data))
            if "next" not in looking.hidden:
                link("train", "Open", run=lane.lane.id)


def _lanes_verdict(lanes: Sequence[Scene]) -> Verdict:
    """The verdict at the epoch in view."""
    figures = [lane.figures for lane in lanes]
    if not lanes[0].run.shares_data():
        return verdict_by_lane(figures, [lane.y_true for lane in lanes])
    return verdict(figures, lanes[0].y_true, sizes=lanes[0].data.sets().sizes)


def _show_verdict(snapshot: Snapshot, verdict: Verdict) -> None:
    """Show the verdict; "so far" while it may still change.

    While lanes train, without the reasons: text that changes twice a second cannot be read, and its changing length
    would move the curves.
    """
    moves = snapshot.state == "running"
    with st.container(border=True, gap="xsmall"):
        why = " · explained when training pauses" if moves else ""
        st.caption(("What this shows so far" if snapshot.is_active else "What this shows") + why)
        st.markdown(f"#### {plain(verdict.headline)}")
        if verdict.lines:
            sentences = [(line.title, line.short if moves else line.text) for line in verdict.lines]
            st.markdown("\n".join(f"- **{plain(title)}**: {plain(text)}" for title, text in sentences))
        for note in verdict.notes:
            st.caption(plain(note))


def _over_epochs(lanes: Sequence[Scene], snapshot: Snapshot) -> None:
    """Each quantity of all lanes on the same axes."""
    viewed = None if lanes[0].looking.follow else max(lane.frame.epoch for lane in lanes)
    quantities = lines.quantities(lanes)
    cells = st.grid(len(quantities), min_column_width=320, gap="medium")
    for quantity in quantities:
        with cells.cell():
            figure, table = lines.chart(lanes, quantity, snapshot, viewed)
            charts.show(figure, table, f"compare-{quantity}", f"{ABOUT[quantity].title} of every lane over the epochs")


def _show_table(lanes: Sequence[Scene]) -> None:
    """The same as a table, and everything to take away."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown("**Results**", width="content")
        popover("Download", _take, lanes, key="compare-take", icon="download")
    table = figures_table([lane.figures for lane in lanes], [lane.y_true for lane in lanes])
    st.table(_readable(table), border="horizontal", hide_index=True, alt="Figures of every lane at the epoch in view")


def _take(lanes: Sequence[Scene]) -> None:
    """The table, every epoch and all labels as files."""
    figures, truths = [lane.figures for lane in lanes], [lane.y_true for lane in lanes]
    epoch, quantities = max(lane.frame.epoch for lane in lanes), lines.quantities(lanes)
    files: tuple[tuple[str, str, str, Callable[[], pd.DataFrame]], ...] = (
        ("This table", f"-epoch-{epoch}", "table", lambda: figures_table(figures, truths)),
        ("Every epoch", "-epochs", "epochs", lambda: lines.table(lanes, quantities)),
        ("Labels of every lane", f"-labels-epoch-{epoch}", "labels", lambda: lines.labels(lanes)),
    )
    for what, name, key, table in files:
        charts.csv_button(table, f"candid-comparison{name}.csv", key=f"compare-{key}-csv", label=f"{what} as CSV")


SHARE_COLUMNS = {
    "identified_correctly": "Correct",
    "test_accuracy": "Unseen correct",
    "mean_confidence": "Sharpness",
    "at_least_90_sure": "Label weight 90 % or more",
}


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """The figures as people read them; columns of which nothing is known are left out.

    A plain table and not a data grid: five rows, drawn again at every refresh.
    """
    formatted = pd.DataFrame({"Lane": table["lane"].map(plain), "Epoch": table["epoch"].map("{:,}".format)})
    for name, title in SHARE_COLUMNS.items():
        if table[name].notna().any():
            formatted[title] = [percent(None if pd.isna(share) else share) for share in table[name]]
        if name == "identified_correctly" and title in formatted:
            ends = zip(table["from"], table["to"], strict=True)
            formatted["95 % interval"] = [
                "–" if pd.isna(low) else f"{100 * low:.1f} to {100 * high:.1f} %" for low, high in ends
            ]
    if table["sure_and_wrong"].notna().any():
        formatted["Sharp and wrong"] = ["–" if pd.isna(many) else f"{many:,.0f}" for many in table["sure_and_wrong"]]
    return formatted
