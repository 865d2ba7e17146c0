"""What candidate sets say of a classifier that did not learn from them: its temperature, and their likelihood.

Temperature: Σ_S v_j p_j is the probability that the label is in the set (v: the prior of its labels, or 1 each). The
temperature that makes the mean of its logarithm largest says how sure a model may be: one that is often sure of a label
off the set is too sure of itself. Where measurably more of the sets than any temperature explains hold hardly any p, a
share of the examples is unlike what the model has learnt from, and any label is as likely there.

Likelihood: log P(S | x) = log Σ_{j∈S} p_j Π_{b∈S, b≠j} r_jb Π_{b∉S} (1 − r_jb), with the rates r_jb at which label b
joins the sets of class j, or one rate for all. A rate for all changes nothing about which label of a set is likely;
rates by class do.

Exponent of a prior that is somebody's probabilities: q_j(a) ∝ q_j^a on the set, π_j(a) its mean over examples. Where p
and q(a) are calibrated, and independent given the label, Σ_j p_j q_j(a) / π_j(a) is proportional to the likelihood of
what q was made of: a prior that is too sure of itself contradicts p where both are sure, and a < 1 makes it likelier.
The temperature of p is found anew for each a: p was learnt with the prior, and agrees best with it as it is.

References
----------
Guo et al., On calibration of modern neural networks, ICML 2017, with true labels in place of sets. Lv et al.,
Progressive identification of true labels for partial-label learning, ICML 2020, section 5: labels join independently of
each other and of x, given the class.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.interpolate import CubicSpline
from scipy.special import logsumexp, softmax
from torch import Tensor

from pll.candidates import CandidateSets
from pll.io import blocks
from pll.training.devices import one_blas_thread
from pll.weights import Floats, Weights, normalise

TEMPERATURES = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0)
FITTED_ON = (0.06, *TEMPERATURES, 8.0)
"""Of the curve on which temperatures are fitted, and its ends."""
EXPONENTS = np.linspace(0, 1, 11)
"""Of a prior; not above 1: no prior is made surer than it was given."""
MIXED = 0.01
"""Share of the uniform distribution in the class probabilities: one confident mistake must not decide."""
MOST_WITH_RATES = 200
"""With more classes all flip rates are taken to be equal: c² rates cannot be estimated from a few thousand examples."""
_RATE_PARTS, _RATE_STEPS = 4, 3
_PSEUDO = 2.0
"""Examples with the mean rate that are added to those of a class."""
_NUMBERS_AT_ONCE = 5 * 10**7
"""Values of candidates that are held at once, one for each of some exponents: 400 MB."""
AS_LIKELY = 1e-9
"""Nats by which two temperatures may differ that are as likely."""
STRANGE = (0.0, *np.geomspace(0.01, 0.5, 12))
"""Shares of the examples that may be unlike all that a model has learnt from."""
FINE = np.append(np.geomspace(FITTED_ON[0], FITTED_ON[-1], 500), 1e6)
"""Temperatures at which a curve through what is likely is read, each 1 % above the last; and one for those examples."""
EQUAL_PARTS = 20
"""Of the distribution of a temperature; each a twentieth of the examples that are unlike all others."""


def set_probability(logits: Tensor, v: Tensor, temperature: float) -> Tensor:
    """Return Σ_S v_j p_j of each example, p mixed with the uniform distribution, (h, M).

    Parameters
    ----------
    logits
        (h, M, c) of M models.
    v
        (h, 1, c), 0 off the sets: 1 on them, or a prior.
    temperature
        Above 0.
    """
    p = torch.softmax(logits / temperature, dim=2)
    return (1 - MIXED) * torch.einsum("hmc,hc->hm", p, v[:, 0]) + MIXED * v.mean(dim=2)


def likeliest_temperature(logits: Tensor, v: Tensor) -> Tensor:
    """Return the temperature of each model that makes the mean of log `set_probability` largest, of `TEMPERATURES`.

    Parameters
    ----------
    logits, v
        As for `set_probability`.

    Returns
    -------
    (M,), above 0.
    """
    every = torch.stack([torch.log(set_probability(logits, v, one)).mean(dim=0) for one in TEMPERATURES])  # (10, M)
    return logits.new_tensor(TEMPERATURES)[every.argmax(dim=0)]


def fitted_temperatures(logits: Tensor, v: Tensor, examples: int) -> tuple[float, float, Floats]:
    """Return the likeliest temperature of a model, in which share of the examples it knows nothing, and how likely each
    of `FINE` is, (501,), for a new example: sums to 1.

    Few examples bear a range of temperatures, and the likeliest is often far too low for others; of many examples the
    range is narrow. Before the examples are seen, all logarithms in the range of `FITTED_ON` are as likely. Where
    several are the likeliest, as of sets that tell nothing, it is the largest of them: no label is sure then. The share
    is 0 unless another one is measurably likelier (Vuong's test).

    Parameters
    ----------
    logits, v
        As for `set_probability`, of one model.
    examples
        How many they are without copies.

    References
    ----------
    MacKay, The evidence framework applied to classification networks, Neural Computation 1992: what is not known of
    the parameters makes predictions less sure. Vuong, Econometrica 57, 1989.
    """
    inside = torch.cat([set_probability(logits, v, one) for one in FITTED_ON], dim=1).numpy().T
    by_chance = v.mean(dim=2).numpy().T
    log_inside = np.log([(1 - share) * inside + share * by_chance for share in STRANGE])
    evidence = log_inside.mean(axis=2)  # (shares, temperatures)
    place, at = np.unravel_index(evidence.argmax(), evidence.shape)
    lead = log_inside[place, at] - log_inside[0, evidence[0].argmax()]
    place = place if lead.mean() > AS_LIKELY + 1.96 * lead.std() / math.sqrt(examples) else 0
    smooth = CubicSpline(np.log(FITTED_ON), evidence[place])(np.log(FINE[:-1]))
    likely = np.append((1 - STRANGE[place]) * softmax(examples * smooth), STRANGE[place])
    return float(FINE[:-1][smooth >= smooth.max() - AS_LIKELY][-1]), STRANGE[place], likely


def equally_likely(shares: Floats) -> Floats:
    """Return temperatures that stand for a distribution, (20,) rising: the medians of as many equally likely parts.

    Parameters
    ----------
    shares
        (501,) how likely each of `FINE` is; they may sum to anything.
    """
    return FINE[np.searchsorted(np.cumsum(shares) / shares.sum(), (np.arange(EQUAL_PARTS) + 0.5) / EQUAL_PARTS)]


def tempered(prior: Weights, sets: CandidateSets, exponent: float) -> Weights:
    """Return the (nnz,) prior to the power of an exponent, normalised on each set; what is 0 stays 0.

    Parameters
    ----------
    prior
        (nnz,) of `checked_prior`.
    sets
        n candidate sets.
    exponent
        From 0 (all alike) to 1 (as it is).

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1]], n_classes=2)
    >>> [round(float(share), 2) for share in tempered(np.array([0.8, 0.2], dtype=np.float32), sets, 0.5)]
    [0.67, 0.33]
    """
    return prior if exponent == 1 else normalise(np.where(prior > 0, prior.astype(np.float64) ** exponent, 0.0), sets)


def over_shares(prior: Weights, sets: CandidateSets) -> Floats:
    """Return the (nnz,) prior over its mean by class: times p it counts class shares once.

    Parameters
    ----------
    prior
        (nnz,) of `checked_prior`.
    sets
        n candidate sets.
    """
    shares = np.bincount(sets.indices, prior, minlength=sets.n_classes) / len(sets)
    relative: Floats = prior / np.maximum(shares, 1 / len(sets))[sets.indices]
    return relative


def exponent_evidence(logits: Tensor, prior: Weights, sets: CandidateSets) -> tuple[Floats, Floats]:
    """Return how likely a prior is under each of `EXPONENTS`, and what it says under the likeliest.

    Parameters
    ----------
    logits
        (h, c) of a model that was not trained on these examples.
    prior
        (nnz,) of `checked_prior`.
    sets
        h candidate sets.

    Returns
    -------
    tuple
        (11,) mean log-likelihood of an example, up to a constant, each at its own temperature; (nnz,) the prior with
        the likeliest exponent, over its mean by class: the v of `set_probability`.

    References
    ----------
    Hinton, Training products of experts by minimizing contrastive divergence, Neural Computation 2002: experts are
    multiplied. Genest & Zidek, Combining probability distributions, Statistical Science 1986: with exponents.
    """
    starts, share = sets.indptr[:-1], MIXED / sets.n_classes
    places = sets.rows * sets.n_classes + sets.indices
    by_temperature = np.empty((len(TEMPERATURES), len(EXPONENTS)))
    for some in blocks(len(EXPONENTS), max(1, _NUMBERS_AT_ONCE // sets.nnz)):
        each = [over_shares(tempered(prior, sets, exponent), sets) for exponent in EXPONENTS[some]]
        for t, temperature in enumerate(TEMPERATURES):
            p = (1 - MIXED) * torch.softmax(logits / temperature, dim=1).numpy().ravel()[places] + share
            by_temperature[t, some] = [np.log(np.add.reduceat(p * v, starts)).mean() for v in each]
    evidence: Floats = by_temperature.max(axis=0)
    return evidence, over_shares(tempered(prior, sets, EXPONENTS[evidence.argmax()]), sets)


def set_likelihood(log_p: npt.NDArray[np.floating[Any]], sets: CandidateSets, seed: int = 0) -> Floats:
    """Return log P(S | x) of examples that a model was not trained on, with flip rates by class; see `set_posterior`.

    Parameters
    ----------
    log_p
        (h, c) log-probabilities; rows that are NaN say nothing.
    sets
        h candidate sets.
    seed
        Of the parts.

    Returns
    -------
    (h,) float64, at most 0.

    Examples
    --------
    >>> y = np.arange(400) % 2  # of three classes; label 2 joins class 0 only
    >>> sets = CandidateSets.from_lists([[0, 2] if label == 0 else [0, 1] for label in y], n_classes=3)
    >>> right, always_0 = np.full((2, 400, 3), -9.0)  # both cover all sets
    >>> right[np.arange(400), y], always_0[:, 0] = 0.0, 0.0
    >>> [round(float(set_likelihood(log_p, sets).mean()), 1) for log_p in (right, always_0)]
    [-0.0, -1.4]
    """
    c = sets.n_classes
    p = (1 - MIXED) * np.exp(np.nan_to_num(log_p.astype(np.float64), nan=-math.log(c))) + MIXED / c
    return set_posterior(np.log(p), sets, seed)[1]


@one_blas_thread()
def set_posterior(log_p: Floats, sets: CandidateSets, seed: int = 0, *, by_class: bool = True) -> tuple[Floats, Floats]:
    """Return how likely each class is, given the set, and log P(S | x), of examples that a model was not trained on.

    The rates r_jb, at which label b joins the sets of class j, are found by EM on these examples in four parts: those
    that an example is judged by come from the other three. With more than `MOST_WITH_RATES` classes all are equal.

    Parameters
    ----------
    log_p
        (h, c) float64; finite on the sets.
    sets, seed
        As for `set_likelihood`.
    by_class
        False: one rate for all.

    Returns
    -------
    tuple
        (h, c) float64, 0 off the sets, rows sum to 1; (h,) float64.
    """
    mask, c = sets.mask(), sets.n_classes
    inside = np.where(mask, log_p, -np.inf)  # (h, c)
    mean = float(np.clip((sets.nnz - len(sets)) / max(1, len(sets) * (c - 1)), 1e-6, 1 - 1e-6))
    if c > MOST_WITH_RATES or not by_class:
        others = sets.sizes - 1
        equal: Floats = logsumexp(inside, axis=1) + others * np.log(mean) + (c - 1 - others) * np.log1p(-mean)
        return softmax(inside, axis=1), equal
    joined = mask.astype(np.float64)
    part = np.random.default_rng([seed, 6]).permutation(len(sets)) % _RATE_PARTS
    q = softmax(inside, axis=1)  # (h, c) probability of each class, given the set
    total = np.empty(len(sets))
    for _ in range(_RATE_STEPS):
        posterior = np.empty_like(q)
        for k in range(_RATE_PARTS):
            here, others = part == k, part != k
            pairs = q[others].T @ joined[others]  # (c, c): examples of a class, with label b
            rates = (pairs + _PSEUDO * mean) / (q[others].sum(axis=0)[:, None] + _PSEUDO)
            rates = np.clip(rates, 1e-9, 1 - 1e-9)
            on, off = np.log(rates), np.log1p(-rates)
            np.fill_diagonal(on, 0.0)
            np.fill_diagonal(off, 0.0)
            scores = inside[here] + joined[here] @ (on - off).T + off.sum(axis=1)  # log p_j P(S | j)
            posterior[here], total[here] = softmax(scores, axis=1), logsumexp(scores, axis=1)
        q = posterior
    return q, total
