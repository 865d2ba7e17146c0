"""The ambiguity degree γ of the reader's own data, and what "small" means for it (Lemma learnable)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.candidates import CandidateSets
from pll.colors import ACCENT
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.synthesis.ambiguity import FEWEST_TRUE, LabelCooccurrence, examples_to_tell, label_cooccurrence
from pll.ui import charts
from pll.ui.format import plain
from pll.ui.learn.layout import IN_ADDRESS, formula, guess, line, marker
from pll.ui.learn.lesson_data import OF_DIGITS, LessonData, choose_source, digits, labels_of
from pll.ui.routes import nothing_yet
from pll.ui.widgets import choose, folded
from pll.wording import count, percent

BANDS = (5, 50, math.inf)
NEEDED_ANSWERS = ("5 or fewer", "6 to 50", "more than 50", "no number is enough")
DIGIT_FLIPS = {"binomial": "any wrong label, with probability q", "pair": "only the next class, with probability q"}


@st.fragment
def draw() -> None:
    words, figure = st.columns([4, 5], gap="large")
    with words:
        st.markdown(
            "In idea 3, all valleys were equally deep when every wrong label was always a candidate. The **ambiguity "
            "degree** γ measures how near a dataset is to that: the highest probability that a wrong label "
            "accompanies a true one."
        )
        formula(r"\gamma = \sup_{(X, Y),\; \bar Y \neq Y} \Pr(\bar Y \in S)")
        source = _choose()
        try:
            data = source.read()
            labels, estimated = labels_of(source, data)
        except UserError as error:
            st.warning(plain(error), icon=":material/info:")
            return
        cooccurrence = None if labels is None else label_cooccurrence(data.sets(), labels, estimated=estimated)
        if cooccurrence is None:
            sentence = (
                "The true labels are not known, and no run has identified any yet. Train on this data: γ can then be "
                "estimated from the identified labels."
            )
            nothing_yet(sentence, "info", "train", "Train on it")
            return
        answered = _ask(cooccurrence, data.sets())
    with figure:
        _show(cooccurrence, data, answered)


def _choose() -> LessonData:
    """Which data; for the digits, how their sets are made."""
    source = choose_source("learn-gamma-data")
    if source.key != OF_DIGITS:
        return source
    how = choose("Wrong labels of the digits", DIGIT_FLIPS, key="learn-gamma-how", **IN_ADDRESS)
    q = st.slider("q", 0.1, 1.0, 0.7, 0.1, key="learn-gamma-q", **IN_ADDRESS)
    return digits(q, how)


def _ask(cooccurrence: LabelCooccurrence, sets: CandidateSets) -> bool:
    """γ with its numbers, and the question what it means; whether that is answered."""
    truth, company = (sets.class_names[label] for label in cooccurrence.pair)
    k, m = cooccurrence.together
    low, high = cooccurrence.interval()
    if cooccurrence.is_estimated:
        st.markdown("**Estimated** from identified labels; the true ones are not known:")
    sign = r"\hat\gamma" if cooccurrence.is_estimated else r"\gamma"
    formula(rf"{sign} = \frac{{{k:,}}}{{{m:,}}} = \mathbf{{{cooccurrence.gamma:.3f}}}".replace(",", r"{,}"))
    label = "identified as" if cooccurrence.is_estimated else "truly"
    st.markdown(
        f"Of {count(m, 'example')} {label} **{truth}**, {k:,} have **{company}** among their candidates: the highest "
        f"share of all pairs. The highest of many is by chance above the true γ, which is {low:.2f} to {high:.2f} "
        "(95 % interval)."
    )
    if rare := int(cooccurrence.is_too_rare.sum()):
        st.caption(f"{count(rare, 'class', 'classes')} with fewer than {FEWEST_TRUE} examples do not count.")
    if cooccurrence.unlabelled:
        st.caption(f"{count(cooccurrence.unlabelled, 'example')} without a known label do not count.")
    needed = examples_to_tell(cooccurrence.gamma)
    is_answered = guess(
        "ambiguity",
        f"After how many examples of {truth} is the chance below 1 % that {company} was in every single set?",
        NEEDED_ANSWERS,
        lambda: 3 if math.isinf(needed) else int(np.searchsorted(BANDS, needed)),
    )
    if is_answered:
        st.markdown(_meaning(cooccurrence, truth, company))
    return is_answered


def _meaning(cooccurrence: LabelCooccurrence, truth: str, company: str) -> str:
    """What the condition γ < 1 says here, and what it does not."""
    needed = examples_to_tell(cooccurrence.gamma)
    if math.isinf(needed):
        return (
            f"**No number.** Every set of {truth} in this data also holds {company}: γ = 1, the condition γ < 1 is not "
            f"met, and no set of such an example can ever rule {company} out."
            + (" With so few examples this may be chance." if cooccurrence.together[1] < 20 else "")
        )
    text = (
        f"**{needed:,.0f}.** “Small” means only γ < 1. Then each example reveals an error with probability at least "
        f"1 − γ = {1 - cooccurrence.gamma:.2f} (paper, below Lemma 1), and the minimum of idea 2 is "
        "**classifier-consistent** (Theorem 1): with infinitely many examples, the classifier of least risk is the one "
        "that true labels give. "
        "Conditions: one certain true label for each instance, and cross-entropy or the squared error. The theorem "
        "does not say how many examples are enough; the nearer γ is to 1, the more."
    )
    if cooccurrence.is_estimated:
        text += (
            " An estimate can be too low: a wrong label that is *always* there may be identified as the true one, and "
            "is then not counted."
        )
    return text


def _show(cooccurrence: LabelCooccurrence, data: PartialLabelDataset, answered: bool) -> None:
    """The worst pairs; and, once somebody has guessed, γ^m over m and where the reader stands."""
    truth, company = (data.class_names[label] for label in cooccurrence.pair)
    rows = "Identified label" if cooccurrence.is_estimated else "True label"
    if answered:
        m = st.slider(f"Examples of {truth} that you have seen", 1, 60, 10, key="learn-gamma-m", **IN_ADDRESS)
        left = cooccurrence.gamma**m
        formula(rf"\gamma^{{m}} = {cooccurrence.gamma:.3f}^{{{m}}} = {left:.3g}")
        chart, table = _survival(cooccurrence.gamma, m, company)
        charts.show(
            chart,
            table,
            "learn-gamma",
            f"Probability that {company} was in all of m sets: {left:.3g} after {m}, for γ = {cooccurrence.gamma:.3f}",
        )
    else:
        st.markdown("**The most frequent wrong labels**")
        names = [plain(name) for name in data.class_names]
        worst = [(names[a], names[b], f"{k:,} of {m:,}", percent(k / m)) for a, b, k, m in cooccurrence.worst()]
        table = pd.DataFrame(worst, columns=[rows, "Has among its candidates", "Examples", "Share"])
        st.table(table, hide_index=True, border="horizontal", alt="Pairs of labels that occur together most often")
    if data.n_classes <= charts.MOST_LABELLED:
        folded("All pairs", _all_pairs, cooccurrence, data, rows.lower(), key="learn-gamma-all", icon="grid_on")
    st.caption(
        "The paper's γ is a supremum over *instances*; an example is seen with one set only, so what can be counted is "
        "the share within a class. Where wrong labels depend on the example and not only on its class, γ is at "
        "least that."
    )


def _all_pairs(cooccurrence: LabelCooccurrence, data: PartialLabelDataset, rows: str) -> None:
    """How often each label is a candidate, as a matrix."""
    shares, title = np.nan_to_num(cooccurrence.shares), "How often a label is a candidate"
    names, key = data.class_names, "learn-gamma-matrix"
    charts.show_matrix(lambda: shares, names, key, title=title, across="candidate", down=rows)


def _survival(gamma: float, m: int, company: str) -> tuple[go.Figure, pd.DataFrame]:
    """γ^m as a line; every set is taken as an independent draw."""
    at = np.arange(1, 61)
    chance = gamma**at * 100
    figure = go.Figure()
    line(figure, at, chance, "γᵐ", ACCENT)
    marker(figure, m, 100 * gamma**m, "you are here")
    charts.dress(figure, f"Chance that “{company}” was in every set so far", "examples seen, m", "chance, %")
    figure.update_layout(hovermode="closest", showlegend=False)
    figure.update_yaxes(range=[0, 103])
    return figure, pd.DataFrame({"m": at, "chance": chance / 100})
