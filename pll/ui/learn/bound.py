"""The estimation error bound (Theorem errorbound) with the reader's own n, c and features."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.analysis.error_bound import Bound, NotComputable
from pll.colors import ACCENT, WRONG_COLOUR
from pll.errors import UserError
from pll.training.losses import LOSSES
from pll.training.names import MODELS
from pll.ui import charts
from pll.ui.charts import QUIET
from pll.ui.format import plain
from pll.ui.learn.layout import IN_ADDRESS, guess, line, marker
from pll.ui.learn.lesson_data import choose_source, radius_of
from pll.ui.widgets import choose, show_table
from pll.wording import count

NORMS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
DELTAS = (0.5, 0.1, 0.05, 0.01, 0.001)
TIMES = (1, 10, 100, 1000, 10_000, 100_000)
BOUND_ANSWERS = ("Yes: it promises something", "No: it allows more than can happen anyway")


@st.fragment
def draw() -> None:
    words, figure = st.columns([4, 5], gap="large")
    with words:
        st.markdown(
            "With γ < 1 the deepest valley is the right one, *with infinitely many examples*. With n examples, how "
            "much worse can the classifier with the least risk on them ($\\hat g$) be than the best of its class "
            "($g^*$)? With probability at least 1 − δ:"
        )
        st.latex(
            r"\begin{aligned} R(\hat g) - R(g^*) \;\le\; & 4\sqrt2\, c\, L_\ell "
            r"\sum_{y=1}^{c} \mathfrak R_n(\mathcal G_y) \\"
            r" & + 2M \sqrt{\frac{\log(2/\delta)}{2n}} \end{aligned}"
        )
        try:
            bound = _chosen_bound()
        except UserError as error:
            st.warning(plain(error), icon=f":material/{'block' if isinstance(error, NotComputable) else 'info'}:")
            return
        st.latex(_numbers(bound))
        is_answered = guess(
            "bound",
            f"For n = {bound.n:,}, does the bound say anything? (No risk of this class can be worse by more than "
            f"{bound.trivial:.3g}.)",
            BOUND_ANSWERS,
            lambda: int(bound.is_vacuous),
        )
        if is_answered:
            st.markdown(_meaning(bound))
    with figure:
        if is_answered:
            chart, table = _over_n(bound)
            charts.show(
                chart, table, "learn-bound",
                f"The bound over the number of examples: {bound.value:.3g} at n = {bound.n:,}; below "
                f"{bound.trivial:.3g} from n = {bound.examples_needed:,.0f} on",
            )  # fmt: skip
        _symbols(bound)
        st.markdown(NOT_SAID)


def _chosen_bound() -> Bound:
    """The bound of what the reader has set; NotComputable where this model or loss has none."""
    with st.container(horizontal=True, gap="small"):
        source = choose_source("learn-bound-data")
        models, losses = ({name: one.title for name, one in every.items()} for every in (MODELS, LOSSES))
        model = choose("Model", models, key="learn-bound-model", width=170, **IN_ADDRESS)
        loss = choose("Loss", losses, key="learn-bound-loss", width=230, **IN_ADDRESS)
    with st.container(horizontal=True, gap="medium"):
        words = {"format_func": "{:,g}".format, "width": 200, **IN_ADDRESS}
        norm = st.select_slider("Norm bound Λ", NORMS, 1.0, key="learn-bound-norm", **words)
        delta = st.select_slider("δ", DELTAS, 0.05, key="learn-bound-delta", **(words | {"width": 160}))
        times = st.select_slider("Examples, times", TIMES, 1, key="learn-bound-times", **words)
    data = source.read()
    n, c = len(data), data.n_classes
    more = f", as if there were {times:,} times as many" if times > 1 else ""
    st.caption(f"{source.name}: {count(n, 'example')}{more}, {count(c, 'class', 'classes')}.")
    radius = radius_of(source.key, data) if model == "linear" else math.nan
    return Bound(n * times, c, norm, radius, delta, loss, model)


def _numbers(bound: Bound) -> str:
    """The right side with its numbers, and its sum."""
    c, constants = bound.c, bound.constants
    return (
        rf"\begin{{aligned}} & 4\sqrt2 \cdot {c} \cdot {constants.lipschitz:.3g} "
        rf"\cdot {c} \cdot {bound.complexity:.3g} \\"
        rf" & \quad + 2 \cdot {constants.most:.3g} \sqrt{{\tfrac{{\log(2/{bound.delta:g})}}{{2 \cdot {bound.n:,}}}}} \\"
        rf" & = {bound.first:.3g} + {bound.second:.3g} = \mathbf{{{bound.value:.3g}}} \end{{aligned}}"
    ).replace(",", r"{,}")


def _meaning(bound: Bound) -> str:
    """Whether it says something, and from how many examples on."""
    need = bound.examples_needed
    if bound.is_vacuous:
        text = (
            f"**Vacuous.** The bound is {bound.value:.3g}. But the loss lies between {bound.constants.least:.2f} and "
            f"{bound.constants.most:.3g}, so the difference is never above {bound.trivial:.3g} anyway."
        )
        if math.isfinite(need):
            text += f" It begins to say something at about **{need:,.0f}** examples."
    else:
        text = (
            f"**It says something**: at most {bound.value:.3g}; {bound.trivial:.3g} was certain anyway. This holds "
            f"from about {need:,.0f} examples on."
        )
    return (
        text
        + "\n\nBoth terms fall as 1/√n: a bound ten times tighter takes a hundred times the data. The first grows as "
        f"c², here {bound.c}² = {bound.c**2}. The inequality must hold for every distribution of data; it does not "
        "predict your result."
    )


NOT_SAID = """
**What it does not say**

