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
from pll.methods.base import Task
from pll.methods.proden import PRODEN
from pll.synthesis import flip_binomial
from pll.training.models import MODEL_INFO, MODELS, build_model, count_parameters

CIFAR = (3, 32, 32)
FOR_IMAGES = ("convnet", "resnet")


def layers(network: nn.Module, kind: type) -> list[Any]:
    return [layer for layer in network.modules() if isinstance(layer, kind)]


def shapes(network: nn.Module, kind: type, input_shape: tuple[int, ...] = CIFAR) -> list[tuple[int, ...]]:
    """The shape of one example after each layer of this kind."""
    found: list[tuple[int, ...]] = []
    for layer in layers(network, kind):
        layer.register_forward_hook(lambda _layer, _input, output: found.append(tuple(output.shape[1:])))
    network.eval()(torch.zeros(2, *input_shape))
    return found


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

    def test_shapes_through_the_network(self) -> None:
        network = build_model("convnet", CIFAR, 10)
        assert shapes(network, nn.Conv2d) == [
            *[(128, 32, 32)] * 3, *[(256, 16, 16)] * 3, (512, 6, 6), (256, 4, 4), (128, 2, 2),
        ]  # fmt: skip
        assert shapes(network, nn.MaxPool2d) == [(128, 16, 16), (256, 8, 8)]
        assert shapes(network, nn.AdaptiveAvgPool2d) == [(128, 1, 1)]
        assert shapes(network, nn.Linear) == [(10,)]

    def test_it_has_as_many_numbers_to_learn_as_the_layers_make(self) -> None:
        widths = [3, 128, 128, 128, 256, 256, 256, 512, 256, 128]
        expected = sum(9 * a * b + b + 2 * b for a, b in pairwise(widths)) + 128 * 10 + 10
        assert count_parameters("convnet", CIFAR, 10) == expected == 4_434_570

    def test_dropout_is_off_when_it_is_evaluated(self) -> None:
        torch.manual_seed(0)
        network, x = build_model("convnet", CIFAR, 10), torch.randn(4, *CIFAR)
        assert not torch.equal(network(x), network(x))
        network.eval()
        assert torch.equal(network(x), network(x))

    @pytest.mark.parametrize("side", [4, 5, 8, 16, 27, 28, 29, 40])
    @pytest.mark.parametrize("channels", [1, 3])
    def test_images_of_other_sizes(self, side: int, channels: int) -> None:
        network = build_model("convnet", (channels, side, side + 1), 7)
        assert network(torch.zeros(2, channels, side, side + 1)).shape == (2, 7)
        assert len(layers(network, nn.Conv2d)) == 9


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

    def test_shapes_through_the_network(self) -> None:
        network = build_model("resnet", CIFAR, 10)
        assert shapes(network, nn.Conv2d) == [(16, 32, 32)] * 11 + [(32, 16, 16)] * 10 + [(64, 8, 8)] * 10
        assert shapes(network, nn.AdaptiveAvgPool2d) == [(64, 1, 1)]
        assert shapes(network, nn.Linear) == [(10,)]

    def test_it_has_the_published_number_of_parameters(self) -> None:
        # He et al. 2016, Table 6: ResNet-32, 0.46 M.
        assert round(count_parameters("resnet", CIFAR, 10) / 1e6, 2) == 0.46

    def test_a_block_whose_convolutions_give_nothing_passes_its_input_on(self) -> None:
        network = build_model("resnet", CIFAR, 10).eval()
        halving: Any = next(block for block in network.children() if getattr(block, "added_channels", 0))
        nn.init.zeros_(halving.body[-1].weight)  # the last batch normalisation
        x = torch.rand(2, 16, 6, 6)
        out = halving(x)
        assert out.shape == (2, 32, 3, 3)
        torch.testing.assert_close(out[:, 8:24], x[:, :, ::2, ::2])
        assert not out[:, :8].any() and not out[:, 24:].any()

    @pytest.mark.parametrize("side", [4, 7, 8, 28])
    @pytest.mark.parametrize("channels", [1, 3])
    def test_images_of_other_sizes(self, side: int, channels: int) -> None:
        network = build_model("resnet", (channels, side, side + 1), 7)
        assert network(torch.zeros(2, channels, side, side + 1)).shape == (2, 7)


