"""What the Data page understood of some data: one sentence, and three of its rows."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pll.annotations import Annotations
from pll.annotations.agreement import Agreement
from pll.dataset import PartialLabelDataset
from pll.ui.components.gallery import picture_uri
from pll.ui.format import count, plain
from pll.wording import percent

FIRST_ROWS, SHOWN_COLUMNS = 3, 8
"""How much of a table is shown."""
MOST_NAMED, NAMED_LETTERS = 6, 80
"""Classes that are named in the sentence at most, and the letters that they may take."""
CELL = 90
"""Letters of a cell."""
PICTURE_ROW = 56
"""Pixels of a row with a picture."""


def sentence(data: PartialLabelDataset, agreed: Agreement | None, *, models: bool = False) -> str:
    """Say what the data is: examples, classes, how often people or models answered, or how many labels are possible.

    Parameters
    ----------
    data
        The data.
    agreed
        How far the voters agree; None where there are none.
    models
        Whether the voters are models.

    Examples
    --------
    >>> import numpy as np
    >>> from pll.annotations import Annotations, SetRule, resolve
    >>> from pll.annotations.agreement import agreement
    >>> answers = Annotations.from_votes([[0, 0], [1, 0]], ["late", "lost"])
    >>> data = PartialLabelDataset(X=np.ones((2, 1))).resolved_to(resolve(answers, SetRule("union")), answers)
    >>> sentence(data, agreement(answers))
    '2 examples, 2 classes (late, lost), 2 people answered 4 times; they agree on 50 %.'
    >>> sentence(PartialLabelDataset(X=np.ones((2, 1)), y=np.array([0, -1]), class_names=("late", "lost")), None)
    '2 examples, 2 classes (late, lost), the true label of 1 known.'
    """
    kind = "text" if data.texts is not None else "picture" if "pictures" in data.contents else "example"
    words = [count(len(data), kind), _classes(data.class_names)]
    annotations, y = data.annotations, data.y
    n_labelled = 0 if y is None else int((y >= 0).sum())
    if annotations is None and data.candidates is not None:
        mean = data.candidates.nnz / max(len(data), 1)
        words.append("one label each" if mean == 1 else f"{mean:.1f} possible labels each")
    if n_labelled:
        words.append("all labels known" if n_labelled == len(data) else f"the true label of {n_labelled:,} known")
    if annotations is not None:
        return ", ".join([*words, _answers(annotations, agreed, models=models)])
    silent = 0 if data.unanswered is None else int(data.unanswered.sum())
    return ", ".join([*words, *([f"{silent:,} without a label"] if silent else [])]) + "."


def _classes(names: Sequence[str]) -> str:
    listed = ", ".join(names)
    named = f" ({listed})" if len(names) <= MOST_NAMED and len(listed) <= NAMED_LETTERS else ""
    return count(len(names), "class", "classes") + named


def _answers(annotations: Annotations, agreed: Agreement | None, *, models: bool) -> str:
    one, many = ("model", "models") if models else ("person", "people")
    who = f"several {many}" if annotations.anonymous else count(annotations.n_annotators, one, many)
    share = None if agreed is None else agreed.percent.value
    agree = "" if share is None else f"; they agree on {percent(share, 0)}"
    return f"{who} answered {count(annotations.n_answers, 'time')}{agree}."


def _first_rows(data: PartialLabelDataset) -> pd.DataFrame:
    """Return the first rows as a table: picture or text, labels, and the first columns a person reads."""
    few = data.take(slice(0, FIRST_ROWS))
    table: dict[str, Sequence[object]] = {}
    if few.picture(0) is not None:
        table["picture"] = [picture_uri(few, row) for row in range(len(few))]
    if few.texts is not None:
        table["text"] = few.texts.tolist()
    if few.candidates is not None:
        table["labels" if data.annotations is not None else "possible labels"] = [
            ", ".join(few.candidates.names(row)) for row in range(len(few))
        ]
    if few.y is not None:
        table["true label"] = [few.class_names[label] if label >= 0 else "" for label in few.y]
    words = {name: [cell or "" for cell in cells] for name, cells in few.categories.items()}
    if few.X.ndim == 2:
        names = few.feature_names or tuple(f"number {k + 1}" for k in range(few.X.shape[1]))
        words |= dict(zip(names, few.X.T.tolist()[:SHOWN_COLUMNS], strict=False))
    for name, cells in words.items():
        table.setdefault(name, cells)
    return pd.DataFrame({"id": few.row_ids} | dict(list(table.items())[:SHOWN_COLUMNS]))


def show_rows(data: PartialLabelDataset | None) -> None:
    """Put three rows on the page."""
    if data is None:
        return
    table = _first_rows(data)
    if "picture" in table:
        st.dataframe(
            table,
            hide_index=True,
            key="rows",
            row_height=PICTURE_ROW,
            column_config={"picture": st.column_config.ImageColumn()},
            alt="The first rows of the data",
        )
    else:  # without the toolbar and cells that a keyboard would have to pass
        st.table(
            table.rename(columns=_cell).map(_cell),
            hide_index=True,
            border="horizontal",
            alt="The first rows of the data",
        )


def _cell(value: object) -> str:
    """A cell as plain text, its beginning where it is long."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return plain(text if len(text) <= CELL else f"{text[: CELL - 1]}…")
