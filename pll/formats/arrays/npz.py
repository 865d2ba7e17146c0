"""data.npz: features, candidate sets and what goes with them as plain NumPy arrays, read without trusting the file.

A folder of the same arrays, each an .npy file of its own (`unzip data.npz -d data` makes one), is memory-mapped: its
features stay in the file, which may be larger than memory. Features and labels under other usual names are found by
`pll.formats.arrays.layouts`.

A single array, or sparse matrix of SciPy, is (n, c) marks, counts or shares of classes, or (n, m) votes with −1. Counts
and shares are the prior of the candidates, which are the classes that have any.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when they are used
from numpy.lib import format as npy

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets, whole_numbers
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import RowError, UserError
from pll.formats.archive import Members, is_left_alone, names_in
from pll.formats.arrays.layouts import (
    Names,
    are_counted,
    arrange,
    as_votes,
    kind_of_numbers,
    labels_beside,
    names_people,
    parts_among,
    texts,
)
from pll.formats.base import Format, ReadOptions
from pll.formats.checks import (
    MAX_NAME,
    check_class_count,
    check_ids,
    check_unpacked_size,
    kind_of,
    listing,
    parsing,
    readable,
    shorten,
)
from pll.formats.forms import ARRAYS, WORDS, words_of
from pll.formats.grouping import grouped
from pll.formats.labels import sets_of, sets_of_shares
from pll.formats.names import is_named_id, results_among
from pll.formats.proposal import says
from pll.formats.results import Results, free_name
from pll.images import Pictures
from pll.io import Column, as_column
from pll.weights import Weights, on_candidates

Arrays = dict[str, Any]

FEATURES = "X.npy"
"""The file by which a folder of arrays is recognised, and which names it."""

_TEXTS = ("texts", "picture_names", "category_names", "categories", "extra_names", "extras", "annotator_names")
_ANSWERS = ("answer_rows", "answer_annotators", "answer_labels", "answer_scores", "anonymous")
_VOTES = ("votes", "voters", "vote_scores")
_MORE = ("indptr", "indices", "n_classes", "ids", "prior", "is_test", "split", "feature_names", "images", "kind")
KEYS = frozenset((*_MORE, *_TEXTS, *_ANSWERS, *_VOTES))
"""Arrays with a meaning besides features, marks of candidates and true labels; others are left unread, with a note."""

MAX_TEXT = 2**30
"""What an array of text may occupy: numpy gives every text the room of the longest."""
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class Npz(Format):
    """data.npz, or a folder of its arrays as .npy files (memory-mapped)."""

    def sniff(self, path: Path, head: bytes) -> bool:
        if path.is_dir() or path.name == FEATURES:
            return holds_arrays(path if path.is_dir() else path.parent)
        if not head.startswith(b"PK"):
            return head.startswith(MAGIC)
        return "".join(names_in(path)[:1]).endswith(".npy") or _are_loose(path)

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        source = path.parent if path.name == FEATURES else path
        if is_array(source):
            return read_matrix(source, options)
        found = _found_in(source, options)
        found.find_parts()
        found.load()
        found.stack_voters()
        found.find_amounts()
        found.find_shares()
        found.find_features()
        found.list_others()
        found.find_labels()
        found.find_class_names()
        found.find_truth()
        found.find_ids()
        names = options.class_names or _names(found.arrays, found.of_classes)
        return _dataset(found.arrays, found.parts, names, found.notes(), options, path.name)

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        given: dict[str, Any] = {"X": dataset.X, "ids": dataset.row_ids, "kind": np.array(dataset.kind)}
        given |= {name: getattr(dataset, name) for name in ("y", "prior", "is_test", "images")}
        if (sets := dataset.candidates) is not None:
            given |= {"indptr": sets.indptr, "indices": sets.indices, "n_classes": np.array(sets.n_classes)}
        if (annotations := dataset.annotations) is not None:
            of_answers = ("rows", "annotators", "labels", "scores")
            given |= {f"answer_{name}": getattr(annotations, name) for name in of_answers}
            given |= {"anonymous": np.array(annotations.anonymous)}
        arrays: Arrays = {name: array for name, array in given.items() if array is not None}
        names = {"class_names": dataset.class_names, "feature_names": dataset.feature_names}
        arrays |= {name: np.array(some, dtype=np.str_) for name, some in names.items() if some}
        for name, some in _text_parts(dataset).items():
            rows = -1 if name not in ("categories", "extras") else (-1, len(dataset))
            arrays[name] = _text_array(some, name).reshape(rows)
        if results is not None:
            arrays |= _identified(dataset, results)
        with path.open("wb") as file:  # given a path, numpy may append a suffix of its own
            np.savez_compressed(file, allow_pickle=False, **arrays)

    def no_place(self, source: Path, options: ReadOptions) -> str:
        return "The file that came in is a single array, which has no place for labels." if is_array(source) else ""

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        if source.is_dir():
            return ["The folder of arrays itself: its features, sets and ids become one data.npz."]
        return []

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        if source.is_dir():
            self.write(self.read(source, options), path, results)
            return
        dataset, names = self.read(source, options), _names_in(source)
        earlier = results_among(names)
        with zipfile.ZipFile(source) as original, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for info in original.infolist():
                if info.filename.removesuffix(".npy") not in earlier:
                    with original.open(info) as old, archive.open(_like(info), "w", force_zip64=True) as new:
                        shutil.copyfileobj(old, new)
            for name, array in _identified(dataset, results).items():
                with archive.open(f"{free_name(name, {*names} - earlier)}.npy", "w") as new:
                    np.lib.format.write_array(new, array, allow_pickle=False)


@dataclass
class _Found:
    """The arrays of a file, and what each means; the methods are the steps in which `Npz.read` finds that out.

    First come the names, then the numbers, and what is left over is looked at last.
    """

    source: Path
    options: ReadOptions
    loose: Arrays
    """All arrays, where each is in a file of its own."""
    own: list[str]
    """What the arrays are called in the file."""
    of_functions: dict[str, str]
    """What those mean that hold what labelling functions say."""
    names: list[str]
    """The names of all arrays, of these the meaning."""
    arrays: Arrays = field(default_factory=dict)
    """Those that were read, by name or meaning."""
    parts: list[Names] = field(default_factory=list)
    """What features, candidates and true labels are called, in each part of the examples."""
    joined: dict[str, Names] = field(default_factory=dict)
    """The parts that labelling functions vote on, which become one."""
    numbered: list[str] = field(default_factory=list)
    """Arrays that may hold what one voter says each."""
    voters: list[str] = field(default_factory=list)
    """These, if they do."""
    of_classes: str = ""
    """The array of the names of the classes."""
    amounts: str = ""
    """The array of marks, counts or shares of classes that are nobody's votes."""
    is_shared: bool = False
    """Whether the votes are what models find likeliest."""
    used: frozenset[str] = KEYS
    others: list[str] = field(default_factory=list)
    """Arrays without a meaning so far."""

    @property
    def X(self) -> npt.NDArray[Any]:
        features: npt.NDArray[Any] = self.arrays[self.parts[0]["X"]]
        return features

    @property
    def y(self) -> npt.NDArray[Any] | None:
        return self.arrays.get(self.parts[0].get("y", ""))

    @property
    def n_named(self) -> int:
        """Classes that have a name; 0 where none have."""
        return np.size(self.arrays[self.of_classes]) if self.of_classes in self.arrays else 0

    @property
    def labels(self) -> Arrays:
        """The arrays with what is said of each example."""
        names = ("votes", "amounts", self.parts[0].get("candidates", ""))
        return {name: self.arrays[name] for name in names if name in self.arrays}

    def find_parts(self) -> None:
        """Tell from the names which arrays are features, candidates and true labels.

        Raises
        ------
        UserError
            There are neither features nor labels.
        """
        names, has_votes = self.names, not {"votes", "shares"}.isdisjoint(self.names)
        self.parts = parts_among(names, are_files=bool(self.loose))
        self.numbered = [] if has_votes else voters_among(names)
        likely: list[Names] = [*parts_among([*names, "X"]), *parts_among([*names, "x_train"])]
        most = max(likely, key=len)
        if not self.parts and (self.numbered or has_votes or "candidates" in most):  # features may be beside
            self.parts = [{**most, "X": "X"}]
        if not self.parts:
            raise _without_features(names)
        if (has_votes or "indptr" in names) and "candidates" not in names:  # no other name means them then
            self.parts = [{part: name for part, name in one.items() if part != "candidates"} for one in self.parts]

    def load(self) -> None:
        """Read the arrays whose names have a meaning, and put parts with votes together.

        Raises
        ------
        UserError
            An array is damaged, too large, no plain array or a single value, or parts do not fit together.
        """
        functions, max_bytes = self.of_functions, self.options.max_bytes
        self.of_classes = next((name for name in ARRAYS["classes"]["names"] if name in self.names), "")
        self.joined = _parts_voted_on(self.own) if "votes" in functions.values() else {}
        of_parts = {name for one in (*self.parts, *self.joined.values()) for name in one.values()}
        self.used = KEYS.union([self.of_classes], self.numbered, functions.values(), of_parts)
        if "category_names" not in self.names:  # of another writer, the classes perhaps
            self.used -= {"categories"}
        arrays = self.loose or _arrays_in(self.source, self.used.union(functions), max_bytes)
        _check_rows(arrays, {"votes", "shares", *self.numbered, *functions, *of_parts})
        if self.source.is_dir() and not self.loose and "X" in arrays:
            _check_stays(arrays["X"], max_bytes)
        if self.joined:
            self.parts = [_joined(arrays, self.joined)]
        self.arrays = {functions.get(name, name): array for name, array in arrays.items()}

    def stack_voters(self) -> None:
        """Make votes of arrays that hold what one voter says each."""
        if _are_of_one_question([self.arrays[name] for name in self.numbered]):
            self.voters = self.numbered
            self.arrays["votes"] = np.stack([self.arrays.pop(name) for name in self.voters], axis=-1)
            self.arrays["voters"] = np.array(self.voters)

    def find_amounts(self) -> None:
        """Tell whether shares, or votes without the names of voters, are nobody's: amounts of each class."""
        arrays, of_nobody = self.arrays, ""
        kind = kind_of_numbers(arrays["shares"]) if "shares" in arrays and arrays["shares"].ndim == 2 else ""
        if kind == "votes":  # whole numbers, of which −1 says none: whatever they are called
            arrays["votes"] = arrays.pop("shares")
            self.of_functions = {name: "votes" for name, meaning in self.of_functions.items() if meaning == "shares"}
        elif kind:
            of_nobody = "shares"
        elif "votes" in arrays and {"voters", "vote_scores"}.isdisjoint(arrays):
            of_nobody = "votes" if are_counted(arrays["votes"], self.y, self.n_named) else ""
        if of_nobody:
            called = (name for name, meaning in self.of_functions.items() if meaning == of_nobody)
            self.amounts, self.of_functions = next(called, of_nobody), {}
            arrays["amounts"] = arrays.pop(of_nobody)

    def find_shares(self) -> None:
        """Make votes of how likely models find each class.

        Raises
        ------
        UserError
            They are no such shares.
        """
        arrays = self.arrays
        self.is_shared = "shares" in arrays and "votes" not in arrays
        if self.is_shared:
            row_each = self.y if self.y is not None else arrays.get("ids", ())
            voters, rows = len(np.atleast_1d(arrays.get("voters", ()))), len(np.atleast_1d(row_each))
            arrays["votes"], arrays["vote_scores"] = _votes_of(arrays.pop("shares"), voters, rows)

    def find_features(self) -> None:
        """Find the features of labels that have none by name: the only measurements beside them, or none at all.

        Raises
        ------
        UserError
            There are no labels either, or candidate sets alone, which teach nothing.
        """
        if self.parts[0]["X"] in self.arrays:
            return
        n = next((len(np.atleast_1d(one)) for one in self.labels.values()), None)
        if n is None:  # what is numbered is nobody's votes
            raise _without_features(self.names)
        left = [name for name in self.own if name not in self.used and name not in results_among(self.own)]
        rows = {name: array for name, array in self._unread(left).items() if len(array) == n}
        features = {name: array for name, array in rows.items() if not kind_of_numbers(array)}
        if len(features) == 1 and all(one.dtype.kind == "f" for one in features.values()):
            self.arrays |= features
            self.used |= {*features}
            self._call("X", *features)
        elif self.parts[0].get("candidates", "") in self.arrays:
            raise _without_features(self.names)
        else:
            self.arrays["X"] = np.zeros((n, 0), dtype=np.float32)

    def list_others(self) -> None:
        """List the arrays that have no meaning so far."""
        used = (self.used - {*self.numbered}) | {*self.voters, *results_among(self.names)}
        self.others = [name for name in self.names if name not in used]

    def find_labels(self) -> None:
        """Find marks, votes, counts or shares by their numbers, where no array is called as they are."""
        if self.labels or "indptr" in self.arrays or len(self.parts) > 1 or "candidates" in self.parts[0]:
            return
        unread = {name: self.loose[name] for name in self.others} if self.loose else self._unread(self.others)
        words = {} if self.loose else self._unread(self.others, "US", 1)
        people = {len(array): name for name, array in words.items() if names_people(name)}
        told = labels_beside(unread, len(self.X), self.y, self.n_named, people)
        kind = next((one for one in ("marks", "votes", "counts", "shares") if one in told), "")
        if not kind:
            return
        chosen = told[kind]
        self.others.remove(chosen)
        if kind == "marks":
            self.arrays[chosen] = unread[chosen]
            self._call("candidates", chosen)
        elif kind == "votes":
            self.of_functions = {chosen: "votes"}
            votes = as_votes(unread[chosen], unread[chosen] if self.y is None else self.y, self.n_named)
            self.arrays["votes"] = votes
            if voter_names := people.get(votes.shape[1]):
                self.arrays["voters"] = words[voter_names]
                self.others.remove(voter_names)
        else:
            self.amounts, self.arrays["amounts"] = chosen, unread[chosen]

    def find_class_names(self) -> None:
        """Find the one array of as many different texts as there are classes, and not as features."""
        if self.of_classes:
            return
        labels = {name: one for name, one in self.labels.items() if one.ndim == 2 and one.dtype.kind in "biuf"}
        most = {name: one.shape[1] for name, one in labels.items() if one.size}
        if "votes" in most:
            most["votes"] = int(np.nan_to_num(labels["votes"], nan=-1).max()) + 1
        sizes = {*most.values()} - {1, *self.X.shape[-1:]}
        words = self._unread([name for name in self.others if not names_people(name)], "US", 1)
        found = {name: some for name, some in words.items() if {len(some), len({*some.tolist()})} == sizes}
        if len(found) == 1:
            (self.of_classes,) = found
            self.arrays |= found
            self.others.remove(self.of_classes)

    def find_truth(self) -> None:
        """Find the one array of a whole number for each example that is called as the truth is."""
        if "y" in self.parts[0]:
            return
        called = [name for name in self.others if words_of(name)[:1] == ("y",) or says("settled", name)]
        unread = self.loose or self._unread(called, "iu", 1)
        found = [name for name in called if name in unread and np.shape(unread[name]) == self.X.shape[:1]]
        if len(found) == 1:
            self.arrays[found[0]] = unread[found[0]]
            self.others.remove(found[0])
            self._call("y", found[0])

    def find_ids(self) -> None:
        """Find what names each example: called so, or text of one word each, whatever it is called."""
        if "ids" in self.arrays or self.loose:
            return
        named = [name for name in self.others if is_named_id(name)]
        words = self._unread([name for name in self.others if name not in named], "US", 1)
        may_be = self._unread(named, "USiu", 1)
        may_be |= {name: array for name, array in words.items() if not any(map(_has_space, array.tolist()))}
        found = [name for name, one in may_be.items() if len({*one.tolist()}) == len(one) == len(self.X)]
        if found:
            self.arrays["ids"] = may_be[found[0]]
            self.others.remove(found[0])

    def notes(self) -> list[str]:
        """Say what was taken for what, where the names do not."""
        notes = [f"Arrays not used: {listing(self.others)}."] if self.others else []
        if "amounts" in self.arrays:
            kind, c = kind_of_numbers(self.arrays["amounts"]), self.arrays["amounts"].shape[-1]
            notes.append(f"The array {self.amounts} was read as {_NOTES[kind].format(c=c)}.")
        if self.voters:
            notes.append(f"{listing(self.voters)} are a voter each.")
        if self.joined:
            notes.append(f"The parts {listing([*self.joined])} are the examples, one after the other.")
        if self.of_functions:
            votes = [name for name, meaning in self.of_functions.items() if meaning in ("votes", "shares")][:1]
            votes = [part["votes"] for part in self.joined.values() if "votes" in part] or votes
            said = "shares of classes by {} models" if self.is_shared else "votes of {} voters, −1 for none"
            notes.append(f"The {said.format(self.arrays['votes'].shape[-1])} are in {listing(votes)}.")
        for part, meaning in {"X": "features", "candidates": "candidate sets", "y": "true labels"}.items():
            called = [one[part] for one in self.parts if part in one]
            if called and called != [part]:
                notes.append(f"The {meaning} are in {listing(called)}.")
        return notes

    def _call(self, part: str, name: str) -> None:
        """Take an array for the features, candidates or true labels of all examples."""
        self.parts = [{**self.parts[0], part: name}]

    def _unread(self, names: Sequence[str], kinds: str = "iuf", sides: int = 2) -> Arrays:
        return _those_in(self.source, names, self.options.max_bytes, kinds, sides)


