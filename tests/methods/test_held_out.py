"""Held-out weights: by models that did not learn from the example, repeatable, resumed to the same result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from pll.analysis.health import doubt_of_contradicted
from pll.annotations import Annotations
from pll.annotations.rules import counted_prior
from pll.candidates import CandidateSets
from pll.methods import METHODS
from pll.methods.base import AFRESH, Start, Task
from pll.methods.chosen import Recipe
from pll.methods.held_out import PRIOR_NOTE, SUBSETS, HeldOut, held_out_weights, n_models, subset_rows
from pll.methods.plknn import PLKNN
from pll.methods.proden import PRODEN
from pll.methods.set_likelihood import (
    EXPONENTS,
    FINE,
    FITTED_ON,
    equally_likely,
    exponent_evidence,
    fitted_temperatures,
    likeliest_temperature,
    set_probability,
    tempered,
)
from pll.synthesis import flip_binomial
from pll.training.metrics import EpochRecord, Hook, StopTraining
from pll.weights import DECISIONS, ChangedSets, checked_prior, dense, identified_labels, sharpness
from tests.methods.cases import clusters

X, SETS = clusters(0)
Y = np.random.default_rng(0).integers(0, 4, 40)
QUICK = {"epochs": 3}


def quick(name: str) -> dict[str, Any]:
    if name in ("clpl", "ecoc"):
        return {"C": 1.0}  # searching for it is most of what they cost
    return QUICK if "epochs" in METHODS[name]().get_params() else {}


def sums(weights: np.ndarray, sets: CandidateSets) -> np.ndarray:
    return np.add.reduceat(weights.astype(np.float64), sets.indptr[:-1])


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_has_held_out_weights(name: str) -> None:
    estimator = METHODS[name](**quick(name))
    before = estimator.get_params()
    truth = Y if estimator.needs_truth else None
    weights = held_out_weights(estimator, X, SETS, truth=truth)
    assert weights.shape == (SETS.nnz,) and weights.dtype == np.float32
    assert sums(weights, SETS) == pytest.approx(1, abs=1e-5) and (weights >= 0).all()
    assert ((weights == 1) == (SETS.sizes == 1)[SETS.rows]).all()  # models of few rows rule nothing out
    assert estimator.get_params() == before and not hasattr(estimator, "label_weights_")


@pytest.mark.parametrize("name", ["proden", "plknn"])  # ten models as one, and one after another
def test_a_seed_gives_the_same_again(name: str) -> None:
    once, again = (held_out_weights(METHODS[name](**quick(name)), X, SETS, seed=3) for _ in range(2))
    assert np.array_equal(once, again)


class Witness(PLKNN):
    """Remembers what it learnt from, and refuses to judge it."""

    seen: set[bytes]

    def iter_fit(self, task: Task, *, hook: Hook | None = None, start: Start = AFRESH) -> Iterator[EpochRecord]:
        self.seen = {row.tobytes() for row in task.X}
        yield from super().iter_fit(task, hook=hook, start=start)

    def predict_scores(self, X: Any) -> np.ndarray:
        assert not self.seen & {row.tobytes() for row in np.asarray(X)}
        return super().predict_scores(X)


@pytest.mark.usefixtures("all_held_out_models")
@pytest.mark.parametrize("n", [40, 41])
def test_nobody_is_judged_by_a_model_that_learnt_from_them(n: int) -> None:
    X, sets = clusters(1, n=n)
    held_out = HeldOut(Witness(), Task(X, sets))
    assert list(held_out.run()) == list(range(1, SUBSETS + 1))
    seen = np.zeros(n, dtype=int)
    for k in range(SUBSETS):
        seen[held_out.subset(k)] += 1
    assert (held_out.state()["counts"] == SUBSETS - seen).all() and (SUBSETS - seen >= SUBSETS // 2).all()


@pytest.mark.usefixtures("all_held_out_models")
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_copies_are_judged_by_models_that_learnt_from_none_of_them(data: st.DataObject) -> None:
    n = data.draw(st.integers(20, 50))
    X, sets = clusters(2, n=n)
    source, left = np.arange(n), np.random.default_rng(n).permutation(n)
    for size in data.draw(st.lists(st.integers(2, n // 10), min_size=1, max_size=10)):
        source[left[:size]] = left[0]
        left = left[size:]
    X, sets = X[source], sets.take(source)
    held_out = HeldOut(Witness(), Task(X, sets))  # refuses features that it learnt from
    assert list(held_out.run()) == list(range(1, SUBSETS + 1))
    assert (held_out.state()["counts"] >= SUBSETS // 2).all()  # each is unseen by one of each pair at least
    assert {len(held_out.subset(k)) for k in range(SUBSETS)} == {held_out.rows}


def test_without_copies_the_subsets_are_as_they_were_and_other_answers_are_no_copies() -> None:
    order = np.random.default_rng([3, 8, 1]).permutation(40)
    X_equal, sets = X.copy(), SETS.mask().copy()
    X_equal[7] = X_equal[5]
    sets[5], sets[7] = [True, True, False, False], [True, False, True, False]
    for task in (Task(X, SETS), Task(X_equal, CandidateSets.from_mask(sets))):
        held_out = HeldOut(PLKNN(), task, seed=3)
        assert len(np.unique(held_out.copies)) == 40 and held_out.rows == 20
        assert held_out.subset(2).tolist() == np.sort(order[:20]).tolist()
        assert held_out.subset(3).tolist() == np.sort(order[20:]).tolist()


def test_a_label_that_is_wrong_in_every_copy_is_not_called_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty percent of the sets lack the truth, and each example is there four times, exactly or nearly."""
    rng = np.random.default_rng(5)
    y = rng.integers(5, size=150)
    X = (np.eye(5)[y] @ rng.normal(size=(5, 60)) / 2 + rng.normal(size=(150, 60))).astype(np.float32)
    given = np.where(rng.random(150) < 0.2, (y + 1) % 5, y)
    sets = flip_binomial(given, 5, 0.3, 1)
    four = np.tile(np.arange(150), 4)
    y, X, sets, wrong = y[four], X[four], sets.take(four), ~sets.contains(y)[four]
    several = [X + rng.normal(size=X.shape) * apart for apart in (0, 1e-3, 0.1, 0.3)]
    together = [held_out_weights(PRODEN(epochs=40), some, sets) for some in several]
    monkeypatch.setattr("pll.methods.held_out.near_copies", lambda *_: None)
    alone = held_out_weights(PRODEN(epochs=40), X, sets)
    sure = [
        int(((np.maximum.reduceat(weights, sets.indptr[:-1]) > 0.9) & (sets.sizes > 1) & wrong).sum())
        for weights in (*together, alone)
    ]
    assert max(sure[:-1]) < sure[-1] / 2


