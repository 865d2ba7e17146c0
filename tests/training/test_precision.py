from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from pll.errors import UserError
from pll.methods import METHODS, deep
from pll.methods.base import Start, Task
from pll.methods.deep import DeepEstimator
from pll.methods.proden import PRODEN
from pll.training import precision as precision_module
from pll.training.precision import Precision, choose_precision
from tests.training.test_trainer import SETS, D, X, Y

CPU, CUDA = torch.device("cpu"), torch.device("cuda:0")


@pytest.mark.parametrize(
    ("precision", "model", "device", "bf16"),
    [
        ("auto", "convnet", CUDA, True),
        ("auto", "resnet", CUDA, True),
        ("auto", "torchvision:resnet18", CUDA, True),
        ("auto", "linear", CUDA, False),
        ("auto", "mlp", CUDA, False),
        ("auto", nn.Linear(2, 2), CUDA, False),
        ("auto", "convnet", CPU, False),
        ("float32", "convnet", CUDA, False),
        ("bf16", "linear", CUDA, True),
        ("bf16", "linear", CPU, True),
    ],
)
def test_what_auto_takes(
    monkeypatch: pytest.MonkeyPatch, precision: str, model: str | nn.Module, device: torch.device, bf16: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    assert choose_precision(precision, model, (3, 32, 32), device).bf16 is bf16


def test_a_gpu_without_bf16_computes_in_float32_and_refuses_it_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision_module, "_has_bf16", lambda device: False)
    assert not choose_precision("auto", "convnet", (3, 32, 32), CUDA).bf16
    with pytest.raises(UserError, match="bfloat16"):
        choose_precision("bf16", "convnet", (3, 32, 32), CUDA)
    with pytest.raises(UserError, match="float16"):
        choose_precision("float16", "linear", (2,), CPU)


def test_pictures_have_their_channels_last_on_a_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    assert choose_precision("auto", "convnet", (3, 32, 32), CUDA).channels_last
    assert not choose_precision("auto", "linear", (9,), CUDA).channels_last
    assert not choose_precision("auto", "convnet", (3, 32, 32), CPU).channels_last
    network = Precision(CPU, channels_last=True).prepared(nn.Conv2d(3, 4, 3))
    assert network.weight.is_contiguous(memory_format=torch.channels_last)


def test_models_that_read_a_picture_as_a_row_keep_its_order() -> None:
    assert not choose_precision("float32", "mlp", (3, 32, 32), CUDA).channels_last


@pytest.mark.parametrize(("bf16", "expected"), [(True, "tf32"), (False, "ieee")])
def test_tf32_goes_with_bf16_whoever_set_it_before_and_is_put_back(bf16: bool, expected: str) -> None:
    convolution, product = torch.backends.cudnn.conv, torch.backends.cuda.matmul
    original = convolution.fp32_precision, product.fp32_precision
    try:
        product.fp32_precision = "tf32"  # from then on torch refuses to say whether `allow_tf32`
        with Precision(CUDA, bf16).switched():
            assert convolution.fp32_precision == product.fp32_precision == expected
        assert (convolution.fp32_precision, product.fp32_precision) == (original[0], "tf32")
    finally:
        convolution.fp32_precision, product.fp32_precision = original


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_a_checkpoint_is_resumed_where_pictures_are_stored_in_another_order(
    monkeypatch: pytest.MonkeyPatch, optimiser: str
) -> None:
    """A fused step pairs parameters and moments by their place in memory; a GPU refuses, a CPU mixes them."""
    pictures = torch.randn(12, 3, 6, 6, generator=torch.Generator().manual_seed(0)).numpy()
    task = Task(pictures, SETS[:12])

    def make() -> DeepEstimator:
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(64, SETS.n_classes))
        torch.manual_seed(0)
        for layer in (model[0], model[2]):
            layer.reset_parameters()
        return PRODEN(model=model, epochs=3, batch_size=4, lr=0.01, optimiser=optimiser, device="cpu")

    whole = list(make().iter_fit(task))
    first = make()
    next(first.iter_fit(task))
    monkeypatch.setattr(deep, "choose_precision", lambda *_: Precision(CPU, channels_last=True))
    rest = list(make().iter_fit(task, start=Start(checkpoint=first.checkpoint())))
    for one, other in zip(whole[1:], rest, strict=True):
        np.testing.assert_allclose(one.label_weights, other.label_weights, atol=1e-5)


def test_training_in_bf16_keeps_everything_in_float32_and_comes_near() -> None:
    results = []
    for precision in ("float32", "bf16"):
        estimator = METHODS["proden"](epochs=20, batch_size=5, lr=0.1, device="cpu", precision=precision)
        task = Task(X.numpy(), SETS, Y)
        *_, record = estimator.iter_fit(task)
        assert {value.dtype for value in estimator.model_.parameters()} == {torch.float32}
        assert estimator.predict_scores(X.numpy()).dtype == record.label_weights.dtype == "float32"
        results.append(record.label_weights)
    difference = abs(results[0] - results[1]).max()
    assert 0 < difference < 0.1
    assert X.shape[1] == D
