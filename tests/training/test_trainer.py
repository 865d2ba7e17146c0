from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.synthesis import flip_binomial
from pll.training import trainer as trainer_module
from pll.training.losses import get_loss
from pll.training.metrics import Monitor, StopTraining
from pll.training.trainer import Optimisation, Trainer, WeightedLoss, evaluating, train

N, D, C = 23, 4, 5
Y = np.arange(N) % C
X = torch.from_numpy((np.random.default_rng(0).normal(size=(N, D)) + np.eye(C)[Y][:, :D]).astype(np.float32))
SETS = flip_binomial(Y, C, 0.4, seed=0)


class Seamless(WeightedLoss):
    """PRODEN's objective, told again: the training weights are the label weights."""

    def start(self, trainer: Trainer) -> None:
        self.weights = trainer.label_weights

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        pass


def linear() -> nn.Module:
    return nn.Linear(D, C)


def with_dropout() -> nn.Module:
    return nn.Sequential(nn.Linear(D, 8), nn.Dropout(0.5), nn.Linear(8, C))


def with_batch_norm() -> nn.Module:
    return nn.Sequential(nn.Linear(D, 8), nn.BatchNorm1d(8), nn.Linear(8, C))


def new_trainer(make: Callable[[], nn.Module] = linear, *, n: int = N, seed: int = 0, **settings: Any) -> Trainer:
    torch.manual_seed(1)
    optimisation = Optimisation(**{"batch_size": 5, "lr": 0.1} | settings)
    return Trainer(make(), X[:n], SETS.take(slice(n)), Seamless(get_loss("ce")), optimisation, seed)


def run(trainer: Trainer, epochs: int, **options: Any) -> list[Any]:
    return list(train(trainer, epochs, Monitor(trainer_sets(trainer), Y[: len(trainer.X)]), **options))


def trainer_sets(trainer: Trainer) -> CandidateSets:
    return SETS.take(slice(len(trainer.X)))


def parameters(trainer: Trainer) -> list[Tensor]:
    return [value.detach().clone() for value in trainer.network.state_dict().values()]


def same(a: list[Tensor], b: list[Tensor]) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def epoch_batches(trainer: Trainer) -> list[list[int]]:
    batches = [rows.tolist() for rows in trainer.batches_left()]
    trainer.end_epoch()
    return batches


class TestOrder:
    def test_an_epoch_uses_every_example_once(self) -> None:
        trainer = new_trainer()
        for _ in range(3):
            batches = epoch_batches(trainer)
            assert sorted(chain.from_iterable(batches)) == list(range(N))
            assert [len(rows) for rows in batches] == [5, 5, 5, 5, 3]

    def test_it_depends_on_seed_and_epoch_alone(self) -> None:
        first, second = new_trainer(seed=4), new_trainer(seed=4)
        torch.manual_seed(99)
        for make in (with_dropout, linear):  # another network, another past, another state of torch: the same order
            second = new_trainer(make, seed=4, lr=7.0)
            second.epoch = first.epoch
            torch.rand(3)
            assert epoch_batches(second) == epoch_batches(first)
        assert epoch_batches(new_trainer(seed=4)) != epoch_batches(new_trainer(seed=5))
        assert epoch_batches(new_trainer(seed=4)) != epoch_batches(first)  # its second epoch

    @pytest.mark.parametrize(
        ("make", "n", "sizes"),
        [
            (linear, 11, [5, 5, 1]),
            (with_batch_norm, 11, [5, 6]),
            (with_batch_norm, 6, [6]),
            (with_batch_norm, 12, [5, 5, 2]),
            (with_batch_norm, 10, [5, 5]),
        ],
    )
    def test_a_last_batch_of_one_joins_the_one_before_where_there_is_batch_norm(
        self, make: Callable[[], nn.Module], n: int, sizes: list[int]
    ) -> None:
        assert [len(rows) for rows in epoch_batches(new_trainer(make, n=n))] == sizes
        assert len(run(new_trainer(make, n=n), 2)) == 2


