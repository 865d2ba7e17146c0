"""Source of an export: a fitted method, and the examples whose labels it identified."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll.analysis.health import Health
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.export.label_files import added_labels
from pll.features import Featuriser
from pll.formats.label_frame import Decisions, labels_frame
from pll.methods import PartialLabelEstimator
from pll.methods.input_range import input_range
from pll.review.certification import Certified
from pll.review.events import Event, LabelVersion
from pll.review.status import ReviewStatus
from pll.runs.labels_table import label_table
from pll.weights import Certainty, Weights, taken_home


@dataclass(frozen=True, eq=False)
class ExportSource:
    """A snapshot; nothing in it changes while files are written from it.

    Parameters
    ----------
    estimator
        Fitted or loaded.
    method
        Its name in `METHODS`.
    candidates
        n candidate sets.
    label_weights
        (nnz,) float32, aligned with `candidates.indices`.
    held_out
        (nnz,) float32, held-out weights, NaN where they are not known; None where none are.
    own_weights
        (nnz,) float32, the model's own label weights, where `label_weights` follow the decisions of a review.
    ids
        (n,) text.
    y
        (n,) true labels, −1 where not known.
    name
        Of the data; the archive is called after it.
    input_shape
        Shape of one example, (d,) or (C, H, W).
    feature_names
        d names of the columns, where they have some.
    config
        How it was made, for the README.
    metrics
        How good it is, for the README.
    decisions
        What people decided, by row.
    status
        The state of the review, for the README; None where it is not known.
    reviewed
        n candidate sets as the reviewers saw them, those of the review's first run; None without a review.
    events
        How they came to it, for the audit trail; versions: which labels were under review meanwhile.
    features
        What made features of texts, pictures or words; None where they came as they are.
    follows
        The label weights follow the decisions of a review, and are not the model's own.
    replay
        Makes the run as one HTML page (`pll.export.replay`); None where there is no history to show.
    health
        Whether the labels can be used; None where the run has not ended.
    warnings
        On the data: what its reader left out or took for what, and what the recipe of the run found.
    holdout
        Rows of the data that were not learnt from, whose labels are predicted; None where there are none.
    all_ids
        Ids of all rows of the data, in its order, where some were held out.
    no_answer
        Ids of examples that nobody answered and nothing predicts; they have no label.
    certificate
        Makes the certificate of all labels, None where there is none yet; None without a review.
    spreadsheet_safe
        Neutralise cells of CSV files that spreadsheets would execute.
    given_sets
        Candidate sets of the data, where labels named by no voter joined `candidates`; None where none did.
    tied_votes
        As for `labels_frame`.
    reading
        What was understood of the data's file, the fields of a `Reading`; empty where there is nothing to say.
    X
        (n, …) features that it was fitted on, whose range is told; None where they are not available.
    """

    estimator: PartialLabelEstimator
    method: str
    candidates: CandidateSets
    label_weights: Weights
    ids: npt.NDArray[np.str_]
    held_out: Weights | None = None
    y: npt.NDArray[np.int64] | None = None
    name: str = "data"
    input_shape: tuple[int, ...] = ()
    feature_names: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    decisions: Decisions | None = None
    status: ReviewStatus | None = None
    reviewed: CandidateSets | None = None
    events: Sequence[Event] = ()
    versions: Sequence[LabelVersion] = ()
    features: Featuriser | None = None
    replay: Callable[[], str] | None = None
    follows: bool = False
    reading: Mapping[str, Any] = field(default_factory=dict)
    own_weights: Weights | None = None
    health: Health | None = None
    warnings: tuple[str, ...] = ()
    holdout: PartialLabelDataset | None = None
    all_ids: tuple[str, ...] = ()
    no_answer: tuple[str, ...] = ()
    certificate: Callable[[], Certified | None] | None = None
    spreadsheet_safe: bool = False
    X: npt.NDArray[np.float32] | None = None
    given_sets: CandidateSets | None = None
    tied_votes: npt.NDArray[np.bool_] | None = None

    @cached_property
    def certified(self) -> Certified | None:
        """The certificate of all labels, made once for every file of it; None where there is none."""
        return None if self.certificate is None else self.certificate()

    @cached_property
    def inputs(self) -> dict[str, Any] | None:
        """The range of the features (`pll.methods.input_range`); None where they are not available."""
        return None if self.X is None else input_range(self.X)

    @cached_property
    def learnt(self) -> pd.DataFrame:
        """The labels of the n examples that were learnt from. Read only."""
        decided, sets = self.decisions, self.given_sets
        return labels_frame(
            self.candidates,
            self.label_weights,
            self.ids,
            held_out=self.held_out,
            y=self.y,
            decisions=decided,
            votes_alone=not self.estimator.needs_features,
            tied_votes=self.tied_votes,
            given=sets,
        )

    @cached_property
    def certainty(self) -> Certainty:
        """The label of each of the n examples that nobody decided, and how sure it is."""
        return taken_home(self.label_weights, self.held_out, self.candidates, self.tied_votes)

    @property
    def off_set(self) -> int:
        """How many of the model's labels are outside the set that the data has for their example."""
        if self.given_sets is None:
            return 0
        return int((~self.given_sets.contains(self.certainty.identified)).sum())

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table of labels, all rows in the order of the data; made once, for every file of it. Read only."""
        sets = self.given_sets or self.candidates
        return label_table(self.learnt, sets.class_names, self.estimator, self.holdout, self.all_ids)

    @cached_property
    def added(self) -> pd.DataFrame:
        """Labels that people gave and the candidate sets did not have; see `added_labels`."""
        return added_labels(self.reviewed or self.candidates, self.ids, self.decisions or {})

    @property
    def slug(self) -> str:
        """The name as a part of file names: letters, digits and dashes.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> (
        ...     ExportSource.slug.fget(SimpleNamespace(name="Digits, q = 0.7")),
        ...     ExportSource.slug.fget(SimpleNamespace(name="../")),
        ... )
        ('digits-q-0-7', 'candid')
        """
        return re.sub(r"[\W_]+", "-", self.name.lower()).strip("-")[:60].rstrip("-") or "candid"


def preview(source: ExportSource, rows: int) -> pd.DataFrame:
    """Return the first rows of the table of labels; the others are not computed.

    Parameters
    ----------
    source
        What is exported.
    rows
        How many.
    """
    holdout, first = source.holdout, source.all_ids[:rows]
    learnt = np.arange(min(rows, len(source.candidates)))
    if holdout is not None:
        learnt = np.flatnonzero(np.isin(source.ids, first))
        holdout = holdout.take(np.flatnonzero(np.isin(holdout.row_ids, first)))
    decisions = source.decisions or {}
    positions = source.candidates.positions(learnt)
    own = replace(
        source,
        candidates=source.candidates.take(learnt),
        given_sets=None if source.given_sets is None else source.given_sets.take(learnt),
        tied_votes=None if source.tied_votes is None else source.tied_votes[learnt],
        label_weights=source.label_weights[positions],
        held_out=None if source.held_out is None else source.held_out[positions],
        ids=source.ids[learnt],
        y=None if source.y is None else source.y[learnt],
        holdout=holdout,
        all_ids=first,
        decisions={k: decisions[row] for k, row in enumerate(learnt.tolist()) if row in decisions},
    )
    return own.frame
