"""Home page: what Candid does, the demo, ways to start, and recent runs."""

from typing import NamedTuple

import streamlit as st

from pll.catalog.sources import Source
from pll.errors import UserError
from pll.runs.config import RunConfig
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.data import upload
from pll.ui.home import demo, run_list
from pll.ui.routes import go
from pll.ui.widgets import beside, show_error

DEMO = RunConfig(Source("digits"), flip=Flip("binomial", 0.7), holdout=0.2, seed=0, name="digits demo")
DEMO_SLOW, DEMO_SLOW_EPOCHS = 0.9, 5
"""Seconds of each of the first epochs, and for which the state before training stays: there most happens."""
DEMO_PACE = 8.0
"""Epochs a second; at full speed the demo would be over too soon to see."""


class Door(NamedTuple):
    """One way to start, and the page it leads to."""

    title: str
    about: str
    button: str
    icon: str
    page: str
    way: str | None = None


DOORS = (
    Door("Show my class", "The idea, in figures that move.", "Start the lesson", "school", "learn"),
    Door("Compare methods", "Several methods on the same data.", "Compare", "compare", "compare"),
    Door(
        "Try a known dataset",
        "Add wrong labels; see which are found.",
        "Choose a dataset",
        "dataset",
        "data",
        upload.CATALOGUE,
    ),
)


def hero() -> None:
    """What it does, the two ways to begin, and beside them a recorded run of the demo."""
    words, picture = st.columns([5, 4], gap="large", vertical_alignment="center")
    with words:
        st.title("From several possible labels to one.")
        st.markdown(
            "Your annotators disagree, or examples have several possible labels? Candid finds one label for each and "
            "says how sure it is."
        )
        with beside():
            if st.button("Upload my data", icon=":material/upload_file:"):
                upload.begin_with(upload.UPLOAD)
                go("data")
            about = "1,797 handwritten digits, each with about seven possible labels of ten; 20 seconds."
            if st.button("Watch it work", type="primary", icon=":material/play_arrow:", help=about):
                start_demo()
            if st.button("Sample file", type="tertiary"):
                upload.open_sample(upload.SAMPLE)
                go("data")
    with picture:
        demo.replay()
        st.caption("Every dot is one of 1,438 digits (400 are shown), its colour the true label.")


def start_demo() -> None:
    """Start the demo on the embedded digits, slowed down so that it can be followed."""
    try:
        run = session.registry().start(DEMO, paused=True)
    except UserError as error:
        show_error(error)
        return
    from pll.ui import controls  # late: this page is up before what trains is imported

    run.set_slow_start(DEMO_SLOW, DEMO_SLOW_EPOCHS)
    run.set_pace(DEMO_PACE)
    controls.begin_when_shown(run)
    session.view(run)
    go("train", run=run.id)


def doors() -> None:
    """Show other ways to start."""
    cells = st.grid(len(DOORS), min_column_width=230, gap="medium")
    for door in DOORS:
        with cells.cell(), st.container(border=True, height="stretch"):
            st.markdown(f"**{door.title}**")
            st.caption(door.about)
            if st.button(door.button, icon=f":material/{door.icon}:"):
                if door.way is not None:
                    upload.begin_with(door.way)
                go(door.page)


hero()
doors()
run_list.runs()
