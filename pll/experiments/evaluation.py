"""Evaluation of methods as in the paper: the same splits and sets for all, mean ± deviation, paired t-test."""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.stats
import torch

from pll.errors import UserError
from pll.io import from_json, write_atomically
from pll.methods.base import AFRESH, PartialLabelEstimator, Start
from pll.methods.deep import DeepEstimator
from pll.runs.data import Splits

LAST = 10
"""Figures of methods trained by gradient descent are means over this many last epochs (paper, §4), of fewer than twice
as many over the last half: the first are not trained. Of the others, the last iteration alone counts."""
MEANS_OF = f"the mean of the last {LAST} epochs (of fewer than {2 * LAST}, of the last half)"
"""What a figure of a method trained by gradient descent is."""


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of a sample (n − 1), in percent; the deviation of one value is NaN.

    Examples
    --------
    >>> print(Spread(76.574, 1.468), Spread(99.5, math.nan))
    76.57 ± 1.47 99.50
    """

    mean: float
    deviation: float

    @classmethod
    def of(cls, shares: Sequence[float]) -> Spread:
        """Return that of shares, at least one."""
        values = np.array(shares, dtype=np.float64) * 100
        return cls(float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.nan)

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if math.isnan(self.deviation) else f"{self.mean:.2f} ± {self.deviation:.2f}"


UNKNOWN_SPREAD = Spread(math.nan, math.nan)


@dataclass(frozen=True)
class Result:
    """Result of one method on one part, a row of results.csv. Accuracies are fractions, None where not known.

    Attributes
    ----------
    model
        What was trained: that of the settings, or another one that a recipe chose; "" where the method has none.
    flip
        How candidates were made, a name of `pll.synthesis.FLIPS`; "" for those of the data.
    q
        Flipping probability; None where there is none.
    recipe
        How the settings were chosen.
    settings
        Every setting of the method and of the data, as a JSON object, and under `CHOSEN` what a
        recipe chose for this fit.
    """

    dataset: str
    method: str
    model: str
    seed: int
    fold: int
    test_accuracy: float | None
    transductive_accuracy: float | None
    seconds: float
    flip: str = ""
    q: float | None = None
    recipe: str = "default"
    settings: str = ""


def planned(result: Result) -> Result:
    """Return a row as it is known before the fit: without its figures, and without what a recipe chose."""
    text, model = result.settings, result.model
    with suppress(ValueError):  # of another program
        settings = json.loads(text)
        if isinstance(settings, dict) and settings.pop(CHOSEN, None) is not None:
            text, model = as_json(settings), str(settings.get("model", model))
    return replace(result, model=model, test_accuracy=None, transductive_accuracy=None, seconds=0.0, settings=text)


EpochMetrics = list[dict[str, Any]]
"""A dict of `EpochRecord.metrics` for every epoch."""


def measured(
    estimator: PartialLabelEstimator,
    splits: Splits,
    progress: Callable[[int, int], None] | None = None,
    *,
    half_done: Path | None = None,
) -> tuple[EpochMetrics, float]:
    """Fit a method on a part; return the figures of its epochs, and its seconds.

    Parameters
    ----------
    estimator
        The method, which is fitted.
    splits
        The part.
    progress
        Called with the epochs done and the total epochs.
    half_done
        A file for the state of a long fit, from which the next call goes on to the same result.
    """
    started, task, start = time.perf_counter(), splits.task(needs_features=estimator.needs_features), AFRESH
    curve: EpochMetrics = []
    saved_at = started
    half_done = half_done if isinstance(estimator, DeepEstimator) else None
    if half_done is not None and (state := _read_half_done(half_done)) is not None:
        start, curve = Start(checkpoint=state["checkpoint"]), state["curve"]
        started -= state["seconds"]
    for record in estimator.iter_fit(task, start=start):
        curve.append(record.metrics())  # not the record, whose label weights take memory
        if half_done is not None and time.perf_counter() - saved_at > FIT_SAVED_EVERY:
            saved_at = time.perf_counter()
            _write_half_done(half_done, estimator.checkpoint(), curve, saved_at - started)
        if progress is not None:
            progress(record.epoch, estimator.total_epochs())
    seconds = time.perf_counter() - started
    estimator.release()
    return curve, seconds


FIT_SAVED_EVERY = 300.0
"""Seconds of a fit after which its state is kept; shorter ones are made again."""


def _write_half_done(file: Path, checkpoint: dict[str, Any], curve: EpochMetrics, seconds: float) -> None:
    content = io.BytesIO()
    torch.save({"checkpoint": checkpoint, "curve": curve, "seconds": seconds}, content)
    write_atomically(file, lambda path: path.write_bytes(content.getbuffer()), durable=True)


def _read_half_done(file: Path) -> dict[str, Any] | None:
    """Return what was kept; None where nothing was, or it cannot be read: the fit is made again."""
    try:
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        return state if {"checkpoint", "curve", "seconds"} <= state.keys() else None
    except Exception:  # torch raises many types
        return None


def figures(estimator: PartialLabelEstimator, curve: EpochMetrics) -> dict[str, Any]:
    """Return the accuracies of a fit, as `Result` names them: means over its last epochs (`LAST`).

    Parameters
    ----------
    estimator
        The fitted method.
    curve
        What `measured` returned.
    """
    n = min(LAST, len(curve) // 2) if isinstance(estimator, DeepEstimator) else 1
    last = curve[-max(1, n) :]
    return {name: _mean(last, name) for name in ("test_accuracy", "transductive_accuracy")}


def as_json(values: Mapping[str, Any]) -> str:
    """Return the column `settings`; values that JSON does not have, such as a module, are written as text."""
    return json.dumps(values, sort_keys=True, default=str, ensure_ascii=False)


CHOSEN = "chosen"
"""Name in the column `settings` of what was chosen for this fit: by its recipe, or by the data."""


def read_results(path: Path) -> list[Result]:
    """Read a results.csv; columns that have a default may be missing.

    Raises
    ------
    UserError
        It cannot be read, or has no results.
    """
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise UserError(f"{path} is not a results.csv: {error}.") from error
    for name, about in Result.__dataclass_fields__.items():
        if about.default is MISSING and name not in table:
            raise UserError(f"{path} is not a results.csv: it has no column {name!r}.")
    return [
        _result_of_row(row, f"{path}, row {number}") for number, row in enumerate(table.to_dict("records"), start=2)
    ]


def _result_of_row(row: dict[Hashable, Any], where: str) -> Result:
    may_lack = ("test_accuracy", "transductive_accuracy", "q")
    values = {str(name): cell or None if name in may_lack else cell for name, cell in row.items()}
    try:
        result = from_json(Result, values)
    except ValueError as error:
        raise UserError(f"{where}: {error}.") from error
    return result if result.recipe else replace(result, recipe="default")


def results_frame(results: Iterable[Result]) -> pd.DataFrame:
    """Return the results as a table with the columns of results.csv."""
    columns = list(Result.__dataclass_fields__)
    table = pd.DataFrame([asdict(result) for result in results], columns=columns)
    return table.astype(dict.fromkeys(("test_accuracy", "transductive_accuracy", "q"), np.float64))  # None: NaN


def paired_t_test(a: npt.ArrayLike, b: npt.ArrayLike, overlap: float = 0.0) -> float:
    """Return the two-sided p-value of a paired t-test of two methods on the same parts (paper: 5 %, five folds).

    Parts that were drawn again and again from the same examples are no independent ones: of equal methods the plain
    test calls a third different after five seeds of five folds.

    Parameters
    ----------
    a, b
        (k,) results of the two methods, part by part. Equal results on all parts give 1; other differences that are the
        same on all give NaN, since without variance there is no test: of two or three parts that is often chance.
    overlap
        Test examples over training examples of a part, where parts were drawn again; else 0.

    References
    ----------
    Nadeau & Bengio, Inference for the generalization error, Machine Learning 52, 2003: the variance of a mean of k
    parts is 1/k + overlap of that of one.

    Examples
    --------
    >>> paired_t_test([0.9, 0.8], [0.9, 0.8])
    1.0
    >>> a, b = [0.9, 0.8, 0.9, 0.85], [0.85, 0.8, 0.8, 0.8]
    >>> round(paired_t_test(a, b), 3), round(paired_t_test(a, b, overlap=0.25), 3)
    (0.092, 0.182)
    """
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    if np.allclose(difference, 0):
        return 1.0
    if np.allclose(difference, difference[0]):
        return math.nan
    k = len(difference)
    t = scipy.stats.ttest_1samp(difference, 0.0).statistic / math.sqrt(1 + k * overlap)
    return float(2 * scipy.stats.t.sf(abs(t), k - 1))


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm, 1979), in the same order.

    Examples
    --------
    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    corrected = [1.0] * len(p)
    highest = 0.0
    for rank, k in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        highest = max(highest, min(1.0, (len(p) - rank) * p[k]))
        corrected[k] = highest
    return corrected


def _mean(records: EpochMetrics, what: str) -> float | None:
    values = [record[what] for record in records]
    return None if not values or None in values else float(np.mean(values))