def _found_in(source: Path, options: ReadOptions) -> _Found:
    """The names of the arrays of a folder or file, and which of them labelling functions made."""
    loose = _loose_arrays(source, options.max_bytes) if _are_loose(source) else {}
    own = list(loose) or _names_in(source)
    of_functions = _votes_among(own) or ({} if loose else _votes_alone(source, own, options.max_bytes))
    return _Found(source, options, loose, own, of_functions, [of_functions.get(name, name) for name in own])


def _check_rows(arrays: Arrays, names: Collection[str]) -> None:
    """Raise where what is to have a row an example has none.

    Raises
    ------
    UserError
        An array is a single value.
    """
    for name in sorted(arrays.keys() & names):
        if arrays[name].ndim == 0:
            raise UserError(f"The array {name} is a single value; save one with a row for each example: {name}=[…].")


def _without_features(names: Sequence[str]) -> UserError:
    return UserError(
        f"The array X (the features) is missing; found {listing(names) or 'nothing'}. Save it with np.savez(…, X=X)."
    )


def _votes_among(names: Collection[str]) -> dict[str, str]:
    """What the arrays of labelling functions are here: a label matrix, with their names or without features beside.

    Examples
    --------
    >>> _votes_among(["L", "lf_names", "text"]), _votes_among(["L", "X"]), _votes_among(["L_train", "Y_train"])
    ({'L': 'votes', 'lf_names': 'voters', 'text': 'texts'}, {}, {'L_train': 'votes'})
    """
    found = {}
    for meaning, some in ARRAYS["functions"].items():
        if meaning not in names and (called := next((name for name in some if name in names), None)):
            found[called] = meaning
    there = {*found.values()}
    is_sure = "voters" in there or "L_train" in found or not parts_among(names)
    return found if there & {"votes", "shares"} and is_sure else {}


