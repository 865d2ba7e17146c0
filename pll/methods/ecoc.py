"""PL-ECOC, disambiguation-free partial label learning (Zhang, Yu & Tang, IEEE TKDE 29(10), 2017).

Idea: no candidate is ever identified in training. A column of an error-correcting code divides the classes into Y⁺
and Y⁻; an example whose *whole* candidate set lies on one side belongs there whichever candidate is true. Each column
is a binary problem on such examples.

1. Coding. Of random dichotomies, L = ⌈10 log2 c⌉ columns with at least τ = n/10 usable examples, in at most 2,000
   tries: M ∈ {+1, −1}^{c×L}; example i trains column t as positive if S_i ⊆ Y⁺_t, as negative if S_i ⊆ Y⁻_t, else not
   at all.
2. A support vector machine f_t for each column (libsvm's defaults: RBF kernel exp(−‖x − z‖²/d)).
3. Performance. H_jt = share of the examples with j ∈ S_i where sign f_t(x_i) = M_jt; rows of H divided by their sums.
4. Decoding. loss_j(x) = Σ_t H_jt exp(−f_t(x) M_jt); the predicted label is argmin_j, the identified one argmin over
   S_i.

Where sets are large, hardly any lies wholly on one side (q = 0.7, ten classes: about 4 of 1,438 examples). The
following is not in the paper, and `notes_` reports each use:
- Both sides of a column must hold examples, at least τ/4 each. (The paper asks for any; a column with one negative
  example is of no use.)
- Dichotomies that fail are used at the highest *purity* ρ of 0.9, 0.8, 0.7, 0.6 at which they pass. Let r± = |S_i ∩ Y±|
  / h(Y±), where h(Y) counts how often candidates of all sets lie in Y; an example is positive if r⁺ / (r⁺ + r⁻) ≥ ρ.
  Without the division by h, a set without information would lie on the side with more classes.
  Both sides of such a column have the same weight in its SVM: with p⁺, p⁻ the chances that an example of Y⁺ (n⁺ of
  them) is taken as positive or negative, and p'⁺, p'⁻ those of Y⁻, the SVM decides for the right side of both if the
  ratio of the weights lies between p⁻/p⁺ and p'⁻/p'⁺, and that of equal sides, (n⁺p⁻ + n⁻p'⁻) / (n⁺p⁺ + n⁻p'⁺), always
  does. Three relaxed columns replace each missing pure one. `min_purity=1` is the paper's form.
- If none passes, those with the largest smaller side are taken; if none has examples on both sides, one column per
  class separates the sets that hold it from those that do not.

Measurements of these variants: docs/research/methods.md.

Beyond 10,000 examples the rbf kernel is approximated by 1,024 of them (Nyström) and all columns of an epoch are
trained at once, with the squared hinge, by a batched Newton method; `notes_` reports the error of the kernel.

A class that no set holds is never predicted. Label weights: softmax of −10 · loss over S_i (the factor makes
confidence follow accuracy on digits and does not change the order). An epoch is a tenth of the columns.

Hyper-parameters: `kernel` (`"rbf"`, or `"linear"`: squared hinge); `C` (`"auto"`: 1 or 10, whichever has the higher
covering rate in cross-validation on up to 1,000 examples, without any truth); `length` (L, None for ⌈10 log2 c⌉: the
PRODEN paper's supplement says log2 c, which cannot be meant, as 4 columns hardly distinguish ten classes); `min_usable`
(τ/n, 0.1); `min_purity` (0.6); `stand_ins` (3); `max_tries` (2000).

Complexity: drawing O(tries · nnz); rbf O(L·m²·d) with m usable examples a column and O(L·n·m·d) for the decisions,
beyond 10,000 examples O(1024·n·(d + 100·L)), linear O(L·m·d) a pass; a prediction O(s·(d + L)) with s support vectors
altogether, or O(L·d). Memory 24·n·L bytes, 16·n·d and, beyond 10,000 examples, 4,096·n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.svm import SVC, LinearSVC

from pll.candidates import CandidateSets
from pll.io import blocks
from pll.methods.base import KERNELS, setting
from pll.methods.classical import ClassicalEstimator, Cost, Iterations, on_candidates_by_blocks
from pll.methods.kernels import EXACT_KERNEL_UP_TO, KERNEL_BLOCK, Nystrom, linear_in_kernel, nystrom_note
from pll.training.metrics import Hook
from pll.weights import Flags, Floats, Ints, restricted_softmax, sparse

COLUMN_PARTS = 10
MACHINE_C_GRID = (1.0, 10.0)
"""The C that `"auto"` chooses from, the first of equals."""
C_ROWS = 1000
"""Maximum number of examples by which C is chosen."""
SHARPNESS = 10.0
"""Label weights are the softmax of −10 · loss."""
DECISION_CLIP = 30.0
"""Outputs are clipped to ±30: exp(30) dominates any sum."""


class PLECOC(ClassicalEstimator):
    """Error-correcting output codes for candidate sets (Zhang et al. 2017); see the docstring of the module.

    Parameters
    ----------
    kernel
        `"rbf"` or `"linear"`.
    C
        Weight of the SVMs' loss against their regulariser, above 0; `"auto"` chooses 1 or 10 by the covering rate.
    length
        L, columns at most, at least 1; None takes ⌈10 log2 c⌉.
    min_usable
        Share of the examples that a column must be able to use, in (0, 1].
    min_purity
        The smallest share of a set that must lie on one side to be used there, from 0.6 to 1, the original.
    stand_ins
        Columns of lower purity for each missing pure one, at least 1.
    max_tries
        Dichotomies drawn at most, at least 1.
    seed
        Draws the dichotomies.
    scale, missing
        As for every classical method.

    Attributes
    ----------
    C_
        The C that was used.
    purities_
        (L,) the purity each column was learnt with.
    coding_
        (c, L) int8, M. performance_: (c, L), H, rows sum to 1. is_candidate_: (c,) bool, classes that some set holds.
    coef_
        (s, L) coefficients of the support vectors, or (d, L). intercept_: (L,). support_: (s, d), or empty.

    References
    ----------
    Zhang, Yu & Tang, Disambiguation-free partial label learning, IEEE TKDE 29(10), 2017.
    """

    summary: ClassVar[str] = (
        "Never guesses: learns yes/no questions that whole candidate sets answer, and combines them. "
        "Good where sets are small; where they are large few sets answer anything."
    )

    cheaper: ClassVar[str] = " With kernel='linear' it takes a small part of that."
    _fitted = ("coding_", "performance_", "is_candidate_", "coef_", "intercept_", "support_")

    kernel: str = setting("rbf", KERNELS)
    C: float | Literal["auto"] = setting("auto", above=0)
    length: int | None = setting(None, whole=True, least=1)
    min_usable: float = setting(0.1, above=0, most=1)
    min_purity: float = setting(0.6, least=0.6, most=1)
    stand_ins: int = setting(3, whole=True, least=1)
    max_tries: int = setting(2000, whole=True, least=1)

    @classmethod
    def cost(cls, n: int, d: int, c: int, nnz: int) -> Cost:
        """Estimate the cost of `fit` with the rbf kernel.

        Parameters
        ----------
        n, d, c, nnz
            Examples, features, classes, and candidates in all.
        """
        columns = default_length(c)
        pure = 2.0 ** (1.0 - nnz / n)  # the chance that a set of s lies wholly on one side of a random split
        usable = n * (pure if pure >= 0.1 else 0.35)
        columns *= 3 if pure < 0.1 else 1
        draws = 2000 * (2e-9 * nnz + 1e-8 * n)
        memory = int(24 * n * columns + 16 * n * d + 3e8)
        if n > EXACT_KERNEL_UP_TO:
            seconds = draws + n * MACHINE_CENTRES * (4.0 * d + 2.0 * MACHINE_CENTRES + 400.0 * columns) / 4e10
            return Cost(memory + 4 * n * MACHINE_CENTRES, seconds)
        seconds = draws + columns * (usable**2 * (1.4e-8 + 4e-10 * d) + n * usable * (7e-9 + 1.2e-10 * d))
        return Cost(memory, seconds)

    def total_epochs(self) -> int:
        return COLUMN_PARTS

    def _learn(self, X: Floats, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Iterations:
        self.stage_ = "choosing columns that enough examples can use"
        coding = self._columns(candidates, rng, hook)
        self.notes_, self.purities_ = coding.notes, coding.purities
        grid, quicker = MACHINE_C_GRID if self.C == "auto" else (float(self.C),), min(200, self.max_tries)
        self.C_ = self._best_fitted("C", grid, X, candidates, rng, hook, most=C_ROWS, max_tries=quicker)
        length = len(coding.purities)
        if self.kernel == "linear" or len(X) <= EXACT_KERNEL_UP_TO:
            machines = Machines(X, X, self.kernel, self.C_, length, hook)
        else:
            self.stage_ = "approximating the kernel"
            centres = np.sort(rng.permutation(len(X))[:MACHINE_CENTRES])
            machines = ApproximateMachines(X, X[centres], "rbf", self.C_, length, hook)
        self.notes_ = coding.notes + machines.notes
        relaxed = (coding.purities > 0) & (coding.purities < 1)
        for part in np.array_split(np.arange(length), COLUMN_PARTS):
            if len(part):
                self.stage_ = f"columns {part[0] + 1} to {part[-1] + 1} of {length}"
                machines.learn(part, coding.sides(part, candidates), relaxed[part])
                self._take(machines, coding, int(part[-1]) + 1, candidates)
            self.stage_ = ""
            yield restricted_softmax(-SHARPNESS * self._losses(machines, candidates), candidates), None

    def _columns(self, candidates: CandidateSets, rng: np.random.Generator, hook: Hook) -> Coding:
        """Choose the purest columns that enough examples can use: `length` of them, or more where they are not pure.

        A dichotomy qualifies at purity ρ if at least τ = `min_usable` · n examples have a share ρ (`positive_shares`)
        on one side, at least τ/4 of them on each. At ρ = 1, the paper's condition, dichotomies are taken in the order
        drawn; below, those with the largest smaller side come first. A relaxed column carries less information:
        `stand_ins` of them replace each one that is missing.
        """
        length = default_length(candidates.n_classes) if self.length is None else self.length
        drawn = random_dichotomies(candidates.n_classes, self.max_tries, rng)  # (T, c)
        steps = [purity for purity in PURITIES if purity >= self.min_purity]
        threshold = self.min_usable * len(candidates)
        counts = np.zeros((0, len(steps), 2), dtype=np.int64)
        for block in blocks(len(drawn), max(1, BLOCK_CELLS // len(candidates))):
            hook()
            share = positive_shares(drawn[block].T, candidates)  # (n, B)
            sides = np.stack([_sides(share, purity) for purity in steps])  # (steps, n, B)
            new = np.stack([(sides > 0).sum(axis=1), (sides < 0).sum(axis=1)], axis=-1)
            counts = np.concatenate([counts, new.transpose(1, 0, 2)])
            if _qualifies(counts[:, 0], threshold).sum() >= length:
                break  # as in the paper: draws until there are enough
        chosen, purities = _purest(counts, steps, threshold, length, self.stand_ins)
        notes = [_relaxed_note(purities)] if (purities < 1).any() else []
        if not len(chosen):
            smaller = counts[:, -1].min(axis=1)
            chosen = np.argsort(-smaller, kind="stable")[: self.stand_ins * length]
            chosen = chosen[smaller[chosen] > 0]  # the splits of which the smaller side is the largest
            if not len(chosen):
                return one_against_rest(candidates)
            purities = np.full(len(chosen), steps[-1])
            notes = [_best_note(threshold, steps[-1], len(chosen), int(counts[chosen, -1].min()))]
        if len(chosen) < min(length, len(drawn)):
            notes.append(
                f"The code has {len(chosen)} columns instead of {length}; {len(drawn):,} splits of the classes were "
                "tried."
            )
        return Coding(drawn[chosen].T.copy(), purities, tuple(notes))

    def _untrained(self, X: Floats, candidates: CandidateSets) -> None:
        """Start without columns."""
        self.purities_ = np.zeros(0)
        self.is_candidate_ = np.bincount(candidates.indices, minlength=candidates.n_classes) > 0
        self.coding_ = np.zeros((candidates.n_classes, 0), dtype=np.int8)
        self.performance_ = np.zeros((candidates.n_classes, 0))
        self.coef_, self.intercept_, self.support_ = np.zeros((X.shape[1], 0)), np.zeros(0), X[:0]

    def _take(self, machines: Machines, coding: Coding, done: int, candidates: CandidateSets) -> None:
        """Set the model to the columns learnt so far."""
        self.coding_ = coding.signs[:, :done]
        self.performance_ = performance(machines.decisions[:, :done] > 0, self.coding_, candidates)
        self.coef_, self.support_ = machines.coef[:, :done], machines.X[:0]
        self.intercept_ = machines.intercept[:done]
        if self.kernel == "rbf":
            used = np.flatnonzero(self.coef_.any(axis=1))
            self.coef_, self.support_ = self.coef_[used], machines.support[used]

    def _losses(self, machines: Machines, candidates: CandidateSets) -> Floats:
        """Return (nnz,) decoding losses of the candidates."""
        decisions = machines.decisions[:, : self.coding_.shape[1]]
        return on_candidates_by_blocks(lambda rows: self._decode(decisions[rows]), candidates, KERNEL_BLOCK)

    def _decode(self, decisions: Floats) -> Floats:
        """Return (B, L) → (B, c) losses."""
        bounded = np.clip(decisions, -DECISION_CLIP, DECISION_CLIP)
        positive = np.where(self.coding_ > 0, self.performance_, 0.0)
        negative = self.performance_ - positive
        losses = np.exp(-bounded) @ positive.T + np.exp(bounded) @ negative.T
        losses[:, ~self.is_candidate_] = np.exp(DECISION_CLIP)
        return losses

    def _scores(self, X: Floats) -> Floats:
        return -self._decode(linear_in_kernel(X, self.support_, width_for(X), self.coef_, self.intercept_))

    def _probabilities(self, scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return (n, c) softmax of −10 · loss over all classes, as for the label weights; roughly calibrated."""
        return np.asarray(softmax(SHARPNESS * scores.astype(np.float64), axis=1), dtype=np.float32)


