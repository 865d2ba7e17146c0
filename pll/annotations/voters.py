"""Models of voters, estimated from their votes alone or jointly with a classifier: one Dawid-Skene family.

The model of Dawid & Skene (Applied Statistics 28, 1979): voter v names label l with probability C_v[k, l] where the
true label is k, independently of the other voters given k. Expectation maximisation goes back and forth between

    T_ik ∝ p_k · Π_v C_v[k, l_iv]                      the posterior of each example
    C_v[k, l] = (Σ_i T_ik 1[l_iv = l] + s · B[k, l]) / (Σ_i T_ik + s)

*majority*: T is the share of the votes. *one-coin* (Zhang, Chen, Zhou & Jordan, JMLR 17, 2016, §3.2): C_v has r_v on
the diagonal and the rest spread evenly, and no class is likelier beforehand. An answer of k of the c labels is right
where it holds the truth, and weighs log(r / (1 − r)) + log((c − k) / k) for each of them, never less than 0.
*confusion*: a matrix of each voter; an answer of k labels counts 1/k for each. The class prior is one distribution,
p = w · mean_i T_i + (1 − w) / c. A prior estimated from voters who each favour some classes feeds itself (these classes
grow), so that it is shrunk to uniform as James & Stein (1961) do, w = max(0, 1 − V / D): D is the squared distance of
the class shares of all votes from uniform, V their variance between voters.

*pooled*, the default: B is the matrix of all voters together (partial pooling; Paun et al., TACL 6, 2018), and EM stops
after `EARLY` rounds from one coin (a round or two from a good start are optimal up to constants: Zhang et al., §3). At
convergence, matrices fit shared mistakes of the voters as classes, or split the most frequent class. It starts from the
shares of the votes where that is clearly likelier: one coin can take voters who always name one label for the best.

*Functions.* Where most votes come from voters who name one class and otherwise abstain (labelling functions), who votes
says as much of the class prior as of the label. *pooled* is one round from the labels of the majority then, without a
class prior; *confusion* is one coin, with accuracies drawn to the common one by n answers.

*Other starts.* With few voters, votes fit several models. Each voter is believed first in turn, class shares included
(w = 1): `agreement` is how far the results that the votes do not rule out agree with the first one.

*Known labels* are certain in T. A start under whose result, made without them, they are likelier takes the place of the
first one. They weigh as much as other rows: weighed more, ten settled disputes would make every voter look poor.

*With a classifier* (`fit_voters(classifier=…)`) the class prior of each example is its predicted probabilities, to the
power η that predicts the posterior of the votes best on examples it was not trained on; at 0 the votes decide alone.

*Confidence.* Voters share mistakes, so the product over them is overconfident: see `_Discount`. A classifier is another
witness: it counts in full beside voters who are discounted, unless it repeats their mistakes, see `_repeats`.

*Few answers.* Voters who skip what is hard leave few answers there, and poor ones. As far as rows with two answers may
agree less often than the matrices explain, a share of the answers to rows with one or two is taken for guesses: see
`guessed_where_few`.

Confidence scores split a voter into up to three levels of confidence, each with a matrix of its own.

Memory: n × c for the posterior, c² a voter and level for the matrices; above `MOST_NUMBERS` numbers, one coin alone.
docs/research/voters.md has the figures behind the constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used

from pll.annotations.agreement import Pair, pairs_in
from pll.annotations.data import Annotations
from pll.errors import UserError, unknown
from pll.weights import Flags, Floats, Ints
from pll.wording import percent

Codes = Ints
Classifier = Callable[[Floats], npt.NDArray[Any]]
"""(n, c) posterior of the labels → (n, c) class probabilities of each example, learnt without it."""

VOTER_MODELS = ("pooled", "confusion", "one-coin", "majority")
SMOOTHING = {"pooled": 20.0, "confusion": 3.0}
"""s, answers of all voters together that each row of a voter's matrix starts with."""
FUNCTION_SMOOTHING = 0.2
"""s for labelling functions, as a share of the examples: they name one class, so that s alone tells rows apart."""
POOLED_SMOOTHING = 10.0
"""Answers of one coin that each row of the matrix of all voters starts with."""
SHRINKAGE = 2.0
"""Answers of an average voter that everybody's accuracy starts with."""
FUNCTION_SHARE = 0.5
"""Share of the votes from voters who name one class, from which they are labelling functions."""
CROWD_CORRELATION, PANEL_CORRELATION = 0.3, 0.5
"""ρ, how far the mistakes of two voters are the same: of a crowd that shares few rows, and where all answer all."""
CORRELATIONS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
CLASSIFIER_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
LEAST_WEIGHT = 0.125
"""η for `VoterModels.likelihood` where a classifier is worth nothing."""
MOST_EM_ROUNDS = 50
EARLY = 3
"""Rounds of *pooled*."""
TOLERANCE = 1e-4
JOINT_ROUNDS = 2
"""Times that a classifier is trained."""
MOST_NUMBERS = 5 * 10**7
"""Numbers that the confusion matrices may hold; above, one coin."""
LEVELS = 3
LEAST_OF_LEVEL = 50
"""Answers that a level of confidence must have to get a matrix of its own."""
LEAST_AGREEMENT = 0.9
"""Agreement of the starts below which the disputed rows need a person."""
RULED_OUT = 1.96
"""Standard errors by which the first result must be likelier than another one for the votes to tell the two apart."""
MIN_TRUE_LABELS = 5
"""Known labels from which nobody is asked for more."""
LEAST_OF_TWO = 10
"""Rows with two answers, at least, from which it is told how many answers are guesses where there are few."""
LEAST_CHECKED = 20
"""Decided examples from which a voter's accuracy is counted on them alone, and it is measured how far votes count."""
MOST_STARTS = 12
"""Voters up to whom each is believed first once."""
BELIEVED = 0.9
"""Weight of the voter whose answers a start favours; the shares of the votes have the rest."""
SLIP = 0.1
"""Share of the known labels that no model need explain, where models are compared by them."""
SHARES = np.linspace(0, 1, 101)
BEFORE = np.array([100.0] + 100 * [1.0]) / 200
"""How likely shares of rows, or of answers, that say nothing are beforehand: as likely as not none, else all alike."""
NONZERO = 1e-12


