from __future__ import annotations

import importlib.util
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from pll.errors import UserError
from pll.methods.proden import PRODEN
from pll.synthesis import flip_binomial
from pll.training.models import build_model, count_parameters

CIFAR = (3, 32, 32)


def layers(network: nn.Module, kind: type) -> list[Any]:
    return [layer for layer in network.modules() if isinstance(layer, kind)]


class TestConvNet:
    def test_it_has_the_layers_of_the_supplement(self) -> None:
        """1-4: [C(3·3, 128)]·3, max-pool – 5-8: [C(3·3, 256)]·3, max-pool – 9-11: C512, C256, C128 – 12: mean, 10."""
        network = build_model("convnet", CIFAR, 10)
        convolutions, pools, linear = (layers(network, kind) for kind in (nn.Conv2d, nn.MaxPool2d, nn.Linear))
        assert len(convolutions) + len(pools) + len(linear) == 12
        widths = [3, 128, 128, 128, 256, 256, 256, 512, 256, 128]
        assert [(c.in_channels, c.out_channels) for c in convolutions] == list(pairwise(widths))
        assert {c.kernel_size for c in convolutions} == {(3, 3)}
        assert [(p.kernel_size, p.stride) for p in pools] == [(2, 2), (2, 2)]
        assert [(layer.in_features, layer.out_features) for layer in linear] == [(128, 10)]
        order = [type(layer) for layer in network.children() if type(layer) in (nn.Conv2d, nn.MaxPool2d, nn.Linear)]
        block = [nn.Conv2d] * 3
        assert order == [*block, nn.MaxPool2d, *block, nn.MaxPool2d, *block, nn.Linear]
        assert len(layers(network, nn.LeakyReLU)) == len(layers(network, nn.BatchNorm2d)) == 9


class TestResNet:
    def test_it_has_the_layers_of_the_supplement(self) -> None:
        """1-11: C16, [C16, C16]·5 – 12-21: [C32, C32]·5 – 22-31: [C64, C64]·5 – 32: average, 10."""
        network = build_model("resnet", CIFAR, 10)
        convolutions, linear = layers(network, nn.Conv2d), layers(network, nn.Linear)
        assert len(convolutions) + len(linear) == 32
        assert [c.out_channels for c in convolutions] == [16] * 11 + [32] * 10 + [64] * 10
        assert {c.kernel_size for c in convolutions} == {(3, 3)}
        assert [(layer.in_features, layer.out_features) for layer in linear] == [(64, 10)]
        assert len(layers(network, nn.BatchNorm2d)) == 31

    def test_it_has_the_published_number_of_parameters(self) -> None:
        # He et al. 2016, Table 6: ResNet-32, 0.46 M.
        assert round(count_parameters("resnet", CIFAR, 10) / 1e6, 2) == 0.46


@pytest.mark.parametrize("name", ["convnet", "resnet"])
class TestBoth:
    def test_tables_are_refused_in_words(self, name: str) -> None:
        with pytest.raises(UserError, match=r"looks at images .* these examples are rows of 64 features. Use 'linear'"):
            PRODEN(model=name).fit(np.zeros((4, 64)), flip_binomial([0, 1, 0, 1], 2, 0.0))

    def test_it_learns_from_small_grey_images_and_is_restored(self, name: str) -> None:
        y = np.arange(30) % 3
        images = np.random.default_rng(0).normal(size=(30, 1, 6, 6)).astype(np.float32)
        images[np.arange(30), 0, y * 2] += 3  # a bright row
        settings: dict[str, Any] = {"model": name, "epochs": 10, "batch_size": 10, "lr": 0.01, "device": "cpu"}
        fitted = PRODEN(**settings).fit(images, flip_binomial(y, 3, 0.3, seed=0))
        assert (fitted.predict(images) == y).mean() > 0.6
        again = PRODEN(**settings).restore(fitted.fitted_arrays(), (1, 6, 6), fitted.class_names_)
        np.testing.assert_array_equal(again.predict_scores(images), fitted.predict_scores(images))

    @pytest.mark.slow
    def test_it_can_be_exported_to_onnx(self, name: str, tmp_path: Path) -> None:
        if any(importlib.util.find_spec(package) is None for package in ("onnx", "onnxscript", "onnxruntime")):
            pytest.skip("needs onnx, onnxscript and onnxruntime (requirements-dev.txt)")
        import onnxruntime

        network = build_model(name, (1, 8, 8), 5).eval()
        path = tmp_path / "model.onnx"
        batch = torch.export.Dim("batch")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of its own deprecations
            torch.onnx.export(
                network, (torch.zeros(2, 1, 8, 8),), path, dynamo=True, external_data=False, verbose=False,
                dynamic_shapes=({0: batch},), input_names=["x"],
            )  # fmt: skip
        x = torch.randn(3, 1, 8, 8)
        (scores,) = onnxruntime.InferenceSession(path).run(None, {"x": x.numpy()})
        np.testing.assert_allclose(scores, network(x).detach().numpy(), atol=1e-4)


class TestTorchvision:
    def test_the_last_layer_has_a_column_a_class_and_the_rest_is_torchvision_s(self) -> None:
        network = build_model("torchvision:resnet18", CIFAR, 7)
        assert network(torch.zeros(2, *CIFAR)).shape == (2, 7)
        last = layers(network, nn.Linear)
        assert [(layer.in_features, layer.out_features) for layer in last] == [(512, 7)]
        assert sum(c.kernel_size == (3, 3) for c in layers(network, nn.Conv2d)) == 16

    def test_grey_images_are_repeated_to_three_channels(self) -> None:
        network = build_model("torchvision:mobilenet_v3_small", (1, 32, 32), 3).eval()
        grey = torch.rand(2, 1, 32, 32)
        torch.testing.assert_close(network(grey), network[1](grey.repeat(1, 3, 1, 1)))  # type: ignore[index]

    def test_it_trains(self) -> None:
        y = np.arange(12) % 3
        images = np.random.default_rng(0).normal(size=(12, 1, 32, 32)).astype(np.float32)
        settings: dict[str, Any] = {"model": "torchvision:resnet18", "epochs": 1, "batch_size": 6, "device": "cpu"}
        fitted = PRODEN(**settings).fit(images, flip_binomial(y, 3, 0.3, seed=0))
        again = PRODEN(**settings).restore(fitted.fitted_arrays(), (1, 32, 32), fitted.class_names_)
        np.testing.assert_array_equal(again.predict_scores(images), fitted.predict_scores(images))
