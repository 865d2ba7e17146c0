"""Which of the runs that have labels is in view: on the Review and the Export page."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from pll.methods import method_title
from pll.runs.run import Run, readable
from pll.ui import session
from pll.ui.routes import go
from pll.ui.widgets import bound


def has_labels(run: Run) -> bool:
    """Whether a run has come to labels and a model."""
    return (run.folder.path / "model.json").exists()


def choose_run(in_view: Run | None, nothing_yet: str, icon: str) -> None:
    """A choice among the runs with labels, which becomes the run in view; `nothing_yet` is shown without any.

    Parameters
    ----------
    in_view
        The run that the page shows; None for none.
    nothing_yet
        Said where no run has labels.
    icon
        Beside that, as Streamlit names it.
    """
    runs = {} if in_view is None else {in_view.id: in_view}
    runs |= {run.id: run for run in readable(session.registry().all()) if has_labels(run)}
    if not runs:
        st.info(f"{nothing_yet} Train on your data first.", icon=icon)
        if st.button("Upload or choose data", type="primary", icon=":material/arrow_forward:"):
            go("data")
        return
    if len(runs) == 1 and in_view is not None:
        return
    bound(
        st.selectbox,
        "Run",
        list(runs),
        key="choose-run",
        now=None if in_view is None else in_view.id,
        change=lambda chosen: session.view(runs[chosen]) if chosen else None,
        index=None if in_view is None else 0,
        format_func=_titles(runs).__getitem__,
        placeholder="Choose a run",
        label_visibility="collapsed" if in_view else "visible",
    )


def _titles(runs: dict[str, Run]) -> dict[str, str]:
    """Name and time of each run; its method too where another has both."""
    titles = {}
    for name, run in runs.items():
        begun = str(run.folder.about().get("created", ""))[:16].replace("T", " ")
        titles[name] = f"{run.config.name or run.config.source.name} · {begun}"
    several = {title for title, many in Counter(titles.values()).items() if many > 1}
    return {
        name: f"{title} · {method_title(runs[name].config.method)}" if title in several else title
        for name, title in titles.items()
    }
