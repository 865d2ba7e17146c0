"""Choose featurisers by name or by what a dataset holds, join several, and apply them to a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features.backbones import BACKBONES, BackboneFeatures
from pll.features.base import Features, Featuriser
from pll.features.embeddings import EmbeddingFeatures
from pll.features.images import PixelFeatures
from pll.features.tables import TableFeatures
from pll.features.texts import TextFeatures
from pll.io import Arrays, Progress

BETWEEN = "+"
"""Separator of the names of joined featurisers: `table+tfidf`."""


class JoinedFeatures(Featuriser):
    """Columns of several featurisers, concatenated.

    Parameters
    ----------
    parts
        At least two featurisers with different names, all flat.

    Raises
    ------
    UserError
        Parts that cannot be joined.
    """

    name = "joined"
    title = "Several kinds of features side by side"

    def __init__(self, featurisers: Sequence[Featuriser]) -> None:
        names = [part.name for part in featurisers]
        if len(set(names)) < len(names):
            raise UserError(f"The features {BETWEEN.join(names)} name one kind twice; name each once.")
        for part in featurisers:
            if not part.flat:
                raise UserError(f"The features {part.name!r} stand alone; use backbone:resnet18 beside others.")
        self.parts = tuple(featurisers)
        self.reads = tuple(what for part in featurisers for what in part.reads)

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        return cls([featuriser(spec) for spec in argument.split(BETWEEN)])

    def fit(self, data: PartialLabelDataset, progress: Progress | None = None) -> Self:
        for part in self.parts:
            part.fit(data, progress)
        return self

    def transform(self, data: PartialLabelDataset, progress: Progress | None = None) -> Features:
        return np.hstack([part.transform(data, progress) for part in self.parts])

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.feature_names)

    def notes(self, data: PartialLabelDataset) -> tuple[str, ...]:
        return tuple(note for part in self.parts for note in part.notes(data))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        states = [(part.name, *part.state()) for part in self.parts]
        arrays = {f"{kind}.{name}": array for kind, _, some in states for name, array in some.items()}
        return {"parts": [{"kind": kind, "settings": settings} for kind, settings, _ in states]}, arrays

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        featurisers = []
        for part in settings["parts"]:
            kind = str(part["kind"])
            own = {name.removeprefix(f"{kind}."): a for name, a in arrays.items() if name.startswith(f"{kind}.")}
            featurisers.append(FEATURISERS[kind].from_state(part["settings"], own))
        return cls(featurisers)


FEATURISERS: dict[str, type[Featuriser]] = {
    kind.name: kind for kind in (TableFeatures, TextFeatures, EmbeddingFeatures, PixelFeatures, BackboneFeatures)
}
"""Featuriser classes by name."""

CHOICES = (
    "table",
    "tfidf",
    "tfidf:100",
    "embedding",
    "pixels",
    "pixels:64",
    *(f"backbone:{name}" for name in BACKBONES),
)
"""Specifications to offer in a help text or on a page; see `featuriser`."""


def featuriser(spec: str) -> Featuriser:
    """Return an unfitted featuriser.

    Parameters
    ----------
    spec
        `table`, `tfidf`, `tfidf:100`, `embedding`, `embedding:FOLDER`, `pixels`, `pixels:64`, `backbone:resnet18`, or
        several joined by `+`.

    Raises
    ------
    UserError
        Invalid specification.

    Examples
    --------
    >>> featuriser("tfidf:100").components, featuriser("table+tfidf").reads
    (100, ('numbers', 'words', 'texts'))
    """
    if BETWEEN in spec:
        return JoinedFeatures.from_argument(spec)
    name, _, argument = spec.strip().partition(":")
    if name not in FEATURISERS:
        raise UserError(
            f"There are no features called {name!r}; use one of {', '.join(FEATURISERS)}, or join some by +."
        )
    return FEATURISERS[name].from_argument(argument.strip())


def without_folders(spec: str) -> None:
    """Check that a specification from a page or a link names no folder of this computer.

    Raises
    ------
    UserError
        It does, or is no specification.

    Examples
    --------
    >>> without_folders("table+embedding:all-mpnet-base-v2")
    """
    made = featuriser(spec)
    for part in made.parts if isinstance(made, JoinedFeatures) else (made,):
        if isinstance(part, EmbeddingFeatures) and part.names_a_folder():
            raise UserError(
                f"A page takes a language model by its name on the Hugging Face hub; {part.model!r} is a folder, which "
                "only the shell takes: --features embedding:FOLDER."
            )


def restored(kind: str, settings: dict[str, Any], arrays: Arrays) -> Featuriser:
    """Rebuild a featuriser from its kind and state.

    Parameters
    ----------
    kind
        Name of the featuriser.
    settings, arrays
        Its state.

    Raises
    ------
    KeyError, TypeError, ValueError
        Unknown kind or invalid state.
    """
    return (
        JoinedFeatures.from_state(settings, arrays)
        if kind == JoinedFeatures.name
        else FEATURISERS[kind].from_state(settings, arrays)
    )


# ---- features of a dataset ----

USUAL_FEATURISERS = {"numbers": "table", "words": "table", "texts": "tfidf", "pictures": "pixels"}
"""Default featuriser of each kind of content."""


FEW_NUMBERS = 15
"""Maximum number of columns that may merely describe a picture, such as its size; more of them are the features."""


def suggested(data: PartialLabelDataset) -> str:
    """Return the default specification of features for the data; empty if X needs none.

    Numbers alone need none (missing values are imputed in training), nor do image arrays. Texts and words are added to
    numbers. Pictures are used if there are neither texts nor more than a few numbers; other columns are not.
    """
    there = data.contents
    if there in (("numbers",), ()) or data.is_image:
        return ""
    most = FEW_NUMBERS if data.images is None else 0  # pictures beside arrays of features are for display
    if "pictures" in there and "texts" not in there and data.X.shape[1] <= most:
        return USUAL_FEATURISERS["pictures"]
    names = dict.fromkeys(USUAL_FEATURISERS[what] for what in there if what != "pictures")
    return BETWEEN.join(names)


def fitted(spec: str, train: PartialLabelDataset, progress: Progress | None = None) -> Featuriser:
    """Return the featuriser of a specification, fitted on the training part.

    Parameters
    ----------
    spec
        Such as `tfidf:100`.
    train
        The training part.
    progress
        As for every featuriser.

    Raises
    ------
    UserError
        Invalid specification, or data without the content it reads.
    """
    made = featuriser(spec)
    there = train.contents
    if not set(made.reads) & set(there):
        has = (
            f"{train.name} holds {' and '.join(there)}" if there else f"{train.name} holds nothing to make features of"
        )
        remedy = _remedy(there)
        raise UserError(f"The features {spec!r} are made of {' and '.join(made.reads)}; {has}. {remedy}")
    return made.fit(train, progress)


def fitting_choices(data: PartialLabelDataset) -> list[str]:
    """Return which of `CHOICES` apply to the data."""
    return _made_of(data.contents)


def _made_of(there: Sequence[str]) -> list[str]:
    return [choice for choice in CHOICES if set(featuriser(choice).reads) & set(there)]


def _remedy(there: Sequence[str]) -> str:
    ready = ["none (the numbers as they are)"] if "numbers" in there else []
    possible = [*_made_of(there), *ready]
    if not possible:
        return "Bring columns of numbers, texts or pictures."
    return f"Choose one of these instead: {', '.join(possible[:6])}{', …' if len(possible) > 6 else ''}."


def featurised(
    data: PartialLabelDataset, made: Featuriser, progress: Progress | None = None, *, X: Features | None = None
) -> PartialLabelDataset:
    """Return the data with X replaced by the features of a fitted featuriser.

    `X` are those that it made of all rows before, if it did.

    Notes are added on unused content and unknown values.

    Parameters
    ----------
    data
        The data.
    made
        Fitted.
    progress
        As for every featuriser.
    X
        The features, where they are known.

    Raises
    ------
    UserError
        See `Featuriser.transform`.
    """
    if X is None or len(X) != len(data):
        X = made.transform(data, progress)
        if data.pictures is not None and data.pictures.damaged and made.reads == ("pictures",):
            gone = np.isin(data.pictures.names.astype(str), list(data.pictures.damaged))
            others = X.sum(axis=0, dtype=np.float64) - X[gone].sum(axis=0, dtype=np.float64)
            X[gone] = others / max(1, len(X) - int(gone.sum()))  # the mean says least to a model
    left_out = [what for what in data.contents if what not in made.reads]
    unused = (f"No features are made of the {' and the '.join(left_out)}.",) if left_out else ()
    return replace(
        data,
        X=X,
        feature_names=made.feature_names,
        kind="image" if X.ndim == 4 else data.kind,
        notes=(*data.notes, *unused, *made.notes(data)),
    )
