"""Saving and loading of fitted models: `model.safetensors` (numbers) beside `model.json` (everything else).

Neither file can carry code: loading a model from a stranger runs nothing. That is why a network, factory or loss of
the user's own is named in `model.json` but has to be given again when the model is loaded.

The two files are put in place one after the other, so the JSON carries a checksum of the numbers that belong to it: an
interrupted save, or files from two models, are noticed and never give wrong predictions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from pydantic import Field

import pll
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, first_line
from pll.extras import versions
from pll.features import serialization
from pll.features.serialization import packed, unpacked
from pll.io import Arrays, from_json, write_atomically, writing_to
from pll.methods import METHODS
from pll.methods.base import PartialLabelEstimator
from pll.methods.classical import SCORE_BLOCK, on_candidates_by_blocks
from pll.weights import Weights, restricted_softmax

WEIGHTS_FILE = "model.safetensors"
MODEL_CARD_FILE = "model.json"
MODEL_FORMAT = "candid-model"


@dataclass(frozen=True)
class ModelCard:
    """Content of `model.json`.

    Attributes
    ----------
    method
        Name in `METHODS`.
    params
        The estimator's parameters; those of `custom` are missing here.
    custom
        Parameter → description of an object that no file can hold (a torch module, a function).
    input_shape
        Shape of one example, (d,) or (C, H, W).
    class_names
        c names, in the order of the model's outputs.
    weights_sha256
        Of the `model.safetensors` that belongs to it.
    feature_names
        d names of the columns the model was fitted on; empty where they have none.
    columns
        `feature_names_in_` of the estimator; empty where it was not fitted on a data frame.
    labels
        `classes_` of an estimator that was fitted on labels or names of classes; None where they are 0 … c−1.
    temperatures
        `temperatures_` of the estimator.
    versions
        Of Candid and the libraries that wrote it.
    extra
        Further values of the caller.
    """

    method: str
    params: dict[str, Any]
    custom: dict[str, str]
    input_shape: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)]  # (0,) without features
    class_names: Annotated[tuple[str, ...], Field(min_length=1)]
    weights_sha256: str
    feature_names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    labels: tuple[bool | int | float | str, ...] | None = None
    temperatures: tuple[Annotated[float, Field(gt=0, allow_inf_nan=False)], ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


def save_model(
    estimator: PartialLabelEstimator,
    folder: Path | str,
    *,
    method: str,
    feature_names: Sequence[str] = (),
    extra: dict[str, Any] | None = None,
) -> None:
    """Write `model.safetensors` and `model.json` into a folder (made if missing), each atomically.

    Parameters
    ----------
    estimator
        Fitted (or loaded).
    folder
        Where they are written.
    method
        Its name in `METHODS`.
    feature_names
        d names of the columns, where there are some; those of the data frame that it was fitted on, if not given.
    extra
        Plain values (numbers, text, lists, dicts) to keep in `model.json` under `"extra"`.

    Raises
    ------
    UserError
        The method is not the estimator's, or the folder cannot be written.
    """
    weights = model_weights(estimator)
    card = model_card(estimator, weights, method=method, feature_names=feature_names, extra=extra)
    place = Path(folder)
    with writing_to(place):
        write_atomically(place / WEIGHTS_FILE, lambda path: path.write_bytes(weights))
        write_card(card, place / MODEL_CARD_FILE)


def load_model(folder: Path | str, **custom: Any) -> PartialLabelEstimator:
    """Load the estimator that was saved in a folder, on the CPU.

    Parameters
    ----------
    folder
        Holds `model.json` and `model.safetensors`.
    custom
        Objects that cannot be saved, as keyword arguments: `load_model(folder, model=MyNet())` for a model that was
        fitted with a custom network. `read_card(folder).custom` lists them.

    Raises
    ------
    UserError
        Files that are missing, damaged, foreign or of different models; a custom object not given.
    """
    place = Path(folder)
    card = read_card(place)
    _check_custom(place / MODEL_CARD_FILE, card, custom)
    arrays = unpacked(place / WEIGHTS_FILE, card.weights_sha256, place / MODEL_CARD_FILE)
    try:
        estimator = METHODS[card.method](**card.params, **custom)
        estimator.temperatures_ = card.temperatures
        if card.columns:
            estimator.feature_names_in_ = np.array(card.columns, dtype=object)
        if card.labels is not None:
            estimator.class_values_ = np.array(card.labels)
        return estimator.restore(arrays, card.input_shape, card.class_names)
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        written_by = card.versions.get("candid", "an unknown version")
        remedy = "check that what you passed is what it was fitted with" if custom else "export the model again"
        raise UserError(
            f"{place / MODEL_CARD_FILE}: the model cannot be rebuilt ({first_line(error)}). It was saved by Candid "
            f"{written_by}, this is {pll.__version__}; {remedy}."
        ) from error


def warm_start(
    estimator: PartialLabelEstimator, earlier: Path, train: PartialLabelDataset
) -> tuple[Arrays, Weights] | None:
    """Return what a method starts from to go on from the model in a run folder.

    Parameters
    ----------
    estimator
        Not yet fitted.
    earlier
        A run folder with a model.
    train
        The training data of the method.

    Returns
    -------
    tuple[Arrays, Weights] | None
        `Start.arrays`, and the (nnz,) label weights of the earlier model on the sets of `train`; None where the method
        has to start afresh: it has no warm start, or the earlier model is missing, of another method or of other
        classes.
    """
    try:
        model = load_model(earlier)
    except UserError:
        return None
    same = type(model) is type(estimator) and model.class_names_ == train.class_names
    if not same or model.input_shape_ != train.input_shape or not estimator.warm_starts:
        return None
    arrays, sets = model.fitted_arrays(), train.sets()
    scores = on_candidates_by_blocks(lambda rows: model.predict_scores(train.X[rows]), sets, SCORE_BLOCK)
    return arrays, restricted_softmax(scores, sets, train.prior, train.outside)


def model_weights(estimator: PartialLabelEstimator) -> bytes:
    """Serialise the estimator's `fitted_arrays` as `model.safetensors`. The same model gives the same bytes."""
    return packed(estimator.fitted_arrays(), {"format": MODEL_FORMAT})


