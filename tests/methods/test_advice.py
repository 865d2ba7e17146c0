"""Estimates of time and memory before a run, with many classes above all; predictions in parts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import softmax

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import memory_of_machine
from pll.methods import METHODS, advice
from pll.methods.advice import advise, check_memory
from pll.runs.labels_table import predicted_frame
from pll.training import scaling
from pll.training.devices import Memory


def data(n: int, c: int, d: int = 4, *, sets: bool = True) -> PartialLabelDataset:
    rng = np.random.default_rng(0)
    lists = [np.unique(rng.integers(0, c, 3)).tolist() for _ in range(n)]
    names = tuple(map(str, range(c)))
    return PartialLabelDataset(
        X=rng.normal(size=(n, d)).astype(np.float32),
        candidates=CandidateSets.from_lists(lists, c, names) if sets else None,
        class_names=names,
        y=rng.integers(0, c, n),
    )


@pytest.mark.parametrize("method", ["proden", "sure"])
def test_what_cannot_fit_into_memory_is_refused_in_words(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = memory_of_machine()
    assert there is None or there > 10**8
    dataset = data(400, 20_000)
    estimator = METHODS[method](**({"device": "cpu"} if method == "proden" else {}))
    check_memory(estimator, dataset)
    monkeypatch.setattr(advice, "memory_of_machine", lambda: 10**7)
    with pytest.raises(UserError, match="20,000 classes, and this machine has 0 GB"):
        check_memory(estimator, dataset)
    assert any("of memory" in one for one in advise(estimator, dataset).obstacles)
    monkeypatch.setattr(advice, "memory_of_machine", lambda: None)
    check_memory(estimator, dataset)


@pytest.mark.parametrize("has_sets", [True, False])
def test_predictions_in_parts_are_those_of_all_rows(has_sets: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    train, others = data(60, 70), data(23, 70, sets=has_sets)
    model = METHODS["proden"](epochs=2, device="cpu").fit(train.X, train.sets())
    model.temperatures_ = (1.5,)
    tempered = softmax(model.predict_scores(others.X) / 1.5, axis=1)
    whole = model.predict(others.X), tempered, predicted_frame(model, others, train.class_names)
    monkeypatch.setattr(scaling, "MOST_OUTPUTS", 70 * 5)
    parts = list(model.iter_tempered(others.X))
    assert [len(part) for part in parts] == [5, 5, 5, 5, 3]
    np.testing.assert_allclose(np.concatenate(parts), whole[1], atol=1e-6)
    assert (model.predict(others.X) == whole[0]).all()
    result = predicted_frame(model, others, train.class_names)
    assert result["identified_label"].equals(whole[2]["identified_label"]) and result["id"].equals(whole[2]["id"])
    np.testing.assert_allclose(result["confidence"], whole[2]["confidence"], atol=1e-6)
    again = METHODS["proden"](epochs=2, device="cpu").fit(train.X, train.sets())
    np.testing.assert_allclose(again.label_weights_, model.label_weights_, atol=1e-6)


def test_on_a_gpu_its_memory_counts_and_features_may_stay_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "choose_device", lambda name: torch.device("cuda:0"))
    dataset, estimator = data(400, 20_000, d=100), METHODS["proden"]()
    needed = []
    for gigabytes in (80, 10**-4):
        memory = Memory(int(gigabytes * 1e9), int(gigabytes * 1e9))
        monkeypatch.setattr(advice, "memory_of", lambda device, memory=memory: memory)
        needed.append(advise(estimator, dataset))
    assert needed[0].memory_bytes - needed[1].memory_bytes == dataset.X.nbytes
    assert not needed[0].obstacles and "the GPU has 0 GB" in needed[1].obstacles[0]
