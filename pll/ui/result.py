"""What a run came to: how many labels are certain, and whether they can be used. On the Train and the Export page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.analysis.health import Health
from pll.annotations import Annotations
from pll.runs.files import VOTE_SETS
from pll.runs.run import Run
from pll.runs.run_data import vote_sets_of
from pll.ui.format import count, plain
from pll.ui.review.queue_controls import DISPUTED, choose_rows
from pll.ui.routes import go
from pll.weights import CONFIDENT, Certainty

ICONS = {"healthy": ":material/verified:", "unchecked": ":material/help:", "unhealthy": ":material/warning:"}
IN_SHORT = {
    "diverging": "Training diverged.",
    "changing": "Labels still change.",
    "collapsed": "One class takes nearly all examples.",
    "flat": "Nothing was learnt.",
    "unsupported": "They are not clearly better than chance.",
    "doubtful": "Too few are expected to be right.",
}


@dataclass(frozen=True)
class LabelCounts:
    """How many labels there are, and how many of them deserve a look."""

    labels: int  # of the examples that were learnt from
    # of them, those whose confidence is below `CONFIDENT` and that nobody decided; None where it is not known how sure
    # they are, or they are not to be trusted
    doubtful: int | None
    # of them, those that the majority of the votes would label differently; None without several voters
    differs: int | None = None
    predicted: int = 0  # labels of examples that were not learnt from
    wrong: float = 0.0  # expected number of wrong ones among the certain: Σ (1 − confidence)
    is_known: bool = True  # whether it is known how sure the labels are

    @property
    def sentence(self) -> str:
        """As a person reads it.

        Examples
        --------
        >>> LabelCounts(60, 8, 9, wrong=2.6).sentence
        '60 labels. 52 certain, 8 worth a look. About 3 of the 52 may be wrong. The majority would differ on 9.'
        >>> LabelCounts(60, None, is_known=False).sentence
        '60 labels. How sure they are is not known.'
        """
        text = f"{count(self.labels, 'label')}."
        if self.doubtful is not None:
            certain = self.labels - self.doubtful
            text += f" {certain:,} certain, {self.doubtful:,} worth a look.{_expected_wrong(self.wrong, certain)}"
        elif not self.is_known:
            text += " How sure they are is not known."
        majority = "" if self.differs is None else f" The majority would differ on {self.differs:,}."
        return f"{text}{majority}" + (f" {self.predicted:,} more are predicted." if self.predicted else "")


def _expected_wrong(wrong: float, certain: int) -> str:
    if not certain:
        return ""
    if wrong < 0.5:
        return f" Hardly any of the {certain:,} should be wrong."
    return f" About {round(wrong):,} of the {certain:,} may be wrong."


def result_of(
    labels: Certainty,
    votes: Annotations | None,
    health: Health | None,
    *,
    decided: Collection[int] = (),
    predicted: int = 0,
) -> LabelCounts:
    """Return what the labels of n examples come to, with `votes` of the same examples where there are any.

    Rows in `decided` were decided by a person, and are certain; `predicted` labels are of examples not learnt from. Of
    labels that are not to be trusted (`health`) none is called certain.
    """
    is_one = votes is None or (votes.n_annotators == 1 and not votes.anonymous)
    differs = None if votes is None or is_one else _differing(labels.identified, votes)
    is_known = bool(labels.is_known.any())
    if not is_known or (health is not None and health.verdict == "unhealthy"):
        return LabelCounts(len(labels.identified), None, differs, predicted, is_known=is_known)
    confidence = labels.confidence.astype(np.float64)
    confidence[list(decided)] = 1.0
    is_certain = confidence >= CONFIDENT
    wrong = float((1 - confidence[is_certain]).sum())
    return LabelCounts(len(confidence), int((~is_certain).sum()), differs, predicted, wrong)


def _differing(identified: npt.NDArray[np.int64], votes: Annotations) -> int:
    """How many labels are not the most frequent of the votes, or one of them where several are."""
    counts = votes.votes
    most = counts.max(axis=1).toarray().ravel()
    own = np.asarray(counts[np.arange(len(identified)), identified]).ravel()
    return int((own < most).sum())


# ---- whether they can be used ---------------------------------------------------------------------------------------


def show_health(health: Health | None, *, more: Sequence[str] = ()) -> None:
    """Show the verdict on a run that has ended in one line; one that is not good opens to what was found.

    `more` also speaks against the labels: beside a verdict that is not good, it is among what was found.
    """
    more = list(dict.fromkeys((*more, *(() if health is None else health.doubts))))
    if health is None or health.verdict != "unhealthy":
        for warning in more:
            st.warning(plain(warning), icon=ICONS["unhealthy"])
        if health is not None:
            evidence = "" if health.evidence is None else health.evidence.sentence
            st.caption(f"{ICONS[health.verdict]} {health.headline}", help=evidence or None)
        return
    lines = [f"{plain(finding.sentence)} {finding.remedy}" for finding in health.findings]
    if health.evidence is not None and all(finding.name != "unsupported" for finding in health.findings):
        lines.append(health.evidence.sentence)
    in_short = f"**Do not trust these labels yet.** {IN_SHORT[health.findings[0].name]}"
    with st.container(key="health-notice"), st.expander(in_short, icon=ICONS["unhealthy"]):
        st.markdown("  \n".join([*lines, *map(plain, more)]))


def show_disputes(run: Run) -> None:
    """Say where the votes of a run that has ended do not tell whom to believe, and lead to a review of those."""
    if not run.folder.path.joinpath(VOTE_SETS).exists() or run.snapshot().is_active:
        return
    sentence, rows = _disputed(run.id, run)
    if not len(rows):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(plain(sentence), icon=":material/balance:")
        if st.button("Settle", key=f"settle-{run.id}", icon=":material/rate_review:"):
            choose_rows(run.id, rows, DISPUTED)
            go("review", run=run.id)


@st.cache_resource(max_entries=8, show_spinner=False)
def _disputed(run_id: str, _run: Run) -> tuple[str, npt.NDArray[np.int64]]:
    """The sentence, and the rows in the order of the review."""
    vote_sets = vote_sets_of(_run.folder)
    return (
        ("", np.empty(0, dtype=np.int64))
        if vote_sets is None or not vote_sets.notes
        else (vote_sets.notes[0], vote_sets.disputed)
    )
