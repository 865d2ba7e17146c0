"""From columns of cells to flat codes: what `Annotations.from_wide` and `.from_long` do with a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pll.candidates import sort_names
from pll.errors import UserError

if TYPE_CHECKING:  # half a second, for those alone who bring a data frame
    import pandas as pd

Split = Callable[[str], Iterable[str]]
"""How a cell that may hold several labels is taken apart: text → names."""

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels that stand in cells.

    Attributes:
        cells: (m,) int64, the position of the cell each label stands in, increasing.
        labels: (m,) int64, class index.
        class_names: c names.
        empty: (k,) int64, positions of the cells that hold no label.
    """

    cells: Codes
    labels: Codes
    class_names: tuple[str, ...]
    empty: Codes


def texts(cells: Sequence[Any] | npt.NDArray[Any] | pd.Series) -> npt.NDArray[np.object_]:
    """Cells as text, trimmed; "" where a cell is empty (None, NaN, NA). Whole floats are read as whole numbers.

    >>> texts([" cat ", None, 3.0, float("nan"), 4]).tolist()
    ['cat', '', '3', '', '4']
    """
    return np.fromiter((_text(cell) for cell in cells), dtype=object, count=len(cells))


def codes_of(values: npt.NDArray[np.object_]) -> tuple[Codes, list[str]]:
    """(n,) which of the different values each is, and these, in the order of their first appearance."""
    known: dict[str, int] = {}
    codes = [known.setdefault(value, len(known)) for value in values]
    return np.array(codes, dtype=np.int64), list(known)


def as_listed(listed: list[str], known: list[str], codes: Codes) -> tuple[list[str], Codes]:
    """Codes renumbered by the ids that were given.

    Raises:
        UserError: an id that stands twice, or a task that is not among them.
    """
    place = {name: at for at, name in enumerate(listed)}
    if len(place) < len(listed):
        twice = next(name for at, name in enumerate(listed) if place[name] != at)
        raise UserError(f"The id {twice!r} stands twice; ids must be unique.")
    missing = [name for name in known if name not in place]
    if missing:
        raise UserError(f"The task {missing[0]!r} is annotated but is not one of the {len(listed)} examples.")
    return listed, np.array([place[name] for name in known], dtype=np.int64)[codes]


def labels_in(
    cells: npt.NDArray[np.object_],
    class_names: Sequence[str],
    split: Split | None,
    place: Callable[[int], str],
) -> Labels:
    """The labels in some cells of text; every different cell is read once.

    Args:
        cells: (n,) text, as `texts` gives it.
        class_names: all classes, in order; where there are none, those that occur, sorted.
        split: how a cell is taken apart; None takes it for one label.
        place: what a message calls the cell at a position ("Row 3, annotator ann").

    Raises:
        UserError: a label that is not among `class_names`, or a cell that `split` refuses; the place is named.
    """
    codes, different = codes_of(cells)

    def first(code: int) -> str:
        return place(int(np.argmax(codes == code)))

    names_of: list[list[str]] = []
    for code, cell in enumerate(different):
        try:
            names_of.append([] if not cell else [cell] if split is None else list(split(cell)))
        except UserError as error:
            raise UserError(f"{first(code)} holds {cell[:60]!r}: {error}.") from None
    names = tuple(class_names) or sort_names(name for several in names_of for name in several)
    index = {name: j for j, name in enumerate(names)}
    for code, several in enumerate(names_of):
        unknown = [name for name in several if name not in index]
        if unknown:
            raise UserError(
                f"{first(code)}: the label {unknown[0][:60]!r} is not one of the {len(names)} classes "
                f"({', '.join(names[:8])}{', …' if len(names) > 8 else ''}); correct it, or add it to the classes."
            )
    counts = np.array([len(several) for several in names_of], dtype=np.int64)
    flat = np.array([index[name] for several in names_of for name in several], dtype=np.int64)
    starts = np.cumsum(counts) - counts
    sizes = counts[codes] if len(codes) else np.empty(0, dtype=np.int64)
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Labels(
        cells=np.repeat(np.arange(len(codes)), sizes),
        labels=flat[np.repeat(starts[codes], sizes) + within] if len(codes) else flat,
        class_names=names,
        empty=np.flatnonzero(sizes == 0),
    )


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.strip()
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):  # of pandas, which may not even be imported
        return ""
    if isinstance(cell, float | np.floating):
        # A column of whole numbers with gaps is read as floats.
        return "" if np.isnan(cell) else str(int(cell)) if float(cell).is_integer() else str(cell)
    return str(cell).strip()