@dataclass(frozen=True, eq=False)
class VoterModels:
    """Fitted models of voters.

    Attributes
    ----------
    annotations
        The votes they were fitted on.
    kind
        What was fitted, of `VOTER_MODELS`.
    accuracy
        (a,) expected share of answers that hold the true label; NaN for a voter without answers.
    confusions
        (a·levels, c, c) row k: distribution of the labels given where k is true; None where no matrices were fitted.
    product
        (n, c) posterior of the labels as if voters were independent.
    posterior
        (n, c) the same with the voters discounted: what they say is raised to `exponent`, a classifier's prior is not.
        From `LEAST_CHECKED` known labels on it is a mean over exponents, and over how many rows lead all voters astray.
    likelihood
        (n, c) likelihood of the votes without a class prior, over its maximum of the row; in a joint fit raised to 1/η,
        so that its product with a classifier's probabilities is as in the joint fit.
    classifier_weight
        η of the classifier, 0 where it adds nothing that is measurable to the votes; None without one.
    repeats_mistakes
        Whether the classifier measurably repeats mistakes of the voters (`_repeats`): then it is no further evidence.
    shares
        (m,) weight of each vote, 1/k for an answer of k labels.
    exponent
        (n,) in (0, 1]; the expected one.
    agreement
        Least share of the rows with a vote on which the result of another start gives the same label, of those that are
        not clearly less likely than the first one; 1 where there is none.
    disputed
        Rows on which one of them gives another label, in random order: the first ten are a fair sample.
    n_true_labels, n_checked
        Number of true labels given, and of those by which voters are measured: all, or none (`is_fair_sample`).
    are_functions
        Whether most votes are of labelling functions.
    """

    annotations: Annotations
    kind: str
    accuracy: Floats
    confusions: Floats | None
    product: Floats
    posterior: Floats
    likelihood: Floats
    classifier_weight: float | None
    repeats_mistakes: bool
    shares: Floats
    exponent: Floats
    agreement: float
    disputed: Codes
    n_true_labels: int
    n_checked: int
    are_functions: bool

    @property
    def rows_to_label(self) -> Codes:
        """The disputed rows, in their order; none where the starts agree well enough, or known labels have chosen."""
        is_decided = self.agreement >= LEAST_AGREEMENT or self.n_true_labels >= MIN_TRUE_LABELS
        return self.disputed[:0] if is_decided else self.disputed

    @property
    def is_tied(self) -> Flags:
        """(n,) bool, disputed rows where two labels have the most votes; none where known labels have chosen."""
        result = np.zeros(self.annotations.n_rows, dtype=np.bool_)
        if self.n_true_labels < MIN_TRUE_LABELS and len(self.disputed):
            votes = np.bincount(
                self.annotations.rows * self.annotations.n_classes + self.annotations.labels,
                self.shares,
                minlength=self.posterior.size,
            ).reshape(self.posterior.shape)[self.disputed]
            result[self.disputed] = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
        return result

    @property
    def verdict(self) -> str:
        """A sentence where the starts disagree; else empty."""
        annotations = self.annotations
        if not len(self.rows_to_label):
            return ""
        who = "Two" if annotations.n_annotators == 2 else "The"
        voted = int((annotations.answers_per_row > 0).sum())
        return (
            f"{who} voters disagree on {len(self.disputed):,} of {voted:,}; their answers do not tell who is right. "
            f"Settle {min(N_TO_LABEL, len(self.disputed))} of these."
        )


N_TO_LABEL = 10
"""Disputed examples to be settled by a person."""
FEATURES_ADD_NOTHING = (
    "The features add nothing that is measurable to the votes, so that the labels are about as good as the votes alone."
)
"""Said where the weight of a classifier is 0."""


def fit_voters(
    annotations: Annotations,
    *,
    kind: str = "pooled",
    classifier: Classifier | None = None,
    true_labels: Ints | None = None,
) -> VoterModels:
    """Fit the models of all voters by expectation maximisation.

    Parameters
    ----------
    annotations : Annotations
        At least one answer, at least two classes.
    kind : str
        Of `VOTER_MODELS`.
    classifier : callable, optional
        Called `JOINT_ROUNDS` times with the posterior; its (n, c) result is the class prior of each example.
    true_labels : (n,) int, optional
        Labels that people decided, negative elsewhere.

    Returns
    -------
    VoterModels

    Raises
    ------
    UserError
        An unknown kind, no vote, or one class; models of voters for counts of votes without voters.

    References
    ----------
    Dawid & Skene (Applied Statistics 28, 1979); Zhang, Chen, Zhou & Jordan (JMLR 17, 2016); Paun et al. (TACL 6, 2018),
    for *pooled*; Kish, Survey Sampling (1965), for the exponent; Vuong (Econometrica 57, 1989), for which start is
    likelier.

    Examples
    --------
    >>> annotations = Annotations.from_votes([[k, k, 1] for k in (0, 0, 1, 1, 0, 1)], ["a", "b"])
    >>> models = fit_voters(annotations)
    >>> "".join(annotations.class_names[k] for k in models.posterior.argmax(axis=1)), bool(models.accuracy[2] < 0.7)
    ('aabbab', True)
    """
    if kind not in VOTER_MODELS:
        raise unknown("voter model", kind, VOTER_MODELS)
    if annotations.n_classes < 2 and kind != "majority":
        raise UserError("There is one class; nobody can be wrong, and no voter model can be fitted.")
    if annotations.n_answers == 0:
        raise UserError("Nobody voted; there is nothing to fit voter models on.")
    if annotations.anonymous and kind != "majority":
        raise UserError("These are counts of votes: who gave which is not known, so no voter model can be fitted.")
    em = _ExpectationMaximisation(annotations)
    kind_fitted, start, rounds = em.plan(kind)
    first = em.run(kind_fitted, start, rounds=rounds)
    em.guessed = em.guessed_where_few(first)
    if em.guessed:
        first = em.run(kind_fitted, start, rounds=rounds)
    voted, known = annotations.answers_per_row > 0, np.asarray(-1 if true_labels is None else true_labels) >= 0
    is_fair = true_labels is not None and is_fair_sample(first.T.max(axis=1)[voted], known[voted])
    checked = true_labels if is_fair else None
    discount = _Discount.none(annotations) if kind == "majority" else _Discount.of(annotations, first.T, checked)
    others = _Others() if first.confusions is None else _Others.of(em, first, discount.exponent, true_labels)
    prior_weight = em.prior_weight
    if others.best is not None:
        start, prior_weight = next(islice(em.starts(), others.best, None)), 1.0
    fit = first if true_labels is None else em.run(kind_fitted, start, true_labels, None, rounds, prior_weight)
    if checked is not None and (measured := em.measured(checked)) is not None:
        by_votes = _softmax(measured.votes)
        of_measured = _Discount.of(annotations, by_votes, checked)
        lead = _known_likelihood(checked, by_votes, of_measured.exponent)
        lead -= _known_likelihood(checked, _softmax(fit.votes), discount.exponent)
        if lead > annotations.n_annotators:  # a number of each is chosen by these labels: Akaike's criterion
            fit, discount = measured, of_measured
    posterior = discount.posterior(np.log(fit.T + NONZERO), np.zeros_like(fit.T), fit.T.mean(axis=0))
    joint = _Joint(fit.T, posterior, _softmax(fit.votes))
    if classifier is not None:
        joint = _joint(em, fit, posterior, discount, classifier, true_labels)
    return VoterModels(
        annotations=annotations,
        kind=kind,
        accuracy=_accuracy(_with_true_labels(joint.T, true_labels), annotations, em.shares),
        confusions=fit.confusions,
        product=joint.T,
        posterior=_with_true_labels(joint.posterior, true_labels),
        likelihood=joint.likelihood / joint.likelihood.max(axis=1, keepdims=True),
        classifier_weight=joint.weight,
        repeats_mistakes=joint.repeats_mistakes,
        shares=em.shares,
        exponent=discount.exponent,
        agreement=others.agreement,
        disputed=others.disputed,
        n_true_labels=0 if true_labels is None else int((true_labels >= 0).sum()),
        n_checked=0 if checked is None else int((checked >= 0).sum()),
        are_functions=em.are_functions,
    )