def _votes_alone(source: Path, names: Sequence[str], max_bytes: int) -> dict[str, str]:
    """What the matrix of votes is here, whatever it is called, beside true labels that it often says, without features.

    No vote is −1.
    """
    parts = parts_among([*names, "X"])
    if "X" in names or parts_among(names) or not parts or {*parts[0]} != {"X", "y"}:
        return {}
    y = _those_in(source, [parts[0]["y"]], max_bytes, "iu", 1).get(parts[0]["y"])
    unread = {} if y is None else _those_in(source, names, max_bytes, "i")
    unread = {name: one for name, one in unread.items() if one.min(initial=0) == UNKNOWN}
    found = {} if y is None else labels_beside(unread, len(y), y)
    return {found["votes"]: "votes"} if "votes" in found else {}


def voters_among(names: Sequence[str]) -> list[str]:
    """Return the arrays that are called as labels or people are, and numbered: each holds what one voter says.

    Parameters
    ----------
    names
        Of all arrays.

    Examples
    --------
    >>> voters_among(["X", "y", "random_label1", "random_label2"]), voters_among(["X", "label1", "x_2", "x_3"])
    (['random_label1', 'random_label2'], [])
    """
    numbered = ((stem, name) for name in names if (stem := name.rstrip("0123456789")) != name)
    called = WORDS["labels"] | WORDS["people"]
    stems = grouped(one for one in numbered if not called.isdisjoint(words_of(one[0])))
    return max((some for some in stems.values() if len(some) > 1), key=len, default=[])


