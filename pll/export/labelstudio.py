"""A run as the machine-learning backend of a Label Studio project: its labels go there live, answers come back.

Label Studio requests predictions of tasks and sends every annotation; `Backend` answers from the run and its review.
An annotation is a decision of *Look* with its annotator, used for training like any other. It is never the answer to a
control of the certificate, since the annotator may have seen the prediction, and controls are blind.

What this file is not about: HTTP and passwords (`pll.ui.labelstudio_routes`, `pll.export.connections`).

References
----------
The requests and answers are those of label-studio-ml-backend (https://github.com/HumanSignal/label-studio-ml-backend)
as Label Studio 1.23 sends and reads them.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.export.predictions import Predictor
from pll.formats.tools.exports import choice_answer, unanswered
from pll.review.desk import Assignment, DecisionResult, Desk
from pll.review.events import Event
from pll.review.queue import ReviewQueue
from pll.runs.run import Run
from pll.wording import count

Json = Mapping[str, Any]

ANNOTATED = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED")
DELETING_ACTIONS = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")
TRAIN = "START_TRAINING"
SCORES = {"label": 1.0, "none": 0.0}
"""Score of what a person decided: a label, or that none is right."""
COUNTS_AS = {"none": '"none of these"', "unsure": '"not sure"'}
"""In words, the decisions that say less than an annotation."""


@dataclass(frozen=True)
class ChoiceQuestion:
    """The choices of a labelling configuration that the classes belong to.

    Attributes
    ----------
    from_name, to_name : str
        Names of the `Choices` tag and of what it is about.
    """

    from_name: str
    to_name: str


def question_of(config: str, classes: Sequence[str]) -> ChoiceQuestion:
    """Return the question of a labelling configuration (XML) that asks for these classes.

    Parameters
    ----------
    config : str
        The labelling configuration of the project.
    classes : sequence of str
        Names of the run's classes: of several questions, the one that offers most of them is taken.

    Raises
    ------
    UserError
        The configuration is no XML, or asks no question with choices.

    Examples
    --------
    >>> question_of('<View><Text name="t" value="$text"/><Choices name="kind" toName="t"/></View>', ["a"])
    ChoiceQuestion(from_name='kind', to_name='t')
    """
    if "<!DOCTYPE" in config or "<!ENTITY" in config:
        raise UserError("The labelling configuration declares a document type; Label Studio's own never do.")
    try:
        root = ElementTree.fromstring(config)
    except ElementTree.ParseError as error:
        raise UserError(f"The labelling configuration is not XML: {error}.") from error
    wanted = set(classes)
    result = [tag for tag in root.iter("Choices") if tag.get("name") and tag.get("toName")]
    if not result:
        raise UserError("The labelling configuration has no <Choices> with a name and toName; Candid predicts choices.")
    best = max(result, key=lambda tag: len(wanted & {str(choice.get("value")) for choice in tag.iter("Choice")}))
    return ChoiceQuestion(str(best.get("name")), str(best.get("toName")))


class Backend:
    """One run, as Label Studio sees it. Safe to share between threads.

    Parameters
    ----------
    run : Run
        Finished.
    queue : ReviewQueue
        Of the review that the run belongs to: where annotations become decisions.
    """

    def __init__(self, run: Run, queue: ReviewQueue) -> None:
        self.run = run
        self.queue = queue
        self._lock = threading.Lock()
        self._loaded: tuple[str, Predictor] | None = None

    @property
    def version(self) -> str:
        """Name of the model, as Label Studio shows it beside predictions; changes when the model is retrained."""
        return f"candid-{self.run.id[:8]}-{self.queue.review.version.number}"

    def setup(self, config: str) -> dict[str, str]:
        """Answer `POST setup`: check that the project asks what the run answers.

        Raises
        ------
        UserError
            See `question_of`.
        """
        self.question(config)
        return {"model_version": self.version}

    def question(self, config: str) -> ChoiceQuestion:
        """Return the question of a labelling configuration that asks for the run's classes; see `question_of`."""
        return question_of(config, self.queue.review.root.candidates.class_names)

    # ---- predictions ---------------------------------------------------------------------------------------------

    def predict(self, tasks: Sequence[Json], config: str) -> list[dict[str, Any]]:
        """Answer `POST predict`: one prediction a task, in the order of the tasks.

        Parameters
        ----------
        tasks : sequence of JSON objects
            Tasks of Label Studio, each with its `data`.
        config : str
            The labelling configuration.

        Returns
        -------
        list of JSON objects
            `result` (empty where there is no label), `score` in [0, 1] (1 where a person decided, 0 without a label)
            and `model_version`.

        Raises
        ------
        UserError
            The configuration asks no question, or a task has no data.
        """
        self.queue.adopt_retrained()
        question, review = self.question(config), self.queue.review
        rows = [self.rows.find(task) for task in tasks]
        new = iter(self._predict_new([task for task, row in zip(tasks, rows, strict=True) if row is None]))
        result = []
        for place, row in enumerate(rows):
            if row is None:
                label, score = next(new)
            else:
                status, label = review.state.outcome(row).status, review.label_of(row)
                score = SCORES[status] if status in SCORES else review.label_and_confidence(row)[1]
            result.append(self._prediction(place, question, label, score))
        return result

    def _prediction(self, place: int, question: ChoiceQuestion, label: str | None, score: float) -> dict[str, Any]:
        answers = [choice_answer(f"candid-{place}", question.from_name, question.to_name, [label])] if label else []
        known = score if score == score else 0.0  # NaN: it is not known how sure the label is, so it is looked at first
        return {"result": answers, "score": known, "model_version": self.version}

    def _predict_new(self, tasks: Sequence[Json]) -> list[tuple[str | None, float]]:
        """Predict examples outside the run; no label where the model cannot read them."""
        if not tasks:
            return []
        plain = [{"id": place + 1, "data": _without_answers(task["data"])} for place, task in enumerate(tasks)]
        try:
            data = unanswered(plain)
            predicted = self._predictor().predict(data)
        except UserError:  # pictures at an address, or votes alone: no features
            return [(None, 0.0)] * len(tasks)
        return list(zip(map(str, predicted.labels), map(float, predicted.confidence), strict=True))

    def _predictor(self) -> Predictor:
        """The model whose labels are under review, in memory until a retrained one is adopted."""
        run = self.queue.run
        with self._lock:
            if self._loaded is None or self._loaded[0] != run.id:
                self._loaded = run.id, Predictor(run.folder.path)
            return self._loaded[1]

    @cached_property
    def rows(self) -> RowFinder:
        """Where the run has the example of a task."""
        with self._lock:
            return RowFinder(self.run.splits().train)

    # ---- annotations ---------------------------------------------------------------------------------------------

    def receive(self, event: Json) -> str:
        """Handle a webhook of Label Studio: store an annotation, undo one, or start training.

        Parameters
        ----------
        event : JSON object
            With `action` and what it is about.

        Returns
        -------
        str
            What was done, as a sentence for the list of requests.

        Raises
        ------
        UserError
            It cannot be stored; nothing is.
        """
        self.queue.adopt_retrained()
        action = str(event.get("action", ""))
        if action in ANNOTATED:
            pairs = zip(_objects(event, "annotation"), _objects(event, "task"), strict=False)
            reply = " ".join([self._store(annotation, task) for annotation, task in pairs])
        elif action in DELETING_ACTIONS:
            name = "annotations" if "annotations" in event else "annotation"
            reply = self._take_back([one.get("id") for one in _objects(event, name)])
        elif action == TRAIN:
            run = self.queue.retraining.begin(by="Label Studio")
            return f"Training on the decisions has started: run {run.id}."
        else:
            return f"{action or 'A request without an action'} needs nothing of Candid."
        self.queue.update_order()
        return reply

    def _store(self, annotation: Json, task: Json) -> str:
        row = self.rows.find(task)
        if row is None:
            return "The run has no such example: its model predicts it, and nothing was stored."
        if annotation.get("was_cancelled"):
            return "The annotation was skipped in Label Studio; nothing was stored."
        labels = choices_of(annotation)
        if not labels:
            return "The annotation chooses nothing; nothing was stored."
        review = self.queue.review
        certification = review.certification
        if certification is not None and row in certification.controls and not review.state.answers[row]:
            return "This example is a blind check of the certificate; the annotation was not stored."
        note = _note(annotation.get("id"))
        desk = Desk(review, _annotator(annotation))
        assignment = desk.show(row)
        if not assignment.token:
            return "Another reviewer has this example, or has answered it; the annotation was not stored."
        before = [event for event in review.state.live_events(row) if event.note == note]
        ruled_out = [event for event in before if event.kind == "eliminate"]
        for event in ruled_out:  # the annotation was changed: these may be chosen now
            desk.undo(event.id)
        done = self._decide(desk, desk.show(row) if ruled_out else assignment, labels, note)
        if done is None or done.event is None:
            return (done.notice if done is not None else "") or "The annotation rules nothing out; nothing was stored."
        counts = f", stored as {COUNTS_AS[done.event.kind]}" if done.event.kind in COUNTS_AS else ""
        return f"{assignment.example}: {', '.join(labels)} by {desk.reviewer}{counts}."

    def _decide(self, desk: Desk, assignment: Assignment, labels: Sequence[str], note: str) -> DecisionResult | None:
        """Store that one of these classes is right, as far as the candidates can say it; None where they say nothing.

        Of several, all of them candidates: the others are wrong. None a candidate: no candidate is right. Only some:
        the annotator is unsure, since ruling out the others would leave these alone.
        """
        if len(labels) == 1:
            names = [choice.label for choice in assignment.choices]
            return desk.decide(assignment, "pick" if labels[0] in names else "other", labels[0], note=note)
        own = self.queue.review.root.candidates.names(assignment.row)
        chosen = [name for name in own if name in labels]
        done = None
        if not chosen:
            done = desk.decide(assignment, "none", note=note)
        elif len(chosen) < len(labels):
            done = desk.decide(assignment, "unsure", note=note)
        else:
            for label in [name for name in own if name not in labels]:
                done = desk.decide(assignment, "eliminate", label, note=note)
                assignment = done.next or assignment
        desk.release()
        return done

    def _take_back(self, annotations: Sequence[object]) -> str:
        notes = {_note(number) for number in annotations}
        state = self.queue.review.state
        result: list[Event] = [event for event in state.all_events if event.note in notes and state.is_live(event)]
        for event in reversed(result):
            desk = Desk(self.queue.review, event.reviewer)
            desk.undo(event.id)
            desk.release()
        return f"{count(len(result), 'decision')} taken back."


