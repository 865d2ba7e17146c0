"""Share links of runs of one or more lanes: open one, ask for missing data, create one, and lesson mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from pll import catalog
from pll.catalog.sources import Source
from pll.errors import UserError
from pll.export.replay.page import replay_html
from pll.formats.checks import listing
from pll.runs.config import format_settings
from pll.runs.link import (
    FINGERPRINT,
    Look,
    Share,
    controls,
    from_query,
    is_file,
    on_this_machine,
    slug,
    to_link,
)
from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.ui import access_panel, session
from pll.ui.data import server_data, upload
from pll.ui.format import plain
from pll.ui.routes import address, link
from pll.ui.run_view import RunView, run_view, view_of
from pll.ui.train.views import EXPERT_VIEWS, VIEWS
from pll.ui.widgets import beside, button, choose_one, choose_several, download, show_error

STARTS_AT_ONCE, STARTS_PAUSED = "Trains at once", "Waits before epoch 1"
SLUGS = {slug(title): title for title in (*VIEWS, *EXPERT_VIEWS)}


# ---- a link that is opened -------------------------------------------------------------------------------------------


def page(kind: session.Kind, follow: Callable[[Run], None], prepare: Callable[[], None]) -> None:
    """Draw a page: the run that its address opens, else the one this tab showed last, else the form for a new one.

    Parameters
    ----------
    kind
        Whether it is about a run or a comparison.
    follow
        Draws a run.
    prepare
        Draws the form for a new one.
    """
    run, is_link = None, "link" in st.query_params
    try:
        run = opened(kind) if is_link else session.run_in_view(kind)
    except UserError as error:
        show_error(error, icon="link_off")
        if is_link:
            button("Continue without this link", st.query_params.clear, key="without-link")
        else:
            link("home", "All runs")
    if run is not None:
        follow(run)
    elif not is_link:
        prepare()


def opened(kind: session.Kind) -> Run | None:
    """Return the run of the link in the address: set up when Start is pressed, found again ever after.

    Whoever opens a link gets a run of their own. Its id joins the link in the address bar, so that a reload finds it
    again. None where something has to be given first; the page says what.
    """
    query = {name: st.query_params.get_all(name) for name in st.query_params}
    share = from_query(query, views=SLUGS, lanes=kind == "comparison")
    run = _resolved(kind, query, share)
    if run is None:
        return None
    if view_of(run.id) is None:
        _apply_look(run_view(run), share.look)
    session.view(run)
    return run


def _resolved(kind: session.Kind, query: dict[str, list[str]], share: Share) -> Run | None:
    """Return what the link in the address set up in this tab; set it up the first time."""
    opened: dict[str, str] = st.session_state.setdefault("opened-links", {})
    mark = _mark(query)
    for run_id in (session.id_in_address(kind), opened.get(mark)):
        if run_id is not None:
            with suppress(UserError):  # of another machine, or deleted: set up once more
                return session.find(kind, run_id)
    begun = _begin(kind, share)
    if begun is not None:
        opened[mark] = begun.id
    return begun


def _begin(kind: session.Kind, share: Share) -> Run | None:
    """Start what the link describes, if all that it needs is here and Start was pressed; else ask for it."""
    complete = complete_share(share, kind)
    if complete is None or not confirm_start(complete):
        return None
    ready, notes = on_this_machine(complete)
    run = session.registry().start(*ready.configs, paused=ready.look.paused)
    run.set_pace(ready.look.pace)
    run.set_patience(ready.look.patience)
    session.choose(ready.configs[0].untested())
    for note in notes:
        st.toast(plain(note), icon=":material/info:", duration="long")
    return run


def _apply_look(looking: RunView, look: Look) -> None:
    """Show what the link says is in view."""
    if look.epoch is not None:
        looking.epoch, looking.follow = look.epoch, False
    looking.view = SLUGS.get(look.view, looking.view)
    looking.truth, looking.order = look.truth, look.order
    looking.hidden = frozenset(look.hidden)
    looking.sought = look.example


def _mark(query: Mapping[str, Sequence[str]]) -> str:
    """Key of a link: all but the ids of the runs that it started."""
    return repr(sorted((name, values) for name, values in query.items() if name not in ("run", "comparison")))


def confirm_start(share: Share) -> bool:
    """Show what a link sets up, and whether Start was pressed: opening a link starts nothing."""
    place = st.empty()
    with place.container():
        st.title(plain(share.configs[0].name or share.configs[0].source.name))
        st.markdown("This link sets up a training run. Nothing has started yet.")
        for config in share.configs:
            st.caption(plain(format_settings(config)))
        is_pressed = st.button("Start", type="primary", icon=":material/play_arrow:", key="start-link")
    if is_pressed:
        place.empty()
    return is_pressed


def complete_share(share: Share, what: str) -> Share | None:
    """Return what a link sets up once its data is available; else show how to get it and return None.

    Parameters
    ----------
    share
        What the link says.
    what
        What it sets up, in a word.
    """
    if share.missing:
        refused: list[UserError] = []
        request = st.empty()
        with request.container():
            given = _request_files(share.missing, what)
        for source in given:
            try:
                share = share.with_file(source)
            except UserError as error:  # the right one may stand beside it
                refused.append(error)
        if share.missing:
            for one in refused:
                show_error(one, icon="link_off")
            left = ", ".join(plain(one.name) for one in share.missing)
            st.caption(f"Still needed: {left}.")
            return None
        request.empty()  # nothing is needed any more
    return share if _is_here(share, what) else None


def _request_files(missing: Sequence[Source], what: str) -> list[Source]:
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
        uploads = [upload.store_upload(one.name, one.getvalue()) for one in uploaded]
        upload.remember_uploads(uploads)
        return uploads
    return [one for one in upload.last_uploads() if any(is_file(it, one) for it in missing)]


def _is_here(share: Share, what: str) -> bool:
    """Whether the dataset is on this machine; offers to download it where it is not."""
    sources = [share.configs[0].source, share.configs[0].test]
    entries = [catalog.find(source.name) for source in sources if source is not None and source.path is None]
    missing = [entry for entry in entries if not server_data.is_here(entry)]
    for entry in missing:
        st.title(entry.title)
        st.markdown(f"This link sets up a {what} on a dataset that is not on this machine yet.")
        server_data.offer_download(entry)
    return not missing


# ---- a link to be given away -----------------------------------------------------------------------------------------


def share(run: Run, snapshot: Snapshot) -> None:
    """The link to a run as it is looked at now, what a lesson hides, and a run of one lane as a page of its own.

    Parameters
    ----------
    run
        The run.
    snapshot
        Where it stands.
    """
    access_panel.panel(run)
    if not run.is_together:
        reason = "These runs were trained separately, so one link cannot set them up. Open a lane and share it."
        st.info(reason, icon=":material/link_off:")
        return
    try:
        _offer_link(run, snapshot)
    except UserError as error:
        st.info(plain(error), icon=":material/link_off:")
    if not run.is_comparison:
        st.divider()
        _offer_replay(run, snapshot)


def _offer_link(run: Run, snapshot: Snapshot) -> None:
    what = "lanes" if run.is_comparison else "run"
    st.markdown(f"**Share link.** Whoever opens it gets their own {what} with the same settings and results.")
    place = st.empty()
    look = look_to_share(run)
    share = Share(tuple(lane.config for lane in run.lanes), look)
    link = to_link(address("compare" if run.is_comparison else "train"), share)
    place.code(link, language=None, wrap_lines=True)
    for note in caveats(run, snapshot, look):
        st.caption(f":material/info: {plain(note)}")


def look_to_share(run: Run) -> Look:
    """Show the choices of what the link carries besides settings."""
    one = not run.is_comparison
    titles = controls(lanes=not one)
    in_view = ", the view and the example" if one else ""
    with_view = st.toggle(
        "Include the current view",
        value=True,
        key="share-view",
        help=f"The epoch (unless you follow the latest){in_view}.",
    )
    starts = [STARTS_AT_ONCE, STARTS_PAUSED]
    start = choose_one("After Start is pressed", starts, STARTS_AT_ONCE, key="share-start")
    hint = "Hidden for whoever opens the link, until they press *Show everything*."
    key = f"share-controls-{'run' if one else 'lanes'}"
    hidden = choose_several("Lesson mode: hide", titles, key=key, help=hint)
    if one:
        hidden += [f"view-{view}" for view in choose_several("Views to hide", SLUGS, key="share-views")]
    return Look(
        **_looked_at(run) if with_view else {},
        hidden=tuple(hidden),
        paused=start == STARTS_PAUSED,
        pace=run.pace,
        patience=run.patience,
    )


def _looked_at(run: Run) -> dict[str, Any]:
    """Return what is in view, as fields of `Look`."""
    looking = run_view(run)
    lanes = {"epoch": None if looking.follow else looking.epoch, "truth": looking.truth}
    if run.is_comparison:
        return lanes
    example = None if looking.selected is None else str(run.splits().train.row_ids[looking.selected])
    return lanes | {"view": slug(looking.view), "example": example, "order": looking.order}


def caveats(run: Run, snapshot: Snapshot, look: Look) -> list[str]:
    """Return warnings about sharing a link.

    Parameters
    ----------
    run
        The run.
    snapshot
        Where it stands.
    look
        What the link shows and hides.
    """
    sentences = []
    source = run.config.source
    files = [one for one in (source, *source.votes) if one.path is not None]
    if files:
        named = listing([f"{one.name} ({(one.sha256 or '')[:FINGERPRINT]}…)" for one in files])
        sentences.append(f"A link holds no data: whoever opens it must upload {named}.")
    if snapshot.state == "stopped" and snapshot.total and snapshot.epoch < snapshot.total:
        stopped, goes_on = ("These lanes were", "go") if run.is_comparison else ("This run was", "goes")
        sentences.append(
            f"{stopped} stopped after epoch {snapshot.epoch}; the link's {goes_on} on to {snapshot.total}."
        )
    if look.paused and "transport" in look.hidden:
        sentences.append("It waits before epoch 1 and hides the run controls, so nobody can start it.")
    if run.listed is not None and len(run.lanes) < len(run.listed.runs):
        sentences.append("A lane of this comparison has been deleted; the link sets up those that are left.")
    return sentences


def _offer_replay(run: Run, snapshot: Snapshot) -> None:
    st.markdown("**Replay.** One HTML file that plays the run in any browser, without Candid or a network.")
    folder = run.folder
    download(
        "Download replay",
        lambda: replay_html(folder, run.splits().train),
        "candid-replay.html",
        key="replay-html",
        icon="slideshow",
        disabled=not snapshot.lane.rows,
    )


# ---- a lesson --------------------------------------------------------------------------------------------------------


def end_of_lesson(looking: RunView) -> None:
    """Show the button that ends lesson mode."""
    if not looking.hidden:
        return
    with beside():
        st.caption("Lesson mode: some controls are hidden.", width="content")
        button("Show everything", _show_everything, looking, kind="tertiary", key="lesson-end")


def _show_everything(looking: RunView) -> None:
    looking.hidden = frozenset()
    st.query_params.pop("hidden", None)
