"""Panel of suggested labels on the Progress view."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pll.colors import short_by_name
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.review.relabel import ProposedLabels
from pll.ui.format import count, plain
from pll.ui.review.error_messages import toast_errors
from pll.ui.review.payload import neighbour
from pll.ui.review.review_tab import ReviewTab

SHOWN = 50
"""Rows of the table."""
TEXT = 300
"""Characters of a text in the table."""
FOCUS = "proposed"


def panel(tab: ReviewTab) -> None:
    """What would change; a look at it; taking it over."""
    st.markdown("**Suggested labels**")
    try:
        with st.spinner("Finding suggestions…"):  # comes up where that takes half a second or more
            proposed = tab.manager.proposed()
    except UserError as error:
        st.warning(plain(error), icon=":material/error:")
        return
    if not len(proposed):
        st.caption("Your decisions suggest no change to the labels not reviewed yet.")
        return
    st.caption(
        f"From your decisions, Candid would change {count(len(proposed), 'label')} that nobody has looked at. "
        "Controls are kept out of it."
    )
    st.dataframe(
        table(proposed, tab.manager.data),
        hide_index=True,
        column_config={"picture": st.column_config.ImageColumn()},
        alt="Labels that would change, the surest first",
    )
    if len(proposed) > SHOWN:
        st.caption(f"The {SHOWN} surest of {len(proposed):,}.")
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Accept these labels",
            key="review-take-over",
            icon=":material/done_all:",
            on_click=relabel,
            args=(tab, proposed),
        )
        st.button("Review these next", key="review-look-proposed", on_click=look, args=(tab, proposed))
    st.caption("They become the model's new labels. A certificate of the labels before does not hold of them.")


def table(proposed: ProposedLabels, data: PartialLabelDataset) -> pd.DataFrame:
    """The surest of them, with their pictures or texts where the data has some."""
    seen = [neighbour(data, int(row)) for row in proposed.rows[:SHOWN]]
    examples: dict[str, list[str | None]] = {}
    if any(one["picture"] for one in seen):
        examples["picture"] = [one["picture"] for one in seen]
    if data.texts is not None:
        examples["text"] = [str(data.texts[row])[:TEXT] for row in proposed.rows[:SHOWN]]
    short = short_by_name(data.class_names)
    return pd.DataFrame(
        examples
        | {
            "id": proposed.labels.ids[proposed.rows[:SHOWN]].astype(object),
            "label now": [short.get(label, label) for label in proposed.before[:SHOWN]],
            "proposed": [short.get(label, label) for label in proposed.after[:SHOWN]],
            "confidence": proposed.confidence[:SHOWN].round(3),
        }
    )


def relabel(tab: ReviewTab, proposed: ProposedLabels) -> None:
    """Put them in the place of the labels so far, or say why not."""
    try:
        tab.require("owner")
        done = tab.manager.relabel(proposed, by=tab.desk.reviewer, verified=tab.desk.verified)
    except (UserError, OSError) as error:
        st.toast(f"No label was changed: {plain(error)}", icon=":material/error:")
        return
    if done:
        tab.again()
        st.toast(f"{count(len(proposed), 'label')} changed. The certificate starts again.", icon=":material/done_all:")
    else:
        st.toast("The labels have changed in the meantime. Check the new suggestions.", icon=":material/info:")


@toast_errors
def look(tab: ReviewTab, proposed: ProposedLabels) -> None:
    """Those first, the surest leading."""
    tab.desk.look_at(proposed.rows, FOCUS)
    tab.again()
