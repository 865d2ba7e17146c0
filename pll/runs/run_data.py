"""The data of a run: read, split, with its candidate sets; and the sets made of its votes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from pll.candidates import CandidateSets
from pll.catalog.sources import COPY_UP_TO
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features.selection import restored
from pll.formats.reading import Reading
from pll.io import Arrays, Progress
from pll.methods.aggregation import aggregate
from pll.runs.config import Preparation, RunConfig
from pll.runs.data import Computed, Splits, prepare
from pll.runs.files import COMPUTED_FILE, READING_FILE
from pll.runs.folder import RunFolder
from pll.runs.manifest import Manifest
from pll.weights import VOTES, ChangedSets

DATA_PARTS = ("train", "test", "holdout")
"""Parts of the data of which features are stored; a test part that is the one held out is stored once."""


def load_splits(
    config: RunConfig,
    progress: Progress | None = None,
    *,
    computed: Computed | None = None,
    on_read: Callable[[PartialLabelDataset], None] = lambda data: None,
) -> Splits:
    """Return the data of a run, split and with its candidate sets.

    Parameters
    ----------
    config
        Of the run.
    progress
        Called with the progress of reading, features and candidate sets; an exception in it stops them.
    computed
        Stored with the run (`computed_of`); None computes it now.
    on_read
        Called with the data as it was read, before anything is computed.

    Raises
    ------
    UserError
        See `Source.load` and `prepare`.
    """
    data, test = config.load(progress)
    on_read(data)
    splits = prepare(data, config, test=test, computed=computed, progress=progress)
    splits = replace(splits, identity=_identity(config, data, test))
    return splits if config.decided_sets is None else _with_decisions(splits, config, computed)


def _with_decisions(splits: Splits, config: RunConfig, computed: Computed | None) -> Splits:
    """Return the splits with the decided sets; where votes made the sets, decisions say more about the voters."""
    assert config.decided_sets is not None
    train, disputed = splits.train, splits.disputed
    change, annotations = config.decided_sets.change(train), train.annotations
    if annotations is not None:
        annotations = replace(annotations, class_names=change.candidates.class_names)
    if train.changes and annotations is not None and config.decided_sets.decided_rows:  # the votes made the sets
        prior = None if computed is None else computed.decided_prior
        if prior is None or len(prior) != change.candidates.nnz:
            again = aggregate(train.X, annotations, seed=config.seed, decided=change.decided)
            prior, disputed = again.prior_on(change.candidates), again.voters.rows_to_label
            change = replace(change, tied_votes=again.voters.is_tied)
        change = replace(change, prior=prior)
    return replace(splits, train=train.changed(change, annotations=annotations), disputed=disputed)


def _identity(config: RunConfig, data: PartialLabelDataset, test: PartialLabelDataset | None) -> str:
    """Return `Splits.identity`: of the data as it was read, before anything is computed, and the options that split it.

    That its files have not changed, `Source.load` sees by their bytes. The seed counts only where something is drawn,
    so that lanes with other seeds may share their data.
    """
    run = asdict(config)
    made = {*Preparation.__dataclass_fields__, "decided_sets"} - {"seed", "strict"}
    draws = config.flip is not None or config.noisy is not None or config.holdout is not None or data.needs_vote_sets
    facts = {
        "read": [data.fingerprint, None if test is None else test.fingerprint],
        "made": {name: run[name] for name in made},
        "rule": config.source.rule,
        "seed": config.seed if draws else None,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def computed_of(folder: RunFolder) -> Computed | None:
    """Return what was computed of the data when the run began, as it is stored; None where nothing is.

    A run on decided sets goes on with that of the run that the review began with.
    """
    decided = folder.config().decided_sets
    root = [] if decided is None else [RunFolder(folder.path.parent / decided.root)]
    for place in (folder, *root):
        with suppress(UserError, OSError, ValueError, KeyError, TypeError):  # computed again then
            if (arrays := place.arrays(COMPUTED_FILE)) is not None:
                return _computed(arrays)
    return None


def _computed(arrays: Arrays) -> Computed:
    """Return what `save_computed` has written."""
    made, sets = None, {name: _sets(arrays, name) for name in ("sets", "given", "votes") if f"{name}.indptr" in arrays}
    if "kind" in arrays:
        state = {name.removeprefix("state."): arrays[name] for name in arrays if name.startswith("state.")}
        made = restored(str(arrays["kind"]), json.loads(str(arrays["settings"])), state)
    votes = None
    if "votes" in sets:
        notes, tied, prior = tuple(arrays["notes"].tolist()), arrays.get("tied_votes"), arrays["prior"]
        votes = ChangedSets(sets["given"], sets["votes"], reason=VOTES, prior=prior, tied_votes=tied, notes=notes)
    more: dict[str, Any] = {part: arrays.get(f"X.{part}") for part in DATA_PARTS}
    more |= {"disputed": arrays["disputed"], "decided_prior": arrays.get("decided_prior")}
    return Computed(made, sets=sets.get("sets"), votes=votes, **more)


def _sets(arrays: Arrays, name: str) -> CandidateSets:
    names = tuple(arrays[f"{name}.class_names"].tolist())
    return CandidateSets(arrays[f"{name}.indptr"], arrays[f"{name}.indices"], len(names), names)


def _arrays(sets: CandidateSets, name: str) -> Arrays:
    names = np.array(sets.class_names, dtype=np.str_)
    return {f"{name}.indptr": sets.indptr, f"{name}.indices": sets.indices, f"{name}.class_names": names}


def save_computed(folder: RunFolder, splits: Splits) -> None:
    """Write how the data of a run that begins was read, and what was computed of it.

    Features are written only up to the size of a copied source.

    Parameters
    ----------
    folder
        Of the run.
    splits
        Its data.
    """
    if splits.train.reading and not (folder.path / READING_FILE).exists():
        Manifest(folder.path).put(READING_FILE, Reading(**splits.train.reading).to_json().encode())
    config, train, arrays = folder.config(), splits.train, Arrays()
    if (folder.path / COMPUTED_FILE).exists() or train.outside is not None:
        return
    if splits.featuriser is not None:
        settings, state = splits.featuriser.state()
        arrays = {"kind": np.array(splits.featuriser.name), "settings": np.array(json.dumps(settings))}
        arrays |= {f"state.{name}": array for name, array in state.items()}
        test = None if splits.test is splits.holdout else splits.test
        parts = dict(zip(DATA_PARTS, (train, test, splits.holdout), strict=True))
        features = {f"X.{name}": part.X for name, part in parts.items() if part is not None}
        if sum(array.nbytes for array in (*arrays.values(), *features.values())) <= COPY_UP_TO:
            arrays |= features
    if config.noisy is not None or (config.flip is not None and config.flip.way.by_example):
        arrays |= _arrays(train.sets() if train.decisions is None else train.decisions.given, "sets")
    if (votes := train.change(VOTES)) is not None and votes.prior is not None:
        arrays |= _arrays(votes.given, "given") | _arrays(votes.candidates, "votes")
        arrays |= {"prior": votes.prior, "notes": np.array(votes.notes, dtype=np.str_)}
        if (tied := train.tied_votes) is not None:
            arrays["tied_votes"] = tied
        if train.decisions is not None and train.decisions.prior is not None:
            arrays["decided_prior"] = train.decisions.prior
    if arrays:
        folder.put_arrays(COMPUTED_FILE, arrays | {"disputed": splits.disputed})


def splits_of(
    folder: RunFolder,
    progress: Progress | None = None,
    on_read: Callable[[PartialLabelDataset], None] = lambda data: None,
) -> Splits:
    """Return the data of a run, with the labels that its method has added to the candidate sets.

    Parameters
    ----------
    folder
        Of the run.
    progress, on_read
        See `load_splits`.

    Raises
    ------
    UserError
        See `load_splits`; or the data is not read as it was when training began.
    """
    splits = load_splits(
        folder.config(),
        progress=progress,
        computed=computed_of(folder),
        on_read=on_read,
    )
    train, stored = splits.train, folder.about().get("data", {})
    current = {"examples": len(train), "input_shape": list(train.input_shape), "class_names": list(train.class_names)}
    others = [name.replace("_", " ") for name, value in current.items() if stored.get(name, value) != value]
    if others:
        raise UserError(
            f"{train.name} is read otherwise than when this run was trained ({', '.join(others)}). Say what its "
            "columns are, and train on it again."
        )
    outside = folder.outside(train.sets())
    return splits if outside is None else replace(splits, train=train.changed(outside))
