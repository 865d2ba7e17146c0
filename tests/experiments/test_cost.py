from __future__ import annotations

from dataclasses import replace

import pytest

from pll.catalog.sources import Source
from pll.experiments import cost
from pll.experiments.cost import cost_in_words, seconds_of
from pll.experiments.experiment import Cell, preset
from pll.methods.recipe import BUDGET


def cells_of(name: str) -> list[Cell]:
    chosen = preset(name)
    return [cell for one in chosen.datasets for cell in chosen._of_dataset(one, Source(one))]


def test_cifar10_as_in_the_paper_costs_hours_on_a_gpu_and_months_here(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = cells_of("cifar10")
    assert len(cells) == 2 * 2 * 5
    on_gpu, on_core = (seconds_of(cells, gpu=gpu) for gpu in (True, False))
    assert on_gpu is not None and on_core is not None and 3 < on_gpu / 3600 < 30 < on_core / 86400
    monkeypatch.setattr(cost, "gpus", tuple)
    assert "days on this CPU" in cost_in_words(cells, 2)
    monkeypatch.setattr(cost, "gpus", lambda: ("cuda:0",))
    assert cost_in_words(cells, 2).startswith("About") and "hours on one GPU" in cost_in_words(cells, 2)
    half = seconds_of(cells[:10], gpu=True)
    assert half is not None and half < on_gpu  # what is left of an experiment costs less


def test_what_is_short_is_said_of_this_machine_and_what_is_not_known_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cost, "gpus", tuple)
    assert cost_in_words(cells_of("quick"), 1) == "About 10 seconds on this CPU (a rough estimate, from sizes)."
    (cell, *_) = cells_of("cifar10")
    assert seconds_of([replace(cell, source=Source("mine", "/data/mine.csv"))], gpu=False) is None
    assert cost_in_words([], 1) == ""


def test_the_search_of_the_recipe_auto_counts_as_on_the_train_page() -> None:
    cells = cells_of("quick")[:3]
    fixed, searched = (
        seconds_of([replace(one, recipe=recipe) for one in cells], gpu=False) for recipe in ("default", "auto")
    )
    assert fixed is not None and searched is not None
    assert searched == pytest.approx(fixed + 3 * BUDGET)
