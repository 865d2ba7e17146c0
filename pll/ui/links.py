"""Share links: open one, ask for missing data, create one, and lesson mode.

What a link sets up is the page's own: a run (`pll.ui.train.sharing`), lanes (`pll.ui.compare.sharing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from pll import catalog
from pll.catalog.sources import Source
from pll.errors import UserError
from pll.formats.checks import listing
from pll.runs.link import FINGERPRINT, Look, Share
from pll.runs.snapshots import ComparisonSnapshot, Snapshot
from pll.runs.worker import Worker
from pll.ui import session
from pll.ui.data import upload
from pll.ui.format import plain
from pll.ui.session import ChosenData

W = TypeVar("W", bound=Worker)
AT_ONCE, WAITING = "Trains at once", "Waits before epoch 1"


# ---- a link that is opened -------------------------------------------------------------------------------------------


def page(
    opened: Callable[[], W | None],
    in_view: Callable[[], W | None],
    follow: Callable[[W], None],
    prepare: Callable[[], None],
) -> None:
    """Draw a page: what its address opens, else what this tab showed last, else the form for a new one.

    Args:
        opened: sets up what the link in the address describes; None where something has to be given first.
        in_view: what this tab looked at last.
        follow: draws it.
        prepare: shows how to start a new one.
    """
    found = None
    try:
        found = opened() if _is_link() else in_view()
    except UserError as error:
        st.error(plain(error), icon=":material/link_off:")
        if _is_link():
            st.button("Continue without this link", key="without-link", on_click=st.query_params.clear)
    if found is not None:
        follow(found)
    elif not _is_link():
        prepare()


def _is_link() -> bool:
    return "link" in st.query_params


def address_query() -> dict[str, list[str]]:
    """Every part of the address, by name."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def resolve_link(
    kind: session.Kind, query: dict[str, list[str]], get: Callable[[str], W], begin: Callable[[], W | None]
) -> W | None:
    """Return what the link in the address set up in this tab; set it up the first time.

    Args:
        kind: the part of the address that holds its id, `run` or `comparison`.
        query: the address.
        get: finds it by its id.
        begin: sets it up; None where something has to be given, or Start to be pressed, first.
    """
    opened: dict[str, str] = st.session_state.setdefault("opened-links", {})
    mark = _mark(query)
    for known in (session.id_in_address(kind), opened.get(mark)):
        if known is not None:
            try:
                return get(known)
            except UserError:  # of another machine, or deleted: set up once more
                pass
    begun = begin()
    if begun is not None:
        opened[mark] = begun.id
    return begun


def _mark(query: Mapping[str, Sequence[str]]) -> str:
    """Key of a link: all but the ids of the runs that it started."""
    return repr(sorted((name, values) for name, values in query.items() if name not in ("run", "comparison")))


def asked_to_start(share: Share, lines: Sequence[str]) -> bool:
    """Show what a link sets up, and whether Start was pressed: opening a link starts nothing.

    Args:
        share: the run, or the first lane.
        lines: settings, in words.
    """
    mark = _mark(address_query())
    if st.session_state.get("started-link") == mark:
        del st.session_state["started-link"]
        return True
    st.title(plain(share.config.name or share.config.source.name))
    st.markdown("This link sets up a training run. Nothing has started yet.")
    for line in lines:
        st.caption(plain(line))
    st.button(
        "Start",
        type="primary",
        icon=":material/play_arrow:",
        key="start-link",
        on_click=lambda: st.session_state.update({"started-link": mark}),
    )
    return False


def apply_look(worker: Worker, share: Share, notes: Iterable[str]) -> None:
    """Apply the pace and the data of an opened link, and show notes on differences."""
    worker.set_pace(share.look.pace)
    worker.set_settle(share.look.settle)
    config = share.config
    session.choose(ChosenData(config.source, config.flip, config.seed, config.features, config.noisy))
    for note in dict.fromkeys(notes):
        st.toast(plain(note), icon=":material/info:", duration="long")


def complete_shares(shares: Sequence[Share], what: str) -> tuple[Share, ...] | None:
    """Return the runs of a link once their data is available; else show how to get it and return None.

    Args:
        what: what is set up, in a word.
    """
    if not shares[0].is_complete:
        refused: list[UserError] = []
        for source in _asked_for(shares[0].missing, what):
            try:
                shares = [share.with_file(source) for share in shares]
            except UserError as error:  # the right one may stand beside it
                refused.append(error)
        if not shares[0].is_complete:
            for one in refused:
                st.error(plain(one), icon=":material/link_off:")
            left = ", ".join(plain(one.name) for one in shares[0].missing)
            st.caption(f"Still needed: {left}.")
            return None
    return tuple(shares) if _is_here(shares[0], what) else None


