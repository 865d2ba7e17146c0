"""Data that is here already: the datasets of the catalogue, and files in the folders that the server opens."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from pll.catalog import CATALOG, Entry, available, data_folder, load, server_files
from pll.catalog.files import folder_of
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import Progress
from pll.runs.jobs import Job, default_board
from pll.ui import job_progress
from pll.ui.data import loader
from pll.ui.format import format_shape
from pll.ui.widgets import button, choose
from pll.wording import count


def choose_dataset() -> Source | None:
    """Pick a dataset; one that is not on this machine yet is downloaded when asked."""
    titles = {name: entry.title for name, entry in CATALOG.items()}
    name = choose("Dataset", titles, key="dataset", persist_state="session")
    entry = CATALOG[name]
    what = f"{count(entry.n, 'example')} of {format_shape(entry.shape)}, {count(entry.c, 'class', 'classes')}"
    st.caption(f"{entry.about} {what}. Licence: {entry.licence}. [Source]({entry.page})")
    job = download_of(entry)
    if is_here(entry) and (job is None or job.status().state in ("failed", "stopped")):  # else it may still arrive
        return Source(name)
    offer_download(entry)
    return None


def download_of(entry: Entry) -> Job | None:
    """Return the download of a dataset: at work, failed, or with a result still to be taken; None without one."""
    return default_board().get(f"download {entry.name}")


def begin_download(entry: Entry) -> None:
    """Download a dataset in the background."""
    default_board().start(f"download {entry.name}", _loading(entry))


def follow_download(entry: Entry) -> None:
    """Show how far a download is; once the dataset is here, the page is run again."""
    data = job_progress.result_of(f"download {entry.name}", f"Downloading {entry.title}", _loading(entry))
    if data is not None:
        loader.cached("dataset", loader.data_key(Source(entry.name)), lambda: data)
        st.rerun()


def _loading(entry: Entry) -> Callable[[Progress], PartialLabelDataset]:
    return lambda report: load(entry.name, progress=partial(report, "bytes"))


def offer_download(entry: Entry) -> None:
    """Say that a dataset is missing, and download it in the background when asked."""
    if download_of(entry) is None:
        sentence = f"{entry.title} is not on this machine yet. Download it once to continue."
        st.info(sentence, icon=":material/cloud_download:")
        label, is_off = f"Download {entry.title} ({entry.size_mb:,.0f} MB)", not entry.downloadable
        button(label, begin_download, entry, icon="download", kind="primary", disabled=is_off, key=f"get-{entry.name}")
    else:
        follow_download(entry)
    _by_hand(entry)


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
        key="server-path",
        persist_state="session",
    )
    st.caption(f"Files are read from {' and '.join(f'`{folder}`' for folder in allowed)} only.")
    return server_files.on_server(path) if path else None


def is_here(entry: Entry) -> bool:
    """Whether a dataset of the catalogue is on this machine."""
    try:
        return entry.embedded or bool(available(entry))
    except UserError:  # a file is there but it is not the right one: loading says so, in words
        return True
