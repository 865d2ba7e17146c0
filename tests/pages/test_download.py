"""Datasets that are not on this machine yet: downloaded with progress, stopped, put in place by hand."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll import catalog
from pll.catalog.base import Checksum
from pll.dataset import PartialLabelDataset
from pll.ui import background
from tests.catalog.helpers import Server, entry_of, file_of
from tests.pages.test_shared_data import figures, until_read

CONTENT = b"0123456789" * 60_000


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A server of one dataset, `toy`, which the catalogue then has."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("PLL_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("PLL_DATA_PATH", raising=False)
    checksum = Checksum("sha256", hashlib.sha256(CONTENT).hexdigest())
    data = PartialLabelDataset(X=np.array([[0.0], [1.0]], dtype=np.float32), y=np.array([0, 1]))
    with Server() as running:
        file = file_of(urls=(f"{running.url}/toy.data",), checksum=checksum, megabytes=0.6)
        monkeypatch.setitem(catalog.CATALOG, "toy", entry_of(file, loader=lambda _: data))
        yield running


def toy(page: Any) -> Any:
    page = page.segmented_control(key="way").set_value("Choose a dataset").run()
    return page.selectbox(key="dataset").set_value("toy").run()


def press(page: Any, label: str) -> Any:
    return next(button for button in page.button if button.label == label).click().run()


def slowly(going_on: threading.Event) -> Any:
    """Half of the file, and the other half once told so."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(CONTENT)))
        request.end_headers()
        half = len(CONTENT) // 2
        request.wfile.write(CONTENT[:half])
        request.wfile.flush()
        going_on.wait(20)
        try:
            request.wfile.write(CONTENT[half:])
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
    assert figures(page)["Examples"] == "2"
    assert (tmp_path / "data" / "toy" / "toy.data").read_bytes() == CONTENT


def test_a_download_is_stopped_and_leaves_nothing(open_page: Any, server: Server, tmp_path: Path) -> None:
    going_on = threading.Event()
    server.answers["/toy.data"] = slowly(going_on)
    page = press(toy(open_page("data")), "Download Toy (1 MB)")
    page = press(page, "Stop")
    going_on.set()
    job = background.board().get("download toy")
    assert job is not None and job.wait(20)
    page = page.run()
    assert any("was stopped" in info.value for info in page.info)
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    server.answers["/toy.data"] = CONTENT
    page = until_read(press(page, "Try again"))
    page = until_read(press(page, "Download Toy (1 MB)"))
    assert figures(page)["Examples"] == "2"


def test_without_a_network_the_file_works_from_where_it_is_put(open_page: Any, server: Server, tmp_path: Path) -> None:
    page = press(toy(open_page("data")), "Download Toy (1 MB)")  # the server knows nothing of it: 404
    job = background.board().get("download toy")
    if job is not None:
        assert job.wait(20)
        page = page.run()
    place = tmp_path / "data" / "toy"
    assert f"put toy.data (from {server.url}/toy.data" in page.error[0].value and str(place) in page.error[0].value
    place.mkdir(parents=True, exist_ok=True)
    (place / "toy.data").write_bytes(b"something else")
    page = page.run()
    assert "is not the published file" in page.error[0].value
    (place / "toy.data").write_bytes(CONTENT)
    assert figures(until_read(page.run()))["Examples"] == "2"
