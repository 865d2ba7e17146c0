"""Files of annotation tools that are a form of `forms.toml` and its writer.

Label Studio, with the labelling configuration of a project; Argilla, Prodigy, doccano, PLCIFAR10.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pll.dataset import PartialLabelDataset
from pll.errors import RowError, UserError
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.forms import USUAL, Form, plain_name
from pll.formats.json_objects import ANSWERS, Record
from pll.formats.limitations import has_own_sets, has_several
from pll.formats.results import Results
from pll.formats.tabular.builder import build
from pll.formats.tabular.jsonl import JsonLines
from pll.formats.tabular.writer import class_names
from pll.formats.tools.records import (
    PAYLOAD,
    Example,
    Found,
    LineFormat,
    RecordFormat,
    example_of,
    examples_of,
    offers,
    table_of,
)
from pll.formats.unfold import Said, said_in

QUESTION = "label"
"""Name of the question in the records that are written."""
OUR_IDS = "candid-"
"""Beginning of the id of a result that Candid wrote; forms.toml knows it too."""
BY = ", decided by "
"""Separator of run and person in the model version of a person's label."""
CONFIG = ".config.xml"
"""Ending of the file name of a labelling configuration."""

_LARGEST_ID = 2**31 - 1


def _said(record: Record, form: Form) -> Iterator[Said]:
    """Yield what people and models say in a record of a file that was read."""
    return (one for gather in (form.gather, form.models) if gather for one in said_in(record, gather, {}))


def _question_in(dataset: PartialLabelDataset) -> str:
    """What the question of a dataset is called: as the one column of its file that holds answers, else `QUESTION`."""
    asked = [name for name, role in dataset.reading.get("roles", {}).items() if role in ("vote", "answers")]
    is_named = len(asked) == 1 and plain_name(asked[0]) not in USUAL["answers"]
    return asked[0].removesuffix(".responses") if is_named else QUESTION


class LabelStudio(RecordFormat):
    """Exports of Label Studio (JSON).

    The candidate set of a task is what its annotations chose together (cancelled ones apart); where there are none, the
    choices it states itself (`data.candidates`). Written back, every task keeps its id, data and annotations, and gets
    a prediction; in Label Studio the lowest score is then reviewed first.
    """

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        ids = dataset.row_ids.tolist()
        numbered = all(name.isdecimal() and str(int(name)) == name and 0 < int(name) <= _LARGEST_ID for name in ids)
        to_name, question = "image" if dataset.pictures is not None else "text", _question_in(dataset)
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
                        "result": [choice_answer(f"a{number}", question, to_name, labels)],
                    }
                    for number, (who, labels) in enumerate(example.people(ANSWERS))
                ]
            new = None if results is None else _prediction(results, name, question, to_name)
            yield task if new is None else task | {"predictions": [new]}

    def labelled_records(self, source: Path, results: Results, options: ReadOptions) -> Iterator[tuple[str, Record]]:
        question = self.question(source, options) or QUESTION
        to_name = self._target(source, question)
        for name, task in self.named_records(source):
            new = _prediction(results, name, question, next(self._targets(task, question), to_name))
            yield name, task if new is None else task | {"predictions": [*_of_others(task, results.model), new]}

    def _targets(self, task: Record, question: str) -> Iterator[str]:
        """Yield the objects that the answers to the question refer to."""
        said = (one for one in _said(task, self.form) if one.labels and one.question == question)
        return (str(one.result["to_name"]) for one in said if one.result.get("to_name"))

    def _target(self, source: Path, question: str) -> str | None:
        """Return the objects that the answers in the file refer to, usually one."""
        every = (task for _, task in json_objects.records(source))
        return next((where for task in every for where in self._targets(task, question)), None)

    def extra_files(self, dataset: PartialLabelDataset, results: Results | None = None) -> dict[str, str]:
        has_payload = dataset.pictures is not None or dataset.texts is not None
        shown = None if has_payload else "id"
        own, question = has_own_sets(dataset), _question_in(dataset)
        return {CONFIG: _labelling_config(dataset, results, question=question, shown=shown, own_choices=own)}

    def extra_files_given_back(self, source: Path, results: Results, options: ReadOptions) -> dict[str, str]:
        question, data = self.question(source, options) or QUESTION, self.read(source, options)
        first = next(json_objects.records(source))[1]["data"]
        payload = data.texts if data.pictures is None else data.pictures.names
        shown = None if payload is None else next((name for name, value in first.items() if value == payload[0]), None)
        shown, to_name = shown or next(iter(first), "id"), self._target(source, question)
        own = all(isinstance(task["data"].get("candidates"), list) for _, task in json_objects.records(source))
        config = _labelling_config(data, results, question=question, to_name=to_name, shown=shown, own_choices=own)
        return {CONFIG: config}


