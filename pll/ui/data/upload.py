"""The drop area of the data page: what the files that were dropped are together, and samples to try."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from pll.catalog.sources import Source, counting_votes, joined_votes, with_own_votes
from pll.errors import UserError, explain
from pll.formats import FORMATS
from pll.formats.checks import listing
from pll.formats.together import in_one_archive
from pll.formats.votes import VOTES_FORMAT, kind_of
from pll.io import check_free_space, stored_name, write_bytes, zipped
from pll.paths import app_root
from pll.ui import login
from pll.ui.format import plain
from pll.ui.widgets import beside, button, choose, download

UPLOAD, CATALOGUE, SERVER = "Upload a file", "Choose a dataset", "Path on the server"
"""Ways to bring data; the page begins with the first."""
SAMPLES = app_root() / "assets" / "samples"
VOTE_SAMPLES = tuple(SAMPLES.parent / "votes" / f"model-{letter}.jsonl" for letter in "ab")
"""Answers of two models about the examples of reviews.csv."""
SAMPLE = SAMPLES / "reviews.csv"
"""The one that the home page opens: texts that two people have labelled."""
OPEN = "open"
"""Name of the files that are open in the address."""
REOPENED = "reopened"
"""Key of the session state for the hashes of the files that a reload opened: their roles come back too."""
ONLY_VOTES = "No file of examples: votes alone"


def uploads_folder() -> Path:
    """Return the folder of uploads of whoever is at this page."""
    return login.own_folder("uploads")


def store_upload(name: str, content: bytes) -> Source:
    """Store an uploaded file under its hash, and say where it is; UserError where it cannot be written.

    Parameters
    ----------
    name
        As the browser gives it; a path before it is left out.
    content
        Its bytes.
    """
    digest = hashlib.sha256(content).hexdigest()
    file = uploads_folder() / digest[:16] / stored_name(name)
    try:
        if file.exists():
            os.utime(file)  # needed again: it is kept as long as a new one
        else:
            check_free_space(file, len(content), Path(name).name)
            write_bytes(file, content)
    except OSError as error:
        raise UserError(f"{Path(name).name} cannot be kept: {explain(error)}") from error
    return Source(name=Path(name).name, path=str(file), sha256=digest)


def remember_uploads(sources: Sequence[Source]) -> None:
    """Remember kept files as the last ones of this tab."""
    st.session_state["uploads"] = list(sources)


def _forget_upload() -> None:
    """Forget the uploaded files."""
    st.session_state.pop("uploads", None)
    st.query_params.pop(OPEN, None)


def last_uploads() -> list[Source]:
    """Return the files of the last upload, in the order of their choice; the uploader forgets them with its page."""
    return list(st.session_state.get("uploads", ()))


def _keep_in_address() -> None:
    """Have the address name the files that are open, by their hash, so that a reload opens them again."""
    named = st.query_params.get(OPEN, "")
    if "uploads" not in st.session_state and re.fullmatch(r"[0-9a-f,]+", named):
        folders = [uploads_folder() / name for name in named.split(",") if name]
        kept = [sorted(one.glob("*"), key=lambda file: file.stat().st_mtime)[-1:] for one in folders]  # of one content
        remember_uploads([store_upload(file.name, file.read_bytes()) for latest in kept for file in latest])
        st.session_state[REOPENED] = [source.sha256 for source in last_uploads()]
    last = ",".join((source.sha256 or "")[:16] for source in last_uploads())
    if last and last != named:
        st.query_params[OPEN] = last


def begin_with(way: str) -> None:
    """Open the data page on this way of bringing data."""
    st.session_state["way"] = way


def open_sample(*paths: Path) -> None:
    """Open sample files as if they had been uploaded; what stands in the uploader leaves it."""
    remember_uploads([store_upload(path.name, path.read_bytes()) for path in paths])
    st.session_state["uploaders"] = st.session_state.get("uploaders", 0) + 1
    begin_with(UPLOAD)


def drop_area() -> Source | None:
    """Show the drop area; return what the dropped files, or the last ones of this tab, are together."""
    _keep_in_address()
    uploaded = st.container(key="open" if last_uploads() else "drop").file_uploader(
        "Tables, pictures in a ZIP, exports of tools; several are joined on their ids",
        key=_uploader_key(),
        accept_multiple_files=True,
        on_change=_forget_if_taken_away,
    )
    if uploaded:
        ids = [file.file_id for file in uploaded]
        if not last_uploads() or st.session_state.get("upload-id") != ids:  # hashing 200 MB takes a while
            remember_uploads([store_upload(file.name, file.getvalue()) for file in uploaded])
            st.session_state["upload-id"] = ids
            _keep_in_address()
        return _together(last_uploads())
    last = last_uploads()
    if not last:
        with st.container(horizontal=True):
            _explain_formats()
            for way, icon in ((CATALOGUE, "dataset"), (SERVER, "folder_open")):
                button(way, begin_with, way, icon=icon, kind="tertiary")
        return None
    with beside():
        names = listing([source.name for source in last])
        st.markdown(f":material/draft: **{plain(names)}** {'is' if len(last) == 1 else 'are'} open", width="content")
        button("Remove", _forget_upload, icon="close", kind="tertiary")
    return _together(last)


def _forget_if_taken_away() -> None:
    """The cross beside a file removes it; an uploader that is empty after a change of page does not."""
    if not st.session_state.get(_uploader_key()):
        _forget_upload()


def _uploader_key() -> str:
    """Another one after each sample: only so does an uploader forget its file."""
    return f"uploader-{opened}" if (opened := st.session_state.get("uploaders")) else "uploader"


def _together(sources: Sequence[Source]) -> Source:
    """One source of all files; where it is not clear which of several holds the examples, that is asked.

    A file of examples that comes after another takes its place: the first may have been the wrong one.
    """
    kinds = [_kind(str(source.path), source.sha256 or "") for source in sources]
    data = [source for source, kind in zip(sources, kinds, strict=True) if kind != VOTES_FORMAT]
    if len(sources) == 1:
        return _with_own_votes(sources[0], kinds[0])
    together = None if any(kinds) else _in_one_archive(tuple(str(source.path) for source in sources))
    if together is not None:
        return together
    examples = data[0] if data else None
    if data:
        names = dict(enumerate([*(source.name for source in data), ONLY_VOTES]))
        key = f"examples-{'-'.join((source.sha256 or '')[:8] for source in sources)}"
        hint, last = "Files of votes are joined with them on the id.", len(data) - 1
        chosen = choose("Examples are in", names, index=last, help=hint, key=key, persist_state="session")
        examples = data[chosen] if chosen < len(data) else None
    votes = [source for source in sources if source is not examples]
    others = [source for source in data if source is not examples]
    if examples is not None and others and not _count_as_votes(others):
        votes = [source for source in votes if source not in others]
    if examples is not None:
        examples = _with_own_votes(examples, kinds[sources.index(examples)])
    return joined_votes(votes, examples)


@st.cache_data(max_entries=16, show_spinner=False)
def _in_one_archive(paths: tuple[str, ...]) -> Source | None:
    """The archive that files, whose paths have their hashes, could have come in; None where they are not one."""
    files = in_one_archive([Path(path) for path in paths])
    name = next((Path(path).name for path in paths if path.endswith(".zip")), f"{len(paths)} files.zip")
    return None if files is None else store_upload(name, zipped(files))


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


def _explain_formats() -> None:
    """What a file may look like, with a sample of each to open or to start from."""
    with st.popover("File formats and samples", icon=":material/help:", type="tertiary"):
        st.markdown(
            "A row is an example. Everybody who answered has a column, or `candidates` holds the labels that are "
            "possible, joined by `|` (`cat|dog`). `id`, `true_label` and `split` (train or test) may follow; other "
            "columns are learnt from. Arrays hold `X`, `candidates` as 0/1 (examples × classes), `y`, `class_names` "
            "and `ids`; research files `data`, `partial_target` and `target`."
            "\n\n**Votes of models**: batch results (JSON lines with `custom_id`), `samples_*.jsonl` of an evaluation, "
            "Argilla suggestions, Label Studio predictions, a table with a column for each model (and `MODEL_score`) "
            "or class (`prob_CLASS`), an array of probabilities. Drop several files at once, with the data or without."
        )
        st.caption("Read as: " + ", ".join(form.label for form in FORMATS.values()) + ".")
        listing = st.container(gap=None)
        for sample in (*VOTE_SAMPLES, *sorted(SAMPLES.iterdir())):
            with listing.container(horizontal=True, vertical_alignment="center", gap="small"):
                button(
                    f"Open {sample.name}" + " and all votes" * (sample == VOTE_SAMPLES[0]),
                    open_sample,
                    *VOTE_SAMPLES if sample == VOTE_SAMPLES[0] else (sample,),
                    icon="draft",
                    key=f"open-{sample.name}",
                    kind="tertiary",
                )
                key, hint = f"sample-{sample.name}", f"Download {sample.name}"
                download("", sample.read_bytes, sample.name, key=key, kind="tertiary", help=hint)
