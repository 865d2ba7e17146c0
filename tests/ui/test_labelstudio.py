"""The requests of Label Studio, as it sends them, to a run of texts: predictions, annotations, and who may ask."""

from __future__ import annotations

import gc
import json
import shutil
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pll.catalog.sources import Source
from pll.cli.main import main
from pll.export.labelstudio import ChoiceQuestion, question_of
from pll.review.desk import Desk
from pll.review.session import ReviewSession
from pll.runs.config import RunConfig
from pll.runs.process import PerProcess
from pll.runs.registry import default_registry
from pll.runs.run import Run
from pll.ui import labelstudio_routes

CONFIG = """<View><Text name="t" value="$text"/><Choices name="kind" toName="t" choice="single">
<Choice value="fish"/><Choice value="bird"/><Choice value="tree"/></Choices></View>"""
WORDS = {"fish": "water fin scale swim river", "bird": "wing nest feather fly egg", "tree": "leaf root bark branch oak"}
CLASSES = list(WORDS)
N = 30


def text(row: int) -> str:
    return f"{WORDS[CLASSES[row % 3]]} number {row}"


@dataclass
class Connected:
    """A client that knows user and secret, the run, and its review."""

    client: TestClient
    run: str
    secret: str

    @property
    def review(self) -> ReviewSession:
        return labelstudio_routes.backend(self.run).queue.review

    def get(self, name: str, **options: Any) -> Any:
        return self.client.get(f"/labelstudio/{self.run}/{name}", **({"auth": ("candid", self.secret)} | options))

    def post(self, name: str, body: Any, **options: Any) -> Any:
        where = f"/labelstudio/{self.run}/{name}"
        answer = self.client.post(where, **({"auth": ("candid", self.secret), "json": body} | options))
        labelstudio_routes._work().submit(bool).result(60)  # until what was sent is stored
        return answer

    @property
    def said(self) -> str:
        """What came of the last event that was told, or of the last request."""
        latest = labelstudio_routes.recent_requests(self.run)
        return next((one for one in latest if " " not in one.request), latest[0]).outcome

    def annotate(self, row: int, labels: list[str], number: int, action: str = "ANNOTATION_CREATED") -> Any:
        result = [{"from_name": "kind", "to_name": "t", "type": "choices", "value": {"choices": labels}}]
        annotation = {"id": number, "result": result, "completed_by": 4, "created_username": " ann@example.org, 4"}
        return self.post("webhook", {"action": action, "annotation": annotation, "task": task(row)})


def task(row: int) -> dict[str, Any]:
    return {"id": 1000 + row, "data": {"text": text(row)}}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home with a run that has ended, and the run's id."""
    folder = tmp_path_factory.mktemp("trained")
    file = folder / "texts.csv"
    lines = [f"{text(row)},{CLASSES[row % 3]}|{CLASSES[(row + 1 + row // 15) % 3]}" for row in range(N)]
    lines[6] = f"{text(6)},{'|'.join(CLASSES)}"
    file.write_text("text,candidates\n" + "\n".join(lines) + "\n")
    params = {"epochs": 30, "threads": 1}
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PLL_HOME", str(folder / "home"))
        PerProcess.forget_all()
        run = default_registry().start(RunConfig(Source(file.name, str(file)), features="tfidf", params=params))
        run.join(60)
        default_registry().stop_all(30)
    return folder / "home", run.id


