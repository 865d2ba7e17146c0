"""Label Studio tasks (JSON), and the labelling configuration of a project.

The candidate set of a task is what its annotations chose together (cancelled ones apart); where there are none,
the choices it states itself (`data.candidates`). Written back, every task keeps its id, data and annotations, and gets
a prediction; in Label Studio the lowest score is then reviewed first.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from pll.dataset import PartialLabelDataset
from pll.errors import RowError
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.json_objects import Record
from pll.formats.limitations import added_limitation, class_names
from pll.formats.results import Results
from pll.formats.tabular.writer import answers_of
from pll.formats.tools.records import (
    Example,
    RecordFormat,
    choose_question,
    dataset_of,
    examples_of,
    has_own_sets,
    label_names,
)

QUESTION = "label"
"""Name of the question in the tasks that are written."""
OURS = "candid-"
"""Beginning of the id of a result that Candid wrote."""
BY = ", decided by "
"""Separator of run and person in the model version of a person's label."""
CONFIG = ".config.xml"
"""Ending of the file name of a labelling configuration."""

_LARGEST_ID = 2**31 - 1
_OF_A_TASK = {"annotations", "completions", "predictions", "drafts", "project", "inner_id", "total_annotations"}
"""Fields of which a task has one at least, where it has more than its data."""


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
        if first is None or not isinstance(first.get("data"), dict):
            return False
        return first.keys() <= {"id", "data", "meta"} or not _OF_A_TASK.isdisjoint(first)

    def reader(self, path: Path, options: ReadOptions, notes: list[str]) -> Callable[[int, Record], Example]:
        questions, others, people = _survey(path)
        if others:
            kinds = ", ".join(f"{count} of type {kind}" for kind, count in others.most_common(5))
            notes.append(f"Answers that are no choices were left out: {kinds}.")
        question = choose_question(questions, options, notes)
        return lambda row, task: _example(row, task, question, people)

    def questions(self, path: Path) -> list[str]:
        return [name for name, _ in _survey(path)[0].most_common()]

    def models_answers(self, path: Path) -> Iterator[Record]:
        """Yield the predictions in a file, but for those that Candid wrote: a label of a run is no vote.

        They are lines of `pll.formats.tools.models`.

        Raises
        ------
        UserError
            Tasks that are not as Label Studio writes them; the row is named.
        """
        for at, (row, task) in enumerate(json_objects.records(path)):
            for one in _listed(task.get("predictions")):
                for question, result in _answers(one):
                    if question is None or str(result.get("id", "")).startswith(OURS):
                        continue
                    worker, score = str(one.get("model_version") or "predictions"), one.get("score")
                    line: Record = {"task": _key(task) or str(at), "worker": worker, "question": question}
                    line["score"] = float(score) if isinstance(score, int | float) else None
                    for choice in label_names(result["value"]["choices"], row, "choices"):
                        yield line | {"vote": choice}

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        lost = super().cannot_hold(dataset)
        if dataset.annotations is not None and has_own_sets(dataset):
            lost.append("Who gave which label, since the candidate sets are not just what the annotators named.")
        return lost

    def cannot_label(self, dataset: PartialLabelDataset, results: Results) -> list[str]:
        sentence = (
            "A choice to click on in an old project for {}: add it to the project's labelling interface, or take the "
            "labelling configuration that comes with this file."
        )
        return added_limitation(dataset, results, sentence)

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        ids = dataset.row_ids.tolist()
        numbered = all(name.isdecimal() and str(int(name)) == name and 0 < int(name) <= _LARGEST_ID for name in ids)
        to_name = "image" if dataset.pictures is not None else "text"
        for name, example in zip(ids, examples_of(dataset), strict=True):
            task: Record = {"id": int(name)} if numbered else {}
            task["data"] = example.fields if numbered else {"id": name} | dict(example.fields)
            if example.candidates is not None:
                task["data"] = task["data"] | {"candidates": [{"value": label} for label in example.candidates]}
            elif dataset.annotations is not None:
                task["annotations"] = [
                    {
                        "completed_by": int(who) if who.isdecimal() and str(int(who)) == who else {"email": who},
                        "was_cancelled": False,
                        "result": [choice_answer(f"a{number}", QUESTION, to_name, labels)],
                    }
                    for number, (who, labels) in enumerate(example.answers)
                ]
            new = None if results is None else _prediction(results, name, QUESTION, to_name)
            yield task if new is None else task | {"predictions": [new]}

    def labelled_records(self, source: Path, results: Results, options: ReadOptions) -> Iterator[tuple[str, Record]]:
        question = choose_question(_survey(source)[0], options, [])
        to_name = _target(source, question)
        for at, (_, task) in enumerate(json_objects.records(source)):
            name = _key(task) or str(at)
            new = _prediction(results, name, question or QUESTION, next(_targets(task, question), to_name))
            yield name, task if new is None else task | {"predictions": [*_of_others(task, results.model), new]}

    def extra_files(self, dataset: PartialLabelDataset, results: Results | None = None) -> dict[str, str]:
        has_payload = dataset.pictures is not None or dataset.texts is not None
        shown = None if has_payload else "id"
        return {CONFIG: _labelling_config(dataset, results, shown=shown, own_choices=has_own_sets(dataset))}

    def extra_files_given_back(self, source: Path, results: Results, options: ReadOptions) -> dict[str, str]:
        question, data = choose_question(_survey(source)[0], options, []), self.read(source, options)
        first = next(json_objects.records(source))[1]["data"]
        payload = data.texts if data.pictures is None else data.pictures.names
        shown = None if payload is None else next((name for name, value in first.items() if value == payload[0]), None)
        config = _labelling_config(
            data,
            results,
            question=question or QUESTION,
            to_name=_target(source, question),
            shown=shown or next(iter(first), "id"),
            own_choices=all(_listed(task["data"].get("candidates")) for _, task in json_objects.records(source)),
            choice="multiple" if any(len(labels) > 1 for one in answers_of(data) for _, labels in one) else "single",
        )
        return {CONFIG: config}