def test_parts_of_one_thing_with_the_same_candidates_do_not_judge_each_other() -> None:
    """Of sixty things, ten parts of each, all with the candidates of the thing: parts were .97 sure and .85 right."""
    rng = np.random.default_rng(6)
    of = np.repeat(np.arange(60), 10)
    y, own = rng.integers(5, size=60), rng.normal(size=(60, 8))
    X = (0.6 * rng.normal(size=(5, 8))[y] + 0.8 * own)[of] + 0.5 * rng.normal(size=(600, 8))
    sets = CandidateSets.from_mask(((rng.random((60, 5)) < 0.4) | np.eye(5, dtype=bool)[y])[of])
    weights = held_out_weights(PRODEN(epochs=40), X.astype(np.float32), sets)
    certainty = sharpness(weights, sets)
    is_ambiguous, right = sets.sizes > 1, identified_labels(weights, sets) == y[of]
    is_sure = is_ambiguous & (certainty.top >= 0.9)
    assert (is_sure & ~right).sum() < 10
    assert certainty.top[is_ambiguous].mean() < right[is_ambiguous].mean() + 0.02


def test_wide_sets_need_more_examples_than_narrow_ones() -> None:
    rows = {s: subset_rows(CandidateSets.from_lists([list(range(s))] * 20_000, n_classes=30)) for s in (1, 2, 4, 15)}
    assert rows == {1: 2000, 2: 2000, 4: 4000, 15: 10_000}
    assert subset_rows(SETS) == len(SETS) // 2