@pytest.fixture
def connected(
    trained: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Connected]:
    home, run_id = trained
    shutil.copytree(home, tmp_path / "home")
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "home"))
    PerProcess.forget_all()
    run = default_registry().get(run_id)
    assert main(["labelstudio", str(run.folder.path), "--url", "http://candid:8501/"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["url"] == f"http://candid:8501/labelstudio/{run.id}" and told["user"] == "candid"
    with TestClient(Starlette(routes=labelstudio_routes.LABEL_STUDIO_ROUTES)) as client:
        yield Connected(client, run.id, told["secret"])
    if run.folder.exists():
        labelstudio_routes.backend(run.id).queue.wait()
    default_registry().stop_all(30)
    PerProcess.forget_all()


def test_the_five_requests_of_a_connection(connected: Connected) -> None:
    health = connected.get("health")
    assert (health.status_code, health.json()["status"]) == (200, "UP")
    version = connected.get("versions").json()["versions"][0]
    setup = {"project": "1.1700000000", "schema": CONFIG, "hostname": "http://studio:8080", "access_token": "x"}
    assert connected.post("setup", setup).json()["model_version"] == version
    tasks = [task(row) for row in reversed(range(N))]
    answered = connected.post("predict", {"tasks": tasks, "label_config": CONFIG, "params": {"context": None}}).json()
    assert len(answered["results"]) == N
    for row, one in zip(reversed(range(N)), answered["results"], strict=True):
        (result,) = one["result"]
        assert (result["from_name"], result["to_name"], result["type"]) == ("kind", "t", "choices")
        assert result["value"]["choices"] == [connected.review.label_of(row)] == [CLASSES[row % 3]]
        assert (
            one["score"] == pytest.approx(connected.review.label_and_confidence(row)[1])
            and one["model_version"] == version
        )
    assert connected.post("webhook", {"action": "PROJECT_UPDATED"}).status_code == 201
    whats = [one.request for one in labelstudio_routes.recent_requests(connected.run)]
    assert set(whats[:2]) == {"PROJECT_UPDATED", "POST webhook"}
    assert whats[2:] == ["POST predict", "POST setup", "GET versions", "GET health"]


def test_annotations_are_decisions_and_can_be_taken_back(connected: Connected) -> None:
    assert connected.annotate(3, ["bird"], 7).status_code == 201
    event = connected.review.state.all_events[-1]
    assert (event.row, event.label, event.reviewer, event.control) == (3, "bird", "ann@example.org", False)
    assert connected.review.label_of(3) == "bird"
    (predicted,) = connected.post("predict", {"tasks": [task(3)], "label_config": CONFIG}).json()["results"]
    assert predicted["score"] == 1.0 and predicted["result"][0]["value"]["choices"] == ["bird"]
    connected.annotate(3, ["fish"], 7, "ANNOTATION_UPDATED")
    assert connected.review.label_of(3) == "fish"
    deleted = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 7}]}
    assert connected.post("webhook", deleted).status_code == 201 and connected.said == "2 decisions taken back."
    assert connected.review.state.outcome(3).status == "open"
    assert connected.annotate(3, ["oak"], 8).status_code == 201  # a class that nobody had named
    assert connected.review.label_of(3) == "oak"


def test_of_several_classes_none_is_settled_that_was_not_chosen_alone(connected: Connected) -> None:
    state, candidates = connected.review.state, connected.review.root.candidates.names
    assert sorted(candidates(0)) == ["bird", "fish"] and sorted(candidates(15)) == ["fish", "tree"]
    connected.annotate(0, ["tree", "oak"], 20)  # no candidate
    assert (state.outcome(0).status, connected.review.label_of(0)) == ("none", None)
    assert connected.said.endswith('stored as "none of these".')
    connected.annotate(15, ["fish", "oak"], 21)  # one candidate, and one beside it
    assert (state.outcome(15).status, state.outcome(15).eliminated) == ("unsure", frozenset())
    connected.annotate(15, ["fish", "tree"], 22)  # all candidates
    assert "rules nothing out" in connected.said
    for row in (0, 15):
        assert row not in connected.review.state.labels()[0]


def test_an_annotation_that_is_changed_takes_back_what_it_ruled_out(connected: Connected) -> None:
    assert sorted(connected.review.root.candidates.names(6)) == ["bird", "fish", "tree"]
    connected.annotate(6, ["bird", "fish"], 30)
    assert connected.review.state.outcome(6).eliminated == {"tree"}
    connected.annotate(6, ["bird", "tree"], 30, "ANNOTATION_UPDATED")
    outcome = connected.review.state.outcome(6)
    assert (outcome.status, outcome.eliminated) == ("open", {"fish"})


