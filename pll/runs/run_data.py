"""The data of a run: read, split, with its candidate sets; and the sets that its votes were settled to."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.analysis.protocol import Parts, SettledSets, prepare
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.formats.classes import with_classes
from pll.io import Progress
from pll.methods.settling import settle
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder
from pll.runs.manifest import Manifest, check

VOTE_SETS_FILE = "vote_sets.npz"
"""Candidate sets and prior that votes were settled to."""


def load_parts(config: RunConfig, progress: Progress | None = None, *, kept: SettledSets | None = None) -> Parts:
    """Return the data of a run, split and with its candidate sets.

    Parameters
    ----------
    config
        Of the run.
    progress
        Called with the progress of reading, features and candidate sets; an exception in it stops them.
    kept
        What the run keeps of its votes (`vote_sets_of`); None settles them now.

    Raises
    ------
    UserError
        See `Source.load` and `prepare`.
    """
    test = None if config.test is None else config.test.load(progress)
    if test is not None:
        test = with_classes(test, config.source.classes, strict=False)
    parts = prepare(
        config.source.load(progress),
        flip_with=config.flip,
        holdout=config.holdout,
        test=test,
        features=config.features,
        seed=config.seed,
        strict=config.strict,
        noisy=config.noisy,
        settled_as=kept,
        progress=progress,
    )
    if config.decided_sets is None:
        return parts
    train, found = config.decided_sets.applied(parts.train), parts.settled
    if found is None or train.decided is None or train.annotations is None or not (train.decided >= 0).any():
        return replace(parts, train=train)
    prior, disputed = found.decided_prior, found.disputed
    if prior is None or len(prior) != train.sets().nnz:  # the decisions say more about the voters
        again = settle(train.X, train.annotations, seed=config.seed, known=train.decided)
        prior, disputed = again.prior_on(train.sets()), again.voters.to_settle
    settled_now = replace(found, decided_prior=prior, disputed=disputed)
    return replace(parts, train=replace(train, prior=prior), settled=settled_now)


def vote_sets_of(folder: RunFolder) -> SettledSets | None:
    """Return the candidate sets that the votes of a run were settled to, as it keeps them; None where it keeps none.

    A run on decided sets has those of the run that the review began with.
    """
    config = folder.config()
    if config.source.rule != "voters":
        return None
    decided = config.decided_sets
    places = [folder.path] + ([] if decided is None else [folder.path.parent / decided.root])
    for place in places:
        with suppress(UserError, OSError, ValueError, KeyError, zipfile.BadZipFile):  # settled again then
            file = check(place, VOTE_SETS_FILE)
            with np.load(file, allow_pickle=False) as arrays:
                names = tuple(arrays["class_names"].tolist())
                sets = CandidateSets(arrays["indptr"], arrays["indices"], len(names), names)
                own = arrays["decided_prior"] if place == folder.path and "decided_prior" in arrays else None
                return SettledSets(sets, arrays["prior"], tuple(arrays["notes"].tolist()), arrays["disputed"], own)
    return None


def save_vote_sets(folder: RunFolder, found: SettledSets | None) -> None:
    """Write the candidate sets that votes were settled to, so that the run opens again with the very same, at once."""
    if found is None or (folder.path / VOTE_SETS_FILE).exists():
        return
    content = io.BytesIO()
    arrays: dict[str, npt.NDArray[Any]] = {
        "indptr": found.candidates.indptr,
        "indices": found.candidates.indices,
        "prior": found.prior,
        "class_names": np.array(found.candidates.class_names, dtype=np.str_),
        "notes": np.array(found.notes, dtype=np.str_),
        "disputed": found.disputed,
    }
    if found.decided_prior is not None:
        arrays["decided_prior"] = found.decided_prior
    np.savez_compressed(content, allow_pickle=False, **arrays)
    Manifest(folder.path).put(VOTE_SETS_FILE, content.getvalue())


def parts_of(folder: RunFolder) -> Parts:
    """Return the data of a run that has begun.

    Raises
    ------
    UserError
        See `load_parts`; or the data is not read as it was for the run.
    """
    parts = load_parts(folder.config(), kept=vote_sets_of(folder))
    train, known = parts.train, folder.about().get("data", {})
    found = {"examples": len(train), "input_shape": list(train.input_shape), "class_names": list(train.class_names)}
    others = [name.replace("_", " ") for name, value in found.items() if known.get(name, value) != value]
    if others:
        raise UserError(
            f"{train.name} is read otherwise than when this run was trained ({', '.join(others)}). Say what its "
            "columns are, and train on it again."
        )
    outside = folder.outside(train.sets())
    return parts if outside is None else replace(parts, train=train.with_outside(outside))
