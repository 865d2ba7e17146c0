"""Share links on the train page: the popover that makes one, and what happens when one is opened.

Whoever opens a link gets a run of their own. Its id joins the link in the address bar, so that a reload finds it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from pll import catalog
from pll.errors import UserError
from pll.replay import replay_html
from pll.runs import Run
from pll.share import CONTROLS, FINGERPRINT, Look, Share, from_query, on_this_machine, slug, to_link
from pll.snapshots import Snapshot
from pll.sources import Source
from pll.ui import bring, session
from pll.ui.session import Choice
from pll.ui.viewing import Viewing, viewing
from pll.ui.views import VIEWS

SLUGS = {slug(title): title for title in VIEWS}
AT_ONCE, WAITING = "Trains at once", "Waits before epoch 1"


# ---- a link that is opened -------------------------------------------------------------------------------------------


def is_link() -> bool:
    """Whether the address is a share link."""
    return "link" in st.query_params


def opened() -> Run | None:
    """The run of the link in the address: set up and begun when it is opened, found again ever after.

    None where something has to be given first; the page says what.

    Raises:
        UserError: a link that cannot be meant; its part is named.
    """
    query = in_address()
    share = from_query(query, views=SLUGS)
    runs, mark = opened_before(query)
    run = _known(st.query_params.get("run")) or _known(runs.get(mark))
    if run is None:
        run = _begin(share)
        if run is None:
            return None
        runs[mark] = run.id
    if f"viewing-{run.id}" not in st.session_state:
        _look(viewing(run), share.look)
    session.view(run)
    return run


def refuse(error: UserError) -> None:
    """Say what is wrong with the address, and how to go on without it."""
    st.error(str(error), icon=":material/link_off:")
    if is_link():
        st.button("Go on without this link", key="without-link", on_click=st.query_params.clear)


def in_address() -> dict[str, list[str]]:
    """Every part of the address, by name."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def opened_before(query: dict[str, list[str]]) -> tuple[dict[str, str], str]:
    """What links became in this tab, by what they say; and what this one says."""
    became: dict[str, str] = st.session_state.setdefault("opened-links", {})
    return became, repr(sorted((name, values) for name, values in query.items() if name not in ("run", "comparison")))


def _known(run_id: str | None) -> Run | None:
    if run_id is None:
        return None
    try:
        return session.registry().get(run_id)
    except UserError:  # of another machine, or deleted: set up once more
        return None


def _begin(share: Share) -> Run | None:
    """Start what the link describes, if all that it needs is here; else ask for it."""
    complete = at_hand((share,), "run")
    if complete is None:
        return None
    ready, notes = on_this_machine(complete[0])
    run = session.registry().start(ready.config, paused=ready.look.paused)
    run.set_pace(ready.look.pace)
    run.set_settle(ready.look.settle)
    config = ready.config
    session.choose(Choice(config.source, config.flip, config.seed, config.features, config.noisy))
    for note in notes:
        st.toast(note, icon=":material/info:", duration="long")
    return run


def at_hand(shares: Sequence[Share], what: str) -> tuple[Share, ...] | None:
    """The runs of a link, which share their data, once it is all here; else None, and the page asks for it.

    Args:
        what: what is set up, in a word.

    Raises:
        UserError: the file that was given is another one.
    """
    if not shares[0].is_complete:
        source = _asked_for(shares[0].config.source, what)
        if source is None:
            return None
        shares = [share.with_file(source) for share in shares]
    return tuple(shares) if _is_here(shares[0], what) else None


def _asked_for(wanted: Source, what: str) -> Source | None:
    """The file of a link, which it cannot carry."""
    st.title("One file is needed")
    st.markdown(
        f"This link is about **{_plain(wanted.name)}**. A link carries no data: give the file, and the {what} is set "
        "up and begins."
    )
    st.caption(f"Its fingerprint (SHA-256) begins with `{wanted.sha256}`; another file is refused.")
    given = st.file_uploader(f"The file {wanted.name}", key="shared-file", label_visibility="collapsed")
    source = session.last_upload() if given is None else session.remember_upload(given.name, given.getvalue())
    if source is None or (given is None and not (source.sha256 or "").startswith(wanted.sha256 or "")):
        return None
    return source


def _is_here(share: Share, what: str) -> bool:
    """Whether the dataset is on this machine; offers to download it where it is not."""
    sources = [share.config.source, share.config.test]
    entries = [catalog.find(source.name) for source in sources if source is not None and source.path is None]
    missing = [entry for entry in entries if not bring.is_here(entry)]
    for entry in missing:
        st.title(entry.title)
        st.markdown(f"This link sets up a {what} on a dataset that is not on this machine yet.")
        bring.offer_download(entry)
    return not missing


