"""The last step of a run: how sure its labels are, found out, cut short, skipped, and resumed after a crash."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pll import formats
from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.methods.held_out import PRIOR_NOTE
from pll.methods.persistence import read_card
from pll.runs import run_data
from pll.runs.config import RunConfig
from pll.runs.files import HELD_OUT_SO_FAR
from pll.runs.fit_loop import PROGRESS_STEPS, FitLoop
from pll.runs.folder import RunFolder
from pll.runs.registry import RunRegistry
from pll.runs.snapshots import HOW_SURE
from pll.weights import Weights
from tests.run_helpers import config, result_of, wait_for, write_data

pytestmark = pytest.mark.usefixtures("all_held_out_models")
SLOW = {"model": "mlp", "epochs": 2}
"""Models that are trained one after another."""


def made(path: Path, data: Path, **options: Any) -> RunFolder:
    folder = RunFolder(path)
    folder.create(config(data, **options))
    return folder


def trained(folder: RunFolder, when_asked: Callable[[FitLoop, float], None] = lambda loop, share: None) -> FitLoop:
    """The run, trained; `when_asked` is called with the share of the last step that is done."""
    loop = FitLoop(
        folder, on_step=lambda what, done, _: when_asked(loop, done / PROGRESS_STEPS) if what == HOW_SURE else None
    )
    loop.train()
    return loop


def numbers(folder: RunFolder) -> pd.DataFrame:
    """Confidence, margin and entropy in labels.csv; missing where they are not known."""
    table = pd.read_csv(folder.path / "labels.csv")
    return table.loc[table["source"] == "model", ["confidence", "margin", "entropy"]]


def held_out_of(folder: RunFolder) -> Weights | None:
    return folder.held_out(run_data.load_splits(folder.config()).train.sets())


def test_killed_in_the_middle_and_resumed_to_the_same_numbers(data: Path, tmp_path: Path) -> None:
    straight, killed = (made(tmp_path / name, data, params=SLOW) for name in ("straight", "killed"))
    trained(straight)

    def crash(loop: FitLoop, share: float) -> None:
        if share >= 0.35:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(killed, crash)
    assert killed.state()["state"] == "interrupted"
    so_far = killed.arrays(HELD_OUT_SO_FAR)
    assert so_far is not None and int(so_far["epoch"]) == SLOW["epochs"] and 0 < int(so_far["done"]) < 10
    seen: list[float] = []
    trained(killed, lambda loop, share: seen.append(share))
    assert min(seen) > 0.3  # the models that were complete are not trained again
    assert result_of(killed) == result_of(straight)
    assert numbers(killed).notna().all().all()


def test_skipped_nothing_is_known_and_no_label_weight_takes_its_place(data: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "run", data, params=SLOW)
    trained(folder, lambda loop, share: loop.skip())
    state = folder.state()
    assert state["state"] == "finished" and held_out_of(folder) is None
    assert numbers(folder).isna().all().all()
    assert state["metrics"]["expected_accuracy"] is None and state["health"].expected is None


def test_cut_short_it_ends_with_what_there_is(data: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "run", data, params=SLOW)
    trained(folder, lambda loop, share: loop.cut_short() if share >= 0.45 else None)
    weights = held_out_of(folder)
    assert folder.state()["state"] == "finished" and weights is not None
    assert not np.isnan(weights).any()  # two models of disjoint halves have seen everything


def test_nothing_is_known_for_rows_that_no_model_has_judged(data: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "run", data, params=SLOW)
    trained(folder, lambda loop, share: loop.cut_short() if share > 0.12 else None)
    known = numbers(folder).notna()
    assert known["confidence"].sum() == len(known) / 2 and (known["confidence"] == known["entropy"]).all()


def test_skip_is_heard_in_that_step_alone(data: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "run", data)
    loop = FitLoop(folder)
    loop.advance()
    loop.skip()
    loop.cut_short()
    while not loop.is_over:
        loop.advance()
    assert held_out_of(folder) is not None


def test_a_stop_by_itself_finds_it_out_and_more_epochs_find_it_out_anew(data: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "run", data)
    loop = FitLoop(folder)
    loop.advance()
    loop.stop("Stopped by itself: no label has changed for 5 epochs.")
    before = held_out_of(folder)
    assert folder.state()["state"] == "stopped"
    loop = FitLoop(folder)
    loop.advance()
    assert not (folder.path / "held_out.npz").exists()
    loop.train()
    after = held_out_of(folder)
    assert before is not None and after is not None


def test_lanes_of_a_comparison_do_without(data: Path, tmp_path: Path) -> None:
    registry = RunRegistry(tmp_path / "runs")
    run = registry.start(config(data), config(data, method="proden-naive"))
    run.join(60)
    assert all(not (lane.folder.path / "held_out.npz").exists() for lane in run.lanes)
    assert all(numbers(lane.folder).isna().all().all() for lane in run.lanes)


def test_stop_and_skip_at_the_page(data: Path, tmp_path: Path) -> None:
    registry = RunRegistry(tmp_path / "runs")
    for press in ("skip", "stop"):
        run = registry.start(config(data, params={"model": "mlp", "epochs": 40}))
        wait_for(lambda: (step := run.snapshot().step) is not None and step.what == HOW_SURE, "the last step")  # noqa: B023
        run.pause()
        run.wait_until_paused(5)
        getattr(run, press)()
        run.join(60)
        assert run.snapshot().state == "finished", press
        if press == "skip":
            assert held_out_of(run.folder) is None


def test_what_was_skipped_is_found_out_later_as_if_it_had_not_been(data: Path, tmp_path: Path) -> None:
    registry = RunRegistry(tmp_path / "runs")
    straight = registry.start(config(data))
    straight.join(60)
    folder = made(tmp_path / "runs" / "skipped", data)
    trained(folder, lambda loop, share: loop.skip())
    run = registry.get("skipped")
    run.find_out()
    run.join(60)
    assert result_of(folder) == result_of(straight.folder)


def test_votes_say_how_sure_labels_are_and_halves_how_sure_predictions_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    y = np.load(write_data(tmp_path / "plain.npz"))["y"]
    votes = np.where(rng.random((len(y), 3)) < 0.7, y[:, None], rng.integers(0, 4, (len(y), 3)))
    file = write_data(tmp_path / "votes.npz", votes=votes, voters=np.array(["a", "b", "c"]))
    folder = made(tmp_path / "run", file, flip=None, holdout=None)
    trained(folder)
    assert numbers(folder).notna().all().all()
    assert read_card(folder.path).temperatures
    assert not (folder.path / "checkpoint" / "held_out.npz").exists()  # a posterior of votes takes no models


def test_one_model_is_no_more_checked_than_one_voter(tmp_path: Path) -> None:
    sets = CandidateSets.from_lists([[0, 1]] * 40 + [[1]] * 20, n_classes=2)
    prior = np.where(sets.sizes[sets.rows] == 1, 1, np.where(sets.indices == 0, 0.95, 0.05))
    data = PartialLabelDataset(X=np.zeros((60, 0), dtype=np.float32), candidates=sets, prior=prior)
    formats.write(data, tmp_path / "model.npz")
    folder = RunFolder(tmp_path / "run")
    folder.create(RunConfig(source=Source("model", str(tmp_path / "model.npz")), method="majority"))
    trained(folder)
    table = pd.read_csv(folder.path / "labels.csv")
    health = folder.state()["health"]
    assert table["confidence"].notna().tolist() == (sets.sizes == 1).tolist()
    assert health.verdict == "unchecked" and health.expected is None and PRIOR_NOTE in health.doubts
