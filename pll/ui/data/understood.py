"""What the Data page understood of some data: one sentence, three of its rows; in detail, statistics and charts."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.annotations import Annotations
from pll.annotations.agreement import Agreement
from pll.colors import ACCENT
from pll.dataset import PartialLabelDataset
from pll.errors import notes_of
from pll.runs.data import warnings_about
from pll.synthesis.ambiguity import co_occurrence, label_cooccurrence
from pll.ui import charts
from pll.ui.components.gallery import picture_uri
from pll.ui.format import format_shape, plain
from pll.ui.widgets import ShownFigure, show_figures, show_table
from pll.wording import count, excerpt, percent, short_by_name

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
    annotations, n_labelled = data.annotations, data.n_labelled
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
    two = "they" if annotations.n_annotators == 2 else "two of them"
    agree = "" if share is None else f"; {two} agree on {percent(share, 0)}"
    return f"{who} answered {count(annotations.n_answers, 'time')}{agree}."


def _first_rows(data: PartialLabelDataset) -> pd.DataFrame:
    """Return the first rows as a table: picture or text, labels, and the first columns a person reads."""
    few = data.take(slice(0, FIRST_ROWS))
    table: dict[str, Sequence[object]] = {}
    if few.picture(0) is not None:
        table["Picture"] = [picture_uri(few, row) for row in range(len(few))]
    if few.texts is not None:
        table["Text"] = few.texts.tolist()
    if few.candidates is not None:
        short = short_by_name(data.class_names)  # several of them have to fit into a cell
        table["Labels" if data.annotations is not None else "Possible labels"] = [
            ", ".join(short[name] for name in few.candidates.names(row)) for row in range(len(few))
        ]
    if few.y is not None:
        table["True label"] = [few.class_names[label] if label >= 0 else "" for label in few.y]
    words = {name: [cell or "" for cell in cells] for name, cells in few.categories.items()}
    if few.X.ndim == 2:
        words |= dict(zip(few.column_names, few.X.T.tolist()[:SHOWN_COLUMNS], strict=False))
    for name, cells in words.items():
        table.setdefault(name, cells)
    return pd.DataFrame({"Id": few.row_ids} | dict(list(table.items())[:SHOWN_COLUMNS]))


def show_rows(data: PartialLabelDataset | None) -> None:
    """Put three rows on the page."""
    if data is None:
        return
    table, alt = _first_rows(data), "The first rows of the data"
    if "Picture" in table:
        pictures = {"Picture": st.column_config.ImageColumn()}
        show_table(table, alt, key="rows", row_height=PICTURE_ROW, config=pictures, names=list(table))
    else:  # without the toolbar and cells that a keyboard would have to pass
        st.table(table.rename(columns=_cell).map(_cell), hide_index=True, border="horizontal", alt=alt)


def _cell(value: object) -> str:
    """A cell as plain text, its beginning where it is long."""
    return plain(excerpt(f"{value:.6g}" if isinstance(value, float) else value, CELL))


# ---- statistics and charts of the candidate sets ---------------------------------------------------------------------


def notes(data: PartialLabelDataset) -> None:
    """Notes of the reader, without those that the page or its columns say already."""
    shown = notes_of(data.notes, "columns", "spellings", "no answer", "lost", "one voter")
    for note in data.notes:
        if note not in shown:
            st.caption(f":material/info: {plain(note)}")


def warnings(data: PartialLabelDataset, known: Collection[str]) -> None:
    """What may be wrong with the candidate sets, and what became of them.

    Parameters
    ----------
    data
        With candidate sets.
    known
        The notes of the reader, which stand above.
    """
    for warning in [one for one in warnings_about(data) if one not in known]:
        st.caption(f":material/warning: {plain(warning)}")


def figures(data: PartialLabelDataset) -> None:
    """The statistics that matter before training."""
    sets = data.sets()
    y = data.y if sets.n_classes > 1 else None
    cooccurrence = None if y is None or not data.n_labelled else label_cooccurrence(sets, y)
    entries = [
        ShownFigure("Examples", f"{len(data):,}"),
        ShownFigure("Classes", f"{sets.n_classes:,}"),
        ShownFigure("Each example", format_shape(data.input_shape)),
        ShownFigure("Candidates each", f"{sets.nnz / len(sets):.2f}", "Candidate labels of an example, on average."),
        ShownFigure("One candidate", percent(float((sets.sizes == 1).mean())), "Examples whose set is one label."),
    ]
    outside = len(data.truth_outside())
    if outside:
        share = 1 - outside / data.n_labelled
        hint = "Sets that hold the true label, where it is known."
        entries.append(ShownFigure("Truth inside", percent(share, 2), hint))
    if cooccurrence is not None:
        hint = (
            "How often the most frequent wrong label accompanies a true one. Below 100 % the true labels can be "
            "found in principle; the lower, the easier."
        )
        gamma = percent(cooccurrence.gamma) if cooccurrence.says_enough else "–"
        entries.append(ShownFigure("Ambiguity degree γ", gamma, hint))
    show_figures(entries, width=160)
    if cooccurrence is not None:
        st.caption(f"γ: {plain(cooccurrence.sentence(sets.class_names))}")


def charts_of(data: PartialLabelDataset) -> None:
    """Show the sizes of candidate sets and which labels occur together."""
    sets = data.sets()
    left, right = st.columns(2, gap="large")
    with left:
        figure, table = _sizes_chart(sets.sizes)
        charts.show(figure, table, "sizes", "Number of examples by number of candidates")
    with right:
        if (sets.sizes == 1).all():
            st.caption("No two labels share a set, so no labels occur together.")
            return
        title, across = "Which labels occur together", "is a candidate too, % of the sets"
        names, down = sets.class_names, "where this is a candidate"
        charts.show_matrix(lambda: co_occurrence(sets), names, "company", title=title, across=across, down=down)


def _sizes_chart(sizes: npt.NDArray[np.int64]) -> tuple[go.Figure, pd.DataFrame]:
    """How many candidates the examples have."""
    counts = np.bincount(sizes)
    table = pd.DataFrame({"candidates": np.arange(1, len(counts)), "examples": counts[1:]})
    figure = go.Figure()
    figure.add_bar(x=table["candidates"].to_numpy(), y=table["examples"].to_numpy(), marker_color=ACCENT)
    charts.dress(figure, "Candidates an example", "candidates", "examples")
    figure.update_xaxes(dtick=max(1, len(counts) // 12))
    return figure, table