def exchangeable_posterior(annotations: Annotations) -> Floats:
    """Return the (n, c) posterior of the labels where it is not known who voted: all voters have one confusion matrix.

    Fitted by expectation maximisation from the shares of the votes, its rows drawn to those of one coin; m votes whose
    mistakes correlate by `PANEL_CORRELATION` count as m / (1 + (m − 1) ρ) independent ones.

    Parameters
    ----------
    annotations
        Counts of votes, at least one.

    Examples
    --------
    >>> votes = Annotations.from_counts([[3, 0], [2, 1], [1, 2], [0, 3]] * 10)
    >>> [round(float(share), 2) for share in exchangeable_posterior(votes)[:2, 0]]
    [0.88, 0.66]
    """
    counts = annotations.votes.toarray().astype(np.float64)
    c, m = counts.shape[1], counts.sum(axis=1, keepdims=True)
    T = np.where(m > 0, counts / np.maximum(m, 1), 1 / c)
    for _ in range(MOST_EM_ROUNDS):
        right = ((T * counts).sum() + 1) / (counts.sum() + 2)
        coin = np.where(np.eye(c, dtype=np.bool_), right, (1 - right) / max(c - 1, 1))
        confusion = T.T @ counts + POOLED_SMOOTHING * coin
        log_prior = np.log(T.mean(axis=0) + NONZERO)
        said = counts @ np.log(confusion / confusion.sum(axis=1, keepdims=True)).T
        before, T = T, _softmax(log_prior + said)
        if np.abs(T - before).max() < TOLERANCE:
            break
    T = _softmax(log_prior + said / (1 + np.maximum(m - 1, 0) * PANEL_CORRELATION))
    leads = counts == counts.max(axis=1, keepdims=True)  # a tie stays one, though classes are not equally likely
    return np.where(leads, (T * leads).sum(axis=1, keepdims=True) / leads.sum(axis=1, keepdims=True), T)


def shared_answers(models: VoterModels) -> str:
    """Say which two voters agree far more often than they would if voters were independent; "" where none do.

    Independent voters agree, on the examples of one label, as often as would follow from what each says of these. Those
    who copy one another, or share mistakes, look good, and the others poor: then the others agree with each other more
    often than that they are poor explains. It is counted on all examples, and on those of each label: mistakes that sit
    in one class are few among all. With a single other voter nothing tells, but that two are alike.

    Parameters
    ----------
    models
        Of voters with names. From `LEAST_CHECKED` known labels on that are a fair sample, these tell how far mistakes
        are shared.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, wrong = rng.integers(3, size=400), rng.random((400, 3)) < [0.4, 0.2, 0.2]
    >>> said = np.where(wrong, (y[:, None] + rng.integers(1, 3, (400, 3))) % 3, y[:, None])
    >>> shared_answers(fit_voters(Annotations.from_votes(said)))
    ''
    >>> copies = np.where(rng.random((400, 2)) < 0.05, rng.integers(3, size=(400, 2)), said[:, :1])
    >>> shared_answers(fit_voters(Annotations.from_votes(np.hstack([said, copies])))).split(":")[0]
    'Voters are not independent'
    """
    annotations, names = models.annotations, models.annotations.annotator_names
    if models.are_functions or models.confusions is None or models.n_checked >= LEAST_CHECKED:
        return ""
    in_classes = pairs_in(annotations, models.product.argmax(axis=1))
    in_all: dict[tuple[int, int], Pair] = {}
    for pair in in_classes:
        two = pair.first, pair.second
        in_all[two] = in_all[two] + pair if two in in_all else pair
    places = [("", pair) for pair in in_all.values()]
    places += [(f" labelled {annotations.class_names[pair.group]}", pair) for pair in in_classes]
    found = []
    for where, pair in places:
        agree, explained = 1 - pair.apart, pair.by_chance
        error = np.sqrt(max(agree * (1 - agree), explained * (1 - explained)) / pair.rows)
        if pair.rows >= LEAST_MET and agree - explained > max(UNEXPLAINED, SURELY * error):
            who = f"{names[pair.first]} and {names[pair.second]}"
            found.append(((agree - explained) / error, agree, explained, who, where))
    if found:
        _, agree, explained, who, where = max(found)
        return (
            f"Voters are not independent: {who} agree on {percent(agree, 0)} of the examples{where} that both "
            f"answered, where {percent(explained, 0)} would follow from how good they seem. Who shares mistakes, votes "
            "do not tell."
        )
    differ = {two: pair.apart for two, pair in in_all.items() if pair.rows >= LEAST_MET}
    for alone in range(annotations.n_annotators if 3 <= annotations.n_annotators <= MOST_STARTS else 0):
        alike = [share for two, share in differ.items() if alone not in two]
        apart = min((share for two, share in differ.items() if alone in two), default=0.0)
        if alike and apart >= FAR_APART and ALIKE * max(alike) <= apart:
            return (
                f"All voters but {names[alone]} say the same on {percent(1 - max(alike), 0)} or more, and as they do "
                f"{names[alone]} on {percent(1 - apart, 0)} at most: whether they know it or copy, votes do not tell."
            )
    return ""