def performance(positive: Flags, signs: npt.NDArray[np.int8], candidates: CandidateSets) -> Floats:
    """Return H (c, L), the share of the examples with candidate j where column t agrees with M_jt; rows sum to 1.

    Parameters
    ----------
    positive
        (n, L) whether f_t(x_i) > 0.
    signs
        (c, L) M.
    candidates
        n candidate sets.
    """
    sets = sparse(np.ones(candidates.nnz), candidates)
    holders = np.maximum(np.bincount(candidates.indices, minlength=candidates.n_classes), 1)[:, None]
    share = (sets.T @ positive.astype(np.float64)) / holders  # (c, L)
    agreement = np.where(signs > 0, share, 1.0 - share)
    total = agreement.sum(axis=1, keepdims=True)
    # A class that every column gets wrong would have loss 0 everywhere; all its columns get the same weight instead.
    return np.asarray(np.where(total > 0, agreement / np.where(total > 0, total, 1.0), 1.0 / max(1, signs.shape[1])))


PURITIES = (1.0, 0.9, 0.8, 0.7, 0.6)
"""Values of the purity, tried in this order."""
BALANCE = 0.25
"""The smaller side of a column holds at least this share of τ."""
BLOCK_CELLS = 1_000_000
"""Maximum number of examples × dichotomies per block."""

