"""Synthesis of candidate sets from true labels: `flip` by name, and one function for each way.

In all but the uniform way every wrong label has a probability, and labels enter independently. Every function returns
the same sets for the same seed, on every machine. `Flip` describes a way with its settings, as pages, the shell and
config.json store it.

>>> flip("binomial", [0, 1, 2], 3, q=0.0, seed=0).sizes.tolist()
[2, 2, 2]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets, whole_numbers
from pll.errors import UserError, unknown
from pll.io import blocks
from pll.synthesis.cross_val import FoldsDone, cached_out_of_fold
from pll.synthesis.names import FLIP_SETTINGS, FLIPS, Way
from pll.synthesis.transitions import Matrix, as_numbers, checked_transitions, read_matrix
from pll.weights import Flags, Floats, Ints

DRAWN_AT_ONCE = 2**22
"""Random numbers drawn at a time. Their order does not depend on it."""


@dataclass(frozen=True)
class Flip:
    """A way to synthesise candidate sets, with its settings: plain values only, so that a run can store it.

    Parameters
    ----------
    how
        A name of `FLIPS`.
    q
        Flipping probability of `binomial` and `pair`; mean rate of `instance` (None: its equation as it is).
    size
        Of the sets, for `uniform`; None for sets of any size.
    matrix
        For `matrix`: (c, c) numbers, or the path of a file that `pll.synthesis.transitions.read_matrix` reads.

    Raises
    ------
    UserError
        No such way, or a setting that is missing or does not belong to it.

    Examples
    --------
    >>> Flip("binomial", 0.7).words, Flip("uniform", size=3).words
    ('binomial, q = 0.7', 'uniform, size = 3')
    """

    how: str
    q: float | None = None
    size: int | None = None
    matrix: tuple[tuple[float, ...], ...] | str | None = None

    def __post_init__(self) -> None:
        if self.how not in FLIPS:
            raise unknown("way to make candidates", self.how, FLIPS)
        way = FLIPS[self.how]
        for name in FLIP_SETTINGS:
            is_set = getattr(self, name) is not None
            if name in way.needs and not is_set:
                hint = "--q 0.7" if name == "q" else f"--flip {self.how}:FILE, or --confusion FILE"
                raise UserError(f"Candidates made the way {self.how!r} need {FLIP_SETTINGS[name]}.", shell=hint)
            if is_set and name not in way.needs + way.takes:
                raise UserError(f"Candidates made the way {self.how!r} take no {name}; leave it out.")
        if self.matrix is not None and not isinstance(self.matrix, str):
            # A list from JSON, an array, a tuple: one form that can be compared and stored.
            object.__setattr__(self, "matrix", tuple(tuple(row) for row in as_numbers(self.matrix).tolist()))

    @classmethod
    def parse(cls, text: str, q: float | None = None) -> Flip:
        """From `binomial`, `uniform:3` or `matrix:FILE`: what a way takes besides q may follow its name.

        Parameters
        ----------
        text
            The name of a way, and what follows it.
        q
            Flipping probability, in [0, 1].

        Raises
        ------
        UserError
            Not of this form, or as `Flip`.

        Examples
        --------
        >>> Flip.parse("binomial", 0.7), Flip.parse("uniform:3").size
        (Flip(how='binomial', q=0.7, size=None, matrix=None), 3)
        """
        how, _, value = text.partition(":")
        way = FLIPS.get(how)
        if way is None or not value:
            return cls(how, q)
        if "matrix" in way.needs + way.takes:
            return cls(how, q, matrix=value)
        if not value.isdecimal():
            raise UserError(f"{text!r}: {value!r} is not a whole number; write for example uniform:3.")
        return cls(how, q, size=int(value))

    def __str__(self) -> str:
        """As `parse` takes it, without q; of a matrix its file alone."""
        value = self.size if self.size is not None else self.matrix if isinstance(self.matrix, str) else None
        return self.how if value is None else f"{self.how}:{value}"

    @property
    def way(self) -> Way:
        """What it is a setting of."""
        return FLIPS[self.how]

    @property
    def words(self) -> str:
        """The way and its settings, for a page."""
        settings = [f"{name} = {value:g}" for name in ("q", "size") if (value := getattr(self, name)) is not None]
        if isinstance(self.matrix, str):
            settings.append(self.matrix)
        return ", ".join([self.how, *settings])

    def settings(self, n_classes: int, class_names: Sequence[str] = ()) -> dict[str, Any]:
        """Return what the functions of its way take, by name; a matrix is read and checked.

        Parameters
        ----------
        n_classes
            c.
        class_names
            c names; by default "0" … "c-1".

        Raises
        ------
        UserError
            No such file, or not a transition matrix of these classes.
        """
        given = {name: getattr(self, name) for name in self.way.needs + self.way.takes}
        if self.matrix is not None:
            names = tuple(class_names) or tuple(str(j) for j in range(n_classes))
            matrix = read_matrix(self.matrix, names) if isinstance(self.matrix, str) else self.matrix
            given["matrix"] = checked_transitions(matrix, names)
        return given


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
    progress: FoldsDone | None = None,
) -> CandidateSets:
    """Synthesise candidate sets by the name of the way, or by a `Flip`.

    Parameters
    ----------
    how
        A name of `FLIPS` (with `q`), or a `Flip`.
    y
        (n,) true labels in [0, n_classes).
    n_classes, q, seed, class_names
        As for `flip_binomial`.
    X
        (n, d) or (n, C, H, W) features, for `instance`: a logistic regression is fitted on them out of fold.
    probabilities
        (n, c) of a classifier of one's own, for `instance`, instead of X.
    progress
        Called as (folds done, folds in all) while that regression is fitted.

    Raises
    ------
    UserError
        No such way, a setting that is missing, or as the function of the way.
    """
    by = Flip(how, q) if isinstance(how, str) else how
    given: dict[str, Any] = by.settings(n_classes, class_names)
    if by.way.by_example:
        given["probabilities"] = _probabilities(y, n_classes, X, probabilities, seed, progress)
    draw: Callable[..., CandidateSets] = globals()[by.way.draw]
    return draw(y, n_classes, **given, seed=seed, class_names=class_names)


def flip_matrix_of(
    how: Flip,
    n_classes: int,
    class_names: Sequence[str] = (),
    *,
    y: npt.ArrayLike | None = None,
    X: npt.ArrayLike | None = None,
    probabilities: npt.ArrayLike | None = None,
    seed: int = 0,
    progress: FoldsDone | None = None,
) -> Matrix:
    """Return Pr(j ∈ S | y) at [y, j] of a way, to be shown before sets are drawn.

    For `binomial` this is the paper's matrix, without the label that is forced on a set of one. For `instance` it is
    the mean over the examples of a class, NaN for a class without any. `pll.synthesis.ambiguity.flip_matrix` gives
    what came of it, `pll.synthesis.ambiguity.ambiguity_degree` the exact γ.

    Parameters
    ----------
    how
        The way.
    n_classes
        c.
    class_names
        c names; by default "0" … "c-1".
    y, X, probabilities, seed, progress
        For `instance` alone, as for `flip`.

    Returns
    -------
    Matrix
        (c, c) float64 in [0, 1].

    Raises
    ------
    UserError
        As `flip`.
    """
    given: dict[str, Any] = how.settings(n_classes, class_names)
    if how.way.by_example:
        if y is None:
            raise UserError(
                "The matrix of instance-dependent flipping depends on the data; give y, and X or probabilities."
            )
        given |= {"y": y, "probabilities": _probabilities(y, n_classes, X, probabilities, seed, progress)}
    checked_truth([], n_classes, how.q)
    matrix: Callable[..., Matrix] = globals()[how.way.matrix]
    return matrix(n_classes, **given)


def _probabilities(
    y: npt.ArrayLike,
    n_classes: int,
    X: npt.ArrayLike | None,
    probabilities: npt.ArrayLike | None,
    seed: int,
    progress: FoldsDone | None,
) -> npt.ArrayLike:
    if probabilities is not None:
        return probabilities
    if X is None:
        raise UserError("Instance-dependent flipping looks at the features; give X, or a classifier's probabilities.")
    return cached_out_of_fold(X, checked_truth(y, n_classes), n_classes, seed=seed, progress=progress)


def flip_binomial(
    y: npt.ArrayLike, n_classes: int, q: float, seed: int = 0, class_names: Sequence[str] = ()
) -> CandidateSets:
    """Binomial flipping: each wrong label enters with probability q (paper, supplement).

    An example left with only its true label gets one random wrong label. A set that became the whole label set stays.

    Parameters
    ----------
    y
        (n,) true labels in [0, n_classes).
    n_classes
        c.
    q
        Flipping probability in [0, 1].
    seed
        Of the draw.
    class_names
        c names; by default "0" … "c-1".

    Raises
    ------
    UserError
        q outside [0, 1], fewer than two classes, a label that is unknown.

    Examples
    --------
    >>> flip_binomial([0, 1, 2], n_classes=3, q=0.0, seed=0).sizes.tolist()
    [2, 2, 2]
    """
    truth = checked_truth(y, n_classes, q)
    rng = _generator(seed)
    mask = _sampled(truth, binomial_matrix(n_classes, q), rng)
    alone = np.flatnonzero(mask.sum(axis=1) == 1)
    # A random wrong label: skip ahead of the true one by 1 … c−1 places.
    mask[alone, (truth[alone] + rng.integers(1, n_classes, size=len(alone))) % n_classes] = True
    return CandidateSets.from_mask(mask, class_names)


def flip_pair(
    y: npt.ArrayLike, n_classes: int, q: float, seed: int = 0, class_names: Sequence[str] = ()
) -> CandidateSets:
    """Pair flipping: only label (y + 1) mod c enters, with probability q; sets of one stay (paper, supplement).

    Parameters
    ----------
    y
        (n,) true labels in [0, n_classes).
    n_classes, seed, class_names
        As for `flip_binomial`.
    q
        Flipping probability in [0, 1].

    Raises
    ------
    UserError
        As `flip_binomial`.

    Examples
    --------
    >>> flip_pair([0, 1, 2], n_classes=3, q=1.0, seed=0)[2].tolist()
    [0, 2]
    """
    truth = checked_truth(y, n_classes, q)
    mask = _sampled(truth, pair_matrix(n_classes, q), _generator(seed))
    return CandidateSets.from_mask(mask, class_names)


def flip_uniform(
    y: npt.ArrayLike, n_classes: int, size: int | None = None, seed: int = 0, class_names: Sequence[str] = ()
) -> CandidateSets:
    """Uniform sets: every possible set, or every one of a given size, is equally likely.

    Without a size, these are the 2^(c−1) − 1 sets that hold the true label and not all labels (Feng et al., NeurIPS
    2020, "Provably consistent partial-label learning", §3). With a size, the true label and size − 1 wrong ones (the
    controlled experiments of Cour, Sapp & Taskar, JMLR 2011).

    Parameters
    ----------
    y, n_classes, seed, class_names
        As for `flip_binomial`.
    size
        In [1, c].

    Raises
    ------
    UserError
        A size outside [1, c], or as `flip_binomial`.

    References
    ----------
    Feng, Lv, Han, Xu, Niu, Geng, An & Sugiyama, Provably consistent partial-label learning, NeurIPS 2020.
    Cour, Sapp & Taskar, Learning from partial labels, JMLR 12, 2011.

    Examples
    --------
    >>> flip_uniform([0, 1, 2], n_classes=4, size=3).sizes.tolist()
    [3, 3, 3]
    """
    truth, rng = checked_truth(y, n_classes), _generator(seed)
    if size is None:
        half = binomial_matrix(n_classes, 0.5)
        mask = _sampled(truth, half, rng)
        whole = np.flatnonzero(mask.all(axis=1))
        while len(whole):
            mask[whole] = _sampled(truth[whole], half, rng)
            whole = whole[mask[whole].all(axis=1)]
        return CandidateSets.from_mask(mask, class_names)
    _check_size(size, n_classes)
    mask = np.zeros((len(truth), n_classes), dtype=np.bool_)
    for some in _pieces(len(truth), n_classes):
        drawn = rng.random((len(truth[some]), n_classes))
        drawn[np.arange(len(drawn)), truth[some]] = -1.0  # always among the smallest
        np.put_along_axis(mask[some], np.argpartition(drawn, size - 1, axis=1)[:, :size], True, axis=1)
    return CandidateSets.from_mask(mask, class_names)


def flip_with_matrix(
    y: npt.ArrayLike, n_classes: int, matrix: npt.ArrayLike, seed: int = 0, class_names: Sequence[str] = ()
) -> CandidateSets:
    """Class-dependent flipping: label j enters with probability matrix[y, j], independently of the others.

    This is the noise of Wen et al. (ICML 2021, "Leveraged weighted loss for partial label learning"). Sets of one and
    whole label sets stay.

    Parameters
    ----------
    y
        (n,) true labels.
    n_classes
        c.
    matrix
        (c, c) probabilities, 1 on the diagonal; see `pll.synthesis.transitions` for ways to come by one. Other
        arguments and errors as for `flip_binomial`.
    seed
        Of the draw.
    class_names
        c names; by default "0" … "c-1".

    Raises
    ------
    UserError
        Not a transition matrix; row and column are named.

    References
    ----------
    Wen, Cui, Hang, Liu, Wang & Lin, Leveraged weighted loss for partial label learning, ICML 2021.

    Examples
    --------
    >>> flip_with_matrix([0, 1], 2, [[1, 1], [0, 1]])[0].tolist()
    [0, 1]
    """
    truth = checked_truth(y, n_classes)
    names = tuple(class_names) or tuple(str(j) for j in range(n_classes))
    mask = _sampled(truth, checked_transitions(matrix, names), _generator(seed))
    return CandidateSets.from_mask(mask, class_names)


def flip_by_instance(
    y: npt.ArrayLike,
    n_classes: int,
    probabilities: npt.ArrayLike,
    q: float | None = None,
    seed: int = 0,
    class_names: Sequence[str] = (),
) -> CandidateSets:
    """Instance-dependent flipping: a wrong label is likelier to enter where a classifier finds it likely.

    `instance_probabilities` has the equation. Sets of one and whole label sets stay.

    Parameters
    ----------
    y, n_classes, q, seed, class_names
        As for `flip_binomial`; q as for `instance_probabilities`.
    probabilities
        (n, c) of a classifier that did not learn from these very examples, as `pll.synthesis.cross_val.out_of_fold`
        gives them.

    Examples
    --------
    >>> flip_by_instance([0], 3, [[0.6, 0.4, 0.0]]).names(0)
    ['0', '1']
    """
    truth, rng = checked_truth(y, n_classes), _generator(seed)
    chances = instance_probabilities(truth, n_classes, probabilities, q)
    mask = np.empty(chances.shape, dtype=np.bool_)
    for some in _pieces(len(truth), n_classes):
        mask[some] = rng.random(chances[some].shape) < chances[some]
    mask[np.arange(len(truth)), truth] = True
    return CandidateSets.from_mask(mask, class_names)


def instance_probabilities(
    y: npt.ArrayLike, n_classes: int, probabilities: npt.ArrayLike, q: float | None = None
) -> npt.NDArray[np.float32]:
    """Compute the probability that each label enters the set of each example.

    Xu et al. (NeurIPS 2021, "Instance-dependent partial label learning") divide the classifier's probabilities of the
    wrong labels by the highest of them: the likeliest wrong label always enters, and γ is near 1 where classes are
    alike. Their code scales this further to a mean rate, and so does `q`: the wrong labels of an example enter with
    probability q on average, less where that would take one above 1.

    Parameters
    ----------
    y
        (n,) true labels in [0, n_classes).
    n_classes
        c, at least 2.
    probabilities
        (n, c), at least 0.
    q
        The mean rate in [0, 1]; None for their equation as it is.

    Returns
    -------
    npt.NDArray[np.float32]
        (n, c) float32, 1 for the true label.

    Raises
    ------
    UserError
        A shape that does not fit, numbers that are none (the row is named), or as `flip_binomial`.

    References
    ----------
    Xu, Qiao, Geng & Zhang, Instance-dependent partial label learning, NeurIPS 2021.
    """
    truth = checked_truth(y, n_classes, q)
    chances = np.array(probabilities, dtype=np.float32)
    if chances.shape != (len(truth), n_classes):
        raise UserError(
            f"The classifier's probabilities have shape {chances.shape}; {len(truth)} examples of {n_classes} classes "
            f"need {(len(truth), n_classes)}."
        )
    bad = np.flatnonzero(~(np.isfinite(chances) & (chances >= 0)).all(axis=1))
    if len(bad):
        raise UserError(f"Row {int(bad[0])}: the classifier's probabilities must be numbers, 0 or more.")
    mine = (np.arange(len(truth)), truth)
    chances[mine] = 0.0
    whole = chances.max(axis=1, initial=0.0) if q is None else chances.sum(axis=1)
    # A row of zeros stays: no similar class.
    np.divide(chances, whole[:, None], out=chances, where=whole[:, None] > 0)
    chances *= 1.0 if q is None else q * (n_classes - 1)
    np.minimum(chances, 1.0, out=chances)
    chances[mine] = 1.0
    return chances


def binomial_matrix(n_classes: int, q: float) -> Floats:
    """Return (c, c) with q everywhere off the diagonal (paper, supplement: binomial flipping).

    This is the matrix before the forced extra label; the ambiguity degree of the sets is
    q + (1 − q)^(c−1) / (c − 1).

    Parameters
    ----------
    n_classes
        c.
    q
        Flipping probability, in [0, 1].
    """
    matrix = np.full((n_classes, n_classes), float(q))
    np.fill_diagonal(matrix, 1.0)
    return matrix


def pair_matrix(n_classes: int, q: float) -> Floats:
    """Return (c, c) with q for label (y + 1) mod c alone (paper, supplement: pair flipping).

    Parameters
    ----------
    n_classes
        c.
    q
        Flipping probability, in [0, 1].
    """
    matrix = np.eye(n_classes)
    matrix[np.arange(n_classes), (np.arange(n_classes) + 1) % n_classes] = q
    return matrix


def uniform_matrix(n_classes: int, size: int | None = None) -> Matrix:
    """Return (c, c) with the probability that a wrong label is in a set of `flip_uniform`; 1 on the diagonal.

    Parameters
    ----------
    n_classes
        c.
    size
        Labels of a set; None where every set with the true label is as likely.
    """
    if size is None:  # (2^(c−2) − 1) of the 2^(c−1) − 1 sets hold a given wrong label
        whole = 0.5 ** (n_classes - 1)
        return binomial_matrix(n_classes, (0.5 - whole) / (1 - whole))
    _check_size(size, n_classes)
    return binomial_matrix(n_classes, (size - 1) / (n_classes - 1))


def _check_size(size: int, n_classes: int) -> None:
    if not 1 <= size <= n_classes:
        raise UserError(
            f"The size of the sets is {size}; with {n_classes} classes it must lie between 1 and {n_classes}."
        )


def checked_matrix(n_classes: int, matrix: Matrix) -> Matrix:
    """Return the (c, c) matrix of the way `matrix`, which `Flip.settings` has read and checked.

    Parameters
    ----------
    n_classes
        c.
    matrix
        (c, c), read and checked.
    """
    return matrix


def mean_instance_matrix(
    n_classes: int, y: npt.ArrayLike, probabilities: npt.ArrayLike, q: float | None = None
) -> Matrix:
    """Return (c, c) with the mean of `instance_probabilities` over the examples of a class; NaN where it has none.

    Parameters
    ----------
    n_classes
        c.
    y
        (n,) true labels.
    probabilities
        (n, c) of a classifier.
    q
        As for `instance_probabilities`.
    """
    truth = checked_truth(y, n_classes)
    chances = instance_probabilities(truth, n_classes, probabilities, q)
    of_class = [chances[truth == label] for label in range(n_classes)]
    absent = np.full(n_classes, np.nan)
    return np.stack([part.mean(axis=0, dtype=np.float64) if len(part) else absent for part in of_class])


def checked_truth(y: npt.ArrayLike, n_classes: int, q: float | None = None) -> Ints:
    """Return (n,) true labels y as int64, checked to lie in [0, n_classes).

    Parameters
    ----------
    y
        (n,) whole numbers.
    n_classes
        c.
    q
        Checked too, where it is given.

    Raises
    ------
    UserError
        An unknown label or one out of range, q outside [0, 1], or fewer than two classes.
    """
    if q is not None and not 0.0 <= q <= 1.0:
        raise UserError(f"The flipping probability q is {q}; it must lie between 0 and 1.")
    if n_classes < 2:
        raise UserError(f"Candidates need at least two classes to choose from; there are {n_classes}.")
    truth = whole_numbers(y, "true labels")
    bad = np.flatnonzero((truth < 0) | (truth >= n_classes))
    if len(bad):
        raise UserError(
            f"Row {int(bad[0])}: the true label is {'not known' if truth[bad[0]] < 0 else 'out of range'} "
            f"({len(bad)} such rows); candidates can be synthesised from known true labels only."
        )
    return truth


def _generator(seed: int) -> np.random.Generator:
    if seed < 0:
        raise UserError(f"The seed is {seed}; it must be a whole number, 0 or more.")
    return np.random.default_rng(seed)


def _sampled(truth: Ints, matrix: Floats, rng: np.random.Generator) -> Flags:
    n, c = len(truth), len(matrix)
    mask = np.empty((n, c), dtype=np.bool_)
    for some in _pieces(n, c):
        mask[some] = rng.random((len(truth[some]), c)) < matrix[truth[some]]
    mask[np.arange(n), truth] = True
    return mask


def _pieces(n: int, c: int) -> Iterator[slice]:
    """Rows piece by piece: n × c random numbers would cost 8 times the mask."""
    return blocks(n, max(1, DRAWN_AT_ONCE // c))
