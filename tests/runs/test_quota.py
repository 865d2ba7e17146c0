"""Quotas of what people hold, and what removes it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from pll.catalog.sources import Source
from pll.cli.main import cli
from pll.errors import UserError
from pll.runs import cleanup
from pll.runs.access import Access, Person, write_access
from pll.runs.cleanup import clean_if_due
from pll.runs.config import RunConfig
from pll.runs.folder import list_runs
from pll.runs.personal import PersonalRegistry
from pll.runs.quota import Held, check_quota, format_bytes, held_by_person, standings, uploads_key
from pll.runs.registry import RunRegistry
from pll.runs.settings import check_settings, setting
from pll.synthesis import Flip

MB = 10**6
ADA, BOB = Person("ada@example.org"), Person("bob@example.org")
IRIS = RunConfig(Source("iris"), params={"epochs": 2}, flip=Flip("binomial", 0.3))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """3 MB of Ada's, 2 of Bob's, 1 of nobody's."""
    monkeypatch.setenv("PLL_HOME", str(tmp_path))
    for path, megabytes, owner in (
        ("runs/a", 1, ADA.id),
        ("bin/b", 1, ADA.id),
        ("experiments/c", 2, BOB.id),
        ("runs/d", 1, ""),
    ):
        (tmp_path / path / "inside").mkdir(parents=True)
        (tmp_path / path / "inside" / "file").write_bytes(bytes(megabytes * MB))
        if owner:
            write_access(tmp_path / path, Access(owner))
    upload = tmp_path / "uploads" / uploads_key(ADA.id) / ("0" * 16) / "x.csv"
    upload.parent.mkdir(parents=True)
    upload.write_bytes(bytes(MB))
    return tmp_path


@pytest.mark.parametrize("text", ["5", "5 XB", "-5GB", "1e3GB", "1kB", "0x5GB", "GB"])
def test_a_size_that_cannot_be_meant_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLL_QUOTA", text)
    with pytest.raises(UserError, match="PLL_QUOTA is"):
        check_settings()


def test_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, size in (("", 0), ("0", 0), ("5GB", 5 * 10**9), ("500 mb", 500 * MB), ("2GiB", 2 * 2**30)):
        monkeypatch.setenv("PLL_QUOTA_PER_PERSON", text)
        assert setting("PLL_QUOTA_PER_PERSON") == size


def test_what_everybody_holds(home: Path) -> None:
    held = held_by_person(home)
    assert {person: round(one.total / MB) for person, one in held.items()} == {ADA.id: 3, BOB.id: 2, "": 1}
    assert [round(getattr(held[ADA.id], kind) / MB) for kind in ("runs", "uploads", "bin")] == [1, 1, 1]
    (home / "runs" / "a" / "more").write_bytes(bytes(MB))
    (home / "runs" / "d" / "inside" / "more").write_bytes(bytes(MB))
    again = held_by_person(home)  # not what was measured before
    assert round(again[ADA.id].runs / MB) == 2 and round(again[""].runs / MB) == 2


def test_the_quotas_of_one_and_of_all(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert standings(home, ADA.id) == []  # none is set
    monkeypatch.setenv("PLL_QUOTA_PER_PERSON", "4MB")
    check_quota(home, ADA.id, MB // 2, "x.csv")
    check_quota(home, "eve@example.org", 4 * MB, "x.csv")
    with pytest.raises(UserError, match=r"You hold 3\.0 MB \(runs .*uploads 1\.0 MB, bin .* of the 4\.0 MB .*x\.csv"):
        check_quota(home, ADA.id, MB, "x.csv")
    with pytest.raises(UserError, match=r"You hold 6\.0 MB"):  # without a login all is one person's
        check_quota(home, None, 1, "another run")
    monkeypatch.setenv("PLL_QUOTA_PER_PERSON", "")
    monkeypatch.setenv("PLL_QUOTA", "7MB")
    assert [round(one.share, 2) for one in standings(home, BOB.id)] == [round(6 / 7, 2)]
    with pytest.raises(UserError, match="Everybody together holds"):
        check_quota(home, BOB.id, 2 * MB, "x.csv")


def test_nothing_starts_over_a_quota_and_space_can_be_freed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = RunRegistry(home / "runs")
    ada, bob = (PersonalRegistry(registry, person) for person in (ADA, BOB))
    monkeypatch.setenv("PLL_QUOTA_PER_PERSON", "3MB")
    for attempt in (lambda: ada.start(IRIS), lambda: ada.compare([IRIS, IRIS])):
        with pytest.raises(UserError, match="There is no room for another"):
            attempt()
    assert len(list(list_runs(home / "runs"))) == 0
    bob.start(IRIS).join(60)
    found = ada.disposable()
    assert {one.path.name for one in found} == {"b", "x.csv"} and bob.disposable() == []
    with pytest.raises(UserError):
        ada.held_by_person()
    bob.dispose(found)  # of another person: nothing happens
    assert (home / "bin" / "b").exists()
    assert ada.dispose(found) > 2 * MB and not (home / "bin" / "b").exists()
    ada.start(IRIS).join(60)


def test_a_shell_is_limited_where_its_run_lands_in_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLL_QUOTA", "6MB")
    command = ["fit", "iris", "--flip", "binomial", "--q", "0.3", "--epochs", "1", "--out"]
    refused = CliRunner().invoke(cli, [*command, str(home / "runs" / "new")])
    assert refused.exit_code == 2 and "candid gc" in refused.output
    assert not (home / "runs" / "new").exists()
    assert CliRunner().invoke(cli, [*command, str(home / "elsewhere")]).exit_code == 0


def test_sizes_for_people() -> None:
    assert str(Held()) == "0.0 kB" and str(Held(runs=MB)) == "1.0 MB (runs 1.0 MB)"
    assert format_bytes(999_600) == "1.0 MB"


# ---- cleaning --------------------------------------------------------------------------------------------------------


def test_a_server_cleans_once_a_day(home: Path) -> None:
    old = time.time() - 40 * 86_400
    upload = next((home / "uploads").rglob("x.csv"))
    for path in (home / "bin" / "b", upload):
        os.utime(path, (old, old))
    assert clean_if_due(home, days=50) == 0
    assert clean_if_due(home, days=30) is None  # done within a day
    os.utime(home / "cleaned", (old, old))
    freed = clean_if_due(home, days=30)
    assert freed is not None and freed > 2 * MB
    assert not upload.exists() and not (home / "bin" / "b").exists() and (home / "runs" / "a").exists()


def test_an_upload_of_a_run_that_cannot_be_read_is_kept(home: Path) -> None:
    upload = next((home / "uploads").rglob("x.csv"))
    old = time.time() - 40 * 86_400
    os.utime(upload, (old, old))
    config = home / "runs" / "a" / "config.json"
    config.write_text('{"run": {"source": {"path": "' + str(upload))  # cut off
    assert cleanup.waste(home) == []
    config.unlink()
    assert [one.path for one in cleanup.waste(home)] == [upload]