def _asked_for(missing: Sequence[Source], what: str) -> list[Source]:
    """The files of a link that were given; it cannot carry them."""
    names = " and ".join(f"**{plain(one.name)}**" for one in missing)
    several = len(missing) > 1
    st.title(f"{len(missing)} files are needed" if several else "One file is needed")
    st.markdown(
        f"This link is about {names}. A link carries no data: upload the file{'s' * several} to set up and start the "
        f"{what}."
    )
    marks = ", ".join(f"`{one.sha256}`" for one in missing)
    begins = "Their fingerprints (SHA-256) begin with" if several else "Its fingerprint (SHA-256) begins with"
    st.caption(f"{begins} {marks}; {'other files are' if several else 'another file is'} refused.")
    uploaded = st.file_uploader(
        f"The file{'s' * several} {', '.join(plain(one.name) for one in missing)}",
        key="shared-file",
        label_visibility="collapsed",
        accept_multiple_files=True,
    )
    if uploaded:
        given = [session.keep_upload(one.name, one.getvalue()) for one in uploaded]
        session.remember_uploads(given)
        return given
    known = [one for one in (session.last_upload(), *session.last_uploads()) if one is not None]
    return [one for one in known if any((one.sha256 or "").startswith(it.sha256 or "") for it in missing)]


def _is_here(share: Share, what: str) -> bool:
    """Whether the dataset is on this machine; offers to download it where it is not."""
    sources = [share.config.source, share.config.test]
    entries = [catalog.find(source.name) for source in sources if source is not None and source.path is None]
    missing = [entry for entry in entries if not upload.is_here(entry)]
    for entry in missing:
        st.title(entry.title)
        st.markdown(f"This link sets up a {what} on a dataset that is not on this machine yet.")
        upload.offer_download(entry)
    return not missing


# ---- a link to be given away -----------------------------------------------------------------------------------------


def look_to_share(looked_at: Look, worker: Worker, *, in_view: str, controls: Mapping[str, str], key: str) -> Look:
    """Show the choices of what the link carries besides settings.

    Args:
        looked_at: what is in view.
        worker: what is shared; the link's goes at its pace.
        in_view: what is in view, in words.
        controls: what a lesson can hide: names and titles.
        key: of the widget.
    """
    with_view = st.toggle("Include the current view", value=True, key="share-view", help=in_view)
    start = st.segmented_control(
        "After Start is pressed", [AT_ONCE, WAITING], default=AT_ONCE, required=True, key="share-start"
    )
    hidden = st.pills(
        "Lesson mode: hide",
        list(controls),
        format_func=controls.__getitem__,
        selection_mode="multi",
        key=key,
        help="Hidden for whoever opens the link, until they press *Show everything*.",
    )
    return replace(
        looked_at if with_view else Look(),
        hidden=tuple(hidden),
        paused=start == WAITING,
        pace=worker.pace,
        settle=worker.settle_after,
    )


def caveats(source: Source, snapshot: Snapshot | ComparisonSnapshot, look: Look, whose: tuple[str, str]) -> list[str]:
    """Return warnings about sharing a link.

    Args:
        whose: begin the two halves of a sentence: "This run was", "the link's goes".
    """
    said = []
    files = [one for one in (source, *source.votes) if one.path is not None]
    if files:
        named = listing([f"{one.name} ({(one.sha256 or '')[:FINGERPRINT]}…)" for one in files])
        said.append(f"A link holds no data: whoever opens it must upload {named}.")
    if snapshot.state == "stopped" and snapshot.total and snapshot.epoch < snapshot.total:
        stopped, goes_on = whose
        said.append(f"{stopped} stopped after epoch {snapshot.epoch}; {goes_on} on to {snapshot.total}.")
    if look.paused and "transport" in look.hidden:
        said.append("It waits before epoch 1 and hides the run controls, so nobody can start it.")
    return said


def address(page: str) -> str:
    """Return the address of a page as this browser sees it, without a query."""
    parts = urlsplit(st.context.url or f"http://localhost:8501/{page}")
    base = parts.path.removesuffix("/").removesuffix(f"/{page}")
    return urlunsplit((parts.scheme, parts.netloc, f"{base}/{page}", "", ""))


# ---- a lesson --------------------------------------------------------------------------------------------------------


class Lesson(Protocol):
    """A view with hidden controls."""

    hidden: frozenset[str]


def end_of_lesson(looking: Lesson) -> None:
    """Show the button that ends lesson mode."""
    if not looking.hidden:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Lesson mode: some controls are hidden.", width="content")
        st.button("Show everything", type="tertiary", key="lesson-end", on_click=_show_everything, args=(looking,))


def _show_everything(looking: Lesson) -> None:
    looking.hidden = frozenset()
    st.query_params.pop("hide", None)
