"""Labels that are doubted: from a setting that is written down to candidate sets, in Python and in the shell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pll import formats
from pll.cli.main import main
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.runs.config import Preparation
from pll.runs.data import Making, prepare
from pll.runs.folder import RunFolder
from pll.synthesis.label_noise import Noisy

NAMES = ("ant", "bee", "cat")
TOP = Noisy("topk", 1)


def labelled(n: int = 60, **more: object) -> PartialLabelDataset:
    """Three groups that lie apart, every tenth label wrong."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) + np.array([[0, 5], [5, 0], [-5, -5]])[truth]
    y = np.where(np.arange(n) % 10 == 0, (truth + 1) % 3, truth)
    facts = {"y": y, "class_names": NAMES, "kind": "table"} | more
    return PartialLabelDataset(X.astype(np.float32), **facts)  # type: ignore[arg-type]


# ---- the setting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Noisy("guess"), "use one of topk, confusion"),
        (lambda: Noisy.parse("topk:1.5"), "k is 1.5; it must be a whole number"),
        (lambda: Noisy.parse("topk:x"), "'x' is not a number; write for example topk:2"),
        (lambda: Noisy.parse("confusion:0"), "must lie between 0 and 1"),
        (lambda: Noisy("topk", 1, ((1,),)), "leave the confusion matrix out"),
        (lambda: Noisy("confusion", 0.1, rows="both"), "'true' or 'given'"),
        (lambda: Noisy("confusion", 0.1, ((1, 2), (3,))), "rows of equal length"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError) as caught:
        make()
    assert message in str(caught.value)


# ---- the sets --------------------------------------------------------------------------------------------------------


def test_labels_that_are_doubted_are_no_truth_any_more() -> None:
    data = labelled()
    made = Making(Preparation(noisy=TOP)).with_sets(data)
    assert made.y is None and made.sets().contains(data.y).all() and made.sets().sizes.max() == 2
    assert data.y is not None and made.extras["given_label"].tolist() == [NAMES[label] for label in data.y]


def test_the_training_part_alone_gets_noisy_sets() -> None:
    calls: list[tuple[str, int, int | None]] = []
    splits = prepare(labelled(), Preparation(noisy=TOP, holdout=0.2, seed=5), progress=lambda *call: calls.append(call))
    assert len(splits.train) == 48 and splits.train.y is None
    assert splits.test is not None and splits.test.y is not None
    assert any("may be wrong too" in note for note in splits.train.notes)
    part = labelled().take(np.isin(labelled().row_ids, splits.train.row_ids))
    alone = Making(Preparation(noisy=TOP, seed=5)).with_sets(part)
    assert alone.sets() == splits.train.sets()
    assert ("parts of the data judged", 5, 5) in calls


# ---- the shell -------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    formats.write(labelled(), path)
    return path


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(argument) for argument in arguments]) == 2
    output = capsys.readouterr()
    assert output.out == "" and "Traceback" not in output.err
    return output.err


def test_a_run_makes_noisy_sets_resumes_and_stores_the_settings(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = tmp_path / "counts.csv"
    counts.write_text("ant,bee,cat\n18,2,0\n0,18,2\n2,0,18\n")
    small = ("--epochs", "3", "--threads", "1", "--out", tmp_path / "run")
    how = ("--noisy", "confusion:0.05", "--confusion", counts)
    assert main([str(word) for word in ("fit", file, *how, *small)]) == 0
    counts.unlink()  # the run does not depend on it
    folder = RunFolder(tmp_path / "run")
    noisy = folder.config().noisy
    assert noisy is not None and noisy.confusion == ((18, 2, 0), (0, 18, 2), (2, 0, 18))
    sets = noisy.sets(labelled().X, labelled().y, NAMES)
    assert json.loads((tmp_path / "run" / "config.json").read_text())["data"]["mean_candidates"] == sets.nnz / 60
    capsys.readouterr()
    counts.write_text("ant,bee,cat\n18,2,0\n0,18,2\n2,0,18\n")
    assert main([str(word) for word in ("fit", file, *how, *small, "--resume")]) == 0
    assert json.loads(capsys.readouterr().out)["transductive_accuracy"] is None
    output = refused(capsys, "fit", file, "--noisy", "topk:1", *small, "--resume")
    assert "--noisy confusion:0.05" in output and "now it is with --noisy topk:1" in output


def test_sets_are_written_with_how_ambiguous_they_are(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "made.npz"
    assert main(["synthesize", str(file), "--noisy", "topk:1", "--out", str(out)]) == 0
    assert "candidates on average\n" in capsys.readouterr().out, "γ needs a truth"
    assert formats.read(out).sets() == TOP.sets(labelled().X, labelled().y, NAMES)
    assert main(["synthesize", str(file), "--flip", "pair", "--q", "1", "--out", str(out)]) == 0
    assert "2.00 candidates on average, γ = 1.000" in capsys.readouterr().out
