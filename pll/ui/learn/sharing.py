"""A lesson shared by a teacher: its link, the guesses of the students, and who may see them."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from pll.export.spreadsheet import is_formula
from pll.review.database import Database
from pll.runs.process import PerProcess
from pll.ui import charts, login
from pll.ui.downloads import download
from pll.ui.error_messages import toast_errors
from pll.ui.format import count
from pll.ui.learn.layout import CHAPTERS, IDEA
from pll.ui.learn.lesson_files import lesson_zip
from pll.ui.learn.lessons import LONGEST_NAME, Guess, Lessons, guess_rows
from pll.ui.routes import address
from pll.wording import percent

LESSON_PART, RESULTS_PART = "lesson", "guesses"
"""Parts of the address: of a student's link the id of the lesson, of the teacher's its key."""
GUESSES_REFRESH = 3.0
"""Seconds between two looks at the guesses of a class."""
_lessons = PerProcess(lambda: Lessons(Database()))


# ---- the teacher -----------------------------------------------------------------------------------------------------


def popover(idea: str) -> None:
    """Links to the screen of an idea: a plain one, and one that collects guesses; and the lesson as a folder."""
    box = st.popover("Share", icon=":material/share:", key="learn-share", on_change="rerun")
    if not box.open:  # a closed one costs nothing
        return
    with box:
        st.markdown("**Link to this screen** with its settings")
        st.code(_link(**{IDEA: idea}), language=None, wrap_lines=True)
        hint = "A folder with all ideas that need no server. It opens by a double click, offline, on a phone too."
        name, key = "candid-lesson.zip", "learn-download"
        download("Download the lesson", lesson_zip, name, key=key, icon="folder_zip", help=hint)
        made = st.session_state.get("learn-shared")
        if made is None:
            st.button(
                "Collect guesses",
                key="learn-collect",
                icon=":material/how_to_vote:",
                on_click=_share,
                help="Makes a link for your class. What students guess is sent to you; names are optional.",
            )
            return
        lesson, key = made
        st.markdown("**Link for your class**")
        st.code(_link(**{IDEA: idea, LESSON_PART: lesson}), language=None, wrap_lines=True)
        st.markdown("**Your link to the guesses.** Keep it: only this link shows them.")
        st.code(f"{address('learn')}?{urlencode({RESULTS_PART: key})}", language=None, wrap_lines=True)
        st.button("Show guesses", key="learn-results", icon=":material/table:", on_click=_look_at, args=(key,))


def _link(**more: str) -> str:
    parameters = {name: value for name, value in st.query_params.items() if name not in (LESSON_PART, RESULTS_PART)}
    query = urlencode(parameters | more)
    return address("learn") + (f"?{query}" if query else "")


@toast_errors
def _share() -> None:
    st.session_state["learn-shared"] = _lessons().share(_person())


def _look_at(key: str) -> None:
    st.query_params[RESULTS_PART] = key


def _person() -> str:
    person = login.person()
    return "" if person is None else person.id


def results(key: str) -> None:
    """The guesses of a class, refreshed while they come in; UserError for all but the teacher who shared the lesson."""
    lesson = _lessons().of_key(key, _person())
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title("Guesses of your class", anchor=False, width="content")
        with st.container(horizontal=True, width="content"):
            st.button("Back to the lesson", icon=":material/arrow_back:", key="learn-results-back", on_click=_leave)
            with st.popover("Delete", icon=":material/delete:", type="tertiary"):
                st.markdown("Deletes this lesson with all guesses. This cannot be undone.")
                st.button("Delete", type="primary", key="learn-results-delete", on_click=_delete, args=(lesson,))
    st.fragment(lambda: _show(lesson), run_every=GUESSES_REFRESH)()


def _leave() -> None:
    st.query_params.pop(RESULTS_PART, None)


def _delete(lesson: str) -> None:
    _lessons().delete(lesson)
    st.session_state.pop("learn-shared", None)
    _leave()


def _show(lesson: str) -> None:
    guesses = _lessons().guesses(lesson)
    if not guesses:
        st.info("No guesses yet. Give your class the link under *Share*.", icon=":material/hourglass_empty:")
        return
    students = len({one.student for one in guesses})
    st.caption(f"{count(len(guesses), 'guess', 'guesses')} of {count(students, 'student')}. First guesses count.")
    st.dataframe(summary(guesses), hide_index=True, key="learn-results-summary", alt="Guesses by question")
    st.dataframe(answers(guesses), hide_index=True, key="learn-results-answers", alt="How often each answer was given")
    charts.csv_button(lambda: table(guesses), "candid-guesses.csv", key="learn-results-csv", label="All guesses as CSV")


def first_guesses(guesses: Sequence[Guess]) -> list[Guess]:
    """The first guess of each student at each idea."""
    first: dict[tuple[str, str], Guess] = {}
    for one in guesses:
        first.setdefault((one.student, one.idea), one)
    return list(first.values())


def summary(guesses: Sequence[Guess]) -> pd.DataFrame:
    """How many students answered the question of each idea, and how many were right at first."""
    first = first_guesses(guesses)
    rows = []
    for number, (idea, title) in enumerate(CHAPTERS.items(), start=1):
        own = [one for one in first if one.idea == idea]
        right = sum(one.is_right for one in own)
        if own:
            share = f"{right} of {len(own)} ({percent(right / len(own), 0)})"
            rows.append({"Idea": f"{number} · {title}", "Students": len(own), "Right": share})
    return pd.DataFrame(rows)


def answers(guesses: Sequence[Guess]) -> pd.DataFrame:
    """How often each answer was given at first."""
    counted = Counter((one.idea, one.choice) for one in first_guesses(guesses))
    place = {idea: number for number, idea in enumerate(CHAPTERS)}
    ordered = sorted(counted.items(), key=lambda pair: place.get(pair[0][0], len(place)))
    rows = [(CHAPTERS.get(idea, idea), choice, students) for (idea, choice), students in ordered]
    return pd.DataFrame(rows, columns=["Idea", "Guess", "Students"])


def table(guesses: Sequence[Guess]) -> pd.DataFrame:
    """All guesses as the file has them; a name that a spreadsheet would execute has an apostrophe in front."""
    frame = pd.DataFrame(guess_rows(guesses))
    texts = frame.select_dtypes(exclude="number").columns
    frame[texts] = frame[texts].map(lambda cell: f"'{cell}" if is_formula(cell) else cell)
    return frame


# ---- a student -------------------------------------------------------------------------------------------------------


def greet() -> None:
    """Tell students that their guesses are collected, and ask for a name that may be left out."""
    lesson = _lesson_in_view()
    if not lesson:
        return
    if not st.session_state.get(f"learn-lesson-{lesson}"):  # looked up once a tab
        if not _lessons().exists(lesson):
            st.caption(":material/link_off: This lesson no longer collects guesses. Everything else works.")
            return
        st.session_state[f"learn-lesson-{lesson}"] = True
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(":material/how_to_vote: Your guesses are sent to your teacher.", width="content")
        st.text_input(
            "Your name",
            key="learn-name",
            max_chars=LONGEST_NAME,
            placeholder="Name (optional)",
            label_visibility="collapsed",
            persist_state="session",
            width=200,
        )


def _lesson_in_view() -> str:
    """The id of the lesson whose link this tab has opened; "" for none."""
    lesson = st.query_params.get(LESSON_PART) or st.session_state.get("learn-lesson", "")
    st.session_state["learn-lesson"] = lesson
    return str(lesson)


@toast_errors
def record(idea: str, question: str, choice: str, answer: str) -> None:
    """Send a guess to the teacher, where a shared lesson was opened; a failure is said and disturbs nothing."""
    lesson = _lesson_in_view()
    if not lesson or not st.session_state.get(f"learn-lesson-{lesson}"):
        return
    student = st.session_state.setdefault("learn-student", secrets.token_hex(8))
    name = login.clean(str(st.session_state.get("learn-name") or ""), LONGEST_NAME)
    _lessons().add(lesson, student, name, idea, question, choice, answer)