Signs = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Coding:
    """Columns of an error-correcting code.

    Parameters
    ----------
    signs
        (c, L) int8, +1 or −1; class j is on that side of column t.
    purities
        (L,) the purity each column uses its examples with; 0 marks one of `one_against_rest`.
    notes
        Sentences on what was done differently from the paper.
    """

    signs: Signs
    purities: Floats
    notes: tuple[str, ...]

    def sides(self, columns: Ints, candidates: CandidateSets) -> Signs:
        """Return (n, b) int8, the side on which each example trains these columns; 0 where it is not used.

        Parameters
        ----------
        columns
            (b,) their numbers.
        candidates
            n candidate sets.
        """
        share, purities = positive_shares(self.signs[:, columns], candidates), self.purities[columns]
        return np.where(purities == 0, np.where(share > 0, 1, -1), _sides(share, purities)).astype(np.int8)


def default_length(n_classes: int) -> int:
    """L = ⌈10 log2 c⌉.

    Examples
    --------
    >>> default_length(10)
    34
    """
    return math.ceil(10 * math.log2(n_classes))


def random_dichotomies(n_classes: int, max_tries: int, rng: np.random.Generator) -> Signs:
    """Return (T, c) distinct dichotomies of the classes in random order; class 0 is always on the side of +1.

    All 2^(c−1) − 1 of them where that is at most `max_tries`, else `max_tries` uniform draws without repetitions.

    Parameters
    ----------
    n_classes
        c.
    max_tries
        Most that are drawn.
    rng
        What they are drawn with.
    """
    if n_classes - 1 < 60 and 2 ** (n_classes - 1) - 1 <= max_tries:
        codes = rng.permutation(2 ** (n_classes - 1) - 1)[:, None]
        bits = (codes >> np.arange(n_classes - 1)) & 1  # never all ones: one side would be empty
    else:
        bits = rng.integers(0, 2, size=(max_tries, n_classes - 1))
        bits = bits[~bits.all(axis=1)]
        bits = bits[np.sort(np.unique(bits, axis=0, return_index=True)[1])]
    together = np.ones((len(bits), 1), dtype=np.int64)
    return (2 * np.hstack([together, bits]) - 1).astype(np.int8)


