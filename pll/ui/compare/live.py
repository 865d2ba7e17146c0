"""Live view of a comparison: timeline, star plots, charts and verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from pll.analysis.comparison_report import Verdict, beside, figures_table, verdict
from pll.colors import percent
from pll.errors import UserError
from pll.runs.comparison import Comparison
from pll.runs.config import format_settings
from pll.runs.lanes import lane_titles
from pll.runs.snapshots import ComparisonSnapshot
from pll.ui import charts, live_page, session
from pll.ui.compare import lines, svg_lines
from pll.ui.compare.lines import swatch
from pll.ui.compare.picture import downloads, picture
from pll.ui.compare.view_state import ComparisonView, LaneView, comparison_view, lanes_in_view
from pll.ui.components.canvas import mount
from pll.ui.components.star import STAR, star_payload, star_sample
from pll.ui.components.timeline import timeline, timeline_payload
from pll.ui.format import count, format_comparison_state, plain
from pll.ui.routes import link

REFRESH = 0.5
"""Seconds between two looks at lanes that move."""
STAR_HEIGHT = 250
POINTS = 600
"""Examples in each small star plot, a fixed sample: five at once must not keep the browser busier than a large one."""
STAR_HELP = (
    "Every class is a corner. An example starts in the middle of its candidates and moves to the corner of its "
    "identified label. A sample: the same examples in every lane."
)


def heading(comparison: Comparison, snapshot: ComparisonSnapshot, share: Callable[[], None]) -> None:
    """What is compared, its settings and state; at the right what `share` offers, and the next steps."""
    live_page.heading(
        snapshot,
        format_shared(comparison),
        comparison_view(comparison).hidden,
        settings=partial(settings, comparison),
        share=share,
        onward=_another,
    )


def _another() -> None:
    if st.button("New comparison", icon=":material/add:", key="compare-new"):
        session.view_comparison(None)
        st.rerun()


def format_shared(comparison: Comparison) -> str:
    """What all lanes share, in one line."""
    if not comparison.lanes.together:
        return "Finished runs, trained separately."
    config = comparison.runs[0].config
    parts = [f"{count(len(comparison.runs), 'lane')} with the same examples, start and batches"]
    parts += [f"candidates {config.candidates}"] if config.flip is None else [f"candidates made: {config.flip.words}"]
    parts += [f"{percent(config.holdout, 0)} held out"] if config.holdout else []
    return " · ".join([*parts, f"seed {config.seed}"])


def settings(comparison: Comparison) -> None:
    """Every lane in one line."""
    configs = [run.config for run in comparison.runs]
    for title, config in zip(lane_titles(configs), configs, strict=True):
        st.markdown(f"**{plain(title)}**  \n:small[{plain(format_settings(config))}]")


def watch(comparison: Comparison, state: str) -> None:
    """Everything that changes, refreshed by itself while it may change."""
    live_page.refreshed(_live, comparison, state, REFRESH)


def _live(comparison: Comparison, state_of_page: str) -> None:
    snapshot = comparison.snapshot()
    if snapshot.state != state_of_page:
        st.rerun()  # the buttons above belong to another state
    if not comparison.wait_until_ready(live_page.PATIENCE):  # it waits for its turn, or reads a large file
        st.caption(format_comparison_state(snapshot))
        st.progress(0.0)
        st.container(height=900, border=False)
        return
    looking = comparison_view(comparison)
    try:
        lanes = lanes_in_view(comparison, snapshot, looking)
    except UserError as error:
        st.error(plain(error), icon=":material/error:")
        return
    said = lanes_verdict(comparison, lanes)
    progress(comparison, snapshot, looking, lanes)
    if "star" not in looking.hidden:
        stars(comparison, lanes, looking)
    if "verdict" not in looking.hidden:
        show_verdict(snapshot, said)
    if "curves" not in looking.hidden:
        over_epochs(comparison, snapshot, looking, lanes)
    if "table" not in looking.hidden:
        show_table(comparison, snapshot, lanes, said)


def progress(
    comparison: Comparison, snapshot: ComparisonSnapshot, looking: ComparisonView, lanes: Sequence[LaneView]
) -> None:
    """State of the lanes and the epoch in view: one timeline for all."""
    longest = max(lanes, key=lambda lane: lane.stored[-1])
    viewed = max(lane.epoch for lane in lanes)
    back = "" if looking.follow else f" · **in view: {f'epoch {viewed}' if viewed else 'before training'}**"
    st.caption(format_comparison_state(snapshot) + back)
    if "timeline" not in looking.hidden:
        payload = timeline_payload(
            longest.stored,
            done=max(lane.snapshot.epoch for lane in lanes),
            total=snapshot.total or 1,
            viewed=viewed,
            follow=looking.follow,
            live=snapshot.is_active,
            asked=looking.asked,
            changed=_changed(lanes),
        )
        timeline(payload, key=f"compare-timeline-{comparison.id}", on_look=looking.look)
    for lane in lanes:
        if lane.figures.failure:
            st.error(plain(f"{lane.title}: {lane.figures.failure}"), icon=":material/error:")


def _changed(lanes: Sequence[LaneView]) -> npt.NDArray[np.float32]:
    """(epochs,) mean share, over the lanes, of the labels that changed."""
    most = max(len(lane.snapshot.rows) for lane in lanes)
    shares = np.zeros((len(lanes), most), dtype=np.float32)
    for line, lane in zip(shares, lanes, strict=True):
        line[: len(lane.snapshot.rows)] = [(row["changed_labels"] or 0) / len(lane.data) for row in lane.snapshot.rows]
    return np.asarray(shares.mean(axis=0))


def stars(comparison: Comparison, lanes: Sequence[LaneView], looking: ComparisonView) -> None:
    """A small star plot a lane, all alike, and its figures at the epoch in view."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown("**Where the examples are heading**", help=STAR_HELP, width="content")
        if any(lane.truth is not None for lane in lanes):
            key = f"compare-truth-{comparison.id}"
            looking.truth = st.toggle(
                "Colour by true label",
                value=looking.truth,
                key=key,
                help="Off: by identified label. On: wrong examples have another colour than their corner.",
            )
    cells = st.grid(len(lanes), min_column_width=220, gap="small")
    for lane in lanes:
        sets = lane.data.sets()
        rows = star_sample(len(sets), POINTS)
        with cells.cell(), st.container(gap=None):
            st.html(swatch(lane.place, lane.title))
            right, sure = lane.right, lane.confidence
            large, small = (percent(sure), "mean confidence") if right is None else (percent(right), "correct")
            st.markdown(f"### {large}", width="content")
            st.caption(small if right is None else f"{small} · {percent(sure, 0)} sure")
            payload = star_payload(
                lane.weights[sets.positions(rows)],
                sets.take(rows),
                when=f"Epoch {lane.epoch}" if lane.epoch else "Before training",
                truth=lane.truth[rows] if looking.truth and lane.truth is not None else None,
                examples=rows,
                ids=lane.data.row_ids,
                height=STAR_HEIGHT,
            )
            mount(STAR, payload, f"compare-star-{lane.run.id}", rows, None)
            if "next" not in looking.hidden:
                link("train", "Open", run=lane.run.id)


