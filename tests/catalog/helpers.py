"""A server on this machine, entries of one file, archives made by hand."""

from __future__ import annotations

import hashlib
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll.catalog import CATALOG
from pll.catalog.entry import Checksum, Entry, File, files
from pll.dataset import PartialLabelDataset

Answer = bytes | Callable[[BaseHTTPRequestHandler], None]


class Server:
    """Answers on 127.0.0.1 from `answers`, by path; notes what it was asked for."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.agents: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                server.agents.append(self.headers["User-Agent"])
                answer = server.answers.get(self.path)
                if answer is None:
                    self.send_error(404, "Not Found")
                elif callable(answer):
                    answer(self)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def entry_of(*several: File, loader: Callable[..., PartialLabelDataset] | None = None) -> Entry:
    """An entry that needs these files and loads anything."""

    def never(_: object) -> PartialLabelDataset:
        raise AssertionError("this test does not load")

    return Entry(
        name="toy",
        title="Toy",
        about="A toy.",
        kind="table",
        n=2,
        shape=(1,),
        c=2,
        licence="none",
        page="http://toy.example",
        needs=files(*several),
        loader=loader or never,
    )


def file_of(name: str = "toy.data", **facts: Any) -> File:
    return File(**{"name": name, "folder": "toy", "page": "http://toy.example", **facts})


def rar_of(name: str, content: bytes, *, stored: bool = True) -> bytes:
    """A RAR 4 archive of one file; `stored=False` only says that it is compressed."""

    def block(kind: int, flags: int, fields: bytes) -> bytes:
        rest = struct.pack("<BHH", kind, flags, 7 + len(fields)) + fields
        return struct.pack("<H", zlib.crc32(rest) & 0xFFFF) + rest

    method = 0x30 if stored else 0x33
    size, encoded = len(content), name.encode()
    fields = struct.pack("<IIBIIBBHI", size, size, 3, zlib.crc32(content), 0, 29, method, len(encoded), 0o100644)
    return (
        b"Rar!\x1a\x07\x00"
        + block(0x73, 0, bytes(6))
        + block(0x74, 0x8000, fields + encoded)
        + content
        + block(0x7B, 0x4000, b"")
    )


TOY = b"0123456789" * 60_000
"""What the file of `toy_in_catalogue` holds."""


@contextmanager
def toy_in_catalogue(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[Server]:
    """A server, and a dataset `toy` of two examples in the catalogue whose one file it has to give out."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("PLL_DATA", str(home))
    monkeypatch.delenv("PLL_DATA_PATH", raising=False)
    data = PartialLabelDataset(X=np.array([[0.0], [1.0]], dtype=np.float32), y=np.array([0, 1]))
    with Server() as running:
        checksum = Checksum("sha256", hashlib.sha256(TOY).hexdigest())
        file = file_of(urls=(f"{running.url}/toy.data",), checksum=checksum, megabytes=0.6)
        monkeypatch.setitem(CATALOG, "toy", entry_of(file, loader=lambda _: data))
        yield running
