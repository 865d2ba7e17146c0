"""From data to what a method is trained on: split, then features and candidate sets on the training part only.

The same data and seed give every method the same splits and sets. Checks before training stand here too: what cannot
be learnt from is refused, what is odd is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from pll.annotations import Annotations
from pll.annotations.voters import FEATURES_ADD_NOTHING, JOINT_ROUNDS
from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.copies import dealt
from pll.dataset import PartialLabelDataset
from pll.errors import Note, UserError
from pll.features import featurised, fitted, suggested
from pll.features.base import Featuriser
from pll.features.texts import TextFeatures
from pll.formats.checks import listing
from pll.io import Progress, is_mapped
from pll.methods.aggregation import CLASSIFIER_EPOCHS, VOTE_FOLDS, aggregate
from pll.methods.base import Task
from pll.runs.config import Preparation
from pll.synthesis import Flip, flip
from pll.weights import VOTES, ChangedSets, Flags, Ints, Weights
from pll.wording import count

VOTE_STEPS = CLASSIFIER_EPOCHS * VOTE_FOLDS * JOINT_ROUNDS
ADDRESSES_ALONE = (
    "The file names pictures, and they are not in it: to learn from them, bring them in a ZIP archive or a folder, "
    "beside the table."
)
DOUBTED_TEST = "The labels of the test part may be wrong too: test accuracy is how often the model agrees with them."


@dataclass(frozen=True, eq=False)
class Splits:
    """Training part with candidate sets, and optionally a test part with true labels.

    Attributes
    ----------
    featuriser
        What made the features of both, where they had to be made; it learnt from the training part alone.
    holdout
        The rows of the data itself that are not learnt from, with truth or without; their labels are predicted. None
        where all are learnt from.
    all_ids
        Ids of all rows of the data, in its order; () where all are learnt from.
    no_answer
        Ids of examples that nobody answered and, without features, nothing predicts; they get no label.
    disputed
        Rows of the training part whose answers would decide between voters, the most informative first.
    identity
        SHA-256 over what came in, and how it is read, split and made into this: never over numbers computed of it,
        whose last digits differ between machines. "" where nobody asked.
    """

    train: PartialLabelDataset
    test: PartialLabelDataset | None = None
    featuriser: Featuriser | None = None
    holdout: PartialLabelDataset | None = None
    all_ids: tuple[str, ...] = ()
    no_answer: tuple[str, ...] = ()
    disputed: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    identity: str = ""

    @property
    def unanswered(self) -> int:
        """Number of examples that nobody answered, with a predicted label or without one."""
        is_unanswered = None if self.holdout is None else self.holdout.unanswered
        return len(self.no_answer) + (0 if is_unanswered is None else int(is_unanswered.sum()))

    def about_unanswered(self) -> list[str]:
        """Note on examples that nobody answered."""
        count = len(self.no_answer) or self.unanswered
        if not count:
            return []
        first = listing(list(self.no_answer[:3]))
        what = (
            f", and there are no features to predict a label from: no_answer.csv lists them (first: {first})."
            if self.no_answer
            else "; not learnt from, and labelled by the classifier (source: predicted)."
        )
        return [f"{count:,} {'example has' if count == 1 else 'examples have'} no answer that could be used{what}"]

    def task(self, *, needs_features: bool = True) -> Task:
        """Return the task of a method.

        Raises
        ------
        UserError
            There are no features yet, and they are needed.
        """
        if needs_features:
            check_features(self.train)
        votes = self.train.annotations
        test = self.test
        return Task(
            self.train.X,
            self.train.sets(),
            self.train.y,
            None if test is None else test.X,
            None if test is None else test.y,
            self.train.prior,
            None if votes is None or votes.anonymous else votes,
            self.train.changes,
            "text" if isinstance(self.featuriser, TextFeatures) else "",
        )


def prepare(
    data: PartialLabelDataset,
    how: Preparation,
    *,
    test: PartialLabelDataset | None = None,
    computed: Computed | None = None,
    progress: Progress | None = None,
) -> Splits:
    """Split the data, then compute features and candidate sets on the training part.

    Parameters
    ----------
    data
        What to learn from. Where it marks a test part of its own, that is the test part, unless one is given.
    how
        How it is split, and features and sets are made.
    test
        A test part of its own.
    computed
        What was computed of this very data before; None computes it now.
    progress
        Callback of the progress of features and candidate sets.

    Raises
    ------
    UserError
        A share that leaves no example on one side, both a share and `test`, both `flip` and `noisy`, nothing to learn
        from.
    """
    has_test, holdout_data = test is not None, None
    if how.holdout is not None and has_test:
        raise UserError("Give either a share to hold out or a file to test on, not both.")
    unanswered = np.zeros(len(data), dtype=np.bool_) if data.unanswered is None else data.unanswered
    if how.holdout is not None:
        is_test = np.zeros(len(data), dtype=np.bool_)
        is_test[~unanswered] = holdout_mask(int((~unanswered).sum()), how.holdout, how.seed)
    else:
        is_test = np.zeros(len(data), dtype=np.bool_) if data.is_test is None else data.is_test
    train = data
    left_out = is_test | unanswered
    if left_out.any():
        train, holdout_data = replace(data.take(~left_out), unanswered=None), data.take(left_out)
    if test is not None:
        test = aligned(test, data.class_names)
    elif not unanswered.any():
        test = holdout_data
    elif is_test.any():  # unanswered examples are no fair sample to test on, unless they are marked as test part
        test = data.take(is_test)
    if test is not None and not test.n_labelled:
        if how.holdout is not None or has_test:
            raise UserError(f"The test part of {test.name} has no true labels to test against; train without one.")
        test = None
    if test is not None:
        train, test = _unseen(train, test)
    splits = Making(how, computed or Computed(), progress).splits(train, test, holdout_data)
    if holdout_data is None:
        return splits
    splits = replace(splits, all_ids=tuple(data.row_ids.tolist()))
    return splits if data.unanswered is None else _with_unanswered(splits)


def _unseen(train: PartialLabelDataset, test: PartialLabelDataset) -> tuple[PartialLabelDataset, PartialLabelDataset]:
    """Return both parts, with what to test on freed of copies of what is learnt from, and a note of them."""
    if is_mapped(train.X) or is_mapped(test.X) or not (is_seen := test.copied_from(train)).any():
        return train, test
    count, first = int(is_seen.sum()), test.row_ids[is_seen][0]
    if is_seen.all():
        raise UserError(
            f"All {count:,} examples to test on are copies, or nearly, of examples learnt from; test on others."
        )
    are = "is a copy, or nearly, of one" if count == 1 else "are copies, or nearly, of examples"
    what = f"{count:,} of {len(test):,} examples to test on {are} learnt from (first: id {first})"
    note = Note(f"{what}; they are not tested on.", kind="copies")
    return replace(train, notes=(*train.notes, note)), test.take(~is_seen)


def _with_unanswered(splits: Splits) -> Splits:
    """Return the splits with examples that nobody answered listed where nothing can predict them, and a note."""
    holdout = splits.holdout
    assert holdout is not None and holdout.unanswered is not None
    if 0 in holdout.input_shape:
        left = holdout.take(~holdout.unanswered) if not holdout.unanswered.all() else None
        splits = replace(splits, holdout=left, no_answer=tuple(holdout.row_ids[holdout.unanswered].tolist()))
    notes = (*splits.train.notes, *splits.about_unanswered())
    return replace(splits, train=replace(splits.train, notes=notes))


def one_fold(data: PartialLabelDataset, how: Preparation, k: int, fold: int) -> Splits:
    """Return the splits of one fold of k-fold cross-validation: every example is in exactly one test part.

    Parameters
    ----------
    data
        With true labels.
    how
        How features and sets are made; its seed is that of the folds too.
    k
        Number of folds, from 2 to the number of examples.
    fold
        In [0, k).

    Raises
    ------
    UserError
        Fewer than two folds, more than there are examples, or no true labels to test against.
    """
    data = data.answered()
    if not 2 <= k <= len(data):
        raise UserError(f"{k} folds of {len(data)} examples cannot be made; use 2 to {len(data)}.")
    if not data.n_labelled:
        raise UserError(
            f"{data.name} has no true labels to test against; a column true_label that knows some of them is enough. "
            "How sure the labels are is also found without: train on the data."
        )
    is_test = dealt(_permutation(len(data), how.seed), k, None if is_mapped(data.X) else data.alike) == fold
    if not is_test.any():
        raise UserError(f"{k} folds of {len(data)} examples, some of them copies, cannot be made; use fewer.")
    return Making(how).splits(data.take(~is_test), data.take(is_test))


def _note_on_rate(flip: Flip, sets: CandidateSets) -> list[str]:
    """Say what became of q where wrong labels enter by how likely a classifier finds them: none does so above 1."""
    if flip.how != "instance" or flip.q is None:
        return []
    rate = (sets.nnz - len(sets)) / max(len(sets) * (sets.n_classes - 1), 1)
    text = f"Wrong labels entered the sets with probability {rate:.2f} on average, and not q = {flip.q:g}: "
    return [text + "the likeliest ones enter always, and cannot more often."] if abs(rate - flip.q) > RATE_APART else []


RATE_APART = 0.02
"""How far the mean rate of wrong labels may be from the q that was asked for, until it is said."""


@dataclass(frozen=True, eq=False)
class Computed:
    """What is computed of the data by numbers whose last digits differ between machines and numbers of threads.

    A run stores it (`pll.runs.run_data`), and so goes on with the numbers that it began with.

    Attributes
    ----------
    featuriser
        Fitted; None where the data needs none.
    train, test, holdout
        (n, …) float32 features that it made of the parts; None where there are none, or too many to store: the fitted
        featuriser makes them again.
    sets
        Candidate sets that a classifier had a part in; None without.
    votes
        Candidate sets and prior made of the votes of the training part; None without.
    disputed
        As in `Splits`.
    decided_prior
        Of a run on decided sets, the prior on those, by voter models fitted with the decisions; None without.
    """

    featuriser: Featuriser | None = None
    train: npt.NDArray[np.float32] | None = None
    test: npt.NDArray[np.float32] | None = None
    holdout: npt.NDArray[np.float32] | None = None
    sets: CandidateSets | None = None
    votes: ChangedSets | None = None
    disputed: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    decided_prior: Weights | None = None


@dataclass(frozen=True, eq=False)
class Making:
    """Makes features and candidate sets of the parts of some data.

    Attributes
    ----------
    how
        What is made.
    known
        What was computed of this very data before, which is taken as it is.
    progress
        Callback of the progress.
    """

    how: Preparation
    known: Computed = field(default_factory=Computed)
    progress: Progress | None = None

    def splits(
        self, train: PartialLabelDataset, test: PartialLabelDataset | None, holdout: PartialLabelDataset | None = None
    ) -> Splits:
        """Return the parts with features, and the training part with candidate sets.

        Parameters
        ----------
        train, test, holdout
            As in `Splits`; a test part that is the one held out stays the same.

        Raises
        ------
        UserError
            As `with_sets`; or other data than the computed sets are of.
        """
        how, known = self.how, self.known
        spec, disputed = {"auto": suggested(train), "none": ""}.get(how.features, how.features), known.disputed
        made = known.featuriser or (fitted(spec, train, self.progress) if spec else None)
        if made is not None:  # before the sets are made: some ways to make them look at the features
            train = featurised(train, made, self.progress, X=known.train)
            is_same = holdout is test
            holdout = None if holdout is None else featurised(holdout, made, self.progress, X=known.holdout)
            test = holdout if is_same else None if test is None else featurised(test, made, self.progress, X=known.test)
        if train.needs_vote_sets and how.flip is None and how.noisy is None:
            votes = known.votes
            if votes is None:
                votes, disputed = infer_vote_sets(train, how.seed, self.progress)
            if votes.given != train.sets():
                raise UserError(
                    f"The sets made of this run's votes are of other data than {train.name}; start a new run."
                )
            train = train.changed(votes)
        train = self.with_sets(train)
        if how.noisy is not None and test is not None and train.y is None:
            train = replace(train, notes=(*train.notes, DOUBTED_TEST))
        return Splits(train, test, made, holdout, disputed=disputed)

    def with_sets(self, data: PartialLabelDataset) -> PartialLabelDataset:
        """Return the data with candidate sets made of its labels, or with its own, after `check_trainable`.

        Raises
        ------
        UserError
            No true labels to flip, no single labels to doubt, or `check_trainable` refuses.
        """
        flipped, noisy = self.how.flip, self.how.noisy
        if flipped is not None and noisy is not None:
            raise UserError(
                "Candidates are made of true labels (flip) or of labels that may be wrong (noisy), not both."
            )
        folds_done = None if self.progress is None else partial(self.progress, "parts of the data judged")
        if noisy is not None:
            data, labels = _doubted(data)
            sets = self.known.sets or noisy.sets(
                data.X, labels, data.class_names, seed=self.how.seed, progress=folds_done
            )
            data = replace(data, candidates=sets)
        if flipped is not None:
            if data.y is None:
                raise UserError(f"{data.name} has no true labels; candidates can be synthesised from true labels only.")
            sets = self.known.sets or flip(
                flipped,
                data.y,
                data.n_classes,
                seed=self.how.seed,
                class_names=data.class_names,
                X=data.X,
                progress=folds_done,
            )
            notes = (*data.notes, *_note_on_rate(flipped, sets))
            data = replace(data, candidates=sets, prior=None, changes=(), notes=notes)
        check_trainable(data, strict=self.how.strict)
        return data


def infer_vote_sets(data: PartialLabelDataset, seed: int, progress: Progress | None = None) -> tuple[ChangedSets, Ints]:
    """Return candidate sets and prior made of the votes and features of data, and the rows of `Splits.disputed`.

    See `pll.methods.aggregation`.

    Parameters
    ----------
    data
        A training part with annotations.
    seed
        Of the classifier.
    progress
        Callback of the progress.

    Raises
    ------
    UserError
        No vote, or one class.
    """
    assert data.annotations is not None  # `needs_vote_sets` is set where there are some
    steps = 0

    def hook() -> None:
        nonlocal steps
        steps += 1
        if progress is not None:
            progress("votes and features compared", min(steps, VOTE_STEPS), VOTE_STEPS)

    result = aggregate(data.X, data.annotations, seed=seed, hook=hook)
    notes = []
    if result.added:
        notes.append(f"{result.added:,} labels that nobody named are likely by the voter models; they joined the sets.")
    if result.voters.verdict:
        notes.insert(0, result.voters.verdict)
    if result.voters.classifier_weight == 0:
        notes.append(FEATURES_ADD_NOTHING)
    change = ChangedSets(
        data.sets(),
        result.candidates,
        reason=VOTES,
        prior=result.prior,
        tied_votes=result.voters.is_tied,
        notes=tuple(notes),
    )
    return change, result.voters.rows_to_label


def single_labels(data: PartialLabelDataset) -> Ints | None:
    """Return the (n,) single label of each example, −1 where none; None where there are no single labels.

    They are the candidate sets where each has one, else the true labels of data without candidate sets.
    """
    if data.candidates is not None:
        return data.candidates.indices.astype(np.int64) if (data.candidates.sizes == 1).all() else None
    return data.y


def _doubted(data: PartialLabelDataset) -> tuple[PartialLabelDataset, Ints]:
    """Return the data whose single labels may be wrong, without candidate sets, and these labels.

    They are not used as true labels; the column `given_label` has them. Examples without a label are left out, with a
    note.
    """
    labels = single_labels(data)
    if labels is None:
        there = "several candidates an example already" if data.candidates is not None else "no labels"
        raise UserError(f"{data.name} has {there}; only single labels can be doubted (one label an example).")
    notes = data.notes
    if (labels < 0).any():
        notes = (*notes, f"{int((labels < 0).sum()):,} examples have no label; they are left out.")
        data, labels = data.take(labels >= 0), labels[labels >= 0]
    names = np.array(data.class_names, dtype=object)
    y = None if data.candidates is None else data.y
    extras = {"given_label": names[labels], **data.extras}
    data = replace(data, candidates=None, y=y, annotations=None, prior=None, changes=(), extras=extras, notes=notes)
    return data, labels


def holdout_mask(n: int, share: float, seed: int) -> Flags:
    """Return an (n,) bool mask, True on a random `share` in (0, 1) of n examples.

    Parameters
    ----------
    n
        Examples.
    share
        That is held out.
    seed
        Of the split.

    Raises
    ------
    UserError
        A share outside (0, 1), or one that leaves nothing on one side.
    """
    if not 0 < share < 1:
        raise UserError(f"The share to hold out is {share}; it must lie between 0 and 1 (0.2 holds out a fifth).")
    count = round(share * n)
    if not 0 < count < n:
        raise UserError(f"Holding out {share} of {n} examples leaves one side empty; choose another share.")
    is_holdout = np.zeros(n, dtype=np.bool_)
    is_holdout[_permutation(n, seed)[:count]] = True
    return is_holdout


def aligned(data: PartialLabelDataset, class_names: tuple[str, ...]) -> PartialLabelDataset:
    """Return the data with its true labels numbered by `class_names`, which may be reordered or have more names.

    Parameters
    ----------
    data
        A test part.
    class_names
        The classes of the training part.

    Raises
    ------
    UserError
        A true label that is not among `class_names`.
    """
    if data.y is None or data.class_names == class_names:
        return data
    place = {name: j for j, name in enumerate(class_names)}
    new = np.array([place.get(name, -2) for name in data.class_names] + [-1], dtype=np.int64)  # [-1]: unknown
    y = new[data.y]
    if (y == -2).any():
        row = int(np.flatnonzero(y == -2)[0])
        raise UserError(
            f"{data.name}, row {row}: the true label {data.class_names[data.y[row]]!r} is not one of the "
            f"{len(class_names)} classes of the training data."
        )
    return replace(data, candidates=None, annotations=None, prior=None, changes=(), class_names=class_names, y=y)


def _permutation(n: int, seed: int) -> Ints:
    if seed < 0:
        raise UserError(f"The seed is {seed}; it must be a whole number, 0 or more.")
    # A stream independent of that of the candidate sets.
    return np.random.default_rng([seed, 1]).permutation(n)


# ---- checks before training ------------------------------------------------------------------------------------------


def method_of_votes(data: PartialLabelDataset) -> str:
    """Return the method for data of which there are votes and no features; "" where there are no votes either.

    Voters are compared where it is known who gave which answer. Counts of votes, and shares, are labels as they are.
    """
    if data.annotations is None:
        return "" if data.prior is None else "majority"
    return "majority" if data.annotations.anonymous else "dawid-skene"


def can_be_weighed(annotations: Annotations) -> bool:
    """Return whether it is known who answered, and there is something to weigh."""
    return not annotations.anonymous and annotations.n_classes > 1 and annotations.n_answers > 0


def has_own_sets(data: PartialLabelDataset) -> bool:
    """Return whether there are candidate sets, and others than the labels that somebody gave."""
    if data.candidates is None or data.annotations is None:
        return data.candidates is not None
    return not np.array_equal(np.diff(data.annotations.votes.indptr), data.candidates.sizes)


def weighs_voters(source: Source, data: PartialLabelDataset) -> bool:
    """Return whether voters are weighed where nobody says otherwise: those of a file without sets of its own.

    Parameters
    ----------
    source
        Where the data comes from: a dataset of the catalogue stays as it is.
    data
        The same, read.
    """
    votes = data.annotations
    if votes is None or votes.n_annotators < 2 or data.prior is not None or not (source.path or source.votes):
        return False
    return can_be_weighed(votes) and not has_own_sets(data)


def warnings_about(data: PartialLabelDataset) -> list[str]:
    """Return warnings about data before training, first the notes of its reader; empty where there are none."""
    warnings, votes_alone = list(data.notes), False
    if 0 in data.input_shape:
        votes_alone = not data.contents and bool(method_of_votes(data))
        no_features = "There are no features: labels come from the votes alone."
        warnings.append(no_features if votes_alone else _no_features(data))
        if votes_alone and data.pictures is not None:
            warnings.append(ADDRESSES_ALONE)
    if data.candidates is not None:
        warnings += _candidate_warnings(data, data.candidates, votes_alone=votes_alone)
    warnings += about_copies(data)
    missing = int(np.isnan(data.X).sum()) if data.kind == "table" else 0
    if missing:
        warnings.append(f"{missing:,} cells are missing; each is filled with the mean of its column.")
    return warnings


def check_features(data: PartialLabelDataset) -> None:
    """Raise UserError for data that has no features yet.

    Raises
    ------
    UserError
        There is not one feature; it says what features can be made of.
    """
    if 0 in data.input_shape:
        note = _no_features(data)
        raise UserError(f"{data.name}: {note}", shell=note.hint)


def check_trainable(data: PartialLabelDataset, *, strict: bool = False) -> None:
    """Raise UserError for data that no method can learn from.

    Parameters
    ----------
    data
        The training part.
    strict
        Refuse true labels outside their candidate set.

    Raises
    ------
    UserError
        Fewer than two examples or classes, no candidate sets; with `strict`, also truth outside a set.
    """
    sets = data.sets()
    if len(data) < 2:
        raise UserError(f"{data.name} has {count(len(data), 'example')} to learn from; at least 2 are needed.")
    if sets.n_classes < 2:
        raise UserError(
            f"{data.name} has one class ({sets.class_names[0]}); there is nothing to tell apart. "
            "Bring data with at least two classes."
        )
    outside = data.truth_outside()
    if strict and len(outside):
        raise UserError(
            f"The true label of row {int(outside[0])} (id {data.row_ids[outside[0]]}) is not among its "
            f"candidates ({len(outside)} such rows); correct them, or train without --strict."
        )


def _no_features(data: PartialLabelDataset) -> Note:
    there = " and ".join({"words": "columns of words"}.get(kind, kind) for kind in data.contents)
    if there:
        text = f"There are {there} but no features yet; choose what is learnt from."
        return Note(text, kind="features", hint="--features")
    if data.pictures is not None:
        return Note(f"There is nothing to learn from. {ADDRESSES_ALONE}")
    message = "There are no features, so there is nothing to learn from; add columns of numbers, or texts."
    if data.extras:
        columns = listing(list(data.extras))
        message += f" Only carried along: {columns}; say which is a text or a feature."
    return Note(message, hint="--column NAME=text" if data.extras else "")


def about_copies(data: PartialLabelDataset) -> list[str]:
    """Return a note on how many rows are copies of others, and how many of them have other candidates; or none."""
    first = None if is_mapped(data.X) else data.copies
    if first is None:
        return []
    again = np.flatnonzero(first != np.arange(len(data)))
    others, ids = len(np.unique(first[again])), data.row_ids
    what = f"are exact copies of {others:,} others" if others > 1 else "are exact copies of another"
    text = f"{len(again):,} rows {what}" if len(again) > 1 else "1 row is an exact copy of another"
    text += f" (first: id {ids[again[0]]} of id {ids[first[again[0]]]})"
    if data.candidates is None:
        return [Note(f"{text}.", kind="copies")]
    sets = data.candidates
    other = sum(sets[row].tolist() != sets[row_of].tolist() for row, row_of in zip(again, first[again], strict=True))
    have = "none" if not other else "all" if other == len(again) else f"{other:,}"
    text += f", {have} with other candidates; what was answered alike makes no label surer."
    return [Note(text, kind="copies")]


METHOD_THAT_ADDS = "a method that may add labels (proden-outside)"


def _candidate_warnings(data: PartialLabelDataset, sets: CandidateSets, *, votes_alone: bool) -> list[str]:
    warnings = []
    outside = data.truth_outside()
    if len(outside):
        warnings.append(
            f"{len(outside):,} of {data.n_labelled:,} true labels are not among their candidates "
            f"(first: id {data.row_ids[outside[0]]})"
            + ("." if votes_alone else f"; only {METHOD_THAT_ADDS} can identify these examples correctly.")
        )
    whole = int((sets.sizes == sets.n_classes).sum())  # with a prior even these carry information
    if whole and data.prior is None:
        warnings.append(
            f"{whole:,} of {len(data):,} examples have every class as a candidate; they carry no information."
        )
    single = int((sets.sizes == 1).sum())
    if single == len(sets) and single:
        warnings.append("Every set has one candidate: nothing is ambiguous here.")
    ever = np.zeros(sets.n_classes, dtype=np.bool_)
    for part in sets.row_blocks():
        ever[sets.indices[sets.span(part)]] = True
    never = int((~ever).sum())
    if never:
        warnings.append(f"{never:,} of {sets.n_classes:,} classes are never a candidate.")
    return warnings
