"""Classes put in order after reading: merged, renamed, dropped, as the user says.

The edits are stored with the source (`Source.classes`), so that the file stays as it is and everything can be undone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets, sort_names
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats.checks import listing, shorten
from pll.formats.labels import sets_of_cells
from pll.formats.tabular.cells import is_no_answer, spelling
from pll.weights import Weights

Edits = Mapping[str, str | None]
"""What becomes of classes: the old name → the new one, or None where it is no label at all and is dropped."""


def class_counts(data: PartialLabelDataset) -> dict[str, int]:
    """Return how often each class was given: in annotators' answers, else candidate sets, else true labels."""
    if data.annotations is not None:
        labels = data.annotations.labels
    elif data.candidates is not None:
        labels = data.candidates.indices.astype(np.int64)
    else:
        labels = np.empty(0, dtype=np.int64) if data.y is None else data.y[data.y >= 0]
    counts = np.bincount(labels, minlength=data.n_classes)
    return dict(zip(data.class_names, counts.tolist(), strict=True))


def class_edits(
    merge: Sequence[tuple[str, str]] = (), rename: Sequence[tuple[str, str]] = (), drop: Sequence[str] = ()
) -> dict[str, str | None]:
    """Return what becomes of classes: merged first, then renamed.

    Parameters
    ----------
    merge, rename
        (old name, new name) of classes.
    drop
        Names of those that are no labels.

    Raises
    ------
    UserError
        Two edits of one class contradict each other.

    Examples
    --------
    >>> class_edits([("PRAISE", "praise")], [("praise", "thanks")], ["N/A"])
    {'PRAISE': 'thanks', 'N/A': None, 'praise': 'thanks'}
    >>> class_edits([("yes", "no"), ("no", "yes")])
    Traceback (most recent call last):
    pll.errors.UserError: 'yes' is to become 'no', which is merged itself; name the last one.
    """
    renamed = dict(rename)
    merged = [(name, renamed.get(becomes, becomes)) for name, becomes in merge]
    edits: dict[str, str | None] = {}
    moved = {name for name, to in merge if to != name}
    circular = [(name, to) for name, to in merge if to != name and to in moved]
    if circular:
        old, new = map(shorten, circular[0])
        raise UserError(f"{old} is to become {new}, which is merged itself; name the last one.")
    for name, becomes in (*merged, *((name, None) for name in drop), *rename):
        if name in edits:
            raise UserError(f"There are two edits of the class {shorten(name)}; merge, rename or drop it once.")
        edits[name] = becomes
    return edits


def with_classes(data: PartialLabelDataset, edits: Edits, *, strict: bool = True) -> PartialLabelDataset:
    """Return the data with its classes merged, renamed and dropped.

    A dropped label is no answer: it leaves the candidate sets, the annotators' answers and the true labels. A set of
    which nothing is left holds every class, like that of an example without annotations.

    Parameters
    ----------
    data
        As it was read.
    edits
        What becomes of each class; those that are not named stay.
    strict
        Refuse classes that the data does not have; else they are passed over (a test part has not all).

    Raises
    ------
    UserError
        a class that does not exist, or none that is left.
    """
    spelled = {spelling(name): name for name in data.class_names}  # what was read as one class is called by its name
    edits = {name if name in data.class_names else spelled.get(spelling(name), name): to for name, to in edits.items()}
    unknown = [name for name in edits if name not in data.class_names]
    unknown = [name for name in unknown if edits[name] is not None or not is_no_answer(name)]  # read as no answer
    if unknown and strict:
        raise UserError(
            f"There is no class {shorten(unknown[0])} to change; the classes are {listing(data.class_names)}."
        )
    becomes = {name: edits.get(name, name) for name in data.class_names}
    if all(new == name for name, new in becomes.items()):
        return data
    new_names = list(dict.fromkeys(new for new in becomes.values() if new is not None))
    if not new_names:
        raise UserError("Every class is dropped; leave at least one.")
    names = sort_names(new_names) if data.class_names == sort_names(data.class_names) else tuple(new_names)
    place: dict[str | None, int] = {name: k for k, name in enumerate(names)}
    new = np.array([place.get(becomes[name], UNKNOWN) for name in data.class_names] + [UNKNOWN], dtype=np.int64)
    annotations = None if data.annotations is None else _annotations(data.annotations, new, names)
    y = None if data.y is None else new[data.y]
    candidates, prior, notes = None, None, list(data.notes)
    if data.candidates is not None:
        candidates, prior, more = _candidates(data.candidates, data.prior, new, names)
        notes += more
    merged = sum(new_name is not None and new_name != name for name, new_name in becomes.items())
    dropped = sum(new_name is None for new_name in becomes.values())
    notes.append(
        f"{data.n_classes} classes in the file became {len(names)}: {merged} merged or renamed, {dropped} dropped."
    )
    return replace(
        data,
        candidates=candidates,
        prior=prior,
        y=None if y is None or not (y >= 0).any() else y,
        class_names=names,
        annotations=annotations,
        notes=tuple(notes),
    )


def _annotations(annotations: Annotations, new: npt.NDArray[np.int64], names: tuple[str, ...]) -> Annotations | None:
    labels = new[annotations.labels]
    has_class = labels >= 0
    if not has_class.any():
        return None
    return replace(
        annotations,
        rows=annotations.rows[has_class],
        annotators=annotations.annotators[has_class],
        labels=labels[has_class],
        class_names=names,
        scores=None if annotations.scores is None else annotations.scores[has_class],
    )


def _candidates(
    sets: CandidateSets, prior: Weights | None, new: npt.NDArray[np.int64], names: tuple[str, ...]
) -> tuple[CandidateSets, Weights | None, list[str]]:
    labels = new[sets.indices]
    has_class = labels >= 0
    cells = sets.rows[has_class] * len(names) + labels[has_class]
    own = None if prior is None else prior[has_class].astype(np.float64)
    made, weights, notes = sets_of_cells(cells, len(sets), names, own)
    return made, None if weights is None else weights.astype(np.float32), notes