LEAST_MET = 30
"""Examples that two voters both answered, at least, to count how often they agree."""
UNEXPLAINED, SURELY = 0.15, 5.0
"""How much more often than is explained two voters agree, at least, and by how many standard errors of many pairs."""
FAR_APART, ALIKE = 0.4, 5.0
"""How often one voter differs from all others, at least, and how many times as often as any two of these do."""


@dataclass(frozen=True, eq=False)
class _Joint:
    """Posterior T, the same with the voters discounted, likelihood of the votes; η, and what `_repeats` says."""

    T: Floats
    posterior: Floats
    likelihood: Floats
    weight: float | None = None
    repeats_mistakes: bool = False


def _joint(
    em: _ExpectationMaximisation,
    model: _Fit,
    discounted: Floats,
    discount: _Discount,
    classifier: Classifier,
    true_labels: Ints | None,
) -> _Joint:
    """Fit with a classifier, from a fit of the votes alone and its discounted posterior.

    η is the one under which what the classifier says of the examples that it has not seen predicts the posterior best.
    It is 0 where that is not measurably better than without: the features do not tell the classes apart, and the votes
    decide alone.
    """
    T = alone = model.T
    eta, repeats = 0.0, False
    log_prior = np.zeros_like(T)
    kind = "one-coin" if em.are_functions else model.kind  # the class shares of what functions say are in the prior
    log_share = np.log(alone.mean(axis=0) + NONZERO)[None]
    for turn in range(JOINT_ROUNDS):
        log_proba = np.log(np.asarray(classifier(T), dtype=np.float64) + NONZERO)
        if turn == 0:
            priors = {one: _softmax(one * log_proba + (1 - one) * log_share) for one in CLASSIFIER_WEIGHTS}
            predicted = {one: np.log((prior * alone).sum(axis=1)) for one, prior in priors.items()}
            eta = max(CLASSIFIER_WEIGHTS, key=lambda one: float(predicted[one].sum()))
            if not _is_likelier(predicted[eta], predicted[0.0]) or _follows_one(em, log_proba, alone):
                eta = 0.0  # a useless column must not make anybody surer, nor one that holds what a voter said
            repeats = eta > 0 and not em.are_functions and _repeats(log_proba, discounted)
        if eta == 0:
            return _Joint(alone, discounted, alone ** (1 / LEAST_WEIGHT), weight=0.0)
        log_prior = eta * log_proba + (1 - eta) * log_share
        if not model.is_measured:
            model = em.run(kind, T, true_labels, log_prior)
        T = _with_true_labels(_softmax(model.votes + log_prior), true_labels) if model.is_measured else model.T
    posterior = discount.posterior(model.votes, log_prior, _softmax(log_prior))
    return _Joint(T, posterior, _softmax(model.votes) ** (1 / eta), eta, repeats)


def _follows_one(em: _ExpectationMaximisation, log_proba: Floats, T: Floats) -> bool:
    """Whether a classifier says what one voter says clearly more often than that voter is right.

    Were its mistakes independent of the voter's, it would agree with them no more often than they are right, if it is
    always right. Two voters do not tell how often each is right, and functions of what is read are like a classifier.
    """
    annotations = em.annotations
    if em.are_functions or annotations.n_annotators < 3:
        return False
    predicted, own = log_proba.argmax(axis=1), em.shares == 1
    who, rows, labels = annotations.annotators[own], annotations.rows[own], annotations.labels[own]
    n = np.bincount(who, minlength=annotations.n_annotators)
    agree = np.bincount(who, predicted[rows] == labels, len(n)) / np.maximum(n, 1)
    right = np.bincount(who, T[rows, labels], len(n)) / np.maximum(n, 1)
    error = np.sqrt(np.maximum(agree * (1 - agree), right * (1 - right)) / np.maximum(n, 1))
    return bool(((n >= LEAST_CHECKED) & (agree - right > FOLLOWS + RULED_OUT * error)).any())


FOLLOWS = 0.1
"""How much more often than a voter is right a classifier may say what they say, beyond chance: EM may be off so far."""


def _repeats(log_proba: Floats, posterior: Floats) -> bool:
    """Whether a classifier, given the label, is measurably surer where the voters agree.

    Voters who err where examples look alike err together, and a classifier that learns from them errs with them: its
    opinion is no further evidence. Were features and votes independent given the label, so would be how sure each of
    the two is. The test is a rank correlation within labels, each example counting for a label by its posterior.
    Functions speak or are silent by what they read, so that how many agree depends on it whatever their mistakes do:
    of them the test says nothing.
    """
    from scipy.stats import rankdata  # late: it takes most of a second

    ranks = [rankdata(sure) for sure in (log_proba.max(axis=1), posterior.max(axis=1))]
    of_label = posterior.sum(axis=0)
    # (n, c) off the mean of each
    one, two = (rank[:, None] - (rank @ posterior) / (of_label + NONZERO) for rank in ranks)
    both, first, second = ((posterior * product).sum() for product in (one * two, one**2, two**2))
    return bool(both * np.sqrt(len(posterior)) > RULED_OUT * np.sqrt(first * second))


