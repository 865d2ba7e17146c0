"""How many labels people will have to look at until the certificate holds, expected from the controls answered so far.

Before any answer a label is wrong with probability q: 1 − its confidence, or, where neighbours are known, the mean of
that and of how often labels of this confidence are not those of their neighbours (isotonic). The first misses what
the model does not know of, the second what neighbours share. Then P(label wrong) is logistic in [1, logit q, r, r²],
r the rank of q in [−1, 1], the last three centred where errors are expected, so that the constant is the level of the
errors whatever the slope. Draws from the prior of the four weights are drawn again by the likelihood of the answered
controls (sampling importance resampling). Of each draw the open controls get answers, and each set of answers ends
the accepted part somewhere (`pll.review.certificate.count_accepted`). The median of these ends is what is expected. It
guarantees nothing, and no row is shown because of it. The draws are the same for every plan, and which controls were
drawn does not count before one of them is answered: the number is that which people were told before they began.

References
----------
Rubin, Using the SIR algorithm to simulate posterior distributions, Bayesian Statistics 3, 1988.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, logit
from scipy.stats import rankdata

from pll.review.certificate import UNANSWERED, Answers, is_wrong
from pll.weights import Flags, Floats, Ints

PRIOR_DRAWS = 5000
DRAWS = 400
"""Draws from the posterior: of 100, the median is off by a tenth."""
LEVEL_SCALE, LEVEL_TAIL = 0.5, 3
"""Prior of the constant around its value for q: Student's t. Held-out confidence is right on average; some labels,
another model's, are far off. The tails are from simulated reviews."""
SLOPE, SLOPE_SPREAD = 0.9, 0.4
"""Prior of the weight of logit q: nearly calibrated."""
CURVE_SPREAD = 1.0
"""Prior spread of the weights of r and r²; their mean is 0."""
SUREST = 1e-3
"""Probabilities are cut off so far from 0 and 1."""
COVERAGE = 0.8
"""Share of the draws between `low` and `high`."""


@dataclass(frozen=True)
class ExpectedChecks:
    """Labels that people still have to look at.

    Attributes
    ----------
    low, likely, high : int
        80 % of the draws lie between `low` and `high`; `likely` is their median.
    controls : int
        Of them, controls: these are looked at first, every one.
    """

    low: int
    likely: int
    high: int
    controls: int = 0

    def after(self, made: int, controls: int) -> ExpectedChecks:
        """What is left after further answers.

        Parameters
        ----------
        made
            Answers since.
        controls
            Controls that are open now.

        Examples
        --------
        >>> ExpectedChecks(240, 255, 290, 175).after(made=20, controls=155)
        ExpectedChecks(low=220, likely=235, high=270, controls=155)
        """
        low, likely, high = (max(controls, each - made) for each in (self.low, self.likely, self.high))
        return ExpectedChecks(low, likely, high, controls)

    @property
    def sentence(self) -> str:
        """What is to be done, and what it consists of.

        Examples
        --------
        >>> ExpectedChecks(240, 255, 290, 175).sentence, ExpectedChecks(12, 12, 12).sentence
        ('Check about 255 more (240-290): 175 random ones, then about 80 others', 'Check about 12 more')
        """
        others = self.likely - self.controls
        spread = f" ({self.low:,}-{self.high:,})" if self.low < self.high else ""
        then = f", then about {others:,} others" if others else ""
        parts = f": {self.controls:,} random ones{then}" if self.controls else ""
        return f"Check about {self.likely:,} more{spread}{parts}"


