"""Signals of a finished run for each example, which the orders of the queue use.

    review/neighbours.npy   (n, k) int32, the nearest other examples (−1: none), sought once in the background
    review/factor.npy       (n, r) float16, of the kernel ridge (pll.review.kernel_ridge), made with them
    review/leaves.npy       (n, T) int16, of the forest (pll.review.forest), made with them

`ReviewSignals.of_run` reads what is there and never waits for the slow parts; `prepare_signals` makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.io import write_atomically
from pll.methods import METHODS
from pll.review.forest import GROWN_ON, Leaves, grow_forest
from pll.review.kernel_ridge import Factor, fit_factor
from pll.review.label_snapshot import LabelSnapshot, snapshot_of
from pll.review.neighbours import Neighbourhood, Neighbours, best_points, find_neighbours
from pll.runs.folder import RunFolder
from pll.weights import VOTES, Flags, Floats, Ints, Weights, identified_labels

FOLDER = "review"
"""Of a run's folder, what is made for its review."""
SIGNAL_TYPES = {"factor": np.float16, "leaves": np.int16, "neighbours": np.int32}
"""The arrays in it, in the order in which they are written."""


@dataclass(frozen=True, eq=False)
class ReviewSignals:
    """All that an order may look at. Arrays of (nnz,) are aligned with `sets.indices`.

    Parameters
    ----------
    labels
        Of the n training examples, as the run has them.
    neighbours
        (n, k) rows of the nearest examples, −1 for none; None until `prepare_signals` has sought them.
    factor
        (n, r) of the kernel ridge in the same space; None until then.
    leaves
        (n, T) of the forest on the same points; None until then.
    votes
        (nnz,) share of an example's annotators who named the label; None without annotators, and where the run has
        weighed their answers.
    votes_alone
        Whether the labels come from votes and nothing else.
    tied_votes
        As for `taken_home`, until labels follow decisions.
    first
        Those of the run that the review began with, where this one was trained on decisions.
    """

    labels: LabelSnapshot
    neighbours: Neighbours | None = None
    votes: npt.NDArray[np.float32] | None = None
    factor: Factor | None = None
    leaves: Leaves | None = None
    votes_alone: bool = False
    tied_votes: Flags | None = None
    first: ReviewSignals | None = None

    @classmethod
    def of_run(cls, folder: RunFolder, data: PartialLabelDataset, first: Self | None = None) -> Self:
        """Read the signals that are in a run's folder.

        Parameters
        ----------
        folder
            Of a run that has a result.
        data
            Its training part (`Run.splits().train`).
        first
            As above; the examples are the same, so that its neighbours are.

        Raises
        ------
        UserError
            It has none yet.
        """
        sets = data.sets()
        is_weighed = data.change(VOTES) is not None
        features = {name: getattr(first, name) for name in SIGNAL_TYPES} if first else _of_features(folder, len(sets))
        return cls(
            snapshot_of(folder, data),
            votes=None if data.annotations is None or is_weighed else vote_shares(data.annotations, sets),
            votes_alone=not METHODS[folder.config().method].needs_features,
            tied_votes=data.tied_votes,
            first=first,
            **features,
        )

    @property
    def sets(self) -> CandidateSets:
        """The candidate sets of the run."""
        return self.labels.candidates

    @cached_property
    def neighbourhood(self) -> Neighbourhood | None:
        """Neighbour means; None until neighbours were computed."""
        return None if self.neighbours is None else Neighbourhood(self.neighbours, self.sets)

    @cached_property
    def ordered(self) -> dict[str, npt.NDArray[np.float32]]:
        """Where class names are numbers, such as ages: (nnz,) rank of the class, distance to the middle of the set.

        Both in units of their spread within the sets.
        """
        ranks = class_ranks(self.sets.class_names)
        if ranks is None:
            return {}
        rank = _off_mean(ranks[self.sets.indices].astype(np.float64), self.sets)
        result = {"rank": rank, "off_middle": _off_mean(np.abs(rank), self.sets)}
        return {name: (off / max(float(off.std()), 1e-6)).astype(np.float32) for name, off in result.items()}

    @cached_property
    def neighbour_labels(self) -> npt.NDArray[np.object_] | None:
        """(n,) names of the likeliest candidates to the neighbours, by the run's own labels; None without them."""
        if self.neighbourhood is None:
            return None
        likeliest = identified_labels(self.neighbourhood.shares(self.labels.shown), self.sets)
        return np.array(self.sets.class_names, dtype=object)[likeliest]


