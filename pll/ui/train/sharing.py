"""Share links of runs: create one, and open one.

Whoever opens a link gets a run of their own. Its id joins the link in the address bar, so that a reload finds it again.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pll.errors import UserError
from pll.export.replay import replay_html
from pll.runs.config import format_settings
from pll.runs.link import CONTROLS, Look, Share, from_query, on_this_machine, slug, to_link
from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.ui import access_panel, links, session
from pll.ui.format import plain
from pll.ui.train.views import VIEWS
from pll.ui.view_state import RunView, run_view

SLUGS = {slug(title): title for title in VIEWS}


# ---- a link that is opened -------------------------------------------------------------------------------------------


def opened() -> Run | None:
    """The run of the link in the address: set up when Start is pressed, found again ever after.

    None where something has to be given first; the page says what.

    Raises:
        UserError: a link that cannot be meant; its part is named.
    """
    query = links.address_query()
    share = from_query(query, views=SLUGS)
    run = links.resolve_link("run", query, session.registry().get, lambda: _begin(share))
    if run is None:
        return None
    if f"run-view-{run.id}" not in st.session_state:
        _look(run_view(run), share.look)
    session.view(run)
    return run


def _begin(share: Share) -> Run | None:
    """Start what the link describes, if all that it needs is here and Start was pressed; else ask for it."""
    complete = links.complete_shares((share,), "run")
    if complete is None or not links.asked_to_start(complete[0], [format_settings(complete[0].config)]):
        return None
    ready, notes = on_this_machine(complete[0])
    run = session.registry().start(ready.config, paused=ready.look.paused)
    links.apply_look(run, ready, notes)
    return run


def _look(looking: RunView, look: Look) -> None:
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
        access_panel.panel(run, "train", "run")
        try:
            _offer(run, snapshot)
        except UserError as error:
            st.info(plain(error), icon=":material/link_off:")
        st.divider()
        _offer_replay(run, snapshot)


def _offer(run: Run, snapshot: Snapshot) -> None:
    st.markdown("**Share link.** Whoever opens it gets their own run with the same settings and results.")
    place = st.empty()
    look = links.look_to_share(
        _looked_at(run, run_view(run)), run, in_view=_WHAT_IS_IN_VIEW, controls=CONTROLS, key="share-controls"
    )
    views = st.pills(
        "Views to hide", list(SLUGS), format_func=SLUGS.__getitem__, selection_mode="multi", key="share-views"
    )
    look = replace(look, hidden=(*look.hidden, *(f"view-{view}" for view in views)))
    place.code(to_link(links.address("train"), Share(run.config, look)), language=None, wrap_lines=True)
    for note in links.caveats(run.config.source, snapshot, look, whose=("This run was", "the link's goes")):
        st.caption(f":material/info: {plain(note)}")


_WHAT_IS_IN_VIEW = "The epoch (unless you follow the latest), the view, the example, and the pinned examples."


def _looked_at(run: Run, looking: RunView) -> Look:
    ids = run.parts().train.row_ids
    return Look(
        epoch=None if looking.follow else looking.epoch,
        view=slug(looking.view),
        example=None if looking.selected is None else str(ids[looking.selected]),
        pins=tuple(str(ids[row]) for row in looking.pins),
        truth=looking.truth,
        order=looking.order,
    )


def _offer_replay(run: Run, snapshot: Snapshot) -> None:
    st.markdown("**Replay.** One HTML file that plays the run in any browser, without Candid or a network.")
    folder = run.folder
    st.download_button(
        "Download replay",
        data=lambda: replay_html(folder, run.parts().train),
        file_name="candid-replay.html",
        mime="text/html",
        icon=":material/slideshow:",
        key="replay-html",
        on_click="ignore",
        disabled=not snapshot.rows,
    )
