"""Label Studio tasks (JSON), and the labelling configuration of a project.

The candidate set of a task is what its annotations chose together (cancelled ones apart); where there are none,
the choices it states itself (`data.candidates`). Written back, every task keeps its id, data and annotations, and gets
a prediction; in Label Studio the lowest score is then reviewed first.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import quoteattr

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.json_objects import Record
from pll.formats.limitations import added_labels, class_names, describe_added
from pll.formats.results import Results
from pll.formats.tools.models import VoterAnswer
from pll.formats.tools.records import (
    Example,
    Examples,
    RecordFormat,
    answers_of,
    choose_question,
    fields_of,
    has_own_sets,
    label_names,
)

QUESTION = "label"
"""Name of the question in the tasks that are written."""


def labelling_config(dataset: PartialLabelDataset, results: Results | None = None) -> str:
    """Return the labelling configuration for the tasks that `write` makes of a dataset.

    Where the tasks state their candidates, each offers these alone (`value="$candidates"`); else all classes.

    Examples
    --------
    >>> import numpy as np
    >>> print(labelling_config(PartialLabelDataset(np.ones((1, 0)), texts=np.array(["hi"]), class_names=("a", "b"))))
    <View>
      <Text name="text" value="$text"/>
      <Choices name="label" toName="text" choice="single">
        <Choice value="a"/>
        <Choice value="b"/>
      </Choices>
    </View>
    """
    payload = "image" if dataset.pictures is not None else "text"
    field = payload if dataset.pictures is not None or dataset.texts is not None else "id"
    return _config(dataset, results, QUESTION, payload, field, own_choices=has_own_sets(dataset))


def config_of_tasks(
    source: Path, dataset: PartialLabelDataset, results: Results, question: str, to_name: str | None
) -> str:
    """Return the labelling configuration for given tasks, with the names that their answers use.

    Parameters
    ----------
    dataset
        What was read of them.
    to_name
        What their answers point at, where there are some.
    """
    first = {name: value for _, task in islice(json_objects.records(source), 1) for name, value in task["data"].items()}
    payload = dataset.texts if dataset.pictures is None else dataset.pictures.names
    first_value = None if payload is None else payload[0]
    field = next((name for name, value in first.items() if value == first_value), next(iter(first), "id"))
    own = all(_offers(task) for _, task in json_objects.records(source))
    many = any(len(labels) > 1 for answers in answers_of(dataset) for _, labels in answers)
    default = "image" if dataset.pictures is not None else "text"
    choice: Literal["single", "multiple"] = "multiple" if many else "single"
    return _config(dataset, results, question, to_name or default, field, own_choices=own, choice=choice)


def _config(
    dataset: PartialLabelDataset,
    results: Results | None,
    question: str,
    to_name: str,
    field: str,
    *,
    own_choices: bool,
    choice: Literal["single", "multiple"] = "single",
) -> str:
    tag = "Image" if dataset.pictures is not None else "Text"
    choices = f'  <Choices name={quoteattr(question)} toName={quoteattr(to_name)} choice="{choice}"'
    if own_choices:
        lines = [f'{choices} value="$candidates"/>']
    else:
        new = () if results is None else filter(None, results.columns["identified_label"])  # people may add classes
        every = dict.fromkeys((*class_names(dataset), *new))
        names = [f"    <Choice value={quoteattr(name)}/>" for name in every]
        lines = [f"{choices}>", *names, "  </Choices>"]
    payload = f"  <{tag} name={quoteattr(to_name)} value={quoteattr('$' + field)}/>"
    return "\n".join(["<View>", payload, *lines, "</View>"])


def _offers(task: json_objects.Record) -> bool:
    """Whether a task states its own choices."""
    stated = task["data"].get("candidates")
    return isinstance(stated, list) and bool(stated)


OURS = "candid-"
"""Beginning of the id of a result that Candid wrote."""
BY = ", decided by "
"""Separator of run and person in the model version of a person's label."""
CONFIG = ".config.xml"
"""Ending of the file name of a labelling configuration."""

