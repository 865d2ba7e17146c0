"""An experiment in view: progress, tables that fill in, the fits behind each entry, downloads."""

from __future__ import annotations

import io
import json
import zipfile
from functools import partial

import pandas as pd
import streamlit as st

from pll.analysis.evaluation import Result, read_results
from pll.colors import percent
from pll.errors import UserError
from pll.experiments import background
from pll.experiments.background import OUTPUT
from pll.experiments.execution import RESULTS, ExperimentFolder, Progress
from pll.experiments.experiment import Cell, Experiment
from pll.experiments.figures import curve_panels
from pll.experiments.report import REPORT
from pll.experiments.tables import Table, signed, spread, tables
from pll.methods import method_title
from pll.runs.manifest import MANIFEST_FILE
from pll.ui import charts
from pll.ui.experiments import curves
from pll.ui.format import ICONS, count, duration, plain

IDENTIFIED = "identified correctly"
EVERY = 2.0
"""Seconds between two looks at an experiment that runs."""
WORDS = {
    "new": "not started",
    "running": "running",
    "finished": "finished",
    "stopped": "stopped",
    "interrupted": "interrupted",
}


def in_short(folder: ExperimentFolder) -> str:
    """Return name, state and how far it is, as Markdown."""
    state, progress, _ = folder.progress()
    done = "" if progress is None else f" · {progress.done:,} of {count(progress.total, 'fit')}"
    return f"{_icon(state)} **{plain(folder.path.name)}**  \n:gray[:small[{WORDS.get(state, state)}{done}]]"


def _icon(state: str) -> str:
    return ICONS.get(state, ":material/hourglass_empty:")


def heading(folder: ExperimentFolder) -> None:
    """Title, state, and the buttons that fit it."""
    experiment = folder.experiment()
    state, progress, _ = folder.progress()
    at_work = state == "running" or background.is_starting(folder)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"):
        st.title(plain(experiment.title or folder.path.name), anchor=False, width="content")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            if at_work:
                st.button(
                    "Stop", icon=":material/stop:", key="experiment-stop", on_click=background.stop, args=(folder,)
                )
            elif progress is None or progress.done < progress.total:
                st.button(
                    "Resume", icon=":material/play_arrow:", key="experiment-resume", on_click=_resume, args=(folder,)
                )
            if st.button("All experiments", icon=":material/arrow_back:", key="experiment-all"):
                del st.query_params["experiment"]
                st.rerun()
            if not at_work:
                with st.popover("Delete", icon=":material/delete:", type="tertiary"):
                    st.markdown("Deletes its results and tables. This cannot be undone.")
                    if st.button("Delete", type="primary", key="experiment-delete"):
                        background.delete(folder)
                        del st.query_params["experiment"]
                        st.rerun()
    failed = st.session_state.pop("experiment-refused", None)
    if failed:
        st.error(plain(failed), icon=":material/error:")


def _resume(folder: ExperimentFolder) -> None:
    try:
        background.resume(folder)
    except UserError as error:
        st.session_state["experiment-refused"] = str(error)


def watch(folder: ExperimentFolder) -> None:
    """Everything that changes, looked at again while it runs."""
    state, _, _ = folder.progress()
    at_work = state == "running" or background.is_starting(folder)
    st.fragment(partial(_live, folder, at_work), run_every=EVERY if at_work else None)()


def _live(folder: ExperimentFolder, was_at_work: bool) -> None:
    state, progress, _ = folder.progress()
    at_work = state == "running" or background.is_starting(folder)
    if at_work != was_at_work:
        st.rerun()  # the buttons above belong to another state
    _say_progress(folder, "running" if at_work else state, progress)
    try:
        folder.check()
        experiment = folder.experiment()
    except UserError as error:
        st.error(plain(error), icon=":material/error:")
        st.button("Write it anew", icon=":material/refresh:", key="experiment-anew", on_click=_resume, args=(folder,))
        return
    results = read_results(folder.path / RESULTS) if (folder.path / RESULTS).exists() else []
    result_tables = tables(results, methods=experiment.methods, n_fits=len(experiment.seeds) * (experiment.folds or 1))
    if not result_tables:
        st.caption("Charts and tables appear with the first results.")
    curves.show(result_tables)
    for number, table in enumerate(result_tables):
        _show_table(folder, experiment, table, results, number)
    _downloads(folder, state)


def _say_progress(folder: ExperimentFolder, state: str, progress: Progress | None) -> None:
    if progress is None:
        if state == "running":
            st.progress(0.0, text="Starting…")
            return
        output = (
            (folder.path / OUTPUT).read_text(errors="replace").splitlines() if (folder.path / OUTPUT).exists() else []
        )
        st.error(plain(output[-1]) if output else "It has not been started.", icon=":material/error:")
        return
    left = f" · about {duration(progress.left)} left" if state == "running" and progress.left else ""
    if state == "running" and progress.rate:
        left = f" · {60 * progress.rate:.3g} fits a minute{left}"
    failed = f" · {progress.failed:,} failed" if progress.failed else ""
    text = f"{WORDS.get(state, state).capitalize()}: {progress.done:,} of {count(progress.total, 'fit')}{failed}{left}"
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


def experiment_cells(experiment: Experiment) -> tuple[Cell, ...]:
    """Return the cells of an experiment."""
    return experiment.plan().cells


