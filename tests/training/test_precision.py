from __future__ import annotations

import pytest
import torch
from torch import nn

from pll.errors import UserError
from pll.methods import METHODS
from pll.methods.base import Task
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