def _labelling_config(
    dataset: PartialLabelDataset,
    results: Results | None = None,
    *,
    question: str,
    to_name: str | None = None,
    shown: str | None = None,
    own_choices: bool = False,
) -> str:
    """The labelling configuration for tasks that show the field `shown` and answer about `to_name`.

    With their own choices each task offers its candidates alone (`value="$candidates"`), else all classes, those that a
    person added among them.

    >>> import numpy as np
    >>> data = PartialLabelDataset(np.ones((1, 0)), texts=np.array(["hi"]), class_names=("a", "b"))
    >>> print(_labelling_config(data, question="label"))
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
    choice = "multiple" if has_several(dataset) else "single"
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
    author = _author(results, example)
    answer = choice_answer(f"{OUR_IDS}{example}"[:100], question, to_name or "text", [label])
    return {"model_version": author, "result": [answer]} | ({} if score is None else {"score": score})


def _author(results: Results, example: str) -> str:
    """Who says what the label of an example is: the model, with the reviewer where a person decided."""
    is_human = results.cell(example, "source") == "human"
    return f"{results.model}{BY}{results.cell(example, 'reviewer')}" if is_human else results.model


def _of_others(task: Record, model: str) -> list[Any]:
    """Return the predictions of a task by other models, without those by reviewers of this model's labels."""
    full = [one for one in task.get("predictions") or () if isinstance(one, dict)]  # an id alone cannot be imported
    versions = ((one, str(one.get("model_version"))) for one in full)
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


class Argilla(RecordFormat):
    """Argilla records (JSON): several people's responses in, suggestions with their score out.

    As `dataset.records.to_json` writes them: `fields`, `metadata`, `suggestions`, `responses`, `vectors`. The
    candidates of a record are what its responses named together, or `metadata.candidates`. Discarded responses do not
    count.
    """

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        question, as_list = _question_in(dataset), has_several(dataset)
        for name, example in zip(dataset.row_ids.tolist(), examples_of(dataset, self.form), strict=True):
            metadata = {field: value for field, value in example.fields.items() if field not in PAYLOAD}
            if example.stated:
                metadata["candidates"] = example.stated
            said = [(who, labels if as_list else labels[0]) for who, labels in example.people(ANSWERS)]
            responses = [{"value": value, "user_id": who} for who, value in said]
            yield {
                "id": name,
                "fields": {field: value for field, value in example.fields.items() if field in PAYLOAD},
                "metadata": metadata,
                "suggestions": {} if results is None else _suggested(results, name, question, as_list=as_list),
                "responses": {question: responses} if responses else {},
                "vectors": {},
            }

    def labelled_records(self, source: Path, results: Results, options: ReadOptions) -> Iterator[tuple[str, Record]]:
        question = self.question(source, options) or QUESTION
        as_list = self._takes_lists(source, question)
        for name, record in self.named_records(source):
            new = _suggested(results, name, question, as_list=as_list)
            yield name, record | {"suggestions": _replaced(record.get("suggestions"), new)} if new else record

    def _takes_lists(self, source: Path, question: str) -> bool:
        """Whether what a file says to the question are lists, as a question of several labels has them."""
        said = (one for _, record in json_objects.records(source) for one in _said(record, self.form))
        return any(isinstance(one.result.get("value"), list) for one in said if one.question == question)


def _replaced(old: Any, new: Record) -> Record | list[Record]:
    """The suggestions of a record with a new one, in the form that the record has: of Argilla 2 or 1."""
    if not isinstance(old, list):
        return (old or {}) | new
    others = [one for one in old if not (isinstance(one, dict) and one.get("question_name") in new)]
    return [*others, *({"question_name": question, **suggestion} for question, suggestion in new.items())]


def _suggested(results: Results, example: str, question: str, *, as_list: bool) -> Record:
    label = results.label(example)
    if label is None:
        return {}
    author = _author(results, example)
    suggested = {"value": [label] if as_list else label, "score": results.confidence(example), "agent": author}
    return {question: suggested | ({} if author == results.model else {"type": "human"})}


_ANSWERS = ("accept", "reject", "ignore")
_OF_AN_ANSWER = ("answer", "_annotator_id", "_session_id", "_timestamp")
_OF_A_LABEL = ("label", "_task_hash")