def test_a_batched_model_is_not_told_of_the_examples_it_judges() -> None:
    """The held-out weights of an example do not change where its own set, or its features, do."""
    task = Task(X, SETS)
    one = HeldOut(PRODEN(**QUICK), task)
    other_sets = SETS.mask().copy()
    unseen = np.setdiff1d(np.arange(len(X)), one.subset(0))
    other_sets[unseen] = True
    one.total = 1
    two = HeldOut(PRODEN(**QUICK), replace(task, candidates=CandidateSets.from_mask(other_sets)))
    two.total = 1
    models = [held_out._models() for held_out in (one, two)]
    for each in models:
        list(each.train(lambda: None))
    assert torch.equal(models[0].scores(0, X), models[1].scores(0, X))


@pytest.mark.parametrize("estimator", [PRODEN(model="linear", **QUICK), PRODEN(model="mlp", **QUICK), PLKNN()])
def test_a_stopped_one_goes_on_to_the_same_result(estimator: Any) -> None:
    task = Task(X, SETS)
    whole = HeldOut(estimator, task, seed=3)
    shares: list[float] = []
    for _ in whole.run(progress=shares.append):
        pass
    assert shares == sorted(shares) and shares[-1] == 1
    calls = 0

    def hook() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StopTraining

    part = HeldOut(estimator, task, seed=3)
    with pytest.raises(StopTraining):
        for _ in part.run(hook):
            pass
    assert part.done < whole.done and sums(part.weights(), SETS) == pytest.approx(1, abs=1e-5)
    again = HeldOut(estimator, task, seed=3)
    again.load_state(part.state())
    for _ in again.run():
        pass
    assert np.array_equal(again.weights(), whole.weights())


@pytest.mark.parametrize("apart", [3.0, 0.5])
def test_single_labels_that_are_wrong_are_contradicted_where_models_can_tell(apart: float) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(4, size=400)
    X = (apart * np.eye(4, 6)[y] + rng.normal(size=(400, 6)) / 2).astype(np.float32)
    mask, decided = flip_binomial(y, 4, 0.4, 0).mask(), np.where(np.arange(400) < 20, y, -1)
    for wrong in (0, 25):
        mask[20:120] = np.eye(4, dtype=bool)[(y[20:120] + (np.arange(100) < wrong)) % 4]
        mask[:20] = np.eye(4, dtype=bool)[y[:20]]
        sets = CandidateSets.from_mask(mask)
        held_out = HeldOut(
            PRODEN(epochs=40), Task(X, sets, changes=(ChangedSets(sets, sets, reason=DECISIONS, decided=decided),))
        )
        for _ in held_out.run():
            pass
        contradicted = held_out.contradicted()
        assert contradicted is not None and contradicted[0] == (sets.sizes == 1).sum() - 20  # which people decided
        assert bool(doubt_of_contradicted(contradicted)) == (wrong > 0 and apart == 3.0), contradicted


def test_before_any_model_nothing_is_known() -> None:
    assert np.array_equal(HeldOut(PRODEN(), Task(X, SETS)).weights(), SETS.uniform_weights())
    few = SETS.take(slice(0, 3))
    assert np.array_equal(held_out_weights(PRODEN(), X[:3], few), few.uniform_weights())


def test_what_a_recipe_has_chosen_is_used() -> None:
    chosen = PRODEN(recipe="auto")
    recipe = Recipe("auto", {"scale": "unit", "epochs": 5, "lr": 0.2}, {})
    for _ in chosen.iter_fit(Task(X, SETS), start=Start(recipe)):
        pass
    actual = held_out_weights(chosen, X, SETS)
    assert np.array_equal(actual, held_out_weights(PRODEN(scale="unit", epochs=5, lr=0.2), X, SETS))


@pytest.mark.usefixtures("all_held_out_models")
def test_a_long_model_costs_at_most_one_more_training() -> None:
    pictures = np.zeros((600, 3, 32, 32), dtype=np.float32)
    sets = CandidateSets.from_labels(np.zeros(600, dtype=np.int64), 2)
    assert n_models(PRODEN(model="resnet"), Task(pictures, sets)) == 2
    assert n_models(PRODEN(), Task(X, SETS)) == SUBSETS


