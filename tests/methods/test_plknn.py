"""PL-kNN against loops over examples and neighbours."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import neighbours
from pll.methods.base import Task
from pll.methods.plknn import GRID, PLKNN, ROUNDS, SCALES, votes
from pll.synthesis import flip_binomial
from pll.training.metrics import StopTraining
from tests.methods.cases import clusters, mean_accuracy, permuted, table

X = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)
X_NEW = np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32)
SETS = CandidateSets.from_lists([[0, 1], [1, 2, 3], [2], [0, 1, 2, 3], [0, 3], [1, 3], [2, 3]], 4)


def scores_in_loops(x: np.ndarray, others: list[int], k: int) -> np.ndarray:
    """Votes of the k of `others` that are nearest to x."""
    distance = {j: np.sqrt(((x.astype(np.float64) - X[j]) ** 2).sum()) for j in others}
    nearest = sorted(others, key=distance.__getitem__)[:k]
    total = sum(distance[j] for j in nearest)
    scores = np.zeros(4)
    for j in nearest:
        for label in SETS[j]:
            scores[label] += 1 - distance[j] / total if k > 1 else 1
    return scores


@pytest.mark.parametrize("k", [1, 2, 4])
def test_it_equals_the_loops(k: int) -> None:
    estimator = PLKNN(k=k, scale="none").fit(X, SETS)
    weights = table(estimator)
    for i in range(len(X)):
        expected = scores_in_loops(X[i], [j for j in range(len(X)) if j != i], k) * SETS.mask()[i]
        expected = expected if expected.sum() else SETS.mask()[i].astype(float)  # no neighbour shares a candidate
        np.testing.assert_allclose(weights[i], expected / expected.sum(), atol=1e-6)
    for x, scores in zip(X_NEW, estimator.predict_scores(X_NEW), strict=True):
        np.testing.assert_allclose(scores, scores_in_loops(x, list(range(len(X))), k), atol=1e-6)


def test_a_case_by_hand() -> None:
    # At 0, 1, 3: the first example's neighbours vote 3/4 and 1/4.
    estimator = PLKNN(k=2, scale="none").fit(
        np.array([[0.0], [1.0], [3.0]]), CandidateSets.from_lists([[0, 1], [0], [1]], 2)
    )
    assert table(estimator)[0].tolist() == [0.75, 0.25]
    assert estimator.identify().tolist() == [0, 0, 1]  # singletons stay, whatever the neighbours say
    probabilities = estimator.predict_proba(np.array([[0.0]]))
    np.testing.assert_allclose(
        probabilities, [[0.5, 0.5]]
    )  # itself, at distance 0, for both; the next one, at its rim, for none


def test_it_asks_all_when_there_are_fewer_than_k() -> None:
    estimator = PLKNN(k=10, scale="none").fit(X, SETS)
    np.testing.assert_allclose(table(estimator), table(PLKNN(k=6, scale="none").fit(X, SETS)))
    assert estimator.predict_proba(X_NEW).shape == (4, 4)


def test_an_example_is_not_its_own_neighbour_among_twins() -> None:
    sets = CandidateSets.from_lists([[0, 1], [0], [0], [0], [1]], 2)
    twins = np.zeros((5, 2), dtype=np.float32)
    estimator = PLKNN(k=4, scale="none").fit(twins, sets)
    np.testing.assert_allclose(table(estimator)[0], [0.75, 0.25])  # three against one, itself not counted
    few = PLKNN(k=1, scale="none").fit(twins, sets)
    assert np.isfinite(few.label_weights_).all()


@given(st.integers(0, 2**32), st.integers(1, 12))
@settings(max_examples=25)
def test_the_order_of_examples_and_classes_does_not_matter(seed: int, k: int) -> None:
    features, sets = clusters(seed)
    rng = np.random.default_rng(seed)
    rows, classes = rng.permutation(len(features)), rng.permutation(sets.n_classes)
    first = PLKNN(k=k).fit(features, sets)
    second = PLKNN(k=k).fit(features[rows], permuted(sets, rows, classes))
    np.testing.assert_allclose(table(second), table(first)[rows][:, classes], atol=1e-5)
    new = clusters(seed + 1)[0]
    np.testing.assert_allclose(second.predict_proba(new), first.predict_proba(new)[:, classes], atol=1e-5)
    single = np.flatnonzero(sets.sizes == 1)
    assert (table(first)[single].max(axis=1) == 1).all()


def test_the_size_of_a_block_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    features, sets = clusters(3, n=100)
    whole = PLKNN().fit(features, sets)
    monkeypatch.setattr(neighbours, "BLOCK_WORK", 1)  # eight rows at a time
    parts = PLKNN().fit(features, sets)
    np.testing.assert_allclose(parts.label_weights_, whole.label_weights_, atol=1e-6)
    np.testing.assert_allclose(parts.predict_scores(features), whole.predict_scores(features), atol=1e-6)


def test_rounds_fill_in_the_label_weights() -> None:
    features, sets = clusters(5, n=50)
    estimator = PLKNN()
    records = list(estimator.iter_fit(Task(features, sets, X_test=features, y_test=np.zeros(50, dtype=np.int64))))
    assert len(records) == estimator.total_epochs() == ROUNDS
    uniform, last = sets.uniform_weights(), records[-1].label_weights
    half = sets.indptr[25]
    np.testing.assert_array_equal(records[4].label_weights[:half], last[:half])
    np.testing.assert_array_equal(records[4].label_weights[half:], uniform[half:])
    assert len({record.test_accuracy for record in records}) == 1  # an unseen example asks everybody from the start


def test_after_a_stop_in_the_first_round_it_can_predict() -> None:
    def hook() -> None:
        raise StopTraining

    features, sets = clusters(6)
    estimator = PLKNN()
    with pytest.raises(StopTraining):
        next(iter(estimator.iter_fit(Task(features, sets), hook=hook)))
    np.testing.assert_array_equal(estimator.finish(), sets.uniform_weights())
    asked = PLKNN(k=10, scale="zscore").fit(features, sets)
    np.testing.assert_array_equal(estimator.predict(features), asked.predict(features))


def test_a_feature_that_hardly_varies_decides_nothing() -> None:
    features, sets = clusters(7, n=200)
    spot = np.zeros((200, 1), dtype=np.float32)
    spot[[3, 50]] = 1  # z-scores of 10
    both = np.hstack([features, spot])
    scaled = PLKNN(scale="zscore").fit(both, sets).train_
    assert np.abs(scaled).max() == pytest.approx(3)
    assert np.abs(PLKNN(clip=None, scale="zscore").fit(both, sets).train_).max() > 9
    assert np.abs(PLKNN(scale="none").fit(100 * both, sets).train_).max() > 99


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"search": "fast"}, "no search called 'fast'; use one of auto, exact, approximate"),
        ({"k": 0}, "k is 0; it must be a whole number, 1 or more"),
        ({"clip": 0.0}, r"clip .*None\) is 0\.0; it must be a number above 0"),
    ],
)
def test_settings_that_make_no_sense(setting: dict[str, float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        PLKNN(**setting).fit(X, SETS)  # type: ignore[arg-type]


@pytest.mark.parametrize(("q", "transductive", "test"), [(0.1, 99.5, 97.6), (0.7, 87.8, 81.6)])
def test_digits_as_other_implementations(q: float, transductive: float, test: float) -> None:
    reached = mean_accuracy(PLKNN, q)
    assert reached[0] > transductive - 2 and reached[1] > test - 2


def test_the_cost_is_said_before() -> None:
    assert PLKNN.cost(5000, 50, 20, 15_000).note is None
    large = PLKNN.cost(50_000, 3072, 10, 100_000)
    assert large.seconds > 60 and "50,000" in str(large.note) and large.memory_bytes > 1e9


def test_k_and_scaling_are_chosen_by_the_covering_rate_of_others() -> None:
    features, sets = clusters(3)
    fitted = PLKNN().fit(features, sets)
    assert set(fitted.covering_rates_) == {(scale, k) for scale in SCALES for k in GRID if k < len(features)}
    for (scale, k), rate in fitted.covering_rates_.items():
        alone = PLKNN(k=k, scale=scale).fit(features, sets)
        assert not alone.covering_rates_
        distances, at = alone._others(np.arange(len(features)), k)
        assert not (at == np.arange(len(features))[:, None]).any()
        scores = alone._counted(distances, at)
        top = [np.flatnonzero(row >= row.max() - 1e-9) for row in scores]  # of labels that tie, each counts its part
        covered = [np.isin(best, sets[i]).mean() for i, best in enumerate(top)]
        assert rate == pytest.approx(np.mean(covered), abs=1e-8)
    assert (fitted.scale_, fitted.k_) == max(fitted.covering_rates_, key=lambda each: fitted.covering_rates_[each])
    again = PLKNN(**fitted.fitted_params())
    assert (again.scale, again.k) == (fitted.scale_, fitted.k_)
    assert {scale for scale, _ in PLKNN(k=3).fit(features, sets).covering_rates_} == set(SCALES)
    np.testing.assert_array_equal(fitted.predict(features), again.fit(features, sets).predict(features))
    restored = PLKNN(**fitted.fitted_params()).restore(fitted.fitted_arrays(), fitted.input_shape_, fitted.class_names_)
    np.testing.assert_array_equal(restored.predict(features), fitted.predict(features))


def test_the_columns_decide_how_examples_are_compared() -> None:
    """Of counts whose amount tells the class unit length leaves nothing; directions it alone brings out."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    amounts = rng.poisson(np.array([5.0, 20.0, 80.0])[y][:, None] * np.ones(6))
    angles = rng.lognormal(0, 1.5, (300, 1)) * (np.eye(3)[y] @ rng.random((3, 6)) + rng.normal(0, 0.05, (300, 6)))
    sets = flip_binomial(y, 3, 0.3, seed=0)
    assert PLKNN().fit(amounts, sets).scale_ != "unit"
    assert PLKNN().fit(angles, sets).scale_ == "unit"


