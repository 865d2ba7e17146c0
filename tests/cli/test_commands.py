from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io
from scipy.special import softmax

from pll import formats
from pll.cli.main import cli, main
from pll.methods import METHODS, recipe
from pll.methods.persistence import load_model
from pll.runs.files import HELD_OUT_SO_FAR
from pll.runs.folder import RunFolder
from pll.runs.run_data import load_splits
from pll.training.metrics import FINAL_METRICS, METRICS
from tests.run_helpers import N, result_of, wait_for, write_data

ROOT = Path(__file__).parents[2]
SMALL = ("--epochs", "3", "--batch-size", "16", "--threads", "1")
FLIP = ("--flip", "binomial", "--q", "0.4")

Run = Callable[..., "Said"]


class Said:
    """What a command answered."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> dict[str, object]:
        return json.loads(self.out.splitlines()[-1])

    def refuses(self, *words: str) -> None:
        """Exit status 2, one message on stderr that holds these words, nothing on stdout."""
        assert (self.status, self.out) == (2, "")
        assert "Traceback" not in self.err
        message = self.err.strip().splitlines()[-1]
        for word in words:
            assert word in message


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> Said:
        status = main([str(argument) for argument in arguments])
        return Said(status, *capsys.readouterr())

    return call


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data") / "small.npz")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two columns, of which `width` alone tells the classes apart."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    frame = pd.DataFrame(
        {
            "id": [f"n{i}" for i in range(40)],
            "width": 3.0 * y + rng.normal(size=40),
            "height": rng.normal(size=40),
            "candidates": ["cat|dog" if i % 3 else ["cat", "dog"][i % 2] for i in range(40)],
            "true_label": [["cat", "dog"][label] for label in y],
        }
    )
    file = tmp_path_factory.mktemp("data") / "animals.csv"
    frame.to_csv(file, index=False)
    return file


@pytest.fixture(scope="module")
def finished(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    assert main(["fit", str(table), "--epochs", "20", "--threads", "1", "--out", str(out)]) == 0
    return out


# ---- malformed input -------------------------------------------------------------------------------------------------


def npz(path: Path, **arrays: object) -> Path:
    return write_data(path / "bad.npz", **arrays)


def mat(path: Path, cut: int | None) -> Path:
    scipy.io.savemat(
        path / "bad.mat", {"data": np.eye(30), "partial_target": np.ones((3, 30)), "target": np.eye(3, 30)}
    )
    content = (path / "bad.mat").read_bytes()
    (path / "bad.mat").write_bytes(content[:cut])
    return path / "bad.mat"


def text(path: Path, content: str) -> Path:
    (path / "bad.csv").write_text(content)
    return path / "bad.csv"


MASK = np.ones((N, 4), dtype=bool)
EMPTY_SET = MASK & (np.arange(N) != 7)[:, None]
MALFORMED: dict[str, tuple[Callable[[Path], Path], tuple[str, ...]]] = {
    "empty file": (lambda path: text(path, ""), ("bad.csv", "empty")),
    "empty set": (lambda path: npz(path, candidates=EMPTY_SET), ("bad.npz", "Row 7", "empty candidate set")),
    "empty cell": (lambda path: text(path, "x,candidates\n1,a\n2,\n"), ("bad.csv", "Row 3", "candidates")),
    "unknown label": (lambda path: npz(path, y=np.full(N, 9)), ("bad.npz", "Row 0", "label 9")),
    "ragged rows": (lambda path: text(path, "x,y,candidates\n1,2,a\n1,b\n"), ("bad.csv", "3")),
    "NaN": (lambda path: npz(path, X=np.full((N, 2), np.nan)), ("bad.npz", "Row 0", "NaN")),
    "words for numbers": (lambda path: npz(path, X=np.full((N, 2), "a")), ("bad.npz", "X", "text")),
    "objects": (lambda path: npz(path, X=np.full((N, 2), None)), ("bad.npz", "X", "Python objects")),
    "truncated mat": (lambda path: mat(path, 700), ("bad.mat",)),
    "cut in the header": (lambda path: mat(path, 60), ("bad.mat",)),
    "no example": (lambda path: text(path, "x,candidates\n"), ("bad.csv", "row")),
    "one example": (lambda path: text(path, "x,candidates\n1,a|b\n"), ("1 example", "at least 2")),
    "one class": (lambda path: text(path, "x,candidates\n1,a\n2,a\n"), ("one class (a)", "two classes")),
    "a folder": (lambda path: path, ("folder",)),
    "nothing": (lambda path: path / "missing.csv", ("missing.csv",)),
}


@pytest.mark.parametrize("command", ["fit", "evaluate", "synthesize", "predict"])
@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_input_is_refused_in_words(run: Run, case: str, command: str, tmp_path: Path, finished: Path) -> None:
    make, words = MALFORMED[case]
    bad = make(tmp_path)
    candidates = () if case in ("empty set", "empty cell", "one example", "one class", "no example") else FLIP
    arguments: dict[str, tuple[object, ...]] = {
        "fit": ("fit", bad, *candidates, *SMALL, "--out", tmp_path / "run"),
        "evaluate": ("evaluate", bad, *candidates, "--holdout", "0.2", "--out", tmp_path / "out.csv"),
        "synthesize": ("synthesize", bad, *FLIP, "--out", tmp_path / "out.npz"),
        "predict": ("predict", finished, bad, "--out", tmp_path / "out.csv"),
    }
    result = run(*arguments[command])
    if case in ("one example", "one class") and command != "fit":
        assert (
            result.status == 2
        )  # each has its own reason: a part that is left empty, truth or columns that are missing
        assert "Traceback" not in result.err
    else:
        result.refuses(*words)
    assert not list(tmp_path.glob("out.*"))


@pytest.mark.parametrize("option", [("--accept", "copies"), ("--keep-answer", "NA"), ("--no-merge",)])
def test_what_is_said_of_files_is_not_said_of_the_catalogue(run: Run, option: tuple[str, ...], tmp_path: Path) -> None:
    run("fit", "iris", *FLIP, *option, "--out", tmp_path / "run").refuses(option[0], "is for files")
    run("evaluate", "iris", *FLIP, *option, "--folds", 2).refuses(option[0], "is for files")


def test_what_is_said_of_labels_of_a_run_is_not_said_of_data(run: Run, table: Path, tmp_path: Path) -> None:
    for option in ("--by-example", "--uncertain-first"):
        run("convert", table, "--to", "parquet", option, "--out", tmp_path / "a.parquet").refuses(option, "of a run")


@pytest.mark.parametrize("word", ["digitz", "unknown"])
def test_a_name_that_nothing_has_is_said(run: Run, word: str, tmp_path: Path) -> None:
    run("fit", word, "--out", tmp_path / "run").refuses(word, "catalogue")
    assert not (tmp_path / "run").exists()


def test_a_pipe_is_not_read(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    run("read", tmp_path / "pipe").refuses("pipe", "save its content to a file")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--q", "1.5", "--flip", "pair"), ("q is 1.5",)),
        (("--q", "nan", "--flip", "pair"), ("q is nan",)),
        (("--q", "0.5"), ("--q needs --flip",)),
        (("--flip", "pair"), ("'pair' need q", "--q 0.7")),
        (("--seed", "-1", *FLIP), ("--seed",)),
        (("--lr", "inf", *FLIP), ("lr is inf",)),
        (("--lr", "-1", *FLIP), ("lr is -1",)),
        (("--epochs", "0", *FLIP), ("epochs is 0",)),
        (("--batch-size", "0", *FLIP), ("batch_size is 0",)),
        (("--threads", "0", *FLIP), ("threads is 0",)),
        (("--holdout", "1.5", *FLIP), ("1.5", "between 0 and 1")),
        (("--holdout", "0.0001", *FLIP), ("one side empty",)),
        (("--model", "lineaer", *FLIP), ("lineaer",)),
        (("--loss", "cee", *FLIP), ("cee",)),
        (("--method", "prodne", *FLIP), ("prodne", "proden")),
        (("--device", "toaster", *FLIP), ("toaster",)),
        (("--test", "missing.csv", *FLIP), ("missing.csv",)),
        (("--test", "digits", "--holdout", "0.2", *FLIP), ("--test", "--holdout")),
        ((), ("no candidate sets", "synthesise")),
        (("--accept", "copiez"), ("copiez", "copies")),
        (("--confusion-rows", "given", *FLIP), ("--confusion FILE",)),
        (("--column", "x=feature", "--column", "x=ignore"), ("x is given twice", "--column x=")),
    ],
)
def test_a_wrong_option_is_named(
    run: Run, data: Path, tmp_path: Path, option: tuple[str, ...], words: tuple[str, ...]
) -> None:
    run("fit", data, *option, "--out", tmp_path / "run").refuses(*words)


# ---- datasets, synthesize --------------------------------------------------------------------------------------------


def test_sets_of_what_several_people_said(run: Run, tmp_path: Path) -> None:
    reviews = ROOT / "assets" / "samples" / "reviews.csv"
    result = run("synthesize", reviews, "--rule", "votes:2", "--out", tmp_path / "sets.csv")
    assert result.status == 0 and "12 examples, 1.42 candidates on average" in result.out
    assert result.json == {"out": str(tmp_path / "sets.csv"), "examples": 12, "mean_candidates": 17 / 12, "gamma": None}
    back = formats.read(tmp_path / "sets.csv")
    assert back.annotations is None and (back.sets().sizes == 1).sum() == 7  # in 5 no label is named twice
    run("synthesize", reviews, "--out", tmp_path / "none.csv").refuses("--rule votes:2")


@pytest.mark.parametrize(
    "how", [("--noisy", "topk:1"), ("--flip", "instance", "--q", "0.3"), ("--flip", "binomial", "--q", "0.3")]
)
def test_sets_of_texts_stand_beside_the_texts_as_they_came(run: Run, tmp_path: Path, how: tuple[str, ...]) -> None:
    texts, out = tmp_path / "texts.jsonl", tmp_path / "sets.jsonl"
    lines = [{"id": k, "text": f"{'ab'[k % 2] * 3} word{k % 3}", "true_label": "xy"[k % 2]} for k in range(20)]
    texts.write_text("\n".join(map(json.dumps, lines)))
    result = run("synthesize", texts, *how, "--out", out)
    assert result.status == 0 and "--features" not in result.err  # which is no option of it
    made = formats.read(out)
    assert made.texts is not None and made.contents == ("texts",) and made.sets().nnz >= 20


@pytest.mark.parametrize(
    ("table", "basis"),
    [
        ("image,Mia,Tom,Lea\n1.jpg,oak,oak,fir\n2.jpg,fir,fir,fir\n3.jpg,oak,oak,oak\n", "votes"),
        ("image,prob_oak,prob_fir\n1.jpg,0.8,0.2\n2.jpg,0.1,0.9\n3.jpg,0.6,0.4\n", "probabilities of classes"),
    ],
)
def test_pictures_that_are_elsewhere_are_nothing_to_learn_from(
    run: Run, tmp_path: Path, table: str, basis: str
) -> None:
    (tmp_path / "trees.csv").write_text(table)
    result = run("fit", tmp_path / "trees.csv", "--out", tmp_path / "run")
    assert result.status == 0 and f"There are {basis} but no features" in result.err and "ZIP archive" in result.err
    assert pd.read_csv(tmp_path / "run" / "labels.csv")["identified_label"].tolist() == ["oak", "fir", "oak"]


# ---- what columns are ------------------------------------------------------------------------------------------------


def test_columns_are_what_one_says_from_fit_to_predict(run: Run, tmp_path: Path) -> None:
    table, other = tmp_path / "plain.data", tmp_path / "other.data"
    rows = [f"name{k},{k % 3}.{k},{(k * 7) % 5}.25,{'ant' if k % 3 else 'bee'}" for k in range(30)]
    table.write_text("\n".join(rows))
    other.write_text("\n".join(row.rpartition(",")[0] for row in rows))  # no labels here
    told = ("--column", "column 4=true_label", "--column", "column 1=ignore")
    flip = ("--flip", "pair", "--q", "0.5")
    result = run("fit", table, *SMALL, *flip, *told, "--test", table, "--out", tmp_path / "run")
    assert result.status == 0 and result.json["test_accuracy"] is not None
    assert load_splits(RunFolder(tmp_path / "run").config()).train.feature_names == ("column 2", "column 3")
    predicted = run("predict", tmp_path / "run", other, "--out", tmp_path / "p.csv")
    verdict = RunFolder(tmp_path / "run").state()["health"]
    assert not verdict.is_healthy and verdict.headline in predicted.err  # what the labels were that the model learnt
    assert predicted.status == 0
    assert len(pd.read_csv(tmp_path / "p.csv")) == 30
    again = ("fit", table, *SMALL, *flip, "--test", table, "--out", tmp_path / "run", "--resume")
    run(*again).refuses('with options {"columns":{"column 1":"ignore","column 4":"true_label"}}', "without options")
    assert run(*again, *told).status == 0
    assert run("evaluate", table, *SMALL, *flip, *told, "--holdout", "0.2").status == 0
    assert run("synthesize", table, *flip, *told, "--out", tmp_path / "d.npz").status == 0
    assert formats.read(tmp_path / "d.npz").X.shape == (30, 2)
    run("fit", "iris", *told, *flip, "--out", tmp_path / "no").refuses("--column is for files")
    run("predict", tmp_path / "run", "iris", *told, "--out", tmp_path / "no").refuses("--column is for files")
    for given, said_of_it in (("iris", told), (tmp_path / "run", told), (tmp_path / "run", ("--combine", "largest"))):
        run("convert", given, *said_of_it, "--to", "csv", "--out", tmp_path / "no").refuses("--column", str(given))
    run("fit", table, "--column", "nothing=id", "--out", tmp_path / "no").refuses("There is no column 'nothing'")


# ---- classes ---------------------------------------------------------------------------------------------------------


def test_classes_are_merged_renamed_and_dropped_and_kept_with_the_run(run: Run, tmp_path: Path) -> None:
    lines = ["x,candidates"]
    lines += [f"{k % 3 + 0.01 * k},{('late|la-te', 'lost|N/A', 'late|lost|N/A')[k % 3]}" for k in range(24)]
    (tmp_path / "messy.csv").write_text("\n".join(lines))
    tidy = ("--merge", "la-te=late", "--drop", "N/A", "--rename", "lost=missing")
    brief = ("--epochs", "2", "--threads", "1")
    run("fit", tmp_path / "messy.csv", *brief, "--out", tmp_path / "untidy").refuses("--drop=N/A")
    result = run("fit", tmp_path / "messy.csv", *tidy, *brief, "--out", tmp_path / "run")
    assert result.status == 0 and "--drop" not in result.err
    config = RunFolder(tmp_path / "run").config()
    assert config.source.classes == {"la-te": "late", "N/A": None, "lost": "missing"}
    labels = pd.read_csv(tmp_path / "run" / "labels.csv", dtype=str, keep_default_na=False)
    assert labels["candidates"].tolist()[:3] == ["late", "missing", "late|missing"]
    again = run("fit", tmp_path / "messy.csv", *tidy[:4], "--epochs", "2", "--out", tmp_path / "run", "--resume")
    assert (
        again.status == 2 and '"lost":"missing"}, now it is with classes {"N/A":null,"la-te":"late"}' in again.err
    )  # another run
    wrong = run("fit", tmp_path / "messy.csv", "--drop", "Nothing", "--out", tmp_path / "wrong")
    assert wrong.status == 2 and "no class 'Nothing'" in wrong.err


ODD = "id,width,height,candidates\n" + "".join(f"e{k},{k}.5,{k % 5},all|{'xyz'[k % 3]}\n" for k in range(30))
"""A class that is in every set."""
OTHER_WORDS = "model_a,model_b,judge_1,judge_2,judge_3\n" + "".join(
    f"{'gpt' if k % 2 else 'claude'},llama,{'ABC'[k % 3]},{'ABC'[k % 3]},{('left', 'right', 'same')[k % 3]}\n"
    for k in range(12)
)
"""A judge who has other words for the same."""


@pytest.mark.parametrize(
    "command",
    [
        "read FILE",
        "convert FILE --to jsonl --out OUT",
        "synthesize FILE --noisy topk:2 --out OUT.npz",
        "fit FILE --method majority --out OUT",
        "evaluate FILE --methods majority --holdout 0.2",
        "predict RUN FILE --out OUT",
    ],
)
def test_what_a_command_says_of_an_odd_file_can_be_typed(
    run: Run, finished: Path, tmp_path: Path, command: str
) -> None:
    def typed(*more: str) -> Said:
        named = command.replace("FILE", str(file)).replace("RUN", str(finished))
        return run(*shlex.split(named.replace("OUT", str(tmp_path / f"out{len(more)}{more[-1:]}"))), *more)

    file = tmp_path / "odd.csv"
    for content in (ODD, OTHER_WORDS):
        file.write_text(content)
        refused = typed()
        hints = refused.err.strip().rpartition("In the shell: ")[2].rstrip(".").split("; or, if it is meant so, ")
        assert refused.status == 2 and len(hints) == 2
        for hint in hints:
            followed = typed(*shlex.split(hint))
            assert "No such option" not in followed.err and "In the shell: " not in followed.err
            if content == ODD and command.split()[0] in ("read", "convert", "fit", "predict"):
                assert followed.status == 0  # the others need true labels, or single ones


def test_a_dropped_class_is_in_no_file_that_is_written(run: Run, finished: Path, tmp_path: Path) -> None:
    file, out, kept = tmp_path / "odd.csv", tmp_path / "out.csv", tmp_path / "reading.json"
    file.write_text(ODD)
    said = run("read", file, "--drop=all", "--save", kept)
    assert said.json["classes"] == ["x", "y", "z"]
    assert run("read", file, "--reading", kept).json["classes"] == ["x", "y", "z"]  # and there, too
    assert run("convert", file, "--drop=all", "--merge", "x=y", "--to", "csv", "--out", out).status == 0
    assert pd.read_csv(out)["candidates"].tolist() == ["y", "y", "z"] * 10
    assert run("convert", "iris", "--drop", "setosa", "--to", "csv", "--out", out).status == 0
    assert set(pd.read_csv(out)["true_label"].dropna()) == {"versicolor", "virginica"}
    run("convert", finished, "--drop", "cat", "--to", "csv", "--out", out).refuses("--drop", "a run")


def test_an_odd_test_part_is_accepted_like_the_data(run: Run, table: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text(ODD.replace("x", "cat").replace("y", "dog"))
    fit = ("fit", table, "--method", "majority", "--test", tmp_path / "odd.csv", "--out", tmp_path / "run")
    assert "--accept in-every-set" in run(*fit).err
    assert "--accept" not in run(*fit, "--accept", "in-every-set").err


# ---- fit -------------------------------------------------------------------------------------------------------------


def test_fit_ends_with_one_line_of_json_and_a_complete_folder(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pll.cli.output.BAR_AFTER_SECONDS", 0)
    out = tmp_path / "run"
    result = run("fit", data, *FLIP, *SMALL, "--holdout", "0.25", "--seed", 4, "--out", out)
    assert result.status == 0
    assert len(result.out.splitlines()) == 1
    assert set(result.json) == {
        *("method", "epoch", *FINAL_METRICS),
        *("expected_accuracy", "label_accuracy", "known_labels", "known_test_labels", "health"),
    }
    assert result.json["health"]["verdict"] in ("healthy", "unhealthy")
    assert (result.json["method"], result.json["epoch"]) == ("proden", 3)
    for name in ("config.json", "metrics.csv", "labels.csv", "model.safetensors", "model.json", "log.txt", "history"):
        assert (out / name).exists(), name
    metrics = pd.read_csv(out / "metrics.csv")
    assert list(metrics.columns) == list(METRICS)
    assert metrics["epoch"].tolist() == [1, 2, 3]
    config = RunFolder(out).config()
    assert (config.seed, config.holdout, config.params["threads"]) == (4, 0.25, 1)
    assert "epochs: " in result.err and "/3 " in result.err and "/s" in result.err  # the bar, with its rate


def test_truth_outside_the_sets_is_noted_and_refused_when_strict(run: Run, tmp_path: Path) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text("id,x,candidates,true_label\n1,0.1,a|b,c\n2,0.5,b,b\n3,0.7,a,a\n4,0.9,a|b,b\n")
    result = run("fit", odd, *SMALL, "--out", tmp_path / "run")
    assert result.status == 0
    assert "note: 1 of 4 true labels are not among their candidates" in result.err
    run("fit", odd, *SMALL, "--strict", "--out", tmp_path / "strict").refuses("row 0 (id 1)")


# ---- fit --resume ----------------------------------------------------------------------------------------------------


def test_a_folder_with_a_run_is_not_overwritten(run: Run, data: Path, tmp_path: Path) -> None:
    fit = ("fit", data, *FLIP, *SMALL, "--out", tmp_path / "run")
    run(*fit)
    before = result_of(RunFolder(tmp_path / "run"))
    run(*fit).refuses("holds a run already", "--resume")
    assert result_of(RunFolder(tmp_path / "run")) == before


def test_a_folder_with_files_of_ones_own_keeps_them(run: Run, data: Path, tmp_path: Path) -> None:
    fit = ("fit", data, *FLIP, *SMALL, "--out", tmp_path)
    for name, content in (("labels.csv", "mine"), ("config.json", "{}"), ("history", None)):
        own = tmp_path / name
        own.mkdir() if content is None else own.write_text(content)
        run(*fit).refuses(name)
        assert list(tmp_path.iterdir()) == [own]
        own.rmdir() if content is None else own.unlink()
    (tmp_path / "notes.md").write_text("mine")
    assert run(*fit).status == 0 and (tmp_path / "notes.md").read_text() == "mine"
    evaluate = ("evaluate", data, *FLIP, *SMALL, "--holdout", 0.2, "--out", tmp_path / "results.csv")
    assert [run(*evaluate).status for _ in range(2)] == [0, 0]  # a file of one's own in the folder of a run
    run("predict", tmp_path, data, "--out", tmp_path / "history" / "final.json").refuses("belongs to the run", "final")


def test_resuming_a_finished_run_prints_its_metrics_and_does_nothing(run: Run, data: Path, tmp_path: Path) -> None:
    fit = ("fit", data, *FLIP, *SMALL, "--out", tmp_path / "run")
    first = run(*fit)
    log = (tmp_path / "run" / "log.txt").read_bytes()
    again = run(*fit, "--resume")
    assert (again.status, again.json) == (0, first.json)
    assert (tmp_path / "run" / "log.txt").read_bytes() == log


OTHERWISE = [
    (("--lr", "0.1"), ("without --lr", "now it is with --lr 0.1")),
    (("--epochs", "4"), ("with --epochs 3", "with --epochs 4")),
    (("--q", "0.5"), ("with --q 0.4", "with --q 0.5")),
    (("--flip", "pair"), ("with --flip binomial", "with --flip pair")),
    (("--seed", "1"), ("with --seed 0", "with --seed 1")),
    (("--holdout", "0.5"), ("without --holdout", "with --holdout 0.5")),
    (("--method", "proden-naive"), ("with --method proden", "with --method proden-naive")),
    (("--batch-size", "32"), ("with --batch-size 16", "with --batch-size 32")),
    (("--threads", "2"), ("with --threads 1", "with --threads 2")),
    (("--strict",), ("without --strict", "with --strict")),
]


def test_resuming_with_another_option_is_refused_and_the_option_named(run: Run, data: Path, tmp_path: Path) -> None:
    fit = ("fit", data, *FLIP, *SMALL, "--out", tmp_path / "run")
    run(*fit)
    before = result_of(RunFolder(tmp_path / "run"))
    for option, words in OTHERWISE:
        run(*fit, "--resume", *option).refuses(*words, "same options")
    other = tmp_path / "other" / data.name
    other.parent.mkdir()
    formats.write(formats.read(data).take(np.arange(1, len(formats.read(data)))), other)
    run("fit", other, *fit[2:], "--resume").refuses("with sha256", "same options")
    assert result_of(RunFolder(tmp_path / "run")) == before


def test_what_nobody_chose_is_searched(run: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pll.cli.RECIPE", "auto")
    monkeypatch.setattr(recipe, "COMPARED_AFTER", (3, 6))
    monkeypatch.setattr(recipe, "SURVIVING", (1.0, 0.2))
    outcome = run("fit", table, "--lr", 0.02, "--threads", 1, "--out", tmp_path / "run")
    assert outcome.status == 0 and "Settings of the recipe auto (found in" in outcome.err
    result = RunFolder(tmp_path / "run").recipe()
    assert result is not None and result.fixed == {"lr": 0.02} and "weight_decay" in result.settings
    assert run("fit", table, "--method", "plknn", "--out", tmp_path / "other").status == 0
    out = tmp_path / "results.csv"
    assert run("evaluate", table, "--methods", "proden,plknn", "--folds", 2, "--threads", 1, "--out", out).status == 0
    rows = pd.read_csv(out).query("method == 'proden'")
    chosen = [json.loads(str(text))["chosen"] for text in rows["settings"]]
    assert all(chosen) and set(rows["recipe"]) == {"auto"}
    assert rows["model"].tolist() == [found.get("model", "linear") for found in chosen]


def test_an_evaluation_says_how_many_true_labels_it_is_measured_on(run: Run, tmp_path: Path) -> None:
    rows = [
        f"{k},{k % 2 + 0.1 * k},{'a|b' if k % 3 else 'ab'[k % 2]},{'ab'[k % 2] if k < 9 else ''}" for k in range(30)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,candidates,true_label", *rows]))
    options = ("--methods", "plknn", "--folds", 3)
    assert "9 of 30 true labels are known" in run("evaluate", tmp_path / "t.csv", *options).err
    (tmp_path / "without.csv").write_text("\n".join(["id,x,candidates", *(row.rsplit(",", 1)[0] for row in rows)]))
    run("evaluate", tmp_path / "without.csv", *options).refuses("a column true_label that knows some of them is enough")


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_it_finds_out_how_sure_leaves_that_to_resume(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = ("fit", data, *FLIP, "--epochs", "3", "--batch-size", "16", "--threads", "1", "--out")
    assert run(*fit, tmp_path / "straight").status == 0
    put = RunFolder.put_arrays

    def press(folder: RunFolder, name: str, arrays: Any) -> None:
        put(folder, name, arrays)
        if name == HELD_OUT_SO_FAR:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "put_arrays", press)
        stopped = run(*fit, tmp_path / "stopped")
    assert stopped.status == 130 and "--resume" in stopped.err
    assert run(*fit, tmp_path / "stopped", "--resume").status == 0
    assert result_of(RunFolder(tmp_path / "stopped")) == result_of(RunFolder(tmp_path / "straight"))


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_stops_with_a_checkpoint_and_status_130(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = ("fit", data, *FLIP, "--epochs", "8", "--batch-size", "16", "--threads", "1", "--out")
    assert run(*fit, tmp_path / "straight").status == 0
    append = RunFolder.append_metrics

    def press(folder: RunFolder, row: dict[str, object]) -> None:
        append(folder, row)
        if row["epoch"] == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "append_metrics", press)
        stopped = run(*fit, tmp_path / "stopped")
    assert stopped.status == 130
    assert "--resume" in stopped.err
    assert stopped.json["epoch"] == 3
    assert RunFolder(tmp_path / "stopped").state()["state"] == "stopped"
    assert (tmp_path / "stopped" / "labels.csv").exists()
    resumed = run(*fit, tmp_path / "stopped", "--resume")
    assert resumed.status == 0
    assert result_of(RunFolder(tmp_path / "stopped")) == result_of(RunFolder(tmp_path / "straight"))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_the_first_epoch_leaves_no_labels_and_a_run_to_resume(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_state = RunFolder.set_state

    def press(folder: RunFolder, state: Any, **more: Any) -> None:
        set_state(folder, state, **more)
        if state == "running":
            os.kill(os.getpid(), signal.SIGINT)

    fit = ("fit", data, *FLIP, "--epochs", "8", "--batch-size", "16", "--out", tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "set_state", press)
        stopped = run(*fit)
    assert stopped.status == 130 and "--resume" in stopped.err and stopped.json == {"state": "stopped"}
    assert not (tmp_path / "run" / "labels.csv").exists()
    assert run("export", tmp_path / "run", "--out", tmp_path / "out").status == 2
    assert run(*fit, "--resume").status == 0 and (tmp_path / "run" / "labels.csv").exists()


# ---- evaluate --------------------------------------------------------------------------------------------------------


def test_nothing_is_written_over_what_is_read_or_over_a_run(run: Run, data: Path, tmp_path: Path) -> None:
    before, folder = data.read_bytes(), tmp_path / "run"
    assert run("fit", data, *FLIP, *SMALL, "--out", folder).status == 0
    link = tmp_path / "link.csv"
    link.symlink_to(data)
    for arguments in (
        ("read", data, "--save", data),
        ("fit", data, "--votes", f"m={data}", "--out", data),
        ("synthesize", data, *FLIP, "--out", link),
        ("predict", folder, data, "--out", data),
        ("predict", folder, data, "--out", folder / "labels.csv"),
        ("predict", folder, data, "--out", tmp_path / "predicted.xlsx"),
        ("convert", data, "--to", "parquet", "--out", tmp_path / "new.csv"),
    ):
        refused = run(*arguments)
        assert refused.status == 2 and "Traceback" not in refused.err
    assert data.read_bytes() == before and not (tmp_path / "new.csv").exists()
    assert run("check", folder).status == 0


def test_evaluate_writes_a_row_a_fit_and_prints_a_table(run: Run, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.csv"
    result = run(
        *("evaluate", data, *FLIP, *SMALL, "--methods", "proden,pn-oracle", "--folds", 3, "--seeds", "0,1"),
        *("--out", out),
    )
    assert result.status == 0
    results = pd.read_csv(out)
    columns = "dataset,method,model,seed,fold,test_accuracy,transductive_accuracy,seconds,flip,q,recipe,settings"
    assert ",".join(results.columns) == columns
    assert set(zip(results.flip, results.q, results.recipe, strict=True)) == {("binomial", 0.4, "default")}
    assert json.loads(results.settings[0])["folds"] == 3 and json.loads(results.settings[0])["epochs"] == 3
    assert len(results) == 2 * 3 * 2
    assert results.groupby("method").size().to_dict() == {"proden": 6, "pn-oracle": 6}
    assert set(results["model"]) == {"linear"}
    assert results[["test_accuracy", "transductive_accuracy"]].stack().between(0, 1).all()
    lines = result.out.splitlines()[:-1]
    assert lines[0].split() == ["method", "test", "accuracy", "%", "transductive", "%", "seconds"]
    assert [line.split()[0] for line in lines[1:3]] == ["proden", "pn-oracle"]
    mean = results.loc[results["method"] == "proden", "test_accuracy"].mean() * 100
    deviation = results.loc[results["method"] == "proden", "test_accuracy"].std(ddof=1) * 100
    assert f"{mean:.2f} ± {deviation:.2f}" in lines[1]
    assert (result.json["out"], result.json["fits"]) == (str(out), len(results))
    measured = result.json["methods"]
    assert isinstance(measured, dict) and list(measured) == ["proden", "pn-oracle"]
    assert measured["proden"]["test_accuracy_mean"] * 100 == pytest.approx(mean)
    assert measured["proden"]["test_accuracy_std"] * 100 == pytest.approx(deviation)


def test_one_seed_gives_every_method_the_same_sets(run: Run, data: Path, tmp_path: Path) -> None:
    def results(methods: str) -> pd.DataFrame:
        out = tmp_path / "results.csv"
        run("evaluate", data, *FLIP, *SMALL, "--methods", methods, "--holdout", 0.25, "--seeds", "0,1", "--out", out)
        table = pd.read_csv(out).drop(columns="seconds")
        return table[table["method"] == "proden"].reset_index(drop=True)

    pd.testing.assert_frame_equal(results("proden"), results("proden-naive,proden,pn-oracle"))


def test_an_evaluation_goes_on_where_it_was(run: Run, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.csv"
    command = ("evaluate", data, *FLIP, *SMALL, "--folds", 3, "--out", out)
    whole = run(*command, "--methods", "proden,plknn")
    table = pd.read_csv(out)
    table.iloc[[0, 3, 5]].to_csv(out, index=False)
    again = run(*command, "--methods", "proden,plknn")
    assert "holds 3 of these" in again.err
    assert [line.split()[:7] for line in again.out.splitlines()[:3]] == [
        line.split()[:7] for line in whole.out.splitlines()[:3]
    ]
    by = ["method", "fold"]
    pd.testing.assert_frame_equal(
        pd.read_csv(out).sort_values(by, ignore_index=True).drop(columns="seconds"),
        table.sort_values(by, ignore_index=True).drop(columns="seconds"),
    )
    other = run(*command, "--methods", "plknn", "--set", "k=3")  # another setting: other results, in the same file
    assert "6 results of other evaluations" in other.err
    assert len(pd.read_csv(out)) == 9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((*FLIP,), ("--folds 5", "--holdout", "--test")),
        ((*FLIP, "--folds", "3", "--holdout", "0.2"), ("exclude each other",)),
        ((*FLIP, "--folds", "0"), ("0 folds",)),
        ((*FLIP, "--folds", "1"), ("1 folds",)),
        ((*FLIP, "--folds", "121"), ("121 folds of 120",)),
        ((*FLIP, "--folds", "3", "--seeds", "0,x"), ("seed is x", "whole number")),
        ((*FLIP, "--folds", "3", "--seeds", "-1"), ("seed is -1", "from 0")),
        ((*FLIP, "--folds", "3", "--seeds", "1,1"), ("--seeds names 1 twice",)),
        ((*FLIP, "--folds", "3", "--seeds", ","), ("--seeds is empty",)),
        ((*FLIP, "--folds", "3", "--methods", "proden,prodne"), ("prodne",)),
        ((*FLIP, "--folds", "3", "--methods", "proden, proden"), ("--methods names proden twice",)),
        ((*FLIP, "--folds", "3", "--methods", ""), ("--methods is empty",)),
        ((*FLIP, "--folds", "3", "--epochs", "0"), ("epochs is 0",)),
        ((*FLIP, "--folds", "3", "--threads", "0"), ("threads is 0",)),
        (("--folds", "3"), ("no candidate sets",)),
    ],
)
def test_an_evaluation_that_cannot_be_is_said(
    run: Run, data: Path, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    run("evaluate", data, *options).refuses(*words)


# ---- predict, export -------------------------------------------------------------------------------------------------


def test_predictions_have_ids_names_and_confidence(run: Run, table: Path, finished: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "predictions.csv"
    outcome = run("predict", finished, table, "--out", out)
    assert (outcome.status, outcome.json) == (0, {"out": str(out), "predictions": 40})
    result = pd.read_csv(out)
    assert result.columns.tolist() == ["id", "predicted_label", "confidence"]
    data, model = formats.read(table), load_model(finished)
    scores = model.predict_proba(data.X)
    assert result["id"].tolist() == data.row_ids.tolist()
    assert result["predicted_label"].tolist() == [["cat", "dog"][k] for k in scores.argmax(axis=1)]
    logits, of = model.predict_scores(data.X), model.temperatures_
    assert len(of) == 20
    tempered = np.mean([softmax(logits / one, axis=1) for one in of], axis=0)
    np.testing.assert_allclose(result["confidence"], tempered.max(axis=1), rtol=1e-5)
    assert "learnt from this file" in outcome.err
    others = table.with_name("others.csv")
    others.write_text("\n".join(table.read_text().splitlines()[:-1]) + "\n")
    assert "learnt from" not in run("predict", finished, others, "--out", out).err


# ---- as a process ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_reader_who_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)  # `… | head -0`
    process = subprocess.run(
        [sys.executable, "-m", "pll", "datasets"],
        cwd=ROOT,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    os.close(write)
    assert (process.returncode, process.stderr) == (0, "")


def parsed(line: str) -> dict[str, object]:
    """What the options of a command are read as; the command is not run."""
    name, *arguments = shlex.split(line)
    return cli.commands[name].make_context(name, arguments).params


def test_every_option_of_the_contract_is_there() -> None:
    fit = parsed(
        "fit d --method proden --model linear --epochs 100 --batch-size 256 --lr 0.05 --weight-decay 1e-3 "
        "--momentum 0.9 --loss ce --device auto --threads 2 --scale zscore --flip pair --q 0.7 --holdout 0.2 "
        "--seed 0 --out r --resume --strict"
    )
    assert (fit["lr"], fit["weight_decay"], fit["resume"], fit["strict"]) == (0.05, 1e-3, True, True)
    evaluate = parsed("evaluate d --methods proden,ipal --folds 5 --out r.csv --lr 1")
    assert (evaluate["folds"], evaluate["methods"]) == (5, "proden,ipal")


def test_the_help_of_fit_is_one_screen(run: Run) -> None:
    shown = run("fit", "--help").out
    assert len(shown.splitlines()) <= 60
    assert all(option in shown for option in ("--flip", "--lr", "--keep-answer", "--set NAME=VALUE"))


@pytest.mark.parametrize("name", METHODS)
def test_every_setting_of_a_method_is_explained_and_can_be_set(run: Run, name: str) -> None:
    result = run("methods", name)
    settings = result.json["settings"]
    assert isinstance(settings, dict) and set(settings) == set(METHODS[name]().get_params()) - {"seed", "missing"}
    for setting, default in settings.items():
        if default is not None:
            assert dict(parsed(f"fit d --out r --set {setting}={default}")["set"]) == {setting: default}
    lines = result.out.splitlines()[2:-1]
    starts = [line for line in lines if line.startswith("--")]
    assert len(starts) == len(settings) and all(len(line.split()) > 2 or line.startswith("--set") for line in starts)


def test_a_setting_of_one_method_is_given_by_name(run: Run, data: Path, tmp_path: Path) -> None:
    fit = ("fit", data, *FLIP, "--method", "plknn", "--out", tmp_path / "run")
    assert run(*fit, "--set", "k=5").status == 0
    assert RunFolder(tmp_path / "run").config().params == {"k": 5}
    run(*fit, "--set", "k=6", "--resume").refuses("with k 5", "with k 6")
    run("fit", data, *SMALL, "--set", "epochs=4", "--out", tmp_path / "no").refuses("epochs is given twice")
    run("fit", data, "--set", "lr=-1", "--out", tmp_path / "no").refuses("lr is -1", "from 0 to 10, more than 0")
    run("fit", data, *FLIP, "--set", "kk=1", "--out", tmp_path / "no").refuses("no setting called 'kk'")
    run("fit", data, "--set", "k", "--out", tmp_path / "no").refuses("NAME=VALUE")
    run("evaluate", data, *FLIP, "--folds", 2, "--set", "kk=1").refuses("None of these methods", "'kk'")


def test_the_methods_are_listed(run: Run) -> None:
    assert run("methods").json["methods"] == list(METHODS)
    run("methods", "prodne").refuses("Did you mean 'proden'")


def test_no_help_and_no_refused_word_imports_a_heavy_package() -> None:
    lines = [["--help"], ["--version"], ["export", "--uot"], ["fti"], *([name, "--help"] for name in cli.commands)]
    code = f"""
