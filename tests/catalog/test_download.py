from __future__ import annotations

import hashlib
import io
import socket
import zipfile
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest

from pll import catalog
from pll.catalog.download import obtain
from pll.catalog.entry import Checksum, Entry, File
from pll.dataset import PartialLabelDataset
from pll.errors import UserError

from .helpers import Server, entry_of, file_of

CONTENT = b"some data\n" * 100_000  # several chunks
SUM = Checksum("sha256", hashlib.sha256(CONTENT).hexdigest())


def zip_of(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_is_downloaded_once_with_progress(cache: Path, server: Server) -> None:
    server.answers["/toy.data"] = CONTENT
    entry = entry_of(file_of(urls=(f"{server.url}/toy.data",), checksum=SUM, megabytes=1))
    seen: list[tuple[int, int | None]] = []
    path = obtain(entry, lambda done, total: seen.append((done, total))).paths["toy.data"]
    assert path == cache / "toy" / "toy.data" and path.read_bytes() == CONTENT
    assert len(seen) > 1 and seen == sorted(seen) and seen[-1] == (len(CONTENT), len(CONTENT))
    assert {total for _, total in seen} == {len(CONTENT)}
    assert obtain(entry).paths["toy.data"] == path
    assert server.asked == ["/toy.data"] and server.agents[0].startswith("candid/")
    assert left_in(cache) == ["toy.data"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_the_next_mirror_is_tried(cache: Path, server: Server) -> None:
    server.answers |= {"/wrong": b"not it", "/right": CONTENT}
    urls = tuple(f"{server.url}/{path}" for path in ("missing", "wrong", "right"))
    assert obtain(entry_of(file_of(urls=urls, checksum=SUM))).paths["toy.data"].read_bytes() == CONTENT
    assert server.asked == ["/missing", "/wrong", "/right"]


def test_another_file_than_the_published_one_is_not_kept(cache: Path, server: Server) -> None:
    server.answers["/toy.data"] = b"something else"
    entry = entry_of(file_of(urls=(f"{server.url}/toy.data",), checksum=SUM))
    with pytest.raises(UserError) as raised:
        obtain(entry)
    message = str(raised.value)
    assert f"it should be {SUM.value}; nothing was kept" in message
    assert f"{server.url}/toy.data" in message and f"into {cache / 'toy'}" in message
    assert left_in(cache) == []


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_no_network_names_the_address_the_file_and_the_folder(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    url = f"http://127.0.0.1:{closed_port()}/toy.data"
    with pytest.raises(UserError) as raised:
        obtain(entry_of(file_of(urls=(url,))))
    message = str(raised.value)
    assert message.startswith(f"Toy needs toy.data, and it could not be downloaded ({url}: ")
    assert "refused" in message and "Check the network and try again" in message
    assert message.endswith(
        f"put toy.data (from {url}, see http://toy.example) into {cache / 'toy'}; it works from there."
    )
    assert left_in(cache) == []


@pytest.mark.parametrize("busy", [429, 503])
def test_a_busy_server_is_asked_again(cache: Path, server: Server, busy: int) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        last = len(server.asked) == 3
        handler.send_response(200 if last else busy)
        handler.send_header("Retry-After", "3600")  # not obeyed
        handler.send_header("Content-Length", str(len(CONTENT)) if last else "0")
        handler.end_headers()
        if last:
            handler.wfile.write(CONTENT)

    server.answers["/toy.data"] = answer
    entry = entry_of(file_of(urls=(f"{server.url}/toy.data",)))
    assert obtain(entry).paths["toy.data"].read_bytes() == CONTENT


def test_progress_can_stop_a_download(cache: Path, server: Server) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, total: int | None) -> None:
        raise Stopped

    server.answers["/toy.data"] = CONTENT
    with pytest.raises(Stopped):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",))), stop)
    assert left_in(cache) == []


def test_a_wrong_file_put_by_hand_is_refused_and_not_touched(cache: Path, server: Server) -> None:
    path = cache / "toy" / "toy.data"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"wrong")
    with pytest.raises(UserError, match=r"toy\.data is not the published file"):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",), checksum=SUM)))
    assert path.read_bytes() == b"wrong" and server.asked == []


# ---- archives ----------------------------------------------------------------------------------------------------


def in_archive(server: Server, name: str, **facts: object) -> File:
    return file_of(urls=(f"{server.url}/{name}",), checksum=SUM, **facts)


@pytest.mark.parametrize("member", ["toy.data", "folder/Toy.Data", "older.data"])
def test_a_zip_is_unpacked_and_goes(cache: Path, server: Server, member: str) -> None:
    server.answers["/toy.zip"] = zip_of(member, CONTENT)
    file = in_archive(server, "toy.zip", other_names=("older.data",))
    assert obtain(entry_of(file)).paths["toy.data"].read_bytes() == CONTENT
    assert left_in(cache) == ["toy.data"]


@pytest.mark.parametrize("name", ["toy.zip", "toy.rar"])
@pytest.mark.parametrize(
    "content", [b"", b"<html>log in</html>", b"PK\x03\x04 and no more", b"Rar!\x1a\x07\x00 and no more"]
)
def test_a_damaged_archive_is_not_kept(cache: Path, server: Server, name: str, content: bytes) -> None:
    server.answers[f"/{name}"] = content
    with pytest.raises(UserError, match=rf"could not be downloaded .*{name}: .*; nothing was kept"):
        obtain(entry_of(in_archive(server, name)))
    assert left_in(cache) == []


# ---- OpenML, and the catalogue's load ----------------------------------------------------------------------------


def two_numbers(paths: dict[str, Path]) -> PartialLabelDataset:
    try:
        X = np.array([[float(line)] for line in paths["toy.data"].read_text().split()])
    except ValueError as error:
        raise UserError(f"{paths['toy.data']} holds no numbers.") from error
    return PartialLabelDataset(X, y=np.array([0, 1]), class_names=("a", "b"), name="whatever")


def in_catalog(monkeypatch: pytest.MonkeyPatch, entry: Entry) -> None:
    monkeypatch.setitem(catalog.CATALOG, entry.name, entry)


def test_load_downloads_reads_checks_and_names(cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["/toy.data"] = b"1 2"
    in_catalog(monkeypatch, entry_of(file_of(urls=(f"{server.url}/toy.data",)), loader=two_numbers))
    seen: list[int] = []
    data = catalog.load("Toy", progress=lambda done, total: seen.append(done))
    assert data.X.tolist() == [[1], [2]] and data.name == "toy" and seen == [3]
    assert catalog.load("toy", download=False).fingerprint == data.fingerprint


def test_a_file_put_by_hand_is_never_deleted(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / "toy.data").write_bytes(b"mine")
    in_catalog(monkeypatch, entry_of(file_of(), loader=two_numbers))
    with pytest.raises(UserError, match="holds no numbers"):
        catalog.load("toy")
    assert left_in(cache) == ["toy.data"]
