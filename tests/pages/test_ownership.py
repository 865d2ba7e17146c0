"""With a login: every page and every method as nobody, as a stranger, and in every role."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pll.errors import UserError
from pll.experiments.registry import experiments_home
from pll.runs.access import Access, Person, Role, write_access
from pll.runs.lanes import lane_configs
from pll.runs.registry import RunRegistry, default_registry
from pll.ui.routes import PAGES
from tests.page_helpers import IRIS, button, labels, said
from tests.run_helpers import registry_in

pytestmark = pytest.mark.usefixtures("login")
ADA, BOB, EVE, ROOT = ({"is_logged_in": True, "email": f"{name}@example.org"} for name in ("ada", "bob", "eve", "root"))


def seen_by(name: str) -> RunRegistry:
    return default_registry().for_person(Person(f"{name}@example.org"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of runs of Ada's that have ended: one run, and a comparison with its lanes."""
    started = {"hers": [IRIS], "lanes": lane_configs(IRIS, ["proden", "proden-naive"])}
    folders = {}
    for name, configs in started.items():
        with registry_in(tmp_path_factory.mktemp(name)) as registry:
            registry.for_person(Person("ada@example.org")).start(*configs).join(60)
            folders[name] = registry.root
    return folders


@pytest.fixture
def hers(open_page: Any, trained: dict[str, Path]) -> Any:
    """A finished run of Ada's."""
    shutil.copytree(trained["hers"], default_registry().root, dirs_exist_ok=True)
    (folder,) = trained["hers"].iterdir()
    return seen_by("ada").get(folder.name)


@pytest.fixture
def lanes(open_page: Any, trained: dict[str, Path]) -> Any:
    """A finished comparison of Ada's."""
    shutil.copytree(trained["lanes"], default_registry().root, dirs_exist_ok=True)
    (comparison,) = seen_by("ada").comparisons()
    return comparison


def shown(page: Any) -> str:
    assert not page.exception
    return said(page) + " ".join(option for one in page.selectbox for option in one.options)


def test_no_page_shows_anything_before_the_login(open_page: Any, hers: Any) -> None:
    for user in ({"is_logged_in": False}, {"is_logged_in": True, "name": "Nobody"}):
        for page in PAGES:
            asked = open_page(page, user=user, run=hers.id, link="1", data="iris")
            text = shown(asked)
            assert "irises" not in text and "Train" not in text
            assert labels(asked) <= {"Log in", "Log out"} and not asked.text_input


def test_a_stranger_sees_and_opens_nothing_of_anothers(open_page: Any, hers: Any, lanes: Any) -> None:
    for page in ("home", "train", "review", "compare", "export"):
        asked = {"run": hers.id} if page != "compare" else {"comparison": lanes.id}
        text = shown(open_page(page, user=EVE, **asked))
        assert "irises" not in text and "ada" not in text
        if page != "home":
            assert "not shared with you" in text
        assert "irises" not in shown(open_page(page, user=EVE))  # nor in a list
    assert "irises" in shown(open_page("home", user=ADA))


def test_every_method_refuses_a_stranger_and_changes_nothing(hers: Any, lanes: Any) -> None:
    eve = seen_by("eve")
    attempts: list[Callable[[], object]] = [
        lambda: eve.get(hers.id),
        lambda: eve.get(lanes.id),
        lambda: eve.delete(hers.id),
        lambda: eve.delete(lanes.id),
        lambda: eve.compare([hers.id, lanes.lanes[0].id]),
        lambda: eve.share(hers, Access("eve@example.org")),
        lambda: eve.access(hers),
        lambda: eve.control(hers, hers.stop, "stopped"),
        lambda: eve.control(hers, hers.resume, "resumed", trains=True),
    ]
    for attempt in attempts:
        with pytest.raises(UserError):
            attempt()
    assert (eve.all(), eve.comparisons()) == ([], [])
    assert len(seen_by("ada").all()) == 3 and seen_by("ada").access(hers) == Access("ada@example.org")
    nobody = default_registry().for_person(Person(""))
    with pytest.raises(UserError, match="Log in"):
        nobody.start(IRIS)
    assert nobody.all() == []


