"""Share links on the train page: opened, reloaded, looked at in a lesson, made."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from pll.catalog.sources import Source
from pll.runs.config import RunConfig
from pll.runs.link import Look, Share, from_query, to_query
from pll.runs.registry import default_registry
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.links import SLUGS
from tests.page_helpers import button, labels, said
from tests.run_helpers import write_data

IRIS = RunConfig(
    Source("iris"), params={"epochs": 12, "threads": 1}, flip=Flip("binomial", 0.3), holdout=0.2, name="irises"
)


def link(look: Look = Look(), config: RunConfig = IRIS) -> dict[str, Any]:  # noqa: B008 - frozen
    parts: dict[str, Any] = {}
    for name, value in to_query(Share(config, look)):
        parts[name] = [*parts[name], value] if name in parts else [value]
    return parts


def started(page: Any) -> Any:
    """The page of a link once Start was pressed on it, if it asks for that."""
    return button(page, "Start").click().run() if "Start" in labels(page) else page


def ended(page: Any) -> Any:
    """The page once the run in view has ended."""
    page = started(page)
    session.registry().get(page.session_state["run"]).join(60)
    page.run()
    assert not page.exception
    return page


def test_a_link_sets_up_the_run_and_the_view(open_page: Any) -> None:
    some_ids = [str(name) for name in session.dataset(IRIS.source).row_ids]
    look = Look(epoch=5, view="map", truth=True, patience=50, pace=500.0)
    page = ended(open_page("train", **link(look)))
    (run,) = session.registry().all()
    assert run.config == IRIS
    assert (run.pace, run.patience) == (500.0, 50)
    assert "in view: after 5 passes" in said(page)
    assert "Neighbours are alike" in said(page)
    assert page.query_params["run"] == run.id
    assert page.session_state[f"run-view-{run.id}"].truth
    inside = [str(name) for name in run.parts().train.row_ids]
    outside = next(name for name in some_ids if name not in inside)

    other = ended(open_page("train", **link(Look(example=inside[7], pins=(inside[3], outside, inside[1])))))
    looking = other.session_state[f"run-view-{other.session_state['run']}"]
    assert (looking.selected, looking.pins) == (7, [3, 1])
    assert f"examples that are not here: {outside}." in said(other)


def test_a_reload_finds_the_run_and_another_person_gets_another_one(open_page: Any) -> None:
    page = ended(open_page("train", **link()))
    page.run()
    first = page.session_state["run"]
    page.query_params.pop("run", None)  # back in the browser's history
    page.run()
    assert page.session_state["run"] == first
    reloaded = open_page("train", **link(), run=first)
    assert reloaded.session_state["run"] == first
    other = ended(open_page("train", **link()))
    assert other.session_state["run"] != first
    assert len(session.registry().all()) == 2
    gone = ended(open_page("train", **link(), run="of-another-machine"))
    assert gone.session_state["run"] not in ("of-another-machine", first)


def test_a_new_run_leaves_the_link_behind(open_page: Any) -> None:
    page = ended(open_page("train", **link()))
    (new,) = [one for one in page.button if one.label == "New run"]
    new.click().run()
    assert not page.exception
    assert "link" not in page.query_params
    assert len(session.registry().all()) == 1
    assert page.session_state["choice"].source == IRIS.source  # set up like the link's


def test_a_bad_link_is_explained(open_page: Any) -> None:
    page = open_page("train", **(link() | {"epochs": ["lots"]}))
    assert not page.exception
    assert "epochs is 'lots'; it must be a whole number" in page.error[0].value
    assert session.registry().all() == []


def test_a_link_may_wait_before_its_first_epoch(open_page: Any) -> None:
    page = started(open_page("train", **link(Look(paused=True))))
    run = session.registry().get(page.session_state["run"])
    run.wait_until_paused(30)
    page.run()
    assert "Paused after 0 of 12." in said(page)


def test_a_file_has_to_be_given_again(open_page: Any, tmp_path: Any) -> None:
    content = write_data(tmp_path / "points.npz").read_bytes()
    open_page("home")
    source = session.keep_upload("points.npz", content)
    config = RunConfig(source, params={"epochs": 3, "threads": 1}, flip=Flip("binomial", 0.3))
    page = open_page("train", **link(config=config))
    assert not page.exception
    assert "One file is needed" in said(page)
    assert "points" in said(page) and str(source.sha256)[:16] in said(page)
    assert session.registry().all() == []
    page.session_state["uploads"] = [session.keep_upload("other.npz", b"something else")]
    page.run()
    assert session.registry().all() == []  # what this tab brought before is not it
    page.session_state["uploads"] = [source]
    page.run()
    ended(page)
    (run,) = session.registry().all()
    assert run.config.source.sha256 == source.sha256


def test_files_of_votes_have_to_be_given_too(open_page: Any) -> None:
    open_page("home")
    rows = "".join(f"{k},{k % 7},{k % 3}\n" for k in range(30))
    table = session.keep_upload("points.csv", f"id,a,b\n{rows}".encode())
    said_by = "".join(f"{k},{'cat' if k % 2 else 'dog'},{'cat' if k % 3 else 'dog'}\n" for k in range(30))
    votes = session.keep_upload("models.csv", f"id,one,two\n{said_by}".encode())
    config = RunConfig(replace(table, votes=(votes,), rule="voters"), params={"epochs": 2, "threads": 1})
    page = open_page("train", **link(config=config))
    assert "2 files are needed" in said(page) and "models.csv" in said(page) and "Start" not in labels(page)
    page.session_state["uploads"] = [votes]
    page.run()
    assert not page.exception and "Still needed: points.csv" in said(page)
    page.session_state["uploads"] = [table, votes]
    page.run()
    ended(page)
    (run,) = session.registry().all()
    assert [one.sha256 for one in run.config.source.votes] == [votes.sha256] and run.config.source.rule == "voters"


def test_opening_links_starts_nothing(open_page: Any) -> None:
    for _ in range(3):
        page = open_page("train", **link())
        assert not page.exception and "Nothing has started yet" in said(page)
        assert session.registry().all() == []
    lanes = open_page("compare", link="1", lanes="proden,proden-naive", data="iris", flip="binomial", q="0.3")
    assert "Nothing has started yet" in said(lanes) and session.registry().all() == []


# ---- lessons ---------------------------------------------------------------------------------------------------------


def test_a_lesson_puts_away_what_it_says(open_page: Any) -> None:
    whole = ended(open_page("train", **link()))
    assert {"Restart", "New run"} <= labels(whole)
    assert "Identified" in {metric.label for metric in whole.metric}
    hidden = ("settings", "transport", "next", "truth", "view-examples")
    page = ended(open_page("train", **link(Look(hidden=hidden))))
    assert not {"Restart", "New run", "Stop", "Run 5"} & labels(page)
    assert {metric.label for metric in page.metric} >= {"Sure"}
    assert "Identified" not in {metric.label for metric in page.metric}
    views = next(one for one in page.button_group if one.label == "View")
    assert [getattr(option, "content", option) for option in views.options] == ["Pictures", "Map"]
    assert "true label" not in said(page)

    (end,) = [one for one in page.button if one.label == "Show everything"]
    end.click().run()
    assert not page.exception
    assert {"Restart", "New run"} <= labels(page)
    assert "Identified" in {metric.label for metric in page.metric}
    assert "hide" not in page.query_params


def test_figures_and_pictures_can_be_put_away(open_page: Any) -> None:
    hidden = ("figures", "timeline", "star", "heatmap", "speed", "navigation", *(f"view-{view}" for view in SLUGS))
    page = ended(open_page("train", **link(Look(hidden=hidden))))
    assert not page.metric
    assert "Where each example is heading" not in said(page) and "How sure each label is" not in said(page)
    assert not page.expander
    assert "worth a look" in said(page)


def test_a_lesson_goes_on_when_it_is_begun_again(open_page: Any) -> None:
    page = ended(open_page("train", **link(Look(hidden=("settings",), pins=()))))
    before = page.session_state["run"]
    (again,) = [one for one in page.button if one.label == "Restart"]
    again.click().run()
    assert page.session_state["run"] != before
    default_registry().stop_all()


# ---- making a link ---------------------------------------------------------------------------------------------------


@pytest.fixture
def sharing(open_page: Any) -> Any:
    """The train page of a run that has ended, with the popover open."""
    page = ended(open_page("train", **link()))
    page.session_state["share"] = True
    page.run()
    assert not page.exception
    return page


def shared(page: Any) -> Share:
    """What the link in the popover means."""
    (code,) = page.code
    query = urlsplit(code.value).query
    assert parse_qsl(query, strict_parsing=True)
    return from_query(parse_qs(query), views=SLUGS)


def test_the_link_of_a_run_sets_up_the_same_run(sharing: Any) -> None:
    assert shared(sharing).config == IRIS
    run = sharing.session_state["run"]
    assert run not in sharing.code[0].value
    looking = sharing.session_state[f"run-view-{run}"]
    looking.look(4, False, 1)
    looking.select(2)
    looking.pins = [5, 2]
    looking.view = "Examples"
    sharing.run()
    ids = session.registry().get(run).parts().train.row_ids
    look = shared(sharing).look
    assert (look.epoch, look.example, look.pins) == (4, str(ids[2]), (str(ids[5]), str(ids[2])))
    assert look.view == "examples"
    sharing.toggle(key="share-view").set_value(False).run()
    assert shared(sharing).look == Look()


def test_the_link_remembers_what_a_lesson_hides(sharing: Any) -> None:
    sharing.button_group(key="share-controls-run").set_value(["transport", "truth"]).run()
    sharing.button_group(key="share-views").set_value(["map"]).run()
    assert shared(sharing).look.hidden == ("transport", "truth", "view-map")
    sharing.button_group(key="share-start").set_value("Waits before epoch 1").run()
    assert shared(sharing).look.paused
    assert "nobody can start it" in said(sharing)


# ---- stop when settled -----------------------------------------------------------------------------------------------


def test_when_a_run_is_settled_can_be_said(open_page: Any) -> None:
    page = started(open_page("train", **link(Look(paused=True))))
    run = session.registry().get(page.session_state["run"])
    run.wait_until_paused(30)
    page.run()
    (stop,) = [box for box in page.selectbox if box.label == "Stop when settled"]
    stop.set_value(25).run()
    assert not page.exception
    assert run.patience == 25
    (speed,) = [box for box in page.selectbox if box.label == "Speed"]
    assert speed.value == math.inf
    speed.set_value(3.0).run()
    assert run.pace == 3.0
    (speed,) = [box for box in page.selectbox if box.label == "Speed"]
    speed.set_value(math.inf).run()
    assert run.pace is None
    (stop,) = [box for box in page.selectbox if box.label == "Stop when settled"]
    stop.set_value(0).run()
    assert run.patience is None


def test_a_link_may_bring_a_speed_of_its_own(open_page: Any) -> None:
    page = started(open_page("train", **link(Look(paused=True, pace=2.5, patience=7))))
    run = session.registry().get(page.session_state["run"])
    assert (run.pace, run.patience) == (2.5, 7)
    run.wait_until_paused(30)
    page.run()
    said_there = {box.label: box.options[box.index] for box in page.selectbox if box.index is not None}
    assert said_there["Speed"] == "2.5 a second"
    assert said_there["Stop when settled"] == "Stop when settled: 7"