_LARGEST_ID = 2**31 - 1


class LabelStudio(RecordFormat):
    """Exports of Label Studio (JSON)."""

    name = "labelstudio"
    label = "Label Studio tasks (JSON)"
    tool = "Label Studio"
    adds = "Every task gets a prediction with its score."
    queue = "There, choose uncertainty sampling: the lowest score is shown first."
    is_list = True
    suffixes = (".json",)

    def sniff(self, path: Path, head: bytes) -> bool:
        first = json_objects.first_record(path, head)
        return first is not None and isinstance(first.get("data"), dict)

    def reader(self, path: Path, options: ReadOptions, notes: list[str]) -> Callable[[int, Record], Example]:
        survey = _survey(path)
        if survey.others:
            kinds = ", ".join(f"{count} of type {kind}" for kind, count in survey.others.most_common(5))
            notes.append(f"Answers that are no choices were left out: {kinds}.")
        question = choose_question(survey.counts, options, notes)
        return lambda row, task: _example(row, task, question, survey.people)

    def questions(self, path: Path) -> list[str]:
        return [name for name, _ in _survey(path).counts.most_common()]

    def models_answers(self, path: Path) -> Iterator[VoterAnswer]:
        """Yield the predictions in a file, but for those that Candid wrote: a label of a run is no vote.

        Raises
        ------
        UserError
            Tasks that are not as Label Studio writes them; the row is named.
        """
        for at, (row, task) in enumerate(json_objects.records(path)):
            for one in _listed(task.get("predictions")):
                score = one.get("score") if isinstance(one, dict) else None
                for result in _listed(one.get("result") if isinstance(one, dict) else None):
                    if _asks(result) is None or str(result.get("id", "")).startswith(OURS):
                        continue
                    for choice in label_names(result["value"]["choices"], row, "choices"):
                        yield VoterAnswer(
                            str(at) if _key(task) is None else str(_key(task)),
                            str(one.get("model_version") or "predictions"),
                            (choice,),
                            float(score) if isinstance(score, int | float) else math.nan,
                            question=(0, str(_asks(result))),
                        )

    @staticmethod
    def is_answered(record: Record) -> bool:
        """Whether a person answered."""
        return bool(record.get("annotations") or record.get("completions"))

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        lost = super().cannot_hold(dataset)
        if dataset.annotations is not None and has_own_sets(dataset):
            lost.append("Who gave which label, since the candidate sets are not just what the annotators named.")
        return lost

    def cannot_label(self, dataset: PartialLabelDataset, results: Results) -> list[str]:
        added = added_labels(dataset, results)
        if not added:
            return []
        return [
            f"A choice to click on in an old project for {describe_added(added)}: add it to the project's labelling "
            "interface, or take the labelling configuration that comes with this file."
        ]

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        return _tasks(dataset, results)

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        question = choose_question(_survey(source).counts, options, [])

        def predicted() -> Iterator[tuple[str, Record]]:
            to_name = _target(source, question)
            for at, (_, task) in enumerate(json_objects.records(source)):
                example = str(at) if _key(task) is None else str(_key(task))
                where = next(_targets(task, question), to_name)
                new = prediction(results, example, question or QUESTION, where)
                yield example, task if new is None else task | {"predictions": [*_of_others(task, results.model), new]}

        json_objects.write(path, results.in_order(predicted()), as_list=True)

    def extra_files(self, dataset: PartialLabelDataset, results: Results | None = None) -> dict[str, str]:
        return {CONFIG: labelling_config(dataset, results)}

    def extra_files_given_back(self, source: Path, results: Results, options: ReadOptions) -> dict[str, str]:
        question = choose_question(_survey(source).counts, options, [])
        data = self.read(source, options)
        return {CONFIG: config_of_tasks(source, data, results, question or QUESTION, _target(source, question))}


