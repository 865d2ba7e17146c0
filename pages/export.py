"""Export page: preview and download of labels and models."""

from dataclasses import replace
from functools import partial

import streamlit as st

from pll.colors import percent
from pll.errors import UserError
from pll.export import ExportSource, archive_data, archive_name, parts_of, preview
from pll.export.run_export import export_source
from pll.runs import runner
from pll.runs.manifest import unverified
from pll.runs.run import Run
from pll.ui import health_notice, session
from pll.ui.export import certificate, download
from pll.ui.format import count, headline, plain, without_none
from pll.ui.routes import go, link

PREVIEWED = 200


def nothing_yet() -> None:
    """No run has a result."""
    st.info(
        "Nothing to export yet. Train on your data first; then download labels and model here.",
        icon=":material/download:",
    )
    if st.button("Upload or choose data", type="primary", icon=":material/arrow_forward:"):
        go("data")


def offer(run: Run) -> None:
    """The labels, and every form they can be taken away in."""
    source = export_source(run.folder, run.parts())
    share, of_what = headline(source.metrics)
    n = len(source.order) or len(source.ids)
    held = 0 if source.held is None else len(source.held)
    silent = 0 if source.held is None or source.held.unanswered is None else int(source.held.unanswered.sum())
    why = [
        *(["held out from training"] if held > silent else []),
        *([f"{silent:,} without an answer"] if silent else []),
    ]
    predicted = f", {held:,} of them predicted ({', '.join(why)})" if held else ""
    st.markdown(f"**{plain(source.name)}** — {count(n, 'label')}{predicted}, {percent(share)} {of_what}")
    if source.no_answer:
        st.caption(
            f"{count(len(source.no_answer), 'example')} without an answer and without features: no label. The ids are "
            "in no_answer.csv below."
        )
    if source.review_summary:
        st.caption(source.review_summary)
    said = run.parts().train.annotations
    if said is not None and not said.anonymous:
        st.caption(f":material/info: {runner.VOTES_CONFIDENCE}")
    health_notice.show(source.health)
    st.dataframe(
        without_none(preview(source, rows=PREVIEWED)),
        hide_index=True,
        height=320,
        key="preview",
        alt="Labels of this run",
    )
    if n > PREVIEWED:
        st.caption(f"The first {PREVIEWED} of {count(n, 'label')}. The files below hold all of them.")
    for note in unverified(run.folder.path):
        st.caption(f":material/info: {plain(note)}")
    source = replace(source, spreadsheet_safe=download.ask_for_spreadsheets())
    away, files = st.columns(2, gap="large")
    with away:
        known = download.back(run, source)
        download.into_another(run, source, known)
    with files:
        certificate.draw(run, source)
        everything(source)
        one_by_one(source)


def everything(source: ExportSource) -> None:
    """All files of a run at once."""
    st.subheader("Everything in one ZIP")
    st.caption("Labels, label weights and the model in every form, with a README that says how to use each.")
    st.download_button(
        "Download all",
        data=partial(archive_data, source),
        file_name=archive_name(source),
        mime="application/zip",
        icon=":material/folder_zip:",
        on_click="ignore",
    )


def one_by_one(source: ExportSource) -> None:
    """The same files, each for itself."""
    st.subheader("Single files")
    with st.container(gap=None, key="export-single-files"):
        for name, exporter in parts_of(source).items():
            if name not in certificate.FILES:  # those have a place of their own
                download.one_file(name, exporter, source)


st.title("Export")
try:
    in_view = session.run_in_view()
    runs = download.runs_with_result()
    if in_view is None and not runs:
        nothing_yet()
    else:
        download.choose_run(in_view, runs)
    if in_view is not None:
        offer(in_view)
except UserError as error:
    st.error(plain(error), icon=":material/error:")
    link("train", "Back to training")