def test_the_temperature_is_that_of_an_optimiser() -> None:
    rng = np.random.default_rng(2)
    z = rng.normal(size=(200, 4))
    y = (z + rng.gumbel(size=(200, 4))).argmax(axis=1)  # drawn from softmax(z)
    logits = torch.from_numpy(np.stack([3 * z, 0.7 * z], axis=1))
    v = torch.from_numpy(np.maximum(rng.random((200, 4)) < 0.3, np.eye(4)[y]))[:, None]
    for k in range(2):
        one = logits[:, k : k + 1]
        best = minimize_scalar(lambda t, one=one: -float(torch.log(set_probability(one, v, np.exp(t))).mean()))
        likeliest, strange, shares = fitted_temperatures(one, v, 200)
        assert likeliest == pytest.approx(np.exp(best.x), rel=0.02) and strange == 0
        assert likeliest < shares @ FINE < 1.2 * likeliest


def test_how_likely_temperatures_are_is_that_of_an_integral() -> None:
    rng = np.random.default_rng(4)
    logits = torch.from_numpy(3 * rng.normal(size=(20, 1, 3)))
    v = torch.from_numpy(np.eye(3)[logits[:, 0].argmax(dim=1).numpy()])[:, None]  # the sharper the likelier
    log_t = np.linspace(np.log(FITTED_ON[0]), np.log(FITTED_ON[-1]), 2000)
    likely = np.exp([20 * float(torch.log(set_probability(logits, v, np.exp(t))).mean()) for t in log_t])
    likeliest, _, shares = fitted_temperatures(logits, v, 20)
    expected = likely @ np.exp(log_t) / likely.sum()
    assert shares @ FINE == pytest.approx(expected, rel=0.01) and likeliest < 0.1 < expected
    parts = equally_likely(7 * shares)
    places = np.interp(np.log(parts), log_t, np.cumsum(likely) / likely.sum())
    np.testing.assert_allclose(places, np.linspace(0.025, 0.975, 20), atol=0.02)
    largest, strange, flat = fitted_temperatures(logits, torch.ones_like(v), 20)  # sets tell nothing
    assert largest == pytest.approx(FITTED_ON[-1]) and strange == 0
    assert np.diff(np.log(equally_likely(flat))) == pytest.approx(np.log(FITTED_ON[-1] / FITTED_ON[0]) / 20, rel=0.2)


@pytest.mark.parametrize(("strange", "n"), [(0.1, 2000), (0.0, 2000), (0.0, 60)])
def test_where_a_model_is_sure_of_what_it_does_not_know_the_share_is_told(strange: float, n: int) -> None:
    """As of rows far outside: the logits are large, whatever the label is."""
    rng = np.random.default_rng(5)
    z = 3 * rng.normal(size=(n, 4))
    y = (z + rng.gumbel(size=z.shape)).argmax(axis=1)
    far = rng.random(n) < strange
    z[far], y[far] = 20 * z[far], rng.integers(4, size=far.sum())
    v = np.maximum(rng.random((n, 4)) < 0.3, np.eye(4)[y])
    _, found, shares = fitted_temperatures(torch.from_numpy(z)[:, None], torch.from_numpy(v)[:, None], n)
    assert strange <= found <= 2 * strange and shares[-1] == found  # more, as it is not known which examples they are
    p = np.mean([softmax(z / one, axis=1) for one in equally_likely(shares)], axis=0)
    is_sure = p.max(axis=1) >= 0.8
    assert (p.argmax(axis=1) != y)[is_sure].sum() < 1.5 * (1 - p.max(axis=1))[is_sure].sum() + 5


@pytest.mark.usefixtures("all_held_out_models")
@pytest.mark.parametrize(("estimator", "shares"), [(PLKNN(), (1 / 3,) * 3), (PRODEN(), (0.95, 0.03, 0.02))])
def test_predictions_after_few_examples_are_not_too_sure(estimator: Any, shares: tuple[float, ...]) -> None:
    stated = wrong = 0.0
    for seed in range(8):
        rng = np.random.default_rng([seed, 60])
        y = rng.choice(3, 1060, p=shares)
        some = (0.9 * rng.normal(size=(3, 6))[y] + rng.normal(size=(1060, 6))).astype(np.float32)
        sets = CandidateSets.from_mask((rng.random((60, 3)) < 0.4) | np.eye(3, dtype=bool)[y[:60]])
        model = estimator.fit(some[:60], sets)
        held_out = HeldOut(model, Task(some[:60], sets))
        for _ in held_out.run():
            pass
        model.temperatures_ = held_out.temperatures
        p = np.concatenate(list(model.iter_tempered(some[60:])))
        is_sure = p.max(axis=1) >= 0.9
        stated += (1 - p.max(axis=1))[is_sure].sum()
        wrong += (p.argmax(axis=1) != y[60:])[is_sure].sum()
    assert wrong < 1.5 * stated