def test_a_blind_check_is_not_answered_from_label_studio(connected: Connected) -> None:
    connected.review.certify(0.3)
    assert connected.review.certification is not None
    controls = set(connected.review.certification.controls.tolist())
    control = min(controls)
    connected.annotate(control, ["fish"], 11)
    assert "blind check" in connected.said
    assert connected.review.state.outcome(control).status == "open"


def new_tasks() -> list[dict[str, Any]]:
    return [{"id": 5000 + k, "data": {"text": f"{words} anew"}} for k, words in enumerate(WORDS.values())]


def test_new_tasks_are_predicted_as_predict_does_by_the_model_under_review(
    connected: Connected, tmp_path: Path
) -> None:
    file, out = tmp_path / "new.json", tmp_path / "new.csv"
    file.write_text(json.dumps(new_tasks()))

    def check(run: Run) -> str:
        answered = connected.post("predict", {"tasks": [task(0), *new_tasks()], "label_config": CONFIG}).json()
        results = answered["results"][1:]
        assert main(["predict", str(run.folder.path), str(file), "--out", str(out)]) == 0
        expected = pd.read_csv(out)
        assert [one["result"][0]["value"]["choices"][0] for one in results] == expected.predicted_label.tolist()
        assert [one["score"] for one in results] == pytest.approx(expected.confidence.tolist(), abs=1e-6)
        return str(results[0]["model_version"])

    before = check(default_registry().get(connected.run))
    for row in range(12):
        connected.annotate(row, [CLASSES[row % 3]], 100 + row)
    connected.post("webhook", {"action": "START_TRAINING"})
    (retrained,) = [run for run in default_registry().all() if run.id != connected.run]
    default_registry().get(retrained.id).join(60)
    assert check(default_registry().get(retrained.id)) != before


@pytest.mark.parametrize("data", [{"image": "https://example.org/a.png"}, {"text": "\ud800"}, {}])
def test_a_new_task_that_the_model_cannot_read_gets_no_prediction(connected: Connected, data: dict[str, Any]) -> None:
    body = json.dumps({"tasks": [{"id": 5000, "data": data}], "label_config": CONFIG})
    (answer,) = connected.post("predict", None, content=body, json=None).json()["results"]
    assert (answer["result"], answer["score"]) == ([], 0.0)


def test_a_deleted_run_is_no_longer_in_memory(connected: Connected) -> None:
    assert connected.post("predict", {"tasks": new_tasks(), "label_config": CONFIG}).status_code == 200
    kept = weakref.ref(labelstudio_routes.backend(connected.run))
    default_registry().delete(connected.run)
    assert connected.post("predict", {"tasks": new_tasks(), "label_config": CONFIG}).status_code == 400
    gc.collect()
    assert kept() is None


def test_only_user_and_secret_of_the_run_open_it(connected: Connected) -> None:
    for auth in (None, ("candid", "wrong"), ("admin", connected.secret)):
        for ask in (connected.get("health", auth=auth), connected.post("predict", {"tasks": []}, auth=auth)):
            assert ask.status_code == 401 and "Basic" in ask.headers["WWW-Authenticate"]


def test_the_question_is_the_one_about_the_classes() -> None:
    other = '<View><Choices name="sure" toName="t"><Choice value="yes"/></Choices>' + CONFIG.removeprefix("<View>")
    assert question_of(other, CLASSES) == ChoiceQuestion("kind", "t")


def test_a_decision_of_the_desk_that_becomes_an_annotation_does_not_come_back(connected: Connected) -> None:
    desk = Desk(connected.review, "cem")
    desk.decide(desk.show(4), "pick", "tree")
    decisions = len(connected.review.state.all_events)
    annotation = {"id": 9, "result": [{"value": {"choices": ["tree"]}}], "completed_by": 4}
    created = {"action": "ANNOTATIONS_CREATED", "annotation": [annotation], "task": [task(4)]}
    assert connected.post("webhook", created).status_code == 201  # "Create Annotations From Predictions"
    assert "was not stored" in connected.said and len(connected.review.state.all_events) == decisions