@pytest.mark.parametrize(("role", "may_review", "by"), [("viewer", False, "name"), ("reviewer", True, "link")])
def test_roles(open_page: Any, hers: Any, by: str, role: Role, may_review: bool) -> None:
    seen_by("ada").share(
        hers,
        Access("ada@example.org", {"bob@example.org": role}) if by == "name" else Access("ada@example.org", link=role),
    )
    train = open_page("train", user=BOB, run=hers.id)
    assert "Belongs to ada" in shown(train)
    assert not {"Restart", "Stop", "Run 5", "Resume"} & labels(train)
    assert "150 labels" in shown(open_page("export", user=BOB, run=hers.id))
    review = shown(open_page("review", user=BOB, run=hers.id))
    assert ("not to review" not in review) == may_review
    assert ("has not started the review" in review) == may_review
    home = open_page("home", user=BOB)
    assert ("irises" in shown(home)) == (by == "name")  # a link is no entry in everybody's list
    assert "Delete" not in labels(home)
    with pytest.raises(UserError, match="owner"):
        seen_by("bob").delete(hers.id)


def test_what_is_no_longer_shared_is_gone_in_an_open_tab(open_page: Any, hers: Any) -> None:
    seen_by("ada").share(hers, Access("ada@example.org", {"bob@example.org": "owner"}))
    page = open_page("train", user=BOB, run=hers.id)
    assert "Restart" in labels(page)
    seen_by("ada").share(hers, Access("ada@example.org"))
    page = button(page, "Restart").click().run()
    assert "not shared with you" in shown(page)
    assert len(default_registry().all()) == 1


def test_the_owner_shares_on_the_page(open_page: Any, hers: Any) -> None:
    page = open_page("train", user=ADA, run=hers.id)
    page.session_state["share"] = True
    page.run()
    page.text_input(f"access-name-{hers.id}").set_value(" Bob@Example.org")
    page.selectbox(f"access-role-{hers.id}").set_value("reviewer")
    page = button(page, "Add").click().run()
    page.selectbox(f"access-link-{hers.id}").set_value("viewer").run()
    assert seen_by("ada").access(hers) == Access("ada@example.org", {"bob@example.org": "reviewer"}, "viewer")
    assert seen_by("bob").role(hers) == "reviewer" and seen_by("eve").role(hers) == "viewer"


def test_a_damaged_file_of_access_opens_nothing(hers: Any) -> None:
    file = hers.folder.path / "access.json"
    known = json.loads(file.read_text())
    for text in ("", "{", "[]", "null", '{"owner": 1}', json.dumps({**known, "people": {"eve@example.org": "king"}})):
        file.write_text(text)
        assert seen_by("eve").role(hers) is None
    for like in ("../..", "/etc", os.fspath(hers.folder.path), "."):
        write_access(hers.folder.path, Access("ada@example.org", like=like))
        assert seen_by("eve").role(hers) is None and seen_by("ada").role(hers) == "owner"


def test_lanes_are_shared_with_their_comparison(lanes: Any) -> None:
    each = [seen_by("ada").get(lane.id) for lane in lanes.lanes]
    assert seen_by("bob").role(each[0]) is None
    seen_by("ada").share(each[0], Access("ada@example.org", {"bob@example.org": "viewer"}))
    assert [seen_by("bob").role(one) for one in (lanes, *each)] == ["viewer"] * 3


def test_a_comparison_of_finished_runs_is_seen_by_who_may_see_each(open_page: Any, hers: Any) -> None:
    other = seen_by("ada").start(IRIS)
    other.join(60)
    beside = seen_by("ada").compare([hers.id, other.id])
    bob = {"bob@example.org": "viewer"}
    seen_by("ada").share(beside, Access("ada@example.org", bob))  # type: ignore[arg-type]
    assert seen_by("bob").role(beside) is None
    for run in (hers, other):
        seen_by("ada").share(run, Access("ada@example.org", bob))  # type: ignore[arg-type]
    assert seen_by("bob").role(beside) == "viewer"


def test_an_experiment_is_seen_by_who_began_it(open_page: Any) -> None:
    folder = experiments_home() / "of-ada"
    folder.mkdir(parents=True)
    (folder / "experiment.json").write_text("{}")
    assert [seen_by(name).owns(folder) for name in ("ada", "eve")] == [False, False]
    seen_by("ada").claim(folder)
    assert [seen_by(name).owns(folder) for name in ("ada", "eve")] == [True, False]
    assert "of-ada" not in shown(open_page("experiments", user=EVE))
    assert "not shared with you" in shown(open_page("experiments", user=EVE, experiment="of-ada"))
