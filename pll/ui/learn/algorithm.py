"""Idea 5: Algorithm 1 with the numbers of one point, on a toy whose points the reader moves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pll.analysis.theory.toy import CLASSES, Toy, next_step
from pll.analysis.trace import SlowStep
from pll.errors import UserError
from pll.ui.charts import csv_button
from pll.ui.format import count, plain
from pll.ui.learn.layout import beside, heading
from pll.ui.learn.playground import Playground, Q, playground, remember_seeds
from pll.ui.learn.toy import toy_plot

METHOD = "proden"
KEY = "learn-toy"


@st.fragment
def draw() -> None:
    heading("algorithm")
    ground = playground()
    st.markdown(
        "Sixty points, three classes, a linear model. Each point is a **pie of its label weights**. Press *Train*: the "
        "pies take one colour while the boundaries move. Drag or add points, or change candidates: the model trains "
        "again from the start, by the same code as your runs."
    )
    controls(ground)
    figure, words = beside()
    with figure:
        show_toy(ground, [METHOD], KEY)
        if ground.said:
            st.warning(ground.said, icon=":material/info:")
        if ground.toy.truth_missing:
            missing = count(ground.toy.truth_missing, "point")
            st.caption(
                f":material/info: {missing} without the true label among the candidates. The paper excludes this."
            )
    with words:
        choose_point(ground)
        try:
            step = next_step(ground.toy, ground.selected, ground.epoch, METHOD, seed=ground.start, lr=ground.lr)
        except UserError as error:
            st.warning(plain(error), icon=":material/error:")
            return
        listing(step, ground)


def controls(ground: Playground) -> None:
    """How the sets are drawn, and the way back."""
    remember_seeds(ground)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        q = st.slider(
            "A wrong label joins with probability q",
            0.0,
            0.9,
            Q,
            0.1,
            key="learn-toy-q",
            width=300,
            bind="query-params",
            persist_state="session",
        )
        if q != ground.q:
            ground.redraw(q)
        st.button(
            "Draw new sets", key="learn-toy-redraw", on_click=ground.redraw, args=(ground.q,), kwargs={"anew": True}
        )
        st.button(
            "Other start", key="learn-toy-start", on_click=other_start, args=(ground,), help="Other initial parameters"
        )
        st.button("Reset points", key="learn-toy-reset", on_click=reset, args=(ground,), type="tertiary")
        toy = ground.toy
        csv_button(lambda: points_table(toy), "candid-points.csv", key="learn-toy-csv", label="Points as CSV")


def reset(ground: Playground) -> None:
    """The points as they were, and their sets."""
    ground.reset()
    st.session_state["learn-toy-q"] = Q


def points_table(toy: Toy) -> pd.DataFrame:
    """The points as a file that the Data page reads: id, candidates, true_label and the two coordinates."""
    names = np.array(CLASSES)
    return pd.DataFrame(
        {
            "id": np.arange(len(toy)),
            "candidates": ["|".join(toy.candidates.names(point)) for point in range(len(toy))],
            "true_label": names[toy.y],
            "x": toy.points[:, 0],
            "y": toy.points[:, 1],
        }
    )


def other_start(ground: Playground) -> None:
    """Train from other initial parameters."""
    ground.start += 1


def show_toy(ground: Playground, methods: list[str], key: str) -> None:
    """The toy as one picture with a panel a method."""
    try:
        histories = [ground.history(method) for method in methods]
    except UserError as error:
        st.warning(plain(error), icon=":material/error:")
        return
    toy_plot(
        ground.toy,
        histories,
        key=key,
        epoch=ground.epoch,
        look=ground.look,
        selected=ground.selected,
        asked=ground.asked.get(key, 0),
        on_edit=lambda edit: ground.edit(key, edit),
        on_look=lambda epoch, asked: ground.look_at(key, epoch, asked),
        on_select=lambda point: setattr(ground, "selected", point),
    )


def choose_point(ground: Playground) -> None:
    """The point in view, and what its candidates are."""
    mine = [CLASSES[label] for label in ground.toy.candidates[ground.selected]]
    truth = CLASSES[int(ground.toy.y[ground.selected])]
    st.markdown(f"**Point {ground.selected}** · truly {truth} · choose another one in the picture")
    key = "learn-toy-set"

    def change() -> None:
        ground.set_candidates([CLASSES.index(name) for name in st.session_state[key]])

    st.session_state[key] = mine
    st.pills("Its candidates", CLASSES, selection_mode="multi", key=key, on_change=change)


def listing(step: SlowStep, ground: Playground) -> None:
    """Algorithm 1, its lines 6 to 9 with this point's numbers."""
    st.markdown(
        f"**Algorithm 1**, the step after epoch {step.epoch} (one mini-batch of all {len(step.rows)} points an epoch)"
    )
    for number, said, formula in lines(step, ground.lr):
        with st.container(horizontal=True, vertical_alignment="top", gap="small"):
            st.markdown(f":gray[{number}]", width=16)
            with st.container(gap=None):
                st.markdown(said)
                st.latex(formula)


def lines(step: SlowStep, lr: float) -> list[tuple[int, str, str]]:
    """Lines 6 to 9 of Algorithm 1: number, words, and the formula with the numbers of one point."""
    names = [CLASSES[label] for label in step.labels]
    terms = [f"{w:.2f} \\cdot {cost:.2f}" for w, cost in zip(step.old_weights, step.losses, strict=True)]
    # Two terms a row, so that it fits a telephone.
    summed = " + ".join(terms[:2]) + "".join(rf" \\ &\quad + {term}" for term in terms[2:])
    total = float(step.scores.sum())
    inside = " + ".join(f"{g:.2f}" for g in step.scores)
    news = r" \\ ".join(
        rf"w_{{\text{{{name}}}}} &= {g:.2f} \,/\, {total:.2f} = \mathbf{{{new:.2f}}}"
        for name, g, new in zip(names, step.scores, step.label_weights, strict=True)
    )
    return [
        (6, "Loss, with the **old** weights", aligned(rf"\textstyle\sum_j w_j \ell_j &= {summed} = {step.loss:.2f}")),
        (7, "Its slope by the logits, $g - w$", r",\quad ".join(slopes(step, names))),
        (
            8,
            "**New weights**, from the same forward pass",
            aligned(rf"\textstyle\sum_{{k \in S}} g_k &= {inside} = {total:.2f} \\ {news}"),
        ),
        (9, "Only then do the parameters move", rf"\|\Delta\Theta\| = {step.move:.3f}, \quad \eta = {lr:g}"),
    ]


def aligned(rows: str) -> str:
    """Rows of a formula, one below the other at their &."""
    return rf"\begin{{aligned}} {rows} \end{{aligned}}"


def slopes(step: SlowStep, names: list[str]) -> list[str]:
    """The gradient by the logit of each candidate."""
    return [
        rf"\text{{{name}}}: {round(float(slope), 2) + 0.0:+.2f}"
        for name, slope in zip(names, step.gradient, strict=True)
    ]
