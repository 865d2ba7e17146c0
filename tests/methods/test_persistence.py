"""A model that was saved predicts as before; a file that is not a model says so."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
import torch
from sklearn.exceptions import NotFittedError
from torch import nn

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import METHODS
from pll.methods.base import PartialLabelEstimator
from pll.methods.persistence import MODEL_CARD_FILE, WEIGHTS_FILE, load_model, read_card, save_model
from pll.synthesis import flip_binomial

NAMES = ("NA", "日本語", "a|b")


def data(shape: tuple[int, ...] = (4,), n: int = 40) -> tuple[np.ndarray, CandidateSets, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, *shape)).astype(np.float32) + y.reshape(-1, *(1 for _ in shape))
    return X.astype(np.float32), flip_binomial(y, 3, 0.3, class_names=NAMES), y


def quick(method: str, **params: Any) -> PartialLabelEstimator:
    """The method with as little training as it takes."""
    defaults = METHODS[method]().get_params()
    few = {name: 2 for name in ("epochs", "max_rounds") if name in defaults}
    return METHODS[method](**(few | params))


def fitted(method: str, shape: tuple[int, ...] = (4,), **params: Any) -> PartialLabelEstimator:
    X, candidates, y = data(shape)
    estimator = quick(method, **params)
    return estimator.fit(X, candidates, truth=y) if estimator.needs_truth else estimator.fit(X, candidates)


def saved(folder: Path, estimator: PartialLabelEstimator, method: str = "proden") -> None:
    save_model(estimator, folder, method=method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(4,), (1, 3, 4)], ids=["table", "image"])
def test_every_method_predicts_as_before(method: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    X, _, _ = data(shape)
    before = fitted(method, shape)
    saved(tmp_path, before, method)
    stream = torch.get_rng_state()
    after = load_model(tmp_path)
    assert torch.equal(torch.get_rng_state(), stream)
    assert type(after) is type(before)
    assert after.get_params() == before.fitted_params()
    assert after.class_names_ == NAMES
    np.testing.assert_array_equal(after.predict_scores(X), before.predict_scores(X))
    np.testing.assert_array_equal(after.predict(X), before.predict(X))
    np.testing.assert_array_equal(after.predict_proba(X), before.predict_proba(X))
    for name, array in before.fitted_arrays().items():
        np.testing.assert_array_equal(after.fitted_arrays()[name], array, name)
    with pytest.raises(NotFittedError, match="predict"):
        after.identify()


@pytest.mark.parametrize("classes", [["cat", "dog", "fox"], [10, 20, 30], [True, False]])
def test_labels_and_columns_are_as_before(classes: list[Any], tmp_path: Path) -> None:
    X, _, y = data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    before = quick("proden").fit(frame, np.array(classes)[y % len(classes)])
    saved(tmp_path, before)
    after = load_model(tmp_path)
    np.testing.assert_array_equal(after.classes_, before.classes_)
    np.testing.assert_array_equal(after.predict(frame), before.predict(frame))
    assert read_card(tmp_path).feature_names == tuple("abcd")
    with pytest.raises(ValueError, match="feature names"):
        after.predict(frame[list("bacd")])


@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_missing_values_are_filled_as_before(model: str, tmp_path: Path) -> None:
    X, candidates, _ = data()
    X[::3, 1] = np.nan
    before = quick("proden", model=model, missing="mean").fit(X, candidates)
    saved(tmp_path, before)
    np.testing.assert_array_equal(load_model(tmp_path).predict_proba(X), before.predict_proba(X))


def test_the_weights_are_a_safetensors_file_like_any_other(tmp_path: Path) -> None:
    estimator = fitted("proden", model="mlp")
    saved(tmp_path, estimator)
    arrays = safetensors.numpy.load_file(tmp_path / WEIGHTS_FILE)
    wanted = estimator.fitted_arrays()
    assert arrays.keys() == wanted.keys()
    for name, array in wanted.items():
        assert arrays[name].shape == array.shape  # counters of batch norm have no dimension
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


# ---- objects of the user's own ----------------------------------------------------------------------------------


def own_factory(shape: tuple[int, ...], c: int) -> nn.Module:
    return nn.Linear(math.prod(shape), c, bias=False)


def own_loss(logits: torch.Tensor) -> torch.Tensor:
    return -torch.log_softmax(logits, dim=1)


@pytest.mark.parametrize(
    ("own", "described"),
    [
        ({"model": nn.Linear(4, 3)}, "the torch module torch.nn.modules.linear.Linear"),
        ({"model": own_factory}, f"the function {__name__}.own_factory"),
        ({"loss": own_loss}, f"the function {__name__}.own_loss"),
    ],
    ids=["module", "factory", "loss"],
)
def test_custom_objects_are_named_and_required(own: dict[str, Any], described: str, tmp_path: Path) -> None:
    before = fitted("proden", **own)
    saved(tmp_path, before)
    (name,) = own
    assert read_card(tmp_path).custom == {name: described}
    with pytest.raises(UserError, match=rf"fitted with {name} = {described}.*load_model\(.*, {name}=…\)"):
        load_model(tmp_path)
    X, _, _ = data()
    after = load_model(tmp_path, **own)
    assert after.get_params()[name] is own[name]
    np.testing.assert_array_equal(after.predict_proba(X), before.predict_proba(X))


# ---- what cannot be loaded --------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [MODEL_CARD_FILE, WEIGHTS_FILE])
def test_a_missing_file_is_named(missing: str, tmp_path: Path) -> None:
    saved(tmp_path, fitted("proden"))
    (tmp_path / missing).unlink()
    with pytest.raises(UserError, match=f"{missing} is missing"):
        load_model(tmp_path)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"no model in {tmp_path / 'nothing'}"):
        load_model(tmp_path / "nothing")


def test_truncated_weights_are_noticed(tmp_path: Path) -> None:
    saved(tmp_path, fitted("proden"))
    path = tmp_path / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match=r"model\.safetensors is damaged"):
        load_model(tmp_path)


def test_the_files_of_two_models_are_not_mixed(tmp_path: Path) -> None:
    saved(tmp_path / "one", fitted("proden", seed=0))
    saved(tmp_path / "two", fitted("proden", seed=1))
    (tmp_path / "two" / WEIGHTS_FILE).replace(tmp_path / "one" / WEIGHTS_FILE)
    with pytest.raises(UserError, match="does not belong"):
        load_model(tmp_path / "one")


def test_the_one_temperature_of_an_older_card_is_kept(tmp_path: Path) -> None:
    saved(tmp_path, fitted("plknn"), "plknn")
    card = json.loads((tmp_path / MODEL_CARD_FILE).read_text())
    del card["temperatures"]
    (tmp_path / MODEL_CARD_FILE).write_text(json.dumps(card | {"temperature": 1.7}))
    assert load_model(tmp_path).temperatures_ == (1.7,)