def _are_of_one_question(arrays: Sequence[npt.NDArray[Any]]) -> bool:
    """Whether arrays are numbers of classes of the same examples, and two agree more often than by chance."""
    if len(arrays) < 2 or any(one.ndim != 1 or one.dtype.kind not in "iu" for one in arrays):
        return False
    if len({one.shape for one in arrays}) > 1:
        return False
    first, second = arrays[:2]
    chance = sum(float((first == k).mean() * (second == k).mean()) for k in np.unique(first))
    return bool((first == second).mean() > LEAST_AGREED_ARRAYS + (1 - LEAST_AGREED_ARRAYS) * chance)


LEAST_AGREED_ARRAYS = 0.1
"""Share of what chance leaves on which voters agree, at least."""
_PARTS = ("train", "dev", "val", "valid", "validation", "test")


def _parts_voted_on(names: Sequence[str]) -> dict[str, Names]:
    """What the arrays of each part are called where labelling functions vote, and features are of all parts or of none.

    Examples
    --------
    >>> _parts_voted_on(["X_train", "L_train", "X_dev", "Y_dev", "L_test"])
    {'train': {'X': 'X_train', 'votes': 'L_train'}, 'dev': {'X': 'X_dev', 'y': 'Y_dev'}}
    >>> _parts_voted_on(["L_train", "y_test", "X"])
    {}
    """
    usual = {"X": ARRAYS["whole"]["X"], "votes": ARRAYS["functions"]["votes"], "y": ARRAYS["whole"]["y"]}
    meanings = {name.lower(): meaning for meaning, some in usual.items() for name in (meaning, *some)}
    parts: dict[str, dict[str, str]] = {part: {} for part in _PARTS}
    for name in names:
        stem, _, part = name.lower().rpartition("_")
        if part in _PARTS and stem in meanings:
            parts[part][meanings[stem]] = name
    needed = "X" if "X" in parts["train"] else "votes"
    found: dict[str, Names] = {part: called for part, called in parts.items() if needed in called}
    if len(found) < 2 or "votes" not in parts["train"]:
        return {}
    return found