def generated(seed: int, n: int = 400, c: int = 5, q: float = 0.5) -> tuple[np.ndarray, np.ndarray, CandidateSets]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, n)
    X = (rng.normal(size=(n, 10)) + 0.5 * rng.normal(size=(c, 10))[y]).astype(np.float32)
    mask = rng.random((n, c)) < q
    mask[np.arange(n), y] = True
    return X, y, CandidateSets.from_mask(mask)


def opinions(seed: int, sharper: float, *, features: float = 1.5) -> tuple[np.ndarray, Task]:
    """True labels; a task whose prior is a model's posterior, of evidence of its own, to the power of `sharper`."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 400)
    X, z = (own * np.eye(4)[y] + rng.normal(size=(400, 4)) for own in (features, 2.0))
    P = softmax(2.0 * sharper * z, axis=1)
    sets = CandidateSets.from_mask(P > 0.002)
    return y, Task(X, sets, prior=P[P > 0.002])


@pytest.mark.parametrize("sharper", [1.0, 3.0])
@pytest.mark.usefixtures("all_held_out_models")
def test_given_probabilities_count_for_what_the_features_bear_out(sharper: float) -> None:
    y, task = opinions(4, sharper)
    step = HeldOut(PRODEN(), task)
    for _ in step.run():
        pass
    held_out = sharpness(step.weights(), task.candidates)
    is_wrong = held_out.identified != y
    is_certain = held_out.top >= 0.9
    assert step.exponent == pytest.approx(1 / sharper, abs=0.2) and step.notes == ()
    assert is_certain.sum() > 40 and is_wrong[is_certain].mean() < 0.07
    assert held_out.top.mean() == pytest.approx(1 - is_wrong.mean(), abs=0.06)


@pytest.mark.parametrize("features", [0.0, None])
def test_probabilities_that_nothing_measures_are_not_called_sure(features: float | None) -> None:
    _, task = opinions(5, 1.0, features=features or 0.0)
    prior = task.prior
    assert prior is not None
    prior[: task.candidates.indptr[1]] = 1 / task.candidates.sizes[0]  # says nothing of the first one
    task = replace(task, prior=prior, X=task.X if features is not None else task.X[:, :0])
    step = HeldOut(PRODEN(epochs=30), task)
    for _ in step.run():
        pass
    is_known = ~np.isnan(step.weights()[task.candidates.indptr[:-1]])
    assert step.exponent is None and step.notes == (PRIOR_NOTE,)
    is_given = task.candidates.sizes == 1
    assert is_known[is_given].all() and is_known[0] == (features is not None)
    assert not is_known[1:][~is_given[1:]].any()


@pytest.mark.usefixtures("all_held_out_models")
def test_probabilities_made_of_the_features_are_no_second_opinion() -> None:
    _, task = opinions(6, 1.0)
    P = softmax(2 * task.X, axis=1)
    sets = CandidateSets.from_mask(P > 0.002)
    weights = held_out_weights(PRODEN(epochs=30), task.X, sets, prior=P[P > 0.002])
    assert np.isnan(weights[(sets.sizes > 1)[sets.rows]]).all()


@pytest.mark.parametrize("from_features", [False, True])
@pytest.mark.usefixtures("all_held_out_models")
def test_a_mean_of_two_models_of_which_one_saw_the_features(from_features: bool) -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 4, 600)
    X, one, two = (own * np.eye(4)[y] + rng.normal(size=(600, 4)) for own in (1.5, 2.0, 1.5))
    P = (softmax(2 * one, axis=1) + softmax(1.5 * (X if from_features else two), axis=1)) / 2
    step = HeldOut(PRODEN(epochs=30), Task(X, CandidateSets.from_mask(np.ones((600, 4), bool)), prior=P.ravel()))
    for _ in step.run():
        pass
    assert (step.exponent is None) == from_features and np.isnan(step.weights()).all() == from_features


def test_a_state_that_lacks_something_is_left() -> None:
    _, task = opinions(7, 1.0)
    held_out = HeldOut(PLKNN(), task)
    next(held_out.run())
    state = held_out.state()
    assert "models" not in state  # there versions before look for a sum of temperatures: they begin anew, too
    assert "temperatures" not in state  # nor is it as long as theirs
    for name in ("evidence", "given", "units", "likely"):
        again = HeldOut(PLKNN(), task)
        again.load_state({key: array for key, array in state.items() if key != name})
        assert again.done == 0 and not again.state()["counts"].any()
    again.load_state(state)
    assert again.done == held_out.done > 0


def test_exponents_are_as_likely_as_of_dense_matrices() -> None:
    rng = np.random.default_rng(3)
    sets = CandidateSets.from_mask(np.eye(5, dtype=bool)[rng.integers(0, 5, 60)] | (rng.random((60, 5)) < 0.4))
    prior = checked_prior(rng.random(sets.nnz) + 1e-3, sets)
    scores = torch.from_numpy(2 * rng.normal(size=(60, 5)))
    slow, priors = np.empty(len(EXPONENTS)), []
    for k, exponent in enumerate(EXPONENTS):
        flat = tempered(prior, sets, exponent)
        shares = np.bincount(sets.indices, flat, minlength=5) / len(sets)
        priors.append(flat / shares[sets.indices])
        v = torch.from_numpy(dense(priors[k], sets))[:, None]
        best = float(likeliest_temperature(scores[:, None], v))
        slow[k] = float(torch.log(set_probability(scores[:, None], v, best)).mean())
    evidence, likeliest = exponent_evidence(scores, prior, sets)
    assert evidence == pytest.approx(slow, abs=1e-12) and likeliest == pytest.approx(priors[slow.argmax()])


def test_a_prior_of_votes_stays_as_it_is() -> None:
    votes = Annotations.from_counts(np.random.default_rng(0).integers(1, 9, (30, 3)), ["a", "b", "c"])
    sets = CandidateSets.from_mask(np.ones((30, 3), dtype=bool))
    prior = counted_prior(votes, sets)
    step = HeldOut(PRODEN(), Task(np.zeros((30, 0), dtype=np.float32), sets, prior=prior), counts=votes)
    assert step.exponent == 1 and step.notes == () and np.isfinite(step.weights()).all()


@given(st.data())
def test_a_tempered_prior_is_flatter_in_the_same_order(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    sets = CandidateSets.from_mask(np.eye(4, dtype=bool)[rng.integers(0, 4, 20)] | (rng.random((20, 4)) < 0.5))
    shares = rng.random(sets.nnz) * (rng.random(sets.nnz) < 0.8) + 1e-9
    prior = checked_prior(shares, sets)
    a, b = sorted(data.draw(st.tuples(*[st.floats(0.05, 1)] * 2)))
    flat, sharp = (sharpness(tempered(prior, sets, exponent), sets) for exponent in (a, b))
    assert (flat.top <= sharp.top + 1e-6).all() and np.array_equal(tempered(prior, sets, 1), prior)
    assert sums(tempered(prior, sets, a), sets) == pytest.approx(1, abs=1e-5)


@pytest.mark.usefixtures("all_held_out_models")
def test_they_say_how_many_labels_are_right() -> None:
    claimed, right, sharp = [], [], []
    for seed in range(2):
        X, y, sets = generated(seed)
        estimator = PRODEN().fit(X, sets)
        held_out = sharpness(held_out_weights(estimator, X, sets), sets)
        claimed.append(held_out.top.mean())
        right.append((held_out.identified == y).mean())
        sharp.append(sharpness(estimator.label_weights_, sets).top.mean())
    assert abs(np.mean(claimed) - np.mean(right)) < 0.1 and np.mean(sharp) > np.mean(right)


def test_votes_are_judged_by_the_voter_models() -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 150)
    votes = np.stack([np.where(rng.random(150) < 0.7, y, rng.integers(0, 3, 150)) for _ in range(3)], axis=1)
    useless = rng.normal(size=(150, 4)).astype(np.float32)
    estimator = PRODEN(epochs=20).fit(useless, None, votes=votes)
    sets = estimator.candidates_
    actual = held_out_weights(estimator, useless, sets, votes=votes)
    alone = held_out_weights(METHODS["dawid-skene"](), useless, sets, votes=Annotations.from_votes(votes))
    assert (sums(actual, sets) < 1 + 1e-5).all()  # a label that nobody named may be true
    certain = [(sharpness(weights, sets).top >= 0.9).sum() for weights in (actual, alone)]
    assert abs(certain[0] - certain[1]) <= 0.05 * 150


def test_voters_who_agree_may_all_be_wrong() -> None:
    """Unanimous answers are not sure: their mean confidence is no more than the share of them that is right."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, 4, 2000)
    votes = np.stack([np.where(rng.random(2000) < 0.6, y, rng.integers(0, 4, 2000)) for _ in range(2)], axis=1)
    sets = CandidateSets.from_lists([sorted(set(row)) for row in votes.tolist()], n_classes=4)
    both = Annotations.from_votes(votes)
    weights = held_out_weights(METHODS["dawid-skene"](), np.zeros((2000, 0)), sets, votes=both)
    agree = sets.sizes == 1
    right = (identified_labels(weights, sets) == y)[agree].mean()
    assert right < 0.96 and sharpness(weights, sets).top[agree].mean() < right + 0.02
    narrowed = sets.mask()
    narrowed[~agree] = np.eye(4, dtype=bool)[y[~agree]]  # somebody has decided these
    few = CandidateSets.from_mask(narrowed)
    known = held_out_weights(METHODS["dawid-skene"](), np.zeros((2000, 0)), few, votes=both)
    outvoted = ~agree & (votes != y[:, None]).any(axis=1)
    assert sums(known, few)[outvoted] == pytest.approx(1, abs=1e-5)


