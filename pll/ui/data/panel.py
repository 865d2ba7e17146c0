"""Details of the Data page on several voters together: a model among people, what all are worth."""

from __future__ import annotations

import re

import pandas as pd
import streamlit as st

from pll.annotations import Annotations
from pll.annotations.agreement import Agreement
from pll.annotations.alternative import EPSILONS, AlternativeTest, alternative_annotator_test
from pll.annotations.independence import worth_of_votes
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.ui.format import plain

LEAST_KAPPA = 0.2
"""Fleiss' kappa below which a group has no opinion that somebody could stand in for."""
LIKE_A_MODEL = re.compile(
    r"gpt|claude|gemini|gemma|llama|mi[sx]tral|qwen|deepseek|grok|bert|clip|\bphi|\bllm|model|\bbot", re.IGNORECASE
)
"""Names that are proposed as that of a model."""


def show(key: str, data: PartialLabelDataset, agreed: Agreement) -> None:
    """Put both on the page, where the data has what they need.

    Parameters
    ----------
    key
        The same for the same data: what is computed is kept by it.
    data
        Data with annotations.
    agreed
        How far the voters agree.
    """
    annotations = data.annotations
    assert annotations is not None
    worth = worth_of_votes(annotations, data.y)
    if worth is not None:
        st.markdown("**What the answers are worth together**")
        st.text(worth.sentence)
    people = [name for name in annotations.annotator_names if not LIKE_A_MODEL.search(name)]
    if annotations.n_annotators > 2 and len(people) > 1:
        st.markdown("**May a model stand in for people?**")
        _stand_in(key, annotations, agreed.kappa.value)


def _stand_in(key: str, annotations: Annotations, kappa: float | None) -> None:
    names = annotations.annotator_names
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
    st.dataframe(
        _stand_in_frame(result),
        hide_index=True,
        key="stand-in-table",
        column_config={
            name: st.column_config.NumberColumn(format="percent") for name in ("model as good", "person as good")
        },
        alt="For each person: examples compared, how often the model agrees as well with the rest, and the reverse",
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _tested(key: str, model: str, epsilon: float, _annotations: Annotations) -> AlternativeTest:
    """The test of a model against all who are not named like one."""
    people = [name for name in _annotations.annotator_names if name != model and not LIKE_A_MODEL.search(name)]
    return alternative_annotator_test(_annotations, model, people=people, epsilon=epsilon)


def _stand_in_frame(result: AlternativeTest) -> pd.DataFrame:
    """A row for each person compared."""
    return pd.DataFrame(
        {
            "voter": [one.name for one in result.table],
            "examples": [one.rows for one in result.table],
            "model as good": [one.advantage for one in result.table],
            "person as good": [one.annotator_advantage for one in result.table],
            "won by": ["the model" if one.wins else "the person, or not clear" for one in result.table],
        }
    )
