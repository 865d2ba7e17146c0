"""How well class probabilities explain held-out candidate sets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.methods import set_likelihood
from pll.methods.set_likelihood import MIXED, best_tempered, is_significantly_less, set_log_likelihood
from pll.synthesis import flip_pair


def example(seed: int, h: int = 40, c: int = 4) -> tuple[npt.NDArray[np.float64], CandidateSets, npt.NDArray[np.int64]]:
    """Random probabilities (h, c), sets and classes; half of the probabilities lean to the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(c, size=h)
    g = rng.dirichlet(np.ones(c), size=h) + (rng.random(h) < 0.5)[:, None] * np.eye(c)[y]
    return g / g.sum(axis=1, keepdims=True), flip_pair(y, c, 0.7, seed=seed), y


def on_sets(g: npt.NDArray[np.float64], sets: CandidateSets) -> npt.NDArray[np.float64]:
    return np.log(g[sets.rows, sets.indices])


def by_hand(g: npt.NDArray[np.float64], sets: CandidateSets) -> list[float]:
    """The same, an example and a label at a time."""
    h, c = g.shape
    part = np.random.default_rng([0, 6]).permutation(h) % 4
    members = [set(sets[i]) for i in range(h)]
    mixed = (1 - MIXED) * g + MIXED / c
    mean = (sum(map(len, members)) - h) / (h * (c - 1))
    q = [{j: mixed[i, j] / sum(mixed[i, k] for k in members[i]) for j in members[i]} for i in range(h)]
    for _ in range(3):
        updated, found = [], []
        for i in range(h):
            others = [k for k in range(h) if part[k] != part[i]]
            joint = {}
            for j in members[i]:
                n = sum(q[k].get(j, 0.0) for k in others) + 2
                p = mixed[i, j]
                for b in set(range(c)) - {j}:
                    rate = (sum(q[k].get(j, 0.0) for k in others if b in members[k]) + 2 * mean) / n
                    p *= rate if b in members[i] else 1 - rate
                joint[j] = p
            found.append(float(np.log(sum(joint.values()))))
            updated.append({j: p / sum(joint.values()) for j, p in joint.items()})
        q = updated
    return found


@pytest.mark.parametrize("seed", [0, 1])
def test_golden(seed: int) -> None:
    g, sets, _ = example(seed)
    assert set_log_likelihood(on_sets(g, sets), sets) == pytest.approx(by_hand(g, sets))


def test_with_many_classes_all_rates_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    g, sets, _ = example(0)
    monkeypatch.setattr(set_likelihood, "MOST_CLASSES", 3)
    share = np.array([(0.99 * g[i] + 0.0025)[list(sets[i])].sum() for i in range(len(sets))])
    rate, others = (sets.nnz - 40) / 120, sets.sizes - 1
    assert set_log_likelihood(on_sets(g, sets), sets) == pytest.approx(
        np.log(share) + others * np.log(rate) + (3 - others) * np.log(1 - rate)
    )


@given(st.integers(0, 10_000), st.integers(2, 30), st.integers(2, 6))
def test_it_is_a_probability_of_sets_in_any_order(seed: int, h: int, c: int) -> None:
    g, sets, _ = example(seed, h, c)
    found = set_log_likelihood(on_sets(g, sets), sets)
    assert found.shape == (h,) and (found <= 1e-12).all() and np.isfinite(found).all()
    certain = np.where(g >= g.max(axis=1, keepdims=True), 0.0, -np.inf)  # probabilities of 0, off some sets altogether
    assert np.isfinite(set_log_likelihood(certain[sets.rows, sets.indices], sets)).all()


def test_right_labels_explain_pair_flips_where_covering_says_nothing() -> None:
    y = np.random.default_rng(0).integers(5, size=600)
    sets = flip_pair(y, 5, 0.9, seed=0)  # the next class joins
    right, next_one = np.eye(5)[y] * 0.9 + 0.02, np.eye(5)[(y + 1) % 5] * 0.9 + 0.02
    both = sets.contains((y + 1) % 5)
    mixed = np.where(
        both[:, None] & (np.arange(600) % 2 == 0)[:, None], next_one, right
    )  # every prediction a candidate
    assert sets.contains(mixed.argmax(axis=1)).all()
    scores = [set_log_likelihood(on_sets(g, sets), sets) for g in (right, mixed)]
    assert is_significantly_less(scores[1], scores[0])


def test_one_confident_mistake_does_not_decide() -> None:
    y = np.random.default_rng(0).integers(3, size=300)
    sets = flip_pair(y, 3, 0.3, seed=0)
    good, poor = np.eye(3)[y] * 0.97 + 0.01, np.eye(3)[y] * 0.4 + 0.2
    alone = int(np.flatnonzero(sets.sizes == 1)[0])
    good[alone] = np.where(np.arange(3) == y[alone], 1e-30, 0.5)
    scores = [set_log_likelihood(on_sets(g, sets), sets).mean() for g in (good, poor)]
    assert scores[0] > scores[1]


def test_the_temperature_makes_scores_comparable() -> None:
    g, sets, _ = example(3, 300)
    sharpened = g**2 / (g**2).sum(axis=1, keepdims=True)
    assert best_tempered(sharpened, sets).mean() >= set_log_likelihood(on_sets(g, sets), sets).mean() - 1e-6
    assert set_log_likelihood(on_sets(sharpened, sets), sets).mean() < best_tempered(sharpened, sets).mean()


def test_significance_is_paired() -> None:
    base = np.arange(100) % 10 * 1.0  # varies far more than the difference
    assert is_significantly_less(base, base + 0.01 + 0.01 * (np.arange(100) % 2))
    assert not is_significantly_less(base, base) and not is_significantly_less(base + 1, base)
