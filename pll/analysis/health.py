"""Health of a run: whether labels still change, and whether models that did not learn from them find them right.

Label weights are no evidence: a diverging model is sharp. Where enough true labels are known, the identified labels are
compared with them. Elsewhere models that did not learn from an example judge it (`pll.methods.held_out`): the mean
confidence is the share of labels that is expected to be right, and a prediction inside the candidate set counts for
them (the covering rate, as PLENCH, ICLR 2025, uses it), compared with chance: the share after shuffling the labels over
the examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.analysis.intervals import wilson
from pll.annotations.data import Annotations
from pll.annotations.voters import LEAST_CHECKED, fit_voters, is_fair_sample, shared_answers
from pll.candidates import CandidateSets
from pll.io import from_json
from pll.training.metrics import is_diverging
from pll.weights import CONFIDENT, Certainty, Ints, Sharpness
from pll.wording import count, percent

RECENT_EPOCHS = 5
"""Epochs over which changes are counted."""
STILL_CHANGING = 0.05
"""Share of labels that still change in an epoch, above which they are reported as still changing."""
SETTLING = 0.8
"""Share of the changes of the second quarter of the epochs, up to which those of the last are fewer: labels settle."""
VOTES_REMEDY = (
    "Votes alone cannot tell more: bring another voter, or the features, texts or pictures; or review a sample."
)
SWALLOWED = 0.95
"""Share of the ambiguous sets with a class that the class takes, from which it dominates the others."""
FLAT = 0.02
"""Minimum excess of the mean top label weight over that of uniform weights."""
SHARPENING = 0.02
"""Rise of the mean top label weight in the last tenth of the epochs, from which a run still learns."""
EPOCHS_TO_JUDGE = 20
"""Epochs from which their last tenth says whether a run still learns."""
LEAST_RIGHT = 0.5
"""Share of the labels that must be expected to be right."""
NOT_HEALTHY = "labels"
"""Name in model.json's `extra` of what is said of labels that a model learnt from and that are not healthy."""
FEWEST_ASKED = 30
"""Minimum number of examples for a comparison with chance, and for a run to be called healthy."""