def expected_checks(
    order: Ints,
    confidence: npt.ArrayLike,
    controls: Ints,
    answers: Answers,
    tolerated: int,
    *,
    disagrees: Flags | None = None,
) -> ExpectedChecks:
    """Return how many further labels people look at until the certificate holds.

    Parameters
    ----------
    order : (n,) rows, the surest first
    confidence : (n,) in [0, 1]
    controls : (K,) rows
    answers : (n,) of all rows
    tolerated : int
        Wrong controls that the accepted labels may hold.
    disagrees : (n,) bool, optional
        Labels that are not those of the nearest neighbours.

    Examples
    --------
    >>> rows, nothing = np.arange(100), np.full(100, UNANSWERED, dtype=np.int8)
    >>> expected_checks(rows, np.linspace(1, 0.5, 100), rows[::5], nothing, 3).likely > 20
    True
    """
    n = len(order)
    place = np.argsort(order)
    controls = controls[np.argsort(place[controls])]
    control_answers = answers[controls]
    answered = control_answers != UNANSWERED
    if not answered.any():
        controls = evenly(order, len(controls))
    at = place[controls]
    is_open = answers == UNANSWERED
    columns, level = _columns(_prior_probability(np.asarray(confidence, dtype=np.float64), disagrees, is_open))
    rng = np.random.default_rng(0)
    weights = _posterior(columns[controls[answered]], is_wrong(control_answers[answered]), level, rng)  # (DRAWS, 4)
    wrong = rng.random((DRAWS, len(controls))) < expit(weights @ columns[controls].T)
    wrong[:, answered] = is_wrong(control_answers[answered])
    ends = np.append(at, n)[(np.cumsum(wrong, axis=1) <= tolerated).sum(axis=1)]  # at the (c+1)-th wrong control, or n
    open_in_order = is_open[order]
    ahead = np.concatenate([[0], np.cumsum(open_in_order & np.isin(np.arange(n), at))])
    behind = open_in_order.sum() - np.concatenate([[0], np.cumsum(open_in_order)])
    shares = [(1 - COVERAGE) / 2, 0.5, (1 + COVERAGE) / 2]
    low, likely, high = np.quantile((ahead + behind)[ends], shares, method="nearest")
    return ExpectedChecks(int(low), int(likely), int(high), int((~answered).sum()))


def evenly(order: Ints, many: int) -> Ints:
    """Return (many,) rows at even distances in the order: controls before they are drawn.

    Parameters
    ----------
    order
        (n,) rows.
    many
        How many.
    """
    n = len(order)
    return order[np.arange(many) * n // max(many, 1) + n // max(2 * many, 1)]


def _prior_probability(confidence: Floats, disagrees: Flags | None, is_open: Flags) -> Floats:
    """(n,) q. Neighbours of the open rows alone are looked at: an answered label is a person's, and surely certain."""
    doubt = 1 - confidence
    if disagrees is not None and is_open.any():
        from sklearn.isotonic import IsotonicRegression

        rate = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(doubt[is_open], disagrees[is_open])
        doubt = (doubt + rate.predict(doubt)) / 2
    return np.asarray(np.clip(doubt, SUREST, 1 - SUREST))


def _columns(probability: Floats) -> tuple[Floats, float]:
    """(n, 4): a constant, logit q, its rank r in [−1, 1], r², centred; and logit q where it is centred."""
    doubt = logit(probability)
    rank = 2 * (rankdata(doubt) - 0.5) / len(doubt) - 1
    columns = np.column_stack([doubt, rank, rank**2])
    centre = np.average(columns, axis=0, weights=probability * (1 - probability))
    return np.column_stack([np.ones(len(doubt)), columns - centre]), float(centre[0])


def _posterior(design: Floats, wrong: Flags, level: float, rng: np.random.Generator) -> Floats:
    """(DRAWS, 4) weights given the answers `wrong` (k,) to the rows `design` (k, 4)."""
    weights = np.column_stack(
        [
            level + LEVEL_SCALE * rng.standard_t(LEVEL_TAIL, PRIOR_DRAWS),
            rng.normal(SLOPE, SLOPE_SPREAD, PRIOR_DRAWS),
            rng.normal(0, CURVE_SPREAD, (PRIOR_DRAWS, 2)),
        ]
    )
    log_likelihood = log_expit(np.where(wrong, 1, -1) * (weights @ design.T)).sum(axis=1)
    likelihood = np.exp(log_likelihood - log_likelihood.max())
    return weights[rng.choice(PRIOR_DRAWS, DRAWS, p=likelihood / likelihood.sum())]