def prediction(results: Results, example: str, question: str, to_name: str | None) -> Record | None:
    """Return a task's prediction in the documented import format; None where there is no result for it."""
    label = results.label(example)
    if label is None:
        return None
    answer = choice_answer(f"{OURS}{example}"[:100], question, to_name or "text", [label])
    score = results.score(example)
    return {"model_version": _author(results, example), "result": [answer]} | (
        {} if score is None else {"score": score}
    )


def _author(results: Results, example: str) -> str:
    """Return the model version: Label Studio shows it beside a prediction and can filter by it."""
    if results.cell(example, "source") != "human":
        return results.model
    return f"{results.model}{BY}{results.cell(example, 'reviewer')}"


# ---- in --------------------------------------------------------------------------------------------------------------


def unanswered(tasks: Iterable[Record]) -> PartialLabelDataset:
    """Return the examples of tasks that are in memory, as `read` of a file with their ids and data alone.

    Parameters
    ----------
    tasks : iterable of JSON objects
        Each with its `id` and `data`.

    Raises
    ------
    UserError
        There are no tasks, or their data cannot be read.

    Examples
    --------
    >>> unanswered([{"id": 7, "data": {"text": "a fish"}}]).texts.tolist()
    ['a fish']
    """
    text = json.dumps([{name: task[name] for name in ("id", "data")} for task in tasks])
    examples = Examples(ReadOptions())
    for row, task in json_objects.records_in(text):
        examples.add(_example(row, task, None, {}))
    return examples.dataset()


def _example(row: int, task: Record, question: str | None, people: dict[str, str]) -> Example:
    data = task.get("data")
    if not isinstance(data, dict):
        raise UserError(f'Row {row}: the task has no data object; a task is {{"data": {{…}}, "annotations": […]}}.')
    example = Example(row, _key(task), data, _choices(data.get("candidates"), row))
    for annotation in _annotations(task, row):
        labels: list[str] = []
        for result in _listed(annotation.get("result")):
            if _asks(result) == question and question is not None:
                labels += label_names(result["value"]["choices"], row, "choices")
        number, name = _annotator(annotation)
        who = name or people.get(number or "", number) or f"annotation {annotation.get('id')}"
        example.answers.append((who, list(dict.fromkeys(labels))))
        if annotation.get("ground_truth") is True and len(labels) == 1:
            example.truth = labels[0]
    if any(labels for _, labels in example.answers):
        example.candidates = None  # the chosen ones replace the offered ones
    return example


def _key(task: Record) -> str | None:
    """Return the id of the task, else the one in its data."""
    data = task.get("data")
    task_id = task.get("id")
    if task_id is None and isinstance(data, dict):
        task_id = data.get("id")
    return None if task_id is None or isinstance(task_id, dict | list) else str(task_id)


def _annotations(task: Record, row: int) -> Iterator[Record]:
    """Yield the annotations that are not cancelled."""
    annotations = task.get("annotations")
    for annotation in _listed(annotations if annotations is not None else task.get("completions")):
        if not isinstance(annotation, dict):
            raise UserError(f"Row {row}: an annotation of the task is no object; export the tasks as JSON again.")
        if not annotation.get("was_cancelled") and not annotation.get("skipped"):
            yield annotation


def _annotator(annotation: Record) -> tuple[str | None, str | None]:
    """Return number and name of the annotator, where they are known."""
    who = annotation.get("completed_by")
    if not isinstance(who, dict):
        return None if who is None else str(who), None
    name = next((str(who[part]) for part in ("email", "username") if who.get(part)), None)
    return None if who.get("id") is None else str(who["id"]), name


def _choices(choices: Any, row: int) -> list[str] | None:
    """Return the choices in the task itself: objects with a value, or names."""
    if choices is None:
        return None
    values = [choice.get("value") if isinstance(choice, dict) else choice for choice in _listed(choices)]
    return label_names(values, row, "data.candidates") or None


