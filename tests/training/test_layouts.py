from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pll.candidates import CandidateSets
from pll.training.layouts import DENSE_UP_TO, DenseLayout, Layout, PaddedLayout, choose_layout
from pll.weights import on_candidates, restricted_softmax
from tests.strategies import sets_and_scores

CPU = torch.device("cpu")
LAYOUTS = [DenseLayout, PaddedLayout]

Case = tuple[CandidateSets, np.ndarray]


def some_rows(data: st.DataObject, n: int) -> Tensor:
    return torch.tensor(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)))


@pytest.mark.parametrize("kind", LAYOUTS)
@given(sets_and_scores(), st.data())
def test_both_restrict_as_the_formula_does(kind: type[Layout], case: Case, data: st.DataObject) -> None:
    sets, scores = case
    layout = kind(sets, CPU)  # type: ignore[call-arg]
    rows = some_rows(data, len(sets))
    batch = layout.batch(rows)
    store = layout.store(np.zeros(sets.nnz, dtype=np.float32))
    restricted = batch.restrict(torch.from_numpy(scores)[rows])
    batch.write(store, restricted)
    expected = restricted_softmax(on_candidates(scores, sets), sets)
    chosen = np.isin(sets.rows, rows.numpy())
    np.testing.assert_allclose(layout.flat(store)[chosen], expected[chosen], atol=1e-6)
    assert (layout.flat(store)[~chosen] == 0).all()  # the other examples are left alone
    torch.testing.assert_close(batch.read(store), restricted, rtol=0, atol=0)


@given(sets_and_scores(), st.data())
def test_dense_and_padded_rows_give_the_same_numbers(case: Case, data: st.DataObject) -> None:
    sets, scores = case
    rows = some_rows(data, len(sets))
    logits = torch.from_numpy(scores)[rows]
    weighted, picked, masks = [], [], []
    for kind in LAYOUTS:
        layout = kind(sets, CPU)
        batch = layout.batch(rows)
        weights = batch.read(layout.store(sets.uniform_weights()))
        weighted.append((weights * batch.pick(logits)).sum(dim=1))
        picked.append((batch.restrict(logits) * batch.pick(logits)).sum(dim=1))
        masks.append(batch.mask(sets.n_classes))
    torch.testing.assert_close(weighted[0], weighted[1], rtol=1e-5, atol=1e-3)
    torch.testing.assert_close(picked[0], picked[1], rtol=1e-5, atol=1e-3)
    assert masks[0].tolist() == masks[1].tolist() == sets.mask()[rows.numpy()].tolist()


@pytest.mark.parametrize("kind", LAYOUTS)
@given(sets_and_scores())
def test_a_store_gives_back_what_was_put_in_as_a_copy(kind: type[Layout], case: Case) -> None:
    sets, scores = case
    layout = kind(sets, CPU)  # type: ignore[call-arg]
    flat = on_candidates(scores, sets)
    flat.flags.writeable = False
    store = layout.store(flat)
    restored = layout.flat(store)
    np.testing.assert_array_equal(restored, flat)
    restored[:] = 7
    np.testing.assert_array_equal(layout.flat(store), flat)
    store += 1
    np.testing.assert_array_equal(flat, on_candidates(scores, sets))


@pytest.mark.parametrize("kind", LAYOUTS)
@given(sets_and_scores(), st.data())
def test_scatter_is_the_gradient_of_pick(kind: type[Layout], case: Case, data: st.DataObject) -> None:
    sets, scores = case
    layout = kind(sets, CPU)  # type: ignore[call-arg]
    batch = layout.batch(some_rows(data, len(sets)))
    weights = batch.read(layout.store(sets.uniform_weights()))
    matrix = torch.from_numpy(scores)[batch.rows].requires_grad_()
    batch.pick(matrix).backward(weights)
    assert matrix.grad is not None
    torch.testing.assert_close(batch.scatter(weights, matrix.detach()), matrix.grad, rtol=0, atol=0)


def test_the_layout_is_chosen_by_classes_and_by_how_full_the_sets_are() -> None:
    few = CandidateSets.from_lists([[0]], DENSE_UP_TO)
    many = CandidateSets.from_lists([[0]], DENSE_UP_TO + 1)
    full = CandidateSets.from_mask(np.ones((2, 500), dtype=bool))
    assert isinstance(choose_layout(few, CPU), DenseLayout)
    assert isinstance(choose_layout(many, CPU), PaddedLayout)
    assert isinstance(choose_layout(full, CPU), DenseLayout)