- *Candidate sets*: γ, q and sizes are not in it. It is the same for easy and hopeless ones.
- *Accuracy*: it compares risks of the minimal loss. That these lead to the true labels is another theorem.
- *PRODEN's descent*: $\\hat g$ is the exact minimiser; getting stuck (idea 3) is not in it.
- *Networks*: for these it cannot be computed here.
"""


def _symbols(bound: Bound) -> None:
    """Every symbol of the theorem, its value, and where that comes from."""
    constants = bound.constants
    of_features = "largest norm of an example's scaled features, with a 1 for the bias; of this sample"
    chosen = "bound on the norm of each class's parameters: your choice, and to be made before seeing the data"
    rows = [
        ("n", f"{bound.n:,}", "examples"),
        ("c", f"{bound.c}", "classes"),
        ("R", f"{bound.radius:.4g}", of_features),
        ("Λ", f"{bound.norm:g}", chosen),
        ("C_g", f"{bound.reach:.4g}", "Λ R: no logit is larger"),
        ("𝔑ₙ(G_y)", f"{bound.complexity:.4g}", "at most Λ R / √n, the Rademacher complexity of such linear functions"),
        ("L", f"{constants.lipschitz:.4g}", f"Lipschitz constant of {LOSSES[bound.loss].title.lower()} by the logits"),
        ("M", f"{constants.most:.4g}", "largest loss that logits within C_g allow"),
        ("δ", f"{bound.delta:g}", "how often the bound may fail"),
    ]
    with st.expander("Every symbol", icon=":material/function:", expanded=False):
        table = pd.DataFrame(rows, columns=["symbol", "value", "what it is"])
        show_table(table, "The symbols of the bound with their values", key="learn-bound-symbols")


def _over_n(bound: Bound) -> tuple[go.Figure, pd.DataFrame]:
    """The bound and its two terms over n, beside what is certain anyway."""
    exponents = np.linspace(1, max(8.0, math.log10(bound.n) + 1), 60)
    at = [bound.at(round(10**e)) for e in exponents]
    n = np.array([b.n for b in at])
    terms = {name: np.array([getattr(b, name) for b in at]) for name in ("value", "first", "second")}
    figure = go.Figure()
    line(figure, n, terms["value"], "the bound", ACCENT)
    line(figure, n, terms["first"], "first term", ACCENT, width=1.2, dash="dot")
    line(figure, n, terms["second"], "second term", QUIET, width=1.2, dash="dot")
    line(figure, n, np.full(len(n), bound.trivial), "certain anyway", WRONG_COLOUR, dash="dash")
    marker(figure, bound.n, bound.value, "here")
    charts.dress(figure, "The bound over the number of examples", "n, logarithmic", "difference of risks, logarithmic")
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", rangemode="normal", dtick=1)
    figure.update_layout(hovermode="closest")
    table = pd.DataFrame(
        {"n": n, "bound": terms["value"], "first term": terms["first"], "second term": terms["second"]}
    )
    return figure, table
