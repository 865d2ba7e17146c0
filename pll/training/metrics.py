"""Metrics of each epoch as one record, the same for every method; hooks and progress of training."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from pll.candidates import CandidateSets
from pll.weights import Ints, Sharpness, Weights, accuracy, sharpness


@dataclass(frozen=True)
class Metric:
    """What a metric is, for those who look at it.

    Attributes
    ----------
    title
        Its name on pages.
    unit
        `"%"` of a share; else what it counts or measures.
    of_labels
        Whether it is of label weights or predictions, which the final model has too; the others are of a training pass.
    against_truth
        Whether it needs true labels.
    caption
        What stands below it among the figures of a run; "" where it is not among them, or in a figure of its own kind.
    """

    title: str
    unit: str = "%"
    of_labels: bool = False
    against_truth: bool = False
    caption: str = ""

    @property
    def scale(self) -> float:
        """What a value is multiplied by to be in the unit."""
        return 100.0 if self.unit == "%" else 1.0


def _metric(title: str, unit: str = "%", **more: Any) -> dict[str, Metric]:
    return {"metric": Metric(title, unit, **more)}


@dataclass(frozen=True)
class EpochRecord:
    """Metrics of one epoch (one iteration of a method that has no epochs). Immutable: other threads read it.

    The fields up to `seconds` are the columns of metrics.csv, in order. A new metric is a field among them, which
    `Monitor.record` fills: the file, the final metrics and, with a caption, the figures of a run have it then.

    Attributes
    ----------
    epoch
        1, 2, …
    loss
        Mean loss over the epoch, before each step; None where the method has none.
    mean_confidence, mean_entropy
        Over the training examples, in [0, 1].
    changed_labels
        How many identified labels differ from the epoch before; 0 in the first.
    transductive_accuracy, test_accuracy
        Fractions; None without truth or test set.
    examples_per_second
        Of the training part alone.
    seconds
        Of the whole epoch, without pauses.
    label_weights
        (nnz,) float32.
    sharpness
        Identified label and sharpness of every example.
    """

    epoch: int
    loss: float | None = field(metadata=_metric("Training loss", "mean loss an example"))
    mean_confidence: float = field(metadata=_metric("Sharpness", of_labels=True))
    mean_entropy: float = field(metadata=_metric("Mean entropy", of_labels=True))
    changed_labels: int = field(metadata=_metric("Labels that changed", "labels"))
    transductive_accuracy: float | None = field(
        metadata=_metric("Identified correctly", of_labels=True, against_truth=True)
    )
    test_accuracy: float | None = field(
        metadata=_metric("Correct on unseen examples", of_labels=True, against_truth=True)
    )
    examples_per_second: float = field(metadata=_metric("Examples a second", "examples"))
    seconds: float = field(metadata=_metric("Time of an epoch", "seconds"))
    label_weights: Weights = field(repr=False, compare=False)
    sharpness: Sharpness = field(repr=False, compare=False)

    @property
    def identified(self) -> Ints:
        """Return (n,) int64 identified labels."""
        return self.sharpness.identified

    def metrics(self) -> dict[str, Any]:
        """Return the columns of metrics.csv, by name."""
        return {name: getattr(self, name) for name in METRICS}


ABOUT: dict[str, Metric] = {one.name: one.metadata["metric"] for one in fields(EpochRecord) if "metric" in one.metadata}
"""What each metric is; their order."""
METRICS: dict[str, type[int] | type[float]] = {
    one.name: int if one.type == "int" else float for one in fields(EpochRecord) if one.compare
}
"""The columns of metrics.csv, in order, and the type of their values."""
FINAL_METRICS = tuple(name for name, one in ABOUT.items() if one.of_labels)
"""Those that are also measured of the final model."""
TRUTH_METRICS = tuple(name for name, one in ABOUT.items() if one.against_truth)
"""Those that need true labels."""


class Monitor:
    """Creates epoch records from label weights and counts changes of identified labels.

    Parameters
    ----------
    candidates
        The candidate sets of the training examples.
    y
        (n,) true labels, −1 where unknown; used for the accuracy alone.
    y_test
        (n_test,) truth of the test examples.

    Attributes
    ----------
    identified
        (n,) int64, the identified labels of the last record; None before the first. A resumed run sets those of its
        checkpoint.
    """

    def __init__(self, candidates: CandidateSets, y: Ints | None = None, y_test: Ints | None = None) -> None:
        self.candidates = candidates
        self.y = y
        self.y_test = y_test
        self.identified: Ints | None = None

    def record(
        self,
        epoch: int,
        label_weights: Weights,
        *,
        predicted_test: Ints | None = None,
        loss: float | None = None,
        examples_per_second: float = 0.0,
        seconds: float = 0.0,
    ) -> EpochRecord:
        """Return the record of an epoch, compared with the one before.

        Parameters
        ----------
        epoch
            Its number, from 1.
        label_weights
            (nnz,) float32.
        predicted_test
            (m,) predicted labels of the test examples; None without.
        loss
            Mean training loss; None where there is none.
        examples_per_second, seconds
            Of this epoch.
        """
        sharp = sharpness(label_weights, self.candidates)
        before, self.identified = self.identified, sharp.identified
        return EpochRecord(
            epoch=epoch,
            loss=loss,
            mean_confidence=float(sharp.top.mean()),
            mean_entropy=float(sharp.entropy.mean()),
            changed_labels=0 if before is None else int((sharp.identified != before).sum()),
            transductive_accuracy=accuracy(sharp.identified, self.y),
            test_accuracy=None if predicted_test is None else accuracy(predicted_test, self.y_test),
            examples_per_second=examples_per_second,
            seconds=seconds,
            label_weights=label_weights,
            sharpness=sharp,
        )


Hook = Callable[[], None]
"""Called between mini-batches. It may wait (pause), and raise `StopTraining` to end the training."""


class StopTraining(Exception):
    """Raised by a hook to stop before the next mini-batch; parameters and weights so far remain.

    Its message is why training ended by itself, as a sentence; none where the user stopped it.
    """


def no_hook() -> None:
    """Do nothing."""


@dataclass(frozen=True, eq=False)
class TrainingProgress:
    """Progress of training between two mini-batches, as an immutable copy.

    Attributes
    ----------
    epoch
        Epochs completed.
    batch
        Mini-batches of the next epoch already used.
    batches
        Mini-batches of an epoch.
    label_weights
        (nnz,) float32, of the training passes so far.
    """

    epoch: int
    batch: int
    batches: int
    label_weights: Weights


OVERSHOT = 1.1
"""How far a mean loss may exceed that of a uniform prediction: weights change from step to step."""


def is_diverging(loss: float, top_loss: float | None) -> bool:
    """Return whether an epoch's mean loss is worse than that of a uniform prediction.

    Parameters
    ----------
    loss
        Of the epoch.
    top_loss
        Of a uniform prediction, log c for the cross-entropy; None where it is not known.

    Examples
    --------
    >>> is_diverging(7.5, 0.69), is_diverging(0.4, 0.69), is_diverging(7.5, None)
    (True, False, False)
    """
    return not math.isfinite(loss) or (top_loss is not None and loss > OVERSHOT * top_loss)