class RowFinder:
    """Finds the example of a task among those of a run: by its id where the rest agrees, else by its data.

    Parameters
    ----------
    data : PartialLabelDataset
        The training examples.
    """

    def __init__(self, data: PartialLabelDataset) -> None:
        self._by_id = {name: row for row, name in enumerate(data.row_ids.tolist())}
        shown = data.texts if data.pictures is None else data.pictures.names
        self._shown = None if shown is None else [_plain(value) for value in shown]
        self._by_shown: dict[str, int] = {}
        for row, value in enumerate(self._shown or ()):
            self._by_shown.setdefault(value, row)
        self._names = data.feature_names if self._shown is None else ()
        self._X = data.X if self._names else None
        self._by_features: dict[tuple[float, ...], int] = {}
        if self._X is not None:
            for row, values in enumerate(self._X.tolist()):
                self._by_features.setdefault(tuple(values), row)

    def find(self, task: Json) -> int | None:
        """Return the row of a task's example, or None where the run does not hold it.

        Raises
        ------
        UserError
            The task has no data object.
        """
        fields = _object(task, "data")
        for number in (fields.get("id"), task.get("id")):
            row = None if number is None else self._by_id.get(str(number))
            if row is not None and self._agrees(row, fields):
                return row
        for value in fields.values():
            if isinstance(value, str) and (row := self._by_shown.get(_plain(value))) is not None:
                return row
        values = self._values(fields)
        return None if values is None else self._by_features.get(values)

    def _agrees(self, row: int, fields: Json) -> bool:
        """Whether a task's data is that of a row; ids alone may be counted from 1 in two places."""
        if self._shown is not None:
            return self._shown[row] in {_plain(value) for value in fields.values() if isinstance(value, str)}
        if self._X is not None:
            return self._values(fields) == tuple(self._X[row].tolist())
        return "id" in fields  # votes alone: the id is all there is, and we wrote it into the task's data

    def _values(self, fields: Json) -> tuple[float, ...] | None:
        """Return a task's features as the data set has them (float32); None where one is missing."""
        if self._X is None:
            return None
        try:
            return tuple(self._X.dtype.type(fields[name]).item() for name in self._names)
        except (KeyError, TypeError, ValueError):
            return None


