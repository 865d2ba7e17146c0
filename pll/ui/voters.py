"""Voters on the pages: how far they agree, what each is worth, two who disagree, a model among people."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from pll.annotations import Annotations, rule_table
from pll.annotations.agreement import (
    ENOUGH_ROWS,
    Agreement,
    Figure,
    Pair,
    agreement,
    confusion_of_two,
    disagreeing_pairs,
    sentence_of_two,
)
from pll.annotations.alternative import EPSILONS, AlternativeTest, alternative_annotator_test
from pll.annotations.independence import worth_of_votes
from pll.annotations.voters import LEAST_CHECKED, fit_voters, voter_cards
from pll.errors import UserError
from pll.formats.names import LIKE_A_MODEL
from pll.runs.data import can_be_weighed
from pll.ui.format import plain
from pll.ui.widgets import ShownFigure, choose, show_figures, show_table
from pll.wording import percent, short_by_name

MOST_FITTED = 10**6
"""Examples × classes up to which the voter models are fitted while one waits."""
LEAST_KAPPA = 0.2
"""Fleiss' kappa below which a group has no opinion that somebody could stand in for."""
MODEL_WINS, PERSON_WINS = "the model", "the person, or not clear"
WEIGHTED_WORDS = "named by anybody, weighted by everybody's accuracy"
TABLE_WORDS = {
    "meaning": "a label is possible where",
    "rows": "examples",
    "mean_candidates": "labels each",
    "fallback": "no label meets it",
    "truth_inside": "truth inside",
}
MOST_PAIRS = 50
"""Pairs to choose from, those who differ most."""
MOST_SHOWN_WHOLE = 12
"""Classes up to which all of the confusion table is shown; of more, its largest cells."""
LARGEST_CELLS = 20


@st.cache_resource(max_entries=8, show_spinner=False)
def of_data(key: str, _annotations: Annotations) -> Agreement:
    """Agreement of the annotations of data with this key, computed once."""
    return agreement(_annotations)


def show_agreement(agreed: Agreement) -> None:
    """Show how far they agree, in three figures."""
    figures = {
        "Agreement of two": (agreed.percent, "{:.1%}", "How often two of them give an example the same label."),
        "Fleiss' kappa": (agreed.kappa, "{:.2f}", "Agreement beyond chance: 1 is full, 0 is none."),
        "Krippendorff's alpha": (agreed.alpha, "{:.2f}", "The same for answers of several labels (MASI distance)."),
    }
    shown = []
    for label, (figure, form, hint) in figures.items():
        if agreed.rows < ENOUGH_ROWS and figure is not agreed.percent:
            hint = f"{hint} Shown from {ENOUGH_ROWS} examples with two answers."
            figure = Figure(None)
        value = "–" if figure.value is None else form.format(figure.value).replace("%", " %")
        shown.append(ShownFigure(label, value, f"{hint} {plain(figure.reason or '')}".strip()))
    show_figures(shown, width=160)


@st.cache_resource(max_entries=8, show_spinner=False)
def pairs_of(key: str, _annotations: Annotations | None) -> dict[Pair, str]:
    """The pairs of voters of data with this key who differ somewhere, with both names, and on how many examples.

    None where nobody knows who voted.
    """
    if _annotations is None or _annotations.anonymous:
        return {}
    names = _annotations.annotator_names
    pairs = disagreeing_pairs(_annotations)[:MOST_PAIRS]
    return {pair: f"{names[pair.first]} ↔ {names[pair.second]} ({pair.differing:,})" for pair in pairs}


