"""Data page: a file, one sentence on what was understood of it, and labels for it."""

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pll.catalog import server_files
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, notes_of
from pll.formats.checks import listing
from pll.runs.config import DataConfig
from pll.ui import session, voters
from pll.ui.data import (
    candidates,
    classes_form,
    columns_form,
    loader,
    server_data,
    synthesis_form,
    understood,
    upload,
)
from pll.ui.format import plain
from pll.ui.routes import go
from pll.ui.widgets import button, show_error

HOW_LABELS_ARE_TOLD = (
    "Say which columns hold them, above or, of all columns, under *Details*: "
    f"*{columns_form.ROLE_TITLES['annotator']}* of a person, or numbers of *{columns_form.ROLE_TITLES['count']}*. Or "
    "add a column for everybody who answered, a column `candidates` (labels joined by `|`), or `true_label`."
)


def bring_data() -> Source | None:
    """The files that were dropped, or a dataset or a path that was chosen in their place."""
    if "way" not in st.session_state and "choice" in st.session_state:
        reopen(st.session_state["choice"].source)
    way = st.session_state.setdefault("way", upload.UPLOAD)
    if way == upload.UPLOAD:
        return upload.drop_area()
    back = (upload.UPLOAD,)
    button(upload.UPLOAD, upload.begin_with, *back, icon="arrow_back", kind="tertiary")
    return server_data.choose_dataset() if way == upload.CATALOGUE else server_data.from_server()


def reopen(chosen: Source) -> None:
    """Open what is being set up, where this tab has not seen it on this page: another page was loaded anew."""
    if chosen.path is None:
        upload.begin_with(upload.CATALOGUE)
        st.session_state["dataset"] = chosen.name
    elif any(Path(chosen.path).resolve().is_relative_to(folder) for folder in server_files.allowed_folders()):
        upload.begin_with(upload.SERVER)
        st.session_state["server-path"] = chosen.path
    elif upload.OPEN not in st.query_params:  # an upload, or the files that a run kept of one
        files = [Path(one.path) for one in (chosen, *chosen.votes) if one.path is not None]
        kept = [upload.store_upload(file.name, file.read_bytes()) for file in files if file.is_file()]
        st.query_params[upload.OPEN] = ",".join(dict.fromkeys((one.sha256 or "")[:16] for one in kept))


def show(brought: Source, page: DeltaGenerator, below: DeltaGenerator) -> None:
    """What was understood, the question that is open, and the way on; everything else under *Details*."""
    head, body = page.container(), page.container()
    with body:
        table = columns_form.resolved(classes_form.with_spellings(brought))
    if table.waits:
        with head:
            columns_form.show_rows(table, None)
        if not table.columns:  # they are being read
            return
    details = below.expander("Details", key="details", on_change="rerun")
    with details:
        columns_form.edit_roles(table)
    if table.waits:
        return
    with body:
        source = classes_form.mapped_votes(table)
        raw = None if source is None else columns_form.read(table, source)
        if source is None or raw is None:
            columns_form.show_rows(table, None)
            return
        edited = classes_form.put_in_order(source, raw)
        data = columns_form.checked(edited)
        if data is None:
            columns_form.show_rows(table, None)
            return
        missing = candidates.missing(data)
        ways = candidates.ways(data)[: 1 if missing else None]  # how labels are made is no question then
        columns_form.show_rows(table, data)
        if not ways:
            st.warning(without_labels(table, data), icon=":material/warning:")
            return
    with details:
        classes_form.show_classes(source, raw)
    choice = choose(edited, data, table, ways, body, details)
    annotations = data.annotations
    agreed = None if annotations is None else voters.of_data(loader.data_key(edited), annotations)
    head.markdown(f"##### {plain(understood.sentence(data, agreed, models=bool(source.vote_files)))}")
    with body:
        go_on(choice, data, table, missing)
    if choice is not None and details.open:
        with details:
            if annotations is not None and agreed is not None:
                voters.show_details(loader.data_key(edited), annotations, data.y, agreed)
            else:
                look_closer(choice, data)
            understood.notes(data)


def without_labels(table: columns_form.Columns, data: PartialLabelDataset) -> str:
    """What to do where there are no labels: which columns may be some, and how to say so."""
    unnamed = notes_of(data.notes, "labels") if data.pictures is not None else []
    if unnamed:
        return plain(" ".join(unnamed))
    words = listing([column.display_name for column in table.columns if column.role == "category"], limit=4)
    perhaps = f"Perhaps they are in {plain(words)}, now taken for words to learn from. " if words else ""
    return f"There are no labels to start from. {perhaps}{HOW_LABELS_ARE_TOLD}"


def choose(
    source: Source,
    data: PartialLabelDataset,
    table: columns_form.Columns,
    ways: list[str],
    body: DeltaGenerator,
    details: DeltaGenerator,
) -> DataConfig | None:
    """How labels are made of this data; None while a matrix is missing."""
    way = candidates.choose_way(ways, source, body, details)
    with body if way == candidates.SYNTHESISE and candidates.is_question(ways) else details:
        if way == candidates.SYNTHESISE:
            known = source if data.y is not None else columns_form.taken_for_true(source, table)
            choice = synthesis_form.make_from_truth(known, data, details)
        elif way == candidates.DOUBT:
            choice = synthesis_form.make_from_noisy_labels(source, data)
        else:
            choice = DataConfig(source if data.annotations is None else candidates.with_rule(source, data))
    with details:
        return None if choice is None else candidates.with_features(choice, data)


def go_on(choice: DataConfig | None, data: PartialLabelDataset, table: columns_form.Columns, missing: str) -> None:
    """The way to the labels, with the automatic settings or with one's own; or what is missing for it."""
    if missing:
        st.warning(plain(missing), icon=":material/warning:")
    with st.container(horizontal=True):
        is_off = choice is None or bool(missing)
        pressed = st.button("Get labels", type="primary", icon=":material/auto_awesome:", disabled=is_off)
        by_hand = st.button("Settings", icon=":material/tune:", disabled=is_off)
    if pressed or by_hand:
        columns_form.remember(table)
    if choice is not None and pressed:
        from pll.ui import controls  # late: this page is up before what trains is imported

        run = session.registry().start(candidates.automatic(choice, data))
        controls.slow_until_seen(run)
        session.choose(choice)
        session.view(run)
        go("train", run=run.id)
    if choice is not None and by_hand:
        session.choose(choice)
        session.view(None)
        go("train")


def look_closer(choice: DataConfig, data: PartialLabelDataset) -> None:
    """The candidate sets as they are or as they were made, with features."""
    made = loader.prepared(choice)
    if made is not None:
        synthesis_form.show_result(choice, data, made)
        understood.warnings(made, data.notes)
        understood.figures(made)
        understood.charts_of(made)


st.title("Data")
brought = None
page, below = st.container(), st.container()
with page:
    try:
        brought = bring_data()
        if brought is not None:
            show(brought, page, below)
    except UserError as error:
        show_error(error)