def one_against_rest(candidates: CandidateSets) -> Coding:
    """Fallback for sets that no dichotomy of the classes can use (three classes, all sets of two).

    Column j separates the sets that hold class j (+1) from those that do not: the negative side satisfies the paper's
    condition, the positive one does not. Classes that are in every set or in none get no column.
    """
    holders = np.bincount(candidates.indices, minlength=candidates.n_classes)
    classes = np.flatnonzero((holders > 0) & (holders < len(candidates)))
    signs = np.full((candidates.n_classes, len(classes)), -1, dtype=np.int8)
    signs[classes, np.arange(len(classes))] = 1
    note = (
        "No split of the classes has a usable example on both sides; each column tells the sets that hold one class "
        "from those that do not."
        if len(classes)
        else "Every candidate set is the same; there is nothing to learn from, and all candidates weigh the same."
    )
    return Coding(signs, np.zeros(len(classes)), (note,))


def _purest(counts: Ints, steps: list[float], threshold: float, length: int, stand_ins: int) -> tuple[Ints, Floats]:
    """Return the columns that qualify, each at its highest purity, the purest first; and these purities."""
    chosen: list[int] = []
    purities: list[float] = []
    for step, purity in enumerate(steps):
        able = np.flatnonzero(_qualifies(counts[:, step], threshold))
        able = able[~np.isin(able, chosen)]
        if purity < 1:
            able = able[np.argsort(-counts[able, step].min(axis=1), kind="stable")]
        able = able[: length - len(chosen)]
        chosen += able.tolist()
        purities += [purity] * len(able)
        if purity == 1:
            length += (stand_ins - 1) * (length - len(chosen))
    return np.array(chosen, dtype=np.int64), np.array(purities)


