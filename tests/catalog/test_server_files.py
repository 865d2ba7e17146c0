"""Paths of the server that a browser may name: only those in allowed folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from pll.catalog.server_files import allowed_folders, offered, on_server
from pll.errors import UserError


@pytest.fixture
def allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An allowed folder with a file in it, beside one that is not."""
    folder = tmp_path / "allowed"
    (folder / "deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "a.csv").write_text("id,candidates\n1,x|y\n")
    (folder / "deep" / "b.npz").write_bytes(b"PK")
    (folder / "notes.pdf").write_bytes(b"%PDF")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "passwords.csv").write_text("id,candidates\n1,hush\n")
    monkeypatch.setenv("PLL_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PLL_DATA_PATH", str(folder))
    return folder


def test_files_inside_are_found_by_absolute_and_relative_paths(allowed: Path) -> None:
    for text in ("a.csv", str(allowed / "a.csv"), " a.csv "):
        source = on_server(text)
        assert (source.name, source.path) == ("a.csv", str(allowed / "a.csv"))
    assert on_server("deep/b.npz").name == "b.npz"
    assert allowed_folders() == [allowed]
    assert offered() == [str(allowed / "a.csv"), str(allowed / "deep" / "b.npz")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Give the path"),
        ("b.csv", "There is no file b.csv in"),
        ("../secret/passwords.csv", "leads out of its folder by '..'"),
        ("deep/../../secret/passwords.csv", "leads out of its folder by '..'"),
        ("/etc/passwd", "/etc/passwd is not in an allowed folder"),
        ("/etc/nothing-like-this", "is not in an allowed folder"),  # nor is it said whether it is there
        ("a.csv\0", "NUL"),
        ("empty", "neither a file nor a folder of pictures"),
    ],
)
def test_everything_else_is_refused_with_the_remedy(allowed: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        on_server(text)
    assert said in str(caught.value)
    if "allowed folder" in said:
        assert str(allowed) in str(caught.value)


def test_links_are_followed_and_judged_by_where_they_lead(allowed: Path) -> None:
    (allowed / "out.csv").symlink_to(allowed.parent / "secret" / "passwords.csv")
    (allowed / "dir").symlink_to(allowed.parent / "secret")
    (allowed / "in.csv").symlink_to(allowed / "a.csv")
    (allowed / "round").symlink_to(allowed / "round")
    for text in ("out.csv", str(allowed / "out.csv"), "dir/passwords.csv"):
        with pytest.raises(UserError, match="a link that leads out of the allowed folders"):
            on_server(text)
    with pytest.raises(UserError, match="There is no file round"):
        on_server("round")
    assert on_server("in.csv").path == str(allowed / "a.csv")
    assert not any("out.csv" in path or "passwords" in path for path in offered())


def test_an_allowed_folder_may_itself_be_a_link(allowed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = allowed.parent / "link"
    link.symlink_to(allowed)
    monkeypatch.setenv("PLL_DATA_PATH", str(link))
    assert on_server(str(link / "a.csv")).path == on_server("a.csv").path == str(allowed / "a.csv")
