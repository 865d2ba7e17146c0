from __future__ import annotations

import pytest
import torch
from torch import nn

from pll.training.models import build_model, has_batch_norm


@pytest.mark.parametrize("name", ["linear", "mlp"])
@pytest.mark.parametrize("shape", [(5,), (3, 4, 4)])
def test_logits_have_a_column_a_class(name: str, shape: tuple[int, ...]) -> None:
    network = build_model(name, shape, 7)
    assert network(torch.zeros(2, *shape)).shape == (2, 7)


def test_mlp_is_the_paper_s() -> None:
    network = build_model("mlp", (784,), 10)
    layers = [layer for layer in network.modules() if isinstance(layer, nn.Linear)]
    assert [(layer.in_features, layer.out_features) for layer in layers] == [
        (784, 300),
        *[(300, 300)] * 3,
        (300, 10),
    ]
    assert sum(isinstance(layer, nn.BatchNorm1d) for layer in network.modules()) == 4
    assert sum(isinstance(layer, nn.ReLU) for layer in network.modules()) == 4


def test_a_module_of_the_caller_s_is_copied() -> None:
    own = nn.Linear(2, 2)
    built = build_model(own, (2,), 2)
    assert built is not own
    with torch.no_grad():
        built.weight.add_(1)  # type: ignore[operator]
    assert not torch.equal(built.weight, own.weight)  # type: ignore[arg-type]


def test_batch_norm_is_detected_at_any_depth() -> None:
    assert has_batch_norm(build_model("mlp", (4,), 2))
    assert has_batch_norm(nn.Sequential(nn.Sequential(nn.BatchNorm2d(3))))
    assert not has_batch_norm(build_model("linear", (4,), 2))
    assert not has_batch_norm(nn.Sequential(nn.LayerNorm(3), nn.Dropout()))
