"""What the decisions changed: labels that follow them at once, and those of a model that is trained on them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.review.follow import LabelChanges
from pll.review.retraining import changed_by_retraining
from pll.ui.format import format_state, plain
from pll.ui.review.payload import neighbour
from pll.ui.review.review_tab import ReviewTab
from pll.ui.widgets import beside, button, show_table
from pll.wording import count, short_by_name

RETRAINING_SECONDS = 2.0
"""Seconds between looks at a model that is being retrained."""
OUTSIDE_KEY = "review-retrain-outside"


def retraining(tab: ReviewTab) -> None:
    """Retrain the model, where decisions wait for it; and what the last time changed, unless it stands above."""
    begun, waiting = tab.queue.retraining, tab.queue.retraining.waiting()
    if waiting and begun.snapshot() is None:
        with beside():
            what = "decision" if tab.review.previous is None else "changed decision"
            hint = "In the background. Controls are not used. The new labels get their own certificate."
            button(f"Retrain on {count(waiting, what)}", _begin, tab, icon="school", key="review-retrain", help=hint)
            if begun.can_look_outside():
                st.checkbox(
                    "Also look for labels off the sets",
                    key=OUTSIDE_KEY,
                    help="Trains PRODEN-outside anew: your decisions also teach which sets miss the right label. It "
                    "takes longer, and may put labels that are no candidates.",
                )
    if len(changed_by_retraining(tab.review)) and not _is_new(tab):
        with beside():
            _came_of_it(tab, key="review-look-panel")


def _begin(tab: ReviewTab) -> None:
    """Start retraining, or say why not."""
    tab.require("owner")
    outside = bool(st.session_state.get(OUTSIDE_KEY)) and tab.queue.retraining.can_look_outside()
    tab.queue.retraining.begin(outside=outside, by=tab.desk.reviewer, verified=tab.desk.verified)


def notice(tab: ReviewTab) -> None:
    """Above the desk: that the model is being retrained, why that failed, or what it changed."""
    watched = _watched(tab)  # whichever tab adopts the labels, all that waited for them say what came of it
    if tab.queue.retraining.snapshot() is not None:
        st.session_state[watched] = tab.review.own.run
        _watch(tab)
        return
    if _is_new(tab):
        with beside():
            _came_of_it(tab, key="review-look")
            button("Dismiss", _dismiss, tab, key="review-retrained-dismiss", kind="tertiary")


def _watched(tab: ReviewTab) -> str:
    """Key of the run whose labels were under review while this tab watched another one learn the decisions."""
    return f"review-watched-{tab.review.id}"


def _is_new(tab: ReviewTab) -> bool:
    """Whether a model has learnt the decisions since this tab watched another one, and nobody here has read it."""
    return bool(st.session_state.get(_watched(tab), tab.review.own.run) != tab.review.own.run)


def _came_of_it(tab: ReviewTab, *, key: str) -> None:
    """What the last training on decisions changed."""
    changed = len(changed_by_retraining(tab.review))
    others = count(changed, "other label") if changed else "no other label"
    words = f":material/school: Training on the decisions changed **{others}**."
    st.markdown(words, width="content")
    if changed:
        button("Review these next", _look, tab, key=key)


@st.fragment(run_every=RETRAINING_SECONDS)
def _watch(tab: ReviewTab) -> None:
    queue = tab.queue
    try:
        if queue.adopt_retrained():
            st.rerun()
    except UserError as error:
        st.caption(f":material/error: {plain(error)}")
        return
    snapshot = queue.retraining.snapshot()
    if snapshot is None:  # another tab has seen to it
        st.rerun()
    elif snapshot.is_active:
        st.caption(f":material/school: The model is training on your decisions. {format_state(snapshot)}")
    elif snapshot.state != "finished":
        st.warning(plain(snapshot.error or format_state(snapshot)), icon=":material/error:")
        if tab.may("owner") and st.button("Dismiss", key="review-retrain-dismiss"):
            queue.retraining.dismiss()
            st.rerun()


def _look(tab: ReviewTab) -> None:
    """Those first whose labels changed."""
    tab.look_at(changed_by_retraining(tab.review).rows, "changed by retraining")
    _dismiss(tab)


def _dismiss(tab: ReviewTab) -> None:
    """Read."""
    st.session_state.pop(_watched(tab), None)


# ---- labels that follow the decisions --------------------------------------------------------------------------------


SHOWN_CHANGES = 10
"""Rows of the table, to begin with and more at a press."""
EXCERPT_LETTERS = 300
"""Characters of a text in the table."""


def followed(tab: ReviewTab) -> None:
    """How many labels have changed, which, and a way back."""
    review, changed = tab.review, tab.queue.changes()
    if not len(changed):
        return
    made = count(len(review.state.decisions()), "decision")
    st.markdown(f"**By {made}, {count(len(changed), 'label')} of the model changed that nobody has looked at**")
    more = f"review-changed-rows-{review.id}"
    most = int(st.session_state.get(more, SHOWN_CHANGES))
    chosen = show_table(
        _table(changed, review.root.ids, tab.queue.data, most),
        "Labels that changed, the least certain first",
        height="content",
        formats={"confidence": "%.3f"},
        config={"picture": st.column_config.ImageColumn()},
        key=f"review-changed-{review.id}-{review.state.last}-{most}",
        on_select="rerun",
        selection_mode="multi-row",
    )
    if len(changed) > most:
        label, show = f"The {most} least certain; show more", st.session_state.__setitem__
        button(label, show, more, 5 * most, icon="expand_more", key="review-changed-more", kind="tertiary")
    some = changed.rows[chosen["selection"]["rows"]].tolist()
    label = f"Take back {count(len(some), 'change')}" if some else "Take back all"
    rows = some or changed.rows.tolist()
    with st.container(horizontal=True, gap="small"):
        button("Review these next", tab.look_at, changed.rows, "changed", key="review-look-changed")
        button(label, _restore, tab, rows, icon="undo", key=f"review-{label}")


def _table(
    changed: LabelChanges, ids: npt.NDArray[np.str_], data: PartialLabelDataset, most: int = SHOWN_CHANGES
) -> pd.DataFrame:
    """The least certain of them, with their pictures or texts where the data has some."""
    rows = changed.rows[:most]
    previews = [neighbour(data, int(row)) for row in rows]
    examples: dict[str, list[str | None]] = {}
    if any(one["picture"] for one in previews):
        examples["picture"] = [one["picture"] for one in previews]
    if data.texts is not None:
        examples["text"] = [str(data.texts[row])[:EXCERPT_LETTERS] for row in rows]
    short = short_by_name(data.class_names)
    return pd.DataFrame(
        examples
        | {
            "id": ids[rows].astype(object),
            "label before": [short.get(label, label) for label in changed.before[:most]],
            "label now": [short.get(label, label) for label in changed.after[:most]],
            "confidence": changed.confidence[:most],
        }
    )


def _restore(tab: ReviewTab, rows: list[int]) -> None:
    """Give these examples the run's label again."""
    tab.require("owner")
    tab.desk.restore(rows)
    tab.queue.compute_order()
    tab.reassign()
    st.toast(f"{count(len(rows), 'change')} taken back.", icon=":material/undo:")