def lanes_verdict(comparison: Comparison, lanes: Sequence[LaneView]) -> Verdict:
    """The verdict at the epoch in view."""
    figures = [lane.figures for lane in lanes]
    if not comparison.shares_data():
        return beside(figures, [lane.truth for lane in lanes])
    return verdict(figures, lanes[0].truth, sizes=lanes[0].data.sets().sizes)


def show_verdict(snapshot: ComparisonSnapshot, said: Verdict) -> None:
    """Show the verdict; "so far" while it may still change.

    While lanes train, without the reasons: text that changes twice a second cannot be read, and its changing length
    would move the curves.
    """
    moves = snapshot.state == "running"
    with st.container(border=True, gap="xsmall"):
        why = " · explained when training pauses" if moves else ""
        st.caption(("What this shows so far" if snapshot.is_active else "What this shows") + why)
        st.markdown(f"#### {plain(said.headline)}")
        if said.lines:
            told = [(line.title, line.short if moves else line.text) for line in said.lines]
            st.markdown("\n".join(f"- **{plain(title)}**: {plain(text)}" for title, text in told))
        for note in said.notes:
            st.caption(plain(note))


def over_epochs(
    comparison: Comparison, snapshot: ComparisonSnapshot, looking: ComparisonView, lanes: Sequence[LaneView]
) -> None:
    """Each quantity of all lanes on the same axes; interactive and downloadable once the lanes have stopped."""
    viewed = None if looking.follow else max(lane.epoch for lane in lanes)
    wanted = lines.quantities(lanes)
    cells = st.grid(len(wanted), min_column_width=320, gap="medium")
    for quantity in wanted:
        with cells.cell():
            if snapshot.state == "running":
                svg_lines.live(lanes, quantity, snapshot.total, viewed, key=f"compare-live-{quantity.column}")
                continue
            figure, table = lines.chart(lanes, quantity, snapshot.total, viewed)
            charts.show(figure, table, f"compare-{quantity.column}", f"{quantity.title} of every lane over the epochs")