# ---- many examples -----------------------------------------------------------------------------------------------


def test_approximate_neighbours_are_nearly_all_found_and_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faiss", reason="faiss-cpu is not installed")
    rng = np.random.default_rng(0)
    y = np.arange(1500) % 5
    features = (rng.normal(size=(1500, 4)) + 3 * np.eye(5)[y][:, :4]) @ rng.normal(size=(4, 20))
    sets = flip_binomial(y, 5, 0.3, seed=0)
    exact = PLKNN(k=10, scale="zscore").fit(features, sets)
    monkeypatch.setattr(neighbours, "EXACT_UP_TO", 1000)
    near, again = (PLKNN(k=10, scale="zscore").fit(features, sets) for _ in range(2))
    np.testing.assert_array_equal(near.label_weights_, again.label_weights_)
    assert exact.recall_ == 1 and not any("approximately" in note for note in exact.notes_)
    assert 0.9 < near.recall_ <= 1 and f"{100 * near.recall_:.0f} % of the 10 nearest" in near.notes_[0]
    assert (near.identify() == exact.identify()).mean() > 0.97
    # the recall that is told is that of all examples, but for the error of a sample of 200
    found = [block.at for block in near._neighbours(None, lambda: None)]
    wanted = [block.at for block in exact._neighbours(None, lambda: None)]
    shared = [
        len(set(a) & set(b)) / 10 for a, b in zip(np.vstack(found).tolist(), np.vstack(wanted).tolist(), strict=True)
    ]
    assert abs(float(np.mean(shared)) - near.recall_) < 0.05
    restored = PLKNN().restore(near.fitted_arrays(), near.input_shape_, near.class_names_)
    np.testing.assert_array_equal(restored.predict(features), near.predict(features))
    monkeypatch.setattr(neighbours, "find_spec", lambda name: None)
    assert "needs faiss" in PLKNN(k=10).fit(features, sets).notes_[0]


def test_the_votes_of_a_block_are_those_of_sparse_matrices() -> None:
    """Votes were a product of sparse matrices, which took time for all examples in every block; the same to the bit."""
    features, sets = clusters(4, n=60)
    fitted = PLKNN(k=7).fit(features, sets)
    distances, at = fitted._others(np.arange(0, 60, 3), 7)
    ones = np.ones(sets.nnz)
    shared = scipy.sparse.csr_array((ones, sets.indices, sets.indptr), shape=(60, sets.n_classes))
    shape = (20, 60)
    given = scipy.sparse.csr_array((votes(distances).ravel(), at.ravel(), np.arange(21) * 7), shape=shape)
    np.testing.assert_array_equal(fitted._counted(distances, at), (given @ shared).toarray())


def test_ties_are_told() -> None:
    sets = CandidateSets.from_lists([[0, 1]] * 4, 2)
    assert "4 of 4 examples tie" in PLKNN(k=2).fit(np.arange(4.0)[:, None], sets).notes_[0]
    assert not PLKNN(k=2).fit(np.arange(4.0)[:, None], CandidateSets.from_lists([[0], [0], [1], [1]], 2)).notes_