class TestStep:
    def test_one_forward_pass_gives_both_loss_and_weights(self) -> None:
        trainer = new_trainer()
        calls: list[int] = []
        trainer.network.register_forward_hook(lambda *_: calls.append(1))
        trainer.step(torch.arange(5))
        assert len(calls) == 1

    def test_new_weights_are_of_the_parameters_before_they_move(self) -> None:
        trainer = new_trainer(lr=10.0)
        before = trainer.evaluated_label_weights()
        trainer.step(torch.arange(N))
        np.testing.assert_allclose(trainer.current_label_weights(), before, atol=1e-6)
        assert np.abs(trainer.evaluated_label_weights() - before).max() > 0.1

    def test_the_loss_is_under_the_weights_as_they_were(self) -> None:
        trainer = new_trainer()
        logits = trainer.network(X).detach()
        losses = -torch.log_softmax(logits, 1).numpy()[SETS.rows, SETS.indices]
        expected = (losses * SETS.uniform_weights()).sum() / N
        assert float(trainer.step(torch.arange(N)).loss) == pytest.approx(expected, rel=1e-5)


class TestRecords:
    def test_one_an_epoch_with_the_training_weights_and_the_last_one_evaluated(self) -> None:
        trainer = new_trainer()
        epochs = []
        for record in train(trainer, 3, Monitor(SETS, Y)):
            current, evaluated = trainer.current_label_weights(), trainer.evaluated_label_weights()
            np.testing.assert_array_equal(record.label_weights, evaluated if record.epoch == 3 else current)
            assert not np.array_equal(current, evaluated)
            epochs.append(record.epoch)
        assert epochs == [1, 2, 3]

    def test_every_example_s_weights_are_updated_every_epoch(self) -> None:
        trainer = new_trainer(batch_size=4)
        next(train(trainer, 2, Monitor(SETS)))
        changed = trainer.current_label_weights() != SETS.uniform_weights()
        assert (np.bincount(SETS.rows, weights=changed) > 0).all()

    def test_test_accuracy_is_of_the_model_in_evaluation_mode(self) -> None:
        trainer = new_trainer(with_dropout)
        (record,) = train(trainer, 1, Monitor(SETS, None, Y), X_test=X)
        with evaluating(trainer.network):
            expected = (trainer.network(X).argmax(1).numpy() == Y).mean()
        assert record.test_accuracy == pytest.approx(expected)

    def test_training_that_diverges_says_so(self) -> None:
        for lr in (1e18, 1e30, 1e38):
            for epochs in (1, 2, 5):
                try:
                    weights = run(new_trainer(lr=lr), epochs)[-1].label_weights
                except UserError as error:
                    assert "diverged in epoch" in str(error) and "smaller learning rate" in str(error)
                else:
                    assert np.isfinite(weights).all()
        with pytest.raises(UserError, match="diverged"):
            run(new_trainer(lr=1e30), 5)


def stop_after(trainer: Trainer, batches: int, epochs: int = 1) -> None:
    """Train until the hook before the next batch refuses."""
    left = batches

    def hook() -> None:
        nonlocal left
        if left == 0:
            raise StopTraining
        left -= 1

    with pytest.raises(StopTraining):
        run(trainer, epochs, hook=hook)


