"""Each stream goes its own way, whoever draws in between; a run that pauses and resumes rests on that."""

from __future__ import annotations

import torch

from pll.training.rng import Stream, seeded

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


def test_its_state_is_that_of_now_even_in_the_middle() -> None:
    stream, other = Stream(CPU, 3), Stream(CPU, 4)
    with stream.drawing():
        torch.rand(2)
        state, twin = stream.state(), stream.twin()
        left = [float(torch.rand(())) for _ in range(3)]
    other.load_state(state)
    assert drawn(other, 3) == drawn(twin, 3) == left
