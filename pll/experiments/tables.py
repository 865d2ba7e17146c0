"""Tables of an experiment as the paper prints them: in Markdown and CSV.

• and ◦ say that the first method is significantly better or worse there, by the paired t-test at 5 % over the same
parts, as in the paper; a star says that this holds after Holm's correction for all comparisons of the table. – says
that all parts differ by the same, so that there is no test. `WHAT_IS_TESTED` says for what it holds.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from pll.experiments.evaluation import UNKNOWN_SPREAD, Result, Spread, holm, paired_t_test, planned
from pll.experiments.published import published_accuracy
from pll.methods import method_title

STAR_LEVEL = 0.05
UNTESTED = "–"
WHAT_IS_TESTED = (
    "Parts of several seeds hold the same examples, for which the test allows; folds of one seed share training "
    "examples, so the test is slightly optimistic. On a published test part a difference holds for these examples "
    "alone: other seeds draw only candidate sets and starts anew."
)


@dataclass(frozen=True)
class TableEntry:
    """One method on one column of a table. Figures are percentages.

    Attributes
    ----------
    n_fits
        Fits (splits, repetitions) with a result, of `expected`.
    test
        Test accuracy over the fits.
    transductive
        Transductive accuracy, None where not known.
    seconds
        Median of a fit.
    p
        Of the paired t-test against the first method; None for that method itself, or without common parts;
        NaN where no test is possible.
    p_holm
        Corrected for all comparisons of the table; of no test, it is 1.
    is_best
        Whether no other method has a higher mean in this column.
    paper
        What the paper has here.
    """

    dataset: str
    flip: str
    q: float | None
    method: str
    model: str
    recipe: str
    n_fits: int
    expected: int
    test: Spread
    transductive: Spread | None
    seconds: float
    p: float | None = None
    p_holm: float | None = None
    is_better: bool = False
    is_best: bool = False
    paper: Spread | None = None

    @property
    def mark(self) -> str:
        """• where the first method is significantly better, ◦ where worse; a star if Holm agrees, – of no test."""
        if self.p is None or self.p >= STAR_LEVEL:
            return ""
        if math.isnan(self.p):
            return UNTESTED
        star = "*" if self.p_holm is not None and self.p_holm < STAR_LEVEL else ""
        return ("◦" if self.is_better else "•") + star

    @property
    def difference(self) -> float | None:
        """Mean less that of the paper, in points."""
        return None if self.paper is None else self.test.mean - self.paper.mean


TableColumn = tuple[str, float | None]
"""Data set and q."""


@dataclass(frozen=True)
class Table:
    """Entries of one table: one model, one recipe, one way to make candidates.

    Attributes
    ----------
    methods
        Those with results, in order.
    first
        The method that the others are compared with, even where it has no results.
    """

    title: str
    methods: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    entries: dict[tuple[TableColumn, str], TableEntry]
    first: str

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets in order."""
        return tuple(dict.fromkeys(dataset for dataset, _ in self.columns))

    @property
    def qs(self) -> tuple[float | None, ...]:
        """Values of q in order."""
        return tuple(dict.fromkeys(q for _, q in self.columns))


def tables(results: Sequence[Result], *, methods: Sequence[str], n_fits: int) -> list[Table]:
    """Return the tables of results.

    Parameters
    ----------
    results
        Of one experiment.
    methods
        In order; the first is the one compared with: where it has no results, nothing is. Those without are left out.
    n_fits
        Number of fits that every entry has when all is done.
    """
    groups: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    asked = [planned(result).model for result in results]  # recipe auto may have chosen another one for some fits
    models = list(dict.fromkeys(filter(None, asked))) or [""]
    for result, own in zip(results, asked, strict=True):
        for model in [own] if own else models:  # without a model: listed with every model
            groups[model, result.recipe, _made(result)].append(result)
    outcome = [_table(key, rows, methods, n_fits) for key, rows in groups.items()]
    return [table for table in outcome if table.entries]


def _made(result: Result) -> str:
    """Return how candidates were made, without q."""
    size = json.loads(result.settings or "{}").get("size") if result.flip == "uniform" else None
    return result.flip if size is None else f"{result.flip} (size {size})"