@dataclass
class _Survey:
    """What is found in all tasks together.

    Attributes
    ----------
    questions
        How often each was answered with choices.
    predicted
        How often each was predicted with choices.
    others
        Answers of other types.
    people
        Their names by number: some exports have one here and the other there.
    """

    questions: Counter[str] = field(default_factory=Counter)
    predicted: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    people: dict[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[str]:
        """Return the questions that people answered; without any, those that models answered."""
        return self.questions or self.predicted


def _survey(path: Path) -> _Survey:
    survey = _Survey()
    for row, task in json_objects.records(path):
        for annotation in _annotations(task, row):
            number, name = _annotator(annotation)
            if number is not None and name is not None:
                survey.people[number] = name
            for result in _listed(annotation.get("result")):
                question = _asks(result)
                if question is not None:
                    survey.questions[question] += 1
                elif isinstance(result, dict):
                    survey.others[str(result.get("type"))] += 1
        for prediction in _listed(task.get("predictions")):
            for result in _listed(prediction.get("result") if isinstance(prediction, dict) else None):
                question = _asks(result)
                if question is not None:
                    survey.predicted[question] += 1
    return survey


def _asks(result: Any) -> str | None:
    """Return the question that a result answers with choices."""
    if not isinstance(result, dict) or not isinstance(result.get("value"), dict):
        return None
    return str(result.get("from_name", QUESTION)) if "choices" in result["value"] else None


def _targets(task: Record, question: str | None) -> Iterator[str]:
    """Yield the objects that the answers to the question refer to."""
    for kind in ("annotations", "completions", "predictions"):
        for annotation in _listed(task.get(kind)):
            for result in _listed(annotation.get("result") if isinstance(annotation, dict) else None):
                if _asks(result) is not None and _asks(result) == question and result.get("to_name"):
                    yield str(result["to_name"])


def _target(path: Path, question: str | None) -> str | None:
    """Return the objects that the answers in the file refer to, usually one."""
    return next((where for _, task in json_objects.records(path) for where in _targets(task, question)), None)


def _of_others(task: Record, model: str) -> list[Any]:
    """Return the predictions of a task by other models, without those by reviewers of this model's labels."""

    def is_own(one: Any) -> bool:
        author = one.get("model_version") if isinstance(one, dict) else None
        return author == model or (isinstance(author, str) and author.startswith(model + BY))

    return [one for one in _listed(task.get("predictions")) if not is_own(one)]


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


# ---- out -------------------------------------------------------------------------------------------------------------


def _tasks(dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
    ids = dataset.row_ids.tolist()
    numbered = all(name.isdecimal() and str(int(name)) == name and 0 < int(name) <= _LARGEST_ID for name in ids)
    stated = has_own_sets(dataset)
    answers = answers_of(dataset)
    to_name = "image" if dataset.pictures is not None else "text"
    for i, fields in enumerate(fields_of(dataset)):
        data = fields if numbered else {"id": ids[i]} | fields
        if stated and dataset.candidates is not None:
            data = data | {"candidates": [{"value": name} for name in dataset.candidates.names(i)]}
        task: Record = {"id": int(ids[i])} if numbered else {}
        task["data"] = data
        if not stated and dataset.annotations is not None:
            task["annotations"] = [_annotation(k, who, labels, to_name) for k, (who, labels) in enumerate(answers[i])]
        new = None if results is None else prediction(results, ids[i], QUESTION, to_name)
        yield task if new is None else task | {"predictions": [new]}


def _annotation(number: int, who: str, labels: list[str], to_name: str) -> Record:
    result = [choice_answer(f"a{number}", QUESTION, to_name, labels)]
    return {"completed_by": _person(who), "was_cancelled": False, "result": result}


def choice_answer(name: str, question: str, to_name: str, labels: list[str]) -> Record:
    """Return an answer with choices, as annotations and predictions have it in `result`."""
    return {"id": name, "from_name": question, "to_name": to_name, "type": "choices", "value": {"choices": labels}}


def _person(who: str) -> int | Record:
    """Return an annotator in Label Studio's import format: the number of a user, else an address."""
    return int(who) if who.isdecimal() and str(int(who)) == who else {"email": who}