def _plain(value: str) -> str:
    """Normalise a text for comparison; of an address or path its last part."""
    text = value.strip()
    is_place = "/" in text and not any(letter.isspace() for letter in text)
    return PurePosixPath(text.partition("?")[0]).name if is_place else text


def _object(of: Json, name: str) -> Json:
    value = of.get(name)
    if not isinstance(value, dict):
        raise UserError(f"The request has no object {name!r}.")
    return value


def _objects(of: Json, name: str) -> list[Json]:
    """One object or a list of them; Label Studio sends several that came at once as a list."""
    value = of.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else [_object(of, name)]


def choices_of(annotation: Json) -> list[str]:
    """Return the classes that an annotation or a prediction chose, each once."""
    results = annotation.get("result")
    values = [one.get("value") for one in results if isinstance(one, dict)] if isinstance(results, list) else []
    chosen = [
        value["choices"] for value in values if isinstance(value, dict) and isinstance(value.get("choices"), list)
    ]
    return list(dict.fromkeys(str(name) for names in chosen for name in names))


def _annotator(annotation: Json) -> str:
    """Return the annotator: the address if Label Studio sends it, else the number of the user."""
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("username") or who.get("id")
    named = str(annotation.get("created_username") or "").rpartition(",")[0].strip()
    return named or (who if isinstance(who, str) else f"Label Studio user {who}")


def _note(annotation: object) -> str:
    return f"Label Studio annotation {annotation}"


def _without_answers(fields: Json) -> dict[str, Any]:
    """A task's data without what states its candidates, which the model does not learn from."""
    return {name: value for name, value in fields.items() if name not in ("candidates", "id")}