class TestHook:
    def test_stopping_keeps_everything_and_going_on_gives_the_same_result(self) -> None:
        for batches in range(8):
            straight, stopped = new_trainer(with_dropout), new_trainer(with_dropout)
            run(straight, 2)
            stop_after(stopped, batches, epochs=2)
            assert (stopped.epoch, stopped.cursor) == (batches // 5, batches % 5 * 5)
            run(stopped, 2)
            assert same(parameters(stopped), parameters(straight))
            np.testing.assert_array_equal(stopped.current_label_weights(), straight.current_label_weights())


class TestState:
    @pytest.mark.parametrize("make", [linear, with_dropout, with_batch_norm])
    @pytest.mark.parametrize("batches", [0, 1, 4, 5, 7])
    def test_a_new_trainer_goes_on_from_it_bit_for_bit(self, make: Callable[[], nn.Module], batches: int) -> None:
        straight, first, second = new_trainer(make), new_trainer(make), new_trainer(make)
        losses = [record.loss for record in run(straight, 3)]
        stop_after(first, batches, epochs=3)
        second.load_state(copy.deepcopy(first.state()))
        resumed = [record.loss for record in run(second, 3)]
        assert resumed == losses[-len(resumed) :]
        assert same(parameters(second), parameters(straight))
        np.testing.assert_array_equal(second.evaluated_label_weights(), straight.evaluated_label_weights())


class TestRandomness:
    def test_the_caller_s_stream_does_not_notice(self) -> None:
        torch.manual_seed(5)
        expected = torch.rand(4)
        trainer = new_trainer(with_dropout)
        torch.manual_seed(5)
        first = torch.rand(2)
        run(trainer, 2)
        assert torch.equal(torch.cat([first, torch.rand(2)]), expected)

    def test_the_caller_s_stream_does_not_matter(self) -> None:
        one, other = new_trainer(with_dropout), new_trainer(with_dropout)
        run(one, 2)
        for _ in train(other, 2, Monitor(SETS)):
            torch.manual_seed(123)
            torch.rand(7)
        assert same(parameters(one), parameters(other))

    def test_two_lanes_taking_turns_do_not_disturb_each_other(self) -> None:
        alone = new_trainer(with_dropout, seed=1)
        expected = [record.loss for record in run(alone, 3)]
        lanes = [train(new_trainer(with_dropout, seed=seed), 3, Monitor(SETS)) for seed in (1, 2)]
        together = [record.loss for record, _ in zip(*lanes, strict=True)]
        assert together == expected

    def test_two_threads_at_once_do_not_disturb_each_other(self) -> None:
        expected = [[record.loss for record in run(new_trainer(with_dropout, seed=seed), 20)] for seed in (1, 2)]
        lanes = [new_trainer(with_dropout, seed=seed) for seed in (1, 2)]
        with ThreadPoolExecutor(2) as pool:
            together = list(pool.map(lambda lane: [record.loss for record in run(lane, 20)], lanes))
        assert together == expected


def test_evaluation_in_pieces_is_evaluation_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = new_trainer(with_batch_norm)
    run(trainer, 1)
    weights, predicted = trainer.evaluated_label_weights(), trainer.predict(X)
    monkeypatch.setattr(trainer_module, "evaluation_batch", lambda shape, outputs: 4)
    np.testing.assert_allclose(trainer.evaluated_label_weights(), weights, atol=1e-6)
    assert trainer.predict(X).tolist() == predicted.tolist()
    assert trainer.predict(X[:0]).tolist() == []


class TestOutOfMemory:
    """The memory of a device that takes so many examples in a pass."""

    def limited(self, trainer: Trainer, most: int, *, training: bool = True) -> list[int]:
        sizes: list[int] = []

        def look(network: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            sizes.append(len(inputs[0]))
            if network.training is training and len(inputs[0]) > most:
                raise torch.OutOfMemoryError("CUDA out of memory.")

        trainer.network.register_forward_pre_hook(look)
        return sizes

    @pytest.mark.parametrize(("most", "parts"), [(5, 2), (3, 4)])
    def test_the_mini_batch_is_computed_in_parts_and_the_result_is_the_same(
        self, most: int, parts: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole, limited = new_trainer(batch_size=10), new_trainer(batch_size=10)
        sizes = self.limited(limited, most)
        monkeypatch.setattr(trainer_module, "evaluation_batch", lambda shape, outputs: 3)
        expected, records = run(whole, 2), run(limited, 2)
        assert limited.parts == parts and limited.notes and not whole.notes
        assert sum(size > most for size in sizes) == {2: 1, 4: 2}[parts]  # later steps begin with parts
        for one, other in zip(records, expected, strict=True):
            np.testing.assert_allclose(one.label_weights, other.label_weights, atol=1e-5)
            assert one.loss == pytest.approx(other.loss, abs=1e-5)
        step = limited.step(torch.arange(10))
        assert step.logits.shape == (10, C) and step.label_weights.shape == (10, C)

    def test_what_does_not_fit_in_parts_is_an_error(self) -> None:
        trainer = new_trainer(batch_size=20)
        self.limited(trainer, 1)
        with pytest.raises(torch.OutOfMemoryError):
            run(trainer, 1)

    def test_other_errors_are_not_tried_again(self) -> None:
        trainer, calls = new_trainer(), []

        def fail(*_: object) -> None:
            calls.append(1)
            raise RuntimeError("shapes differ")

        trainer.network.register_forward_pre_hook(fail)
        with pytest.raises(RuntimeError, match="shapes"):
            run(trainer, 1)
        assert len(calls) == 1

    def test_an_evaluation_goes_on_in_smaller_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trainer_module, "evaluation_batch", lambda shape, outputs: 16)
        whole, limited = new_trainer(), new_trainer()
        self.limited(limited, 8, training=False)
        np.testing.assert_allclose(limited.evaluated_label_weights(), whole.evaluated_label_weights(), atol=1e-6)
        assert limited.predict(X).tolist() == whole.predict(X).tolist()
        assert limited.parts == 2