def _qualifies(counts: Ints, threshold: float) -> Flags:
    smaller = counts.min(axis=-1)
    return np.asarray((counts.sum(axis=-1) >= threshold) & (smaller >= max(1.0, BALANCE * threshold)))


def _sides(share: Floats, purity: float | Floats) -> Signs:
    purity = purity - 1e-9  # tolerance for rounding: 3 of 5 is .6
    return (share >= purity).astype(np.int8) - (1.0 - share >= purity).astype(np.int8)


def positive_shares(signs: Signs, candidates: CandidateSets) -> Floats:
    """Return (n, B) r⁺ / (r⁺ + r⁻) for dichotomies (c, B), r± = |S ∩ Y±| / (number of candidates of all sets in Y±).

    1 exactly where S ⊆ Y⁺, 0 where S ⊆ Y⁻, and ½ on average for sets that do not depend on the true label.

    Parameters
    ----------
    signs
        (c, B), +1 and −1.
    candidates
        n candidate sets.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1, 2], [0, 1], [2]], n_classes=3)
    >>> positive_shares(np.array([[1], [1], [-1]], dtype=np.int8), sets)[:, 0].tolist()
    [0.5, 1.0, 0.0]
    """
    sets = sparse(np.ones(candidates.nnz), candidates)
    class_counts = np.bincount(candidates.indices, minlength=candidates.n_classes)
    sides = ((signs > 0).astype(np.float64), (signs < 0).astype(np.float64))
    positive, negative = ((sets @ side) / np.maximum(class_counts @ side, 1.0) for side in sides)
    return np.asarray(positive / (positive + negative))