def _joined(arrays: Arrays, parts: Mapping[str, Names]) -> Names:
    """Put the arrays of parts together, under the usual names; what a part lacks is not known there, and −1."""
    own: dict[str, Arrays] = {
        part: {one: arrays.pop(called) for one, called in some.items()} for part, some in parts.items()
    }
    sizes = [len(some["X" if "X" in some else "votes"]) for some in own.values()]
    for one in ("X", "votes", "y"):
        there = [some[one] for some in own.values() if one in some]
        if len({array.shape[1:] for array in there}) > 1:
            called = [some[one] for some in parts.values() if one in some]
            raise UserError(f"The arrays {listing(called)} differ in their width; save parts that fit together.")
        if there:
            missing = "" if there[0].dtype.kind in "US" else -1
            of_parts = zip(own.values(), sizes, strict=True)
            blocks = [some.get(one, np.full((n, *there[0].shape[1:]), missing)) for some, n in of_parts]
            arrays[one] = np.concatenate(blocks)
    if "test" in parts:
        arrays["is_test"] = np.repeat([part == "test" for part in parts], sizes)
    return {"X": "X"} | ({"y": "y"} if "y" in arrays else {})


def _votes_of(
    shares: npt.NDArray[Any], voters: int, rows: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """What each of some models finds likeliest (n, m), and how likely; −1 where it says nothing.

    `shares` are (n, m, c) or (m, n, c), for each model how likely each class is; the number of models or rows tells.

    >>> [array.tolist() for array in _votes_of(np.array([[[0.25, 0.75]], [[np.nan] * 2]]), 1, 0)]
    [[[1], [-1]], [[0.75], [nan]]]
    """
    if shares.ndim != 3 or shares.dtype.kind != "f" or (np.nan_to_num(shares) < 0).any():
        raise UserError(
            f"The shares of classes that models give have the shape {shares.shape} and the type {shares.dtype}; save "
            "numbers from 0 of the shape examples × models × classes, or leave the array out."
        )
    first, second = shares.shape[:2]
    is_turned = first != second and (first == voters or (second == rows and second != voters))
    each = shares.swapaxes(0, 1) if is_turned else shares
    silent = np.isnan(each).any(axis=-1)
    filled = np.where(silent[..., None], 0.0, each)
    whole = np.where(silent, np.nan, filled.sum(axis=-1))
    return np.where(silent, -1, filled.argmax(axis=-1)), np.asarray(filled.max(axis=-1) / whole, dtype=np.float64)


# ---- files -----------------------------------------------------------------------------------------------------------


def holds_arrays(folder: Path) -> bool:
    """Return whether this is a folder of the arrays of a data.npz, or of such under names of their own."""
    return (folder / FEATURES).is_file() or _are_loose(folder)


def _are_loose(source: Path) -> bool:
    """Whether a folder or a ZIP archive holds arrays, features among them, each in a file, and texts alone beside."""
    if source.is_dir():
        names = [file.name for file in source.glob("[!.]*")]
    else:
        names = [name for name in names_in(source) if not is_left_alone(name) and not name.endswith("/")]
    ends = {PurePosixPath(name).suffix.lower() for name in names}
    is_plain = FEATURES in names if source.is_dir() else ends == {".npy"} and not any("/" in name for name in names)
    if is_plain or is_sparse(names) or not ends & _LOOSE or not ends <= {*_LOOSE, *_BESIDE}:
        return False
    return bool(parts_among(_stems(names), are_files=True)) or ".npz" in ends


_LOOSE, _BESIDE = {".npy", ".npz"}, {"", ".txt", ".md", ".rst"}


def _stems(names: Iterable[str]) -> list[str]:
    return [PurePosixPath(name).stem for name in names if PurePosixPath(name).suffix.lower() in _LOOSE]


def _loose_arrays(source: Path, max_bytes: int) -> Arrays:
    """All arrays in the files of a folder, where they stay, or of a ZIP archive; by the names of the files."""
    found = [(PurePosixPath(name).name, array) for name, array in _arrays_in(source, None, max_bytes).items()]
    with Members(source, max_bytes) as members, tempfile.TemporaryDirectory() as folder:
        for name in members.sizes:
            stem, end = PurePosixPath(name).stem, PurePosixPath(name).suffix.lower()
            if end == ".npz":
                file = Path(folder) / "one.npz"
                file.write_bytes(members.read(name))
                inside = _arrays_in(file, None, max_bytes)  # which looks at every header
                if is_sparse([f"{one}.npy" for one in inside]):
                    inside = {stem: read_sparse(file, max_bytes)}
                found += [(stem, *inside.values())] if len(inside) == 1 else inside.items()
            elif end == ".txt" and stem.lower() in ARRAYS["classes"]["names"]:
                with parsing(f"the file {shorten(name)}", "save it as UTF-8"):
                    lines = members.read(name).decode("utf-8-sig").splitlines()
                found.append((stem.lower(), np.array([line.strip() for line in lines])))
    names = [name for name, _ in found]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"Two arrays are called {shorten(twice)}; rename one of them.")
    return dict(found)


def _files_of(members: Members) -> dict[str, str]:
    """The files of single arrays by the names of these; in a folder those at the top."""
    files = (file for file in members.sizes if file.lower().endswith(".npy"))
    return {file[: -len(".npy")]: file for file in files if "/" not in file or not members.path.is_dir()}


def _names_in(source: Path) -> list[str]:
    """The names of the arrays of a folder or an .npz file."""
    with Members(source, 0) as members:
        return list(_files_of(members))


