"""Settings of a server: one table of environment variables, validated when the server starts.

`docs/server.md` shows this table; a test keeps the two together. Rooms that read a variable of their own (folders, the
database) read it where they use it; it is listed and checked here all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pll.errors import UserError, did_you_mean
from pll.runs.access import person_id


@dataclass(frozen=True)
class ServerSetting:
    """One environment variable.

    Attributes
    ----------
    name
        Of the variable.
    default
        Its text where it is not set; shown in the documentation.
    about
        What it does, in Markdown.
    parse
        Text → value; raises ValueError with what a value must be.
    """

    name: str
    default: str
    about: str
    parse: Callable[[str], Any] = str


def _tabs(text: str) -> int:
    with suppress(ValueError):
        if 0 <= (number := int(text)) <= 100_000:
            return number
    raise ValueError("a whole number from 0 to 100000")


def _form_of_log(text: str) -> str:
    if text not in ("text", "json"):
        raise ValueError("one of text, json")
    return text


def _people(text: str) -> frozenset[str]:
    people = frozenset(person_id(part) for part in text.split(",") if part.strip())
    if any(" " in one or not one.isprintable() for one in people):
        raise ValueError("addresses separated by commas")
    return people


def _origins(text: str) -> tuple[str, ...]:
    """The words of the header `frame-ancestors`."""
    if text in ("none", "self"):
        return (f"'{text}'",)
    origins = text.replace(",", " ").split()
    for origin in origins:
        url = urlsplit(origin)
        if url.scheme not in ("http", "https") or not url.netloc or url.path or set(origin) & set("';\"<>"):
            raise ValueError("`self`, `none`, or addresses such as https://moodle.example.org")
    return ("'self'", *origins)


SERVER_SETTINGS: tuple[ServerSetting, ...] = (
    ServerSetting("PLL_HOME", "~/.candid", "Folder of runs, uploads, the bin and the SQLite database."),
    ServerSetting("PLL_DATA", "", "Folder of downloaded datasets; by default `data` in `PLL_HOME`."),
    ServerSetting(
        "PLL_DATA_PATH",
        "",
        "Further folders to look for datasets in, separated by `:`. Everybody who uses the server may read them.",
    ),
    ServerSetting(
        "PLL_DATABASE_URL",
        "",
        "Where decisions are kept: `postgresql://user:password@host/name`; by default SQLite in `PLL_HOME`.",
    ),
    ServerSetting(
        "PLL_ADMINS",
        "",
        "Addresses of administrators, separated by commas: they may open, share and delete every run. Needs a login.",
        _people,
    ),
    ServerSetting(
        "PLL_MOST_SESSIONS",
        "200",
        "Open tabs at a time; whoever comes later gets a plain page. 0: as many as descriptors allow (three a tab).",
        _tabs,
    ),
    ServerSetting("PLL_LOG", "text", "Form of the log on stderr: `text` or `json`.", _form_of_log),
    ServerSetting(
        "PLL_FRAME_ANCESTORS",
        "self",
        "Pages of which addresses may show Candid in a frame: `self`, `none`, or a list such as `https://moodle.example.org`.",
        _origins,
    ),
)
BY_NAME: Mapping[str, ServerSetting] = {setting.name: setting for setting in SERVER_SETTINGS}
OF_TESTS = ("PLL_TEST_",)
"""Beginnings of variables that only tests read."""


def setting(name: str) -> Any:
    """Return the value of a setting.

    Raises
    ------
    UserError
        The variable has a value that cannot be meant; it is named.
    """
    entry = BY_NAME[name]
    text = os.environ.get(name, "").strip() or entry.default
    try:
        return entry.parse(text)
    except ValueError as error:
        raise UserError(f"{name} is {text!r}; it must be {error}. See docs/server.md.") from error


def check_settings() -> list[str]:
    """Check every setting; return warnings on variables that no setting reads.

    Raises
    ------
    UserError
        a value that cannot be meant.
    """
    for entry in SERVER_SETTINGS:
        setting(entry.name)
    warnings = []
    for name in os.environ:
        if name.startswith("PLL_") and name not in BY_NAME and not name.startswith(OF_TESTS):
            warnings.append(f"{name} is no setting of Candid.{did_you_mean(name, BY_NAME)}")
    return warnings