def test_one_answer_an_example_is_taken_as_right_and_not_as_sure() -> None:
    """EM on answers that nothing checks confirms itself: it found .999 where .6 were right."""
    rng = np.random.default_rng(1)
    y, who = rng.integers(0, 3, 400), rng.integers(0, 5, 400)
    given = np.where(rng.random(400) < 0.6, y, (y + 1) % 3)
    votes = np.full((400, 5), -1)
    votes[np.arange(400), who] = given
    votes[:9, :2] = [[0, 1]] * 9  # too few that were answered twice
    both = Annotations.from_votes(votes)
    sets = CandidateSets.from_lists([sorted({*row} - {-1}) for row in votes.tolist()], n_classes=3)
    alone = (sets.sizes == 1)[sets.rows]
    assert alone.sum() > 380
    X = rng.normal(size=(400, 2)).astype(np.float32)
    for estimator in (METHODS["dawid-skene"](), METHODS["majority"](), PRODEN(epochs=2)):
        weights = held_out_weights(estimator, X, sets, votes=both)
        assert (weights[alone] == 1).all()
        if estimator.needs_features:  # of what is ambiguous, models that did not learn from it say more
            assert sums(weights, sets) == pytest.approx(1, abs=1e-5)
        else:
            assert np.isnan(weights[~alone]).all()


