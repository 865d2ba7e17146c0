"""From one format to another, and a run's labels back into the format they came from."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io

from pll import formats
from pll.catalog.sources import Source, source_of
from pll.cli.main import main
from pll.errors import UserError
from pll.export.convert import convert, of_run, results_of
from pll.export.run_export import export_source
from pll.formats import FORMATS
from pll.formats.label_frame import Decision
from pll.runs.folder import RunFolder
from tests.formats.strategies import check_same, named_sets

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"
SMALL = ("--epochs", "2", "--batch-size", "8", "--threads", "1")


def fit(data: Path | str, folder: Path, *more: str) -> Path:
    assert main(["fit", str(data), *SMALL, "--out", str(folder), *more]) == 0
    return folder


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`fitted(sample)` is the folder of a run over it, trained once for all tests that only read it."""

    @cache
    def train(sample: str) -> Path:
        return fit(SAMPLES / sample, tmp_path_factory.mktemp("fitted") / "run")

    return train


def labels(run: Path) -> dict[str, str]:
    """By id, what the run identified."""
    with (run / "labels.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["identified_label"] for row in csv.DictReader(file)}


def origin(given: Path | str) -> Source | RunFolder:
    folder = RunFolder(Path(given))
    return folder if folder.exists() else source_of(str(given))


def converted(given: Path | str, to: str, out: Path, **options: Any) -> list[str]:
    """Convert; what was told."""
    told: list[str] = []
    done = convert(origin(given), to, out, tell=told.extend, **options)
    assert done.files[0] == out and out.exists()
    return told


@pytest.mark.parametrize("to", [name for name in FORMATS if name not in ("imagezip", "plcifar", "cleanlab", "mat")])
@pytest.mark.parametrize("sample", ["flowers.csv", "reviews.labelstudio.json"])
def test_every_format_to_every_other(tmp_path: Path, sample: str, to: str) -> None:
    out = tmp_path / f"out{FORMATS[to].suffixes[0]}"
    notes = converted(SAMPLES / sample, to, out)
    back = formats.read(out, format=to)
    if not notes:
        check_same(back, formats.read(SAMPLES / sample))
    assert named_sets(back) == named_sets(formats.read(SAMPLES / sample))


def test_what_is_lost_is_said_before_it_is_written(tmp_path: Path) -> None:
    notes = converted(SAMPLES / "reviews.labelstudio.json", "plcifar", tmp_path / "out.json")
    texts, names = notes
    assert "plcifar" in texts and "texts" in texts and "annotators" in names
    notes.clear()
    with pytest.raises(UserError, match=r"out\.mat: There are no features"):
        convert(origin(SAMPLES / "reviews.csv"), "mat", tmp_path / "out.mat", tell=notes.extend)
    assert "mat cannot hold: The texts." in notes and not (tmp_path / "out.mat").exists()


def test_a_catalogue_entry(tmp_path: Path) -> None:
    converted("iris", "csv", tmp_path / "iris.csv")
    assert len(formats.read(tmp_path / "iris.csv")) == 150


@pytest.mark.parametrize(
    ("given", "to", "out", "words"),
    [
        ("nowhere.csv", "csv", "out.csv", "no file nowhere.csv"),
        (SAMPLES / "flowers.csv", "word", "out.csv", "no format called 'word'"),
        (SAMPLES / "flowers.csv", "csv", "no/such/folder/out.csv", "there is no folder"),
    ],
)
def test_what_cannot_be_converted(tmp_path: Path, given: Path | str, to: str, out: Path | str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        convert(origin(given), to, tmp_path / out, tell=lambda told: None)


@pytest.mark.parametrize(("said", "choice"), [("pos", "single"), ({"choices": ["neg", "pos"]}, "multiple")])
def test_one_question_in_a_table_keeps_its_name_and_a_tool_the_names_of_other_columns(
    tmp_path: Path, said: Any, choice: str
) -> None:
    about = [{"id": at // 2 + 1, "annotator": at % 2 + 1, "annotation_id": at, "lead_time": 1.5} for at in range(24)]
    rows = [
        one
        | {"text": f"what is said here, number {one['id']}", "source": "web", "sentiment": said if at % 3 else "neg"}
        for at, one in enumerate(about)
    ]
    (tmp_path / "min.json").write_text(json.dumps(rows))
    converted(tmp_path / "min.json", "labelstudio", tmp_path / "tasks.json")
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    results = [one["result"][0] for task in tasks for one in task["annotations"]]
    assert {one["from_name"] for one in results} == {"sentiment"}
    assert {task["data"]["source"] for task in tasks} == {"web"}
    config = (tmp_path / "tasks.config.xml").read_text()
    assert f'<Choices name="sentiment" toName="text" choice="{choice}">' in config
    converted(tmp_path / "min.json", "argilla", tmp_path / "records.jsonl")
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    responses = [one for record in records for one in record["responses"]["sentiment"]]
    assert len(records) == 12 and {type(one["value"]) for one in responses} == {str if choice == "single" else list}
    assert {record["metadata"]["source"] for record in records} == {"web"}


class TestRuns:
    def test_label_studio_gets_predictions_and_keeps_everything(
        self, tmp_path: Path, fitted: Callable[[str], Path]
    ) -> None:
        source = SAMPLES / "reviews.labelstudio.json"
        run = fitted(source.name)
        assert converted(run, "labelstudio", tmp_path / "out.json") == []
        before = json.loads(source.read_text(encoding="utf-8"))
        after = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
        predictions = [task.pop("predictions") for task in after]
        assert after == before
        found = {
            str(task["id"]): one[0]["result"][0]["value"]["choices"][0]
            for task, one in zip(after, predictions, strict=True)
        }
        assert found == labels(run) and len(found) == 12
        assert {one[0]["model_version"] for one in predictions} == {"proden-run"}
        assert all(0 < one[0]["score"] <= 1 for one in predictions)

    def test_a_table_gets_columns_and_keeps_every_cell(self, tmp_path: Path) -> None:
        text = "id;width;height;source;candidates;mark\na;1.0;2;web;x|y;007\nb;2.5;1;;y;1e3\nc;0.5;7;web;x;\n"
        (tmp_path / "t.csv").write_text(text)
        run = fit(tmp_path / "t.csv", tmp_path / "run")
        notes = converted(run, "csv", tmp_path / "out.csv")
        assert notes == []
        with (tmp_path / "out.csv").open(newline="") as file:
            rows = list(csv.reader(file, delimiter=";"))
        assert [row[:6] for row in rows] == [line.split(";") for line in text.splitlines()]
        assert {row[0]: row[rows[0].index("label")] for row in rows[1:]} == labels(run)
        assert named_sets(formats.read(tmp_path / "out.csv")) == named_sets(formats.read(tmp_path / "t.csv"))

    @pytest.mark.parametrize("sample", ["labelstudio.json", "prodigy.jsonl", "doccano.jsonl", "argilla.json"])
    def test_the_least_certain_come_first_where_people_go_through_a_file(
        self, tmp_path: Path, sample: str, fitted: Callable[[str], Path]
    ) -> None:
        run = fitted(f"reviews.{sample}")
        with (run / "labels.csv").open(encoding="utf-8", newline="") as file:
            sure = {row["id"]: round(float(row["confidence"]), 3) for row in csv.DictReader(file)}  # as given back
        form = sample.partition(".")[0]
        for to in (form, "argilla" if form == "doccano" else "doccano"):  # given back, and anew
            converted(run, to, tmp_path / "plain", uncertain_first=False)
            converted(run, to, tmp_path / "sorted", uncertain_first=True)
            plain, ordered = (formats.read(tmp_path / name, format=to).row_ids.tolist() for name in ("plain", "sorted"))
            assert plain == list(sure) and set(ordered) == set(plain)
            assert [sure[name] for name in ordered] == sorted(sure.values())
            records = [
                sorted((tmp_path / name).read_text().replace(",\n", "\n").split("\n")) for name in ("plain", "sorted")
            ]
            assert records[0] == records[1]  # only the order differs

    @pytest.mark.parametrize(
        "sample",
        [
            *("flowers.csv", "flowers.npz", "flowers.mat", "flowers.parquet", "flowers.jsonl"),
            *("flowers.huggingface.parquet", "digits.imagezip.zip", "reviews.labelstudio.json", "reviews.argilla.json"),
            *("reviews.prodigy.jsonl", "reviews.doccano.jsonl", "reviews.plcifar.json", "reviews.cleanlab.csv"),
        ],
    )
    def test_a_class_that_a_reviewer_added_is_in_the_file_or_said(
        self, tmp_path: Path, sample: str, fitted: Callable[[str], Path]
    ) -> None:
        if sample.endswith(("plcifar.json", "cleanlab.csv")):  # nothing to learn from in them
            data = formats.read(SAMPLES / sample)
            X = np.arange(len(data), dtype=np.float32)[:, None]
            source = formats.write(replace(data, X=X, annotations=None), tmp_path / "in.npz")[0]
            run = RunFolder(fit(source, tmp_path / "run"))
        else:
            run = RunFolder(fitted(sample))
        decided = {row: Decision("añadido", "Ada", datetime(2026, 11, 21, tzinfo=UTC)) for row in (1, 2)}
        results = results_of(run, replace(export_source(run), decisions=decided))
        own = sample.split(".")[-2] if sample.count(".") == 2 else sample.split(".")[-1]
        for to in {own, "mat"} if sample == "flowers.csv" else {own}:
            plan = of_run(run, to, results=results)
            done = plan.write(tmp_path / f"out-{to}")
            out = done.files[0]
            known = sum(results.label(name) is not None for name in results.ids)
            assert done.labelled == known - 2 * (to == "mat")  # only what is really in the file
            said = [sentence for sentence in plan.lost if "(añadido)" in sentence]
            assert bool(said) == (to in ("mat", "cleanlab", "argilla", "labelstudio"))
            assert all("2 examples" in sentence for sentence in said)
            if to == "mat":
                assert (scipy.io.loadmat(out)["identified_target"].sum(axis=0)[:, 1:3] == 0).all()
            elif to == "npz":
                assert np.load(out, allow_pickle=False)["identified_label"][1:3].tolist() == ["añadido"] * 2
            elif to == "prodigy":
                lines = [json.loads(line) for line in out.read_text().splitlines()]
                chosen = [line for line in lines if line["accept"] == ["añadido"]]
                assert len(chosen) == 2 and all(line["options"][-1]["id"] == "añadido" for line in chosen)
            elif to == "imagezip":
                with zipfile.ZipFile(out) as archive:
                    table = next(name for name in archive.namelist() if name.endswith(".csv"))
                    assert archive.read(table).decode().count(",añadido,") == 2
            elif "parquet" in to or to == "huggingface":
                assert (
                    pq.read_table(out)["label (Candid)" if to == "huggingface" else "label"].to_pylist()[1:3]
                    == ["añadido"] * 2
                )
            elif to == "cleanlab":  # classes are numbers there: the next one
                with out.open(newline="") as file:
                    numbers = [row["consensus_label"] for row in csv.DictReader(file)]
                known = max(int(number) for at, number in enumerate(numbers) if at not in (1, 2))
                assert numbers[1] == numbers[2] and int(numbers[1]) > known
            else:
                assert out.read_text(encoding="utf-8").replace("\\u00f1", "ñ").count("añadido") >= 2

    @pytest.mark.parametrize("to", ["csv", "xlsx", "jsonl", "parquet"])
    def test_every_line_comes_back_and_one_row_an_example_on_request(self, tmp_path: Path, to: str) -> None:
        with (SAMPLES / "reviews-long.csv").open(newline="") as file:
            votes = list(csv.DictReader(file))
        given = tmp_path / f"votes.{to}"
        if to == "csv":
            given.write_bytes((SAMPLES / "reviews-long.csv").read_bytes())
        elif to == "jsonl":
            given.write_text("".join(json.dumps(vote) + "\n" for vote in votes))
        elif to == "parquet":
            pq.write_table(pa.Table.from_pylist(votes), given)
        else:
            pd.DataFrame(votes).to_excel(given, index=False)
        run = fit(given, tmp_path / "run")
        out, short = tmp_path / f"out.{to}", tmp_path / f"short.{to}"
        assert converted(run, to, out) == []
        told = converted(run, to, short, by_example=True)
        assert to in ("parquet", "xlsx", "jsonl", "csv") and isinstance(told, list)
        read: dict[str, Any] = {"csv": pd.read_csv, "xlsx": pd.read_excel, "parquet": pd.read_parquet}
        read["jsonl"] = partial(pd.read_json, lines=True)
        lines, table = read[to](out), read[to](short)
        names = list(votes[0])
        assert lines[names].astype(str).to_dict("records") == votes
        assert dict(zip(lines["task"].astype(str), lines["label (Candid)"], strict=True)) == labels(run)
        assert dict(zip(table["id"].astype(str), table["identified_label"], strict=True)) == labels(run)
        assert len(table) == 12 < len(lines) == len(votes)

    def test_a_list_of_objects_is_not_called_lines(self, tmp_path: Path) -> None:
        rows = [json.loads(line) for line in (SAMPLES / "flowers.jsonl").read_text().splitlines()]
        (tmp_path / "t.json").write_text(json.dumps(rows))
        run = fit(tmp_path / "t.json", tmp_path / "run")
        with pytest.raises(UserError, match=r"\.json"):
            converted(run, "jsonl", tmp_path / "out.jsonl")
        assert not (tmp_path / "out.jsonl").exists()
        converted(run, "jsonl", tmp_path / "out.json")
        assert len(json.loads((tmp_path / "out.json").read_text())) == len(rows)

    def test_a_source_that_has_changed(self, tmp_path: Path) -> None:
        run = fit(SAMPLES / "flowers.csv", tmp_path / "run")
        (run / "source" / "flowers.csv").write_text("x,candidates\n1,a\n")
        with pytest.raises(UserError, match="has changed since the run was made"):
            convert(origin(run), "csv", tmp_path / "out.csv", tell=lambda told: None)


class TestCommand:
    def test_columns_formats_and_ways_to_combine(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "t.csv").write_text("n,p,q\na,0,1\nb,1,\n")
        out = str(tmp_path / "out.csv")
        assert main(["convert", str(tmp_path / "t.csv"), "--from", "cleanlab", "--to", "csv", "--out", out]) == 0
        assert named_sets(formats.read(out)) == [{"0", "1"}, {"1"}]
        told = ("--column", "p=annotator", "--column", "q=annotator", "--column", "n=id", "--combine", "largest")
        assert main(["convert", str(tmp_path / "t.csv"), "--to", "csv", "--out", out, *told]) == 0
        assert named_sets(formats.read(out)) == [{"0"}, {"1"}]
        capsys.readouterr()
        for bad, words in (("p", "write NAME=ROLE"), ("z=id", "no column 'z'"), ("p=thing", "cannot be 'thing'")):
            assert main(["convert", str(tmp_path / "t.csv"), "--to", "csv", "--out", out, "--column", bad]) == 2
            said = capsys.readouterr()
            assert words in said.err and said.out == "" and "Traceback" not in said.err