@dataclass(frozen=True, eq=False)
class _Discount:
    """How far votes count: what they say is raised to 1 / (1 + (m − 1) ρ), and in a share of the rows they say nothing.

    m voters whose mistakes correlate by ρ count as so many times m independent ones: Kish's design effect. Where
    something leads all of them astray, no power of what they say tells it. Votes tell neither: mistakes that all share
    look like truth. A panel that answers everything shares more than a crowd of which others meet on each row.

    From `LEAST_CHECKED` known labels on, both are averaged over, as likely as the known labels are under them, all of
    them: those on which everybody is wrong say most of it. Before, every ρ of `CORRELATIONS` is as likely, and `SHARES`
    are by `BEFORE`.

    Attributes
    ----------
    weights
        (r,) how likely each ρ is.
    exponents
        (r, n) of its rows, in (0, 1].
    astray
        (r,) expected share of the rows on which the votes say nothing, under each ρ.
    """

    weights: Floats
    exponents: Floats
    astray: Floats

    @classmethod
    def none(cls, annotations: Annotations) -> _Discount:
        """Votes count in full."""
        return cls(np.ones(1), np.ones((1, annotations.n_rows)), np.zeros(1))

    @classmethod
    def of(cls, annotations: Annotations, T: Floats, true_labels: Ints | None) -> _Discount:
        """Of a posterior without the known labels."""
        others = np.maximum(annotations.answers_per_row - 1, 0)
        met = annotations.n_answers / (annotations.n_annotators * int((annotations.answers_per_row > 0).sum()))
        is_asked = annotations.answers_per_row > 0  # known labels of others say nothing of the votes
        known = np.flatnonzero(np.zeros(0) if true_labels is None else (true_labels >= 0) & is_asked)
        rhos = np.array([CROWD_CORRELATION + (PANEL_CORRELATION - CROWD_CORRELATION) * met])
        if (others[known] > 0).sum() >= LEAST_CHECKED:
            rhos = np.array(CORRELATIONS)
        exponents = 1 / (1 + others * rhos[:, None])
        if true_labels is None or len(known) < LEAST_CHECKED:
            return cls(np.ones(1), exponents, np.zeros(1))
        labels, log_T = true_labels[known], np.log(T[known] + NONZERO)
        by_chance = T.mean(axis=0)[labels] + NONZERO
        likelihood = np.empty((len(rhos), len(SHARES)))
        for of_rho, exponent in zip(likelihood, exponents[:, known], strict=True):
            right = _softmax(exponent[:, None] * log_T)[np.arange(len(known)), labels]
            of_rho[:] = np.log(right + SHARES[:, None] * (by_chance - right)).sum(axis=1)
        likely = _softmax((likelihood + np.log(BEFORE)).reshape(1, -1)).reshape(likelihood.shape)
        weights = likely.sum(axis=1)
        return cls(weights, exponents, likely @ SHARES / np.maximum(weights, NONZERO))

    @property
    def exponent(self) -> Floats:
        """(n,) the expected one."""
        mean: Floats = self.weights @ self.exponents
        return mean

    def posterior(self, log_votes: Floats, log_prior: Floats, without: Floats) -> Floats:
        """Return the (n, c) posterior of the labels.

        Parameters
        ----------
        log_votes, log_prior
            (n, c) what the votes say, and what is known beside them and not discounted.
        without
            (n, c) or (c,) probabilities where the votes say nothing.
        """
        total = np.zeros_like(log_votes)
        for weight, exponent, astray in zip(self.weights, self.exponents, self.astray, strict=True):
            said = _softmax(exponent[:, None] * log_votes + log_prior)
            total += weight * (said + astray * (without - said))
        return total


def is_fair_sample(sure: npt.NDArray[np.floating[Any]], known: Flags) -> bool:
    """Whether known rows are as sure as the others, as random ones are (the test of Mann & Whitney, 1947).

    People begin with what is least sure. There voters are wrong more often, and alike, than on all rows.

    Parameters
    ----------
    sure
        (n,) how sure each row is without what is known.
    known
        (n,) whether it is known. Of fewer than `LEAST_CHECKED`, nothing speaks against it.

    Examples
    --------
    >>> sure = np.arange(100) / 100
    >>> is_fair_sample(sure, np.arange(100) % 2 == 0), is_fair_sample(sure, np.arange(100) < 40)
    (True, False)
    """
    if known.sum() < LEAST_CHECKED or known.all():
        return True
    from scipy.stats import mannwhitneyu  # late: it takes most of a second

    sure = sure.round(6)
    return not mannwhitneyu(sure[known], sure[~known]).pvalue < UNFAIR  # NaN where all are as sure


def are_agreed_on_alike(annotations: Annotations, true_labels: Ints) -> bool:
    """Whether voters agree on rows with a known label as on the others, of those that several answered.

    Parameters
    ----------
    annotations
        The votes.
    true_labels
        (n,) known labels, `ALL_WRONG` where everybody is wrong, −1 elsewhere.
    """
    several = annotations.answers_per_row > 1
    return is_fair_sample(annotations.agreed_share()[several], (true_labels != -1)[several])


UNFAIR = 1e-3
"""Probability of a random sample that differs so far from the others, below which it is taken for none."""


def _known_likelihood(true_labels: Ints, T: Floats, exponent: Floats) -> float:
    """Log-likelihood of the known labels under a posterior raised to `exponent`, of which a share need no model."""
    rows = np.flatnonzero(true_labels >= 0)
    proba = _softmax(exponent[rows, None] * np.log(T[rows] + NONZERO))[np.arange(len(rows)), true_labels[rows]]
    return float(np.log((1 - SLIP) * proba + SLIP / T.shape[1]).sum())


@dataclass(frozen=True, eq=False)
class _Fit:
    """Result of one run: posterior T (n, c), log Π_v C_v (n, c), log-likelihood of each row (n,), matrices.

    Or of none, where known labels say how good voters are.
    """

    kind: str
    T: Floats
    votes: Floats
    row_likelihood: Floats
    confusions: Floats | None = None
    is_measured: bool = False