@dataclass(frozen=True)
class Evidence:
    """How often labels are supported by something other than the run's own confidence.

    Attributes
    ----------
    by
        `"truth"` (identified labels that are the known true ones) or `"candidates"` (predictions by models that did not
        learn from the examples, inside their candidate sets).
    hits, n
        So many of so many.
    chance
        The share that the same labels shuffled over the examples would have.
    """

    by: str
    hits: int
    n: int
    chance: float

    @property
    def share(self) -> float:
        """hits / n."""
        return self.hits / self.n

    @property
    def beats_chance(self) -> bool:
        """Whether the 95 % interval of the share (Wilson) lies above chance."""
        return wilson(self.hits, self.n)[0] > self.chance

    @property
    def sentence(self) -> str:
        """The share, its n and chance.

        Examples
        --------
        >>> Evidence("truth", 90, 100, 0.4).sentence
        'Identified labels are the true ones for 90 of 100 (90 %; 40 % by chance).'
        """
        what = (
            "Identified labels are the true ones"
            if self.by == "truth"
            else "Predictions for examples that were not learnt from lie inside their candidate sets"
        )
        return (
            f"{what} for {self.hits:,} of {self.n:,} ({percent(self.share, 0)}; {percent(self.chance, 0)} by chance)."
        )


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a run.

    Attributes
    ----------
    name
        `"diverging"`, `"changing"`, `"unsteady"`, `"collapsed"`, `"flat"`, `"unsupported"`, `"doubtful"`, `"refuted"`
        or `"dependent"`.
    sentence
        Description.
    remedy
        What to do.
    again
        With what a new run may help: `"epochs"` (more of them), `"steps"` (smaller ones), or nothing.
    """

    name: str
    sentence: str
    remedy: str
    again: str = ""


@dataclass(frozen=True)
class Health:
    """Whether the labels of a run can be used.

    Attributes
    ----------
    verdict
        `"healthy"`; `"unhealthy"` where there are findings; `"unchecked"` where there are none, and it is not known how
        sure the labels are, or there are doubts.
    findings
        What is wrong, the worst first.
    evidence
        None where there are too few examples, or the run was stopped.
    expected
        Share of the labels that is expected to be right, the mean confidence; None where it is not known.
    doubts
        Why that may be too much, as sentences.
    is_asked
        Whether models that had not learnt from an example were asked about it, in vain perhaps.
    """

    verdict: str
    findings: tuple[Finding, ...] = ()
    evidence: Evidence | None = None
    expected: float | None = None
    doubts: tuple[str, ...] = ()
    is_asked: bool = False

    @property
    def is_healthy(self) -> bool:
        """Whether no problem was detected and there was evidence."""
        return self.verdict == "healthy"

    @property
    def foretold(self) -> float | None:
        """Share of all labels that is expected to be right; None where that is not known, or the truth says more."""
        by_truth = self.evidence is not None and self.evidence.by == "truth"
        return None if by_truth or self.verdict == "unhealthy" else self.expected

    @property
    def headline(self) -> str:
        """The verdict as a sentence.

        Examples
        --------
        >>> Health("unchecked").headline
        'Not checked: it is not known how sure these labels are.'
        >>> Health("healthy", expected=0.874).headline
        'Healthy: about 87 % of all labels are expected to be right.'
        >>> Health("healthy", expected=0.997).headline
        'Healthy: more than 99 % of all labels are expected to be right.'
        >>> Health("healthy", evidence=Evidence("truth", 39, 40, 0.4), expected=0.39).headline
        'Healthy: right for 39 of 40 ambiguous examples with a known true label (98 %).'
        """
        if self.verdict == "healthy" and self.evidence is not None and self.evidence.by == "truth":
            known = f"{self.evidence.hits:,} of {self.evidence.n:,} ambiguous examples with a known true label"
            return f"Healthy: right for {known} ({percent(self.evidence.share, 0)})."
        share = f"about {percent(self.expected, 0)}"
        if self.expected is not None and self.expected >= 0.995:  # it would be rounded to all of them
            share = "more than 99 %"
        if self.verdict == "healthy" and self.expected is not None:
            return f"Healthy: {share} of all labels are expected to be right."
        if self.verdict == "healthy":
            return "Healthy: stable labels, better than chance."
        if self.verdict == "unchecked" and self.expected is not None:
            return f"Not checked: models expect {share} of the labels to be right."
        if self.verdict == "unchecked" and self.doubts:
            return "Not checked."
        if self.verdict == "unchecked":
            return "Not checked: it is not known how sure these labels are."
        return f"Do not trust these labels yet. {self.findings[0].sentence}"

    @property
    def said_of_model(self) -> dict[str, str]:
        """What `model.json` says of the labels that the model learnt from: nothing where they are healthy."""
        return {} if self.is_healthy else {NOT_HEALTHY: " ".join([self.headline, *self.doubts])}

    def to_json(self) -> dict[str, Any]:
        """Return plain values for state.json and the shell."""
        values = asdict(self)
        if self.evidence is not None:
            values["evidence"]["share"] = self.evidence.share
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any] | None) -> Health | None:
        """Return what `to_json` gave; None where there is nothing.

        Examples
        --------
        >>> made = Health("unhealthy", (Finding("flat", "a", "b"),), Evidence("truth", 3, 30, 0.5))
        >>> Health.from_json(made.to_json()) == made
        True
        """
        return from_json(cls, values) if values else None


def health_of(
    rows: Sequence[Mapping[str, Any]],
    final: Sharpness,
    sets: CandidateSets,
    evidence: Evidence | None,
    *,
    expected: float | None = None,
    doubts: Sequence[str] = (),
    of_given: Sequence[str] = (),
    top_loss: float | None = None,
    votes_alone: bool = False,
    others: Sequence[Finding] = (),
) -> Health:
    """Return the health of a run.

    Parameters
    ----------
    rows
        Of metrics.csv: `epoch`, `loss`, `changed_labels` of each.
    final
        The final label weights of n examples.
    sets
        n candidate sets.
    evidence
        See `against_truth` and `pll.methods.held_out.HeldOut.covered`.
    expected
        Mean confidence; None where it is not known.
    doubts
        Why it may be too high, as sentences; they do not count where enough true labels are known.
    of_given
        The same of only candidates, which known true labels of other examples say nothing about.
    top_loss
        The loss of uniform predictions; None where it is not known.
    votes_alone
        Whether the labels come from votes, and no training setting can help.
    others
        What else is wrong: see `refuted_by_truth` and `dependent`.
    """
    unseen = _unseen(evidence, expected, sets)
    collapsed = None if unseen or _is_borne_out(evidence) else _collapsed(final, sets)
    found = (_untrained(rows), _diverging(rows, top_loss), _changing(rows, len(sets)), collapsed)
    result = [finding for finding in found if finding is not None]
    ambiguous = sets.sizes > 1
    if ambiguous.any() and not result:
        gain = float((final.top[ambiguous] - 1 / sets.sizes[ambiguous]).mean())
        now, before = float(final.top.mean()), float((1 / sets.sizes).mean())
        if gain < FLAT:
            result.append(
                Finding(
                    "flat",
                    f"The label weights have stayed as they began: {percent(now, 0)} on the first label in the mean, "
                    f"{percent(before, 0)} before.",
                    "Train longer, with a larger learning rate or less weight decay; or use another method.",
                    "epochs",
                )
            )
    if evidence is not None and not evidence.beats_chance and not unseen:
        result.append(
            Finding(
                "unsupported",
                f"{evidence.sentence} That is not clearly better than chance: the features tell nothing of the labels.",
                "Check features and columns, or choose other settings; review a sample before you use the labels.",
            )
        )
    right = evidence.share if evidence is not None and evidence.by == "truth" else expected
    if right is not None and right < LEAST_RIGHT:
        learns = still_learns(rows)
        better = "Bring better features or further voters; review a sample before you use the labels."
        result.append(
            Finding(
                "doubtful",
                f"Only about {percent(right, 0)} of the labels are expected to be right. {learns}".strip(),
                "Train longer, or with a larger learning rate." if learns else better,
                "epochs" if learns else "",
            )
        )
    if votes_alone and rows:
        result = [replace(finding, remedy=VOTES_REMEDY, again="") for finding in result]
    result += others
    by_truth = evidence is not None and evidence.by == "truth"
    doubts = (*(() if by_truth else (*doubts, *unseen, *_too_few(len(sets)))), *of_given)
    is_checked = (by_truth or expected is not None) and not doubts
    verdict = "unhealthy" if result else "healthy" if is_checked else "unchecked"
    return Health(verdict, tuple(result), evidence, expected, doubts)


def still_learns(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say that the label weights still sharpened when training ended; "" where they did not.

    Parameters
    ----------
    rows
        Of metrics.csv: `mean_confidence` of each epoch.

    Examples
    --------
    >>> still_learns([{"mean_confidence": 0.1 + 0.004 * k} for k in range(50)])
    'Label weights still sharpen: from 28 % to 30 % on the first label in the mean in the last 5 epochs.'
    >>> still_learns([{"mean_confidence": 0.9}] * 50)
    ''
    """
    sharp = [float(row["mean_confidence"]) for row in rows if row.get("mean_confidence") is not None]
    last = len(sharp) // 10
    if len(sharp) < EPOCHS_TO_JUDGE or not sharp[-1] - sharp[-1 - last] >= SHARPENING:  # NaN of a diverged one
        return ""
    return (
        f"Label weights still sharpen: from {percent(sharp[-1 - last], 0)} to {percent(sharp[-1], 0)} on the first "
        f"label in the mean in the last {last} epochs."
    )


