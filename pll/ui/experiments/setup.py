"""Setting up an experiment: a preset with fewer data sets, methods or epochs, or a text to edit."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pll import catalog
from pll.catalog.entry import Entry
from pll.catalog.files import folder_of
from pll.errors import UserError
from pll.experiments import background as experiments
from pll.experiments.experiment import Experiment, changed, parse_experiment
from pll.experiments.presets import PRESETS, preset
from pll.methods import get_method, method_title
from pll.methods.deep import DeepEstimator
from pll.ui.data import server_data
from pll.ui.format import count, plain

FOLDS, HOLDOUT, PUBLISHED = "Five folds", "90/10, five samplings", "Published test part"
OWN = "As the preset says"
PROTOCOLS: dict[str, dict[str, Any]] = {
    FOLDS: {"folds": 5, "holdout": None, "seeds": [0]},
    HOLDOUT: {"folds": None, "holdout": 0.1, "seeds": [0, 1, 2, 3, 4]},
    PUBLISHED: {"folds": None, "holdout": None, "seeds": [0, 1, 2, 3, 4]},
    OWN: {},
}


def experiment() -> Experiment | None:
    """Return what is chosen; None where none of its data is on this server."""
    name = st.selectbox(
        "Experiment", list(PRESETS), format_func=lambda name: preset(name).title, key="experiment-preset"
    )
    definition = preset(name)
    here = [dataset for dataset in definition.datasets if catalog.available(catalog.find(dataset))]
    chosen = [_pills("Datasets", here, here, name, lambda one: catalog.find(one).title)] if here else [[]]
    for dataset in definition.datasets:
        if dataset not in here:
            missing(catalog.find(dataset))
    chosen.append(_pills("Methods", definition.methods, definition.methods, name, method_title))
    with st.expander("Settings", icon=":material/tune:"):
        protocol, epochs = _settings(definition, name)
        if st.toggle("Edit as text", key="experiment-as-text", help="The TOML file that the command line takes too."):
            text = st.text_area("Definition (TOML)", PRESETS[name], height=360, key=f"experiment-text-{name}")
            return parse_experiment(text, "The definition")
    if not here:
        return None
    datasets, methods = chosen
    if not datasets or not methods:
        raise UserError("Choose at least one dataset and one method.")
    deep = [method for method in methods if issubclass(get_method(method), DeepEstimator)]
    settings = [*definition.settings, *([{"method": deep, "epochs": epochs}] if epochs and deep else [])]
    return changed(definition, datasets=datasets, methods=methods, **PROTOCOLS[protocol], settings=settings)


def _pills(label: str, every: Any, default: Any, name: str, title: Any) -> list[str]:
    chosen = st.pills(
        label,
        list(every),
        selection_mode="multi",
        default=default,
        format_func=title,
        key=f"experiment-{label.lower()}-{name}",
    )
    return [one for one in every if one in chosen]


def _settings(definition: Experiment, name: str) -> tuple[str, int | None]:
    """How it is tested, and the epochs where they are not those of the preset."""
    offered = [FOLDS, HOLDOUT] if definition.folds else [OWN, FOLDS] if definition.holdout else [PUBLISHED, HOLDOUT]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        protocol = st.selectbox("Tested on", offered, key=f"experiment-protocol-{name}", width=260)
        epochs = st.number_input(
            "Epochs",
            1,
            10_000,
            None,
            placeholder="as the preset says",
            key=f"experiment-epochs-{name}",
            width=200,
            help="The paper trains for 500.",
        )
    return protocol, None if epochs is None else int(epochs)


def missing(entry: Entry) -> None:
    """Show how a dataset comes to this server, in one line: downloaded, or put there by hand."""
    folder = folder_of(entry.files[0])
    if server_data.download_of(entry) is None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(entry.title)}**", width="content")
            if not entry.downloadable:
                wanted = ", ".join(f"`{file.name}` ([page](<{file.page}>))" for file in entry.files)
                st.markdown(f"put {wanted} into `{folder}`", width="content")
                return
            size = max(entry.size_mb, 0.1)
            clicked = st.button(f"Download ({size:,.1f} MB)", icon=":material/download:", key=f"get-{entry.name}")
            st.markdown(f"into `{folder}`", width="content")
        if not clicked:
            return
    server_data.download(entry)


def size(chosen: Experiment) -> int:
    """Say how many fits it has; their number."""
    experiments.check_paths(chosen)  # before any of its files is touched
    plan = chosen.plan()
    for one in plan.missing:
        st.caption(f":material/info: {plain(one.dataset)}: {plain(one.reason)}")
    st.caption(f"{count(len(plan.cells), 'fit')}, each written to disk when it ends.")
    return len(plan.cells)