def show_details(key: str, annotations: Annotations, y: npt.NDArray[np.int64] | None, agreed: Agreement) -> None:
    """Show how far the voters agree, what each rule would leave, and what each of several voters is worth.

    Parameters
    ----------
    key
        The same for the same data: what is computed is kept by it.
    annotations
        Everybody's answers.
    y
        (n,) true labels, −1 where unknown; None where none is known.
    agreed
        How far the voters agree.
    """
    show_agreement(agreed)
    st.markdown("**What each rule leaves**")
    table = _rules(key, annotations, y)
    if can_be_weighed(annotations):  # as the union, and likely labels that nobody named are added in training
        table = pd.concat([table.iloc[[0]].assign(**{TABLE_WORDS["meaning"]: WEIGHTED_WORDS}), table])
    alt = "For each rule: examples, labels each, and examples by number of labels"
    show_table(table, alt, formats={"labels each": "%.2f", "truth inside": "percent"}, key="rules")
    if annotations.n_annotators < 2 or not can_be_judged(annotations):
        return
    with st.spinner("Comparing the voters…"):
        cards = voter_table(key, annotations, y)
    st.markdown("**Who said what**")
    counted, many = "Accuracy is counted on the labels that are known.", f"{LEAST_CHECKED} known labels"
    estimated = "Accuracy is estimated from agreement alone; voters that share mistakes look better than they are."
    estimated += f" With {many} of examples chosen at random it is counted, with an interval."
    st.caption(counted if bool((cards["counted on"] > 0).all()) else estimated)
    show_voters(cards)
    show_worth(annotations, y)
    _stand_in(key, annotations, agreed.kappa.value)
    _show_two(key, annotations)


def can_be_judged(annotations: Annotations) -> bool:
    """Whether it is known who answered, and the voter models are fitted while one waits."""
    return can_be_weighed(annotations) and annotations.n_rows * annotations.n_classes <= MOST_FITTED