def _untrained(rows: Sequence[Mapping[str, Any]]) -> Finding | None:
    if rows:
        return None
    sentence = "Nothing was learnt: the run was stopped before its first epoch ended, and its labels are a first guess."
    return Finding("flat", sentence, "Train longer.", "epochs")


def _diverging(rows: Sequence[Mapping[str, Any]], top_loss: float | None) -> Finding | None:
    losses = [float(row["loss"]) for row in rows if row.get("loss") is not None]
    if not losses:
        return None
    last = float(np.mean(losses[1:][-RECENT_EPOCHS:] or losses))
    worse_than_began = len(losses) > RECENT_EPOCHS and last > losses[0]
    if not worse_than_began and not is_diverging(last, top_loss):
        return None
    than = f"{losses[0]:.3g} in the first epoch" if worse_than_began else f"{top_loss or 0:.3g} without any learning"
    return Finding(
        "diverging",
        f"Training diverged: the loss ended at {last:.3g}, above {than}.",
        "Use a smaller learning rate.",
    )


def _changing(rows: Sequence[Mapping[str, Any]], n: int) -> Finding | None:
    changes = [int(row["changed_labels"]) for row in rows if row["epoch"] > 1]
    recent, quarter = changes[-RECENT_EPOCHS:], len(changes) // 4
    mean = float(np.mean(recent)) if recent else 0.0
    if mean <= max(STILL_CHANGING * n, 1):
        return None
    text = f"{mean:,.0f} of {n:,} in each of the last {len(recent)} epochs"
    if quarter >= RECENT_EPOCHS and np.mean(changes[-quarter:]) > SETTLING * np.mean(changes[quarter : 2 * quarter]):
        sentence = f"Labels go back and forth: {text}, and hardly fewer than long before."
        return Finding("unsteady", sentence, "Train with a smaller learning rate.", "steps")
    remedy = "Train longer; where that does not help, use a smaller learning rate."
    return Finding("changing", f"Labels still change: {text}.", remedy, "epochs")


