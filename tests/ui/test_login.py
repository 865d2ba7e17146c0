"""Who has logged in, as the provider tells it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from pll.runs.access import Person
from pll.ui import login
from pll.ui.review.reviewer import Reviewer, reviewer


class User(dict[str, Any]):
    is_logged_in = True


@pytest.fixture
def secrets(tmp_path: Path) -> Iterator[Any]:
    """`secrets(text)` is the content of secrets.toml."""

    def write(text: str) -> None:
        (tmp_path / "secrets.toml").write_text(text)
        st.config.set_option("secrets.files", [str(tmp_path / "secrets.toml")])
        st.secrets._reset()  # what it has read before

    yield write
    st.config.set_option("secrets.files", [])
    st.secrets._reset()


def test_login_is_set_up_by_secrets(secrets: Any) -> None:
    assert not login.login_is_set_up() and login.person() is None
    secrets('[auth]\nredirect_uri = "http://localhost/oauth2callback"\n')
    assert login.login_is_set_up()
    assert login.person() == Person("")  # nobody yet, who may open nothing


def test_a_login_gives_a_verified_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "login_is_set_up", lambda: True)
    monkeypatch.setattr(st, "user", User(email="Ada@example.org"))
    assert reviewer() == Reviewer("Ada@example.org", verified=True)
    monkeypatch.setattr(st, "user", User())  # a provider that says nothing of its users
    assert reviewer() is None


def test_administrators_are_named_in_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "login_is_set_up", lambda: True)
    monkeypatch.setenv("PLL_ADMINS", "ada@example.org, root@example.org")
    for claims, is_admin in (
        ({"email": "ADA@example.org"}, True),
        ({"email": "ada@example.org", "email_verified": False, "sub": "1"}, False),  # anybody could say so
        ({"sub": "ada@example.org", "iss": ""}, False),
        ({}, False),
    ):
        monkeypatch.setattr(st, "user", User(claims))
        known = login.person()
        assert known is not None and known.is_admin == is_admin
