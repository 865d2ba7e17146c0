"""Each stream goes its own way, whoever draws in between; a run that pauses and resumes rests on that."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn
from torch.nn import functional

from pll.training.rng import Draws, Stream, seeded

CPU = torch.device("cpu")


def drawn(stream: Stream, count: int) -> list[float]:
    with stream.drawing():
        return [float(torch.rand(())) for _ in range(count)]


def test_a_stream_goes_on_where_it_was_left_and_leaves_the_caller_s_alone() -> None:
    with seeded(3):
        expected = torch.rand(4).tolist()
        before = torch.get_rng_state()
        stream = Stream(CPU, 3)
        result = drawn(stream, 2)
        assert torch.equal(torch.get_rng_state(), before)
        torch.rand(5)
        assert result + drawn(stream, 2) == expected


@pytest.mark.parametrize("draws", ["layers", "anything"])
def test_its_state_is_that_of_now_even_in_the_middle(draws: Draws) -> None:
    def ones_dropped(count: int) -> list[float]:
        return functional.dropout(torch.ones(count)).tolist()

    stream, other = Stream(CPU, 3, draws=draws), Stream(CPU, 4, draws=draws)
    with stream.drawing():
        ones_dropped(20)
        state, twin = stream.state(), stream.twin()
        left = ones_dropped(20)
    other.load_state(state)
    for one in (other, twin):
        with one.drawing():
            assert ones_dropped(20) == left


def test_the_state_of_another_kind_of_device_gives_other_numbers_but_always_the_same() -> None:
    of_a_gpu = [torch.tensor([seed, *[0] * 15], dtype=torch.uint8) for seed in (1, 2)]
    numbers = []
    for state in (of_a_gpu[0], of_a_gpu[0], of_a_gpu[1]):
        stream = Stream(CPU, 3)
        stream.load_state(state)
        numbers.append(drawn(stream, 3))
    assert numbers[0] == numbers[1] != numbers[2]


LAYERS = [
    (nn.Dropout(0.3), (5, 4)),
    (nn.Dropout(0.3), (5, 3, 4, 4)),
    (nn.Dropout(0.3, inplace=True), (5, 4)),
    (nn.Dropout(1.0), (5, 4)),
    (nn.Dropout(0.0), (5, 4)),
    (nn.Dropout1d(0.3), (5, 3, 4)),
    (nn.Dropout1d(0.3), (3, 4)),
    (nn.Dropout2d(0.3), (5, 3, 4, 4)),
    (nn.Dropout3d(0.3), (5, 3, 2, 4, 4)),
    (nn.Dropout3d(0.3), (3, 2, 4, 4)),
]


@pytest.mark.parametrize(("layer", "shape"), LAYERS, ids=lambda part: str(part))
def test_dropout_by_its_own_generator_is_torch_s_to_the_last_bit(layer: nn.Module, shape: tuple[int, ...]) -> None:
    inputs = torch.randn(shape, generator=torch.Generator().manual_seed(1)).requires_grad_()
    results = []
    for draws in ("layers", "anything"):
        before, stream = torch.get_rng_state(), Stream(CPU, 7, draws=draws)
        with stream.drawing():
            twice = layer(inputs * 1) + layer.train()(inputs * 2)
        (gradient,) = torch.autograd.grad(twice.square().sum(), inputs)
        results.append((twice, gradient, stream.state()))
        assert torch.equal(torch.get_rng_state(), before)
        with stream.drawing():
            assert torch.equal(layer.eval()(inputs), inputs)
        layer.train()
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


def test_two_threads_that_draw_by_layers_do_not_wait_for_each_other() -> None:
    """One is inside while the other draws: with the global stream this would never end."""
    inside, done = threading.Event(), threading.Event()

    def wait_inside() -> None:
        with Stream(CPU, 1, draws="layers").drawing():
            inside.set()
            done.wait(10)

    thread = threading.Thread(target=wait_inside)
    thread.start()
    assert inside.wait(10)
    with Stream(CPU, 2, draws="layers").drawing():
        functional.dropout(torch.ones(3))
    done.set()
    thread.join(10)
    assert not thread.is_alive()