@dataclass(frozen=True, eq=False)
class _Others:
    """Which other start known labels prefer, and where the results that the votes do not rule out differ."""

    best: int | None = None
    agreement: float = 1.0
    disputed: Codes = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def of(cls, em: _ExpectationMaximisation, first: _Fit, exponent: Floats, true_labels: Ints | None) -> _Others:
        """Run them all. The first start is as likely beforehand as all others together."""
        chosen, voted = first.T.argmax(axis=1), em.annotations.answers_per_row > 0
        likelihoods, differs = [], []
        for start in em.starts():
            one = em.run(first.kind, start, rounds=EARLY, prior_weight=1.0)
            if true_labels is not None:
                likelihoods.append(_known_likelihood(true_labels, one.T, exponent))
            if not _is_likelier(first.row_likelihood[voted], one.row_likelihood[voted]):
                differs.append((one.T.argmax(axis=1) != chosen)[voted])
        best = None
        if true_labels is not None and likelihoods:
            lead = np.array(likelihoods) - _known_likelihood(true_labels, first.T, exponent) - np.log(len(likelihoods))
            best = int(lead.argmax()) if lead.max() > 0 else None
        if not differs:
            return cls(best)
        rows = np.random.default_rng(0).permutation(np.flatnonzero(voted)[np.any(differs, axis=0)])
        return cls(best, 1 - float(np.mean(differs, axis=1).max()), rows)


def _is_likelier(one: Floats, other: Floats) -> bool:
    """Whether log-likelihoods of the same rows speak for the first result (Vuong's test)."""
    lead = one - other
    return bool(lead.sum() > RULED_OUT * np.sqrt(len(lead)) * lead.std())


