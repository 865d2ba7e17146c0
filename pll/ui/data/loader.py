"""Reading data for the page: small files at once, large files in the background."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import streamlit as st

from pll import catalog
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.features import suggested
from pll.formats.checks import readable
from pll.formats.votes import Mapped
from pll.runs.background import Report
from pll.ui import background, session
from pll.ui.session import ChosenData

T = TypeVar("T")
LARGE = 30 * 2**20
"""Bytes from which a file is read in the background: below, it takes about a second."""
HUGE = 250 * 2**20
"""Bytes from which it is read only when asked: until then its first rows are shown."""
QUICK = 500_000
"""Numbers (examples × features) that a classifier or a featuriser goes through while one waits."""
QUICK_EXAMPLES, QUICK_PICTURES = 5_000, 500
QUICK_SETTLED = 5_000
"""Examples × classes whose votes are settled while one waits."""


def size_of(source: Source) -> int:
    """Bytes of a file; of a dataset of the catalogue, 0 where it is made in a moment."""
    if source.path is not None:
        paths = {Path(source.path), *(Path(str(file.path)) for file in source.votes)}
        return sum(path.stat().st_size for path in paths if path.is_file())
    entry = catalog.find(source.name)
    if entry.embedded:
        return 0
    return LARGE if entry.name in SLOW_ENTRIES or entry.n * entry.d > 2e7 else 0


SLOW_ENTRIES = ("20newsgroups",)
"""Datasets that take long to make of small files."""


def read(source: Source) -> PartialLabelDataset | None:
    """The data of a source, or None while it is not read, as the page says then; UserError where it cannot be read."""
    size, key, title = size_of(source), session.data_key(source), f"Reading {source.name}"
    if size < LARGE:
        with st.spinner("Reading…"):
            return session.dataset(source)
    is_begun = session.if_cached("dataset", key) or background.board().get(f"dataset {key}")
    if is_begun is None and not may_read(source):
        return None
    return in_background("dataset", key, title, source.load)


def read_votes(source: Source) -> Mapped | None:
    """The examples of a source joined with its votes; otherwise as `read`."""
    if size_of(source) < LARGE:
        with st.spinner("Reading votes…"):
            return session.mapped(source)
    return in_background("votes", session.votes_key(source), f"Reading {source.name}", source.with_votes)


def in_background(what: str, key: str, title: str, work: Callable[[Report], T]) -> T | None:
    """What the work returns, cached as `session.cached` does; None while it is at work, as the page says then."""
    value: T | None = session.if_cached(what, key)
    if value is not None:
        return value
    result = background.result_of(f"{what} {key}", title, work, slot=what)
    return None if result is None else session.cached(what, key, lambda: result)


def may_read(source: Source) -> bool:
    """Whether all of a file may be read: of a huge one a person is asked, once."""
    size, key = size_of(source), f"read-{source.sha256 or source.path}"
    if size < HUGE or st.session_state.get(key):
        return True
    place = st.empty()
    with place.container():
        st.caption(f"This is a large file ({readable(size)}). Check its columns first, then read the whole file.")
        pressed = st.button("Read the whole file", type="primary", icon=":material/menu_book:")
    if pressed:
        st.session_state[key] = True
        place.empty()
    return pressed


def prepared(choice: ChosenData, data: PartialLabelDataset) -> PartialLabelDataset | None:
    """The data with features and candidate sets, or None while they are being made, as the page says then."""
    if not is_slow(choice, data):
        return session.dataset_with_candidates(choice)
    work = partial(session.with_candidates_made, choice, data)
    return in_background("prepared", session.choice_key(choice), "Getting the data ready", work)


def is_slow(choice: ChosenData, data: PartialLabelDataset) -> bool:
    """Whether making features and sets takes longer than one likes to wait."""
    spec = suggested(data) if choice.features == "auto" else choice.features
    if "backbone" in spec or "embedding" in spec:
        return True
    most = QUICK_PICTURES if "pictures" in data.contents else QUICK_EXAMPLES
    if spec not in ("", "none") and len(data) > most:
        return True
    judged = (choice.flip is not None and choice.flip.how == "instance") or (
        choice.noisy is not None and choice.noisy.needs_classifier
    )
    settles = choice.source.rule == "voters" and len(data) * data.n_classes > QUICK_SETTLED
    return settles or (judged and data.X.size > QUICK)
