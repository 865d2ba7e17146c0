"""State of one browser session: the run or comparison in view, and the chosen data."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, get_args

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pll.annotations import Rule
from pll.catalog.sources import Source, by_rule
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, explain
from pll.formats.classes import with_classes
from pll.formats.votes import Mapped
from pll.io import Progress, check_free_space, stored_name, write_atomically
from pll.paths import candid_home
from pll.runs.access import uploads_key
from pll.runs.registry import MISSING, RunRegistry, default_registry
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy
from pll.ui import login

if TYPE_CHECKING:
    from pll.runs.config import RunConfig
    from pll.ui.view_state import RunView


T = TypeVar("T")


def registry() -> RunRegistry:
    """Return the runs of this process as the person at this page may use them."""
    return default_registry().for_person(login.person())


def tab_id() -> str:
    """Return the id of this browser session; "" outside a page."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def is_fragment_run() -> bool:
    """Whether only a part of the page is run again: everything else on it stays as it is."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


# ---- what is in view -------------------------------------------------------------------------------------------------

Kind = Literal["run", "comparison"]


@dataclass
class _Replaced:
    """An id that was taken out of the address, while the browser may still send it."""

    id: str
    is_sent: bool = False  # whether the script run that replaced it has ended, so that the browser has been told


def id_in_address(kind: Kind) -> str | None:
    """The id of the run or comparison in the address.

    Requests that were under way when the page replaced an id still carry the old one (a refresh of a fragment, a
    second press). They get the new one; otherwise the page would fall back to what the user has just left.
    """
    value = st.query_params.get(kind)
    replaced = st.session_state.get(f"replaced-{kind}")
    return st.session_state.get(kind) if replaced is not None and value == replaced.id else value


def settle_address() -> None:
    """Forget replaced ids as soon as a request carries another one: from then on a request with the old id is intended.

    Called at the beginning of every script run, and of every refresh of a fragment.
    """
    for kind in get_args(Kind):
        replaced = st.session_state.get(f"replaced-{kind}")
        if replaced is not None and replaced.is_sent and st.query_params.get(kind) != replaced.id:
            del st.session_state[f"replaced-{kind}"]


def address_is_sent() -> None:
    """Note that the browser has been told the address. Called at the end of every script run."""
    for kind in get_args(Kind):
        if f"replaced-{kind}" in st.session_state:
            st.session_state[f"replaced-{kind}"].is_sent = True


def view(run: Run | None, kind: Kind = "run") -> None:
    """Make this the run in view, in this tab and in its address; without one, leave the run or comparison in view."""
    kind = kind if run is None else "comparison" if run.is_comparison else "run"
    before = st.query_params.get(kind)
    if before is not None and (run is None or before != run.id):
        st.session_state[f"replaced-{kind}"] = _Replaced(before)
    if run is None:
        st.session_state.pop(kind, None)
        st.query_params.clear()  # also a share link, which would start again
    else:
        st.session_state[kind] = run.id
        if before != run.id:
            st.query_params[kind] = run.id


def run_in_view(kind: Kind = "run") -> Run | None:
    """Return the run of `?run=…` or `?comparison=…`, or the one this tab showed last; None where there is neither.

    Raises UserError where there is no such run.
    """
    name = id_in_address(kind) or st.session_state.get(kind)
    if name is None:
        return None
    try:
        run = find(kind, name)
    except UserError:
        st.session_state.pop(kind, None)
        raise
    view(run)
    return run


def find(kind: Kind, run_id: str) -> Run:
    """Return the run of that id; UserError where there is none of this kind."""
    run = registry().get(run_id)
    if run.is_comparison != (kind == "comparison"):
        raise UserError(MISSING.format(kind))
    return run


def hides_navigation() -> bool:
    """Return whether lesson mode hides the navigation."""
    query = st.query_params
    if "lanes" in query or "comparison" in query:
        run_id = query.get("comparison")
    else:
        run_id = query.get("run") or st.session_state.get("run")
    looking: RunView | None = st.session_state.get(f"run-view-{run_id}")
    if looking is None:  # a link that is just being opened
        return "link" in query and "navigation" in query.get("hide", "").split(",")
    return "navigation" in looking.hidden or looking.presenting


# ---- the data chosen -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChosenData:
    """The chosen data, and how its candidate sets are made (`flip` and `noisy` both None: as in the data)."""

    source: Source
    flip: Flip | None = None
    seed: int = 0
    features: str = "auto"
    noisy: Noisy | None = None

    @classmethod
    def of(cls, config: RunConfig) -> ChosenData:
        """The data of a run."""
        return cls(config.source, config.flip, config.seed, config.features, config.noisy)


def chosen() -> ChosenData | None:
    """What *Train on this* was last pressed for in this tab."""
    return st.session_state.get("choice")


def choose(choice: ChosenData) -> None:
    """Remember the data for the train page."""
    st.session_state["choice"] = choice


def dataset(source: Source) -> PartialLabelDataset:
    """The data of a source, read once and cached; UserError where it cannot be read."""
    if not source.rule and not source.classes:
        return cached(
            "dataset", data_key(source), lambda: mapped(source).dataset if source.vote_files else source.load()
        )
    # Read once for all rules, and for whatever becomes of its classes.
    if not source.rule:
        plain = replace(source, classes={})
        return cached("dataset", data_key(source), lambda: with_classes(dataset(plain), source.classes))
    plain = replace(source, rule="")
    return cached("dataset", data_key(source), lambda: by_rule(dataset(plain), Rule.parse(source.rule)))


def mapped(source: Source) -> Mapped:
    """The examples of a source joined with its files of votes, and what of these is no vote; read once and cached."""
    return cached("votes", votes_key(source), source.with_votes)


def votes_key(source: Source) -> str:
    """Return a cache key of the files of votes, whatever becomes of their classes."""
    return data_key(replace(source, rule="", classes={}))


def data_key(source: Source) -> str:
    """Return a cache key of the data: the source, and size and modification time of its file."""
    values = [source.to_json()]
    if source.path is not None:
        with suppress(OSError):
            facts = Path(source.path).stat()
            values.append({"bytes": facts.st_size, "changed": facts.st_mtime_ns})
    return json.dumps(values, sort_keys=True)


def choice_key(choice: ChosenData) -> str:
    """Return a cache key of the prepared data."""
    return json.dumps([data_key(choice.source), asdict(choice)], sort_keys=True)


@st.cache_resource(max_entries=12, show_spinner=False)
def _cached(what: str, key: str, _make: Callable[[], Any]) -> Any:
    return _make()


def cached(what: str, key: str, make: Callable[[], T]) -> T:
    """What was made under a key, once for all tabs: a dataset, joined votes, data with candidates, columns."""
    value: T = _cached(what, key, make)
    return value


class _NotYet(Exception):
    """Raised to probe the cache without filling it."""


def _not_yet() -> NoReturn:
    raise _NotYet


def if_cached(what: str, key: str) -> Any:
    """Return what is cached under a key, or None."""
    with suppress(_NotYet):
        return cached(what, key, _not_yet)
    return None


def with_candidates_made(
    choice: ChosenData, data: PartialLabelDataset, progress: Progress | None = None
) -> PartialLabelDataset:
    """As a run would have it, but not yet split: the whole of the data, with features and candidate sets.

    Raises UserError where nothing can be learnt from it.
    """
    from pll.analysis.protocol import prepare  # late: the home page shows no data

    made = prepare(
        replace(data, is_test=None),
        flip_with=choice.flip,
        noisy=choice.noisy,
        features=choice.features,
        seed=choice.seed,
        progress=progress,
    ).train
    answered = data.answered()  # what is learnt from
    # Labels that are doubted leave out the examples that have none, and with them the marks of the test part.
    return replace(made, is_test=answered.is_test) if len(made) == len(answered) else made


def dataset_with_candidates(choice: ChosenData) -> PartialLabelDataset:
    """The data of a choice with its features and candidate sets, made if need be."""
    return cached("prepared", choice_key(choice), lambda: with_candidates_made(choice, dataset(choice.source)))


def uploads_folder() -> Path:
    """Return the folder of uploads: of one person where people log in, else of all."""
    user = login.person()
    return candid_home() / "uploads" / ("" if user is None else uploads_key(user.id))


def store_upload(name: str, content: bytes) -> Source:
    """Store an uploaded file under its hash, and say where it is; UserError where it cannot be written."""
    digest = hashlib.sha256(content).hexdigest()
    file = uploads_folder() / digest[:16] / stored_name(name)
    try:
        if file.exists():
            os.utime(file)  # needed again: it is kept as long as a new one
        else:
            check_free_space(file, len(content), Path(name).name)
            write_atomically(file, lambda temporary: temporary.write_bytes(content))
    except OSError as error:
        raise UserError(f"{Path(name).name} cannot be kept: {explain(error)}") from error
    return Source(name=Path(name).name, path=str(file), sha256=digest)


def remember_uploads(sources: Sequence[Source]) -> None:
    """Remember kept files as the last ones of this tab."""
    st.session_state["uploads"] = list(sources)


def forget_upload() -> None:
    """Forget the uploaded files."""
    st.session_state.pop("uploads", None)


def last_uploads() -> list[Source]:
    """Return the files of the last upload, in the order of their choice; the uploader forgets them with its page."""
    return list(st.session_state.get("uploads", ()))
