"""Share links on the train page: opened, reloaded, looked at in a lesson, made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pll.catalog.sources import Source
from pll.runs.config import RunConfig
from pll.runs.link import Look, Share, to_query
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.data import upload
from tests.page_helpers import button, labels, said

IRIS = RunConfig(
    Source("iris"), params={"epochs": 12, "threads": 1}, flip=Flip("binomial", 0.3), holdout=0.2, name="irises"
)


def link(look: Look = Look(), config: RunConfig = IRIS) -> dict[str, Any]:  # noqa: B008 - frozen
    parts: dict[str, Any] = {}
    for name, value in to_query(Share((config,), look)):
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


def test_a_new_run_leaves_the_link_behind(open_page: Any) -> None:
    page = ended(open_page("train", **link()))
    (new,) = [one for one in page.button if one.label == "New run"]
    new.click().run()
    assert not page.exception
    assert "link" not in page.query_params
    assert len(session.registry().all()) == 1
    assert page.session_state["choice"].source == IRIS.source  # set up like the link's


def test_a_link_may_wait_before_its_first_epoch(open_page: Any) -> None:
    page = started(open_page("train", **link(Look(paused=True))))
    run = session.registry().get(page.session_state["run"])
    run.wait_until_paused(30)
    page.run()
    assert "Paused after 0 of 12 epochs." in said(page)


def test_files_of_votes_have_to_be_given_too(open_page: Any) -> None:
    open_page("home")
    rows = "".join(f"{k},{k % 7},{k % 3}\n" for k in range(30))
    table = upload.store_upload("points.csv", f"id,a,b\n{rows}".encode())
    said_by = "".join(f"{k},{'cat' if k % 2 else 'dog'},{'cat' if k % 3 else 'dog'}\n" for k in range(30))
    votes = upload.store_upload("models.csv", f"id,one,two\n{said_by}".encode())
    config = RunConfig(replace(table, votes=(votes,), rule="voters"), params={"epochs": 2, "threads": 1})
    page = open_page("train", **link(config=config))
    assert "2 files are needed" in said(page) and "models.csv" in said(page) and "Start" not in labels(page)
    page.session_state["uploads"] = [votes]
    page.run()
    assert not page.exception and "Still needed: points.csv" in said(page)
    page.session_state["uploads"] = [table, votes]
    page.run()
    assert "needed" not in said(page)
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
