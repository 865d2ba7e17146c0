"""The data of a run: read, split, with its candidate sets; and the sets made of its votes."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.analysis.protocol import Splits, VoteSets, prepare
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.formats.classes import with_classes
from pll.io import Progress
from pll.methods.aggregation import aggregate
from pll.runs.config import RunConfig
from pll.runs.files import VOTE_SETS
from pll.runs.folder import RunFolder
from pll.runs.manifest import Manifest, check


def load_splits(config: RunConfig, progress: Progress | None = None, *, vote_sets: VoteSets | None = None) -> Splits:
    """Return the data of a run, split and with its candidate sets.

    Parameters
    ----------
    config
        Of the run.
    progress
        Called with the progress of reading, features and candidate sets; an exception in it stops them.
    vote_sets
        Stored with the run (`vote_sets_of`); None makes them of the votes now.

    Raises
    ------
    UserError
        See `Source.load` and `prepare`.
    """
    test = None if config.test is None else config.test.load(progress)
    if test is not None:
        test = with_classes(test, config.source.classes, strict=False)
    splits = prepare(
        config.source.load(progress),
        flip_with=config.flip,
        holdout=config.holdout,
        test=test,
        features=config.features,
        seed=config.seed,
        strict=config.strict,
        noisy=config.noisy,
        vote_sets=vote_sets,
        progress=progress,
    )
    if config.decided_sets is None:
        return splits
    train, made = config.decided_sets.applied(splits.train), splits.vote_sets
    if made is None or train.decided is None or train.annotations is None or not (train.decided >= 0).any():
        return replace(splits, train=train)
    prior, disputed = made.decided_prior, made.disputed
    if prior is None or len(prior) != train.sets().nnz:  # the decisions say more about the voters
        again = aggregate(train.X, train.annotations, seed=config.seed, decided=train.decided)
        prior, disputed = again.prior_on(train.sets()), again.voters.rows_to_label
    updated = replace(made, decided_prior=prior, disputed=disputed)
    return replace(splits, train=replace(train, prior=prior), vote_sets=updated)


def vote_sets_of(folder: RunFolder) -> VoteSets | None:
    """Return the candidate sets made of the votes of a run, as it stores them; None where it stores none.

    A run on decided sets has those of the run that the review began with.
    """
    config = folder.config()
    if config.source.rule != "voters":
        return None
    decided = config.decided_sets
    places = [folder.path] + ([] if decided is None else [folder.path.parent / decided.root])
    for place in places:
        with suppress(UserError, OSError, ValueError, KeyError, zipfile.BadZipFile):  # made again then
            file = check(place, VOTE_SETS)
            with np.load(file, allow_pickle=False) as arrays:
                names = tuple(arrays["class_names"].tolist())
                sets = CandidateSets(arrays["indptr"], arrays["indices"], len(names), names)
                own = arrays["decided_prior"] if place == folder.path and "decided_prior" in arrays else None
                return VoteSets(sets, arrays["prior"], tuple(arrays["notes"].tolist()), arrays["disputed"], own)
    return None


def save_vote_sets(folder: RunFolder, vote_sets: VoteSets | None) -> None:
    """Write the candidate sets made of votes, so that opening the run again need not make them."""
    if vote_sets is None or (folder.path / VOTE_SETS).exists():
        return
    content = io.BytesIO()
    arrays: dict[str, npt.NDArray[Any]] = {
        "indptr": vote_sets.candidates.indptr,
        "indices": vote_sets.candidates.indices,
        "prior": vote_sets.prior,
        "class_names": np.array(vote_sets.candidates.class_names, dtype=np.str_),
        "notes": np.array(vote_sets.notes, dtype=np.str_),
        "disputed": vote_sets.disputed,
    }
    if vote_sets.decided_prior is not None:
        arrays["decided_prior"] = vote_sets.decided_prior
    np.savez_compressed(content, allow_pickle=False, **arrays)
    Manifest(folder.path).put(VOTE_SETS, content.getvalue())


def splits_of(folder: RunFolder, progress: Progress | None = None) -> Splits:
    """Return the data of a run, with the labels that its method has added to the candidate sets.

    Parameters
    ----------
    progress
        See `load_splits`.

    Raises
    ------
    UserError
        See `load_splits`; or the data is not read as it was when training began.
    """
    splits = load_splits(folder.config(), progress=progress, vote_sets=vote_sets_of(folder))
    train, stored = splits.train, folder.about().get("data", {})
    current = {"examples": len(train), "input_shape": list(train.input_shape), "class_names": list(train.class_names)}
    others = [name.replace("_", " ") for name, value in current.items() if stored.get(name, value) != value]
    if others:
        raise UserError(
            f"{train.name} is read otherwise than when this run was trained ({', '.join(others)}). Say what its "
            "columns are, and train on it again."
        )
    outside = folder.outside(train.sets())
    return splits if outside is None else replace(splits, train=train.with_outside(outside))
