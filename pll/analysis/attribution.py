"""Attribution: how much each column of a row, or word of a text, adds to the difference of two scores.

Columns: integrated gradients (Sundararajan, Taly and Yan 2017, Eq. 1) of the difference of two logits, along the line
from a typical example (the mean of each column) to the example. Of a linear model they are its own terms, weight ×
(scaled value − scaled mean). Words: how far the difference falls when a word is left out of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features import Featuriser
from pll.features.selection import JoinedFeatures
from pll.features.tables import TableFeatures
from pll.features.texts import TextFeatures
from pll.methods import PartialLabelEstimator
from pll.training.scaling import Scaling
from pll.training.trainer import evaluating

STEPS = 128
"""Points on the line at which the gradient is taken."""
MOST_WORDS = 300
"""Different words of one text that are left out in turn, from its beginning."""


@dataclass(frozen=True)
class Attribution:
    """Why the score of one label exceeds that of another.

    Attributes:
        names: (m,) words or columns.
        terms: (m,) float64; what each adds to the difference. Above 0 for the label, below 0 against it.
        rest: of columns: the difference for a typical example, so that `terms.sum() + rest` is `difference` (of a
            linear model on z-scores, the difference of its intercepts). None of words, whose terms need not add up.
        difference: score of the label minus score of the other one.
    """

    names: tuple[str, ...]
    terms: npt.NDArray[np.float64]
    rest: float | None
    difference: float

    def strongest(self, most: int) -> list[tuple[str, float]]:
        """At most so many names with their terms, the largest term in size first; those of 0 are left out."""
        order = np.argsort(-np.abs(self.terms), kind="stable")[:most]
        return [(self.names[k], float(self.terms[k])) for k in order.tolist() if self.terms[k]]


def runner_up(scores: npt.ArrayLike, among: Sequence[int], label: int) -> int:
    """Return the label of the highest score beside `label`: among the candidates, of all classes where it is alone.

    Args:
        scores: (c,) scores of one example.
        among: its candidate set.
        label: a class index.

    Raises:
        UserError: there is no other class.

    >>> runner_up([0.1, 0.9, 0.5], [0, 1], 1), runner_up([0.1, 0.9, 0.5], [1], 1)
    (0, 2)
    """
    values = np.asarray(scores)
    others = [j for j in among if j != label] or [j for j in range(len(values)) if j != label]
    if not others:
        raise UserError("There is one class only, so there is no other class to compare with.")
    return max(others, key=lambda j: float(values[j]))


def column_attribution(
    estimator: PartialLabelEstimator, x: npt.ArrayLike, label: int, other: int, names: Sequence[str] = ()
) -> Attribution:
    """Return what each column of one example adds to logit(label) − logit(other).

    Args:
        estimator: fitted; `estimator.module()` is its model.
        x: (d,) float32 features as it was fitted on; NaN where a value is missing, whose term is 0.
        label, other: class indices.
        names: d names; terms of columns of the same name are added up (one-hot columns of one column of words). By
            default `column 1` … `column d`.

    Returns:
        Terms that sum to the difference, but for the error of the sum over `STEPS` points; exact for linear models.

    Raises:
        UserError: a method whose model is no torch module, examples that are not rows, or names of another number.

    >>> from pll.methods import PRODEN
    >>> fitted = PRODEN(epochs=3).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [[0], [1], [0, 1]])
    >>> found = column_attribution(fitted, [2.0, 1.0], 0, 1, ["width", "height"])
    >>> found.names, bool(np.isclose(found.terms.sum() + found.rest, found.difference, atol=1e-5))
    (('width', 'height'), True)
    """
    row = estimator.checked_features(np.asarray(x, dtype=np.float32)[None])
    module = estimator.module()
    if module is None:
        raise UserError("The model of this method has no terms or gradients, so its labels cannot be explained.")
    if row.ndim != 2:
        raise UserError("Labels are explained by columns and words; examples that are pictures have neither.")
    known = tuple(names) or tuple(f"column {k + 1}" for k in range(row.shape[1]))
    if len(known) != row.shape[1]:
        raise UserError(f"There are {row.shape[1]} columns but {len(known)} names; give one per column.")
    network, start, end = _line(module, torch.from_numpy(np.ascontiguousarray(row)))

    places = (torch.arange(STEPS, dtype=torch.float32) + 0.5) / STEPS
    points = (start + places[:, None].to(start) * (end - start)).requires_grad_()  # (STEPS, d)
    with evaluating(network), torch.enable_grad():
        logits = network(points)  # (STEPS, c)
        (slopes,) = torch.autograd.grad((logits[:, label] - logits[:, other]).sum(), points)
    terms = ((end - start)[0] * slopes.mean(dim=0)).double().cpu().numpy()  # (d,)
    with evaluating(network), torch.no_grad():
        ends = network(torch.cat((start, end))).double().cpu()  # (2, c)
    rest, difference = (ends[:, label] - ends[:, other]).tolist()

    groups = tuple(dict.fromkeys(known))
    place = {name: k for k, name in enumerate(groups)}
    summed = np.zeros(len(groups))
    np.add.at(summed, [place[name] for name in known], terms)
    return Attribution(groups, summed, rest, difference)


def _line(module: nn.Module, x: torch.Tensor) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """Return the network, and the ends (1, d) of the line in its inputs: a typical example, and this one.

    The line is straight in scaled features, where each belongs to one column; else in raw ones.
    """
    parts = list(module.children()) if isinstance(module, nn.Sequential) else []
    device = next((tensor.device for tensor in module.state_dict().values()), x.device)
    x = x.to(device)
    if not parts or not isinstance(parts[0], Scaling):
        return module, torch.zeros_like(x), x
    scaling = parts[0]
    typical = scaling.fill.reshape(1, -1)
    if scaling.output_shape(tuple(x.shape[1:])) != tuple(x.shape[1:]):  # radial basis features mix columns
        return module, typical, torch.where(torch.isnan(x), typical, x)
    with torch.no_grad():
        return nn.Sequential(*parts[1:]), scaling(typical), scaling(x)


def word_attribution(
    estimator: PartialLabelEstimator,
    features: Featuriser,
    data: PartialLabelDataset,
    row: int,
    label: int,
    other: int,
) -> Attribution:
    """Return how far score(label) − score(other) falls when a word is left out of a text everywhere.

    Args:
        estimator: fitted.
        features: the fitted featuriser of its features; made of texts, or of texts and others.
        data: with the features as the estimator takes them (n, d) and their texts.
        row: the example, an index of `data`.
        label, other: class indices.

    Returns:
        The different words in the order of the text, at most `MOST_WORDS`; characters where the featuriser counts
        those.

    Raises:
        UserError: no texts, or features that are not made of words.
    """
    found = _text_part(features)
    if found is None or data.texts is None:
        raise UserError("The features of this model are not made of the words of a text.")
    made, columns = found
    text = "" if data.texts[row] is None else str(data.texts[row])
    pattern = r"\w+" if made.unit == "word" else r"\w"
    words = {word.casefold(): word for word in reversed(re.findall(pattern, text))}
    words = {word.casefold(): words[word.casefold()] for word in re.findall(pattern, text)}
    left = list(words)[:MOST_WORDS]
    texts = [text, *(_without(text, word, pattern) for word in left)]

    X = np.repeat(data.X[row][None], len(texts), axis=0)  # (1 + m, d)
    none = np.empty((len(texts), 0), dtype=np.float32)
    X[:, columns] = made.transform(PartialLabelDataset(none, texts=np.array(texts, dtype=object)))
    scores = estimator.predict_scores(X).astype(np.float64)
    differences = scores[:, label] - scores[:, other]
    return Attribution(
        tuple(words[word] for word in left), differences[0] - differences[1:], None, float(differences[0])
    )


def _without(text: str, word: str, pattern: str) -> str:
    return re.sub(pattern, lambda found: "" if found.group().casefold() == word else found.group(), text)


def _text_part(features: Featuriser) -> tuple[TextFeatures, slice] | None:
    """The part of the features that counts words, and its columns; None where there is none."""
    start = 0
    for part in features.parts if isinstance(features, JoinedFeatures) else (features,):
        end = start + len(part.feature_names)
        if isinstance(part, TextFeatures):
            return part, slice(start, end)
        start = end
    return None


def reads_words(features: Featuriser | None) -> bool:
    """Whether the features are made of the words of a text, at least in part."""
    return features is not None and _text_part(features) is not None


def column_names(features: Featuriser | None, data: PartialLabelDataset) -> tuple[str, ...] | None:
    """Return a name for each of the d features; that of its column for those of one column of words.

    None where features are not columns that a person reads: of texts alone, of pictures.
    """
    if features is None:
        named = data.X.ndim == 2 and data.X.shape[1] > 0
        return (data.feature_names or tuple(f"column {k + 1}" for k in range(data.X.shape[1]))) if named else None
    if not isinstance(features, TableFeatures):
        return None
    numbers = features.numbers or ()
    return (*numbers, *(name for name, words in features.words.items() for _ in words))
