"""Features made for data sets: which to choose, and the data set with them in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features.base import Featuriser, contents
from pll.features.registry import BETWEEN, CHOICES, featuriser
from pll.io import Progress

USUAL = {"numbers": "table", "words": "table", "texts": "tfidf", "pictures": "pixels"}
"""What makes features of what, where nobody said."""


def suggested(data: PartialLabelDataset) -> str:
    """What `--features` would most likely be; empty where X is ready as it is.

    Numbers alone are ready (a model fills in what is missing), and so are image arrays. Texts and words are added to
    numbers. Pictures count where there are neither numbers nor texts; words beside them (who took a picture, where)
    say less than they show.
    """
    there = contents(data)
    if there in (("numbers",), ()) or data.is_image:
        return ""
    if "pictures" in there and set(there) <= {"pictures", "words"}:
        return USUAL["pictures"]
    names = dict.fromkeys(USUAL[what] for what in there if what != "pictures")
    return BETWEEN.join(names)


def fitted(spec: str, train: PartialLabelDataset, progress: Progress | None = None) -> Featuriser:
    """A featuriser by name, fitted on the training part.

    Raises:
        UserError: not a name, or nothing in the data it could make features of.
    """
    made = featuriser(spec)
    there = contents(train)
    if not set(made.reads) & set(there):
        has = (
            f"{train.name} holds {' and '.join(there)}" if there else f"{train.name} holds nothing to make features of"
        )
        remedy = _remedy(there)
        raise UserError(f"The features {spec!r} are made of {' and '.join(made.reads)}; {has}. {remedy}")
    return made.fit(train, progress)


def fitting_choices(data: PartialLabelDataset) -> list[str]:
    """Which of `CHOICES` can be made of this data."""
    return _made_of(contents(data))


def _made_of(there: Sequence[str]) -> list[str]:
    return [choice for choice in CHOICES if set(featuriser(choice).reads) & set(there)]


def _remedy(there: Sequence[str]) -> str:
    ready = ["none (the numbers as they are)"] if "numbers" in there else []
    possible = [*_made_of(there), *ready]
    if not possible:
        return "Bring columns of numbers, texts or pictures."
    return f"Choose one of these instead: {', '.join(possible[:6])}{', …' if len(possible) > 6 else ''}."


def featurised(data: PartialLabelDataset, made: Featuriser, progress: Progress | None = None) -> PartialLabelDataset:
    """The data with the features of a fitted featuriser as its X; everything else stays.

    What was not made into features, and what could not be recognised, is said in the notes.

    Raises:
        UserError: see `Featuriser.transform`.
    """
    X = made.transform(data, progress)
    left_out = [what for what in contents(data) if what not in made.reads]
    unused = (f"No features are made of the {' and the '.join(left_out)}.",) if left_out else ()
    return replace(
        data,
        X=X,
        feature_names=made.feature_names,
        kind="image" if X.ndim == 4 else data.kind,
        notes=(*data.notes, *unused, *made.notes(data)),
    )