@pytest.mark.parametrize(("m", "accuracy", "c"), [(3, 0.65, 2), (2, 0.6, 4), (5, 0.8, 3)])
def test_counts_that_agree_are_no_surer_than_they_are_right(m: int, accuracy: float, c: int) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, c, 2000)
    wrong = (y[:, None] + rng.integers(1, c, (2000, m))) % c
    said = np.where(rng.random((2000, m)) < accuracy, y[:, None], wrong)
    counts = Annotations.from_counts([np.bincount(row, minlength=c) for row in said])
    sets = CandidateSets.from_lists([sorted({*row}) for row in said.tolist()], n_classes=c)
    weights = held_out_weights(METHODS["majority"](), np.zeros((2000, 0)), sets, votes=counts)
    alone = sets.sizes == 1
    confidence = sharpness(weights, sets).top[alone]
    right = (identified_labels(weights, sets) == y)[alone].mean()
    assert confidence.max() < 1 and confidence.mean() <= right + 0.02


@pytest.mark.parametrize(("m", "c"), [(20, 10), (50, 10), (1000, 2)])
def test_more_counts_that_agree_are_surer(m: int, c: int) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, c, 300)
    counts = np.stack([rng.multinomial(m, np.where(np.arange(c) == k, 0.9, 0.1 / (c - 1))) for k in y])
    sets = CandidateSets.from_mask(counts > 0)
    votes = Annotations.from_counts(counts)
    weights = held_out_weights(METHODS["majority"](), np.zeros((300, 0)), sets, votes=votes)
    assert (identified_labels(weights, sets) == y).all() and sharpness(weights, sets).top.mean() > 0.9


