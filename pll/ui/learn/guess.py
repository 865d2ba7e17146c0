"""Multiple-choice questions that are asked before a figure shows its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pll.ui.learn import sharing

REVEALED, GUESSED_RIGHT = "revealed", "Right."


def guess(name: str, question: str, options: Sequence[str], answer: Callable[[], int]) -> bool:
    """Asks; returns whether the figure may show the outcome: somebody has guessed, or asked to be shown.

    `answer` computes which of the options is right for the settings as they are. It is called at the moment of the
    guess, so that the verdict is about what the reader had before them; moving a slider afterwards does not judge a
    second time.
    """
    key = f"learn-guess-{name}"

    def judge() -> None:
        choice = st.session_state[f"{key}-choice"]
        right = answer()
        sharing.record(name, question, choice, options[right])
        st.session_state[key] = (
            GUESSED_RIGHT if choice == options[right] else f"You guessed “{choice}”. It is: {options[right]}."
        )

    def forget() -> None:
        st.session_state.pop(key, None)
        st.session_state.pop(f"{key}-choice", None)

    verdict = st.session_state.get(key)
    with st.container(border=True, gap="small"):
        if verdict is None:
            st.markdown(f":material/help: **{question}**")
            st.radio(
                "Your guess",
                list(options),
                index=None,
                key=f"{key}-choice",
                on_change=judge,
                label_visibility="collapsed",
            )
            st.button(
                "Show the answer",
                key=f"{key}-show",
                on_click=st.session_state.__setitem__,
                args=(key, REVEALED),
                type="tertiary",
            )
            return False
        label = f":material/help: **{question}**"
        if verdict != REVEALED:
            icon = ":material/check_circle:" if verdict == GUESSED_RIGHT else ":material/lightbulb:"
            label += f"\n\n{icon} {verdict}"
        st.markdown(label)
        st.button("Ask again", key=f"{key}-again", on_click=forget, type="tertiary", icon=":material/replay:")
    return True
