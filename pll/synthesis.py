"""Candidate sets made from true labels, as the paper's experiments make them and in more ways, by name.

- binomial: each wrong label enters with probability q, and at least one does (the paper);
- pair: the next class alone enters, with probability q (the paper's supplement);
- uniform: any set that holds the truth, or any of a given size, is equally likely (Feng et al. 2020; Cour et al. 2011);
- matrix: a probability for each pair of classes (Wen et al. 2021);
- instance: the likelier a classifier finds a wrong label, the likelier it enters (Xu et al. 2021).

>>> flip("binomial", [0, 1, 2], 3, q=0.0, seed=0).sizes.tolist()
[2, 2, 2]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.drawing import (
    binomial_matrix,
    checked_truth,
    flip_binomial,
    flip_by_instance,
    flip_pair,
    flip_uniform,
    flip_with_matrix,
    instance_probabilities,
    pair_matrix,
    uniform_matrix,
)
from pll.errors import UserError
from pll.outoffold import Progress, judged
from pll.transitions import Matrix, as_numbers, checked_transitions, read_matrix

__all__ = [
    "FLIPS",
    "Flip",
    "Way",
    "binomial_matrix",
    "flip",
    "flip_binomial",
    "flip_by_instance",
    "flip_matrix_of",
    "flip_pair",
    "flip_uniform",
    "flip_with_matrix",
    "instance_probabilities",
    "pair_matrix",
    "uniform_matrix",
]


@dataclass(frozen=True)
class Way:
    """A way to make candidate sets.

    Attributes:
        title: for a page.
        needs: settings of `Flip` that must be given.
        takes: settings that may be given.
    """

    title: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


FLIPS: dict[str, Way] = {
    "binomial": Way("Binomial: every wrong label enters with probability q", needs=("q",)),
    "pair": Way("Pair: only the next class enters, with probability q", needs=("q",)),
    "uniform": Way("Uniform: any set, or any of a given size, is equally likely", takes=("size",)),
    "matrix": Way("Matrix: a probability for each pair of classes", needs=("matrix",)),
    "instance": Way("By example: labels a classifier finds likely enter", takes=("q",)),
}
"""The ways to synthesise candidate sets, by the name the pages and the command line use."""


@dataclass(frozen=True)
class Flip:
    """How candidate sets are made from true labels; plain values only, so that a run can write it down.

    Args:
        how: a name of `FLIPS`.
        q: flipping probability of `binomial` and `pair`; mean rate of `instance` (None: its equation as it is).
        size: of the sets, for `uniform`; None for sets of any size.
        matrix: for `matrix`: (c, c) numbers, or the path of a file that `pll.transitions.read_matrix` reads.

    Raises:
        UserError: no such way, or a setting that is missing or does not belong to it.

    >>> Flip("binomial", 0.7).words, Flip("uniform", size=3).words
    ('binomial, q = 0.7', 'uniform, size = 3')
    """

    how: str
    q: float | None = None
    size: int | None = None
    matrix: tuple[tuple[float, ...], ...] | str | None = None

    def __post_init__(self) -> None:
        if self.how not in FLIPS:
            raise UserError(f"There is no way to make candidates called {self.how!r}; use one of {', '.join(FLIPS)}.")
        way = FLIPS[self.how]
        for name in ("q", "size", "matrix"):
            given = getattr(self, name) is not None
            if name in way.needs and not given:
                raise UserError(f"Candidates made the way {self.how!r} need {SETTINGS[name]}.")
            if given and name not in way.needs + way.takes:
                raise UserError(f"Candidates made the way {self.how!r} take no {name}; leave it out.")
        if self.matrix is not None and not isinstance(self.matrix, str):
            # A list from JSON, an array, a tuple: one form, that can be compared and written down.
            object.__setattr__(self, "matrix", tuple(tuple(row) for row in as_numbers(self.matrix).tolist()))

    @property
    def words(self) -> str:
        """What it says, in a few words."""
        settings = [f"{name} = {value:g}" for name in ("q", "size") if (value := getattr(self, name)) is not None]
        if isinstance(self.matrix, str):
            settings.append(self.matrix)
        return ", ".join([self.how, *settings])

    def transitions(self, n_classes: int, class_names: Sequence[str] = ()) -> Matrix:
        """The matrix of the way `matrix`, read and checked.

        Raises:
            UserError: no such file, or not a transition matrix of these classes.
        """
        names = tuple(class_names) or tuple(str(j) for j in range(n_classes))
        assert self.matrix is not None  # __post_init__
        matrix = read_matrix(self.matrix, names) if isinstance(self.matrix, str) else self.matrix
        return checked_transitions(matrix, names)


SETTINGS = {
    "q": "q, the probability that a wrong label enters (0-1)",
    "size": "the size of the sets",
    "matrix": "a matrix, Pr(j is a candidate) for each true label (row) and label j (column)",
}


def flip(
    how: str | Flip,
    y: npt.ArrayLike,
    n_classes: int,
    q: float | None = None,
    seed: int = 0,
    class_names: Sequence[str] = (),
    *,
    X: npt.ArrayLike | None = None,
    probabilities: npt.ArrayLike | None = None,
    progress: Progress | None = None,
) -> CandidateSets:
    """Candidate sets by the name of the way, or by a `Flip`.

    Args:
        how: a name of `FLIPS` (with `q`), or a `Flip`.
        X: (n, d) or (n, C, H, W) features, for `instance`: a logistic regression is fitted on them out of fold.
        probabilities: (n, c) of a classifier of one's own, for `instance`, instead of X.
        progress: called as (folds done, folds in all) while that regression is fitted.
            Other arguments as for `flip_binomial`.

    Raises:
        UserError: no such way, a setting that is missing, or as the way says.
    """
    way = Flip(how, q) if isinstance(how, str) else how
    if way.how == "binomial":
        return flip_binomial(y, n_classes, way.q or 0.0, seed, class_names)
    if way.how == "pair":
        return flip_pair(y, n_classes, way.q or 0.0, seed, class_names)
    if way.how == "uniform":
        return flip_uniform(y, n_classes, way.size, seed, class_names)
    if way.how == "matrix":
        return flip_with_matrix(y, n_classes, way.transitions(n_classes, class_names), seed, class_names)
    found = _probabilities(y, n_classes, X, probabilities, seed, progress)
    return flip_by_instance(y, n_classes, found, way.q, seed, class_names)


def flip_matrix_of(
    how: Flip,
    n_classes: int,
    class_names: Sequence[str] = (),
    *,
    y: npt.ArrayLike | None = None,
    X: npt.ArrayLike | None = None,
    probabilities: npt.ArrayLike | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Matrix:
    """What a way is about to do: Pr(j ∈ S | y) at [y, j], to be shown before it is done.

    For `binomial` this is the paper's matrix, without the label that is forced on a set of one. For `instance` it is
    the mean over the examples of a class, NaN for a class without any. `pll.ambiguity.flip_matrix` gives what came of
    it, `pll.ambiguity.ambiguity_degree` the exact γ.

    Args:
        y, X, probabilities, seed, progress: for `instance` alone, as for `flip`.

    Returns:
        (c, c) float64 in [0, 1].

    Raises:
        UserError: as `flip`.
    """
    if how.how in ("binomial", "pair"):
        checked_truth([], n_classes, how.q)
        return (binomial_matrix if how.how == "binomial" else pair_matrix)(n_classes, how.q or 0.0)
    if how.how == "uniform":
        flip_uniform([], n_classes, how.size)  # says what is wrong with the size
        return uniform_matrix(n_classes, how.size)
    if how.how == "matrix":
        return how.transitions(n_classes, class_names)
    if y is None:
        raise UserError(
            "The matrix of instance-dependent flipping depends on the data; give y, and X or probabilities."
        )
    truth = checked_truth(y, n_classes)
    found = _probabilities(truth, n_classes, X, probabilities, seed, progress)
    chances = instance_probabilities(truth, n_classes, found, how.q)
    of_class = [chances[truth == label] for label in range(n_classes)]
    nobody = np.full(n_classes, np.nan)
    return np.stack([part.mean(axis=0, dtype=np.float64) if len(part) else nobody for part in of_class])


def _probabilities(
    y: npt.ArrayLike,
    n_classes: int,
    X: npt.ArrayLike | None,
    probabilities: npt.ArrayLike | None,
    seed: int,
    progress: Progress | None,
) -> npt.ArrayLike:
    if probabilities is not None:
        return probabilities
    if X is None:
        raise UserError("Instance-dependent flipping looks at the features; give X, or a classifier's probabilities.")
    return judged(X, checked_truth(y, n_classes), n_classes, seed=seed, progress=progress)
