from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.experiments import evaluation as ev
from pll.methods.proden import PRODEN
from pll.runs.config import Preparation
from pll.runs.data import prepare
from pll.synthesis import Flip

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.arange(60) % 3)
DATA = PartialLabelDataset((RNG.normal(size=(60, 4)) + 2 * np.eye(4)[Y]).astype(np.float32), y=Y, name="blobs")
FLIP = Flip("binomial", 0.3)


# ---- the t-test ------------------------------------------------------------------------------------------------------

ACCURACIES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=10)


@given(ACCURACIES)
def test_the_paired_t_test_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    assume(np.ptp(a - b) > 1e-6)
    assert ev.paired_t_test(a, b) == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue, rel=1e-9)
    assert ev.paired_t_test(b, a) == pytest.approx(ev.paired_t_test(a, b), rel=1e-9)


# ---- going on, and files ---------------------------------------------------------------------------------------------


def test_the_recipe_paper_finds_the_settings_of_the_data_set() -> None:
    """Lost's learning rate is published; that of unknown data is not."""
    splits = prepare(DATA, Preparation(holdout=0.25, flip=FLIP))
    listed, unlisted = PRODEN(recipe="paper:lost", epochs=2), PRODEN(recipe="paper:mine", epochs=2)
    curve, _ = ev.measured(listed, splits)
    ev.measured(unlisted, splits)
    assert listed.recipe_.settings["lr"] == 0.01 and "lr" not in unlisted.recipe_.settings
    by_hand, _ = ev.measured(PRODEN(lr=0.01, weight_decay=1e-2, batch_size=100, epochs=2, scale="zscore"), splits)
    assert [row["loss"] for row in curve] == [row["loss"] for row in by_hand]


def test_a_fit_that_was_interrupted_goes_on_to_the_same_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ev, "FIT_SAVED_EVERY", 0)
    splits, file = prepare(DATA, Preparation(holdout=0.25, flip=FLIP)), tmp_path / "half.pt"
    file.write_bytes(b"of another program")

    def fitted(progress: Any = None) -> list[dict[str, Any]]:
        curve, _ = ev.measured(PRODEN(model="mlp", epochs=5, batch_size=20), splits, progress, half_done=file)
        return [row | {"seconds": 0, "examples_per_second": 0} for row in curve]

    def killed(epoch: int, of: int) -> None:
        if epoch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(killed)
    epochs: list[int] = []
    resumed = fitted(lambda epoch, of: epochs.append(epoch))
    assert epochs == [4, 5] and len(resumed) == 5
    file.unlink()
    assert resumed == fitted()


def test_results_are_read_back(tmp_path: Path) -> None:
    result = ev.Result("d", "ipal", "", 0, 1, 0.5, 0.25, 1.5, "binomial", 0.3, "auto", '{"k": 3}')
    results = [result, replace(result, test_accuracy=None, q=None, flip="", settings="")]
    ev.results_frame(results).to_csv(tmp_path / "results.csv", index=False)
    assert ev.read_results(tmp_path / "results.csv") == results


@pytest.mark.parametrize(
    ("content", "words"), [("", "not a results.csv"), ("a,b\n1,2\n", "no column 'dataset'"), (None, "not a results")]
)
def test_what_is_no_results_csv_is_refused(tmp_path: Path, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / "r.csv").write_text(content)
    with pytest.raises(UserError, match=words):
        ev.read_results(tmp_path / "r.csv")