def _labelling_config(
    dataset: PartialLabelDataset,
    results: Results | None = None,
    *,
    question: str = QUESTION,
    to_name: str | None = None,
    shown: str | None = None,
    own_choices: bool = False,
    choice: str = "single",
) -> str:
    """The labelling configuration for tasks that show the field `shown` and answer about `to_name`.

    With their own choices each task offers its candidates alone (`value="$candidates"`), else all classes, those that a
    person added among them.

    >>> import numpy as np
    >>> data = PartialLabelDataset(np.ones((1, 0)), texts=np.array(["hi"]), class_names=("a", "b"))
    >>> print(_labelling_config(data))
    <View>
      <Text name="text" value="$text"/>
      <Choices name="label" toName="text" choice="single">
        <Choice value="a"/>
        <Choice value="b"/>
      </Choices>
    </View>
    """
    tag = "Text" if dataset.pictures is None else "Image"
    target = quoteattr(to_name or tag.lower())
    choices = f'  <Choices name={quoteattr(question)} toName={target} choice="{choice}"'
    if own_choices:
        lines = [f'{choices} value="$candidates"/>']
    else:
        new = () if results is None else filter(None, results.columns["identified_label"])
        every = dict.fromkeys((*class_names(dataset), *new))
        lines = [f"{choices}>", *(f"    <Choice value={quoteattr(name)}/>" for name in every), "  </Choices>"]
    return "\n".join(
        ["<View>", f"  <{tag} name={target} value={quoteattr('$' + (shown or tag.lower()))}/>", *lines, "</View>"]
    )


def choice_answer(name: str, question: str, to_name: str, labels: list[str]) -> Record:
    """Return an answer with choices, as annotations and predictions have it in `result`."""
    return {"id": name, "from_name": question, "to_name": to_name, "type": "choices", "value": {"choices": labels}}


def _prediction(results: Results, example: str, question: str, to_name: str | None) -> Record | None:
    """A task's prediction in the documented import format; None where there is no result for it.

    Label Studio shows the model version beside it and can filter by it.
    """
    label, score = results.label(example), results.confidence(example)
    if label is None:
        return None
    is_human = results.cell(example, "source") == "human"
    author = f"{results.model}{BY}{results.cell(example, 'reviewer')}" if is_human else results.model
    answer = choice_answer(f"{OURS}{example}"[:100], question, to_name or "text", [label])
    return {"model_version": author, "result": [answer]} | ({} if score is None else {"score": score})


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
    examples = (_example(row, task, None, {}) for row, task in json_objects.records_in(text))
    return dataset_of(examples, ReadOptions())


