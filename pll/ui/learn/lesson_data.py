"""Data of ideas 7 and 8: the run in view, the chosen data, or the embedded digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.analysis.theory.bound import feature_radius
from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.runs.history import History
from pll.runs.run import Run
from pll.synthesis import flip
from pll.training.scaling import fit_scaling
from pll.ui import session
from pll.weights import identified_labels

RUN, CHOICE, DIGITS = "run", "choice", "digits"


@dataclass(frozen=True, eq=False)
class LessonData:
    """Some data that a reader may ask about."""

    kind: str  # `RUN`, `CHOICE` or `DIGITS`
    name: str
    key: str  # the same for the same data, for caches
    read: Callable[[], PartialLabelDataset]  # gives the examples; may take a while, and may raise UserError
    run: Run | None = None


def digits(q: float, how: str) -> PartialLabelDataset:
    """The embedded digits, with candidate sets made from their truth."""
    data = session.dataset(Source("digits"))
    assert data.y is not None
    return replace(data, candidates=flip(how, data.y, data.n_classes, q, 0, data.class_names))


def lesson_sources(q: float, how: str) -> list[LessonData]:
    """What there is to ask about, the reader's own first, the digits last.

    Parameters
    ----------
    q, how
        Of the digits' candidate sets.
    """
    sources = []
    run = _run()
    if run is not None:
        name = run.config.name or run.config.source.name
        sources.append(LessonData(RUN, f"{name}, the run in view", f"run-{run.id}", lambda: run.splits().train, run))
    choice = session.chosen()
    if choice is not None:
        key = f"choice-{choice}"
        sources.append(
            LessonData(
                CHOICE,
                f"{choice.source.name}, the data you chose",
                key,
                lambda: session.dataset_with_candidates(choice),
            )
        )
    sources.append(LessonData(DIGITS, "handwritten digits", f"digits-{how}-{q}", lambda: digits(q, how)))
    return sources


def labels_of(source: LessonData, data: PartialLabelDataset) -> tuple[npt.NDArray[np.int64] | None, bool]:
    """(labels, whether they are estimated): the truth where any is known, else the identified labels of the run.

    (None, True) where there are neither.
    """
    if data.y is not None and (data.y >= 0).any():
        return data.y, False
    if source.run is None:
        return None, True
    return _identified(source.run, data.sets()), True


def radius_of(source: LessonData, data: PartialLabelDataset) -> float:
    """R of the scaled features, computed once for the same data."""
    return _radius(f"{source.kind}-{data.name}-{data.X.shape}-{source.key if source.kind != DIGITS else ''}", data)


@st.cache_resource(max_entries=8, show_spinner=False)
def _radius(key: str, _data: PartialLabelDataset) -> float:
    return feature_radius(_data.X, fit_scaling(_data.X))


def _run() -> Run | None:
    try:
        return session.run_in_view()
    except UserError:  # a link to a run that is gone; the Train page says so
        return None


def _identified(run: Run, sets: CandidateSets) -> npt.NDArray[np.int64] | None:
    history = History(run.folder.history, sets)
    epochs = history.epochs()
    if not epochs or epochs[-1] == 0:
        return None
    try:
        return identified_labels(history.weights(epochs[-1]), sets)
    except FileNotFoundError:  # thinned out just now
        return None
