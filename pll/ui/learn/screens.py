"""Screens of the Learn page: one idea at a time, by keys, buttons and links."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from pll.ui.components.component import register
from pll.ui.learn.layout import CHAPTERS, IDEA
from pll.ui.learn.lesson_files import LESSON_FOLDER, LESSON_PARTS, lesson_data, lesson_zip
from pll.ui.routes import address, link
from pll.ui.widgets import beside, bound, button, download, popover

_KEY = "learn-screens"
_keys = register(Path(__file__))


def current() -> str:
    """The idea in view: of the address, else the one this tab showed last, else the first."""
    idea, before = st.query_params.get(IDEA, ""), st.session_state.get(_KEY + "-last")
    if idea not in CHAPTERS and before is not None:
        idea = st.query_params[IDEA] = before
    elif idea not in CHAPTERS:
        idea = next(iter(CHAPTERS))
    st.session_state[_KEY + "-last"] = idea
    return idea


def _go_to(name: str) -> None:
    """Show another idea."""
    st.session_state[_KEY + "-last"] = name
    st.query_params[IDEA] = name


def bar(name: str) -> None:
    """Where one is, and the ways to other ideas."""
    names = list(CHAPTERS)
    at = names.index(name)
    with beside():
        before, after = names[max(at - 1, 0)], names[min(at + 1, len(names) - 1)]
        button("Back", _go_to, before, icon="arrow_back", key="learn-back", disabled=at == 0)
        button("Next", _go_to, after, icon="arrow_forward", key="learn-next", disabled=after == name, kind="primary")
        bound(
            st.selectbox,
            "Idea",
            {one: f"{k} of {len(names)} · {title}" for k, (one, title) in enumerate(CHAPTERS.items(), 1)},
            key="learn-idea",
            now=name,
            change=_go_to,
            label_visibility="collapsed",
            width=420,
        )
        popover("Share", _share, name, key="learn-share", icon="share", kind="secondary")
    st.progress((at + 1) / len(names))


def _share(name: str) -> None:
    """A link to the screen of an idea, with what is set there; and the lesson as a folder."""
    st.markdown("**Link to this screen** with its settings")
    query = urlencode(st.query_params.to_dict() | {IDEA: name})
    st.code(f"{address('learn')}?{query}", language=None, wrap_lines=True)
    hint = "A folder with all ideas that need no server. It opens by a double click, offline, on a phone too."
    file, key = "candid-lesson.zip", "learn-download"
    download("Download the lesson", lesson_zip, file, key=key, icon="folder_zip", help=hint)


def keys(name: str) -> None:
    """The arrow keys; at the end of the page, where they take no room."""

    def pressed() -> None:
        target = st.session_state[_KEY].get("go")
        if target in CHAPTERS:
            _go_to(target)

    _keys(key=_KEY, data={"names": list(CHAPTERS), "at": name}, on_go_change=pressed)


# ---- ideas that run in the browser -----------------------------------------------------------------------------------


SETTINGS_PART = "settings"
"""The part of the address that holds what the reader has set in these ideas."""
LESSON_KEY = "learn-in-browser"
_MEANT = re.compile(r"[\w.,=&%+-]{0,1500}")
_lesson = register(LESSON_FOLDER.with_name("learn"), '<div class="lesson"></div>', shared=LESSON_PARTS)


@st.fragment
def in_browser(name: str) -> None:
    """One idea: the browser shows it, and tells of settings."""
    if st.session_state[_KEY + "-last"] != name:  # a key pressed just when it told of them asked for the other idea
        st.rerun()
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
