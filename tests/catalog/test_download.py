from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import socket
import time
import zipfile
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest
import rarfile

from pll import catalog
from pll.catalog import download, files
from pll.catalog.download import obtain
from pll.catalog.entry import Checksum, Entry, File
from pll.dataset import PartialLabelDataset
from pll.errors import UserError

from .helpers import Server, entry_of, file_of, rar_of

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


def test_progress_goes_on_over_several_files(cache: Path, server: Server) -> None:
    server.answers |= {"/a": CONTENT, "/b": CONTENT}
    two = [file_of(name, urls=(f"{server.url}/{name}",), megabytes=len(CONTENT) / 1e6) for name in "ab"]
    seen: list[tuple[int, int | None]] = []
    obtain(entry_of(*two), lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen) and seen[-1] == (2 * len(CONTENT), 2 * len(CONTENT))
    assert {total for _, total in seen} == {2 * len(CONTENT)}


def test_a_server_that_does_not_say_the_length(cache: Path, server: Server) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(CONTENT)

    server.answers["/toy.data"] = answer
    seen: list[tuple[int, int | None]] = []
    entry = entry_of(file_of(urls=(f"{server.url}/toy.data",)))
    obtain(entry, lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(CONTENT), None)


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


def test_an_error_of_the_server_is_passed_on(cache: Path, server: Server) -> None:
    with pytest.raises(UserError, match=r"/toy\.data: .*Not Found"):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",))))


def test_a_broken_connection_leaves_nothing(cache: Path, server: Server) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(CONTENT)))
        handler.end_headers()
        handler.wfile.write(CONTENT[:1000])

    server.answers["/toy.data"] = answer
    with pytest.raises(UserError, match=r"the connection broke: .*1000 bytes"):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",))))
    assert left_in(cache) == []


def test_a_broken_connection_is_tried_again(cache: Path, server: Server) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(CONTENT)))
        handler.end_headers()
        handler.wfile.write(CONTENT if server.asked == ["/toy.data"] * 3 else CONTENT[:1000])

    server.answers["/toy.data"] = answer
    seen: list[int] = []
    entry = entry_of(file_of(urls=(f"{server.url}/toy.data",), checksum=SUM))
    assert obtain(entry, lambda done, _: seen.append(done)).paths["toy.data"].read_bytes() == CONTENT
    assert seen[-1] == len(CONTENT) and left_in(cache) == ["toy.data"]


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


def test_a_server_that_stays_busy_is_given_up_after_a_few_attempts(cache: Path, server: Server) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_error(503)

    server.answers |= {"/busy": answer, "/mirror": CONTENT}
    entry = entry_of(file_of(urls=(f"{server.url}/busy", f"{server.url}/mirror")))
    assert obtain(entry).paths["toy.data"].read_bytes() == CONTENT
    assert server.asked == ["/busy"] * (1 + download.RETRIES) + ["/mirror"]
    with pytest.raises(UserError, match="/busy: 503"):
        obtain(entry_of(file_of("other", urls=(f"{server.url}/busy",))))


def test_what_is_missing_is_asked_for_once(cache: Path, server: Server) -> None:
    with pytest.raises(UserError, match="404"):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",))))
    assert server.asked == ["/toy.data"]


def test_a_gz_is_kept_as_it_is_whatever_the_server_calls_it(cache: Path, server: Server) -> None:
    packed = gzip.compress(CONTENT)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Encoding", "x-gzip")
        handler.send_header("Content-Length", str(len(packed)))
        handler.end_headers()
        handler.wfile.write(packed)

    server.answers["/toy.gz"] = answer
    checksum = Checksum("md5", hashlib.md5(packed, usedforsecurity=False).hexdigest())
    entry = entry_of(file_of("toy.gz", urls=(f"{server.url}/toy.gz",), checksum=checksum))
    assert obtain(entry).paths["toy.gz"].read_bytes() == packed


def test_a_silent_server_is_given_up(cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "TIMEOUT", 0.1)
    server.answers["/toy.data"] = lambda handler: time.sleep(0.5)
    with pytest.raises(UserError, match="timed out"):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",))))