def test_labels_that_come_together_are_told_and_read_in_two_ways() -> None:
    """Label y + 1 comes with nearly every y: models learn the pair, rates by class tell it apart."""
    X, y, sets = generated(5, n=600)
    rng = np.random.default_rng(5)
    mask = np.eye(5, dtype=bool)[y] | (np.eye(5, dtype=bool)[(y + 1) % 5] & (rng.random(600) < 0.9)[:, None])
    plain, paired = (HeldOut(PRODEN(epochs=30), Task(X, some)) for some in (sets, CandidateSets.from_mask(mask)))
    for held_out in (plain, paired):
        for _ in held_out.run():
            pass
        held_out.weights()
    assert plain.gain < 0.1 < paired.gain
    assert not plain.notes and paired.notes


def test_covering_and_temperature_are_of_what_the_models_said_of_the_unseen() -> None:
    task = Task(X, SETS)
    whole, half = (HeldOut(PLKNN(), task, seed=3) for _ in range(2))
    assert whole.covered() is None and whole.temperatures == ()
    for _ in whole.run():
        pass
    share, chance = whole.covered() or (np.nan, np.nan)
    assert 0 <= chance < share <= 1 and len(whole.temperatures) == 20 and min(whole.temperatures) > 0
    next(iter(half.run()))
    again = HeldOut(PLKNN(), task, seed=3)
    again.load_state(half.state())
    for _ in again.run():
        pass
    assert again.covered() == whole.covered() and again.temperatures == whole.temperatures


@pytest.mark.parametrize("estimator", [PRODEN(model="linear", **QUICK), PLKNN()])
def test_unseen_examples_are_predicted_at_the_temperatures(estimator: Any) -> None:
    model = estimator.fit(X, SETS)
    for temperatures in ((), (3.0,), (0.5, 3.0)):
        model.temperatures_ = temperatures
        p = np.concatenate(list(model.iter_tempered(X)))
        scores = model.predict_scores(X).astype(np.float64)
        each = [softmax(scores / one, axis=1) for one in temperatures] or [model.predict_proba(X)]
        np.testing.assert_allclose(p, np.mean(each, axis=0), atol=1e-5)


def test_features_that_help_make_votes_surer() -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 150)
    votes = np.stack([np.where(rng.random(150) < 0.6, y, rng.integers(0, 3, 150)) for _ in range(3)], axis=1)
    helpful = (np.eye(3)[y] + 0.3 * rng.normal(size=(150, 3))).astype(np.float32)
    sets = CandidateSets.from_mask(np.ones((150, 3), dtype=bool))
    known, alone = (held_out_weights(PRODEN(), X, sets, votes=votes) for X in (helpful, np.zeros((150, 0))))
    for weights in (known, alone):
        assert sums(weights, sets) == pytest.approx(1, abs=1e-5)
    at = np.arange(150) * 3 + y
    assert (
        known[at].mean() > alone[at].mean() + 0.05
        and sharpness(known, sets).top.mean() > sharpness(alone, sets).top.mean()
    )


def test_features_still_count_where_rows_stand_several_times() -> None:
    """A classifier that learnt from a copy repeats the voters' mistakes, and then features count for nothing."""
    rng = np.random.default_rng(7)
    y = rng.integers(4, size=300)
    votes = np.where(rng.random((300, 3)) < 0.6, y[:, None], rng.integers(4, size=(300, 3)))
    X = (rng.normal(size=(4, 40))[y] * 0.6 + 0.9 * rng.normal(size=(300, 40))).astype(np.float32)
    rows = np.concatenate([np.arange(300), np.repeat(np.arange(90), 2)])
    sets = CandidateSets.from_mask(np.ones((len(rows), 4), dtype=bool))
    apart = X[rows] + rng.normal(size=(len(rows), 40)).astype(np.float32) * 1e-4  # no copy is exact
    right = [
        (identified_labels(held_out_weights(PRODEN(), some, sets, votes=votes[rows]), sets) == y[rows]).mean()
        for some in (X[rows], apart)
    ]
    assert right[0] > right[1] + 0.05
