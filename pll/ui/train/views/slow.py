"""Slow-motion view: Algorithm 1 in four steps with the numbers of the next mini-batch.

The numbers are those of `pll.analysis.trace`: what the next mini-batch will do, seen from one of its examples.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pll.analysis.trace import SlowStep, slow_step
from pll.errors import UserError
from pll.methods.base import PartialLabelEstimator
from pll.methods.deep import DeepEstimator
from pll.runs.run import Run
from pll.ui import controls
from pll.ui.example import show_picture
from pll.ui.format import plain
from pll.ui.scenes import Scene
from pll.ui.widgets import beside, bound, button, show_table
from pll.wording import count

PHASES = ("Forward", "Loss", "Gradient", "New weights")
MOST_TERMS = 4
"""Terms of a sum written out."""


def draw(scene: Scene) -> None:
    state = scene.snapshot.state
    if state != "paused":
        _invite(scene.run, state)
        return
    try:
        step = _next_step(scene)
    except UserError as error:
        st.info(plain(error), icon=":material/info:")
        return
    if step is None:  # it went on just now
        return
    phase = scene.looking.phase
    _head(scene, step)
    cells = st.grid(4, min_column_width=230, gap="small")
    for k, (name, explanation) in enumerate(zip(PHASES, _explained(step, scene.sets.class_names), strict=True)):
        with cells.cell(), st.container(border=True, height=190):
            lit = k <= phase
            st.markdown(f"**{k + 1} · {name}**" if lit else f":gray[{k + 1} · {name}]")
            st.markdown(explanation[0] if lit else f":gray[{explanation[1]}]")
    table, height = _worksheet(step, scene.sets.class_names, phase), 38 + 35 * min(len(step.labels), 10)
    alt, formats = "The numbers of this example, candidate by candidate", dict.fromkeys(table.columns[1:], "%.3f")
    show_table(table, alt, formats=formats, key="worksheet", height=height)
    _move_on(scene, phase)


def _invite(run: Run, state: str) -> None:
    """Slow motion needs a run that stands still between two mini-batches: the way there."""
    way: tuple[str, str, Callable[[Run], object]]
    if state in ("running", "queued"):
        way = "Pause to look inside the next mini-batch.", "Pause", controls.pause
    elif state in ("stopped", "interrupted"):
        words = "This run is not in memory. Run one mini-batch to look inside."
        way = words, "Next step", partial(controls.step, batches=1)
    else:
        way = "This run has ended. Restart it, paused, to go through it step by step.", "Restart", controls.reset
    words, label, act = way
    st.info(words, icon=":material/info:")
    button(label, act, run, key="slow-begin")


def _next_step(scene: Scene) -> SlowStep | None:
    """The numbers of the next mini-batch; made once, since they stay the same until it is taken."""
    looking, moment = scene.looking, scene.snapshot.moment
    now = (scene.run.id, None if moment is None else (moment.epoch, moment.batch), looking.selected)
    if looking.slow is None or looking.slow[0] != now:

        def look(estimator: PartialLabelEstimator) -> SlowStep:
            trainer = estimator.trainer if isinstance(estimator, DeepEstimator) else None
            if trainer is None:
                raise UserError(f"{estimator.title} does not learn in mini-batches, so there are no steps to show.")
            return slow_step(trainer, scene.sets, looking.selected)

        step = scene.run.while_paused(look)
        if step is None:
            return None
        if looking.slow is None or looking.slow[0][1] != now[1]:
            looking.phase = 0
        looking.slow = (now, step)
    return looking.slow[1]


def _head(scene: Scene, step: SlowStep) -> None:
    """Which mini-batch, and which of its examples; another one of the same can be chosen."""
    moment = scene.snapshot.moment
    number = f"Mini-batch {moment.batch + 1} of {moment.batches}" if moment else "The next mini-batch"
    with beside(gap="medium"):
        show_picture(scene.data, step.example, 56)
        with st.container():
            st.markdown(
                f"{number} of epoch {step.epoch + 1}: {count(len(step.rows), 'example')}, among them "
                f"**{plain(scene.data.row_ids[step.example])}**"
            )
            if scene.looking.selected is not None and scene.looking.selected != step.example:
                st.caption("The example you chose is not in this mini-batch; this is its least certain one.")
            else:
                st.caption("Its numbers are those of the step that comes next.")
        bound(
            st.selectbox,
            "Example of this mini-batch",
            np.sort(step.rows).tolist(),
            key=f"slow-example-{scene.run.id}",
            now=step.example,
            change=scene.looking.select,
            format_func=lambda row: str(scene.data.row_ids[row]),
            width=220,
        )


def _move_on(scene: Scene, phase: int) -> None:
    """Back and forth through the four steps; at the end, take the step for real."""
    to = partial(setattr, scene.looking, "phase")
    with st.container(horizontal=True):
        button("Back", to, phase - 1, icon="arrow_back", key="slow-back", disabled=phase == 0)
        if phase < len(PHASES) - 1:
            label = f"Next: {PHASES[phase + 1].lower()}"
            button(label, to, phase + 1, icon="arrow_forward", key="slow-next", kind="primary")
        else:
            button("Take this step", controls.step, scene.run, None, 1, key="slow-take", icon="check", kind="primary")


# ---- the words and numbers -----------------------------------------------------------------------------------------


def _worksheet(step: SlowStep, class_names: tuple[str, ...], phase: int) -> pd.DataFrame:
    """The numbers of an example, a row a candidate, as far as the steps that are shown have come."""
    of_phases: tuple[dict[str, Any], ...] = (
        {"logit z": step.logits, "probability g": step.scores},
        {"old weight w": step.old_weights, "loss ℓ": step.losses, "w · ℓ": step.old_weights * step.losses},
        {"gradient ∂z": step.gradient},
        {"new weight": step.label_weights, "g after the step": step.scores_after},
    )
    columns: dict[str, Any] = {"candidate": [class_names[label] for label in step.labels]}
    for lit in of_phases[: phase + 1]:
        columns |= lit
    return pd.DataFrame(columns)


def _explained(step: SlowStep, class_names: tuple[str, ...]) -> list[tuple[str, str]]:
    """For each of the four steps: what it does with this example's numbers, and in general."""
    names = [plain(class_names[label]) for label in step.labels]
    top = int(np.argmax(step.scores))
    terms = [f"{w:.2f} · {cost:.2f}" for w, cost in zip(step.old_weights, step.losses, strict=True)]
    dots = [" + …"] if len(terms) > MOST_TERMS else []
    gain = int(np.argmax(step.label_weights - step.old_weights))
    inside = float(step.scores.sum())
    return [
        (
            f"One pass through the model. It finds **{names[top]}** the likeliest candidate, with "
            f"g = {step.scores[top]:.2f}. All {len(names)} candidates together have {inside:.2f}.",
            "g = softmax(z): one pass through the model.",
        ),
        (
            f"With the *old* weights: {' + '.join(terms[:MOST_TERMS])}{''.join(dots)} = **{step.loss:.3f}**. "
            f"The mini-batch's mean is {step.batch_loss:.3f}.",
            "L = Σ w · ℓ, with the *old* weights.",
        ),
        (
            f"Backwards: {step.parameters:,} parameters, slope {step.gradient_norm:.3f}. The logit of "
            f"**{names[int(np.argmin(step.gradient))]}** is pushed up the most, by "
            f"{-float(step.gradient.min()):.3f}.",
            "∂L/∂z = g − w: up where w is larger than g.",
        ),
        (
            f"From the *same* pass: g over the candidates' sum, {step.scores[gain]:.2f} / {inside:.2f} = "
            f"**{step.label_weights[gain]:.2f}** for {names[gain]} (was {step.old_weights[gain]:.2f}). Then the "
            f"parameters move by {step.move:.4f}.",
            "w = g / Σ g over the candidates, from the *same* pass; then the parameters move.",
        ),
    ]