def show_voters(table: pd.DataFrame) -> None:
    """Put the table of `voter_table` on the page."""
    counted = bool((table["counted on"] > 0).any())
    hint = "Estimated from how the voters agree and from known labels, also where the accuracy is counted."
    show_table(
        table if counted else table.drop(columns=["95 % interval", "counted on"]),
        "For each voter: answers, accuracy and most frequent confusion",
        formats={"accuracy": "%.1f %%"},
        config={
            "voter": st.column_config.TextColumn(width="medium"),
            "confuses": st.column_config.TextColumn(help=hint),
        },
        key="voters",
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def voter_table(
    key: str,
    _annotations: Annotations,
    _y: npt.NDArray[np.int64] | None,
    _counted: npt.NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """A row for each annotator.

    `_y` (n,) are labels of the data or of a review, `ALL_WRONG` where everybody is wrong, −1 elsewhere; accuracy is
    counted on `_counted` of them, random ones say, where not on all.
    """
    models = fit_voters(_annotations, true_labels=_y)
    cards = voter_cards(models, _y if _counted is None else _counted)
    short = short_by_name(_annotations.class_names)
    rows = []
    for card in cards:
        interval = f"{percent(card.low)} – {percent(card.high)}" if card.checked else ""
        shares = [f"{short[true]} → {short[voted]} ({percent(share, 0)})" for true, voted, share in card.confusions[:2]]
        rows.append((card.name, card.answers, 100 * card.accuracy, interval, card.checked, "; ".join(shares)))
    return pd.DataFrame(rows, columns=["voter", "answers", "accuracy", "95 % interval", "counted on", "confuses"])


@st.cache_resource(max_entries=8, show_spinner=False)
def _rules(key: str, _annotations: Annotations, _y: npt.NDArray[np.int64] | None) -> pd.DataFrame:
    """`rule_table` with columns as a person reads them: examples by how many labels they have."""
    table = rule_table(_annotations, y=_y).drop(columns="rule").rename(columns=TABLE_WORDS)
    sizes = {name: f"{name} label{'s' * (name != '1')}" for name in map(str, table) if name[0].isdigit()}
    return table.rename(columns=sizes)


# ---- what they are worth together, and a model among people ----------------------------------------------------------


def show_worth(annotations: Annotations, y: npt.NDArray[np.int64] | None) -> None:
    """Say what the answers are worth together, where truth tells.

    Parameters
    ----------
    annotations
        Everybody's answers.
    y
        (n,) true labels, `ALL_WRONG` where everybody is wrong, −1 where unknown; None where none is known.
    """
    worth = worth_of_votes(annotations, y)
    if worth is not None:
        st.markdown("**What the answers are worth together**")
        st.text(worth.sentence)


def _stand_in(key: str, annotations: Annotations, kappa: float | None) -> None:
    """Whether a model may stand in for people, where there are two of them and somebody else."""
    names = annotations.annotator_names
    if len(names) < 3 or sum(not LIKE_A_MODEL.search(name) for name in names) < 2:
        return
    st.markdown("**May a model stand in for people?**")
    models = [name for name in names if LIKE_A_MODEL.search(name)]
    with st.container(horizontal=True):
        model = st.selectbox(
            "Model",
            names,
            index=names.index(models[0]) if models else None,
            placeholder="Which of them is a model?",
            key=f"stand-in-{key}",
            width=300,
        )
        who = st.selectbox(
            "The others are",
            list(EPSILONS),
            index=1,
            key=f"stand-in-for-{key}",
            help="Experts cost more than crowd workers, so that a model may be a little further behind them: by less "
            "than 20, 15 or 10 of 100 examples.",
            width=220,
        )
    if model is None:
        return
    try:
        result = _tested(key, model, EPSILONS[who], annotations)
    except UserError as error:
        st.caption(plain(error))
        return
    st.text(result.sentence)
    if kappa is not None and kappa < LEAST_KAPPA:
        st.warning("They hardly agree more than by chance; then any model may stand in.", icon=":material/warning:")
    few = f" Not compared, with fewer examples: {', '.join(result.left_out)}." if result.left_out else ""
    st.caption(
        "Each person in turn is compared with the model by who agrees better with the other people. A win counts where "
        f"it is not chance, all people taken together.{plain(few)}"
    )
    columns = ["voter", "examples", "model as good", "person as good", "won by"]
    rows = [
        (one.name, one.rows, one.advantage, one.annotator_advantage, MODEL_WINS if one.wins else PERSON_WINS)
        for one in result.table
    ]
    alt = "For each person: examples compared, how often the model agrees as well with the rest, and the reverse"
    formats = dict.fromkeys(columns[2:4], "percent")
    show_table(pd.DataFrame(rows, columns=columns), alt, formats=formats, key="stand-in-table")


@st.cache_resource(max_entries=8, show_spinner=False)
def _tested(key: str, model: str, epsilon: float, _annotations: Annotations) -> AlternativeTest:
    """The test of a model against all who are not named like one."""
    people = [name for name in _annotations.annotator_names if name != model and not LIKE_A_MODEL.search(name)]
    return alternative_annotator_test(_annotations, model, people=people, epsilon=epsilon)


# ---- two who disagree ------------------------------------------------------------------------------------------------


def _show_two(key: str, annotations: Annotations) -> None:
    """Let two voters who disagree be chosen, and show how they differ: the confusion table of data with this key.

    Parameters
    ----------
    key
        The same for the same data: what is computed is kept by it.
    annotations
        Everybody's answers.
    """
    pairs = pairs_of(key, annotations)
    if not pairs:
        return
    st.markdown("**Where two of them disagree**")
    pair: Pair = choose("Two voters", pairs, key=f"pair-{key}", width=420)
    st.text(sentence_of_two(annotations, pair.first, pair.second))
    alt = "How often the first of the two gave each label where the second gave another"
    frame = confusion_frame(annotations, pair)
    show_table(frame, alt, names=list(frame), key="confusion")


def confusion_frame(annotations: Annotations, pair: Pair) -> pd.DataFrame:
    """The confusion table of two voters: a column for each label of the second; of many classes the largest cells.

    Parameters
    ----------
    annotations
        Everybody's answers.
    pair
        The two.
    """
    table = confusion_of_two(annotations, pair.first, pair.second)
    first, second = (annotations.annotator_names[who] for who in (pair.first, pair.second))
    names = np.array(annotations.class_names)
    if len(names) <= MOST_SHOWN_WHOLE:
        frame = pd.DataFrame(np.round(table, 2), columns=list(names))
        frame.insert(0, f"{first} ↓ {second} →", names)
        return frame
    np.fill_diagonal(table, 0.0)
    k, j = np.divmod(np.argsort(-table, axis=None, kind="stable")[:LARGEST_CELLS], len(names))
    cells = table[k, j] > 0
    said = {f"{first} said": names[k], f"{second} said": names[j], "examples": table[k, j]}
    return pd.DataFrame(said)[cells]
