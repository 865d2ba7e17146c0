"""Training data of the conditional logit from earlier runs of a review.

Without this the logit would begin again with every retrained run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from pll.candidates import CandidateSets
from pll.review.decided import ChoiceData, Decided
from pll.review.logit import choice_data
from pll.review.session import ReviewSession
from pll.review.signals import ReviewSignals

Signals = Callable[[str], ReviewSignals]
"""Gives the signals of a run by its id."""


def earlier_choice_data(review: ReviewSession, decided: Decided, signals_of: Signals) -> ChoiceData | None:
    """Return the choice data of all earlier runs, the first run's first; None where there are none.

    A run's choice data are those decisions whose examples the next one has only one candidate for. Runs
    with other signals than the present one (whose neighbours are not computed yet, say) are skipped.

    Args:
        decided: what may teach, in the classes of the present run.
    """
    runs = list(dict.fromkeys(record.run for record in review.rounds))
    if review.current.run not in runs[1:]:
        return None
    runs = runs[: runs.index(review.current.run) + 1]
    signals = [signals_of(run) for run in runs]
    wanted = choice_data(signals[-1], decided).features
    found: ChoiceData | None = None
    for own, after in pairwise(signals):
        made = _mapped(choice_data(own, _learnt(decided, own.sets, after.sets)), own.sets, decided.sets)
        if made.features == wanted and len(made):
            found = made if found is None else made.after(found)
    return found


def _learnt(decided: Decided, own: CandidateSets, after: CandidateSets) -> Decided:
    """The decisions that the next run has learnt from, in the classes of this one."""
    learnt = after.sizes[decided.rows] == 1
    place = {name: j for j, name in enumerate(own.class_names)}
    names = decided.sets.class_names
    rows, labels = decided.rows[learnt], decided.labels[learnt]
    known = [-1 if label < 0 else place.get(names[label], -1) for label in labels.tolist()]
    return Decided(own, rows, np.array(known, dtype=np.int64))


def _mapped(made: ChoiceData, own: CandidateSets, now: CandidateSets) -> ChoiceData:
    """The same choice data in the classes of the present run, which has all of the earlier ones."""
    place = {name: j for j, name in enumerate(now.class_names)}
    index = np.array([place.get(name, 0) for name in own.class_names], dtype=np.int64)
    return replace(made, labels=index[made.labels])
