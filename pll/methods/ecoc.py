"""PL-ECOC, disambiguation-free partial label learning (Zhang, Yu & Tang, IEEE TKDE 29(10), 2017).

Idea: never guess which candidate is the true one. A column of an error-correcting code divides the classes into Y⁺
and Y⁻; an example whose *whole* candidate set lies on one side belongs there whichever candidate is true. Each column
is an ordinary binary problem on such examples.

1. Coding. Of random dichotomies, L = ⌈10 log2 c⌉ columns with at least τ = n/10 usable examples, in at most 2,000
   tries: M ∈ {+1, −1}^{c×L}; example i trains column t as positive if S_i ⊆ Y⁺_t, as negative if S_i ⊆ Y⁻_t, else not
   at all.
2. A support vector machine f_t for each column (libsvm's defaults: RBF kernel exp(−‖x − z‖²/d), C = 1).
3. Performance. H_jt = share of the examples with j ∈ S_i where sign f_t(x_i) = M_jt; rows of H divided by their sums.
4. Decoding. loss_j(x) = Σ_t H_jt exp(−f_t(x) M_jt); the predicted label is argmin_j, the identified one argmin over
   S_i.

Where sets are large, hardly any lies wholly on one side (q = 0.7, ten classes: about 4 of 1,438 examples). What is
done then is ours, and `notes_` says in words whenever any of it happened:
- Both sides of a column must hold examples, at least τ/4 each. (The original asks for any; a column with one negative
  example teaches nothing.)
- Dichotomies that fail are used at the highest *purity* ρ of 0.9, 0.8, 0.7, 0.6 at which they pass: an example is
  positive if |S_i ∩ Y⁺| ≥ ρ |S_i|. Before features are seen, its true label lies there with probability ρ or more.
  Balanced ones come first, and three of them stand in for each missing pure one. `min_purity=1` switches this off.
- If none passes, those with the largest smaller side are taken; if none has examples on both sides, one column for
  each class tells sets that hold it from sets that do not.

Digits, 20 % held out, transductive / test accuracy in %, mean of 5 seeds (in brackets with `min_purity=1`): q = 0.1
99.1 / 95.7, q = 0.3 97.1 / 93.8, q = 0.5 96.0 / 93.9 (90.1 / 85.3), q = 0.7 91.6 / 89.0 (54.5 / 49.0).

A class that no set holds is never predicted. Label weights: softmax of −10 · loss over S_i (the factor makes
confidence follow accuracy on digits: 99, 96, 95, 89 % at q = 0.1 … 0.7; it does not change the order). A round is a
tenth of the columns.

Hyper-parameters: `kernel` (`"rbf"`, or `"linear"`: squared hinge); `C` (1; for the linear kernel 0.01 is worth a try:
test accuracy on Lost 68 for 58 %, on BirdSong 62 for 63); `length` (L, None for ⌈10 log2 c⌉: the PRODEN paper's
supplement says log2 c, which cannot be meant, as 4 columns hardly tell ten classes apart); `min_usable` (τ/n, 0.1);
`min_purity` (0.6); `stand_ins` (3); `max_tries` (2000). That paper calls its competitors' models linear, but its figure
for BirdSong (71.5) is that of the RBF kernel (71-73 by seed; linear 61-64).

Complexity: drawing O(tries · nnz); rbf O(L·m²·d) with m usable examples a column and O(L·n·m·d) for the decisions,
linear O(L·m·d) a pass; a prediction O(s·(d + L)) with s support vectors altogether, or O(L·d). Memory 24·n·L bytes
and 16·n·d.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.metrics.pairwise import rbf_kernel

from pll.candidates import CandidateSets
from pll.methods.classical import ClassicalEstimator, Matrix, blocks, on_candidates_by_blocks
from pll.methods.coding import PURITIES, Coding, choose_columns, default_length
from pll.methods.cost import Cost
from pll.methods.machines import BLOCK, Machines
from pll.methods.settings import check_kernel, check_number
from pll.training.metrics import Hook
from pll.weights import Weights, restricted_softmax

ROUNDS = 10
SHARPNESS = 10.0
"""Label weights are the softmax of −10 · loss."""
CLIP = 30.0
"""|f| above this counts as this: exp(30) decides any sum."""


class PLECOC(ClassicalEstimator):
    """Error-correcting output codes for candidate sets (Zhang et al. 2017); the module's docstring tells the method.

    Args:
        kernel: `"rbf"` or `"linear"`.
        C: weight of the SVMs' loss against their regulariser, above 0.
        length: L, columns at most, at least 1; None takes ⌈10 log2 c⌉.
        min_usable: share of the examples that a column must be able to use, in (0, 1].
        min_purity: the smallest share of a set that must lie on one side to be used there, from 0.6 to 1, the original.
        stand_ins: columns of lower purity for each missing pure one, at least 1.
        max_tries: dichotomies drawn at most, at least 1.
        seed: draws the dichotomies.
        scale, missing: as for every classical method.

    Attributes:
        purities_: (L,) the purity each column was learnt with.
        coding_: (c, L) int8, M. performance_: (c, L), H, rows sum to 1. seen_: (c,) bool, classes that some set holds.
        coef_: (s, L) coefficients of the support vectors, or (d, L). intercept_: (L,). support_: (s, d), or empty.
    """

    title: ClassVar[str] = "PL-ECOC"
    summary: ClassVar[str] = (
        "Never guesses: learns yes/no questions that whole candidate sets answer, and combines them. "
        "Good where sets are small; where they are large few sets answer anything."
    )

    _fitted = ("coding_", "performance_", "seen_", "coef_", "intercept_", "support_")

    purities_: npt.NDArray[np.float64]
    coding_: npt.NDArray[np.int8]
    performance_: Matrix
    seen_: npt.NDArray[np.bool_]
    coef_: Matrix
    intercept_: npt.NDArray[np.float64]
    support_: Matrix

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        C: float = 1.0,
        length: int | None = None,
        min_usable: float = 0.1,
        min_purity: float = 0.6,
        stand_ins: int = 3,
        max_tries: int = 2000,
        scale: str = "auto",
        missing: str = "error",
        seed: int = 0,
    ) -> None:
        super().__init__(scale=scale, missing=missing, seed=seed)
        self.kernel = kernel
        self.C = C
        self.length = length
        self.min_usable = min_usable
        self.min_purity = min_purity
        self.stand_ins = stand_ins
        self.max_tries = max_tries

    @classmethod
    def cost(cls, n: int, d: int, c: int, nnz: int) -> Cost:
        """What `fit` takes with the rbf kernel."""
        columns = default_length(c)
        pure = 2.0 ** (1.0 - nnz / n)  # the chance that a set of s lies wholly on one side of a random split
        usable = n * (pure if pure >= 0.1 else 0.35)
        columns *= 3 if pure < 0.1 else 1
        draws = 2000 * (2e-9 * nnz + 1e-8 * n)
        seconds = draws + columns * (usable**2 * (1.4e-8 + 4e-10 * d) + n * usable * (7e-9 + 1.2e-10 * d))
        note = None
        if seconds > 60:
            note = (
                f"{columns} support vector machines of about {usable:,.0f} examples take about {seconds / 60:.0f} "
                "minutes; kernel='linear' takes a small part of that."
            )
        return Cost(memory_bytes=int(24 * n * columns + 16 * n * d + 3e8), seconds=seconds, note=note)

    def total_rounds(self) -> int:
        return ROUNDS

    def _learn(
        self, X: Matrix, candidates: CandidateSets, rng: np.random.Generator, hook: Hook
    ) -> Iterator[tuple[Weights, float | None]]:
        self._check_settings()
        self._start(X, candidates)
        length = default_length(candidates.n_classes) if self.length is None else self.length
        self.stage_ = "looking for columns that enough examples can use"
        coding = choose_columns(
            candidates,
            length,
            min_usable=self.min_usable,
            min_purity=self.min_purity,
            stand_ins=self.stand_ins,
            max_tries=self.max_tries,
            rng=rng,
            hook=hook,
        )
        self.notes_, self.purities_ = coding.notes, coding.purities
        machines = Machines(X, self.kernel, self.C, coding.signs.shape[1], hook)
        done = 0
        for part in np.array_split(np.arange(coding.signs.shape[1]), ROUNDS):
            for column in part:
                self.stage_ = f"column {column + 1} of {coding.signs.shape[1]}"
                machines.learn(column, coding.sides(column, candidates))
            done += len(part)
            self._take(machines, coding, done, candidates)
            self.stage_ = ""
            yield restricted_softmax(-SHARPNESS * self._losses(machines, candidates), candidates), None

    def _start(self, X: Matrix, candidates: CandidateSets) -> None:
        """No column yet: a stop before the first round leaves something that predicts."""
        self.notes_, self.purities_ = (), np.zeros(0)
        self.seen_ = np.bincount(candidates.indices, minlength=candidates.n_classes) > 0
        self.coding_ = np.zeros((candidates.n_classes, 0), dtype=np.int8)
        self.performance_ = np.zeros((candidates.n_classes, 0))
        self.coef_, self.intercept_, self.support_ = np.zeros((X.shape[1], 0)), np.zeros(0), X[:0]

    def _take(self, machines: Machines, coding: Coding, done: int, candidates: CandidateSets) -> None:
        """Make the columns learnt so far the model."""
        if not done:
            return
        self.coding_ = coding.signs[:, :done]
        self.performance_ = performance(machines.decisions[:, :done] > 0, self.coding_, candidates)
        self.coef_, self.support_ = machines.coef[:, :done], machines.X[:0]
        self.intercept_ = machines.intercept[:done]
        if self.kernel == "rbf":
            used = np.flatnonzero(self.coef_.any(axis=1))
            self.coef_, self.support_ = self.coef_[used], machines.X[used]

    def _losses(self, machines: Machines, candidates: CandidateSets) -> npt.NDArray[np.float64]:
        """(nnz,) decoding losses of the candidates."""
        decisions = machines.decisions[:, : self.coding_.shape[1]]
        return on_candidates_by_blocks(lambda rows: self._decode(decisions[rows]), candidates, BLOCK)

    def _decode(self, decisions: Matrix) -> Matrix:
        """(B, L) → (B, c) losses."""
        bounded = np.clip(decisions, -CLIP, CLIP)
        positive = np.where(self.coding_ > 0, self.performance_, 0.0)
        negative = self.performance_ - positive
        losses = np.exp(-bounded) @ positive.T + np.exp(bounded) @ negative.T
        losses[:, ~self.seen_] = np.exp(CLIP)
        return losses

    def _scores(self, X: Matrix) -> Matrix:
        scores = np.empty((len(X), len(self.seen_)))
        for at in blocks(len(X), BLOCK):
            scores[at] = -self._decode(self._decisions(X[at]))
        return scores

    def _decisions(self, X: Matrix) -> Matrix:
        """(B, L) f_t(x)."""
        features = rbf_kernel(X, self.support_, gamma=1.0 / X.shape[1]) if len(self.support_) else X
        return features @ self.coef_ + self.intercept_

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """(n, c) softmax of −10 · loss over all classes, made as the label weights are; roughly calibrated at best."""
        scores = self.predict_scores(X).astype(np.float64)
        raised = np.exp(SHARPNESS * (scores - scores.max(axis=1, keepdims=True)))
        return (raised / raised.sum(axis=1, keepdims=True)).astype(np.float32)

    def _check_settings(self) -> None:
        check_kernel(self.kernel)
        check_number("C", self.C, above=0)
        if self.length is not None:
            check_number("length (columns, or None)", self.length, whole=True, least=1)
        check_number("min_usable", self.min_usable, above=0, most=1)
        check_number("min_purity", self.min_purity, least=PURITIES[-1], most=1)
        check_number("stand_ins", self.stand_ins, whole=True, least=1)
        check_number("max_tries", self.max_tries, whole=True, least=1)


def performance(positive: npt.NDArray[np.bool_], signs: npt.NDArray[np.int8], candidates: CandidateSets) -> Matrix:
    """H (c, L): how often column t agrees with M_jt on the examples that may be of class j; rows divided by their sums.

    Args:
        positive: (n, L) whether f_t(x_i) > 0.
        signs: (c, L) M.
    """
    shape = (len(candidates), candidates.n_classes)
    sets = scipy.sparse.csr_array((np.ones(candidates.nnz), candidates.indices, candidates.indptr), shape=shape)
    holders = np.maximum(np.bincount(candidates.indices, minlength=shape[1]), 1)[:, None]
    share = (sets.T @ positive.astype(np.float64)) / holders  # (c, L)
    agreement = np.where(signs > 0, share, 1.0 - share)
    total = agreement.sum(axis=1, keepdims=True)
    # A class that every column gets wrong would have no loss at all; its columns count alike instead.
    return np.where(total > 0, agreement / np.where(total > 0, total, 1.0), 1.0 / max(1, signs.shape[1]))
