"""An experiment in view: progress, tables that fill in, downloads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.errors import UserError
from pll.experiments import registry
from pll.experiments.evaluation import MEANS_OF, read_results
from pll.experiments.execution import RESULTS_TABLE, ExperimentFolder, ExperimentProgress
from pll.experiments.figures import over_fits, panel_figure, q_panels, style
from pll.experiments.report import REPORT, protocol_in_words, tables_of
from pll.experiments.tables import Table, TableEntry, cells_frame, legend, signed
from pll.io import zipped
from pll.methods import method_title
from pll.runs.files import MANIFEST_FILE
from pll.ui import charts
from pll.ui.format import STATE_ICONS, plain, with_left
from pll.ui.widgets import button, download, heading, popover, show_error
from pll.wording import count

EXPERIMENT_SECONDS = 2.0
"""Seconds between two looks at an experiment that runs."""


def _format_state(state: str) -> str:
    """The state of an experiment in words."""
    return "not started" if state == "new" else state


def _state_of(folder: ExperimentFolder) -> tuple[str, ExperimentProgress | None]:
    """Return the state of an experiment, "running" also while it begins, and how far it is."""
    state, progress = folder.progress()
    return "running" if registry.is_running(folder) else state, progress


def in_short(folder: ExperimentFolder) -> tuple[str, str]:
    """Return its name, and its state and how far it is, as Markdown."""
    state, progress = _state_of(folder)
    done = "" if progress is None else f" · {_format_done(progress)}"
    icon, title = STATE_ICONS.get(state, ":material/hourglass_empty:"), folder.path.name
    if progress is not None and progress.failed and state == "finished":
        icon = ":material/warning:"
    with suppress(UserError):  # its definition is damaged, as is said once it is opened
        title = folder.experiment().title or title
    return f"{icon} **{plain(title)}**", f"{plain(folder.path.name)} · {_format_state(state)}{done}"


def _format_done(progress: ExperimentProgress) -> str:
    failed = f" · {progress.failed:,} failed" if progress.failed else ""
    return f"{progress.done:,} of {count(progress.total, 'fit')}{failed}"


def head(folder: ExperimentFolder) -> None:
    """Title, and the buttons that fit the state."""
    state, progress = _state_of(folder)
    experiment = folder.experiment()
    with heading(experiment.title or folder.path.name):
        if state == "running":
            button("Stop", registry.stop, folder, icon="stop", key="experiment-stop")
        elif progress is None or progress.done < progress.total:
            button("Resume", registry.resume, folder, icon="play_arrow", key="experiment-resume")
        button("All experiments", leave, icon="arrow_back", key="experiment-all")
        if state != "running":
            popover("Delete", _delete, folder, key="experiment-delete-box", icon="delete")
    datasets, methods = count(len(experiment.datasets), "dataset"), count(len(experiment.methods), "method")
    st.caption(f"{datasets} · {methods} · {protocol_in_words(experiment)}")


def leave() -> None:
    """Go back to all experiments."""
    st.query_params.pop("experiment", None)


def _delete(folder: ExperimentFolder) -> None:
    """The button that deletes an experiment, below what becomes of it."""

    def delete() -> None:
        registry.delete(folder)
        leave()

    st.markdown("Deletes its results and tables. This cannot be undone.")
    button("Delete", delete, kind="primary", key="experiment-delete")


def watch(folder: ExperimentFolder) -> None:
    """Everything that changes, looked at again while it runs."""
    state, _ = _state_of(folder)
    st.fragment(partial(_live, folder, state), run_every=EXPERIMENT_SECONDS if state == "running" else None)()


def _live(folder: ExperimentFolder, state_of_page: str) -> None:
    state, progress = _state_of(folder)
    if (state == "running") != (state_of_page == "running"):
        st.rerun()  # the buttons above belong to another state
    _show_progress(folder, state, progress)
    try:
        folder.check()
        experiment = folder.experiment()
    except UserError as error:
        show_error(error)
        button("Write it anew", registry.resume, folder, icon="refresh", key="experiment-anew")
        return
    results = read_results(folder.path / RESULTS_TABLE) if (folder.path / RESULTS_TABLE).exists() else []
    result_tables = tables_of(experiment, results)
    if not result_tables:
        st.caption("Charts and tables appear with the first results.")
    _show_curves(result_tables)
    for table in result_tables:
        _show_table(table)
    if results:
        _downloads(folder, state)


def _show_progress(folder: ExperimentFolder, state: str, progress: ExperimentProgress | None) -> None:
    if progress is None:
        if state == "running":
            st.progress(0.0, text="Starting…")
            return
        job = registry.job_of(folder)
        error = "" if job is None else job.status().error
        show_error(error or "It has not been started.")
        return
    text = f"{_format_state(state).capitalize()}: {_format_done(progress)}"
    if state == "running":
        text += f" · {60 * progress.rate:.3g} fits a minute" if progress.rate else ""
        text = with_left(text, progress.left or None)
    st.progress(min(1.0, progress.done / max(progress.total, 1)), text=text)
    if progress.missing:
        names = ", ".join(plain(one.dataset) for one in progress.missing)
        st.caption(f"Not on this server, and left out: {names}.")
    if progress.failed:
        with st.expander(f"{count(progress.failed, 'fit')} failed", icon=":material/error:"):
            for key, error in progress.errors:
                st.markdown(f"{plain(key)}: {plain(error)}")
            if progress.failed > len(progress.errors):
                st.caption(f"The first {len(progress.errors)}; log.txt in the experiment's folder has all.")


def _show_table(table: Table) -> None:
    st.subheader(table.title, anchor=False)
    alt = f"Test accuracy in percent: {table.title}"
    frame = _table_frame(table).rename(columns={"method": "Method"}).rename(columns=plain).map(plain)
    st.table(frame, hide_index=True, border="horizontal", alt=alt)  # whose cells have as many lines as a phone needs
    st.caption(
        f"Test accuracy in %, mean ± standard deviation of the fits; of those by gradient descent {MEANS_OF}. "
        f"{legend(table)} results.csv has every fit, figures/ in the ZIP its curves."
    )


def _table_frame(table: Table) -> pd.DataFrame:
    """Return a table as it is shown; of a single data set with the transductive accuracy."""
    frame = cells_frame(table, _cell)
    if len(table.datasets) == 1:
        identified = cells_frame(table, lambda entry: "" if entry is None else str(entry.transductive or ""))
        frame[IDENTIFIED_TITLE] = identified[table.datasets[0]]
    return frame


def _cell(entry: TableEntry | None) -> str:
    if entry is None:
        return ""
    part = f" · {entry.n_fits} of {count(entry.expected, 'fit')}" if entry.n_fits < entry.expected else ""
    paper = "" if entry.paper is None else f"  ({entry.paper.mean:.2f}, {signed(entry.difference)})"
    return f"{entry.test} {entry.mark}".rstrip() + part + paper


def _downloads(folder: ExperimentFolder, state: str) -> None:
    st.subheader("Download", anchor=False)
    with st.container(horizontal=True, gap="small"):
        if state != "running":
            name, key = f"{folder.path.name}.zip", "experiment-zip"
            download("Everything in one ZIP", partial(_archive, folder), name, key=key, icon="folder_zip")
        for file in (folder.path / name for name in (*REPORT, RESULTS_TABLE)):
            if file.exists():
                download(file.name, file.read_bytes, file.name, key=f"experiment-{file.name}", kind="tertiary")


def _archive(folder: ExperimentFolder) -> bytes:
    """Return tables, figures, results and the definition as a ZIP; no data."""
    files = {}
    for file in sorted(folder.path.rglob("*")):
        inside = file.relative_to(folder.path)
        is_internal = inside.parts[0] in ("cells", MANIFEST_FILE) or file.name.startswith(".")
        if file.is_file() and not is_internal and file.suffix != ".lock":
            files[inside.as_posix()] = file.read_bytes()
    return zipped(files)


# ---- charts ----------------------------------------------------------------------------------------------------------


IDENTIFIED_TITLE, UNSEEN_TITLE = "Identified correctly", "Correct on unseen examples"


def _show_curves(results: Sequence[Table]) -> None:
    """Show identified and unseen accuracy of each table: curves over q where it has several, else a mark a method."""
    for number, table in enumerate(results):
        if len(results) > 1:
            st.markdown(f"**{table.title}**")
        for dataset in table.datasets:
            cells = st.grid(2, min_column_width=320, gap="medium")
            for title in (IDENTIFIED_TITLE, UNSEEN_TITLE):
                figure, numbers = _chart(table, dataset, title)
                if numbers.empty:  # no true label is known
                    continue
                key = f"experiment-{number}-{table.datasets.index(dataset)}-{title.split()[-1]}"
                with cells.cell():
                    charts.show(figure, numbers, key, f"{title} of each method, mean and standard deviation")


def _chart(table: Table, dataset: str, title: str) -> tuple[go.Figure, pd.DataFrame]:
    """The chart of one data set of a table: curves over q where it has several, else a mark a method."""
    columns = [column for column in table.columns if column[0] == dataset]
    at = f", q = {columns[0][1]:g}" if len(columns) == 1 and columns[0][1] is not None else ""
    transductive, title = title == IDENTIFIED_TITLE, f"{dataset}{at}: {title[0].lower()}{title[1:]}"
    if len(columns) == 1:
        entries = [entry for (column, _), entry in table.entries.items() if column == columns[0]]
        return _mean_chart(entries, table.methods, title, transductive=transductive)
    one = Table(table.title, table.methods, tuple(columns), table.entries, table.first)
    panels = q_panels([one], transductive=transductive, fewest=2)
    if not panels:
        return go.Figure(), pd.DataFrame()
    figure, numbers = panel_figure(panels[0], table.methods)
    over = over_fits(panels[0].numbers["fits"])
    charts.dress(figure, title, f"{panels[0].x_title} · {over}", "%", height=360)
    return figure, numbers


def _mean_chart(
    entries: Sequence[TableEntry], methods: Sequence[str], title: str, *, transductive: bool
) -> tuple[go.Figure, pd.DataFrame]:
    """A mark a method, with a bar of ± one standard deviation."""
    figure, rows = go.Figure(), list[dict[str, Any]]()
    for entry in entries:
        shown = entry.transductive if transductive else entry.test
        if shown is None:
            continue
        colour, _ = style(entry.method, methods)
        name, deviation = method_title(entry.method), float(np.nan_to_num(shown.deviation))
        above, below = min(deviation, 100 - shown.mean), min(deviation, shown.mean)  # no accuracy lies beyond
        figure.add_scatter(
            x=[shown.mean],
            y=[name],
            error_x={"type": "data", "array": [above], "arrayminus": [below], "thickness": 2},
            mode="markers",
            marker={"color": colour, "size": 11},
            name=name,
            customdata=[shown.deviation],
            hovertemplate="%{x:.2f} ± %{customdata:.2f} %<extra></extra>",
        )
        rows.append({"method": name, **asdict(shown), "fits": entry.n_fits})
    over = over_fits([row["fits"] for row in rows]) if rows else ""
    charts.dress(figure, title, f"%, {over}", "", height=120 + 40 * len(rows))
    figure.update_layout(showlegend=False, hovermode="closest")
    figure.update_yaxes(autorange="reversed", rangemode="normal")
    return figure, pd.DataFrame(rows)
