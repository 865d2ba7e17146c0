"""Live view of several lanes: timeline, star plots, charts and verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

import pandas as pd
import streamlit as st

from pll.analysis.comparison_report import Verdict, figures_table, verdict, verdict_by_lane
from pll.colors import LANE_COLOURS, LANE_DASHES
from pll.runs.config import facts_of, format_settings
from pll.runs.lanes import lane_titles
from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.training.metrics import ABOUT
from pll.ui import charts, live_page
from pll.ui.components.canvas import Presentation, mount
from pll.ui.components.star import STAR, star_payload
from pll.ui.format import plain
from pll.ui.routes import link
from pll.ui.scenes import Scene
from pll.ui.train.pictures import CORNERS, STAR_TITLE, choose_colours, labels_of, shown_classes
from pll.ui.widgets import beside, popover
from pll.wording import count, percent

HEIGHT_OF_LANES = 900
STAR_HEIGHT, CURVES_HEIGHT = 250, 330
POINTS = 600
"""Examples in each small star plot, a fixed sample: five at once must not keep the browser busier than a large one."""
STAR_HELP = f"{CORNERS} A sample: the same examples in every lane."


def format_shared(run: Run) -> str:
    """What all lanes share, in one line."""
    if not run.is_together:
        return "Finished runs, trained separately."
    facts = facts_of(run.config)
    shared = [facts[name] for name in ("sets", "holdout", "seed") if facts[name]]
    return " · ".join([f"{count(len(run.lanes), 'lane')} with the same examples, start and batches", *shared])


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
    with beside(horizontal_alignment="distribute"):
        st.markdown(f"**{STAR_TITLE}**", help=STAR_HELP, width="content")
        if any(lane.y_true is not None for lane in lanes):
            choose_colours(looking)
    cells = st.grid(len(lanes), min_column_width=220, gap="small")
    for lane in lanes:
        with cells.cell(), st.container(gap=None):
            st.html(_swatch(lane.place, lane.title))
            right, sure = lane.right, lane.confidence
            st.markdown(f"### {percent(sure if right is None else right)}", width="content")
            n = f"of {count(lane.data.n_labelled, 'label')} correct · "
            st.caption("sharpness" if right is None else f"{n}sharpness {percent(sure, 0)}")
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
            sentences = [(line.title, f"{line.figures}." if moves else line.text) for line in verdict.lines]
            st.markdown("\n".join(f"- **{plain(title)}**: {plain(text)}" for title, text in sentences))
        for note in verdict.notes:
            st.caption(plain(note))


def _over_epochs(lanes: Sequence[Scene], snapshot: Snapshot) -> None:
    """Each quantity of all lanes on the same axes, with the epoch in view marked where it is not the latest one.

    While they train there is a new picture only now and then, since each takes the browser 0.1 s.
    """
    viewed = None if lanes[0].looking.follow else max(lane.frame.epoch for lane in lanes)
    every = max(1, (snapshot.total or 1) // PICTURES_OF_RUN) if snapshot.state == "running" else 1
    until = max(lane.snapshot.epoch for lane in lanes) // every * every
    drawn = []
    for lane in lanes:
        style = {"color": LANE_COLOURS[lane.place], "dash": LANE_DASHES[lane.place], "width": 2.5}
        drawn.append((lane.snapshot.rows[:until], style, lane.title))
    quantities = _quantities(lanes)
    cells = st.grid(len(quantities), min_column_width=320, gap="medium")
    for quantity in quantities:
        about = ABOUT[quantity]
        lines = [charts.ChartLine(quantity, rows, style, title) for rows, style, title in drawn]
        figure = charts.over_epochs(
            about.title, about.unit, lines, total=snapshot.total, viewed=viewed, height=CURVES_HEIGHT
        )
        with cells.cell():
            alt = f"{about.title} of every lane over the epochs"
            charts.show(figure, _epochs(lanes, [quantity]), f"compare-{quantity}", alt)


def _show_table(lanes: Sequence[Scene]) -> None:
    """The same as a table, and everything to take away."""
    with beside(horizontal_alignment="distribute"):
        st.markdown("**Results**", width="content")
        popover("Download", _take, lanes, key="compare-take", icon="download")
    table = figures_table([lane.figures for lane in lanes], [lane.y_true for lane in lanes])
    st.table(_readable(table), border="horizontal", hide_index=True, alt="Figures of every lane at the epoch in view")


def _take(lanes: Sequence[Scene]) -> None:
    """The table, every epoch and all labels as files."""
    figures, truths = [lane.figures for lane in lanes], [lane.y_true for lane in lanes]
    epoch, quantities = max(lane.frame.epoch for lane in lanes), _quantities(lanes)

    def offer(what: str, name: str, key: str, table: Callable[[], pd.DataFrame]) -> None:
        charts.csv_button(table, f"candid-comparison{name}.csv", key=f"compare-{key}-csv", label=f"{what} as CSV")

    offer("This table", f"-epoch-{epoch}", "table", lambda: figures_table(figures, truths))
    offer("Every epoch", "-epochs", "epochs", lambda: _epochs(lanes, quantities))
    offer("Labels of every lane", f"-labels-epoch-{epoch}", "labels", lambda: _labels(lanes))


def _interval(lane: Any) -> str:
    low, high = lane["from"], lane["to"]
    return "–" if pd.isna(low) else f"{100 * low:.1f} to {100 * high:.1f} %"


FIGURES: dict[str, Callable[[Any], str]] = {
    "Epoch": lambda lane: f"{lane.epoch:,}",
    "Examples": lambda lane: f"{lane.examples:,}",
    "Correct": lambda lane: percent(lane.identified_correctly),
    "95 % interval": _interval,
    "Unseen correct": lambda lane: percent(lane.test_accuracy),
    "Sharpness": lambda lane: percent(lane.sharpness),
    "Label weight 90 % or more": lambda lane: percent(lane.at_least_90_sharp),
    "Sharp and wrong": lambda lane: "–" if pd.isna(lane.sharp_and_wrong) else f"{lane.sharp_and_wrong:,.0f}",
}
"""The lines of the table of results, each of a row of `figures_table`."""


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """The figures as people read them, a column a lane; lines of which nothing is known are left out.

    A plain table and not a data grid: a few lines, drawn again at every refresh.
    """
    lanes = {plain(lane["lane"]): [figure(lane) for figure in FIGURES.values()] for _, lane in table.iterrows()}
    formatted = pd.DataFrame({"": list(FIGURES)} | lanes)
    return formatted[(formatted[list(lanes)] != "–").any(axis="columns")]


# ---- metrics of lanes over the epochs --------------------------------------------------------------------------------


STROKES = {"solid": "", "dash": "7 4", "dashdot": "8 3 2 3", "longdash": "12 4", "dot": "3 3"}
"""Dashes of `LANE_DASHES`, as SVG has them: pixels drawn, and left out."""
PICTURES_OF_RUN = 20
"""Pictures of a chart while lanes train."""


def _quantities(lanes: Sequence[Scene]) -> list[str]:
    """What there is to compare: against the truth where it is known, else how sure and how settled the lanes are."""
    first = next((lane.snapshot.rows[-1] for lane in lanes if lane.snapshot.rows), {})
    if first.get("transductive_accuracy") is None and any(lane.y_true is None for lane in lanes):
        return ["mean_confidence", "mean_entropy", "changed_labels"]
    tested = any(lane.splits.test is not None for lane in lanes)
    return ["transductive_accuracy", "test_accuracy" if tested else "mean_entropy", "mean_confidence"]


def _epochs(lanes: Sequence[Scene], quantities: Sequence[str]) -> pd.DataFrame:
    """Every epoch of every lane: lane, epoch and the quantities, as metrics.csv has them."""
    rows = [
        {"lane": lane.title, "epoch": row["epoch"]} | {name: row[name] for name in quantities}
        for lane in lanes
        for row in lane.snapshot.rows
    ]
    return pd.DataFrame(rows, columns=["lane", "epoch", *quantities])


def _labels(lanes: Sequence[Scene]) -> pd.DataFrame:
    """What the star plots show, of every example: lane, epoch, and the columns of labels.csv."""
    tables = {(lane.title, lane.frame.epoch): labels_of(lane) for lane in lanes}
    return pd.concat(tables, names=["lane", "epoch"]).reset_index(level=["lane", "epoch"]).reset_index(drop=True)


def _swatch(lane: int, title: str) -> str:
    """A piece of the lane's line and its title, as HTML.

    Examples
    --------
    >>> "&lt;b&gt;" in _swatch(0, "<b>")
    True
    """
    colour, dashes = LANE_COLOURS[lane], STROKES[LANE_DASHES[lane]]
    line = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='34' height='3'><path d='M0 1.5H34' stroke='{colour}' "
        f"stroke-width='3' stroke-dasharray='{dashes}'/></svg>"
    )
    return (
        '<div style="display:flex;align-items:center;gap:8px;white-space:nowrap;overflow:hidden">'
        f'<img src="data:image/svg+xml,{quote(line)}" alt="" style="flex:none">'
        f'<span style="font-weight:600;overflow:hidden;text-overflow:ellipsis" title="{escape(title)}">'
        f"{escape(title)}</span></div>"
    )
