"""A prior of the candidates: what starts from it, what follows from it, and that a uniform one changes nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pll import formats
from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS
from pll.runs import fit_loop
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder
from pll.runs.history import History
from pll.synthesis import flip_binomial
from pll.training.metrics import StopTraining
from pll.weights import checked_prior

RNG = np.random.default_rng(0)
N, C = 90, 5
TRUTH = RNG.integers(0, C, N)
X = (RNG.normal(size=(N, 6)) + 2.0 * np.eye(C, 6)[TRUTH]).astype(np.float32)
SETS = flip_binomial(TRUTH, C, 0.5, seed=1)
WIDE = CandidateSets(SETS.indptr, SETS.indices, 300, tuple(map(str, range(300))))  # the padded layout
PRIOR = checked_prior(RNG.random(SETS.nnz) + 0.1, SETS)
GRADIENT = [name for name, method in METHODS.items() if hasattr(method(), "epochs") and method.takes_prior]
SHORT = {"epochs": 3, "batch_size": 32}


def fitted(name: str, sets: CandidateSets = SETS, prior: np.ndarray | None = None, **settings: object):
    method = METHODS[name]
    defaults = method().get_params()
    chosen = {key: value for key, value in (SHORT | settings).items() if key in defaults}
    truth = TRUTH if method.needs_truth else None
    return method(**chosen).fit(X, sets, truth=truth, prior=prior)


@pytest.mark.parametrize("sets", [SETS, WIDE], ids=["dense", "padded"])
@pytest.mark.parametrize("name", [*GRADIENT, "ipal", "sure"])
def test_a_uniform_prior_changes_no_bit(name: str, sets: CandidateSets) -> None:
    if sets is WIDE and name in ("ipal", "sure"):
        pytest.skip("these have one layout")
    plain, uniform = fitted(name, sets), fitted(name, sets, prior=np.full(sets.nnz, 0.1))
    assert np.array_equal(plain.label_weights_, uniform.label_weights_)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(plain.fitted_arrays().values(), uniform.fitted_arrays().values(), strict=True)
    )


@pytest.mark.parametrize("sets", [SETS, WIDE], ids=["dense", "padded"])
@pytest.mark.parametrize("name", GRADIENT)
def test_label_weights_are_prior_times_softmax(name: str, sets: CandidateSets) -> None:
    result = fitted(name, sets, prior=PRIOR)
    scores = result.predict_proba(X)[sets.rows, sets.indices].astype(np.float64) * PRIOR
    expected = scores / np.add.reduceat(scores, sets.indptr[:-1])[sets.rows]
    assert result.label_weights_ == pytest.approx(expected, abs=1e-5)


def test_a_candidate_of_prior_0_never_gets_weight_and_the_layouts_agree() -> None:
    prior = PRIOR.copy()
    starts = SETS.indptr[:-1][SETS.sizes > 1]
    prior[starts] = 0.0
    dense, padded = fitted("proden", prior=prior), fitted("proden", WIDE, prior=prior)
    assert (dense.label_weights_[starts] == 0).all() and (padded.label_weights_[starts] == 0).all()
    assert np.isfinite(padded.label_weights_).all()
    ga = fitted("ga", prior=prior)  # S itself stays what it is: GA learns from what is outside it
    assert np.array_equal(ga.fitted_arrays()["1.1.weight"], fitted("ga").fitted_arrays()["1.1.weight"])


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (np.ones(3), "one number for each candidate"),
        (np.where(np.arange(SETS.nnz) == 4, -1.0, 1.0), "0 or more"),
        (np.where(np.arange(SETS.nnz) == 4, np.nan, 1.0), "Row"),
        (np.where(SETS.rows == 7, 0.0, 1.0), "Row 7"),
        (["a"] * SETS.nnz, "must be numbers"),
    ],
)
def test_a_bad_prior_is_refused(prior: np.ndarray, words: str) -> None:
    with pytest.raises(UserError, match=words):
        METHODS["proden"]().fit(X, SETS, prior=prior)


@pytest.mark.parametrize("name", ["plknn", "clpl", "ecoc", "plsvm"])
def test_methods_without_initial_weights_refuse_it(name: str) -> None:
    with pytest.raises(UserError, match="does not use prior"):
        METHODS[name]().fit(X, SETS, prior=PRIOR)


def dataset(prior: np.ndarray | None = PRIOR) -> PartialLabelDataset:
    return PartialLabelDataset(X=X, candidates=SETS, y=TRUTH, prior=prior)


def config(path: Path, method: str = "proden") -> RunConfig:
    params = SHORT | {"epochs": 4} if method == "proden" else {}
    return RunConfig(Source("data.npz", str(path)), method, params)


def test_a_run_starts_its_history_from_it_and_resumes_to_the_same_result(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    formats.write(dataset(), path)
    whole, broken = (RunFolder(tmp_path / name) for name in ("whole", "broken"))
    whole.create(config(path))
    fit_loop.FitLoop(whole).train()
    assert np.array_equal(History(whole.history, SETS).weights(0), PRIOR)
    assert not np.array_equal(History(whole.history, SETS).weights(1), PRIOR)
    calls = 0

    def stop() -> None:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise StopTraining

    broken.create(config(path))
    fit_loop.FitLoop(broken, hook=stop).train()
    fit_loop.FitLoop(broken).train()
    for name in ("history/final.npy", "model.safetensors"):
        assert (whole.path / name).read_bytes() == (broken.path / name).read_bytes()
