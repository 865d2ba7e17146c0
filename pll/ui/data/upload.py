"""Step 1 of the data page: file upload, catalogue, files on the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from pll.catalog import Entry, available, data_folder, load, server_files
from pll.catalog.files import folder_of
from pll.catalog.sources import Source, counting_votes, joined_votes, with_own_votes
from pll.errors import UserError
from pll.formats import Format
from pll.formats.checks import listing
from pll.formats.votes import VOTES, kind_of
from pll.paths import app_root
from pll.ui import background, session
from pll.ui.format import count, format_shape, plain

UPLOAD, CATALOGUE, SERVER = "Upload a file", "Choose a dataset", "Path on the server"
SAMPLES = app_root() / "assets" / "samples"
VOTE_SAMPLES = tuple(SAMPLES.parent / "votes" / f"model-{letter}.jsonl" for letter in "ab")
"""Answers of two models about the examples of reviews.csv."""
SAMPLE = SAMPLES / "reviews.csv"
"""The one that the home page opens: texts that two people have labelled."""


def begin_with(way: str) -> None:
    """Open the data page on this way of bringing data."""
    st.session_state["way"] = way


def open_sample(*paths: Path) -> None:
    """Open sample files as if they had been uploaded; what stands in the uploader leaves it.

    Raises:
        UserError: it cannot be kept, on a full disk say.
    """
    session.remember_uploads([session.keep_upload(path.name, path.read_bytes()) for path in paths])
    st.session_state["uploaders"] = st.session_state.get("uploaders", 0) + 1
    begin_with(UPLOAD)


def _try_sample(path: Path) -> None:
    try:
        open_sample(*VOTE_SAMPLES) if path == VOTE_SAMPLES[0] else open_sample(path)
    except UserError as error:
        st.toast(plain(error), icon=":material/error:")


def upload(formats: Mapping[str, Format]) -> Source | None:
    """Show the uploader; return what the uploaded files, or the last ones of this tab, are together."""
    uploaded = st.file_uploader(
        "Data, votes of models, or both: several files are joined on the id",
        key=_uploader_key(),
        accept_multiple_files=True,
        on_change=_forget_if_taken_away,
    )
    explain_formats(formats)
    if uploaded:
        ids = [file.file_id for file in uploaded]
        if not session.last_uploads() or st.session_state.get("upload_id") != ids:  # hashing 200 MB takes a while
            session.remember_uploads([session.keep_upload(file.name, file.getvalue()) for file in uploaded])
            st.session_state["upload_id"] = ids
        return _together(session.last_uploads())
    last = session.last_uploads()
    if not last:
        st.info("Upload a file or choose a dataset to continue.", icon=":material/arrow_upward:")
        return None
    with st.container(horizontal=True, vertical_alignment="center"):
        names = listing([source.name for source in last])
        st.markdown(f":material/draft: **{plain(names)}** {'is' if len(last) == 1 else 'are'} open", width="content")
        st.button("Remove", icon=":material/close:", type="tertiary", on_click=session.forget_upload)
    return _together(last)


ONLY_VOTES = "No file of examples: votes alone"


def _together(sources: Sequence[Source]) -> Source:
    """One source of all files; where it is not clear which of several holds the examples, that is asked.

    A file of examples that comes after another takes its place: the first may have been the wrong one.
    """
    kinds = [_kind(str(source.path), source.sha256 or "") for source in sources]
    data = [source for source, kind in zip(sources, kinds, strict=True) if kind != VOTES]
    if len(sources) == 1:
        return _with_own_votes(sources[0], kinds[0])
    examples = data[0] if data else None
    if data:
        names = [*(source.name for source in data), ONLY_VOTES]
        chosen = st.selectbox(
            "Examples are in",
            range(len(names)),
            index=len(data) - 1,
            format_func=lambda k: names[k],
            help="Files of votes are joined with them on the id.",
            key=f"examples-{'-'.join((source.sha256 or '')[:8] for source in sources)}",
            persist_state="session",
        )
        examples = data[chosen] if chosen < len(data) else None
    votes = [source for source in sources if source is not examples]
    others = [source for source in data if source is not examples]
    if examples is not None and others and not _count_as_votes(others):
        votes = [source for source in votes if source not in others]
    if examples is not None:
        examples = _with_own_votes(examples, kinds[sources.index(examples)])
    return joined_votes(votes, {}, examples)


def _count_as_votes(others: Sequence[Source]) -> bool:
    """Ask whether files that do not look like votes are votes."""
    names = plain(listing([source.name for source in others]))
    counted = st.checkbox(
        f"Count {names} as votes",
        key=f"count-{'-'.join((source.sha256 or '')[:8] for source in others)}",
        persist_state="session",
    )
    if not counted:
        st.caption(f"{names} {'is' if len(others) == 1 else 'are'} left out.")
    return counted


def _with_own_votes(source: Source, kind: str) -> Source:
    """A file as its content is: votes, examples with votes of models, or examples."""
    if kind == "beside" and st.checkbox(
        f"Count the models' answers in {plain(source.name)} as votes too",
        key=f"beside-{source.sha256}",
        persist_state="session",
    ):
        return counting_votes(source)
    return with_own_votes(source)


@st.cache_data(max_entries=64, show_spinner=False)
def _kind(path: str, sha256: str) -> str:
    return kind_of(Path(path))


def _forget_if_taken_away() -> None:
    """The cross beside a file means that it shall go; the uploader empty after a change of page does not."""
    if not st.session_state.get(_uploader_key()):
        session.forget_upload()


def _uploader_key() -> str:
    """Another one after each sample: only so does an uploader forget its file."""
    return f"uploader-{opened}" if (opened := st.session_state.get("uploaders")) else "uploader"


def explain_formats(formats: Mapping[str, Format]) -> None:
    """What a file may look like, with a sample of each to open or to start from."""
    with st.popover("File formats and samples", icon=":material/help:", type="tertiary"):
        st.markdown(
            "A row is an example. The column `candidates` holds its labels, joined by `|` (`cat|dog`); or every "
            "annotator has a column. `id`, `true_label` and `split` (train or test) may follow, and every other column "
            "is a feature; you can change below what each column is. Arrays hold `X`, `candidates` as 0/1 (examples × "
            "classes), `y`, `class_names` and `ids`; research files `data`, `partial_target` and `target`."
            "\n\n**Votes of models**: batch results (JSON lines with `custom_id`), `samples_*.jsonl` of an evaluation, "
            "Argilla suggestions, Label Studio predictions, a table with a column for each model (and `MODEL_score`) "
            "or class (`prob_CLASS`), an array of probabilities. Drop several files at once, with the data or without."
        )
        st.caption("Read as: " + ", ".join(form.label for form in formats.values()) + ".")
        listing = st.container(gap=None)
        for sample in (*VOTE_SAMPLES, *sorted(SAMPLES.iterdir())):
            with listing.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.button(
                    f"Open {sample.name}" + " and all votes" * (sample == VOTE_SAMPLES[0]),
                    key=f"open-{sample.name}",
                    on_click=_try_sample,
                    args=(sample,),
                    type="tertiary",
                    icon=":material/draft:",
                )
                st.download_button(
                    "",
                    data=sample.read_bytes(),
                    file_name=sample.name,
                    key=f"sample-{sample.name}",
                    on_click="ignore",
                    type="tertiary",
                    icon=":material/download:",
                    help=f"Download {sample.name}",
                )


def choose_dataset(entries: Mapping[str, Entry]) -> Source | None:
    """Pick a dataset; one that is not on this machine yet is downloaded when asked."""
    name = st.selectbox(
        "Dataset", list(entries), format_func=lambda n: entries[n].title, key="dataset", persist_state="session"
    )
    entry = entries[name]
    st.caption(
        f"{entry.about} {count(entry.n, 'example')} of {_shape(entry.shape)}, {count(entry.c, 'class', 'classes')}. "
        f"Licence: {entry.licence}. [Source]({entry.page})"
    )
    if is_here(entry) and not _is_arriving(entry):
        return Source(name)
    offer_download(entry)
    return None


def _download_key(entry: Entry) -> str:
    return f"download {entry.name}"


def _is_arriving(entry: Entry) -> bool:
    """Whether a download of it is at work, or its result still to be taken; one that failed no longer matters."""
    job = background.board().get(_download_key(entry))
    if job is not None and job.status().state in ("failed", "stopped"):
        background.board().forget(_download_key(entry))
        return False
    return job is not None


def offer_download(entry: Entry) -> None:
    """Say that a dataset is missing, and download it in the background when asked."""
    key = _download_key(entry)
    if background.board().get(key) is None:
        place = st.empty()
        with place.container():
            st.info(
                f"{entry.title} is not on this machine yet. Download it once to continue.",
                icon=":material/cloud_download:",
            )
            label = f"Download {entry.title} ({entry.size_mb:,.0f} MB)"
            asked = st.button(
                label, type="primary", icon=":material/download:", key=key, disabled=not entry.downloadable
            )
        if not asked:
            _by_hand(entry)
            return
        place.empty()
    found = background.result_of(
        key, f"Downloading {entry.title}", lambda report: load(entry.name, progress=partial(report, "bytes"))
    )
    _by_hand(entry)
    if found is not None:
        session.keep_dataset(Source(entry.name), found)
        st.rerun()


def _by_hand(entry: Entry) -> None:
    """Where to put the files where there is no network."""
    with st.expander("No network? Copy the files by hand", icon=":material/folder_open:"):
        for file in entry.files:
            link = file.urls[0] if file.urls else file.page
            link = f"[{link}](<{link}>)" if link.startswith("http") else link
            st.markdown(f"- `{file.name}` from {link} into `{folder_of(file)}`")
        st.caption("They are checked and read from there. Any folder in `PLL_DATA_PATH` also works.")


def from_server() -> Source | None:
    """A file in an allowed folder of the server, by its path: the way for files too large to upload."""
    allowed = server_files.allowed_folders()
    if not allowed:
        st.info(
            f"No folder of this server is open to this page. Whoever runs it names some in `PLL_DATA_PATH`, or makes "
            f"`{data_folder()}`.",
            icon=":material/folder_off:",
        )
        return None
    path = st.selectbox(
        "Path on the server",
        server_files.offered(),
        index=None,
        placeholder="Choose a file, or type its path",
        accept_new_options=True,
        key="server_path",
        persist_state="session",
    )
    st.caption(f"Files are read from {' and '.join(f'`{folder}`' for folder in allowed)} only.")
    return server_files.on_server(path) if path else None


def _shape(shape: Sequence[int]) -> str:
    """What one example consists of, in words.

    >>> _shape((108,)), _shape((1, 28, 28)), _shape((3, 32, 32))
    ('108 features', '28 × 28 pixels, grey', '32 × 32 pixels, in colour')
    """
    if len(shape) == 3:
        return format_shape(shape)
    return f"{format_shape(shape)} feature{'s' * (shape != (1,))}"


def is_here(entry: Entry) -> bool:
    """Whether a dataset of the catalogue is on this machine."""
    try:
        return entry.embedded or bool(available(entry))
    except UserError:  # a file is there but it is not the right one: loading says so, in words
        return True
