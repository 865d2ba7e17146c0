"""Share links of comparisons: create one, and open one.

Opening a link creates new lanes. The id of the comparison joins the link in the address bar, so that a
reload finds it again.
"""

from __future__ import annotations

import streamlit as st

from pll.errors import UserError
from pll.runs.comparison import Comparison
from pll.runs.config import format_settings
from pll.runs.lanes_link import lanes_from_query, lanes_to_link
from pll.runs.link import LANE_CONTROLS, Look, Share, on_this_machine
from pll.runs.snapshots import ComparisonSnapshot
from pll.ui import access_panel, links, session
from pll.ui.compare.view_state import ComparisonView, comparison_view
from pll.ui.format import plain

# ---- a link that is opened -------------------------------------------------------------------------------------------


def opened() -> Comparison | None:
    """The comparison of the link in the address: set up when Start is pressed, found again ever after.

    None where something has to be given first; the page says what.

    Raises:
        UserError: a link that cannot be meant; its part is named.
    """
    query = links.address_query()
    shares = lanes_from_query(query)
    comparison = links.resolve_link("comparison", query, session.registry().comparison, lambda: _begin(shares))
    if comparison is None:
        return None
    if f"comparison-view-{comparison.id}" not in st.session_state:
        st.session_state[f"comparison-view-{comparison.id}"] = _looking(shares[0].look)
    session.view_comparison(comparison)
    return comparison


def _begin(shares: tuple[Share, ...]) -> Comparison | None:
    """Start what the link describes, if all that it needs is here and Start was pressed; else show what is missing."""
    complete = links.complete_shares(shares, "comparison")
    if complete is None:
        return None
    if not links.asked_to_start(complete[0], [format_settings(share.config) for share in complete]):
        return None
    ready = [on_this_machine(share) for share in complete]
    comparison = session.registry().compare([share.config for share, _ in ready], paused=complete[0].look.paused)
    links.apply_look(comparison, complete[0], [note for _, notes in ready for note in notes])
    return comparison


def _looking(look: Look) -> ComparisonView:
    """What the link says is in view."""
    looking = ComparisonView(truth=look.truth, hidden=frozenset(look.hidden))
    if look.epoch is not None:
        looking.epoch, looking.follow = look.epoch, False
    return looking


# ---- a link to be given away -----------------------------------------------------------------------------------------


def popover(comparison: Comparison, snapshot: ComparisonSnapshot) -> None:
    """The link to these lanes as they are looked at now, and what a lesson hides."""
    box = st.popover("Share", icon=":material/share:", key="compare-share", on_change="rerun")
    if not box.open:  # a closed one costs nothing
        return
    with box:
        access_panel.panel(comparison, "compare", "comparison")
        if not comparison.lanes.together:
            said = "These runs were trained separately, so one link cannot set them up. Open a lane and share it."
            st.info(said, icon=":material/link_off:")
            return
        try:
            _offer(comparison, snapshot)
        except UserError as error:
            st.info(plain(error), icon=":material/link_off:")


def _offer(comparison: Comparison, snapshot: ComparisonSnapshot) -> None:
    st.markdown("**Share link.** Whoever opens it gets their own lanes with the same settings and results.")
    place = st.empty()
    look = links.look_to_share(
        _looked_at(comparison_view(comparison)),
        comparison,
        in_view="The epoch, unless you follow the latest.",
        controls=LANE_CONTROLS,
        key="share-lane-controls",
    )
    link = lanes_to_link(links.address("compare"), [run.config for run in comparison.runs], look)
    place.code(link, language=None, wrap_lines=True)
    for note in _caveats(comparison, snapshot, look):
        st.caption(f":material/info: {plain(note)}")


def _looked_at(looking: ComparisonView) -> Look:
    return Look(epoch=None if looking.follow else looking.epoch, truth=looking.truth)


def _caveats(comparison: Comparison, snapshot: ComparisonSnapshot, look: Look) -> list[str]:
    """Return warnings about sharing the link."""
    source = comparison.runs[0].config.source
    said = links.caveats(source, snapshot, look, whose=("These lanes were", "the link's go"))
    if len(comparison.runs) < len(comparison.lanes.runs):
        said.append("A lane of this comparison has been deleted; the link sets up those that are left.")
    return said
