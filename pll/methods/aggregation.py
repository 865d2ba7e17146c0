"""From votes and features to candidate sets with a prior: voter models fitted together with a classifier.

Expectation maximisation over examples, with the classifier's posterior as the class prior of each example:

1. Voter models from the votes alone (`pll.annotations.voters`): posterior T.
2. A linear softmax classifier is trained on T, out of fold (`VOTE_FOLDS`), and predicts p_i of the examples left out.
3. Voter models again, with p_i as class prior, from T: the next T.

Steps 2 and 3 are the joint fit of `fit_voters`, which chooses the weight of the classifier.

The candidate sets are the union of the votes and the other labels that are likely under T (at least `LEAST_POSTERIOR`,
at most `MOST_ADDED` an example): where all voters are wrong, the classifier and the voters' confusions (*fox* in place
of *dog*) point to the truth. The prior is the likelihood of the votes, Π_v C_v[k, l_iv], without the classifier: in
training w ∝ prior · softmax is the posterior under the voter models, with the trained network as class prior.

Without features the prior of the sets is that of step 1, times the class shares. Where no example has two answers, the
sets are just the answers: a classifier trained on one voter's labels cannot correct them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial

import joblib
import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from pll.annotations.data import Annotations
from pll.annotations.voters import VoterModels, fit_voters
from pll.candidates import CandidateSets
from pll.copies import dealt, first_copies
from pll.training.devices import computing_threads
from pll.training.metrics import Hook, no_hook
from pll.training.models import step_work
from pll.training.rng import seeded
from pll.training.scaling import fit_scaling, flattened
from pll.weights import Floats, Ints, Weights, checked_prior, on_candidates

VOTE_FOLDS = 3
CLASSIFIER_EPOCHS, BATCH_SIZE, LEARNING_RATE, WEIGHT_DECAY = 60, 256, 0.05, 1e-3
"""Of the classifier."""
LEAST_POSTERIOR = 0.05
"""Posterior from which a label without a vote joins the candidates."""
MOST_ADDED = 3
FLOOR = 1e-6
"""Smallest prior, relative to the largest of the set: no vote excludes a label for good."""
MOST_MODELS_REMEMBERED = 2
"""Number of results in the cache."""
_CACHE: dict[str, Aggregation] = {}
_LOCK = threading.Lock()


@dataclass(frozen=True, eq=False)
class Aggregation:
    """Candidate sets, prior and voter models made of votes.

    Attributes
    ----------
    candidates
        Union of the votes plus likely labels without a vote; all classes for an example without votes.
    prior
        (nnz,) float32 of these.
    voters
        The fitted voter models.
    added
        Number of labels without a vote that were added.
    """

    candidates: CandidateSets
    prior: Weights
    voters: VoterModels
    added: int

    def prior_on(self, candidates: CandidateSets) -> Weights:
        """Return the (nnz,) prior on other candidate sets of the same examples and classes."""
        return self.prior if candidates is self.candidates else _prior(self.voters.likelihood, candidates)


def _prior(likelihood: Floats, candidates: CandidateSets) -> Weights:
    values = on_candidates(likelihood, candidates)
    top = np.maximum.reduceat(values, candidates.indptr[:-1])[candidates.rows]
    return checked_prior(np.where(top > 0, np.maximum(values, FLOOR * top), 1.0), candidates)


def union_of(votes: Annotations) -> CandidateSets:
    """Return n sets: every label with a vote; all classes for an example without votes."""
    mask = np.zeros((votes.n_rows, votes.n_classes), dtype=np.bool_)
    mask[votes.rows, votes.labels] = True
    mask[~mask.any(axis=1)] = True
    return CandidateSets.from_mask(mask, votes.class_names)


def aggregate(
    X: npt.NDArray[np.float32], votes: Annotations, *, seed: int = 0, hook: Hook = no_hook, decided: Ints | None = None
) -> Aggregation:
    """Candidate sets and prior of votes, with the help of the features.

    Parameters
    ----------
    X
        (n, d) or (n, C, H, W) features, NaN where missing; (n, 0) where there are none.
    votes
        On these n examples; at least one.
    seed
        Of the folds and of the order of training.
    hook
        Called between epochs of the classifier; may raise.
    decided
        (n,) labels that people decided, −1 elsewhere; voter models and classifier learn from them.

    Raises
    ------
    UserError
        See `fit_voters`.
    """
    said = (votes.n_rows, votes.class_names, votes.annotator_names, votes.rows, votes.annotators, votes.labels)
    key = joblib.hash((X, said, votes.scores, decided, seed))
    with _LOCK:
        if key in _CACHE:
            return _CACHE[key]
    has_pairs = bool((votes.answers_per_row >= 2).any())  # else a voter's mistakes cannot be estimated
    has_features = has_pairs and X[0].size > 0 and len(X) >= 2 * VOTE_FOLDS
    classifier = None
    if has_features:
        starts = np.searchsorted(votes.rows, np.arange(len(X) + 1))
        copies = first_copies(X, starts, votes.annotators, votes.labels)
        classifier = partial(_out_of_fold, flattened(fit_scaling(X), X), copies=copies, seed=seed, hook=hook)
    models = fit_voters(votes, classifier=classifier, true_labels=decided)
    candidates, added = _grown(votes, models.product) if has_pairs else (union_of(votes), 0)
    likelihood = models.likelihood if has_features else models.posterior
    result = Aggregation(candidates, _prior(likelihood, candidates), models, added)
    with _LOCK:
        _CACHE[key] = result
        while len(_CACHE) > MOST_MODELS_REMEMBERED:
            del _CACHE[next(iter(_CACHE))]
    return result


def _grown(votes: Annotations, posterior: Floats) -> tuple[CandidateSets, int]:
    """The union of the votes plus likely labels off it."""
    mask = union_of(votes).mask()
    off = np.where(mask, 0.0, posterior)
    top = np.argsort(-off, axis=1, kind="stable")[:, :MOST_ADDED]
    likely = np.take_along_axis(off, top, axis=1) >= LEAST_POSTERIOR
    rows, places = np.nonzero(likely)
    mask[rows, top[rows, places]] = True
    return CandidateSets.from_mask(mask, votes.class_names), len(rows)


def _out_of_fold(X: torch.Tensor, T: Floats, *, copies: Ints | None, seed: int, hook: Hook) -> Floats:
    """Return (n, c) probabilities of a linear softmax classifier trained on the soft labels of the other folds.

    Copies that people answered alike are in one fold: else it seems to repeat the voters' mistakes.
    """
    fold = dealt(np.argsort(np.random.default_rng([seed, 2]).permutation(len(X))), VOTE_FOLDS, copies)
    targets = torch.from_numpy(T.astype(np.float32))
    probabilities = np.zeros(T.shape)
    for fold_index in range(VOTE_FOLDS):
        train, test = (torch.from_numpy(np.flatnonzero(rows)) for rows in (fold != fold_index, fold == fold_index))
        weight, bias = _softmax_regression(X, targets, train, seed, hook)
        probabilities[test] = torch.softmax(torch.addmm(bias, X[test], weight.T), dim=1).numpy()
    return probabilities


@torch.no_grad()
def _softmax_regression(
    X: torch.Tensor, T: torch.Tensor, train: torch.Tensor, seed: int, hook: Hook
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weight (c, d) and bias (c,) fitted to the soft labels of the rows `train` by SGD with momentum.

    The gradient, softmax(z) − T, is written out: autograd and an optimiser take as long again.
    """
    with seeded(seed):
        network = nn.Linear(X.shape[1], T.shape[1])
    weight, bias = parameters = network.weight.detach(), network.bias.detach()
    momenta = [torch.zeros_like(p) for p in parameters]
    order = torch.Generator().manual_seed(seed)
    with computing_threads(None, step_work(parameters, BATCH_SIZE)):
        for _ in range(CLASSIFIER_EPOCHS):
            hook()
            for rows in torch.split(train[torch.randperm(len(train), generator=order)], BATCH_SIZE):
                x, t = X[rows], T[rows]
                slope = (torch.softmax(torch.addmm(bias, x, weight.T), dim=1) - t) / len(rows)
                for p, momentum, gradient in zip(parameters, momenta, (slope.T @ x, slope.sum(dim=0)), strict=True):
                    momentum.mul_(0.9).add_(gradient).add_(p, alpha=WEIGHT_DECAY)
                    p.sub_(momentum, alpha=LEARNING_RATE)
    return weight, bias