class _ExpectationMaximisation:
    """Expectation maximisation on some votes, from any start."""

    def __init__(self, annotations: Annotations) -> None:
        self.annotations = annotations
        c, a = annotations.n_classes, annotations.n_annotators
        levels = _levels(annotations)
        self.n_units = a * LEVELS if levels.any() else a
        self.units: Codes = annotations.annotators * (self.n_units // a) + levels
        sizes = np.repeat(annotations.answer_sizes, annotations.answer_sizes)
        self.shares: Floats = 1.0 / sizes
        self.informative = np.flatnonzero(sizes < c)  # an answer of all classes has no information
        self.size_weight = np.log((c - sizes[self.informative]) / sizes[self.informative])
        self.answers = np.bincount(self.units[self.informative], self.shares[self.informative], minlength=self.n_units)
        self.cells = annotations.rows * c + annotations.labels
        counts = self._summed(self.shares)
        total = counts.sum(axis=1, keepdims=True)
        shares = np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1.0 / c)
        self.vote_shares: Floats = shares
        self.are_functions = self._are_functions()
        self.shrinkage = annotations.n_rows if self.are_functions else SHRINKAGE
        self.has_matrices = self.n_units * c * c <= MOST_NUMBERS
        self.prior_weight = self._prior_weight() if self.has_matrices else 0.0
        self.few = np.flatnonzero((annotations.answers_per_row == 1) | (annotations.answers_per_row == 2))
        self.guessed = 0.0  # share of the answers to those rows that say nothing
        if self.has_matrices:  # (n, units · c): the share with which a unit names a label in a row
            where = (annotations.rows, self.units * c + annotations.labels)
            self.indicators = scipy.sparse.csr_array((self.shares, where), shape=(annotations.n_rows, self.n_units * c))

    def _are_functions(self) -> bool:
        """Whether most votes, beyond chance, are of voters who name one class and are silent else.

        Chance is the share of the votes that would be of such voters if each drew them from those of all: who answered
        twice has hardly had the chance to name two classes.
        """
        n, c, a = self.annotations.n_rows, self.annotations.n_classes, self.annotations.n_annotators
        named = np.unique(self.annotations.annotators * c + self.annotations.labels) // c
        votes = np.bincount(self.annotations.annotators, minlength=a)
        shares = np.bincount(self.annotations.labels, minlength=c) / len(self.annotations.labels)
        alone = (np.bincount(named, minlength=a) == 1) & (votes < n)
        chance = float(votes @ (shares ** votes[:, None]).sum(axis=1))
        return bool(votes[alone].sum() - chance >= FUNCTION_SHARE * (votes.sum() - chance) > 0)

    def _prior_weight(self) -> float:
        """w of the class prior, in [0, 1]: how far voters agree on the class shares."""
        c, a = self.annotations.n_classes, self.annotations.n_annotators
        cells = self.annotations.annotators * c + self.annotations.labels
        counts = np.bincount(cells, self.shares, minlength=a * c).reshape(a, c)
        answers = counts.sum(axis=1, keepdims=True)
        voters = np.count_nonzero(answers)
        shares = counts.sum(axis=0) / answers.sum()
        distance = ((shares - 1 / c) ** 2).sum()
        if voters < 2 or distance == 0:
            return 0.0
        variance = voters / (voters - 1) * ((counts - answers * shares) ** 2).sum() / answers.sum() ** 2
        return float(max(0.0, 1 - variance / distance))

    def _summed(self, values: Floats, at: Codes | slice = slice(None)) -> Floats:
        """(n, c) sums of values of votes by example and label."""
        n, c = self.annotations.n_rows, self.annotations.n_classes
        sums: Floats = np.bincount(self.cells[at], values, minlength=n * c).astype(np.float64).reshape(n, c)
        return sums

    def starts(self) -> Iterator[Floats]:
        """Yield posteriors of the shares of the votes with one voter believed, for each of a few voters."""
        annotations = self.annotations
        if self.are_functions or not 2 <= annotations.n_annotators <= MOST_STARTS:
            return
        for voter in range(annotations.n_annotators):
            own = annotations.annotators == voter
            T = self.vote_shares.copy()
            T[annotations.rows[own]] *= 1 - BELIEVED
            np.add.at(T, (annotations.rows[own], annotations.labels[own]), BELIEVED * self.shares[own])
            yield T

    def plan(self, kind: str) -> tuple[str, Floats, int]:
        """Return the model that is fitted, where it starts, and how many rounds it has at most."""
        shares = self.vote_shares
        if kind != "majority" and (not self.has_matrices or (kind == "confusion" and self.are_functions)):
            kind = "one-coin"
        if kind != "pooled":
            return kind, shares, MOST_EM_ROUNDS
        if self.are_functions:
            leads = shares == shares.max(axis=1, keepdims=True)
            return kind, leads / leads.sum(axis=1, keepdims=True), 1
        coin = self.run("one-coin", shares).T
        from_coin, from_shares = (self.run(kind, start, rounds=EARLY) for start in (coin, shares))
        is_plain_likelier = _is_likelier(from_shares.row_likelihood, from_coin.row_likelihood)
        return kind, shares if is_plain_likelier else coin, EARLY

    def run(
        self,
        kind: str,
        start: Floats,
        true_labels: Ints | None = None,
        log_prior: Floats | None = None,
        rounds: int = MOST_EM_ROUNDS,
        prior_weight: float | None = None,
    ) -> _Fit:
        """Alternate from a posterior until it hardly changes, or for so many rounds."""
        n, c = self.annotations.n_rows, self.annotations.n_classes
        w = self.prior_weight if prior_weight is None else prior_weight
        T = _with_true_labels(start, true_labels)
        if kind == "majority":
            votes = np.log(self.vote_shares + NONZERO)
            T = _with_true_labels(_softmax(votes if log_prior is None else votes + log_prior), true_labels)
            return _Fit(kind, T, votes, np.zeros(n))
        for _ in range(rounds):
            if kind == "one-coin":
                right = self._right(T)
                confusions, score = None, np.zeros((1, c))  # rare classes stay candidates
                # An accuracy below chance gets weight 0, not a negative one.
                weight = np.log(right / (1 - right))[self.units[self.informative]] + self.size_weight
                votes = self._summed(np.maximum(0.0, weight), self.informative)
            else:
                score = np.zeros((1, c))
                if not self.are_functions:
                    score = np.log(w * T.mean(axis=0) + (1 - w) / c + NONZERO)[None]
                smoothing = FUNCTION_SMOOTHING * n if self.are_functions else SMOOTHING[kind]
                confusions = self._confusions(T, smoothing)
                votes = self._said(confusions)
            joint = votes + (score if log_prior is None else log_prior)
            before, T = T, _with_true_labels(_softmax(joint), true_labels)
            if np.abs(T - before).max() < TOLERANCE:
                break
        return _Fit(kind, T, votes, scipy.special.logsumexp(joint, axis=1), confusions)

    def _said(self, confusions: Floats) -> Floats:
        """(n, c) log-likelihood of the votes."""
        c = confusions.shape[2]
        votes: Floats = self.indicators @ np.log(confusions).transpose(0, 2, 1).reshape(-1, c)
        if self.guessed:
            confusions = (1 - self.guessed) * confusions + self.guessed / c
            votes[self.few] = self.indicators[self.few] @ np.log(confusions).transpose(0, 2, 1).reshape(-1, c)
        return votes

    def guessed_where_few(self, fit: _Fit) -> float:
        """Share g of the answers to rows with one or two that are expected to be guesses.

        A guess falls on each class alike, so that how often two agree is 1/c and (1 − g)² of what is explained beyond.
        Before this is seen it is as likely as not that g is 0, and else all g are as likely; after few rows many still
        are, and a test would find none. Where others were asked because two had differed, rows with two agree more
        often than is explained: then it is hardly above 0.
        """
        annotations, c = self.annotations, self.annotations.n_classes
        of_two = annotations.answers_per_row == 2
        if fit.confusions is None or self.are_functions or of_two.sum() < LEAST_OF_TWO:
            return 0.0
        answers = of_two[annotations.rows[annotations.answer_starts]]
        first, second = self.units[annotations.answer_starts[answers]].reshape(-1, 2).T
        own = (1 / annotations.answer_sizes[answers]).reshape(-1, 2).sum(axis=1)  # Σ s² of each answer
        agree = float((2 * (self.vote_shares[of_two] ** 2).sum(axis=1) - own / 2).mean())  # Σ s s' of the two
        explained = 0.0
        for k, T in enumerate(fit.T[of_two].T):  # a class at a time, for memory
            explained += float(T @ (fit.confusions[first, k] * fit.confusions[second, k]).sum(axis=1)) / len(first)
        if explained <= 1 / c:
            return 0.0
        of_two_agree = np.minimum(1 / c + (1 - SHARES) ** 2 * (explained - 1 / c), 1 - NONZERO)
        likelihood = agree * np.log(of_two_agree) + (1 - agree) * np.log1p(-of_two_agree)  # binomial
        return float(_softmax(len(first) * likelihood[None] + np.log(BEFORE))[0] @ SHARES)

    def measured(self, true_labels: Ints) -> _Fit | None:
        """One coin with the accuracies on known labels, where all voters share many, alike voters counting as fewer.

        Two who agree more often than these accuracies explain count by that share as one. None with few known labels,
        with many voters, and of functions.
        """
        annotations, c = self.annotations, self.annotations.n_classes
        known = (true_labels >= 0) & (annotations.answers_per_row > 0)
        if self.are_functions or known.sum() < LEAST_CHECKED or not 2 <= annotations.n_annotators <= MOST_STARTS:
            return None
        at, a = self.informative, annotations.n_annotators
        rows, who = annotations.rows[at], annotations.annotators[at]
        here = known[rows]
        right = np.bincount(who[here], annotations.labels[at][here] == true_labels[rows[here]], minlength=a)
        answers = np.bincount(who[here], self.shares[at][here], minlength=a)
        right = (right + SHRINKAGE * (right.sum() + 1) / (answers.sum() + 2)) / (answers + SHRINKAGE)
        right = np.clip(right, 1e-3, 1 - 1e-3)
        as_many = np.ones(a)
        for pair in pairs_in(annotations):
            one, other = right[pair.first], right[pair.second]
            explained = one * other + (1 - one) * (1 - other) / (c - 1)
            shared = (1 - pair.apart - explained) / (1 - explained)
            as_many[[pair.first, pair.second]] += max(0.0, shared)
        weight = np.log(right / (1 - right))[who] + self.size_weight
        votes = self._summed(np.maximum(0.0, weight) / as_many[who], at)
        T = _with_true_labels(_softmax(votes), true_labels)
        return _Fit("one-coin", T, votes, scipy.special.logsumexp(votes, axis=1), is_measured=True)

    def _right(self, T: Floats) -> Floats:
        """(units,) probability that an answer holds the truth, drawn to that of everybody."""
        at, units = self.informative, self.units[self.informative]
        hit = T.ravel()[self.cells[at]]
        overall = (hit.sum() + 1) / (self.answers.sum() + 2)
        right = np.bincount(units, hit, minlength=self.n_units) + self.shrinkage * overall
        right = right / (self.answers + self.shrinkage)
        accuracy: Floats = np.clip(right, 1e-3, 1 - 1e-3)
        return accuracy

    def _confusions(self, T: Floats, smoothing: float) -> Floats:
        """(units, c, c): row k, distribution of the labels a unit gives where k is true."""
        c = T.shape[1]
        counts = (self.indicators.T @ T).reshape(-1, c, c).transpose(0, 2, 1)
        pooled = counts.sum(axis=0)
        right = (np.trace(pooled) + 1) / (pooled.sum() + 2)
        coin = np.full((c, c), (1 - right) / (c - 1))
        np.fill_diagonal(coin, right)
        pooled += POOLED_SMOOTHING * coin
        pooled /= pooled.sum(axis=1, keepdims=True)
        counts = counts + smoothing * pooled
        confusions: Floats = counts / counts.sum(axis=2, keepdims=True)
        return confusions