def test_progress_can_stop_a_download(cache: Path, server: Server) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, total: int | None) -> None:
        raise Stopped

    server.answers["/toy.data"] = CONTENT
    with pytest.raises(Stopped):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",))), stop)
    assert left_in(cache) == []


def test_without_download_nothing_is_asked(cache: Path, server: Server) -> None:
    with pytest.raises(UserError, match=r"Toy is not on this machine\. To load it, put toy\.data \(from http"):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",))), download=False)
    assert server.asked == [] and not cache.exists()


def test_nothing_is_downloaded_where_another_file_has_to_come_by_hand(cache: Path, server: Server) -> None:
    server.answers["/a"] = CONTENT
    with pytest.raises(UserError, match=r"put a .*; put b "):
        obtain(entry_of(file_of("a", urls=(f"{server.url}/a",)), file_of("b")))
    assert server.asked == []


def test_a_file_in_a_read_only_folder_is_used_where_it_lies(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "toy.data").write_bytes(CONTENT)
    monkeypatch.setenv("PLL_DATA_PATH", str(extra))
    assert obtain(entry_of(file_of(checksum=SUM))).paths == {"toy.data": extra / "toy.data"}
    assert not cache.exists()


def test_a_wrong_file_put_by_hand_is_refused_and_not_touched(cache: Path, server: Server) -> None:
    path = cache / "toy" / "toy.data"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"wrong")
    with pytest.raises(UserError, match=r"toy\.data is not the published file"):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",), checksum=SUM)))
    assert path.read_bytes() == b"wrong" and server.asked == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(cache: Path, server: Server) -> None:
    server.answers["/toy.data"] = CONTENT
    cache.mkdir(mode=0o500)
    with pytest.raises(UserError, match=r"cannot be written to .*set PLL_DATA"):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",))))


def test_a_cache_that_is_no_folder(cache: Path, server: Server) -> None:
    cache.write_text("a file")
    with pytest.raises(UserError, match=r"cannot be written to .*set PLL_DATA to a folder with 7 MB to spare"):
        obtain(entry_of(file_of(urls=(f"{server.url}/toy.data",), megabytes=7)))


# ---- archives ----------------------------------------------------------------------------------------------------


def in_archive(server: Server, name: str, **facts: object) -> File:
    return file_of(urls=(f"{server.url}/{name}",), checksum=SUM, **facts)


@pytest.mark.parametrize("member", ["toy.data", "folder/Toy.Data", "older.data"])
def test_a_zip_is_unpacked_and_goes(cache: Path, server: Server, member: str) -> None:
    server.answers["/toy.zip"] = zip_of(member, CONTENT)
    file = in_archive(server, "toy.zip", other_names=("older.data",))
    assert obtain(entry_of(file)).paths["toy.data"].read_bytes() == CONTENT
    assert left_in(cache) == ["toy.data"]


def test_a_stored_rar_needs_no_program(cache: Path, server: Server) -> None:
    server.answers["/toy%20s.rar"] = rar_of("toy.data", CONTENT)
    assert obtain(entry_of(in_archive(server, "toy%20s.rar"))).paths["toy.data"].read_bytes() == CONTENT
    assert left_in(cache) == ["toy.data"]


def test_a_rar_that_nothing_here_unpacks_stays_for_a_person(
    cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tool in ("UNRAR", "UNAR", "BSDTAR", "SEVENZIP", "SEVENZIP2"):
        monkeypatch.setattr(rarfile, f"{tool}_TOOL", "no-such-program")
    monkeypatch.setattr(rarfile, "CURRENT_SETUP", None)
    server.answers["/toy.rar"] = rar_of("toy.data", CONTENT, stored=False)
    entry = entry_of(in_archive(server, "toy.rar"))
    with pytest.raises(UserError) as raised:
        obtain(entry)
    message = str(raised.value)
    assert f"{cache / 'toy' / 'toy.rar'} is here, but no program that unpacks it is" in message
    assert f"put toy.data into {cache / 'toy'}" in message
    assert left_in(cache) == ["toy.rar"]
    with pytest.raises(UserError, match="is here, but no program"):
        obtain(entry)
    assert server.asked == ["/toy.rar"]
    (cache / "toy" / "toy.data").write_bytes(CONTENT)
    assert obtain(entry).paths["toy.data"].read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["toy.zip", "toy.rar"])