def prepare_signals(folder: RunFolder, data: PartialLabelDataset) -> ReviewSignals:
    """Compute and store neighbours, kernel ridge and forest, once per run; call it in the background when a run has
    ended. They are of the features (votes alone have none) and hold for ever.

    Parameters
    ----------
    folder
        Of the run that a review began with; those that were trained on decisions have its examples.
    data
        Its training part.

    Raises
    ------
    OSError
        The run was deleted meanwhile, or nothing can be written.
    """
    signals = ReviewSignals.of_run(folder, data)
    if signals.neighbours is not None or not data.X.size:
        return signals
    made = _sought(data, signals.sets, signals.labels.weights)
    (folder.path / FOLDER).mkdir(exist_ok=True)  # without parents: a run deleted meanwhile is not partly recreated
    for name, array in made.items():
        write_atomically(folder.path / FOLDER / f"{name}.npy", partial(np.save, arr=array), makes_folder=False)
    return replace(signals, **made)


def _sought(data: PartialLabelDataset, sets: CandidateSets, weights: Weights) -> dict[str, Any]:
    """Neighbours, factor and leaves. Texts without any known word have none: all would be like each other alone."""
    X, n = data.X, len(data)
    known = np.arange(n) if data.texts is None else np.flatnonzero(X.reshape(n, -1).any(axis=1))
    if is_part := 0 < len(known) < n:
        X, sets, weights = X[known], sets.take(known), weights[sets.positions(known)]
    points = best_points(X, sets, weights)
    made: dict[str, npt.NDArray[Any]] = {
        "factor": fit_factor(points, sets, weights),
        "leaves": grow_forest(points, sets, weights),
        "neighbours": find_neighbours(points),
    }
    if is_part:
        leaves, made["neighbours"] = made["leaves"], known[made["neighbours"]]
        apart = ~(np.where(leaves < 0, ~leaves, leaves).max(axis=0) + 1)  # a leaf of which no tree says anything
        nothing = {"factor": np.int64(0), "leaves": apart, "neighbours": np.int64(-1)}
        for name, of_known in made.items():
            made[name] = np.full((n, of_known.shape[1]), nothing[name], dtype=SIGNAL_TYPES[name])
            made[name][known] = of_known
    return made


def class_ranks(names: Sequence[str]) -> Ints | None:
    """(c,) ranks of class names that are numbers, such as ages; None for any other classes, or fewer than three.

    Examples
    --------
    >>> class_ranks(["5", "10", "7.5"]).tolist(), class_ranks(["a", "b", "1"])
    ([0, 2, 1], None)
    """
    try:
        values = np.array([float(name) for name in names])
    except ValueError:
        return None
    return np.argsort(np.argsort(values)) if len(values) > 2 and np.isfinite(values).all() else None


def _off_mean(values: Floats, sets: CandidateSets) -> Floats:
    """(nnz,) values less their mean over each set."""
    return np.asarray(values - (np.add.reduceat(values, sets.indptr[:-1]) / sets.sizes)[sets.rows])


def vote_shares(annotations: Annotations, sets: CandidateSets) -> npt.NDArray[np.float32]:
    """(nnz,) share of an example's annotators who named the label; 0 without an answer.

    Parameters
    ----------
    annotations
        Of the same examples.
    sets
        n candidate sets.
    """
    counts = np.asarray(annotations.votes[sets.rows, sets.indices]).ravel()
    return (counts / np.maximum(annotations.answers_per_row, 1)[sets.rows]).astype(np.float32)


def _of_features(folder: RunFolder, n: int) -> dict[str, Any]:
    """Neighbours, factor of the kernel ridge and leaves of the forest; nothing where one is missing or damaged."""
    most = min(n, GROWN_ON)  # a tree on half of so many examples has fewer nodes; sums over a node take memory
    limits = {"neighbours": (-1, n), "leaves": (-most, most)}
    made = {}
    for name, kind in SIGNAL_TYPES.items():
        try:
            array = np.load(folder.path / FOLDER / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return {}
        low, end = limits.get(name, (None, None))
        fits = array.ndim == 2 and len(array) == n and array.dtype == kind
        if not fits or (low is not None and not ((array >= low) & (array < end)).all()):
            return {}
        made[name] = array
    return made
