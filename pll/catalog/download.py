"""Download the files of a dataset: mirrors, retries and progress; checked, then put in place by one rename.

Transfers are requests' and urllib3's. docs/decisions.md says why not pooch's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pll
from pll.catalog.entry import Checksum, DownloadProgress, File, Needed
from pll.catalog.files import (
    BadArchive,
    archive_name,
    folder_of,
    have,
    is_archive,
    locate_archive,
    mismatch,
    unpack,
)
from pll.errors import UserError
from pll.io import write_atomically

if TYPE_CHECKING:
    import requests

OPENML = "https://www.openml.org/api/v1/json/data/{}"
TIMEOUT = 20.0
"""Seconds without a byte after which an attempt is given up."""
RETRIES = 2
"""Further attempts at one address after a failure that may pass: no answer, a busy server, a broken connection."""
BACKOFF = 0.5
"""Seconds; urllib3 waits `BACKOFF * 2**k` before the further attempts, but the first."""

_CHUNK = 1 << 18
_BUSY = (429, 500, 502, 503, 504)  # HTTP states that may pass


@dataclass(frozen=True)
class Obtained:
    """Paths of the files of an entry, by `File.name`, and the downloaded ones among them that have no checksum."""

    paths: dict[str, Path]
    unproven: tuple[Path, ...] = ()


class _Unavailable(Exception):
    """Raised when one address does not serve the file; the next one may."""


class _BrokenBody(_Unavailable):
    """Raised when the connection breaks within the file."""


def obtain(entry: Needed, progress: DownloadProgress | None = None, download: bool = True) -> Obtained:
    """Return the files an entry needs, as found on this machine, else unpacked or downloaded into the cache.

    Parameters
    ----------
    entry
        What is needed.
    progress
        Called as bytes come.
    download
        Whether what is missing is fetched.

    Raises
    ------
    UserError
        a file is not the published one, or is missing and cannot (or must not) be downloaded, or the cache is not
        writable. The message says what to do.
    """
    paths: dict[str, Path] = {}
    missing: list[File] = []
    for need in entry.needs:
        result = have(need)
        if result is None:
            missing += need.download
        else:
            paths |= result
    archives = [locate_archive(file) for file in missing]
    if not all(archive or (download and file.downloadable) for file, archive in zip(missing, archives, strict=True)):
        raise UserError(by_hand(entry.title, missing))
    tally = _Tally(progress, missing)
    unproven = []
    for file, archive in zip(missing, archives, strict=True):
        with _writable(file):
            path = unpack(archive, file) if archive is not None else _download(entry, file, tally)
        tally.next()
        paths[file.name] = path
        if file.checksum is None:
            unproven.append(path)
    return Obtained(paths, tuple(unproven))


def _download(entry: Needed, file: File, tally: _Tally) -> Path:
    failures = []
    try:
        if file.openml is not None:
            file = _described_by_openml(file)
        for url in file.urls:
            try:
                return _from(url, file, tally)
            except _Unavailable as failure:
                failures.append(f"{url}: {failure}")
    except _Unavailable as failure:
        failures.append(str(failure))
    raise UserError(
        f"{entry.title} needs {file.name}, and it could not be downloaded ({'; '.join(failures)}). "
        f"Check the network and try again, or {_put(file)}; it works from there."
    )


def _from(url: str, file: File, tally: _Tally) -> Path:
    """Download a file (or its archive) from one address, verify it and move it into place."""
    is_packed = is_archive(url, file)
    target = folder_of(file) / (archive_name(url) if is_packed else file.name)

    def receive(part: Path) -> None:
        _receive(url, part, tally)
        if not is_packed and (problem := mismatch(part, file)):
            raise _Unavailable(f"what came is not the published file: {problem}; nothing was kept")

    write_atomically(target, receive)
    if not is_packed:
        return target
    try:
        path = unpack(target, file)
    except BadArchive as bad:
        target.unlink()
        raise _Unavailable(f"{bad.reason}; nothing was kept") from bad
    target.unlink()  # it stays where no program unpacks it: the user does then
    return path


def _receive(url: str, target: Path, tally: _Tally) -> None:
    for attempt in range(RETRIES + 1):
        try:
            with _opened(url) as answer, target.open("wb") as out:
                length = answer.headers.get("Content-Length", "")
                expected = int(length) if length.isdigit() else None
                done = 0
                # Not decoded: servers may send a .gz as "Content-Encoding: gzip", and its checksum is the .gz's.
                for chunk in answer.raw.stream(_CHUNK, decode_content=False):
                    out.write(chunk)
                    done += len(chunk)
                    tally.now(done, expected)
            return
        except _BrokenBody:
            if attempt == RETRIES:
                raise


@contextmanager
def _opened(url: str) -> Iterator[requests.Response]:
    """Open an address; retried `RETRIES` times where a server cannot be reached or is busy.

    Raises
    ------
    _Unavailable
        No answer, or an error of the server.
    _BrokenBody
        The connection broke while the answer was read.
    """
    import requests  # imported here: only a download needs it, and it takes a tenth of a second
    import urllib3

    retry = urllib3.Retry(
        RETRIES,
        backoff_factor=BACKOFF,
        status_forcelist=_BUSY,
        raise_on_status=False,
        respect_retry_after_header=False,  # it may demand hours
    )
    try:
        with requests.Session() as session:
            for scheme in ("http://", "https://"):
                session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=retry))
            session.headers.update({"User-Agent": f"candid/{pll.__version__}", "Accept-Encoding": "identity"})
            with session.get(url, stream=True, timeout=TIMEOUT) as answer:
                answer.raise_for_status()
                yield answer
    except requests.RequestException as error:  # it may wrap urllib3's "tried too often", whose reason says more
        cause = error.args[0] if error.args else None
        raise _Unavailable(f"{getattr(cause, 'reason', None) or error}" or type(error).__name__) from error
    except urllib3.exceptions.HTTPError as error:
        raise _BrokenBody(f"the connection broke: {error}") from error


@contextmanager
def _writable(file: File) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{folder_of(file)} cannot be written to ({error.strerror or error}). Free some space there, or set "
            f"PLL_DATA to a folder with {file.megabytes:.0f} MB to spare."
        ) from error


def _described_by_openml(file: File) -> File:
    """Return the file with the address and checksum that OpenML's API gives for its data id."""
    url = OPENML.format(file.openml)
    try:
        with _opened(url) as answer:
            about = json.loads(answer.raw.read(_CHUNK, decode_content=True))["data_set_description"]
        return replace(file, urls=(about["url"],), checksum=Checksum("md5", about["md5_checksum"]))
    except (_Unavailable, ValueError, KeyError, TypeError) as error:
        raise _Unavailable(f"{url}: {error}") from error


