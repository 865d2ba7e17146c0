"""Datasets that are not on this machine yet: downloaded with progress, stopped, put in place by hand."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from pll.runs.jobs import default_board
from pll.ui.format import plain
from tests.catalog.helpers import TOY, Server, toy_in_catalogue
from tests.page_helpers import bring_by, understood
from tests.pages.test_shared_data import until_read


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A server of one dataset, `toy`, which the catalogue then has."""
    with toy_in_catalogue(monkeypatch, tmp_path / "data") as running:
        yield running


def toy(page: Any) -> Any:
    page = bring_by(page, "Choose a dataset")
    return page.selectbox(key="dataset").set_value("toy").run()


def press(page: Any, label: str) -> Any:
    return next(button for button in page.button if button.label == label).click().run()


def slowly(going_on: threading.Event) -> Any:
    """Half of the file, and the other half once told so."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(TOY)))
        request.end_headers()
        half = len(TOY) // 2
        request.wfile.write(TOY[:half])
        request.wfile.flush()
        going_on.wait(20)
        try:
            request.wfile.write(TOY[half:])
        except OSError:  # whoever asked has gone
            return

    return answer


def test_a_download_is_watched_and_then_used(open_page: Any, server: Server, tmp_path: Path) -> None:
    going_on = threading.Event()
    server.answers["/toy.data"] = slowly(going_on)
    page = toy(open_page("data"))
    assert "not on this machine yet" in page.info[0].value
    assert str(tmp_path / "data" / "toy") in page.markdown[-1].value, "where to put it by hand"
    page = press(page, "Download Toy (1 MB)")
    assert any(button.label == "Stop" for button in page.button)
    going_on.set()
    page = until_read(page)
    assert understood(page).startswith("2 examples")
    assert (tmp_path / "data" / "toy" / "toy.data").read_bytes() == TOY


def test_a_download_is_stopped_and_leaves_nothing(open_page: Any, server: Server, tmp_path: Path) -> None:
    going_on = threading.Event()
    server.answers["/toy.data"] = slowly(going_on)
    page = press(toy(open_page("data")), "Download Toy (1 MB)")
    page = press(page, "Stop")
    going_on.set()
    job = default_board().get("download toy")
    assert job is not None and job.wait(20)
    page = page.run()
    assert any("was stopped" in info.value for info in page.info)
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    server.answers["/toy.data"] = TOY
    page = until_read(press(page, "Try again"))
    page = until_read(press(page, "Download Toy (1 MB)"))
    assert understood(page).startswith("2 examples")


def test_without_a_network_the_file_works_from_where_it_is_put(open_page: Any, server: Server, tmp_path: Path) -> None:
    page = press(toy(open_page("data")), "Download Toy (1 MB)")  # the server knows nothing of it: 404
    job = default_board().get("download toy")
    if job is not None:
        assert job.wait(20)
        page = page.run()
    place = tmp_path / "data" / "toy"
    assert plain(f"put toy.data (from {server.url}/toy.data") in page.error[0].value
    assert str(place) in page.error[0].value
    place.mkdir(parents=True, exist_ok=True)
    (place / "toy.data").write_bytes(b"something else")
    page = page.run()
    assert "is not the published file" in page.error[0].value
    (place / "toy.data").write_bytes(TOY)
    assert understood(until_read(page.run())).startswith("2 examples")