def _relaxed_note(purities: Floats) -> str:
    values, numbers = np.unique(purities, return_counts=True)
    counts = [
        f"{count} with whole sets" if value == 1 else f"{count} with at least {100 * value:.0f} % of a set"
        for value, count in zip(values[::-1].tolist(), numbers[::-1].tolist(), strict=True)
    ]
    return (
        "The candidate sets are large: too few lie wholly on one side of a split of the classes, as the method asks. "
        f"Columns of the code, by what has to lie on one side: {', '.join(counts)}."
    )


def _best_note(threshold: float, purity: float, count: int, smallest: int) -> str:
    share = "wholly" if purity == 1 else f"for {100 * purity:.0f} % or more"
    return (
        f"No split of the classes has the {threshold:.0f} examples that the method asks for, whose sets lie {share} on "
        f"one side. The best {count} splits are used; the worst of them has {smallest:,} on its smaller side."
    )


class Machines:
    """One binary SVM per column, trained one after the other.

    Attributes
    ----------
    X
        (n, d) scaled features.
    support
        (s, d) the examples that the kernel compares with.
    coef
        (s, L) coefficients of these (rbf), or (d, L) of the features. intercept: (L,).
    decisions
        (n, L) f_t(x_i).
    notes
        Sentences on what is approximate.
    """

    notes: tuple[str, ...] = ()

    def __init__(self, X: Floats, support: Floats, kernel: str, C: float, length: int, hook: Hook) -> None:
        self.X, self.support = X, support
        self.kernel = kernel
        self.C = C
        self.hook = hook
        self.coef = np.zeros((len(support) if kernel == "rbf" else X.shape[1], length))
        self.intercept = np.zeros(length)
        self.decisions = np.zeros((len(X), length))

    def learn(self, columns: Ints, sides: Signs, relaxed: Flags) -> None:
        """Train the SVMs of columns (b,) and evaluate them on all examples.

        Parameters
        ----------
        columns
            Which.
        sides
            (n, b) side of each example, 0 where it is not used.
        relaxed
            (b,) whether both sides get the same weight.
        """
        is_linear = self.kernel == "linear"
        for column, side, is_relaxed in zip(columns.tolist(), sides.T, relaxed, strict=True):
            usable = np.flatnonzero(side)
            x, target = self.X[usable], side[usable]
            # LinearSVC's primal solver is deterministic; without a seed SVC draws from NumPy's global stream.
            machine = LinearSVC(dual=False, max_iter=10_000) if is_linear else SVC(gamma=1.0 / self.X.shape[1])
            machine.set_params(C=self.C, random_state=0, class_weight="balanced" if is_relaxed else None)
            stoppable(partial(machine.fit, x, target), self.hook)
            rows = slice(None) if is_linear else usable[machine.support_]
            support, coef = (self.X[:0], machine.coef_) if is_linear else (machine.support_vectors_, machine.dual_coef_)
            self.coef[rows, column], self.intercept[column] = coef[0], machine.intercept_[0]
            outputs = linear_in_kernel(self.X, support, width_for(x), coef.T, machine.intercept_, self.hook)
            self.decisions[:, column] = outputs[:, 0]


MACHINE_CENTRES = 1024
"""Examples by which the kernel is approximated beyond `EXACT_KERNEL_UP_TO`."""


class ApproximateMachines(Machines):
    """SVMs with the squared hinge on the features of Nyström's kernel of `support`, several columns at once."""

    def __init__(self, X: Floats, support: Floats, kernel: str, C: float, length: int, hook: Hook) -> None:
        super().__init__(X, support, kernel, C, length, hook)
        self._kernel = Nystrom(support, width_for(X), hook)
        self._features = self._kernel.features(X, constant=True, hook=hook)
        note = nystrom_note(len(support), self._kernel.error(self._features))
        self.notes = (f"{note} The machines have the squared hinge.",)

    def learn(self, columns: Ints, sides: Signs, relaxed: Flags) -> None:
        of_sides = np.array([(sides == side).sum(axis=0) for side in (-1, 1)])  # (2, b)
        weights = np.where(relaxed, of_sides.sum(axis=0) / (2.0 * of_sides), 1.0)  # scikit-learn's "balanced"
        W = squared_hinge_machines(self._features, sides, self.C * weights, self.hook)
        self.decisions[:, columns] = self._features @ W.astype(np.float32)
        self.coef[:, columns] = self._kernel.coefficients(W[:-1])
        self.intercept[columns] = W[-1]


