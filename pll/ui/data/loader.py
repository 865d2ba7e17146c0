"""Data of the pages, read or made once for all tabs: what is quick at once, the rest in the background."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import streamlit as st

from pll import catalog
from pll.annotations import SetRule
from pll.catalog.sources import Source, by_rule
from pll.dataset import PartialLabelDataset
from pll.features import suggested
from pll.formats.checks import readable
from pll.io import Progress
from pll.runs.config import DataConfig
from pll.runs.jobs import default_board
from pll.ui import job_progress
from pll.ui.widgets import button

T = TypeVar("T")
LARGE_FILE = 30 * 2**20
"""Bytes from which a file is read in the background: below, it takes about a second."""
HUGE_FILE = 250 * 2**20
"""Bytes from which it is read only when asked: until then its first rows are shown."""
QUICK_NUMBERS = 500_000
"""Numbers (examples × features) that a classifier or a featuriser goes through while one waits."""
QUICK_EXAMPLES, QUICK_PICTURES = 5_000, 500
QUICK_SETTLED = 5_000
"""Examples × classes whose votes are settled while one waits."""


# ---- at once ---------------------------------------------------------------------------------------------------------


def dataset(source: Source) -> PartialLabelDataset:
    """The data of a source, read once for all its rules and classes; UserError where it cannot be read, or is odd."""
    return cached("dataset", data_key(source), lambda: _load(source))


def _load(source: Source) -> PartialLabelDataset:
    if source.rule:
        return by_rule(dataset(replace(source, rule="")), SetRule.parse(source.rule))
    bare = replace(source, classes={})
    return source.checked(cached("read", data_key(bare), bare.read))


def with_candidates(choice: DataConfig) -> PartialLabelDataset:
    """The data of a choice with its features and candidate sets."""
    return cached("prepared", choice_key(choice), lambda: _with_candidates(choice, dataset(choice.source)))


def _with_candidates(
    choice: DataConfig, data: PartialLabelDataset, progress: Progress | None = None
) -> PartialLabelDataset:
    """As a run would have it, but not yet split: the whole of the data, with features and candidate sets.

    Raises UserError where nothing can be learnt from it.
    """
    from pll.runs.data import prepare  # late: the home page shows no data

    made = prepare(replace(data, is_test=None), choice, progress=progress).train
    answered = data.answered()  # what is learnt from
    # Labels that are doubted leave out the examples that have none, and with them the marks of the test part.
    return replace(made, is_test=answered.is_test) if len(made) == len(answered) else made


def data_key(source: Source) -> str:
    """Return a cache key of the data: the source, and size and modification time of its file."""
    values = [asdict(source)]
    if source.path is not None:
        with suppress(OSError):
            facts = Path(source.path).stat()
            values.append({"bytes": facts.st_size, "changed": facts.st_mtime_ns})
    return json.dumps(values, sort_keys=True)


def choice_key(choice: DataConfig) -> str:
    """Return a cache key of the data with its candidate sets."""
    return json.dumps([data_key(choice.source), asdict(choice)], sort_keys=True)


@st.cache_resource(max_entries=12, show_spinner=False)
def _cached(what: str, key: str, _make: Callable[[], Any]) -> Any:
    return _make()


def cached(what: str, key: str, make: Callable[[], T]) -> T:
    """What was made under a key, once for all tabs: a dataset, data with candidates, columns.

    Parameters
    ----------
    what
        What kind of thing it is: keys of different kinds may be alike.
    key
        The same for the same value, as `data_key` and `choice_key` make it.
    make
        Called where nothing is kept under the key.
    """
    value: T = _cached(what, key, make)
    return value


class _NotYet(Exception):
    """Raised to probe the cache without filling it."""


def _not_yet() -> NoReturn:
    raise _NotYet


def _if_cached(what: str, key: str) -> Any:
    """Return what is cached under a key, or None."""
    with suppress(_NotYet):
        return cached(what, key, _not_yet)
    return None


# ---- in the background ----------------------------------------------------------------------------------------------


def size_of(source: Source) -> int:
    """Bytes of a file; of a dataset of the catalogue, 0 where it is made in a moment."""
    if source.path is not None:
        paths = {Path(source.path), *(Path(str(file.path)) for file in source.votes)}
        return sum(path.stat().st_size for path in paths if path.is_file())
    entry = catalog.find(source.name)
    if entry.embedded:
        return 0
    return LARGE_FILE if entry.name in SLOW_ENTRIES or entry.n * entry.d > 2e7 else 0


SLOW_ENTRIES = ("20newsgroups",)
"""Datasets that take long to make of small files."""


def read(source: Source) -> PartialLabelDataset | None:
    """The data as it was read, however odd; None while it is not, as the page says; UserError where it cannot be."""
    size, key, title = size_of(source), data_key(source), f"Reading {source.name}"
    if size < LARGE_FILE:
        with st.spinner("Reading…"):
            return cached("read", key, source.read)
    is_begun = _if_cached("read", key) or default_board().get(f"read {key}")
    if is_begun is None and not may_read(source):
        return None
    return in_background("read", key, title, source.read)


def in_background(what: str, key: str, title: str, work: Callable[[Progress], T]) -> T | None:
    """What the work returns, cached as `cached` does; None while it is at work, as the page says then.

    Parameters
    ----------
    what
        What kind of thing is made; a tab waits for one of a kind at a time.
    key
        The same for the same value, as `data_key` and `choice_key` make it.
    title
        What is done, as the page says it.
    work
        Called in a thread with a function by which it reports how far it is.
    """
    value: T | None = _if_cached(what, key)
    if value is not None:
        return value
    result = job_progress.result_of(f"{what} {key}", title, work, slot=what)
    return None if result is None else cached(what, key, lambda: result)


def may_read(source: Source) -> bool:
    """Whether all of a file may be read: of a huge one a person is asked, once."""
    size, key = size_of(source), f"read-{source.sha256 or source.path}"
    if size < HUGE_FILE or st.session_state.get(key):
        return True
    st.caption(f"This is a large file ({readable(size)}). Check its columns first, then read the whole file.")
    button("Read the whole file", st.session_state.__setitem__, key, True, icon="menu_book", kind="primary")
    return False


def prepared(choice: DataConfig) -> PartialLabelDataset | None:
    """The data with features and candidate sets, or None while they are being made, as the page says then."""
    key = choice_key(choice)
    made: PartialLabelDataset | None = _if_cached("prepared", key)
    if made is not None:  # what it was made of may have left the cache
        return made
    data = dataset(choice.source)
    if not _is_slow(choice, data):
        return with_candidates(choice)
    return in_background("prepared", key, "Getting the data ready", partial(_with_candidates, choice, data))


def _is_slow(choice: DataConfig, data: PartialLabelDataset) -> bool:
    """Whether making features and sets takes longer than one likes to wait."""
    spec = suggested(data) if choice.features == "auto" else choice.features
    if "backbone" in spec or "embedding" in spec:
        return True
    most = QUICK_PICTURES if "pictures" in data.contents else QUICK_EXAMPLES
    if spec not in ("", "none") and len(data) > most:
        return True
    judged = (choice.flip is not None and choice.flip.way.by_example) or (
        choice.noisy is not None and choice.noisy.needs_classifier
    )
    settles = choice.source.rule == "voters" and len(data) * data.n_classes > QUICK_SETTLED
    return settles or (judged and data.X.size > QUICK_NUMBERS)
