"""Export page: the labels of a run in the tool's own form, as a table, and everything else for engineers."""

from dataclasses import replace

import streamlit as st

from pll.errors import UserError
from pll.export.run_export import export_source
from pll.export.source import ExportSource, preview
from pll.review.status import ReviewStatus
from pll.runs import fit_loop
from pll.runs.files import LABELS_FILE
from pll.runs.run import Run
from pll.ui import session
from pll.ui.choose_run import choose_run, has_labels
from pll.ui.export import download, labelstudio
from pll.ui.format import plain
from pll.ui.not_yet import not_yet
from pll.ui.routes import link
from pll.ui.train.ended import came_to, show_disputes, show_health, show_successor
from pll.ui.widgets import beside, folded, show_error, show_table
from pll.ui.widgets import download as download_file
from pll.wording import count

PREVIEWED = 200
PREVIEW_COLUMNS = ["id", "identified_label", "confidence", "source", "true_label"]
"""Columns of labels.csv that the page shows."""


def offer(run: Run) -> None:
    """The labels, and every form they can be taken away in."""
    try:
        splits = run.splits()
    except UserError as error:
        show_error(error)
        stored(run)
        return
    source = replace(export_source(run.folder, splits), spreadsheet_safe=bool(st.session_state.get(download.SAFE)))
    annotations = splits.train.annotations
    alone = not source.estimator.needs_features
    status, sentence = came_to(run, source.splits, source.certainty, source.health, votes_alone=alone)
    st.markdown(f"**{plain(source.name)}:** {plain(sentence)}")
    tell(run, source, status)
    table = preview(source, rows=PREVIEWED)[PREVIEW_COLUMNS]
    confidence = table["confidence"].astype(float)
    confidence = confidence.where(confidence >= 1, confidence.round(4).clip(upper=0.9999))  # what is below 1 stays so
    is_whole = bool(confidence.notna().all())  # numbers and blanks do not go together in a column
    table["confidence"] = confidence if is_whole else confidence.map("{:.4f}".format, na_action="ignore")
    table = table.where(table.notna(), "")  # as the files have it: a person reads None as a label
    empty = [name for name in ("source", "true_label") if len(set(table[name])) < 2]
    formats = {"confidence": "%.4f"} if is_whole else None
    columns = table.drop(columns=empty)
    show_table(columns, "Labels of this run", formats=formats, names=list(columns), height=215, key="preview")
    download.certified(run, source)
    back = download.back(run, source, is_first=source.certified is None)
    download.labels(source, is_first=source.certified is None and not back)
    with st.expander("Other formats", icon=":material/swap_horiz:"):
        download.into_another(run, source, back)
    folded("Connect Label Studio", labelstudio.panel, run, key="labelstudio", icon="link")
    with st.expander("For engineers", icon=":material/data_object:"):
        if annotations is not None and not annotations.anonymous and status.is_known:
            st.caption(fit_loop.VOTES_CONFIDENCE)
        download.everything(source)


def stored(run: Run) -> None:
    """What a run whose data is gone has in its folder: the labels; all other files are made of both."""
    with beside():
        labels = run.folder.path / LABELS_FILE
        download_file("Download labels.csv", labels.read_bytes, LABELS_FILE, key="stored-labels")
        st.caption("As the run wrote it when it ended: without what was decided since.", width="content")
    link("data", "Start from the file again")


def tell(run: Run, source: ExportSource, status: ReviewStatus) -> None:
    """Whether the labels can be used, and what a review has changed."""
    left = len(source.splits.no_answer)
    if left:
        st.caption(f"{count(left, 'example')} without an answer: their ids are under *For engineers*.")
    show_successor(run, "export")
    show_disputes(run)
    if not status.certificate:  # which says more than a run's health
        show_health(source.health, is_reviewed=status.decided > 0)


in_view, problem = None, None
try:
    in_view = session.run_in_view()
except UserError as error:  # it was deleted, or is damaged
    problem = error
try:
    if in_view is not None and (in_view.is_alive() or not has_labels(in_view)):
        not_yet(in_view, "export")
    else:
        st.title("Export")
        if problem is not None:
            show_error(problem)
        choose_run(in_view, "export", "download")
        if in_view is not None:
            offer(in_view)
except UserError as error:
    show_error(error)
    link("train", "Back to training")