def _arrays_in(source: Path, wanted: Collection[str] | None, max_bytes: int) -> Arrays:
    """Some or all of the arrays of an archive, which may take so many bytes, or of a folder, where they stay."""
    arrays = Arrays()
    with Members(source, max_bytes) as members:
        files = {name: file for name, file in _files_of(members).items() if wanted is None or name in wanted}
        for name, file in files.items():
            with parsing(f"the array {name}", "save it again with numpy.save"), members.open(file) as stream:
                is_small = _check_header(stream, name, members.sizes[file])
                if source.is_dir():
                    mode: Literal["r"] | None = None if is_small else "r"
                    arrays[name] = np.load(source / file, mmap_mode=mode, allow_pickle=False)
        files = {} if source.is_dir() else files
        size = sum(members.sizes[file] for file in files.values())
        check_unpacked_size(size, size, max_bytes, "what this file holds")
        members.check_total(list(files.values()))
        for name, file in files.items():
            with parsing(f"the array {name}"), members.open(file) as stream:
                arrays[name] = npy.read_array(stream, allow_pickle=False)
                if stream.read(1):  # also makes zipfile compare the checksum
                    raise ValueError("there is more in it than its header says")
    return arrays


def _has_space(text: str | bytes) -> bool:
    return len(text.split()) > 1


def _those_in(source: Path, names: Sequence[str], max_bytes: int, kinds: str = "iuf", sides: int = 2) -> Arrays:
    """Those of some arrays, by default matrices of numbers, that can be read; Python objects are left alone."""
    arrays = Arrays()
    with Members(source, max_bytes) as members:
        files = _files_of(members)
        for name in names:
            with suppress(UserError, ValueError, KeyError, OSError), members.open(files[name]) as stream:
                shape, _, dtype = _HEADERS[npy.read_magic(stream)](stream)
                if len(shape) == sides and dtype.kind in kinds:
                    arrays |= _arrays_in(source, [name], max_bytes)
    return arrays


def _check_stays(X: npt.NDArray[Any], max_bytes: int) -> None:
    """Refuse features of a folder that cannot stay in their file, and would take more bytes."""
    if not (X.dtype == np.float32 and X.flags.c_contiguous) and 4 * X.size > max_bytes:
        order = "" if X.flags.c_contiguous else ", by columns"
        raise UserError(
            f"{FEATURES} holds {X.dtype}{order}: it would take {readable(4 * X.size)} in memory (the limit is "
            f"{readable(max_bytes)}). As float32, row by row, it stays in the file: write it in pieces with "
            "numpy.lib.format.open_memmap(…, dtype='float32')."
        )


def _check_header(file: IO[bytes], name: str, size: int) -> bool:
    """Check the header of an array; return whether there is nothing to map.

    Raises
    ------
    UserError
        It holds Python objects, or its header does not fit the bytes that are there.
    """
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the .npy format holds records, not plain arrays")
    shape, _, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise UserError(
            f"The array {name} holds Python objects, which are never loaded because they can run code. Save plain "
            f"numbers or text: np.savez(…, {name}=np.array(list({name}.tolist()))) once all rows have one length "
            "and one type."
        )
    if dtype.kind not in "biufcSU":
        raise UserError(f"The array {name} holds {kind_of(dtype)}; save plain numbers or text.")
    declared, there = math.prod(shape) * dtype.itemsize, size - file.tell()
    if dtype.itemsize == 0 or declared != there:
        raise UserError(
            f"The array {name} is damaged: its header says {shape} of {dtype}, {declared:,} bytes, but "
            f"{there:,} bytes are there. Save or copy the file again."
        )
    return not shape or not math.prod(shape)


# ---- from arrays -----------------------------------------------------------------------------------------------------


def _dataset(
    arrays: Arrays, parts: Sequence[Names], names: tuple[str, ...], notes: list[str], options: ReadOptions, file: str
) -> PartialLabelDataset:
    is_table = _kind(arrays) == "table"
    is_ours = bool({"kind", "indptr", "amounts", *_TEXTS, *_ANSWERS, *_VOTES} & set(arrays))
    needed = not is_ours and set(parts[0]) == {"X"}
    layout = arrange(arrays, parts, notes, options.max_bytes, allow_missing=is_table, needed=needed)
    n = len(layout.X)
    if not names and "n_classes" in arrays:
        names = _numbered_names(arrays["n_classes"])
    if not names and "votes" in arrays and arrays["votes"].dtype.kind in "iu" and layout.y is None is layout.sets:
        arrays["votes"], names = numbered_votes(arrays["votes"])
    if "indices" in arrays:
        arrays["indices"] = whole_numbers(arrays["indices"], "indices")
    labels = (arrays[name] for name in ("indices", "votes") if name in arrays)
    most = max((int(one.max()) + 1 for one in labels if one.dtype.kind in "iu" and one.size), default=0)
    most = max(most, arrays["amounts"].shape[1] if "amounts" in arrays else 0)
    sets, y, names = layout.numbered(options, names, notes, most)
    rows = [name for name in ("indptr", "indices") if name in arrays]
    if len(rows) == 1 or (rows and sets is not None):
        raise UserError(
            f"Found {listing(rows)}{' and candidates' * (sets is not None)}; candidate sets are given either as the "
            "mask candidates (n, c), or as indptr and indices together."
        )
    if rows:
        sets = CandidateSets(arrays["indptr"], arrays["indices"], len(names), names)
    annotations, prior = _annotations(arrays, n, names), arrays.get("prior")
    if sets is None and annotations is not None and "votes" in arrays:
        sets, about = sets_of(annotations, options.combine)
        notes += about
    if sets is None and "amounts" in arrays:
        sets, prior = _sets_of_amounts(arrays["amounts"], names)
    if prior is not None and sets is not None and prior.shape == sets.shape:  # a matrix (n, c)
        prior = on_candidates(prior, sets)

    def column(name: str) -> Column | None:
        return as_column(texts(arrays[name], name, n)) if name in arrays else None

    pictures = column("picture_names")
    return PartialLabelDataset(
        X=layout.X,
        candidates=sets,
        prior=prior,
        y=y,
        class_names=names,
        ids=check_ids(texts(arrays["ids"], "ids"), int) if "ids" in arrays else None,
        feature_names=_names(arrays, "feature_names"),
        images=None if parts[0]["X"] == "images" else _images(arrays),
        texts=column("texts"),
        pictures=None if pictures is None else Pictures(pictures),
        categories=_columns(arrays, "category_names", "categories"),
        extras=_columns(arrays, "extra_names", "extras"),
        annotations=annotations,
        is_test=_split_marks(arrays) if layout.is_test is None else layout.is_test,
        name=options.name or file,
        kind="image" if layout.X.ndim == 4 else "table" if is_table else "array",
        notes=tuple(notes),
    )


