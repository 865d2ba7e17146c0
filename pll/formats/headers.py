"""Whether the first row of a table names its columns, or is data already, as in the files of the UCI repository."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pll.formats.cellkinds import MISSING, Cells, is_measured, is_number

_FEWEST_COLUMNS, _FEWEST_RISING = 2, 5


def is_data(first: Sequence[str], sample: Sequence[Cells]) -> bool:
    """Whether the first row of a table is data: it has a number wherever the rows below have numbers.

    Numbers that rise evenly (0, 1, 2 …; years; wavelengths) are names after all, and so is a long row that just rises.

    Args:
        first: the first row.
        sample: the first cells below, by column.

    >>> is_data(["5.1", "3.5", "setosa"], [["4.9"], ["3.0"], ["setosa"]])
    True
    >>> is_data(["0", "1", "2"], [["4.9"], ["3.0"], ["1.4"]]), is_data(["width", "2"], [["4.9"], ["3.0"]])
    (False, False)
    """
    measured = [at for at, cells in enumerate(sample) if is_measured(cells)]
    if len(measured) < _FEWEST_COLUMNS:
        return False
    above = [first[at].strip() for at in measured]
    if not all(cell in MISSING or is_number(cell) for cell in above):
        return False
    numbers = np.array([float(cell) for cell in above if is_number(cell)])
    if len(numbers) < _FEWEST_COLUMNS or not np.isfinite(numbers).all():
        return False
    steps = np.diff(numbers)
    is_even = bool(np.isclose(steps, steps[0], rtol=1e-6).all()) and steps[0] != 0
    if len(numbers) == _FEWEST_COLUMNS:  # two numbers always are a step apart
        is_even = steps[0] == 1 and numbers[0] in (0, 1)
    return not is_even and not (len(numbers) >= _FEWEST_RISING and bool((steps > 0).all()))


def numbered(count: int) -> list[str]:
    """Names for columns that have none.

    >>> numbered(2)
    ['column 1', 'column 2']
    """
    return [f"column {at}" for at in range(1, count + 1)]
