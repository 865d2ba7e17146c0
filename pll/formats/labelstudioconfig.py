"""The labelling configuration of a Label Studio project: what is shown, and the choices that there are."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import quoteattr

from pll.dataset import PartialLabelDataset
from pll.formats import jsonfile
from pll.formats.fields import answers_of, states_sets
from pll.formats.losses import class_names
from pll.formats.results import Results

QUESTION = "label"
"""What the question is called in tasks that we write."""


def labelling_config(dataset: PartialLabelDataset, results: Results | None = None) -> str:
    """The labelling configuration that fits the tasks `write` makes of a dataset.

    Where the tasks state their candidates, each offers these alone (`value="$candidates"`); else all classes.

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
    shown = "image" if dataset.pictures is not None else "text"
    field = shown if dataset.pictures is not None or dataset.texts is not None else "id"
    return _config(dataset, results, QUESTION, shown, field, own_choices=states_sets(dataset))


def config_of_tasks(
    source: Path, dataset: PartialLabelDataset, results: Results, question: str, to_name: str | None
) -> str:
    """The labelling configuration that fits tasks as they came, under the names that their answers use.

    Args:
        dataset: what was read of them.
        to_name: what their answers point at, where there are some.
    """
    first = {name: value for _, task in islice(jsonfile.records(source), 1) for name, value in task["data"].items()}
    shown = dataset.texts if dataset.pictures is None else dataset.pictures.names
    seen = None if shown is None else shown[0]
    field = next((name for name, value in first.items() if value == seen), next(iter(first), "id"))
    own = all(_offers(task) for _, task in jsonfile.records(source))
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
    shown = f"  <{tag} name={quoteattr(to_name)} value={quoteattr('$' + field)}/>"
    return "\n".join(["<View>", shown, *lines, "</View>"])


def _offers(task: jsonfile.Record) -> bool:
    """Whether a task states its own choices."""
    stated = task["data"].get("candidates")
    return isinstance(stated, list) and bool(stated)