import contextlib, io, json, sys
from pll.cli.main import main
heavy = set("torch torchvision numpy scipy sklearn pandas pyarrow streamlit pydantic sqlalchemy".split())
loaded = {{}}
for line in {lines!r}:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(line)
    loaded[" ".join(line)] = sorted(heavy & set(sys.modules))
print(json.dumps(loaded))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {" ".join(line): [] for line in lines}


# ---- the script `candid` ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_candid_serves_the_app_with_its_own_settings_from_any_directory(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", "from pll.cli.main import candid; candid()"],
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "PLL_HOME": str(tmp_path / "home"), "STREAMLIT_SERVER_HEADLESS": "true"}
        | {"STREAMLIT_SERVER_PORT": str(port), "STREAMLIT_SERVER_ADDRESS": "127.0.0.1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def answers() -> bool:
        assert process.poll() is None, process.communicate()
        try:
            return b"ok" in opener.open(f"http://127.0.0.1:{port}/_stcore/health", timeout=5).read()
        except OSError:
            return False

    try:
        wait_for(answers, "the app to answer", 240)
    finally:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    # Streamlit announces that it collects statistics when it starts, unless config.toml turns that off.
    assert "usage statistics" not in out.lower()


def test_sentences_are_converted_with_the_classes_and_answers_that_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "two.csv", tmp_path / "out.csv"
    rows = [("It must be sport.", "sport"), ("No idea, sorry my friend.", "news"), ("I would say news.", "news")] * 4
    source.write_text("width,annotator_1,annotator_2\n" + "".join(f'{i},"{a}",{b}\n' for i, (a, b) in enumerate(rows)))
    told = ["--classes", "sport, news", "--answer", "No idea, sorry my friend.=news"]
    assert main(["convert", str(source), "--to", "csv", "--out", str(out), *told]) == 0
    assert pd.read_csv(out)["candidates"].tolist() == ["sport", "news", "news"] * 4
    assert main(["convert", "iris", "--to", "csv", "--out", str(out), "--classes", "a,b"]) == 2
    assert main(["synthesize", "iris", "--flip", "pair", "--q", "0.5", "--out", str(out), "--answer", "a=b"]) == 2
    refused = capsys.readouterr().err
    assert "--classes" in refused and "--answer is for files" in refused
