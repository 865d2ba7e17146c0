"""Downloads of a run's labels: in the source file's format, or in another."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from pll.export import Exporter, ExportSource
from pll.export.convert import Conversion, files_of, of_run, results_of
from pll.export.spreadsheet import neutralise
from pll.formats import FORMATS
from pll.methods import method_title
from pll.runs.folder import RunFolder
from pll.runs.run import Run, readable
from pll.ui import session
from pll.ui.format import plain

LABELLED = "-labelled"
"""What the name of a file says once it has the labels of a run."""

MIME = {".csv": "text/csv", ".tsv": "text/tab-separated-values", ".json": "application/json", ".xml": "application/xml",
        ".zip": "application/zip", ".npz": "application/zip"}  # fmt: skip


def runs_with_result() -> list[Run]:
    """The runs that have something to take away, the newest first."""
    return [run for run in readable(session.registry().all()) if (run.folder.path / "model.json").exists()]


def choose_run(in_view: Run | None, runs: Sequence[Run]) -> None:
    """A choice among the runs, which becomes the run in view."""
    known = {run.id: run for run in ([in_view] if in_view is not None else []) + list(runs)}
    if len(known) < 2 and in_view is not None:
        return
    key = f"export-run-{in_view.id if in_view else ''}"

    def show() -> None:
        if st.session_state[key]:
            session.view(known[st.session_state[key]])

    st.selectbox(
        "Run",
        list(known),
        index=None if in_view is None else 0,
        format_func=lambda run_id: _title(known[run_id]),
        placeholder="Choose a run",
        key=key,
        on_change=show,
        label_visibility="collapsed" if in_view else "visible",
    )


def _title(run: Run) -> str:
    begun = str(run.folder.about().get("created", ""))[:16].replace("T", " ")
    return f"{run.config.name or run.config.source.name} · {method_title(run.config.method)} · {begun}"


def one_file(name: str, exporter: Exporter, source: ExportSource) -> None:
    """A button for one of the files, with the reason where there is no such file."""
    why_not = exporter.why_not(source)
    st.download_button(
        f"{exporter.label} · {exporter.file_name}",
        data=partial(exporter.data, source),
        file_name=exporter.file_name,
        mime=exporter.mime,
        key=f"export-{name}",
        icon=":material/download:",
        type="tertiary",
        help=plain(why_not) if why_not else exporter.summary,
        disabled=why_not is not None,
        on_click="ignore",
    )


def ask_for_spreadsheets() -> bool:
    """Return whether cells that a spreadsheet would execute shall be neutralised."""
    return st.toggle(
        "Safe to open in a spreadsheet",
        key="spreadsheet-safe",
        help="Puts an apostrophe before cells of CSV and TSV files that begin with = + - or @, which a spreadsheet "
        "would execute. Programs see it; leave it off for files that go back into a tool.",
    )


def back(run: Run, source: ExportSource) -> list[str]:
    """Offer the labels where they came from; the names of these formats, none where they came from no such file."""
    found = files_of(run.config.source)
    for name, given in found.items():
        form, file = FORMATS[name], Path(given.name)
        st.subheader(f"Back into {form.tool}")
        st.caption(f"*{plain(file.name)}* as it is, with the labels in it. {form.adds} {form.queue}")
        healthy = source.health is not None and source.health.is_healthy
        labelled = f"{file.stem}{LABELLED}{file.suffix or form.suffixes[0]}"
        _offer(_plan(run, source, name), labelled, primary=healthy, safe=source.spreadsheet_safe)
    return list(found)


def into_another(run: Run, source: ExportSource, known: Collection[str]) -> None:
    """Offer the labels in any format but those they came from."""
    names = [name for name in FORMATS if name not in known]
    st.subheader("Into another format" if known else "Into a tool or a table")
    to = st.selectbox(
        "Format",
        names,
        index=names.index("csv" if "csv" in names else "xlsx"),
        format_func=lambda name: FORMATS[name].label,
        key="export-format",
        label_visibility="collapsed",
    )
    form = FORMATS[to]
    st.caption(f"The examples, their candidates and their labels in a new file. {form.queue}")
    name = f"{Path(run.config.source.name).stem}{LABELLED}{form.suffixes[0]}"
    _offer(_plan(run, source, to), name, safe=source.spreadsheet_safe)


def _offer(plan: Conversion, name: str, *, primary: bool = False, safe: bool = False) -> None:
    """A file: first what it will not hold, then the button.

    Args:
        primary: highlight the button.
        safe: neutralise cells that spreadsheets would execute.
    """
    obstacle = plan.obstacle
    if obstacle is not None:
        st.info(plain(obstacle), icon=":material/block:")
        return
    if plan.lost:
        st.warning("Not in this file:\n" + "".join(f"\n- {plain(sentence)}" for sentence in plan.lost))
    for sentence in plan.unlabelled():
        st.caption(f":material/info: {plain(sentence)}")
    doubtful_first = bool(FORMATS[plan.to].queue) and st.toggle(
        "Least certain first", value=True, key=f"first-{plan.to}", help="Else in the order of the data."
    )
    with st.container(horizontal=True):
        st.download_button(
            f"Download {plain(name)}",
            data=partial(file_content, plan, doubtful_first, safe=safe),
            file_name=name,
            mime=MIME.get(Path(name).suffix, "application/octet-stream"),
            type="primary" if primary else "secondary",
            icon=":material/download:",
            key=f"take-{plan.to}",
            on_click="ignore",
        )
        for end, text in plan.beside.items():
            st.download_button(
                "Its labelling configuration",
                data=text,
                file_name=Path(name).stem + end,
                mime=MIME[".xml"],
                type="tertiary",
                icon=":material/settings:",
                key=f"take-{plan.to}{end}",
                help="For a new project: paste it into the project's labelling interface. An old one keeps its own.",
                on_click="ignore",
            )


def file_content(plan: Conversion, uncertain_first: bool, *, safe: bool = False) -> bytes:
    """Return the file's content, made now: `data` of a download button, called when it is pressed.

    Args:
        safe: neutralise cells that spreadsheets would execute.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = plan.write(Path(folder) / f"file{FORMATS[plan.to].suffixes[0]}", uncertain_first=uncertain_first).files[
            0
        ]
        if safe:
            neutralise(file)
        return file.read_bytes()


def _plan(run: Run, source: ExportSource, to: str) -> Conversion:
    labels = run.folder.path / "labels.csv"
    made = labels.stat().st_mtime_ns if labels.exists() else 0
    return _planned(run.id, to, (made, repr(source.decisions)), run.folder, source)


@st.cache_resource(max_entries=2, show_spinner="Checking what this format can hold…")  # each may hold a copy
def _planned(run_id: str, to: str, state: tuple[int, str], _folder: RunFolder, _source: ExportSource) -> Conversion:
    """Return the plan of a conversion, cached for the present state of a run: large data takes a while to check."""
    return of_run(_folder, to, results=results_of(_folder, _source), load=session.dataset)