def _example(row: int, task: Record, question: str | None, people: dict[str, str]) -> Example:
    data = task.get("data")
    if not isinstance(data, dict):
        raise RowError(f'Row {row}: the task has no data object; a task is {{"data": {{…}}, "annotations": […]}}.')
    offered = [one.get("value") if isinstance(one, dict) else one for one in _listed(data.get("candidates"))]
    example = Example(row, _key(task), data, label_names(offered, row, "data.candidates") or None)
    for annotation in _annotations(task, row):
        labels: list[str] = []
        for asked, result in _answers(annotation):
            if asked is not None and asked == question:
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
    data, name = task.get("data"), task.get("id")
    if name is None and isinstance(data, dict):
        name = data.get("id")
    return None if name is None or isinstance(name, dict | list) else str(name)


def _annotations(task: Record, row: int) -> Iterator[Record]:
    """Yield the annotations that are not cancelled."""
    annotations = task.get("annotations")
    for annotation in _listed(annotations if annotations is not None else task.get("completions")):
        if not isinstance(annotation, dict):
            raise RowError(f"Row {row}: an annotation of the task is no object; export the tasks as JSON again.")
        if not annotation.get("was_cancelled") and not annotation.get("skipped"):
            yield annotation


def _annotator(annotation: Record) -> tuple[str | None, str | None]:
    """Return number and name of the annotator, where they are known."""
    who = annotation.get("completed_by")
    if not isinstance(who, dict):
        return None if who is None else str(who), None
    name = next((str(who[part]) for part in ("email", "username") if who.get(part)), None)
    return None if who.get("id") is None else str(who["id"]), name


def _answers(answered: Any) -> Iterator[tuple[str | None, Record]]:
    """Yield the results in an annotation or a prediction, each with the question; None where they are no choices."""
    for result in _listed(answered.get("result") if isinstance(answered, dict) else None):
        if isinstance(result, dict):
            is_choice = isinstance(result.get("value"), dict) and "choices" in result["value"]
            yield str(result.get("from_name", QUESTION)) if is_choice else None, result


def _survey(path: Path) -> tuple[Counter[str], Counter[str], dict[str, str]]:
    """What is found in all tasks together.

    Returns
    -------
    How often people answered each question with choices; without any answer, how often models did. How many answers are
    of other types. The names of people by number: some exports have one here and the other there.
    """
    questions: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    others: Counter[str] = Counter()
    people: dict[str, str] = {}
    for row, task in json_objects.records(path):
        for annotation in _annotations(task, row):
            number, name = _annotator(annotation)
            if number is not None and name is not None:
                people[number] = name
            for question, result in _answers(annotation):
                if question is None:
                    others[str(result.get("type"))] += 1
                else:
                    questions[question] += 1
        for prediction in _listed(task.get("predictions")):
            predicted.update(question for question, _ in _answers(prediction) if question is not None)
    return questions or predicted, others, people


def _targets(task: Record, question: str | None) -> Iterator[str]:
    """Yield the objects that the answers to the question refer to."""
    for kind in ("annotations", "completions", "predictions"):
        for answered in _listed(task.get(kind)):
            for asked, result in _answers(answered):
                if asked is not None and asked == question and result.get("to_name"):
                    yield str(result["to_name"])


def _target(path: Path, question: str | None) -> str | None:
    """Return the objects that the answers in the file refer to, usually one."""
    return next((where for _, task in json_objects.records(path) for where in _targets(task, question)), None)


def _of_others(task: Record, model: str) -> list[Any]:
    """Return the predictions of a task by other models, without those by reviewers of this model's labels."""
    versions = (
        (one, one.get("model_version") if isinstance(one, dict) else None) for one in _listed(task.get("predictions"))
    )
    return [one for one, by in versions if by != model and not (isinstance(by, str) and by.startswith(model + BY))]


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []
