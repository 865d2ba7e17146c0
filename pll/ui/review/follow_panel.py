"""Panel of the labels that follow the decisions, on the Progress view: seen, looked at, taken back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.review.follow import LabelChanges
from pll.ui.format import count
from pll.ui.review.payload import neighbour
from pll.ui.review.review_tab import ReviewTab
from pll.ui.widgets import button
from pll.wording import short_by_name

SHOWN_CHANGES = 10
"""Rows of the table, to begin with and more at a press."""
TEXT_LETTERS = 300
"""Characters of a text in the table."""


def panel(tab: ReviewTab) -> None:
    """How many labels have changed, which, and a way back."""
    review, changed = tab.review, tab.queue.changes()
    if not len(changed):
        return
    answers = count(len(review.decisions()), "answer")
    st.markdown(f"**{answers} changed {count(len(changed), 'other label')} that nobody has looked at**")
    more = f"review-changed-rows-{review.id}"
    most = int(st.session_state.get(more, SHOWN_CHANGES))
    chosen = st.dataframe(
        _table(changed, review.root.ids, tab.queue.data, most),
        hide_index=True,
        height="content",
        column_config={"picture": st.column_config.ImageColumn()},
        key=f"review-changed-{review.id}-{review.state.last}-{most}",
        on_select="rerun",
        selection_mode="multi-row",
        alt="Labels that changed, the least certain first",
    )
    if len(changed) > most:
        button(
            f"The {most} least certain; show more",
            lambda: st.session_state.update({more: 5 * most}),
            icon="expand_more",
            key="review-changed-more",
            kind="tertiary",
        )
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
        examples["text"] = [str(data.texts[row])[:TEXT_LETTERS] for row in rows]
    short = short_by_name(data.class_names)
    return pd.DataFrame(
        examples
        | {
            "id": ids[rows].astype(object),
            "label before": [short.get(label, label) for label in changed.before[:most]],
            "label now": [short.get(label, label) for label in changed.after[:most]],
            "confidence": changed.confidence[:most].round(3),
        }
    )


def _restore(tab: ReviewTab, rows: list[int]) -> None:
    """Give these examples the run's label again."""
    tab.require("owner")
    tab.desk.restore(rows)
    tab.queue.compute_order()
    tab.reassign()
    st.toast(f"{count(len(rows), 'change')} taken back.", icon=":material/undo:")