class Prodigy(LineFormat):
    """Prodigy (JSONL): options to choose from, what was accepted, by whom.

    The candidates of a line are what was accepted, or, without an answer, its options. A label that was rejected
    (binary questions) is ruled out: where nothing was accepted, all others are candidates. Written back, the identified
    label is accepted beforehand and its score is in `meta`, where Prodigy's sorters read it; a binary question is one
    of all labels then.
    """

    def example(self, row: int, record: Record, found: Found) -> Example:
        example, answer = super().example(row, record, found), record.get("answer")
        if answer is None:
            example.answers.clear()  # what is accepted beforehand is nobody's answer
            return example
        if answer not in _ANSWERS:
            raise RowError(f"Row {row}: the answer is {str(answer)[:40]!r}; Prodigy knows {', '.join(_ANSWERS)}.")
        example.offered = ()
        if answer != "accept":
            said = example.answers.pop(ANSWERS, [])
            example.rejected = said if answer == "reject" and "accept" not in record else ()
        return example

    def labelled(self, record: Record, dataset: PartialLabelDataset, i: int, results: Results) -> Record:
        task = {name: value for name, value in record.items() if name not in _OF_AN_ANSWER}
        offered = record.get("options")
        if not isinstance(offered, list):  # a question about one label, perhaps a wrong one, becomes another task
            task = {name: value for name, value in task.items() if name not in _OF_A_LABEL} | {"_view_id": "choice"}
            offered = _choices(class_names(dataset))
        task["options"] = _with_choice(offered, results.label(str(dataset.row_ids[i])))
        return task | _suggestion(dataset, i, results, task.get("meta"))

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        every = _choices(class_names(dataset))
        for i, example in enumerate(examples_of(dataset, self.form)):
            record: Record = {"id": example.key} | dict(example.fields)
            sets = [] if dataset.candidates is None else dataset.candidates.names(i)
            if results is not None:
                options = _with_choice(_choices(sets) or every, results.label(str(example.key)))
                yield record | {"options": options} | _suggestion(dataset, i, results, record.get("meta"))
                continue
            if not example.people(ANSWERS):
                yield record | {"options": _choices(sets)}
            for who, labels in example.people(ANSWERS):
                line = record | {"options": every, "accept": labels, "answer": "accept", "_annotator_id": who}
                yield line | {"candidates": sets} if example.stated else line


def _suggestion(dataset: PartialLabelDataset, i: int, results: Results, meta: Any) -> Record:
    """Return the fields that accept the identified label beforehand and show its score."""
    example = str(dataset.row_ids[i])
    sets = {} if dataset.candidates is None else {"candidates": dataset.candidates.names(i)}
    label = results.label(example)
    if label is None:
        return sets
    fields = dict(meta) if isinstance(meta, dict) else {}
    score = results.confidence(example)
    return {"accept": [label], "meta": fields | ({} if score is None else {"score": score})} | sets


def _choices(names: list[str]) -> list[Record]:
    return [{"id": name, "text": name} for name in names]


def _with_choice(options: list[Any], label: str | None) -> list[Any]:
    """Return the options of a line including its label, which a person may have added."""
    return options if label is None or label in offers(options) else [*options, *_choices([label])]


class Doccano(LineFormat):
    """doccano (JSONL): `{"text": …, "label": ["positive", "negative"]}`, or `{"filename": "cat.png", "label": […]}`.

    All labels of an example are its candidates. Lines with one `id` are one example; with a `username`, each is what
    one annotator said. Written back, `label` is the identified label, and its candidates are under `candidates`.
    """

    def records(self, dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
        for i, example in enumerate(examples_of(dataset, self.form)):
            record: Record = {"id": example.key}
            record |= {"filename" if name == "image" else name: value for name, value in example.fields.items()}
            if results is not None:
                yield self.labelled(record | {"label": []}, dataset, i, results)
                continue
            if not example.people(ANSWERS):
                yield record | {"label": example.stated}
            for who, labels in example.people(ANSWERS):
                line = record | {"label": labels, "username": who}
                yield line | {"candidates": example.stated} if example.stated else line

    def labelled(self, record: Record, dataset: PartialLabelDataset, i: int, results: Results) -> Record:
        example = str(dataset.row_ids[i])
        label, score = results.label(example), results.confidence(example)
        new: Record = {"label": [] if label is None else [label]} if example in results else {}
        if score is not None and "confidence" not in record:  # a field of the user's own stays
            new["confidence"] = score
        if dataset.candidates is not None:
            new["candidates"] = dataset.candidates.names(i)
        people = self.form.gather.who if self.form.gather else ()
        return {name: value for name, value in record.items() if name not in people} | new  # it is not their label


class PlCifar(JsonLines):
    """PLCIFAR10 as JSON: `{index: [[labels], …]}`, one set from each of about ten annotators of an image.

    Who they are is not known. Together they are the candidates (*aggregate*); `ReadOptions(combine="largest")` takes
    the largest set instead (*vaguest*): as published, without how many named each label. It is published as a pickle,
    which is never opened: save the same as JSON.
    """

    def sniff(self, path: Path, head: bytes) -> bool:
        with suppress(UserError, UnicodeDecodeError):
            return json_objects.shape_of(path) == "keyed answers"
        return False

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        dataset.sets()  # without any there is nothing to write
        entries: dict[str | None, Any] = {}
        for example in examples_of(dataset):
            label = None if results is None else results.label(str(example.key))
            if label is not None:
                entries[example.key] = [[label]]
            else:
                said = [labels for _, labels in example.people(ANSWERS)]
                entries[example.key] = [example.stated] if example.stated else said
        with path.open("w", encoding="utf-8") as file:
            json.dump(entries, file, ensure_ascii=False)

    def no_place(self, source: Path, options: ReadOptions) -> str:
        return ""

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        self.write(self.read(source, options), path, results)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        return ["The annotations: the identified label of an image replaces them."]
