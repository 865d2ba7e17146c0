"""Labels and label weights of one run, as they are reviewed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets, with_sets_of
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import taken
from pll.review.events import Event
from pll.runs.folder import RunFolder, check_has_result
from pll.runs.history import History
from pll.weights import Certainty, Ints, Weights, best_known, taken_home


@dataclass(frozen=True, eq=False)
class LabelSnapshot:
    """A run's result, as far as a review needs it.

    Parameters
    ----------
    run
        Its id.
    ids
        (n,) text, the examples.
    candidates
        n candidate sets, as the run was given them.
    weights
        (nnz,) float32, its final label weights.
    held_out
        (nnz,) float32, its held-out weights, NaN where they are not known; None where none are.
    follows
        Both follow the decisions (`pll.review.follow`).
    """

    run: str
    ids: npt.NDArray[np.str_] = field(metadata={"rows": "ids"})
    candidates: CandidateSets = field(metadata={"rows": "candidate sets"})
    weights: Weights = field(metadata={"candidates": "label weights"})
    held_out: Weights | None = field(default=None, metadata={"candidates": "held-out weights"})
    follows: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Ints) -> LabelSnapshot:
        """Of some of the examples."""
        return replace(self, **taken(self, rows))

    def with_rows(self, rows: Sequence[int], other: LabelSnapshot) -> LabelSnapshot:
        """The same, but for some examples the sets and weights of another run of the review.

        Parameters
        ----------
        rows
            The examples.
        other
            The labels of the other run, as decisions leave them.
        """
        sets, at = with_sets_of(self.candidates, other.candidates, rows)
        weights, held_out = np.concatenate([self.weights, other.weights])[at], self.held_out
        if held_out is not None:
            theirs = np.full_like(other.weights, np.nan) if other.held_out is None else other.held_out
            held_out = np.concatenate([held_out, theirs])[at]
        return replace(self, candidates=sets, weights=weights, held_out=held_out, follows=True)

    @property
    def key(self) -> tuple[str, str]:
        """Which labels these are: the run, and their fingerprint."""
        return self.run, self.fingerprint

    @cached_property
    def certainty(self) -> Certainty:
        """The label of every example, and how sure it is."""
        return taken_home(self.weights, self.held_out, self.candidates)

    @cached_property
    def shown(self) -> Weights:
        """(nnz,) what is shown beside the candidates: held-out weights, label weights where these are not known."""
        return best_known(self.weights, self.held_out)

    @cached_property
    def inside(self) -> npt.NDArray[np.float32]:
        """(n,) probability that the truth is in the set: less than 1 where it may be a label that no voter named."""
        total = np.add.reduceat(self.shown, self.candidates.indptr[:-1], dtype=np.float64)
        return np.minimum(1.0, total.round(6)).astype(np.float32)

    @cached_property
    def labels(self) -> npt.NDArray[np.object_]:
        """(n,) the names of the identified labels."""
        return np.array(self.candidates.class_names, dtype=object)[self.certainty.identified]

    @cached_property
    def fingerprint(self) -> str:
        """Of labels and confidences: where it differs, a certificate does not apply."""
        digest = hashlib.sha256(json.dumps(self.candidates.class_names).encode())
        for array in (self.certainty.identified, self.certainty.confidence):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def weights_of(self, row: int) -> dict[str, float]:
        """Label → weight of one example, the heaviest first."""
        start, end = self.candidates.indptr[row], self.candidates.indptr[row + 1]
        result = zip(self.candidates.names(row), self.shown[start:end].tolist(), strict=True)
        return dict(sorted(result, key=lambda pair: -pair[1]))  # stable: equals stay in the order of classes

    def check_rows(self, events: Iterable[Event]) -> None:
        """Raise UserError where a decision names another example than the one in its row.

        The hash of a decision binds the example's id, the state of a review is kept by rows.
        """
        for event in events:
            if not 0 <= event.row < len(self.ids) or str(self.ids[event.row]) != event.example:
                raise UserError(
                    f"The database of decisions is damaged: a decision about {event.example!r} stands at row "
                    f"{event.row}, where another example is. Restore a backup."
                )


def snapshot_of(folder: RunFolder, train: PartialLabelDataset) -> LabelSnapshot:
    """Return the labels of a run that has a result.

    Parameters
    ----------
    folder
        Of the run.
    train
        Its training part.

    Raises
    ------
    UserError
        It has none yet.
    """
    check_has_result(folder)
    sets = train.sets()
    weights = History(folder.history, sets).final()
    return LabelSnapshot(folder.path.name, train.row_ids, sets, weights, folder.held_out(sets))


def review_id(folder: RunFolder) -> str:
    """The id under which decisions about a run are kept: that of the first run of its line, wherever it is moved.

    A run that was retrained by decisions belongs to the review of the run it continues.
    """
    about = folder.about()
    decided = about["run"]["decided_sets"]
    if decided:
        return str(decided["review"])
    made = json.dumps([about.get("created"), about["run"]], sort_keys=True)
    return "review-" + hashlib.sha256(made.encode()).hexdigest()[:24]
