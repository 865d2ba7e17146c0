"""Setting up an experiment: a preset with fewer data sets, methods or epochs, or a text to edit."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from pll import catalog
from pll.catalog.entry import Entry
from pll.catalog.files import folder_of
from pll.errors import UserError
from pll.experiments import registry as experiments
from pll.experiments.cost import cost_in_words
from pll.experiments.experiment import PRESETS, Experiment, changed, parse_experiment, preset
from pll.methods import METHODS, method_title
from pll.methods.deep import DeepEstimator
from pll.runs.config import DataConfig
from pll.runs.lanes import why_not
from pll.ui import session
from pll.ui.data import loader, server_data
from pll.ui.data.upload import uploads_folder
from pll.ui.format import plain
from pll.ui.widgets import beside, button, choose_several, number_field
from pll.wording import count

FIVE_FOLDS, FIVE_SAMPLINGS, PUBLISHED_PART = "Five folds", "90/10, five samplings", "Published test part"
AS_THE_PRESET = "As the preset says"
OWN_FILE = "own"
PROTOCOLS: dict[str, dict[str, Any]] = {
    FIVE_FOLDS: {"folds": 5, "holdout": None, "seeds": [0]},
    FIVE_SAMPLINGS: {"folds": None, "holdout": 0.1, "seeds": [0, 1, 2, 3, 4]},
    PUBLISHED_PART: {"folds": None, "holdout": None, "seeds": [0, 1, 2, 3, 4]},
    AS_THE_PRESET: {},
}


def experiment() -> Experiment | None:
    """Return what is chosen; None where none of its data is on this server, or it cannot be tested on."""
    mine = session.chosen()
    own = [OWN_FILE] if mine is not None and mine.source.path is not None else []
    form = {"disabled": bool(st.session_state.get("experiment-as-text"))}  # the text is what counts then
    title = partial(_title, mine=mine)
    name = st.selectbox("Experiment", [*PRESETS, *own], format_func=title, key="experiment-preset")
    if name == OWN_FILE:
        text = None if mine is None else _own_text(mine)
        if text is None:
            return None
    else:
        text = PRESETS[name]
    definition = parse_experiment(text, "The definition")
    in_catalogue = list(definition.datasets) if name != OWN_FILE else []
    here = [dataset for dataset in in_catalogue if catalog.available(catalog.find(dataset))]
    titles, key = {dataset: catalog.find(dataset).title for dataset in here}, f"experiment-datasets-{name}"
    datasets = choose_several("Datasets", titles, default=here, key=key, **form) if here else []
    for dataset in in_catalogue:
        if dataset not in here:
            _missing(catalog.find(dataset))
    every = list(definition.methods)
    titles = {method: method_title(method) for method in every}
    methods = choose_several("Methods", titles, default=every, key=f"experiment-methods-{name}", **form)
    with st.expander("Settings", icon=":material/tune:"):
        protocol, epochs = _settings(definition, name, form)
        is_text = st.toggle("Edit as text", key="experiment-as-text", help="The TOML file that the command line takes.")
        below = st.container()
    chosen = None
    if (datasets or not in_catalogue) and methods:
        deep = [method for method in methods if issubclass(METHODS[method], DeepEstimator)]
        settings = [*definition.settings, *([{"method": deep, "epochs": epochs}] if epochs and deep else [])]
        of_catalogue = {"datasets": datasets} if in_catalogue else {}
        chosen = changed(definition, **of_catalogue, methods=methods, **PROTOCOLS[protocol], settings=settings)
    if is_text:
        if chosen is not None and chosen != (changed(definition, datasets=here) if here else definition):
            text = as_text(chosen.model_dump(exclude_defaults=True))
        key = f"experiment-text-{name}-{hash(text)}"
        return parse_experiment(below.text_area("Definition (TOML)", text, height=360, key=key), "The definition")
    if chosen is None and (here or not in_catalogue):
        raise UserError("Choose at least one dataset and one method.")
    return chosen


def _title(name: str, mine: DataConfig | None) -> str:
    return preset(name).title if name != OWN_FILE else f"Your data: {'' if mine is None else mine.source.name}"


def _own_text(mine: DataConfig) -> str | None:
    """Return the TOML text of an experiment on a file that was brought; None where it cannot be one, as is said."""
    source, flip = mine.source, mine.flip
    beyond = source.classes or source.answers or source.votes or source.options.keys() - {"columns"}
    if beyond or mine.noisy is not None or (flip is not None and flip.matrix is not None):
        st.info(
            "Your data was changed on the Data page in a way that an experiment cannot repeat (classes, votes, doubted "
            "labels, a matrix). Save it as it is to be, and upload that.",
            icon=":material/info:",
        )
        return None
    data = loader.prepared(mine)
    if data is None:  # it is being made, as the page says
        return None
    if data.n_labelled < len(data):
        st.info(f"{plain(source.name)} has no true label for every example to test against.", icon=":material/info:")
        return None
    methods = [name for name in ("proden", "proden-naive", "pn-oracle", "plknn", "ipal") if why_not(name, data) is None]
    facts = {
        "path": source.path,
        "rule": source.rule,
        "format": source.format,
        "columns": source.options.get("columns"),
    }
    made = [] if flip is None else [{"how": flip.how, "q": flip.q, "size": flip.size}]
    own = {"title": source.name, "methods": methods, "folds": 5, "flips": made, "features": mine.features}
    return as_text(own | {"datasets": {source.name: {name: value for name, value in facts.items() if value}}})


def as_text(definition: Mapping[str, Any]) -> str:
    """Return the TOML text of an experiment of these fields."""
    return "\n".join(f"{name} = {_toml(value)}" for name, value in definition.items() if value is not None) + "\n"


def _toml(value: object) -> str:
    """A value as TOML has it: texts and numbers are the same as in JSON."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml(name)} = {_toml(one)}' for name, one in value.items() if one is not None)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(one) for one in value if one is not None)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _settings(definition: Experiment, name: str, form: Mapping[str, Any]) -> tuple[str, int | None]:
    """How it is tested, and the epochs where they are not those of the preset."""
    offered = (
        [FIVE_FOLDS, FIVE_SAMPLINGS]
        if definition.folds
        else [AS_THE_PRESET, FIVE_FOLDS]
        if definition.holdout
        else [PUBLISHED_PART, FIVE_SAMPLINGS]
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        protocol = st.selectbox("Tested on", offered, key=f"experiment-protocol-{name}", width=260, **form)
        epochs = number_field(
            "epochs",
            None,
            key=f"experiment-epochs-{name}",
            placeholder="as the preset says",
            width=200,
            help="The paper trains for 500.",
            **form,
        )
    return protocol, epochs


def _missing(entry: Entry) -> None:
    """Show how a dataset comes to this server, in one line: downloaded, or put there by hand."""
    if server_data.download_of(entry) is not None:
        server_data.follow_download(entry)
        return
    folder = folder_of(entry.files[0])
    with beside():
        st.markdown(f"**{plain(entry.title)}**", width="content")
        if entry.downloadable:
            label, key = f"Download ({max(entry.size_mb, 0.1):,.1f} MB)", f"get-{entry.name}"
            button(label, server_data.begin_download, entry, icon="download", key=key)
            st.markdown(f"into `{folder}`", width="content")
        else:
            wanted = ", ".join(f"`{file.name}` ([page](<{file.page}>))" for file in entry.files)
            st.markdown(f"put {wanted} into `{folder}`", width="content")


def size(chosen: Experiment) -> int:
    """Say how many fits it has; their number."""
    experiments.check_paths(chosen, uploads_folder())  # before any of its files is touched
    plan = chosen.plan()
    for one in plan.missing:
        st.caption(f":material/info: {plain(one.dataset)}: {plain(one.reason)}")
    cost = cost_in_words(plan.cells, os.cpu_count() or 1)
    st.caption(f"{count(len(plan.cells), 'fit')}, each written to disk when it ends. {cost}")
    return len(plan.cells)
