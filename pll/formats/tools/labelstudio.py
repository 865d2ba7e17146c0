"""Label Studio tasks (JSON), and the labelling configuration of a project.

The candidate set of a task is what its annotations chose together (cancelled ones apart); where there are none,
the choices it states itself (`data.candidates`). Written back, every task keeps its id, data and annotations, and gets
a prediction; in Label Studio the lowest score is then reviewed first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pll.dataset import PartialLabelDataset
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.json_objects import ANSWERS, Record
from pll.formats.results import Results
from pll.formats.tabular.builder import build
from pll.formats.tabular.writer import answers_of, class_names
from pll.formats.tools.records import (
    Found,
    RecordFormat,
    example_of,
    examples_of,
    has_own_sets,
    key_in,
    table_of,
)
from pll.formats.unfold import said_in, value_at

QUESTION = "label"
"""Name of the question in the tasks that are written."""
OURS = "candid-"
"""Beginning of the id of a result that Candid wrote; forms.toml knows it too."""
BY = ", decided by "
"""Separator of run and person in the model version of a person's label."""
CONFIG = ".config.xml"
"""Ending of the file name of a labelling configuration."""

_LARGEST_ID = 2**31 - 1


class LabelStudio(RecordFormat):
    """Exports of Label Studio (JSON)."""

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        lost = super().cannot_hold(dataset)
        if dataset.annotations is not None and has_own_sets(dataset):
            lost.append("Who gave which label, since the candidate sets are not just what the annotators named.")
        return lost

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        ids = dataset.row_ids.tolist()
        numbered = all(name.isdecimal() and str(int(name)) == name and 0 < int(name) <= _LARGEST_ID for name in ids)
        to_name = "image" if dataset.pictures is not None else "text"
        for name, example in zip(ids, examples_of(dataset, self.form), strict=True):
            task: Record = {"id": int(name)} if numbered else {}
            task["data"] = example.fields if numbered else {"id": name} | dict(example.fields)
            if example.stated:
                task["data"] = task["data"] | {"candidates": [{"value": label} for label in example.stated]}
            elif dataset.annotations is not None:
                task["annotations"] = [
                    {
                        "completed_by": int(who) if who.isdecimal() and str(int(who)) == who else {"email": who},
                        "was_cancelled": False,
                        "result": [choice_answer(f"a{number}", QUESTION, to_name, labels)],
                    }
                    for number, (who, labels) in enumerate(example.people(ANSWERS))
                ]
            new = None if results is None else _prediction(results, name, QUESTION, to_name)
            yield task if new is None else task | {"predictions": [new]}

    def labelled_records(self, source: Path, results: Results, options: ReadOptions) -> Iterator[tuple[str, Record]]:
        question = self.question(source, options) or QUESTION
        to_name = self._target(source, question)
        for at, (_, task) in enumerate(json_objects.records(source)):
            name = key_in(task, self.form) or str(at)
            new = _prediction(results, name, question, next(self._targets(task, question), to_name))
            yield name, task if new is None else task | {"predictions": [*_of_others(task, results.model), new]}

    def _targets(self, task: Record, question: str) -> Iterator[str]:
        """Yield the objects that the answers to the question refer to."""
        gathers = (self.form.gather, self.form.models)
        said = (one for gather in gathers if gather for one in said_in(task, gather, {}) if one.labels)
        return (str(one.result["to_name"]) for one in said if one.question == question and one.result.get("to_name"))

    def _target(self, source: Path, question: str) -> str | None:
        """Return the objects that the answers in the file refer to, usually one."""
        return next(
            (where for _, task in json_objects.records(source) for where in self._targets(task, question)), None
        )

    def extra_files(self, dataset: PartialLabelDataset, results: Results | None = None) -> dict[str, str]:
        has_payload = dataset.pictures is not None or dataset.texts is not None
        shown = None if has_payload else "id"
        return {CONFIG: _labelling_config(dataset, results, shown=shown, own_choices=has_own_sets(dataset))}

    def extra_files_given_back(self, source: Path, results: Results, options: ReadOptions) -> dict[str, str]:
        question, data = self.question(source, options) or QUESTION, self.read(source, options)
        first = next(json_objects.records(source))[1]["data"]
        payload = data.texts if data.pictures is None else data.pictures.names
        shown = None if payload is None else next((name for name, value in first.items() if value == payload[0]), None)
        config = _labelling_config(
            data,
            results,
            question=question,
            to_name=self._target(source, question),
            shown=shown or next(iter(first), "id"),
            own_choices=all(
                isinstance(task["data"].get("candidates"), list) for _, task in json_objects.records(source)
            ),
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
    from xml.sax.saxutils import quoteattr  # late: it brings all of urllib

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


def choice_answer(name: str, question: str, to_name: str, labels: Sequence[str]) -> Record:
    """Return an answer with choices, as annotations and predictions have it in `result`.

    Parameters
    ----------
    name
        Of the answer, for people.
    question
        Which question it answers.
    to_name
        What the question is about.
    labels
        What was chosen.
    """
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


def _of_others(task: Record, model: str) -> list[Any]:
    """Return the predictions of a task by other models, without those by reviewers of this model's labels."""
    predictions = task.get("predictions")
    versions = ((one, str(value_at(one, "model_version"))) for one in predictions or ())
    return [one for one, by in versions if by != model and not by.startswith(model + BY)]


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
    form, options = LabelStudio().form, ReadOptions()
    text = json.dumps([{name: task[name] for name in ("id", "data")} for task in tasks])
    table = table_of((example_of(form, *one, Found()) for one in json_objects.records_in(text)), form, Found())
    return build(table, table.plan(options), options)
