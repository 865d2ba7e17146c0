"""What pages share: the runs of this process, the run in view, the data chosen."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.files import write_atomically
from pll.home import candid_home
from pll.protocol import Flip, prepare
from pll.registry import RunRegistry
from pll.runs import Run
from pll.sources import Source


@st.cache_resource(show_spinner=False)
def registry() -> RunRegistry:
    """The runs of this process: one registry for all sessions, which outlives each of them."""
    runs = RunRegistry(candid_home() / "runs")
    return runs


# ---- the run in view -------------------------------------------------------------------------------------------------


def run_in_view() -> Run | None:
    """The run of `?run=…`, or the one this tab looked at last; None where there is neither.

    Raises:
        UserError: the link leads to no run.
    """
    run_id = st.query_params.get("run") or st.session_state.get("run")
    if run_id is None:
        return None
    try:
        run = registry().get(run_id)
    except UserError:
        st.session_state.pop("run", None)
        raise
    view(run)
    return run


def view(run: Run | None) -> None:
    """Make this the run in view, in this tab and in its link."""
    if run is None:
        st.session_state.pop("run", None)
        st.query_params.pop("run", None)
        return
    st.session_state["run"] = run.id
    if st.query_params.get("run") != run.id:
        st.query_params["run"] = run.id


# ---- the data chosen -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """The data this tab has chosen, and how its candidate sets are made (None: as they are in the data)."""

    source: Source
    flip: Flip | None = None
    seed: int = 0
    features: str = "auto"


def chosen() -> Choice | None:
    """What *Train on this* was last pressed for in this tab."""
    return st.session_state.get("choice")


def choose(choice: Choice) -> None:
    """Remember the data for the train page."""
    st.session_state["choice"] = choice


def dataset(source: Source) -> PartialLabelDataset:
    """The data of a source, read once and kept for a while.

    Raises:
        UserError: it cannot be read.
    """
    return _dataset(json.dumps(source.to_json(), sort_keys=True), source)


@st.cache_resource(max_entries=4, show_spinner=False)
def _dataset(key: str, _source: Source) -> PartialLabelDataset:
    return _source.load()


@st.cache_resource(max_entries=4, show_spinner=False)
def _prepared(key: str, _data: PartialLabelDataset, _choice: Choice) -> PartialLabelDataset:
    """As a run would have it, but not yet split: the whole of the data, with features and candidate sets."""
    whole = replace(_data, is_test=None)
    made = prepare(whole, flip_with=_choice.flip, features=_choice.features, seed=_choice.seed).train
    return replace(made, is_test=_data.is_test)


def dataset_with_candidates(choice: Choice) -> PartialLabelDataset:
    """The data of a choice with its features and candidate sets, made if need be.

    Raises:
        UserError: the data cannot be read, or nothing can be learnt from it.
    """
    data = dataset(choice.source)
    key = json.dumps([asdict(choice)], sort_keys=True)
    return _prepared(key, data, choice)


def remember_upload(name: str, content: bytes) -> Source:
    """Keep an uploaded file, under its hash, and say where it is."""
    digest = hashlib.sha256(content).hexdigest()
    file = candid_home() / "uploads" / digest[:16] / Path(name).name
    if not file.exists():
        write_atomically(file, lambda temporary: temporary.write_bytes(content))
    source = Source(name=Path(name).name, path=str(file), sha256=digest)
    st.session_state["upload"] = source
    return source


def forget_upload() -> None:
    """The tab no longer has a file."""
    st.session_state.pop("upload", None)


def last_upload() -> Source | None:
    """The file this tab brought last: the uploader itself forgets it on a change of page."""
    return st.session_state.get("upload")
