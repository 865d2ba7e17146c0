"""Runs on files of votes: what a run keeps of them, what decisions say about voters, and the way back to the tools."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pll.annotations.data import Annotations
from pll.annotations.voters import FEATURES_ADD_NOTHING
from pll.catalog.sources import Source, joined_votes
from pll.cli.main import main
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.export.run_export import export_source
from pll.methods.aggregation import union_of
from pll.review.queue import review_order
from pll.review.signals import ReviewSignals
from pll.runs import fit_loop, run_data
from pll.runs.config import RunConfig
from pll.runs.data import infer_vote_sets
from pll.runs.decided_sets import DecidedSets
from pll.runs.folder import RunFolder
from pll.runs.link import Share, from_query, to_query
from pll.weights import VOTES

NAMES = ("late", "lost", "praise")
N = 90


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with features, tasks with predictions, records with suggestions, a batch: of the same 90 examples."""
    place = tmp_path_factory.mktemp("votes")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    X = rng.normal(0, 0.7, (N, 3)) + 2 * np.eye(3)[y]
    said = {right: np.where(rng.random(N) < right, y, rng.integers(0, 3, N)) for right in (0.8, 0.7, 0.6)}
    rows = "".join(f"{k + 1},{','.join(f'{x:.3f}' for x in X[k])}\n" for k in range(N))
    (place / "data.csv").write_text("id,a,b,c\n" + rows)
    tasks = [
        {"id": k + 1, "data": {"text": "x"}, "predictions": [_predicted(f"m{v}", NAMES[said[v][k]]) for v in said]}
        for k in range(N)
    ]
    (place / "tasks.json").write_text(json.dumps(tasks))
    records = [
        {
            "id": str(k + 1),
            "fields": {"text": "x"},
            "suggestions": [
                {"question_name": "kind", "value": NAMES[said[0.7][k]], "agent": "setfit", "score": 0.5},
                {"question_name": "tone", "value": "calm", "agent": "other", "score": 0.5},
            ],
            "responses": {},
        }
        for k in range(N)
    ]
    (place / "records.json").write_text(json.dumps(records))
    body = {"model": "gpt"}
    lines = [
        {"custom_id": str(k + 1), "error": None, "response": {"body": body | {"choices": [_choice(said[0.8][k])]}}}
        for k in range(N)
    ]
    (place / "batch.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return place


def _predicted(model: str, label: str) -> dict:
    result = {"id": "r", "type": "choices", "from_name": "kind", "to_name": "words", "value": {"choices": [label]}}
    return {"model_version": model, "score": 0.5, "result": [result]}


def _choice(label: int) -> dict:
    return {"index": 0, "message": {"role": "assistant", "content": NAMES[label].upper()}}


def of(file: Path) -> Source:
    return Source(file.name, str(file))


@pytest.fixture(scope="module")
def trained(brought: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run on the table and the predictions of tasks, settled."""
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "root")
    source = joined_votes([of(brought / "tasks.json")], of(brought / "data.csv"))
    folder.create(RunConfig(replace(source, rule="voters"), params={"epochs": 4, "threads": 1}))
    fit_loop.FitLoop(folder).train()
    return folder


def test_a_run_opens_again_with_the_settled_sets_it_keeps(
    trained: RunFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("pll.runs.data.aggregate", lambda *_, **__: pytest.fail("settled again"))
    parts = run_data.splits_of(trained)
    assert parts.train.prior is not None and parts.identity == trained.about()["fingerprint"]
    assert parts.train.given_sets.sizes.max() <= 3
    (trained.path / "computed.npz").rename(tmp_path / "aside.npz")
    try:
        with pytest.raises(pytest.fail.Exception, match="settled again"):  # a run of an earlier version settles anew
            run_data.splits_of(trained)
    finally:
        (tmp_path / "aside.npz").rename(trained.path / "computed.npz")


def test_a_link_asks_for_the_files_of_votes_and_sets_up_the_same(trained: RunFolder) -> None:
    config = trained.config()
    config = replace(config, source=replace(config.source, answers={"?": "", "l8": "late"}))
    query = {name: [value] for name, value in to_query(Share((config,)))}
    assert not any(str(trained.path) in value for (value,) in query.values())
    share = from_query(query)
    assert [one.name for one in share.missing] == ["data.csv", "tasks.json"]
    half = share.with_file(replace(config.source.votes[0], name="renamed.json"))
    assert [one.name for one in half.missing] == ["data.csv"]
    with pytest.raises(UserError, match=r"other\.csv is not a file of this link.*data\.csv"):
        half.with_file(Source("other.csv", "/tmp/other.csv", sha256="f" * 64))
    whole = half.with_file(config.source)
    assert not whole.missing and whole.configs[0].source == config.source
    assert run_data.load_splits(whole.configs[0]).identity == trained.about()["fingerprint"]


def test_decisions_measure_the_voters(trained: RunFolder) -> None:
    train = run_data.splits_of(trained).train
    wrong = train.sets().indices[train.sets().indptr[:-1]]  # say the first candidate is right: others than m0.8 say so
    sets = {row: (int(label),) for row, label in enumerate(wrong[:60])}
    child = RunFolder(trained.path.parent / "child")
    decided = DecidedSets("r", "root", "root", sets, decisions=len(sets))
    decided = replace(decided, warm=False)
    child.create(replace(trained.config(), decided_sets=decided))
    fit_loop.FitLoop(child).train()
    result = run_data.splits_of(child)
    assert result.train.decided is not None and (result.train.decided >= 0).sum() == 60
    assert result.task().decided is not None
    settled = result.train.change(VOTES)
    assert settled is not None and settled.candidates == train.sets()  # the review goes by these
    assert result.train.prior is not None and train.prior is not None
    kept = result.train.sets().positions(np.arange(60, N)), train.sets().positions(np.arange(60, N))
    assert np.abs(result.train.prior[kept[0]] - train.prior[kept[1]]).max() > 0.01
    assert result.identity == child.about()["fingerprint"]


def test_labels_go_back_into_every_tool_that_votes_came_from(brought: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    files = [
        part for name in ("batch.jsonl", "tasks.json", "records.json") for part in ("--votes", str(brought / name))
    ]
    assert main(["fit", *files, "--accept", "copies", "--out", str(run)]) == 0  # two voters each say the same
    labels = pd.read_csv(run / "labels.csv", dtype=str).set_index("id")["identified_label"]
    assert main(["convert", str(run), "--to", "labelstudio", "--out", str(tmp_path / "back.json")]) == 0
    tasks = json.loads((tmp_path / "back.json").read_text())
    for task in tasks:
        *others, ours = task["predictions"]
        assert [one["model_version"] for one in others] == ["m0.8", "m0.7", "m0.6"]
        answer = ours["result"][0]
        assert (answer["from_name"], answer["to_name"]) == ("kind", "words") and 0 < ours["score"] <= 1
        assert answer["value"]["choices"] == [labels[str(task["id"])]]
    assert main(["convert", str(run), "--to", "argilla", "--out", str(tmp_path / "back2.json")]) == 0
    records = json.loads((tmp_path / "back2.json").read_text())
    for record in records:
        said = {one["question_name"]: one for one in record["suggestions"]}
        assert said["kind"]["value"] == labels[record["id"]] and said["tone"]["value"] == "calm"
        assert said["kind"]["agent"].startswith("dawid-skene")
    assert main(["convert", str(run), "--to", "csv", "--out", str(tmp_path / "back.csv")]) == 0
    table = pd.read_csv(tmp_path / "back.csv", dtype=str)
    assert table["id"].tolist() == [str(k + 1) for k in range(N)]
    assert table.set_index("id")["identified_label"].to_dict() == labels.to_dict()


@pytest.fixture(scope="module")
def partly_answered(brought: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A batch of another model, which refused the first three examples; and the first batch without these."""
    place = tmp_path_factory.mktemp("partly")
    lines = (brought / "batch.jsonl").read_text().splitlines()
    refused = {"message": {"role": "assistant", "content": "I cannot answer that."}, "index": 0}
    for name, first in (("a", "As an AI model I cannot label this."), ("b", refused["message"]["content"])):
        told = [json.loads(line) for line in lines]
        for row in told[:3]:
            row["response"]["body"]["choices"] = [{"index": 0, "message": {"role": "assistant", "content": first}}]
        for row in told:
            row["response"]["body"]["model"] = name
        (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in told))
    return place / "a.jsonl", place / "b.jsonl"


def test_examples_that_nobody_answered_are_predicted(
    brought: Path, partly_answered: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes = [part for file in partly_answered for part in ("--votes", str(file))]
    run = tmp_path / "run"
    assert main(["fit", str(brought / "data.csv"), *votes, "--epochs", "8", "--out", str(run)]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out.splitlines()[-1])["no_answer"] == 3 and "no answer that could be used" in told.err
    labels = pd.read_csv(run / "labels.csv", dtype=str, keep_default_na=False)
    assert labels["id"].tolist() == [str(k + 1) for k in range(N)]  # every row of the data, in its order
    assert labels["source"].tolist() == ["predicted"] * 3 + ["model"] * (N - 3)
    assert set(labels["identified_label"].str.lower()) == set(NAMES) and labels["candidates"][:3].tolist() == [
        "",
        "",
        "",
    ]
    source = export_source(RunFolder(run))
    assert source.frame["identified_label"].tolist() == labels["identified_label"].tolist()
    assert not source.splits.no_answer
    assert any("no answer" in one for one in RunFolder(run).state()["notes"])


def test_a_tie_of_votes_is_named_in_labels_csv(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(
        "id,votes_cat,votes_dog\n" + "".join(f"r{k},{3 - k % 4},{k % 4 + (k % 4 == 1)}\n" for k in range(40))
    )
    run = tmp_path / "run"
    assert main(["fit", str(tmp_path / "counts.csv"), "--out", str(run)]) == 0
    frame = pd.read_csv(run / "labels.csv", dtype=str, keep_default_na=False)
    assert frame.source.tolist() == ["tie" if k % 4 == 1 else "model" for k in range(40)]


def test_where_two_voters_differ_and_nothing_tells_who_is_right_it_is_a_tie(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    ann = rng.choice(["cat", "dog", "fox"], 80)
    bob = np.where(rng.random(80) < 0.7, ann, rng.choice(["cat", "dog", "fox"], 80))
    (tmp_path / "two.csv").write_text("id,ann,bob\n" + "".join(f"r{k},{ann[k]},{bob[k]}\n" for k in range(80)))
    options = ["--column", "ann=annotator", "--column", "bob=annotator", "--method", "dawid-skene"]
    assert main(["fit", str(tmp_path / "two.csv"), *options, "--out", str(tmp_path / "run")]) == 0
    frame = pd.read_csv(tmp_path / "run" / "labels.csv", dtype=str, keep_default_na=False)
    assert frame.source.tolist() == ["model" if a == b else "tie" for a, b in zip(ann, bob, strict=True)]
    folder = RunFolder(tmp_path / "run")
    differ = np.flatnonzero(ann != bob)
    train = run_data.splits_of(folder).train
    assert train.tied_votes is not None and np.flatnonzero(train.tied_votes).tolist() == differ.tolist()
    assert export_source(folder).frame["source"].tolist() == frame.source.tolist()
    order = review_order(ReviewSignals.of_run(folder, train))
    assert set(order[: len(differ)].tolist()) == set(differ.tolist())


@pytest.mark.parametrize("tells", [True, False])
def test_features_that_add_nothing_to_the_votes_are_said(tells: bool) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 150)
    votes = np.where(rng.random((150, 3)) < 0.7, y[:, None], rng.integers(0, 3, (150, 3)))
    X = rng.normal(size=(150, 4)).astype(np.float32)
    if tells:
        X[:, :3] += 3 * np.eye(3, dtype=np.float32)[y]
    annotations = Annotations.from_votes(votes, ("a", "b", "c"))
    data = PartialLabelDataset(X, union_of(annotations), annotations=annotations, class_names=("a", "b", "c"))
    change, _ = infer_vote_sets(data, seed=0)
    assert (FEATURES_ADD_NOTHING in change.notes) != tells
