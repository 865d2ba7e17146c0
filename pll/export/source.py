"""Source of an export: a fitted method, and the examples whose labels it identified."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pll.analysis.health import Health
from pll.candidates import CandidateSets, with_sets_of
from pll.dataset import PartialLabelDataset
from pll.export.label_files import added_labels
from pll.formats.label_frame import Decisions, labels_frame
from pll.methods.base import PartialLabelEstimator
from pll.methods.input_range import input_range
from pll.review.certification import Certified
from pll.review.label_snapshot import LabelSnapshot
from pll.review.record import Record
from pll.review.status import ReviewStatus
from pll.runs.data import Splits
from pll.runs.labels_table import label_table
from pll.weights import Certainty, taken_home


@dataclass(frozen=True, eq=False)
class ExportSource:
    """A snapshot; nothing in it changes while files are written from it.

    Parameters
    ----------
    estimator
        Fitted or loaded.
    method
        Its name in `METHODS`.
    labels
        Those that people take home: of the run, or as the decisions of its review leave them.
    splits
        The data that it learnt from, and what was held out.
    name
        Of the data; the archive is called after it.
    own
        The model's own labels, where `labels` follow the decisions of a review.
    record
        The review, for the audit trail; None without any answer.
    decisions
        What people decided, by row.
    certificate
        Makes the certificate of all labels, None where there is none yet; None without a review.
    status
        The state of the review, for the README; None where it is not known.
    health
        Whether the labels can be used; None where the run has not ended.
    config
        How it was made, for the README.
    metrics
        How good it is, for the README.
    warnings
        On the data: what its reader left out or took for what, and what the recipe of the run found.
    replay
        Makes the run as one HTML page (`pll.export.replay`); None where there is no history to show.
    spreadsheet_safe
        Neutralise cells of CSV files that spreadsheets would execute.
    """

    estimator: PartialLabelEstimator
    method: str
    labels: LabelSnapshot
    splits: Splits
    name: str = "data"
    own: LabelSnapshot | None = None
    record: Record | None = None
    decisions: Decisions | None = None
    certificate: Callable[[], Certified | None] | None = None
    status: ReviewStatus | None = None
    health: Health | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    replay: Callable[[], str] | None = None
    spreadsheet_safe: bool = False

    @property
    def train(self) -> PartialLabelDataset:
        """The examples that were learnt from."""
        return self.splits.train

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is known that speaks against the labels."""
        return self.health is not None and self.health.is_healthy

    @cached_property
    def certified(self) -> Certified | None:
        """The certificate of all labels, made once for every file of it; None where there is none."""
        return None if self.certificate is None else self.certificate()

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """The range of the features (`pll.methods.input_range`)."""
        return input_range(self.train.X)

    @cached_property
    def given(self) -> CandidateSets:
        """The n sets that people gave and settled; what they took back after the run learnt it is not settled."""
        given, now = self.train.given_sets, self.labels.candidates
        if self.own is None or now == self.own.candidates:
            return given
        again = [row for row in range(len(now)) if now[row].tolist() != self.own.candidates[row].tolist()]
        return with_sets_of(given, now, again)[0]

    @cached_property
    def learnt(self) -> pd.DataFrame:
        """The labels of the n examples that were learnt from. Read only."""
        labels, train = self.labels, self.train
        return labels_frame(
            labels.candidates,
            labels.weights,
            labels.ids,
            held_out=labels.held_out,
            y=train.y,
            decisions=self.decisions,
            votes_alone=not self.estimator.needs_features,
            tied_votes=None if labels.follows else train.tied_votes,
            given=self.given,
        )

    @cached_property
    def certainty(self) -> Certainty:
        """The label of each of the n examples that nobody decided, and how sure it is."""
        labels = self.labels
        tied_votes = None if labels.follows else self.train.tied_votes
        return taken_home(labels.weights, labels.held_out, labels.candidates, tied_votes)

    @property
    def off_set(self) -> int:
        """How many of the model's labels are outside the set that the data has for their example."""
        return int((~self.given.contains(self.certainty.identified)).sum())

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table of labels, all rows in the order of the data; made once, for every file of it. Read only."""
        return label_table(self.learnt, self.splits, self.estimator)

    @cached_property
    def added(self) -> pd.DataFrame:
        """Labels that people gave and the candidate sets did not have; see `added_labels`."""
        shown = self.labels.candidates if self.record is None else self.record.state.candidates
        return added_labels(shown, self.labels.ids, self.decisions or {})

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
    splits, holdout = source.splits, source.splits.holdout
    first, learnt = splits.all_ids[:rows], np.arange(min(rows, len(source.labels)))
    if holdout is not None:
        learnt = np.flatnonzero(np.isin(source.labels.ids, first))
        holdout = holdout.take(np.flatnonzero(np.isin(holdout.row_ids, first)))
    decisions = source.decisions or {}
    few = replace(
        source,
        labels=source.labels.take(learnt),
        splits=replace(splits, train=splits.train.take(learnt), holdout=holdout, all_ids=first),
        decisions={k: decisions[row] for k, row in enumerate(learnt.tolist()) if row in decisions},
    )
    return few.frame
