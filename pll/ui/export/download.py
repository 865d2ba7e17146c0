"""Downloads of a run's labels: in the source file's format, or in another; of the certificate, where there is one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Literal

import streamlit as st

from pll.errors import UserError
from pll.export.bundle import archive_data, archive_name
from pll.export.convert import Conversion, certified_results, files_of, has_a_row_an_answer, of_run, results_of
from pll.export.parts import EXPORTS, Exporter, exporters_of
from pll.export.run_export import export_source
from pll.export.source import ExportSource
from pll.export.spreadsheet import neutralise
from pll.formats import FORMATS, Results
from pll.runs.folder import RunFolder
from pll.runs.run import Run
from pll.ui.data import loader
from pll.ui.format import plain
from pll.ui.review import service
from pll.ui.routes import link
from pll.ui.widgets import Kind, beside, choose, download, show_errors

SAFE = "spreadsheet-safe"
"""Key of the switch that neutralises cells which spreadsheets would execute."""
BY_EXAMPLE = "One row an example, with everybody's answers side by side."
CERTIFICATE_FILES = ("final", "certificate-page", "certificate")
"""What there is of a certificate, by the names of `EXPORTS`."""
ELSEWHERE = ("labels-csv", *CERTIFICATE_FILES)
"""Files that have a place of their own on the page."""


def _one_file(name: str, exporter: Exporter, source: ExportSource, *, is_first: bool = False) -> None:
    """A button for one of the files, with the reason where there is no such file."""
    why_not = exporter.why_not(source)
    download(
        f"Download {exporter.file_name}",
        partial(exporter.data, source),
        exporter.file_name,
        key=f"export-{name}",
        kind=_kind(is_first),
        help=plain(why_not) if why_not else f"{exporter.label}. {exporter.summary}",
        disabled=why_not is not None,
    )


def _kind(is_first: bool) -> Kind:
    return "primary" if is_first else "secondary"


def back(run: Run, source: ExportSource, *, results: Results | None = None, is_first: bool) -> list[str]:
    """Offer the labels in the file they came from; the names of its formats, none where they came from no such file.

    Parameters
    ----------
    run
        The run.
    source
        What is exported of it.
    results
        The labels where they are not those of the run: certified ones.
    is_first
        Whether the button may stand out; it does where the labels are healthy or certified.
    """
    uploads = files_of(run.config.source)
    stands_out = is_first and (results is not None or source.is_healthy)
    for name, content in uploads.items():
        labelled = _file_name(content.name, name, "labelled" if results is None else "certified")
        plan = (
            partial(_plan, run, source, name)
            if results is None
            else partial(of_run, run.folder, name, results=results, load=loader.dataset)
        )
        _offer(plan, labelled, about=FORMATS[name].adds, is_first=stands_out, safe=source.spreadsheet_safe)
        if results is None and has_a_row_an_answer(content):
            short = _file_name(content.name, name, "by-example")
            by_example = partial(_plan, run, source, name, by_example=True)
            _offer(by_example, short, about=BY_EXAMPLE, safe=source.spreadsheet_safe)
    return list(uploads)


def certified(run: Run, source: ExportSource) -> None:
    """What the certificate says, and its labels; of a run whose review went on with another one, too.

    Parameters
    ----------
    run
        The run.
    source
        What is exported of it, with its certificate where one is earned.
    """
    if source.certified is None:
        review = service.queue_of(run).review if service.is_begun(run) else None
        if review is not None and review.own.run == run.id and review.latest_certification is not None:
            st.info("These labels are not certified yet.", icon=":material/hourglass_bottom:")
            link("review", "Continue the review", run=run.id)
        return
    st.markdown(f"**Certified labels.** {source.certified.document['result']['statement']}")
    results = certified_results(run.folder, source)
    own = back(run, source, results=results, is_first=True)
    exporters = exporters_of(source)
    with st.container(horizontal=True, key="certificate"):
        for name in CERTIFICATE_FILES:
            _one_file(name, exporters[name], source, is_first=name == "final" and not own)
    st.caption("Anyone can check certificate.json: `candid verify certificate.json`.")


def labels(source: ExportSource, *, is_first: bool) -> None:
    """Offer labels.csv.

    Parameters
    ----------
    source
        What is exported of a run.
    is_first
        Whether the button may stand out; it does where the labels are healthy.
    """
    with beside():
        first = is_first and source.is_healthy
        _one_file("labels-csv", exporters_of(source)["labels-csv"], source, is_first=first)
        blank = "" if source.certainty.is_known.all() else ", blank where that was not found out"
        st.caption(f"A row an example: its label and how sure it is{blank}.", width="content")


def in_hand(run: Run, *, is_first: bool) -> None:
    """Offer the labels of a run that has ended in the file they came from, and labels.csv; made when pressed.

    The page runs, too: of a run that was deleted elsewhere it says so, where no file can be made.

    Parameters
    ----------
    run
        A run that has ended.
    is_first
        Whether the first button stands out.
    """
    try:
        own = next(iter(files_of(run.config.source).items()), None)
    except UserError:  # its file is gone, as the export page says
        own = None
    offer = partial(download, on_click="rerun")
    if own is not None:
        name, labelled = own[0], _file_name(own[1].name, own[0], "labelled")
        offer("Download", partial(_own_file, run, name), labelled, key="take-own", kind=_kind(is_first))
    label, kind = ("Download", _kind(is_first)) if own is None else ("labels.csv", _kind(False))
    offer(label, partial(made_now, run, "labels-csv"), "labels.csv", key="take-labels", kind=kind)


def _own_file(run: Run, to: str) -> bytes:
    results = results_of(run.folder, export_source(run.folder, run.splits()))
    return file_content(of_run(run.folder, to, results=results), bool(FORMATS[to].queue))


def made_now(run: Run, name: str) -> bytes:
    """Return a file of a run as it is when the button is pressed.

    Parameters
    ----------
    run
        A run that has ended.
    name
        Of `EXPORTS`.
    """
    return EXPORTS[name].data(export_source(run.folder, run.splits()))


def _file_name(source: str, form: str, ending: Literal["labelled", "certified", "by-example"]) -> str:
    """What a file is called once it has the labels of a run, those of a certificate, or a row an example."""
    file = Path(source)
    return f"{file.stem}-{ending}{file.suffix or FORMATS[form].suffixes[0]}"


def into_another(run: Run, source: ExportSource, own: Collection[str]) -> None:
    """Offer the labels in any format but those they came from.

    Parameters
    ----------
    run
        The run.
    source
        What is exported of it.
    own
        Names of the formats that it came from, which are offered elsewhere.
    """
    names = [name for name in FORMATS if name not in own]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        usual = names.index("csv" if "csv" in names else "xlsx")
        titles = {name: FORMATS[name].label for name in names}
        to = choose("Format", titles, index=usual, key="export-format", width=320)
        st.toggle(
            "Safe to open in a spreadsheet",
            key=SAFE,
            help="Puts an apostrophe before cells of CSV and TSV files that begin with = + - or @, which a spreadsheet "
            "would execute. Programs see it; leave it off for files that go back into a tool.",
        )
    name = f"{Path(run.config.source.name).stem}-labelled{FORMATS[to].suffixes[0]}"
    _offer(partial(_plan, run, source, to), name, about="", safe=source.spreadsheet_safe)


def everything(source: ExportSource) -> None:
    """All files of a run in one ZIP, and each for itself."""
    hint = "Labels, label weights and the model in every form, with a README that says how to use each."
    data, name = partial(archive_data, source), archive_name(source)
    download("Download all", data, name, key="export-all", icon="folder_zip", help=hint)
    with st.container(horizontal=True, key="export-single-files"):
        for name, exporter in exporters_of(source).items():
            if name not in ELSEWHERE:
                _one_file(name, exporter, source)


@show_errors  # one file that cannot be made takes no other with it
def _offer(
    planned: Callable[[], Conversion], name: str, *, about: str, is_first: bool = False, safe: bool = False
) -> None:
    """Offer a file, with a sentence about what it holds, and what it does not."""
    plan = planned()
    if plan.obstacle is not None:
        st.info(plain(plan.obstacle), icon=":material/block:")
        return
    key = f"{plan.to}-{name}"  # a format may be there twice: with the labels of the run, and with certified ones
    uncertain_first = bool(FORMATS[plan.to].queue) and st.session_state.get(f"first-{key}", True)
    with beside():
        content = partial(file_content, plan, uncertain_first, safe=safe)
        download(f"Download {plain(name)}", content, name, key=f"take-{key}", kind=_kind(is_first))
        for end, text in plan.extra_files.items():
            download(
                "Its labelling configuration",
                text,
                Path(name).stem + end,
                key=f"take-{key}{end}",
                kind="tertiary",
                icon="settings",
                help="For a new project: paste it into the project's labelling interface. An old one keeps its own.",
            )
        if FORMATS[plan.to].queue:
            st.toggle(
                "Least certain first",
                value=True,
                key=f"first-{key}",
                help=f"Else in the order of the data. {FORMATS[plan.to].queue}",
            )
        if about:
            st.caption(about, width="content")
    lost = [plain(sentence) for sentence in plan.lost]
    if lost:
        st.caption(f":material/info: Not in this file: {' '.join(lost)}")
    for sentence in [*filter(None, [plan.why_anew]), *plan.unlabelled()]:
        st.caption(f":material/info: {plain(sentence)}")


def file_content(plan: Conversion, uncertain_first: bool, *, safe: bool = False) -> bytes:
    """Return the file's content, made when the button is pressed; `safe` neutralises what spreadsheets execute.

    Parameters
    ----------
    plan
        What is written, and in which format.
    uncertain_first
        Whether the least certain examples lead, in formats that are a queue.
    safe
        Whether cells that a spreadsheet would execute are neutralised.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"file{FORMATS[plan.to].suffixes[0]}"
        file = plan.write(place, uncertain_first=uncertain_first).files[0]
        if safe:
            neutralise(file)
        return file.read_bytes()


def _plan(run: Run, source: ExportSource, to: str, *, by_example: bool = False) -> Conversion:
    labels = run.folder.path / "labels.csv"
    made = labels.stat().st_mtime_ns if labels.exists() else 0
    return _planned(run.id, to, by_example, (made, repr(source.decisions)), run.folder, source)


@st.cache_resource(max_entries=3, show_spinner="Checking what this format can hold…")  # each may hold a copy
def _planned(
    run_id: str, to: str, by_example: bool, state: tuple[int, str], _folder: RunFolder, _source: ExportSource
) -> Conversion:
    """Return the plan of a conversion, cached for the present state of a run: large data takes a while to check."""
    results = results_of(_folder, _source)
    return of_run(_folder, to, results=results, load=loader.dataset, by_example=by_example)