def _show_table(
    folder: ExperimentFolder, experiment: Experiment, table: Table, results: list[Result], number: int
) -> None:
    st.subheader(table.title, anchor=False)
    rows = [(method, q) for method in table.methods for q in table.qs]
    frame = table_frame(table)
    chosen = st.dataframe(
        frame,
        hide_index=True,
        key=f"experiment-table-{number}",
        on_select="rerun",
        selection_mode="single-cell",
        alt=f"Test accuracy in percent: {table.title}",
    )
    first = method_title(table.methods[0])
    st.caption(
        f"Test accuracy in %, mean ± standard deviation of the fits; of each fit the mean of its last 10 epochs. • (◦) "
        f"{first} is significantly better (worse), paired t-test at 5 %; *: also after Holm's correction. In brackets "
        "the paper's mean and the difference. Select an entry to see its fits."
    )
    cells = chosen.selection.cells if hasattr(chosen, "selection") else []
    if cells:
        row, column = cells[0]
        if column in table.datasets and row < len(rows):
            _show_fits(folder, experiment, table, results, rows[row], column)
        else:
            st.info("Select an entry in the column of a dataset.", icon=":material/touch_app:")


def table_frame(table: Table) -> pd.DataFrame:
    """Return a table as it is shown: a row for each method and q, a column for each data set.

    Of a single data set, the transductive accuracy too.
    """
    rows: list[dict[str, str]] = []
    for method in table.methods:
        for q in table.qs:
            row = {"method": method_title(method)}
            if q is not None:
                row["q"] = f"{q:g}"
            for dataset in table.datasets:
                entry = table.entries.get(((dataset, q), method))
                text = (
                    "" if entry is None else " ".join(filter(None, (spread(entry.mean, entry.deviation), entry.mark)))
                )
                if entry is not None and entry.n_fits < entry.expected:
                    text += f" · {entry.n_fits} of {entry.expected}"
                if entry is not None and entry.paper is not None:
                    text += f"  ({entry.paper.mean:.2f}, {signed(entry.difference)})"
                row[dataset] = text
                if entry is not None and len(table.datasets) == 1 and entry.transductive is not None:
                    row[IDENTIFIED] = spread(entry.transductive, entry.transductive_deviation or 0.0)
            rows.append(row)
    return pd.DataFrame(rows)


def _show_fits(
    folder: ExperimentFolder,
    experiment: Experiment,
    table: Table,
    results: list[Result],
    row: tuple[str, float | None],
    dataset: str,
) -> None:
    """The fits behind one entry: each with its figures, the settings, and their curves."""
    method, q = row
    entry = table.entries.get(((dataset, q), method))
    if entry is None:
        st.info("This entry has no result yet.", icon=":material/hourglass_empty:")
        return
    own = [
        result
        for result in results
        if (result.dataset, result.q, result.method, result.flip, result.recipe, result.model)
        == (dataset, q, method, entry.flip, entry.recipe, entry.model)
    ]
    with st.container(border=True):
        st.markdown(f"**{method_title(method)} on {plain(dataset)}**" + ("" if q is None else f", q = {q:g}"))
        st.dataframe(
            pd.DataFrame(
                {
                    "seed": [result.seed for result in own],
                    "fold": [result.fold for result in own],
                    "test accuracy": [percent(result.test_accuracy, 2) for result in own],
                    "identified correctly": [percent(result.transductive_accuracy, 2) for result in own],
                    "time": [duration(result.seconds) for result in own],
                }
            ),
            hide_index=True,
            key="experiment-fits",
            alt="Fits of this entry",
        )
        if entry.p is not None:
            against = method_title(table.methods[0])
            st.caption(
                f"Against {against} on the same parts: paired t-test p = {entry.p:.3g} ({entry.p_holm:.3g} after "
                f"Holm's correction), Wilcoxon p = {entry.p_wilcoxon:.3g}."
            )
        _curve(folder, experiment, entry.method, own)
        with st.expander("Settings"):
            st.json(json.loads(own[0].settings or "{}"))


def _curve(folder: ExperimentFolder, experiment: Experiment, method: str, own: list[Result]) -> None:
    """Mean test accuracy over the epochs with its band, where the method has epochs."""
    one = own[0]
    cells = [
        cell
        for cell in experiment_cells(experiment)
        if (cell.dataset, cell.method, cell.model, cell.recipe) == (one.dataset, method, one.model, one.recipe)
        and ("" if cell.flip is None else cell.flip.how) == one.flip
        and (None if cell.flip is None else cell.flip.q) == one.q
    ]
    outcomes = {cell.key: outcome for cell in cells if (outcome := folder.outcome(cell)) is not None}
    panels = curve_panels(cells, outcomes)
    if not panels:
        return
    figure, table = curves.epochs_chart(panels[0], experiment.methods)
    charts.show(figure, table, "experiment-curve", "Test accuracy over the epochs")


def _downloads(folder: ExperimentFolder, state: str) -> None:
    there = [name for name in (*REPORT, RESULTS) if (folder.path / name).exists()]
    if not there:
        return
    st.subheader("Download", anchor=False)
    with st.container(horizontal=True, gap="small"):
        if state != "running":
            st.download_button(
                "Everything in one ZIP",
                data=partial(archive, folder),
                file_name=f"{folder.path.name}.zip",
                mime="application/zip",
                icon=":material/folder_zip:",
                key="experiment-zip",
                on_click="ignore",
            )
        for name in there:
            st.download_button(
                name,
                data=(folder.path / name).read_bytes,
                file_name=name,
                icon=":material/download:",
                type="tertiary",
                key=f"experiment-{name}",
                on_click="ignore",
            )


def archive(folder: ExperimentFolder) -> bytes:
    """Return tables, figures, results and the definition as a ZIP; no data."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.path.rglob("*")):
            inside = file.relative_to(folder.path)
            if (
                file.is_file()
                and inside.parts[0] not in ("cells", MANIFEST_FILE)
                and not file.name.startswith(".")
                and file.suffix != ".lock"
            ):
                packed.write(file, inside)
    return buffer.getvalue()
