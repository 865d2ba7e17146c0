"""*Get labels*: a run with the automatic settings, started at once."""

from __future__ import annotations

from pll.dataset import PartialLabelDataset
from pll.formats.checks import listing
from pll.runs.config import RunConfig
from pll.runs.data import ADDRESSES_ALONE, method_of_votes
from pll.ui.session import ChosenData

CATALOGUE_HOLDOUT = 0.2
"""Of a dataset of the catalogue, held out to test on; every row of a person's own file gets a label."""


def missing(data: PartialLabelDataset) -> str:
    """Say what is missing for labels to be found; "" where nothing is."""
    if len(data) < 2 or data.n_classes < 2:
        return f"There must be two examples and two classes at least; here there are {len(data)} and {data.n_classes}."
    if data.contents:
        return ""
    if not method_of_votes(data):
        remedy = "Add texts, pictures or numbers." if data.pictures is None else ADDRESSES_ALONE
        if data.extras:
            remedy += f" Only carried along: {listing(list(data.extras))}; under Details you can say what it is."
        return f"There is nothing to learn from beside the labels. {remedy}"
    if data.annotations is not None and data.annotations.n_annotators < 2:
        return (
            "One person's answers are all there is, and nothing tells which of them are wrong. Add another person's "
            "answers, or texts, pictures or numbers to learn from."
        )
    return ""


def automatic(choice: ChosenData, data: PartialLabelDataset) -> RunConfig:
    """Return a run on this choice with every setting chosen by the data, which has no features made of texts yet.

    Parameters
    ----------
    choice
        The data, and how its candidate sets are made.
    data
        The same, read.
    """
    learns = bool(data.contents)
    has_test_part = data.is_test is not None and bool(data.is_test.any())
    is_ones_own = choice.source.path is not None or data.y is None
    return choice.config(
        method="proden" if learns else method_of_votes(data),
        params={"recipe": "auto"} if learns else {},
        holdout=None if is_ones_own or has_test_part or not learns else CATALOGUE_HOLDOUT,
        name=data.name,
    )