@pytest.mark.parametrize(
    "content", [b"", b"<html>log in</html>", b"PK\x03\x04 and no more", b"Rar!\x1a\x07\x00 and no more"]
)
def test_a_damaged_archive_is_not_kept(cache: Path, server: Server, name: str, content: bytes) -> None:
    server.answers[f"/{name}"] = content
    with pytest.raises(UserError, match=rf"could not be downloaded .*{name}: .*; nothing was kept"):
        obtain(entry_of(in_archive(server, name)))
    assert left_in(cache) == []


@pytest.mark.parametrize(
    ("packed", "words"),
    [
        (zip_of("other.data", CONTENT), "no file of that name is in it"),
        (zip_of("toy.data", b"other"), "it is not the published one, its SHA-256 is"),
        (rar_of("other.data", CONTENT), "no file of that name is in it"),
        (rar_of("toy.data", b"other"), "it is not the published one, its SHA-256 is"),
    ],
)
def test_an_archive_of_something_else(cache: Path, server: Server, packed: bytes, words: str) -> None:
    name = "toy.rar" if packed.startswith(b"Rar") else "toy.zip"
    server.answers[f"/{name}"] = packed
    with pytest.raises(UserError, match=f"{words}.*; nothing was kept"):
        obtain(entry_of(in_archive(server, name)))
    assert left_in(cache) == []


def test_an_archive_put_by_hand_is_used_and_left(cache: Path, server: Server) -> None:
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / "toy.zip").write_bytes(zip_of("toy.data", CONTENT))
    found = obtain(entry_of(in_archive(server, "toy.zip")), download=False)
    assert found.paths["toy.data"].read_bytes() == CONTENT
    assert left_in(cache) == ["toy.data", "toy.zip"] and server.asked == []


def test_an_archive_that_unpacks_to_too_much_is_refused(
    cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_LARGEST", len(CONTENT) - 1)
    server.answers["/toy.zip"] = zip_of("toy.data", CONTENT)
    with pytest.raises(UserError, match=f"it unpacks to {len(CONTENT)} bytes"):
        obtain(entry_of(in_archive(server, "toy.zip")))


# ---- OpenML, and the catalogue's load ----------------------------------------------------------------------------


def test_openml_says_where_the_file_is_and_what_its_checksum_is(
    cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "OPENML", f"{server.url}/api/{{}}")
    about = {"url": f"{server.url}/download", "md5_checksum": hashlib.md5(CONTENT).hexdigest()}
    server.answers |= {"/api/17": json.dumps({"data_set_description": about}).encode(), "/download": CONTENT}
    entry = entry_of(file_of(openml=17))
    assert obtain(entry).paths["toy.data"].read_bytes() == CONTENT
    assert server.asked == ["/api/17", "/download"]


@pytest.mark.parametrize("answer", [b"<html>", b"[]", b'{"data_set_description": {}}'])
def test_an_answer_of_openml_that_makes_no_sense(
    cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr(download, "OPENML", f"{server.url}/api/{{}}")
    server.answers["/api/17"] = answer
    with pytest.raises(UserError, match=r"could not be downloaded \(http.*/api/17: .*put toy\.data \(see http://toy"):
        obtain(entry_of(file_of(openml=17)))


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


def test_a_login_page_does_not_stay_in_the_cache(cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["/toy.data"] = b"<html>please log in</html>"
    in_catalog(monkeypatch, entry_of(file_of(urls=(f"{server.url}/toy.data",)), loader=two_numbers))
    with pytest.raises(UserError, match="holds no numbers"):
        catalog.load("toy")
    assert left_in(cache) == []
    server.answers["/toy.data"] = b"1 2"
    assert len(catalog.load("toy")) == 2


def test_a_file_put_by_hand_is_never_deleted(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / "toy.data").write_bytes(b"mine")
    in_catalog(monkeypatch, entry_of(file_of(), loader=two_numbers))
    with pytest.raises(UserError, match="holds no numbers"):
        catalog.load("toy")
    assert left_in(cache) == ["toy.data"]