def _unseen(evidence: Evidence | None, expected: float | None, sets: CandidateSets) -> list[str]:
    """Say that sets cannot show whether features tell of the labels; nothing where they can.

    They cannot where as many answers lie in the sets by chance as labels are expected to be right, clearly more than
    half of them: one class is in nearly every set then, in clearly more than the next one, or sets hold most classes.
    """
    if evidence is None or evidence.by != "candidates" or evidence.beats_chance or expected is None:
        return []
    right = Evidence("candidates", round(expected * evidence.n), evidence.n, evidence.chance)
    if right.beats_chance or not replace(right, chance=LEAST_RIGHT).beats_chance:
        return []
    members = np.bincount(sets.indices, minlength=sets.n_classes)
    *_, next_, j = np.argsort(members, kind="stable").tolist()
    if wilson(int(members[j]), len(sets))[0] > wilson(int(members[next_]), len(sets))[1]:
        why = f"{sets.class_names[j]} is in {members[j]:,} of {len(sets):,} sets"
    else:
        why = f"Sets hold most classes ({sets.sizes.mean():.1f} of {sets.n_classes:,} in the mean)"
    return [f"{why}, so that they cannot show whether the features tell anything of the labels."]


def _too_few(n: int) -> list[str]:
    """Say that so few examples show nothing about their labels; nothing where there are enough."""
    if n >= FEWEST_ASKED:
        return []
    return [f"{count(n, 'example is', 'examples are')} too few to check labels by: {FEWEST_ASKED} are needed."]


def _is_borne_out(evidence: Evidence | None) -> bool:
    """Whether labels of which most are one class are right so: a model of that class alone covers sets by chance."""
    if evidence is None or not evidence.beats_chance:
        return False
    return evidence.by == "candidates" or evidence.share > SWALLOWED


def _collapsed(final: Sharpness, sets: CandidateSets) -> Finding | None:
    """One class that takes nearly every ambiguous set it is in, and is in most of them."""
    ambiguous = sets.sizes > 1
    n, entries = int(ambiguous.sum()), ambiguous[sets.rows]
    if n < FEWEST_ASKED or sets.n_classes < 3:  # of two classes one may well be right nearly always
        return None
    possible = np.bincount(sets.indices[entries], minlength=sets.n_classes)
    taken = np.bincount(final.identified[ambiguous], minlength=sets.n_classes)
    j = int(taken.argmax())
    if taken[j] < SWALLOWED * possible[j] or possible[j] < n / 2:
        return None
    return Finding(
        "collapsed",
        f"One class dominates: {sets.class_names[j]} is identified in {taken[j]:,} of the {possible[j]:,} "
        "ambiguous sets that hold it.",
        "Use less weight decay or a smaller learning rate, or look at how its candidates came about.",
    )


# ---- evidence --------------------------------------------------------------------------------------------------------


def against_truth(
    identified: Ints, y: Ints | None, sets: CandidateSets, sure: Sequence[npt.NDArray[np.floating[Any]]]
) -> Evidence | None:
    """Return how often identified labels of ambiguous examples are the known true ones.

    None where fewer than 30 are known, or where these are not as sure as the others: of all that says nothing.

    Parameters
    ----------
    identified
        (n,) class indices.
    y
        (n,) true labels, −1 where unknown.
    sets
        n candidate sets.
    sure
        (n,) figures of how sure each example is, as before and after training.
    """
    if y is None:
        return None
    ambiguous = sets.sizes > 1
    labelled = (y >= 0) & ambiguous
    n = int(labelled.sum())
    if n < FEWEST_ASKED or not all(is_fair_sample(one[ambiguous], labelled[ambiguous]) for one in sure):
        return None
    return Evidence("truth", int((identified == y)[labelled].sum()), n, float((1 / sets.sizes[labelled]).mean()))


