"""Data of the ideas about ambiguity and the bound: the run in view, the chosen data, or the embedded digits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.analysis.error_bound import feature_radius
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.runs.history import History
from pll.runs.run import Run
from pll.synthesis import flip
from pll.training.scaling import fit_scaling
from pll.ui import session
from pll.ui.data import loader
from pll.ui.scenes import stored_frame
from pll.ui.widgets import choose

OF_RUN, OF_CHOICE, OF_DIGITS = "run", "choice", "digits"


@dataclass(frozen=True, eq=False)
class LessonData:
    """Some data that a reader may ask about."""

    name: str
    key: str  # the same for the same examples, for caches
    read: Callable[[], PartialLabelDataset]  # may take a while, and may raise UserError
    run: Run | None = None


def digits(q: float = 0.7, how: str = "binomial") -> LessonData:
    """The embedded digits, with candidate sets made from their truth.

    Parameters
    ----------
    q
        Flipping probability, in [0, 1].
    how
        A key of `FLIPS` that takes q.
    """

    def read() -> PartialLabelDataset:
        data = loader.dataset(Source("digits"))
        assert data.y is not None
        return replace(data, candidates=flip(how, data.y, data.n_classes, q, 0, data.class_names))

    return LessonData("handwritten digits", OF_DIGITS, read)


def _lesson_sources() -> dict[str, LessonData]:
    """What there is to ask about, the reader's own first, the digits last."""
    sources = {}
    with suppress(UserError):  # a link to a run that is gone; the Train page says so
        run = session.run_in_view()
        if run is not None:
            name = run.name
            sources[OF_RUN] = LessonData(f"{name}, the run in view", f"run-{run.id}", lambda: run.splits().train, run)
    choice = session.chosen()
    if choice is not None:
        name = f"{choice.source.name}, the data you chose"
        key = loader.choice_key(choice)
        sources[OF_CHOICE] = LessonData(name, key, lambda: loader.with_candidates(choice))
    return sources | {OF_DIGITS: digits()}


def choose_source(key: str) -> LessonData:
    """Choose what to ask about, where there is more than the digits."""
    sources = _lesson_sources()
    if len(sources) == 1:
        return sources[OF_DIGITS]
    names = {kind: source.name for kind, source in sources.items()}
    return sources[choose("Data", names, key=key, width=200)]


def labels_of(source: LessonData, data: PartialLabelDataset) -> tuple[npt.NDArray[np.int64] | None, bool]:
    """(labels, whether they are estimated): the truth where any is known, else the identified labels of the run.

    (None, True) where there are neither.

    Parameters
    ----------
    source
        What was chosen; of a run its identified labels may be used.
    data
        The same, read.
    """
    if data.n_labelled:
        return data.y, False
    if source.run is None:
        return None, True
    history = History(source.run.folder.history, data.sets())
    frame = stored_frame(history, (history.epochs() or [0])[-1])
    return frame.sharp.identified if frame.epoch else None, True


@st.cache_resource(max_entries=8, show_spinner=False)
def radius_of(key: str, _data: PartialLabelDataset) -> float:
    """R of the scaled features, computed once for the same `LessonData.key`."""
    return feature_radius(_data.X, fit_scaling(_data.X))
