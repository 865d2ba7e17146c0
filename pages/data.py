"""Data page: upload or choose data, make candidates, check them."""

import streamlit as st

from pll import catalog
from pll.analysis.readiness import warnings_about
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import FORMATS
from pll.formats.tabular.builder import JOINED
from pll.ui import session
from pll.ui.data import annotators, candidates, check, classes_form, loader, synthesis_form, upload, votes_form, wizard
from pll.ui.format import count, plain
from pll.ui.routes import go


def bring_data() -> Source | None:
    """Step 1: a file, or a dataset of the catalogue."""
    st.subheader("1 · Upload or choose data")
    st.session_state.setdefault("way", upload.UPLOAD)
    way = st.segmented_control(
        "How",
        [upload.UPLOAD, upload.CATALOGUE, upload.SERVER],
        required=True,
        key="way",
        label_visibility="collapsed",
        persist_state="session",
    )
    if way == upload.UPLOAD:
        return upload.upload(FORMATS)
    return upload.choose_dataset(catalog.CATALOG) if way == upload.CATALOGUE else upload.from_server()


def make_candidates(source: Source, data: PartialLabelDataset) -> candidates.Offer | None:
    """Step 2: where the candidate sets come from, and the features."""
    st.subheader("2 · Candidates")
    ways = candidates.ways(data)
    if not ways:
        for note in data.notes:  # a header that was none, say
            if note not in wizard.shown_notes(source):
                st.caption(f":material/info: {plain(note)}")
        if not wizard.ask_for_labels(source):
            st.warning(
                f"{plain(data.name)} has no labels to start from. Add a column `candidates` (labels joined by `|`), a "
                "column for each annotator, or `true_label`; or say above what its columns are.",
                icon=":material/warning:",
            )
        return None
    make = {
        candidates.AS_THEY_ARE: annotators.choose_rule,
        candidates.SYNTHESISE: synthesis_form.make_from_truth,
        candidates.DOUBT: synthesis_form.make_from_noisy_labels,
    }[candidates.choose_way(ways, source, data)]
    return make(source, data)


def check_data(choice: session.ChosenData, data: PartialLabelDataset) -> None:
    """Step 3: look at it, and go on."""
    st.subheader("3 · Check")
    for note in data.notes:
        if note not in wizard.shown_notes(choice.source) and not note.startswith(JOINED):
            st.caption(f":material/info: {plain(note)}")
    for warning in warnings_about(data)[len(data.notes) :]:
        st.warning(plain(warning), icon=":material/warning:")
    check.figures(data)
    if st.button("Train on this", type="primary", icon=":material/arrow_forward:"):
        session.choose(choice)
        session.view(None)
        go("train")
    check.examples(data)
    check.charts_of(data)


def show(source: Source) -> None:
    """Show the remaining steps for the chosen data, as far as it has been read."""
    settled = wizard.edited_columns(source)
    if settled is None:
        return
    voted = votes_form.mapped_votes(settled)
    if voted is None:
        return
    source = voted
    raw = wizard.read_or_number(source)
    if raw is None:
        return
    source, raw = classes_form.edited_classes(source, raw)
    if source.path is not None:
        classes = count(raw.n_classes, "class", "classes") if raw.n_classes else "no labels yet"
        st.caption(f"{plain(raw.name)}: {count(len(raw), 'example')}, {classes}")
    offer = make_candidates(source, raw)
    if offer is None:
        return
    choice = candidates.with_features(offer.choice, raw)
    made = loader.prepared(choice, session.dataset(choice.source) if choice.source.rule else raw)
    if made is not None:
        synthesis_form.show_result(offer, raw, made)
        check_data(choice, made)


st.title("Data")
try:
    brought = bring_data()
    if brought is not None:
        show(brought)
except UserError as error:
    st.error(plain(error), icon=":material/error:")
