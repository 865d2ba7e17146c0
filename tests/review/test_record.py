"""Decisions on their way out: labels with their source, the audit trail, back into the file they came from."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from pll.catalog.sources import Source
from pll.errors import UserError
from pll.export.bundle import archive_data
from pll.export.convert import convert
from pll.export.parts import exporters_of
from pll.export.run_export import export_source
from pll.review.database import Database
from pll.review.desk import Desk
from pll.review.record import record_of
from pll.review.session import ReviewSession, open_review
from pll.runs.config import RunConfig
from pll.runs.registry import RunRegistry
from pll.runs.run import Run
from tests.review_helpers import close
from tests.run_helpers import config, registry_in, write_data


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PLL_DATABASE_URL", raising=False)
    return tmp_path


@pytest.fixture
def runs(home: Path) -> Iterator[RunRegistry]:
    registry = RunRegistry(home / "runs")
    yield registry
    registry.stop_all()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    with registry_in(folder) as registry:
        return run_of(registry, config(write_data(folder / "data.npz"))).folder.path


@pytest.fixture
def run(runs: RunRegistry, trained: Path) -> Run:
    """A small run that has ended."""
    shutil.copytree(trained, runs.root / trained.name)
    return runs.get(trained.name)


def run_of(runs: RunRegistry, made: RunConfig) -> Run:
    run = runs.start(made)
    run.join(60)
    assert run.folder.state()["state"] == "finished"
    return run


def reviewed(runs: RunRegistry, run: Run) -> ReviewSession:
    """Row 0: the second candidate; row 1: a new class; row 2: none of these; row 3: unsure; row 4: undone."""
    review = open_review(run, Database(), runs.get, opened_by="Ann")
    desk = Desk(review, 'Ann, "the" reviewer')
    one = desk.show(0)
    desk.decide(one, "pick", one.choices[-1].label, seconds=1.5, note="a\nb")
    desk.decide(desk.show(1), "other", "lynx, perhaps")
    desk.decide(desk.show(2), "none")
    desk.decide(desk.show(3), "unsure")
    one = desk.show(4)
    desk.decide(one, "pick", one.choices[-1].label)
    desk.undo()
    return review


def test_a_run_that_nobody_reviewed_has_no_record_and_makes_no_database(run: Run, home: Path) -> None:
    assert record_of(run.folder) is None
    assert not (home / "home").exists()
    source = export_source(run.folder)
    assert source.decisions is None and "audit-csv" not in exporters_of(source)


@pytest.mark.usefixtures("no_programs")
def test_the_audit_trail_holds_everything_also_what_was_undone(runs: RunRegistry, run: Run, home: Path) -> None:
    review = reviewed(runs, run)
    source = export_source(run.folder)
    for name in ("audit-csv", "audit-jsonl"):
        part = exporters_of(source)[name]
        part.write(source, home / part.file_name)
    with (home / "audit.csv").open(newline="", encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    lines = [json.loads(line) for line in (home / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    opened, table, lines = table[0], table[1:], lines[1:]
    assert (opened["kind"], opened["event"], opened["reviewer"], opened["version"]) == ("version", "", "Ann", "1")
    assert opened["note"] == "first"
    assert [row["kind"] for row in table] == ["pick", "other", "none", "unsure", "pick", "undo"]
    assert [row["undone"] for row in table] == ["false"] * 4 + ["true", "false"]
    assert (table[5]["undoes"], table[0]["seconds"], table[0]["note"]) == (table[4]["event"], "1.5", "a\nb")
    ids = review.root.ids
    assert [line["id"] for line in lines] == [*ids[:5].tolist(), str(ids[4])]
    assert (lines[1]["before"], lines[1]["after"]) == (review.root.labels[1], "lynx, perhaps")
    assert (lines[2]["before"], lines[2]["after"]) == (review.root.labels[2], None)
    assert dict(lines[0]["weights"]) == pytest.approx(review.root.weights_of(0), abs=1e-6)
    assert json.loads(table[0]["weights"]) == lines[0]["weights"]
    assert b"audit.csv" in archive_data(source)
    close(review)


def test_decisions_go_back_into_the_format_they_came_from(runs: RunRegistry, home: Path) -> None:
    tasks = [
        {"id": k, "data": {"text": f"text {k} " + "ab"[k % 2] * 3}, "annotations": [_said("cat"), _said("dog")]}
        for k in range(40)
    ]
    file = home / "tasks.json"
    file.write_text(json.dumps(tasks))
    params = {"model": "linear", "epochs": 3, "threads": 1}
    run = run_of(runs, RunConfig(source=Source(file.name, str(file)), params=params))
    review = reviewed(runs, run)
    convert(run.folder, "labelstudio", home / "out.json", tell=lambda notes: None)
    given_back = json.loads((home / "out.json").read_text())
    assert [task["id"] for task in given_back] == list(range(40))
    said = [_predicted(task) for task in given_back]
    assert said[:2] == [review.state.decisions()[0].label, "lynx, perhaps"]
    assert said[2] is None  # none of these: no label to give back
    assert said[3:] == review.current.labels[3:].tolist()
    convert(run.folder, "csv", home / "out.csv", tell=lambda notes: None)
    table = pd.read_csv(home / "out.csv", dtype=str, keep_default_na=False)
    assert table["source"].tolist()[:4] == ["human", "human", "human", "model"]
    close(review)


def _said(choice: str) -> dict[str, object]:
    value = {"choices": [choice]}
    return {"result": [{"from_name": "label", "to_name": "text", "type": "choices", "value": value}]}


def _predicted(task: dict[str, object]) -> str | None:
    predictions = task.get("predictions")
    if not isinstance(predictions, list) or not predictions:
        return None
    return str(predictions[-1]["result"][0]["value"]["choices"][0])


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE event SET label = 'dog' WHERE id = 1",
        "UPDATE event SET row = 7 WHERE id = 1",
        "UPDATE event SET undoes = 3000 WHERE undoes IS NOT NULL",
        "UPDATE event SET kind = 'skip' WHERE id = 3",
        "DELETE FROM event WHERE id = 2",
    ],
)
def test_a_decision_that_is_not_what_was_stored_leaves_nowhere(
    runs: RunRegistry, run: Run, home: Path, damage: str
) -> None:
    review = reviewed(runs, run)
    assert export_source(run.folder).decisions
    review.database.close()
    with closing(sqlite3.connect(home / "home" / "reviews.sqlite3")) as database, database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")  # a disk does not ask them
        assert database.execute(damage).rowcount == 1
    with pytest.raises(UserError, match="damaged"):
        export_source(run.folder)
    with pytest.raises(UserError, match="damaged"):
        open_review(run, Database(), runs.get, opened_by="Ann")
    with closing(sqlite3.connect(home / "home" / "reviews.sqlite3")) as database, database:
        database.execute("UPDATE event SET hash = NULL")  # as docs/server.md says
    if "row" not in damage and "undoes" not in damage:
        assert export_source(run.folder).decisions