def _plain(name: str) -> str:
    """A file's name as Markdown shows it, whatever it holds."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>()#+-.!|~$:" else letter for letter in name)


def _look(looking: Viewing, look: Look) -> None:
    """What the link says is in view."""
    if look.epoch is not None:
        looking.epoch, looking.follow = look.epoch, False
    looking.view = SLUGS.get(look.view, looking.view)
    looking.truth, looking.order = look.truth, look.order
    looking.hidden = frozenset(look.hidden)
    looking.sought = (look.example, look.pins)


# ---- a link to be given away -----------------------------------------------------------------------------------------


def popover(run: Run, snapshot: Snapshot) -> None:
    """The link to this run as it is looked at now, what a lesson hides, and the run as a page of its own."""
    box = st.popover("Share", icon=":material/share:", key="share", on_change="rerun")
    if not box.open:  # a closed one costs nothing
        return
    with box:
        try:
            _offer(run, snapshot)
        except UserError as error:
            st.info(str(error), icon=":material/link_off:")
        st.divider()
        _offer_replay(run, snapshot)


def _offer(run: Run, snapshot: Snapshot) -> None:
    st.markdown("**A link that sets this up again.** Whoever opens it gets a run of their own, with the same figures.")
    place = st.empty()
    with_view = st.toggle("With what is in view now", value=True, key="share-view", help=_WHAT_IS_IN_VIEW)
    start = st.segmented_control(
        "When it is opened", [AT_ONCE, WAITING], default=AT_ONCE, required=True, key="share-start"
    )
    controls = st.pills(
        "Lesson mode: hide",
        list(CONTROLS),
        format_func=CONTROLS.__getitem__,
        selection_mode="multi",
        key="share-controls",
        help="Whoever opens the link finds these away, until they press *Show everything*.",
    )
    views = st.pills(
        "Views to hide", list(SLUGS), format_func=SLUGS.__getitem__, selection_mode="multi", key="share-views"
    )
    hidden = (*controls, *(f"view-{view}" for view in views))
    look = _looked_at(run, viewing(run)) if with_view else Look()
    look = replace(look, hidden=hidden, paused=start == WAITING, pace=run.pace, settle=run.settle_after)
    place.code(to_link(address("train"), Share(run.config, look)), language=None, wrap_lines=True)
    for note in _caveats(run, snapshot, look):
        st.caption(f":material/info: {note}")


_WHAT_IS_IN_VIEW = "The epoch (unless you follow the latest), the view, the example, and the pinned examples."


def _looked_at(run: Run, looking: Viewing) -> Look:
    ids = run.parts().train.row_ids
    return Look(
        epoch=None if looking.follow else looking.epoch,
        view=slug(looking.view),
        example=None if looking.selected is None else str(ids[looking.selected]),
        pins=tuple(str(ids[row]) for row in looking.pins),
        truth=looking.truth,
        order=looking.order,
    )


def _caveats(run: Run, snapshot: Snapshot, look: Look) -> list[str]:
    """What a person should know before the link is given away."""
    said = data_caveats(run.config.source)
    if snapshot.state == "stopped" and snapshot.total and snapshot.epoch < snapshot.total:
        said.append(f"This run was stopped after epoch {snapshot.epoch}; the link's goes on to {snapshot.total}.")
    if look.paused and "transport" in look.hidden:
        said.append("It waits before epoch 1 and has no transport: nobody could start it.")
    return said


def data_caveats(source: Source) -> list[str]:
    """That a file stays where it is."""
    if source.path is None:
        return []
    fingerprint = (source.sha256 or "")[:FINGERPRINT]
    return [f"Data does not travel in a link: whoever opens it is asked for {source.name} ({fingerprint}…)."]


def _offer_replay(run: Run, snapshot: Snapshot) -> None:
    st.markdown("**A replay to keep.** One HTML file to scrub through in any browser, without Candid or a network.")
    folder = run.folder
    st.download_button(
        "Replay as a web page",
        data=lambda: replay_html(folder, run.parts().train),
        file_name="candid-replay.html",
        mime="text/html",
        icon=":material/slideshow:",
        key="replay-html",
        on_click="ignore",
        disabled=not snapshot.rows,
    )


def address(page: str) -> str:
    """Of a page, as this browser knows it, without a query."""
    parts = urlsplit(st.context.url or f"http://localhost:8501/{page}")
    base = parts.path.removesuffix("/").removesuffix(f"/{page}")
    return urlunsplit((parts.scheme, parts.netloc, f"{base}/{page}", "", ""))


# ---- a lesson --------------------------------------------------------------------------------------------------------


class Lesson(Protocol):
    """What is looked at, and what of it is put away."""

    hidden: frozenset[str]


def end_of_lesson(looking: Lesson) -> None:
    """The way out of a lesson, at the foot of the page."""
    if not looking.hidden:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Lesson mode: some controls are put away.", width="content")
        st.button("Show everything", type="tertiary", key="lesson-end", on_click=_show_everything, args=(looking,))


def _show_everything(looking: Lesson) -> None:
    looking.hidden = frozenset()
    st.query_params.pop("hide", None)
