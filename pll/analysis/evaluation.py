"""Evaluation of methods as in the paper: the same splits and sets for all, mean ± deviation, paired t-test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.stats

from pll.analysis.protocol import Parts, folds, prepare
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import PartialLabelEstimator
from pll.methods.deep import DeepEstimator
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy
from pll.training.metrics import EpochRecord

LAST = 10
"""Figures of methods trained by gradient descent are means over this many last epochs (paper, §4). Of the others, the
last iteration alone counts."""

Progress = Callable[[str, int, int], None]
"""Called with the method, the epochs done, and the total epochs of the part at work."""


@dataclass(frozen=True)
class Result:
    """Result of one method on one part, a row of results.csv. Accuracies are fractions, None where not known."""

    dataset: str
    method: str
    model: str
    seed: int
    fold: int
    test_accuracy: float | None
    transductive_accuracy: float | None
    seconds: float


@dataclass(frozen=True)
class Splits:
    """Splits of the data (folds, a held-out share, or its own test part) and synthesis of candidates.

    Args:
        folds: k-fold cross-validation; None for a single split a seed.
        holdout: share to hold out where there are no folds.
        test: a test part of its own.
        flip_with: how candidates are made, anew on every training part.
        features: what makes features of texts, pictures and words, anew on every training part.
        seeds: one series of splits and candidate sets for each.
        strict: refuse truth outside the candidates.
        noisy: how single labels that may be wrong become candidates, anew on every training part.
    """

    folds: int | None = None
    holdout: float | None = None
    test: PartialLabelDataset | None = None
    flip_with: Flip | None = None
    features: str = "auto"
    seeds: Sequence[int] = (0,)
    strict: bool = False
    noisy: Noisy | None = None

    def parts(self, data: PartialLabelDataset) -> Iterator[tuple[int, int, Parts]]:
        """Yield (seed, fold, parts), the same for every method.

        Raises:
            UserError: see `folds` and `prepare`, or nothing to test on.
        """
        for seed in self.seeds:
            if self.folds is not None:
                divided = folds(data, self.folds, **self._made(seed))
                for fold, parts in enumerate(divided):
                    yield seed, fold, parts
            else:
                yield seed, 0, self._single(data, seed)

    def _single(self, data: PartialLabelDataset, seed: int) -> Parts:
        parts = prepare(data, holdout=self.holdout, test=self.test, **self._made(seed))
        if parts.test is None:
            raise UserError(f"{data.name} has no test part with true labels; hold a share out, or make folds.")
        return parts

    def _made(self, seed: int) -> dict[str, Any]:
        """Return the options that `prepare` and `folds` share."""
        return {
            "flip_with": self.flip_with,
            "noisy": self.noisy,
            "features": self.features,
            "seed": seed,
            "strict": self.strict,
        }

    def count(self) -> int:
        """Return the number of parts."""
        return len(self.seeds) * (self.folds or 1)


def evaluate(
    data: PartialLabelDataset,
    estimators: dict[str, Callable[[int], PartialLabelEstimator]],
    splits: Splits,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Yield a result for every method on every part, as soon as it is known.

    Args:
        data: with true labels.
        estimators: by name, a function of the seed.
        splits: the same for all of them.
    """
    for seed, fold, parts in splits.parts(data):
        for name, new in estimators.items():
            estimator = new(seed)
            started = time.perf_counter()
            records = _records(name, estimator, parts, progress)
            last = LAST if isinstance(estimator, DeepEstimator) else 1
            yield Result(
                dataset=data.name,
                method=name,
                model=str(estimator.get_params().get("model", "")),
                seed=seed,
                fold=fold,
                test_accuracy=_mean(records[-last:], "test_accuracy"),
                transductive_accuracy=_mean(records[-last:], "transductive_accuracy"),
                seconds=time.perf_counter() - started,
            )
            estimator.release()


def results_frame(results: Iterable[Result]) -> pd.DataFrame:
    """Return the results as a table with the columns of results.csv."""
    columns = list(Result.__dataclass_fields__)
    table = pd.DataFrame([asdict(result) for result in results], columns=columns)
    return table.astype({"test_accuracy": np.float64, "transductive_accuracy": np.float64})  # None becomes NaN


def summary(results: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard deviation per method, in percent, in the order of the methods.

    The deviation is that of the sample (n − 1).
    """
    grouped = results.groupby("method", sort=False)
    table = pd.DataFrame({"parts": grouped.size(), "seconds": grouped["seconds"].mean()})
    for what in ("transductive_accuracy", "test_accuracy"):
        values = grouped[what]
        table[f"{what}_mean"] = values.mean() * 100
        table[f"{what}_std"] = values.std(ddof=1) * 100
    return table.reset_index()


def paired_t_test(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return the two-sided p-value of a paired t-test of two methods on the same parts (paper: 5 %, five folds).

    Equal results on all parts give 1.

    >>> paired_t_test([0.9, 0.8], [0.9, 0.8])
    1.0
    """
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    if len(difference) < 2 or np.allclose(difference, difference[0]):
        return 1.0 if len(difference) < 2 or np.allclose(difference, 0) else 0.0
    return float(scipy.stats.ttest_1samp(difference, 0.0).pvalue)


def versus_first(results: pd.DataFrame, what: str = "test_accuracy") -> dict[str, str]:
    """Compare every method with the first by a paired t-test at the 5 % level: `"worse"`, `"better"` or `"equal"`.

    Parts on which only one of the two was tested are ignored.
    """
    by_method = results.pivot(index=["seed", "fold"], columns="method", values=what)
    first, *others = results["method"].unique()
    verdicts = {}
    for name in others:
        pair = by_method[[name, first]].dropna()
        p = paired_t_test(pair[name], pair[first])
        verdicts[str(name)] = "equal" if p >= 0.05 else "better" if pair[name].mean() > pair[first].mean() else "worse"
    return verdicts


def _records(
    name: str, estimator: PartialLabelEstimator, parts: Parts, progress: Progress | None
) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    for record in estimator.iter_fit(parts.task()):
        kept.append(record.metrics())  # not the record: its label weights take memory
        _tell(progress, name, record, estimator)
    return kept


def _tell(progress: Progress | None, name: str, record: EpochRecord, estimator: PartialLabelEstimator) -> None:
    if progress is not None:
        progress(name, record.epoch, estimator.total_epochs())


def _mean(records: list[dict[str, Any]], what: str) -> float | None:
    values = [record[what] for record in records]
    return None if not values or None in values else float(np.mean(values))