def show_table(comparison: Comparison, snapshot: ComparisonSnapshot, lanes: Sequence[LaneView], said: Verdict) -> None:
    """The same as a table, and everything to take away."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown("**Results**", width="content")
        take = st.popover(
            "Download", icon=":material/download:", type="tertiary", key="compare-take", on_change="rerun"
        )
    table = figures_table([lane.figures for lane in lanes], [lane.truth for lane in lanes])
    st.table(readable(table), border="horizontal", hide_index=True, alt="Figures of every lane at the epoch in view")
    if take.open:  # a closed one costs nothing
        with take:
            name = f"candid-comparison-epoch-{max(lane.epoch for lane in lanes)}"
            wanted = lines.quantities(lanes)
            downloads(picture(lanes, wanted, said, snapshot.name, snapshot.total), name, f"compare-{comparison.id}")
            charts.csv_button(lambda: table, f"{name}.csv", key="compare-table-csv", label="This table as CSV")
            charts.csv_button(
                lambda: lines.table(lanes, wanted),
                "candid-comparison-epochs.csv",
                key="compare-epochs-csv",
                label="Every epoch as CSV",
            )
            labels = f"candid-comparison-labels-epoch-{max(lane.epoch for lane in lanes)}.csv"
            charts.csv_button(
                lambda: lines.labels(lanes), labels, key="compare-labels-csv", label="Labels of every lane as CSV"
            )


SHARES = {
    "identified_correctly": "Correct",
    "test_accuracy": "Unseen correct",
    "mean_confidence": "Mean confidence",
    "at_least_90_sure": "At least 90 % sure",
}


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The figures as people read them; columns of which nothing is known are left out.

    A plain table and not a data grid: five rows, drawn again at every refresh.
    """
    shown = pd.DataFrame({"Lane": table["lane"].map(plain), "Epoch": table["epoch"].map("{:,}".format)})
    for name, title in SHARES.items():
        if table[name].notna().any():
            shown[title] = [percent(None if pd.isna(share) else share) for share in table[name]]
        if name == "identified_correctly" and title in shown:
            ends = zip(table["from"], table["to"], strict=True)
            shown["95 % interval"] = [
                "–" if pd.isna(low) else f"{100 * low:.1f} to {100 * high:.1f} %" for low, high in ends
            ]
    if table["sure_and_wrong"].notna().any():
        shown["Sure and wrong"] = ["–" if pd.isna(many) else f"{many:,.0f}" for many in table["sure_and_wrong"]]
    return shown
