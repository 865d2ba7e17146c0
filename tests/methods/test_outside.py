"""Truth outside the set: the estimate, the weights by hand, and what must stay as it is."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from benchmarks.outside import damaged
from pll import PRODEN, PRODENOutside
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods.base import Task
from pll.methods.outside import LEAST_RATE
from pll.synthesis import flip_binomial
from pll.training.layouts import DenseLayout, PaddedLayout
from pll.weights import Outside, checked_prior, restricted_softmax

DIGITS = load_digits()
X, Y = (DIGITS.data[:600] / 16).astype(np.float32), DIGITS.target[:600].astype(np.int64)
SETS = flip_binomial(Y, 10, 0.3, seed=0)


def test_without_a_missing_truth_it_is_proden_bit_for_bit() -> None:
    plain, result = (method(epochs=3, seed=1).fit(X, SETS) for method in (PRODEN, PRODENOutside))
    assert isinstance(result, PRODENOutside) and result.outside_.is_empty and result.outside_.rate < LEAST_RATE
    assert result.notes_[0].startswith("Which sets miss the truth, if any, cannot be told;")
    np.testing.assert_array_equal(result.label_weights_, plain.label_weights_)
    np.testing.assert_array_equal(result.predict_scores(X), plain.predict_scores(X))


def test_missing_truths_are_counted_and_identified() -> None:
    sets, missing = damaged(SETS, Y, 0.2, "swap", seed=3)
    plain, result = (method(epochs=20).fit(X, sets) for method in (PRODEN, PRODENOutside))
    assert isinstance(result, PRODENOutside)
    assert 0.12 < result.outside_.rate < 0.28
    assert (result.identify() == Y).mean() > (plain.identify() == Y).mean() + 0.08
    first = np.argsort(-result.outside_.miss, kind="stable")[:120]
    assert missing[first].sum() > 0.6 * missing.sum()
    added = result.candidates_.sizes - sets.sizes
    assert added.max() == 1 and (added[result.outside_.miss == 0] == 0).all()
    sums = np.add.reduceat(result.label_weights_ * result.outside_.added, result.candidates_.indptr[:-1])
    np.testing.assert_allclose(sums, np.where(added > 0, result.outside_.miss, 0), atol=1e-5)


@pytest.mark.parametrize("layout", [DenseLayout, PaddedLayout])
@given(seed=st.integers(0, 10**6), with_prior=st.booleans(), far=st.sampled_from([1.0, 300.0]))
def test_each_part_of_a_set_is_normalised_apart(
    layout: type[DenseLayout | PaddedLayout], seed: int, with_prior: bool, far: float
) -> None:
    rng = np.random.default_rng(seed)
    n, c = 6, 5
    mask = rng.random((n, c)) < 0.5
    mask[np.arange(n), rng.integers(0, c, n)] = True
    more = ~mask & (rng.random((n, c)) < 0.4)
    miss = rng.random(n).astype(np.float32)
    rows, labels = np.nonzero(more)
    outside = Outside.of(CandidateSets.from_mask(mask), rows, labels, miss)
    sets = outside.candidates
    prior = checked_prior(rng.random(sets.nnz) + 0.1, sets) if with_prior else None
    own = np.ones((n, c))
    if prior is not None:
        own[sets.rows, sets.indices] = prior
    z = (rng.normal(size=(n, c)) * far).astype(np.float32)
    expected = np.zeros((n, c))
    for i in range(n):
        for part, mass in ((mask[i], 1 - miss[i] if more[i].any() else 1.0), (more[i], miss[i])):
            if part.any():
                raised = own[i, part] * np.exp(z[i, part].astype(np.float64) - z[i, part].max())
                expected[i, part] = mass * raised / raised.sum()
    flat = expected[sets.rows, sets.indices]
    log = None if prior is None else np.log(prior / np.maximum.reduceat(prior, sets.indptr[:-1])[sets.rows])
    stores = layout(sets, torch.device("cpu"), log)
    stores.share(outside)
    batch, weights = stores.batch(torch.arange(n)), stores.store(sets.uniform_weights())
    batch.write(weights, batch.restrict(torch.from_numpy(z)))
    np.testing.assert_allclose(stores.flat(weights), flat, atol=2e-4)  # a float32 of 900 has steps of 6e-5
    result = restricted_softmax(z[sets.rows, sets.indices].astype(np.float64), sets, prior, outside)
    np.testing.assert_allclose(result, flat, atol=2e-4)
    np.testing.assert_allclose(np.add.reduceat(outside.start(prior), sets.indptr[:-1]), 1, atol=1e-6)


def test_added_labels_can_be_taken_back_and_taken_apart() -> None:
    sets = CandidateSets.from_lists([[0], [1, 2], [2]], n_classes=4)
    outside = Outside.of(sets, [0, 0, 2], [1, 3, 0], np.array([0.5, 0.1, 0.9], dtype=np.float32))
    assert [labels.tolist() for labels in outside.candidates] == [[0, 1, 3], [1, 2], [0, 2]]
    less = outside.without([0])
    assert [labels.tolist() for labels in less.candidates] == [[0], [1, 2], [0, 2]]
    assert less.miss.tolist() == pytest.approx([0, 0.1, 0.9])
    assert outside.take([2]).candidates == outside.candidates.take([2])
    with pytest.raises(UserError, match="between 0 and 1"):
        Outside(sets, sets, np.array([0, 2, 0], dtype=np.float32))
    with pytest.raises(UserError, match="lost"):
        Outside(outside.candidates, sets, outside.miss)
    with pytest.raises(UserError, match="other than those that the changes led to"):
        list(PRODENOutside().iter_fit(Task(X[:3], sets, changes=(outside,))))


def test_decided_labels_teach_what_sets_miss() -> None:
    sets, missing = damaged(flip_binomial(Y, 10, 0.5, seed=0), Y, 0.4, "remove", seed=3)
    decided = np.where(np.arange(len(Y)) % 8 == 0, Y, -1)
    plain = PRODEN(epochs=20).fit(X, sets)
    taught = PRODENOutside(epochs=20).fit(X, sets, truth=decided)
    rest = decided < 0
    assert (taught.identify() == Y)[rest].mean() > (plain.identify() == Y)[rest].mean() + 0.3
    assert (taught.identify() == Y)[~rest].all() and (taught.outside_.miss[~rest] == 0).all()
    assert abs(taught.outside_.miss[rest].mean() - missing[rest].mean()) < 0.1
    assert taught.outside_.miss[rest & missing].mean() > taught.outside_.miss[rest & ~missing].mean() + 0.3
    with pytest.raises(UserError, match="known labels"):
        PRODENOutside().fit(X, sets, truth=decided[:-1])
    with pytest.raises(UserError, match="leave truth= out"):
        PRODEN().fit(X, sets, truth=decided)
