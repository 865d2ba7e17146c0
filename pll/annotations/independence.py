"""What the votes of several voters are worth together: how many independent ones, and what no rule over them can reach.

*Effective number.* m voters whose mistakes correlate by ρ, in the mean of their pairs, tell as much as
m / (1 + (m − 1) ρ) independent ones (Kish's design effect). With few known labels a correlation counted on them is
hardly better than none, so that ρ is estimated by a model of one factor: voter v is wrong on row i where
√r · z_i + √(1 − r) · e_iv < Φ⁻¹(p_v), with p_v its share of mistakes, and one r of all. Its posterior, uniform in ρ,
gives estimate and 95 % interval. It holds the true value in .95 of panels drawn from that model, of three to five
voters with ten known labels (median of 12 settings, 100 panels each; .82 where accuracies are .88, .39, .65 and ρ is
.42), one by the bootstrap in .79.

*Bound.* Where every voter is wrong, no rule that chooses among the votes is right. From k such rows of n, at least the
lower end of the Clopper-Pearson interval of k / n is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

from pll.annotations.data import Annotations
from pll.annotations.voters import are_agreed_on_alike
from pll.weights import Floats, Ints
from pll.wording import percent

LEAST_KNOWN = 10
"""Known labels from which there is an interval worth showing."""
MOST_VOTERS = 200
"""Voters up to whom pairs are counted; of more, those who answered most of the known rows."""
LIKELY = 1.92
"""Nats below the highest log-likelihood within which a value is in a 95 % interval: half of χ² of one degree."""
LOADINGS = np.linspace(0.0, 0.98, 50)
NODES, NODE_WEIGHTS = (lambda nodes: (nodes[0], nodes[1] / nodes[1].sum()))(np.polynomial.hermite_e.hermegauss(41))


@dataclass(frozen=True)
class Worth:
    """What votes are worth together, by known labels.

    Attributes
    ----------
    rows
        Number of known labels with at least two votes.
    votes
        Mean number of votes on them.
    correlation
        ρ, mean correlation of the mistakes of two voters.
    effective, low, high
        Number of independent voters that tell as much, and its 95 % interval.
    all_wrong
        Number of rows on which every vote is wrong.
    reach
        Share of rows on which some vote is right.
    most
        Upper end of its one-sided 95 % interval: no rule over the votes is right on more.
    is_fair
        Whether voters agree on these rows as on the others; else the figures are of these alone.
    """

    rows: int
    votes: float
    correlation: float
    effective: float
    low: float
    high: float
    all_wrong: int
    reach: float
    most: float
    is_fair: bool = True

    @property
    def sentence(self) -> str:
        """What the votes are worth, in two sentences."""
        nobody = f"On {self.all_wrong:,} of {self.rows:,} known labels" if self.all_wrong else "On none of them"
        right = f"right on more than {percent(self.reach, 1)} of them" if self.all_wrong else ""
        of_all = f"on more than {percent(self.most, 1)} of all with two answers (a one-sided 95 % bound)"
        if not self.is_fair:
            limit = f": no rule that chooses among the answers is {right}" if right else ""
            return (
                f"{self.votes:.3g} answers an example are worth {self.effective:.1f} independent ones on the "
                f"{self.rows:,} known labels, which are no random part: of the others that says nothing. {nobody} all "
                f"are wrong{limit}."
            )
        told = percent(self.most, 1) != percent(1.0, 1)  # of few known labels
        limit = ", nor ".join(filter(None, (right, of_all if right else f"right {of_all}")) if told else [right])
        shared = ", since mistakes are shared" if round(self.high, 1) < round(self.votes, 1) else ""
        return (
            f"{self.votes:.3g} answers an example are worth {self.effective:.1f} independent ones ({self.low:.1f} to "
            f"{self.high:.1f}, by {self.rows:,} known labels){shared}. {nobody} all are wrong"
            + (f": no rule that chooses among the answers is {limit}." if limit else ".")
        )


def worth_of_votes(annotations: Annotations, true_labels: Ints | None) -> Worth | None:
    """Estimate what the votes are worth together.

    Parameters
    ----------
    annotations
        The votes.
    true_labels
        (n,) known or decided labels, `ALL_WRONG` where everybody is wrong, −1 elsewhere.

    Returns
    -------
    Worth or None
        None with fewer than `LEAST_KNOWN` known labels that have two votes, or where it is not known who voted.

    References
    ----------
    Kish (1965), Survey Sampling; Clopper & Pearson, Biometrika 26 (1934).

    Examples
    --------
    >>> y = np.arange(40) % 2
    >>> copies = np.stack([y ^ (np.arange(40) % 5 == 0)] * 3, axis=1)
    >>> worth = worth_of_votes(Annotations.from_votes(copies), y)
    >>> worth.effective < 1.2, worth.all_wrong, worth.reach
    (True, 8, 0.8)
    """
    if annotations.anonymous or true_labels is None:
        return None
    known = np.flatnonzero((true_labels != -1) & (annotations.answers_per_row >= 2))
    if len(known) < LEAST_KNOWN:
        return None
    wrong = _mistakes(annotations.take(known), true_labels[known])
    answered = ~np.isnan(wrong)
    votes = float(answered.sum(axis=1).mean())
    most_answers = np.argsort(-answered.sum(axis=0), kind="stable")[:MOST_VOTERS]
    rho, log_likelihood = _correlation(wrong[:, most_answers[answered.sum(axis=0)[most_answers] > 0]])
    probability = np.exp(log_likelihood - log_likelihood.max()) * np.gradient(rho)
    probability /= probability.sum()
    total = probability.cumsum()
    low = rho[int(np.searchsorted(total, 0.025))]
    high = rho[min(int(np.searchsorted(total, 0.975)), len(rho) - 1)]
    mean = float(probability @ rho)
    # A factor that the known labels do not speak for is not counted from below.
    low = 0.0 if log_likelihood[0] >= log_likelihood.max() - LIKELY else float(low)
    n, all_wrong = len(known), int((np.nansum(wrong, axis=1) == answered.sum(axis=1)).sum())
    lost = 0.0 if not all_wrong else float(betaincinv(all_wrong, n - all_wrong + 1, 0.05))
    return Worth(
        n, votes, mean, _kish(votes, mean), _kish(votes, float(high)), _kish(votes, low), all_wrong,
        1 - all_wrong / n, 1 - lost, are_agreed_on_alike(annotations, true_labels),
    )  # fmt: skip


def _kish(votes: float, rho: float) -> float:
    return votes / (1 + (votes - 1) * rho)


def _mistakes(annotations: Annotations, y: Ints) -> Floats:
    """(n, m) 1 where an answer does not hold the truth, 0 where it does, NaN without one."""
    wrong = np.full((annotations.n_rows, annotations.n_annotators), np.nan)
    wrong[annotations.rows, annotations.annotators] = 1.0
    holds = annotations.labels == y[annotations.rows]
    wrong[annotations.rows[holds], annotations.annotators[holds]] = 0.0
    return wrong


def _correlation(wrong: Floats) -> tuple[Floats, Floats]:
    """Mean correlation of two voters by loading of the factor, and the log-likelihood of each."""
    answered = ~np.isnan(wrong)
    mistakes, right = np.where(answered, wrong, 0.0), np.where(answered, 1 - wrong, 0.0)
    share = (mistakes.sum(axis=0) + 0.5) / (answered.sum(axis=0) + 1)
    log_likelihood, rho = np.empty(len(LOADINGS)), np.empty(len(LOADINGS))
    for k, r in enumerate(LOADINGS):
        p = ndtr((ndtri(share)[:, None] - np.sqrt(r) * NODES) / np.sqrt(1 - r))  # (m, nodes)
        given = mistakes @ np.log(np.clip(p, 1e-12, 1)) + right @ np.log(np.clip(1 - p, 1e-12, 1))
        top = given.max(axis=1, keepdims=True)
        log_likelihood[k] = (np.log(np.exp(given - top) @ NODE_WEIGHTS) + top[:, 0]).sum()
        mean = p @ NODE_WEIGHTS
        covariance = (p * NODE_WEIGHTS) @ p.T - np.outer(mean, mean)
        spread = np.sqrt(mean * (1 - mean))
        rho[k] = (covariance.sum() - np.trace(covariance)) / (spread.sum() ** 2 - (spread**2).sum())
    return np.maximum(rho, 0.0), log_likelihood