def _with_true_labels(T: Floats, true_labels: Ints | None) -> Floats:
    if true_labels is None:
        return T
    T = T.copy()
    decided = np.flatnonzero(true_labels >= 0)
    T[decided] = 0.0
    T[decided, true_labels[decided]] = 1.0
    return T


def _softmax(scores: Floats) -> Floats:
    return np.asarray(scipy.special.softmax(scores, axis=1))


def _accuracy(T: Floats, annotations: Annotations, shares: Floats) -> Floats:
    """(a,) expected share of answers that hold the true label; NaN for a voter without answers."""
    hit = np.bincount(
        annotations.annotators, T[annotations.rows, annotations.labels], minlength=annotations.n_annotators
    )
    answers = np.bincount(annotations.annotators, shares, minlength=annotations.n_annotators)
    accuracy: Floats = np.divide(hit, answers, out=np.full(len(hit), np.nan), where=answers > 0)
    return accuracy


def _levels(annotations: Annotations) -> Codes:
    """(m,) level of confidence of each vote, 0 … LEVELS−1, where a voter's scores are many and different enough."""
    levels = np.zeros(len(annotations.rows), dtype=np.int64)
    if annotations.scores is None:
        return levels
    for voter in range(annotations.n_annotators):
        at = np.flatnonzero((annotations.annotators == voter) & np.isfinite(annotations.scores))
        if len(at) < 2 * LEAST_OF_LEVEL:
            continue
        scores = annotations.scores[at]
        cuts = np.unique(np.quantile(scores, np.arange(1, LEVELS) / LEVELS))
        level = np.searchsorted(cuts, scores, side="left")  # ties stay together
        if np.bincount(level)[np.unique(level)].min() >= LEAST_OF_LEVEL:
            levels[at] = level
    return levels


# ---- a card for each voter -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VoterCard:
    """Accuracy and confusions of one voter.

    Attributes
    ----------
    name
        Of the voter.
    answers
        Number of examples answered.
    accuracy
        Share of right answers: among decided examples where at least 20 are, else as the models estimate it; NaN
        without answers.
    low, high
        Exact 95 % interval (Clopper-Pearson) from decided examples; NaN where fewer than 20 are decided. The models
        alone give no honest one: voters that share mistakes look better than they are.
    checked
        Number of decided examples that the figure rests on; 0 where it rests on the model.
    confusions
        Up to three (true, given, share of the true class), the most frequent first.
    """

    name: str
    answers: int
    accuracy: float
    low: float
    high: float
    checked: int
    confusions: tuple[tuple[str, str, float], ...]


def voter_cards(models: VoterModels, true_labels: Ints | None = None) -> list[VoterCard]:
    """A card for every voter, in the order of the voters.

    Parameters
    ----------
    models
        Of `fit_voters`.
    true_labels
        (n,) decided labels, `ALL_WRONG` where everybody is wrong, −1 elsewhere; where they are of rows that the voters
        agree on otherwise than on the others (`is_fair_sample`), nothing is counted on them.
    """
    annotations = models.annotations
    if true_labels is not None and not are_agreed_on_alike(annotations, true_labels):
        true_labels = None
    answers = np.bincount(annotations.annotators[annotations.answer_starts], minlength=annotations.n_annotators)
    cards = []
    for voter, name in enumerate(annotations.annotator_names):
        at = np.flatnonzero(annotations.annotators == voter)
        rows, named = annotations.rows[at], annotations.labels[at]
        truth = np.full(len(rows), -1) if true_labels is None else true_labels[rows]
        checked = len(np.unique(rows[truth != -1]))
        if checked >= LEAST_CHECKED:
            hits = int((named == truth).sum())
            accuracy, (low, high) = hits / checked, scipy.stats.binomtest(hits, checked).proportion_ci()
        else:
            checked, accuracy, low, high = 0, float(models.accuracy[voter]), np.nan, np.nan
        cards.append(VoterCard(name, int(answers[voter]), accuracy, low, high, checked, _confused(models, at)))
    return cards


def _confused(models: VoterModels, at: Codes) -> tuple[tuple[str, str, float], ...]:
    annotations = models.annotations
    c = annotations.n_classes
    if not len(at):
        return ()
    counts = np.zeros((c, c))  # (true, given)
    np.add.at(counts.T, annotations.labels[at], models.posterior[annotations.rows[at]] * models.shares[at][:, None])
    of_class = counts.sum(axis=1)
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0.0)
    top = np.argsort(wrong, axis=None)[::-1][:3]
    pairs = [(int(k // c), int(k % c)) for k in top if wrong.flat[k] >= 0.5]
    return tuple(
        (annotations.class_names[k], annotations.class_names[j], float(counts[k, j] / of_class[k])) for k, j in pairs
    )