def _kind(arrays: Arrays) -> str:
    return str(arrays["kind"].ravel()[0]) if "kind" in arrays and arrays["kind"].size else ""


def _numbered_names(n_classes: npt.NDArray[Any]) -> tuple[str, ...]:
    if n_classes.size != 1 or n_classes.dtype.kind not in "iu" or int(n_classes.ravel()[0]) < 1:
        raise UserError("The array n_classes must be one whole number, at least 1.")
    count = int(n_classes.ravel()[0])
    check_class_count(count, "this file")
    return tuple(str(k) for k in range(count))


def _annotations(arrays: Arrays, n: int, class_names: tuple[str, ...]) -> Annotations | None:
    """The answers: of the array `votes` (n, m), or as Candid writes them."""
    if "votes" in arrays:
        voters, shape = texts(arrays["voters"], "voters") if "voters" in arrays else (), arrays["votes"].shape
        if shape[:1] != (n,):
            raise UserError(f"votes has the shape {shape}, but there are {n} examples; it must be {n} × voters.")
        with parsing("the votes", "save votes as whole numbers (n, m) and vote_scores as numbers of that shape"):
            return Annotations.from_votes(arrays["votes"], class_names, voters, scores=arrays.get("vote_scores"))
    if "annotator_names" not in arrays:
        return None
    with parsing("the arrays of answers", "save them as Candid does"):
        return Annotations(
            arrays["answer_rows"],
            arrays["answer_annotators"],
            arrays["answer_labels"],
            n,
            class_names,
            texts(arrays["annotator_names"], "annotator_names"),
            anonymous=bool(arrays["anonymous"].ravel()[0]),
            scores=arrays.get("answer_scores"),
        )


def _columns(arrays: Arrays, names: str, cells: str) -> dict[str, Column]:
    """Columns of words, or those carried along: (m,) names, and (m, n) cells as JSON."""
    if names not in arrays:
        return {}
    with parsing(f"the array {cells}", "save it as Candid does"):
        columns = zip(texts(arrays[names], names), arrays[cells].tolist(), strict=True)
        return {name: as_column([json.loads(cell) for cell in column]) for name, column in columns}


def _names(arrays: Arrays, name: str) -> tuple[str, ...]:
    names = texts(arrays[name], name) if name in arrays else ()
    longest = max(names, key=len, default="")
    if len(longest) > MAX_NAME:
        raise UserError(f"The array {name} holds a name of {len(longest):,} characters; at most {MAX_NAME:,}.")
    return names


def _images(arrays: Arrays) -> npt.NDArray[np.uint8] | None:
    if "images" not in arrays:
        return None
    images: npt.NDArray[np.uint8] = arrays["images"]
    if images.dtype != np.uint8 or not (images.ndim == 3 or (images.ndim == 4 and images.shape[3] == 3)):
        raise UserError(
            f"The array images has the shape {images.shape} of {images.dtype}; it must be uint8, (n, height, width) or "
            "(n, height, width, 3)."
        )
    return images


def _split_marks(arrays: Arrays) -> npt.NDArray[np.bool_] | None:
    """`is_test`, or `split`, as True for the test part."""
    present = [name for name in ("is_test", "split") if name in arrays]
    if not present:
        return None
    if len(present) == 2:
        raise UserError("Found both is_test and split; save one of them.")
    name, array = present[0], arrays[present[0]]
    train, test = ("train", "test") if array.dtype.kind == "U" else (0, 1)
    if array.ndim != 1 or array.dtype.kind not in "biuU":
        raise UserError(
            f"The array {name} holds {kind_of(array.dtype)} in the shape {array.shape}; it must be True for a row of "
            "the test part and False for any other, one per row."
        )
    wrong = np.flatnonzero((array != train) & (array != test))
    if len(wrong):
        raise RowError(
            f"Row {wrong[0]} of {name} is {shorten(str(array[wrong[0]]))}; use True (test) or False (train)."
        )
    return np.asarray(array == test)


# ---- to arrays -------------------------------------------------------------------------------------------------------


def _text_parts(dataset: PartialLabelDataset) -> dict[str, list[str]]:
    """The arrays of text but ids and names of classes and features; columns of cells one after the other, as JSON."""
    result: dict[str, list[str]] = {}
    if dataset.texts is not None:
        result["texts"] = dataset.texts.tolist()
    if dataset.pictures is not None:
        result["picture_names"] = dataset.pictures.names.tolist()
    for names, cells, columns in (
        ("category_names", "categories", dataset.categories),
        ("extra_names", "extras", dataset.extras),
    ):
        if columns:
            result[names] = list(columns)
            values = (value for column in columns.values() for value in column.tolist())
            result[cells] = [json.dumps(value, ensure_ascii=False) for value in values]
    if dataset.annotations is not None:
        result["annotator_names"] = list(dataset.annotations.annotator_names)
    return result


def _text_array(cells: Sequence[str], name: str) -> npt.NDArray[np.str_]:
    size = 4 * max(map(len, cells), default=0) * len(cells)
    if size > MAX_TEXT:
        raise UserError(
            f"The array {name} would take {readable(size)}, since each text has the room of the longest; write "
            "parquet or jsonl."
        )
    return np.array(cells, dtype=np.str_)