def width_for(X: Floats) -> float:
    """Return the σ of the kernel for features X (n, d): that of γ = 1 / d."""
    return math.sqrt(X.shape[1] / 2)


NEWTON_STEPS = 20
PRODUCTS = 30
"""Maximum number of products with the Hessian in a Newton step."""
ENOUGH = 1e-2
"""A column is finished when its gradient's norm is this share of that at 0; LIBLINEAR's default is 1e-2 too."""


def squared_hinge_machines(features: npt.NDArray[np.float32], sides: Signs, weights: Floats, hook: Hook) -> Floats:
    """Minimise ½‖w_t‖² + Σ_i C_it max(0, 1 − s_it w_t'φ_i)² for all columns t at once; return (m, b).

    Newton's method with conjugate gradients, every column with its own steps. The objective along a Newton step is
    piecewise quadratic and needs no product with the features: the step is halved until it decreases (Armijo).

    Parameters
    ----------
    features
        (n, m) float32, one row for each example.
    sides
        (n, b) s, 0 where an example is not used.
    weights
        (2, b) C of the negative and of the positive side.
    hook
        Called before each product with the features.
    """
    s = sides.astype(np.float32)
    C = np.where(sides > 0, weights[1], weights[0]).astype(np.float32) * (sides != 0)  # (n, b)
    W = np.zeros((features.shape[1], sides.shape[1]))
    outputs = np.zeros(s.shape, dtype=np.float32)

    def back(values: npt.NDArray[np.float32]) -> Floats:
        hook()
        return np.asarray(features.T @ values, dtype=np.float64)

    def forth(directions: Floats) -> npt.NDArray[np.float32]:
        hook()
        return np.asarray(features @ directions.astype(np.float32))

    def value(W: Floats, outputs: npt.NDArray[np.float32]) -> Floats:
        hinge = np.maximum(0.0, 1.0 - s * outputs)
        return np.asarray(0.5 * (W**2).sum(axis=0) + (C * hinge * hinge).sum(axis=0, dtype=np.float64))

    current, enough = value(W, outputs), None
    for _ in range(NEWTON_STEPS):
        slack = np.maximum(0.0, 1.0 - s * outputs)
        gradient = W - 2.0 * back(C * s * slack)
        norm = np.linalg.norm(gradient, axis=0)
        enough = ENOUGH * norm if enough is None else enough
        active = norm > enough
        if not active.any():
            break
        curved = 2.0 * C * (slack > 0)  # (n, b)
        step, moved = np.zeros_like(W), np.zeros_like(outputs)
        residual = np.where(active, -gradient, 0.0)
        direction, square = residual.copy(), (residual**2).sum(axis=0)
        for _ in range(PRODUCTS):
            if not (going := np.sqrt(square) > 0.1 * norm).any():
                break
            along = forth(direction)
            product = direction + back(curved * along)
            alpha = np.where(going, square / np.maximum((direction * product).sum(axis=0), 1e-30), 0.0)
            step += alpha * direction
            moved += alpha.astype(np.float32) * along
            residual -= alpha * product
            before, square = square, np.where(going, (residual**2).sum(axis=0), square)
            direction = np.where(going, residual + square / np.maximum(before, 1e-30) * direction, direction)
        slope, size, waiting = (gradient * step).sum(axis=0), np.where(active, 1.0, 0.0), active
        for _ in range(20):
            tried = value(W + size * step, outputs + size.astype(np.float32) * moved)
            waiting = waiting & (tried > current + 1e-4 * size * slope)
            if not waiting.any():
                break
            size = np.where(waiting, size / 2, size)
        size = np.where(waiting, 0.0, size)
        W += size * step
        outputs += size.astype(np.float32) * moved
        current = value(W, outputs)
        if not size.any():  # the limit of float32 is reached
            break
    return W


def stoppable(work: Callable[[], object], hook: Hook) -> None:
    """Run work that cannot be interrupted in a thread, calling the hook meanwhile; if the hook stops it, abandon it.

    Parameters
    ----------
    work
        Called once.
    hook
        Called between units of work; may wait, may raise.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="pl-ecoc")
    try:
        task = pool.submit(work)
        while wait([task], timeout=0.1).not_done:
            hook()
        hook()
        task.result()
    finally:
        pool.shutdown(wait=False)
