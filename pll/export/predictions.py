"""Labels that a run's model gives to examples that it has not seen, and how a file of such examples is read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pll import formats
from pll.analysis.health import NOT_HEALTHY
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features import load_features
from pll.features.selection import featurised
from pll.formats.checks import listing
from pll.formats.reading import OF_LABELS, Reading
from pll.methods.input_range import RANGE, range_warnings
from pll.methods.persistence import ModelCard, load_model, read_card
from pll.runs.files import READING_FILE


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted labels of n examples.

    Attributes
    ----------
    ids : (n,) str
    labels : (n,) object
        Names of classes.
    confidence : (n,) float32
        Probability of the predicted class, in [0, 1], at the model's temperatures; NaN where these are not known.
    warnings : tuple of str
        Where features lie outside what the model was trained on, are missing, or hold words that it never saw.
    """

    ids: npt.NDArray[np.str_]
    labels: npt.NDArray[np.object_]
    confidence: npt.NDArray[np.float32]
    warnings: tuple[str, ...] = ()


class Predictor:
    """The model in a folder, loaded with the features that it was trained on. Safe to share between threads.

    Parameters
    ----------
    folder : Path
        Of a run, or of an exported model.

    Raises
    ------
    UserError
        There is no model, or its files are damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._name = folder.name
        self._estimator, self._card, self._featuriser = load_model(folder), read_card(folder), load_features(folder)

    def predict(self, data: PartialLabelDataset) -> Predictions:
        """Return the predictions for these examples.

        Parameters
        ----------
        data : PartialLabelDataset
            With the columns, texts or pictures that the run's features are made of.

        Raises
        ------
        UserError
            The examples lack a column or have another shape.
        """
        doubt = self._card.extra.get(NOT_HEALTHY)
        notes = (
            *([f"Of the labels that the model learnt from: {doubt}"] if doubt else ()),
            *_missing_in(data, self._card.feature_names),
            *(() if self._featuriser is None else self._featuriser.notes(data)),
        )
        if self._featuriser is not None:
            data = featurised(data, self._featuriser)
        card = self._card
        X = _features_for(card, data, self._name)
        best = [(part.argmax(axis=1), part.max(axis=1)) for part in self._estimator.iter_tempered(X)]
        confidence = np.concatenate([share for _, share in best])
        if not self._estimator.temperatures_:
            confidence = np.full_like(confidence, np.nan)
        try:
            warnings = tuple(range_warnings(X, card.extra[RANGE], card.feature_names)) if RANGE in card.extra else ()
        except (KeyError, TypeError, ValueError):  # edited by the user: the predictions are still right
            warnings = ()
        return Predictions(
            data.row_ids,
            np.asarray(self._estimator.class_names_, dtype=object)[np.concatenate([k for k, _ in best])],
            confidence,
            (*notes, *warnings),
        )


def learnt_roles(folder: Path | str) -> dict[str, str]:
    """Return the roles of the columns that a model was trained on, but those of labels: column → role.

    The folder is of a run, or of an exported model.

    Raises
    ------
    UserError
        There is no model, or its files are damaged.
    """
    roles = dict.fromkeys(read_card(Path(folder)).feature_names, "feature")
    kept = Path(folder) / READING_FILE
    if kept.exists():
        roles |= {name: role for name, role in Reading.in_file(kept).roles.items() if role not in OF_LABELS}
    return roles


def read_new(path: Path | str, folder: Path | str) -> PartialLabelDataset:
    """Read a file of new examples as the file was read that a model was trained on; it may lack the labels.

    Parameters
    ----------
    path
        The file.
    folder
        Of a run, or of an exported model.

    Raises
    ------
    UserError
        There is no model, or something is wrong with the file.
    """
    return formats.read(path, options=formats.roles_there(learnt_roles(folder), path, formats.ReadOptions()))


def _missing_in(data: PartialLabelDataset, learnt: Collection[str]) -> tuple[str, ...]:
    """Say which columns of numbers that the model learnt from have empty cells."""
    if data.X.ndim != 2 or not data.feature_names:
        return ()
    empty = np.isnan(data.X).sum(axis=0)
    some = [f"{name!r} ({int(n):,})" for name, n in zip(data.feature_names, empty, strict=True) if n and name in learnt]
    return (f"Empty cells count as the mean of the training examples: {listing(some)}.",) if some else ()


def _features_for(card: ModelCard, data: PartialLabelDataset, run: str) -> npt.NDArray[np.float32]:
    """Return the features in the order the model learnt them: by name where both have names, else by place."""
    if card.feature_names and data.feature_names:
        place = {name: k for k, name in enumerate(data.feature_names)}
        missing = [name for name in card.feature_names if name not in place]
        if missing:
            raise UserError(
                f"{data.name} has no column {missing[0]!r}, which the model of {run} was trained on; add it, or rename "
                "the column that holds it."
            )
        return np.ascontiguousarray(data.X[:, [place[name] for name in card.feature_names]])
    if data.input_shape != card.input_shape:
        raise UserError(
            f"{data.name} has examples of shape {data.input_shape}; the model of {run} takes {card.input_shape}. Bring "
            f"what it was trained on{f': {listing(card.feature_names)}' if card.feature_names else ''}."
        )
    return data.X