def _table(key: tuple[str, str, str], rows: Sequence[Result], methods: Sequence[str], n_fits: int) -> Table:
    model, recipe, flip = key
    fits: dict[TableColumn, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.test_accuracy is not None:
            fits[row.dataset, row.q][row.method].append(row)
    there = tuple(method for method in methods if any(method in of_column for of_column in fits.values()))
    entries: dict[tuple[TableColumn, str], TableEntry] = {}
    for column, of_column in fits.items():
        first = of_column.get(methods[0], [])
        made = [_entry(of_column[method], first, model, n_fits) for method in there if method in of_column]
        best = max(round(entry.test.mean, 2) for entry in made)
        entries |= {(column, one.method): replace(one, is_best=round(one.test.mean, 2) == best) for one in made}
    compared = {place: entry.p for place, entry in entries.items() if entry.p is not None}
    for place, p in zip(compared, holm(np.nan_to_num(list(compared.values()), nan=1.0).tolist()), strict=True):
        entries[place] = replace(entries[place], p_holm=p)
    made_by = f"{flip} flipping" if flip else "candidate sets of the data"
    fixed = f"{model} models" if model and recipe != "auto" else ""  # that recipe may choose another one
    title = ", ".join(filter(None, (made_by, fixed, f"recipe {recipe}")))
    return Table(title[0].upper() + title[1:], there, tuple(fits), entries, methods[0])


def _entry(rows: Sequence[Result], first: Sequence[Result], model: str, expected: int) -> TableEntry:
    """Return the entry of some fits, compared with those of the first method on the same parts."""
    one, own = rows[0], _by_part(rows)
    transductive = [row.transductive_accuracy for row in rows if row.transductive_accuracy is not None]
    others = {} if rows is first else _by_part(first)
    a, b = ([by_part[part] for part in sorted(others.keys() & own.keys())] for by_part in (others, own))
    paper = published_accuracy(one.dataset, one.flip, one.q, one.method) if model in ("linear", "") else None
    return TableEntry(
        dataset=one.dataset,
        flip=one.flip,
        q=one.q,
        method=one.method,
        model=model if one.model else "",
        recipe=one.recipe,
        n_fits=len(rows),
        expected=expected,
        test=Spread.of([row.test_accuracy for row in rows if row.test_accuracy is not None]),
        transductive=Spread.of(transductive) if transductive else None,
        seconds=float(np.median([row.seconds for row in rows])),
        p=paired_t_test(a, b, _overlap(rows)) if len(a) > 1 else None,
        is_better=len(a) > 1 and float(np.mean(b)) > float(np.mean(a)),
        paper=paper,
    )


def _overlap(rows: Sequence[Result]) -> float:
    """Return test examples over training examples of a part where several seeds drew both anew; else 0."""
    if len({row.seed for row in rows}) == 1:
        return 0.0
    made = json.loads(rows[0].settings or "{}")
    tested = 1 / int(made["folds"]) if "folds" in made else float(made.get("holdout", 0))
    return tested / (1 - tested)


def _by_part(rows: Sequence[Result]) -> dict[tuple[int, int], float]:
    """Return test accuracies in percent by seed and fold."""
    return {(row.seed, row.fold): row.test_accuracy * 100 for row in rows if row.test_accuracy is not None}


# ---- how they are written --------------------------------------------------------------------------------------------


def markdown(table: Table) -> str:
    """Return a table in Markdown: under each figure that of the paper, where it has one, and the difference."""
    frame = cells_frame(table, _markdown_cell)
    head, *lines = (f"| {' | '.join(row)} |" for row in (list(frame), *frame.to_numpy().tolist()))
    return "\n".join([f"### {table.title}", "", head, f"|{'---|' * frame.shape[1]}", *lines, ""])


def cells_frame(table: Table, cell: Callable[[TableEntry | None], str]) -> pd.DataFrame:
    """Return a table as it is read: a row for each method and q, a column for each data set.

    Parameters
    ----------
    table
        The table.
    cell
        Writes an entry; None where there is none.
    """
    rows = []
    for method, q in product(table.methods, table.qs):
        row = {"method": method_title(method)} | ({} if table.qs == (None,) else {"q": "" if q is None else f"{q:g}"})
        rows.append(row | {name: cell(table.entries.get(((name, q), method))) for name in table.datasets})
    return pd.DataFrame(rows)


def legend(table: Table) -> str:
    """Say what the marks and brackets of a table mean: of those that it has; "" where it has none."""
    marks = "".join(entry.mark for entry in table.entries.values())
    tested = " or ".join(f"{mark} {word}" for mark, word in (("•", "better"), ("◦", "worse")) if mark in marks)
    sentences = [
        f"{method_title(table.first)} is significantly {tested}, paired t-test at 5 %." if tested else "",
        "*: also after Holm's correction." if "*" in marks else "",
        f"{UNTESTED}: no test, since all parts differ by the same." if UNTESTED in marks else "",
        WHAT_IS_TESTED if tested else "",
        "In brackets the paper's mean and the difference." if any(one.paper for one in table.entries.values()) else "",
    ]
    return " ".join(filter(None, sentences))


def _markdown_cell(entry: TableEntry | None) -> str:
    if entry is None:
        return "–"
    figure = f"**{entry.test}**" if entry.is_best else str(entry.test)
    n = f" ({entry.n_fits} of {entry.expected})" if entry.n_fits < entry.expected else ""
    own = " ".join(filter(None, (figure + n, entry.mark.replace("*", "\\*"))))
    if entry.paper is None:
        return own
    return f"{own}<br>paper {entry.paper}, {signed(entry.difference)}"


def entries_frame(tables: Sequence[Table]) -> pd.DataFrame:
    """Return all entries as one table, a row each, in full precision; figures are percentages."""
    rows = []
    for table in tables:
        for entry in table.entries.values():
            values = asdict(entry) | {"difference": entry.difference, "mark": entry.mark, "table": table.title}
            for name in ("test", "transductive", "paper", "seconds"):  # two runs of an experiment take other seconds
                del values[name]
            transductive, paper = entry.transductive or UNKNOWN_SPREAD, entry.paper or UNKNOWN_SPREAD
            values |= {"mean": entry.test.mean, "deviation": entry.test.deviation}
            values |= {"transductive": transductive.mean, "transductive_deviation": transductive.deviation}
            rows.append(values | {"paper_mean": paper.mean, "paper_deviation": paper.deviation})
    return pd.DataFrame(rows)


def signed(value: float | None) -> str:
    """Return a difference with its sign.

    Examples
    --------
    >>> signed(-1.345), signed(0.2), signed(None)
    ('−1.34', '+0.20', '')
    """
    return "" if value is None else f"{value:+.2f}".replace("-", "−")
