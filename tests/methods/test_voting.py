"""Votes as what is learnt from: aggregating them with a classifier, majority, Dawid-Skene, files and runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from pll.annotations import Annotations
from pll.cli.main import main
from pll.errors import UserError
from pll.methods import METHODS, aggregation
from pll.methods.aggregation import aggregate, union_of
from pll.runs.folder import RunFolder
from pll.training.rng import seeded

N, C = 450, 5
RNG = np.random.default_rng(0)
Y = RNG.integers(0, C, N)
X = (RNG.normal(size=(N, 8)) + 1.6 * np.eye(C, 8)[Y]).astype(np.float32)
VOTES = np.stack([np.where(RNG.random(N) < r, Y, RNG.integers(0, C, N)) for r in (0.65, 0.5, 0.45)], axis=1)
VOTES[::7, 1] = -1


def accuracy(estimator) -> float:
    return float((estimator.identify() == Y).mean())


def test_votes_with_features_beat_votes_alone_and_the_union() -> None:
    ours = METHODS["proden"](epochs=40).fit(X, None, votes=VOTES)
    alone = METHODS["dawid-skene"]().fit(X, None, votes=VOTES)
    union = METHODS["proden"](epochs=40).fit(X, union_of(Annotations.from_votes(VOTES)))
    assert accuracy(ours) > accuracy(alone) + 0.1 and accuracy(ours) > accuracy(union)
    again = METHODS["proden"](epochs=40).fit(X, None, votes=VOTES)
    assert np.array_equal(ours.label_weights_, again.label_weights_)


def test_likely_labels_that_nobody_named_join_the_sets() -> None:
    annotations = Annotations.from_votes(VOTES)
    actual = aggregate(X, annotations)
    union = union_of(annotations)
    assert actual.added > 0 and actual.candidates.nnz == union.nnz + actual.added
    assert (actual.candidates.mask() >= union.mask()).all()
    missed = ~union.contains(Y)
    assert actual.candidates.contains(Y)[missed].mean() > 0.3


def test_the_classifier_beside_the_votes_is_trained_as_torch_would() -> None:
    T = np.eye(C)[Y] * 0.7 + 0.3 / C
    rows = torch.arange(0, N, 2)
    features, soft = torch.from_numpy(X), torch.from_numpy(T.astype(np.float32))
    weight, bias = aggregation._softmax_regression(features, soft, rows, 0, lambda: None)
    with seeded(0):
        network = torch.nn.Linear(X.shape[1], C)
    order = torch.Generator().manual_seed(0)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
    for _ in range(aggregation.CLASSIFIER_EPOCHS):
        for batch in torch.split(rows[torch.randperm(len(rows), generator=order)], aggregation.BATCH_SIZE):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(network(features[batch]), soft[batch]).backward()
            optimiser.step()
    assert torch.allclose(weight, network.weight, atol=1e-5) and torch.allclose(bias, network.bias, atol=1e-5)


def test_majority_is_the_shares() -> None:
    votes = np.array([[0, 0, 1], [1, -1, 2]])
    actual = METHODS["majority"]().fit(np.zeros((2, 0)), None, votes=votes)
    assert actual.label_weights_ == pytest.approx([2 / 3, 1 / 3, 0.5, 0.5])
    assert actual.predict_proba(np.zeros((1, 0))).sum() == pytest.approx(1)


def test_without_features_only_methods_of_votes_work() -> None:
    empty = np.zeros((N, 0), dtype=np.float32)
    assert accuracy(METHODS["dawid-skene"]().fit(empty, None, votes=VOTES)) >= 0.6
    with pytest.raises(UserError, match="no features"):
        METHODS["proden"]().fit(empty, None, votes=VOTES)


def test_a_file_of_votes_trains_on_its_defaults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("m1", "m2", "m3")
    np.savez(tmp_path / "data.npz", X=X, votes=VOTES, voters=names, y=Y)
    assert main(["fit", str(tmp_path / "data.npz"), "--epochs", "20", "--out", str(tmp_path / "run")]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    folder = RunFolder(tmp_path / "run")
    assert result["transductive_accuracy"] > 0.8 and folder.config().source.rule == "voters"
    assert main(["fit", str(tmp_path / "data.npz"), "--epochs", "20", "--out", str(tmp_path / "run"), "--resume"]) == 0
    plain = ["fit", str(tmp_path / "data.npz"), "--epochs", "20", "--rule", "union", "--out", str(tmp_path / "union")]
    assert main(plain) == 0
    union = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert union["transductive_accuracy"] < result["transductive_accuracy"]