def by_hand(title: str, missing: Sequence[File]) -> str:
    """Return which files of a dataset to put where.

    Parameters
    ----------
    title
        Of the data set.
    missing
        The files that are not here.
    """
    return f"{title} is not on this machine. To load it, {'; '.join(map(_put, missing))}."


def _put(file: File) -> str:
    source = f"see {file.page}"
    if file.urls:
        url = file.urls[0]
        source = f"{'out of' if is_archive(url, file) else 'from'} {url}, {source}"
    return f"put {file.name} ({source}) into {folder_of(file)}"


class _Tally:
    """Combined progress of several downloads, in bytes."""

    def __init__(self, progress: DownloadProgress | None, files: Sequence[File]) -> None:
        self._progress = progress
        self._sizes = [round(file.megabytes * 1e6) for file in files]
        self._at = 0
        self._before = 0
        self._current = 0

    def now(self, done: int, expected: int | None) -> None:
        """Report the bytes of the current file received so far."""
        self._current = done
        if self._progress is not None:
            later = sum(self._sizes[self._at + 1 :])
            total = None if expected is None else self._before + max(done, expected) + later
            self._progress(self._before + done, total)

    def next(self) -> None:
        """Start the next file."""
        self._before += self._current
        self._current = 0
        self._at += 1
