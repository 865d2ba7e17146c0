"""Ideas of the Learn page that run in the browser, by the scripts of the lesson."""

from __future__ import annotations

import re

import streamlit as st

from pll.ui.components.component import register
from pll.ui.learn.layout import CHAPTERS
from pll.ui.learn.lesson_files import LESSON_FOLDER, LESSON_PARTS, lesson_data
from pll.ui.routes import link

SETTINGS_PART = "settings"
"""The part of the address that holds what the reader has set in these ideas."""
LESSON_KEY = "learn-in-browser"
_MEANT = re.compile(r"[\w.,=&%+-]{0,1500}")
_lesson = register(LESSON_FOLDER.with_name("learn"), '<div class="lesson"></div>', shared=LESSON_PARTS)


@st.fragment
def draw(name: str) -> None:
    """One idea: the browser shows it, and tells of settings."""
    data = {"idea": name, "settings": st.query_params.get(SETTINGS_PART, ""), "lesson": lesson_data()}
    _lesson(key=LESSON_KEY, data=data, on_settings_change=_remember)
    if name in ("together", "jin"):
        link("compare", "Compare the methods on real data")
    if name == list(CHAPTERS)[-1]:
        link("data", "Try your own data")


def _remember() -> None:
    """Put what the reader has set into the address."""
    state = st.session_state[LESSON_KEY].get("settings")
    if isinstance(state, str) and _MEANT.fullmatch(state):
        if state:
            st.query_params[SETTINGS_PART] = state
        else:
            st.query_params.pop(SETTINGS_PART, None)