def model_card(
    estimator: PartialLabelEstimator,
    weights: bytes,
    *,
    method: str,
    feature_names: Sequence[str] = (),
    extra: dict[str, Any] | None = None,
) -> ModelCard:
    """Return the content of `model.json` for these weights. Arguments and errors as for `save_model`.

    Parameters
    ----------
    estimator
        The fitted method.
    weights
        Content of `model.safetensors`.
    method, feature_names, extra
        As for `save_model`.
    """
    if METHODS.get(method) is not type(estimator):
        names = [name for name, kind in METHODS.items() if kind is type(estimator)]
        remedy = f"it is {names[0]!r}" if names else "only methods in pll.methods.METHODS can be loaded again"
        raise UserError(f"A {type(estimator).__name__} cannot be saved as method {method!r}; {remedy}.")
    params, custom = parameters_of(estimator)
    columns, labels = getattr(estimator, "feature_names_in_", ()), estimator.class_values_
    values = estimator.class_names_ if labels is None or labels.dtype.kind not in "biuf" else labels.tolist()
    return ModelCard(
        method=method,
        params=params,
        custom=custom,
        input_shape=estimator.input_shape_,
        class_names=estimator.class_names_,
        weights_sha256=hashlib.sha256(weights).hexdigest(),
        feature_names=tuple(map(str, feature_names if len(feature_names) else columns)),
        columns=tuple(columns),
        labels=None if labels is None else tuple(values),
        temperatures=estimator.temperatures_,
        versions=versions(),
        extra=extra or {},
    )


def parameters_of(estimator: PartialLabelEstimator) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the parameters of a fitted method that a file can hold, as plain values, and what the others are."""
    plain, custom = {}, {}
    for name, value in estimator.fitted_params().items():
        try:
            plain[name] = json.loads(json.dumps(value, allow_nan=False, default=np.generic.item))
        except (TypeError, ValueError, RecursionError):
            custom[name] = _described(value)
    return plain, custom


def write_card(card: ModelCard, path: Path) -> None:
    """Write `model.json`, atomically.

    Parameters
    ----------
    card
        Its content.
    path
        The file.
    """
    serialization.write_card(asdict(card), path, MODEL_FORMAT)


def read_card(folder: Path | str) -> ModelCard:
    """Return the content of the `model.json` of a folder, without loading the model.

    Raises
    ------
    UserError
        It is missing, damaged, or not a model of Candid's.
    """
    path = Path(folder) / MODEL_CARD_FILE
    if not path.exists() and not path.with_name(WEIGHTS_FILE).exists():
        raise UserError(f"There is no model in {folder}; check the path.")
    value = serialization.read_card(path, MODEL_FORMAT)
    if value.get("temperature") is not None:  # a version before knew but one
        value["temperatures"] = [value["temperature"]]
    try:
        card = from_json(ModelCard, value)
    except ValueError as error:
        raise UserError(f"{path}: a field is missing or damaged, {error}. Save or export the model again.") from error
    if card.method not in METHODS:
        raise UserError(f"{path} is a model of the method {card.method!r}, which this Candid does not have.")
    return card


def _check_custom(path: Path, card: ModelCard, replacements: dict[str, Any]) -> None:
    missing = {name: what for name, what in card.custom.items() if name not in replacements}
    if missing:
        listed = " and ".join(f"{name} = {what}" for name, what in missing.items())
        call = ", ".join(f"{name}=…" for name in missing)
        raise UserError(
            f"{path}: this model was fitted with {listed}, which a file cannot hold without running foreign code. "
            f"Load it from Python and pass the same again: "
            f"pll.methods.persistence.load_model({str(path.parent)!r}, {call})."
        )
    for name in replacements:
        if name not in card.custom:
            raise UserError(f"{path}: {name!r} is saved with the model and cannot be replaced; leave it out.")


def _described(value: object) -> str:
    """Describe an object by its type and full name."""
    if isinstance(value, torch.nn.Module):
        return f"the torch module {_full_name(type(value))}"
    if isinstance(value, type):
        return f"the class {_full_name(value)}"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"the function {_full_name(value)}"
    return f"an object of type {_full_name(type(value))}"


def _full_name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"