@pytest.mark.parametrize("name", ["convnet", "resnet"])
class TestBoth:
    def test_tables_are_refused_in_words(self, name: str) -> None:
        with pytest.raises(UserError, match=r"looks at images .* these examples are rows of 64 features. Use 'linear'"):
            PRODEN(model=name).fit(np.zeros((4, 64)), flip_binomial([0, 1, 0, 1], 2, 0.0))

    def test_images_that_are_too_small_are_refused_in_words(self, name: str) -> None:
        with pytest.raises(UserError, match=r"at least 4 × 4 pixels; these have 3 × 8"):
            PRODEN(model=name).fit(np.zeros((4, 1, 3, 8)), flip_binomial([0, 1, 0, 1], 2, 0.0))

    def test_it_learns_from_small_grey_images_and_is_restored(self, name: str) -> None:
        y = np.arange(30) % 3
        images = np.random.default_rng(0).normal(size=(30, 1, 8, 8)).astype(np.float32)
        images[np.arange(30), 0, y * 2] += 3  # a bright row
        settings: dict[str, Any] = {"model": name, "epochs": 12, "batch_size": 10, "lr": 0.01, "device": "cpu"}
        fitted = PRODEN(**settings).fit(images, flip_binomial(y, 3, 0.3, seed=0))
        assert (fitted.predict(images) == y).mean() > 0.6
        again = PRODEN(**settings).restore(fitted.fitted_arrays(), (1, 8, 8), fitted.class_names_)
        np.testing.assert_array_equal(again.predict_scores(images), fitted.predict_scores(images))

    def test_it_can_be_exported_as_a_program(self, name: str) -> None:
        network = build_model(name, (3, 28, 28), 5).eval()
        batch = torch.export.Dim("batch")
        program = torch.export.export(network, (torch.zeros(2, 3, 28, 28),), dynamic_shapes=({0: batch},))
        x = torch.randn(3, 3, 28, 28)
        torch.testing.assert_close(program.module()(x), network(x))

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

    @pytest.mark.parametrize("name", ["googlenet", "inception_v3"])
    def test_those_with_a_second_output_give_one(self, name: str) -> None:
        with torch.device("meta"):
            network = build_model(f"torchvision:{name}", (3, 96, 96), 4)
            assert network.train()(torch.zeros(2, 3, 96, 96)).shape == (2, 4)

    @pytest.mark.parametrize(
        ("model", "shape", "message"),
        [
            ("torchvision:resnet19", CIFAR, r"no classifier called 'resnet19'. Did you mean resnet18"),
            ("torchvision:", CIFAR, r"no classifier called ''"),
            ("torchvision:fcn_resnet50", CIFAR, r"no classifier called 'fcn_resnet50'"),
            ("torchvision:resnet18", (64,), r"looks at images"),
            ("torchvision:resnet18", (4, 32, 32), r"images of 1 or 3 channels; these have 4"),
        ],
    )
    def test_what_it_cannot_do_is_refused_in_words(self, model: str, shape: tuple[int, ...], message: str) -> None:
        with pytest.raises(UserError, match=message):
            build_model(model, shape, 2)

    @pytest.mark.parametrize("name", ["vgg11", "vit_b_16"])
    def test_images_of_a_size_that_it_cannot_take(self, name: str) -> None:
        with pytest.raises(UserError, match=r"does not accept examples of shape \(3, 8, 8\)"):
            PRODEN(model=f"torchvision:{name}").fit(np.zeros((4, 3, 8, 8)), flip_binomial([0, 1, 0, 1], 2, 0.0))


class TestInfo:
    def test_every_model_explains_itself(self) -> None:
        assert list(MODEL_INFO) == list(MODELS)
        for name, info in MODEL_INFO.items():
            assert info.name == name and info.title
            assert 80 < len(info.summary) < 240

    @pytest.mark.parametrize("shape", [(64,), CIFAR])
    def test_the_number_of_parameters_is_that_of_the_network(self, shape: tuple[int, ...]) -> None:
        for name, info in MODEL_INFO.items():
            if not (name in FOR_IMAGES and len(shape) == 1):
                built = sum(p.numel() for p in build_model(name, shape, 10).parameters())
                assert info.parameters(shape, 10) == built

    def test_what_does_not_fit_is_said_before_the_run(self) -> None:
        for name, info in MODEL_INFO.items():
            assert info.obstacle(CIFAR) is None
            assert (info.obstacle((64,)) is not None) == (name in FOR_IMAGES)
            if name in FOR_IMAGES:
                assert f"The model '{name}' looks at images" in str(info.obstacle((64,)))


# ---- real images -------------------------------------------------------------------------------------------------


def cifar_images(folder: Path, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The first training images and their labels, cut from the sprite."""
    sprite, labels = folder / "cifar10" / "data_batch_1.webp", folder / "cifar10" / "labels.npz"
    if not sprite.is_file() or not labels.is_file():
        pytest.skip(f"the CIFAR-10 subset is not here ({sprite})")
    from PIL import Image

    rows = -(-n // 100)
    with Image.open(sprite) as picture:
        pixels = np.asarray(picture.convert("RGB").crop((0, 0, 3200, 32 * rows)))
    tiles = pixels.reshape(rows, 32, 100, 32, 3).transpose(0, 2, 4, 1, 3).reshape(-1, 3, 32, 32)[:n]
    with np.load(labels, allow_pickle=False) as file:
        return tiles.astype(np.float32) / 255, file["train"][:n].astype(np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["convnet", "resnet"])
def test_two_epochs_of_cifar(name: str, shared_data: Path) -> None:
    images, y = cifar_images(shared_data, 40)
    sets = flip_binomial(y, 10, 0.1, seed=0)
    estimator = PRODEN(
        model=name, epochs=2, batch_size=10, lr=1e-2, lr_decay=0.9, augment="crop-flip", device="cpu", seed=0
    )
    records = list(estimator.iter_fit(Task(images, sets, y, images[:20], y[:20])))
    assert [record.epoch for record in records] == [1, 2]
    for record in records:
        assert record.loss is not None and np.isfinite(record.loss)
        weights = np.add.reduceat(record.label_weights, sets.indptr[:-1])
        assert (record.label_weights >= 0).all() and np.allclose(weights, 1, atol=1e-5)
    assert records[1].loss < records[0].loss  # type: ignore[operator]
    assert sets.contains(estimator.identify()).all()
    assert np.isfinite(estimator.predict_proba(images[:20])).all()
