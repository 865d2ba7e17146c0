"""One example and its label weights over the epochs, below the view in which it was selected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.colors import class_colours
from pll.ui import charts
from pll.ui.example import show_contents, show_picture
from pll.ui.format import plain
from pll.ui.scenes import Scene
from pll.ui.widgets import beside
from pll.wording import percent, short_names

EXAMPLE_PIXELS = 96
"""Pixels of the picture's width."""


def draw(scene: Scene, row: int) -> None:
    """The example, in a picture, in words and over time.

    Parameters
    ----------
    scene
        What is to be seen of the lane.
    row
        The example.
    """
    sets = scene.sets
    epochs, weights = scene.story(row)
    labels = sets[row]
    names = [sets.class_names[label] for label in labels]
    with beside(gap="medium"):
        has_picture = show_picture(scene.data, row, EXAMPLE_PIXELS)
        with st.container():
            st.markdown(f"**{plain(scene.data.row_ids[row])}** — {plain(', '.join(_describe_label(scene, row)))}")
            st.caption(
                plain(" ".join(_describe_history(epochs, weights, names, is_whole=len(epochs) == epochs[-1] + 1)))
            )
    figure, table = _story_chart(scene, labels, epochs, weights)
    charts.show(figure, table, "story", f"Label weights of example {scene.data.row_ids[row]} became")
    if not has_picture:
        show_contents(scene.data, row)


def _describe_label(scene: Scene, row: int) -> list[str]:
    """What it is at the epoch in view."""
    sharp, names = scene.frame.sharp, scene.sets.class_names
    label = int(sharp.identified[row])
    before = "" if scene.is_latest else f"{scene.frame.when.lower()}: "
    sentences = [f"{before}{names[label]}, label weight {percent(float(sharp.top[row]), 0)}"]
    if scene.data.y is not None and scene.data.y[row] >= 0:
        truth = int(scene.data.y[row])
        outside = "" if truth in scene.sets[row] else " — which is not among its candidates"
        sentences.append("and that is its true label" if truth == label else f"but truly {names[truth]}{outside}")
    return [*sentences, *filter(None, [scene.decided.get(row)])]


def _describe_history(
    epochs: Sequence[int], weights: npt.NDArray[np.float32], names: Sequence[str], *, is_whole: bool
) -> list[str]:
    """Return since when it has its label and how often that changed; epoch 0, before training, is not counted.

    Examples
    --------
    >>> weights = np.array([[0.5, 0.5], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]], dtype=np.float32)
    >>> _describe_history([0, 1, 2, 3], weights, ["cat", "dog"], is_whole=True)
    ['Identified as dog since epoch 2 of 3.', 'The label changed once.']
    """
    if len(names) == 1:
        return ["It has one candidate, so its label weight is 1 throughout."]
    if len(epochs) < 2:
        return ["Not trained yet."]
    top = weights[1:].argmax(axis=1)
    moves = np.flatnonzero(np.diff(top))
    since = epochs[1 + (int(moves[-1]) + 1 if len(moves) else 0)]
    times = {0: "never changed", 1: "changed once", 2: "changed twice"}.get(len(moves), f"changed {len(moves)} times")
    stored = "" if is_whole else f", as far as {len(epochs):,} stored moments tell"
    return [f"Identified as {names[top[-1]]} since epoch {since} of {epochs[-1]}.", f"The label {times}{stored}."]


def _story_chart(
    scene: Scene, labels: npt.NDArray[np.int32], epochs: Sequence[int], weights: npt.NDArray[np.float32]
) -> tuple[go.Figure, pd.DataFrame]:
    """The (e, k) label weights of one example as areas on top of one another, the final label at the bottom."""
    colours = class_colours(int(labels.max()) + 1)
    names = [scene.sets.class_names[label] for label in labels]
    short = short_names(names)
    figure = go.Figure()
    at = np.asarray(epochs, dtype=np.int32)
    drawn = charts.thinned(len(at))
    for k in np.argsort(-weights[-1], kind="stable"):
        figure.add_scatter(
            x=at[drawn],
            y=weights[drawn, k] * 100,
            name=short[k],
            mode="lines",
            stackgroup="weights",
            line={"color": colours[labels[k]], "width": 0.5},
            fillcolor=colours[labels[k]],
            hovertemplate="%{customdata}: %{y:.1f} %<extra></extra>",
            customdata=np.full(len(drawn), names[k], dtype=object),
        )
    charts.dress(figure, "Its label weights", "", "%")
    figure.update_yaxes(range=[0, 100])
    charts.mark_epoch(figure, scene.snapshot.total, None if scene.is_latest else scene.frame.epoch)
    table = pd.DataFrame(weights, columns=list(names))
    table.insert(0, "epoch", at)
    return figure, table