def _identified(dataset: PartialLabelDataset, results: Results) -> dict[str, npt.NDArray[Any]]:
    """The results as arrays of text, as long as the examples."""
    done = results.aligned(dataset.row_ids.tolist())
    return {name: np.array(cells, dtype=np.str_) for name, cells in done.items()}


def _like(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """A member of the same name, date and packing."""
    new = zipfile.ZipInfo(info.filename, info.date_time)
    new.compress_type = info.compress_type
    return new


# ---- a single array --------------------------------------------------------------------------------------------------

MAGIC = b"\x93NUMPY"
"""How such a file begins."""
_SAVE_ALL = (
    "Save the features X, the candidates (0/1, examples × classes), y and class_names with np.savez(file, X=X, …)."
)


SPARSE_ARRAYS = {"data", "shape", "format"}
"""Arrays of an .npz file in which SciPy saves a sparse matrix."""


def is_array(path: Path) -> bool:
    """Whether a file is a single NumPy array, or a single sparse matrix of SciPy."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC or is_sparse(names_in(path))


def is_sparse(files: Collection[str]) -> bool:
    """Whether an .npz file with these files is a sparse matrix of SciPy."""
    return {f"{name}.npy" for name in SPARSE_ARRAYS} <= {*files}


def read_sparse(path: Path, max_bytes: int) -> scipy.sparse.csr_array:
    """Read a sparse matrix as SciPy saves it.

    Parameters
    ----------
    path
        The .npz file.
    max_bytes
        What it may take once unpacked.

    Raises
    ------
    UserError
        It is damaged or too large.
    """
    with Members(path, max_bytes) as members:
        unpacked = sum(members.sizes.values())
    check_unpacked_size(unpacked, path.stat().st_size, max_bytes, "this matrix")
    with parsing("the sparse matrix", "save it again with scipy.sparse.save_npz"):
        matrix = scipy.sparse.csr_array(scipy.sparse.load_npz(path))
        matrix.check_format(full_check=True)
    return matrix


def read_matrix(path: Path, options: ReadOptions) -> PartialLabelDataset:
    """Read an array of marks, counts or shares.

    Parameters
    ----------
    path
        The .npy or .npz file.
    options
        Its class names, and how large it may be.

    Raises
    ------
    UserError
        It is damaged, of another shape, or its numbers are none of these; a row with nothing in it is named.
    """
    if is_sparse(names_in(path)):
        sparse = read_sparse(path, options.max_bytes)
        check_unpacked_size(8 * math.prod(sparse.shape), 8 * sparse.nnz, options.max_bytes, "this matrix")
        array = sparse.toarray()
    else:
        with parsing("the array", "save it again with np.save"):
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        check_unpacked_size(array.nbytes, path.stat().st_size, options.max_bytes, "this array")
    if array.ndim != 2 or array.shape[1] < 2 or not len(array) or array.dtype.kind not in "biuf":
        raise UserError(f"A single array of shape {array.shape} holds no candidates, counts or shares. {_SAVE_ALL}")
    n, c = array.shape
    check_class_count(c, "this array")
    kind = kind_of_numbers(array)
    if not kind:
        raise UserError(
            f"The numbers of this {n:,} × {c:,} array are neither 0/1 marks of candidates, nor counts of votes, nor "
            f"shares that sum to 1 in a row, nor votes of a column a voter with −1 for none: they may be features. "
            f"{_SAVE_ALL}"
        )
    notes, arrays = list[str](), {"X": np.zeros((n, 0), dtype=np.float32)}
    if kind == "votes":
        notes.append(f"The array was read as votes: {c:,} voters, a column each; −1 is no vote.")
        arrays["votes"] = array.astype(np.int64)
    else:
        arrays["amounts"] = array
        notes.append(f"The array was read as {_NOTES[kind].format(c=c)}.")
    return _dataset(arrays, [{"X": "X"}], options.class_names, notes, options, path.name)


def _sets_of_amounts(array: npt.NDArray[Any], names: tuple[str, ...]) -> tuple[CandidateSets, Weights | None]:
    """The sets of marks, counts or shares (n, c), and the prior of the latter."""
    values, c = np.array(array, dtype=np.float64), array.shape[1]
    if len(names) != c:
        raise UserError(f"The array has {c:,} columns, but {len(names):,} classes are listed.")
    empty = np.flatnonzero(~(values > 0).any(axis=1))
    if len(empty):
        raise RowError(f"Row {empty[0]} has no class at all ({len(empty):,} such rows); leave it out.")
    kind = kind_of_numbers(values)
    sets, prior = sets_of_shares(values, names, range(c))
    return sets, None if kind == "marks" else prior


def numbered_votes(votes: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """Return votes and the names of their classes; of codes that are far apart (99), only those that are there.

    Parameters
    ----------
    votes
        (n, m) codes from 0, −1 where there is none.

    Examples
    --------
    >>> votes, names = numbered_votes(np.array([[0, 99], [1, -1], [2, 2]]))
    >>> votes.tolist(), names
    ([[0, 3], [1, -1], [2, 2]], ('0', '1', '2', '99'))
    """
    is_one = votes >= 0
    codes = np.unique(votes[is_one])
    if len(codes) == 0 or codes[-1] + 1 <= MOST_TIMES_AS_MANY * len(codes):
        return votes, tuple(str(k) for k in range(int(codes.max(initial=-1)) + 1))
    return np.where(is_one, np.searchsorted(codes, votes), -1), tuple(str(int(code)) for code in codes)


MOST_TIMES_AS_MANY = 3
"""Classes for each code that is there, at most, where those that are not are classes too."""


_NOTES = {
    "marks": "candidates: 1 where a class is possible",
    "counts": "counts: how many voted for each of {c:,} classes, by number",
    "shares": "shares: how likely each of {c:,} classes is, by number",
}