def dependent(votes: Annotations | None, decided: Ints | None) -> list[Finding]:
    """Return what is wrong where votes show that voters are not independent (`shared_answers`); or nothing.

    Parameters
    ----------
    votes
        That say how sure labels are; None where models do.
    decided
        (n,) labels that people decided, −1 elsewhere.
    """
    if votes is None or votes.anonymous:
        return []
    models = fit_voters(votes, true_labels=decided)
    if decided is not None and models.n_checked < LEAST_CHECKED:  # what was decided is hard: there voters look poor
        models = fit_voters(votes)
    sentence = shared_answers(models)
    remedy = f"Review {LEAST_CHECKED} examples chosen at random, or more: decided labels tell whom to trust."
    return [Finding("dependent", sentence, remedy)] if sentence else []


def refuted_by_truth(labels: Certainty, y: Ints | None) -> list[Finding]:
    """Return what is wrong where known true labels contradict those called certain: clearly more than a tenth of these.

    Nothing where fewer than 30 certain labels have a known true one.

    Parameters
    ----------
    labels
        Of n examples, as people take them home.
    y
        (n,) true labels, −1 where unknown.
    """
    if y is None or not labels.is_known.any():
        return []
    known = (y >= 0) & (labels.confidence >= CONFIDENT)
    wrong = known & (labels.identified != y)
    n, n_wrong = int(known.sum()), int(wrong.sum())
    if n < FEWEST_ASKED or wilson(n_wrong, n)[0] <= 1 - CONFIDENT:
        return []
    given = int((wrong & labels.is_given).sum())
    remedy = "Check how the candidates came about; review a sample before you use the labels."
    if 2 * given > n_wrong:
        remedy = (
            f"Of these, {given:,} are the only candidate: bring wider sets, or use a method that may add labels "
            "(proden-outside)."
        )
    share = f"{n_wrong:,} are wrong ({percent(n_wrong / n, 0)})"
    text = f"Of {n:,} labels that would be called certain and whose true one is known, {share}."
    return [Finding("refuted", text, remedy)]


def are_given_checked(labels: Certainty, y: Ints | None) -> bool:
    """Whether enough true labels of examples with one candidate are known to judge these.

    Parameters
    ----------
    labels
        Of n examples.
    y
        (n,) true labels, −1 where unknown.
    """
    return y is not None and int((labels.is_given & (y >= 0)).sum()) >= FEWEST_ASKED


def doubt_of_given(labels: Certainty) -> list[str]:
    """Return a sentence where most that are called certain are the only candidate, which nothing has checked; or none.

    Parameters
    ----------
    labels
        Of n examples.
    """
    n, given = int((labels.confidence >= CONFIDENT).sum()), int(labels.is_given.sum())
    text = f"{given:,} of {n:,} certain labels, only candidates, are unchecked."
    return [text] if 2 * given > n else []


def doubt_of_contradicted(contradicted: tuple[int, float, float] | None) -> list[str]:
    """Return a sentence where models contradict clearly more only candidates than they expect to be wrong; or none.

    Parameters
    ----------
    contradicted
        As `pll.methods.held_out.HeldOut.contradicted`: each example counts once, however many models have judged it.

    Examples
    --------
    >>> doubt_of_contradicted((176, 56.6, 41.5))
    ['57 of 176 single labels are not what models that had not seen them say; these expect to be wrong in 42.']
    >>> doubt_of_contradicted((340, 190.8, 185.4))
    []
    """
    n, other, expected = contradicted or (0, 0.0, 0.0)
    if n < FEWEST_ASKED or wilson(round(other), n)[0] <= expected / n:
        return []
    text = f"{round(other):,} of {n:,} single labels are not what models that had not seen them say; "
    return [f"{text}these expect to be wrong in {round(expected):,}."]


def against_sets(covered: tuple[float, float] | None, n: int) -> Evidence | None:
    """Return the covering rate of models that did not learn from the examples; None where fewer than 30 were judged.

    Each example counts once, however many models have judged it.

    Parameters
    ----------
    covered
        As `pll.methods.held_out.HeldOut.covered`.
    n
        Examples.
    """
    if n < FEWEST_ASKED or covered is None:
        return None
    share, chance = covered
    return Evidence("candidates", round(share * n), n, chance)
