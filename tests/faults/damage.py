"""Every file of a run damaged in every way: what commands and pages then do.

An answer is right where it is that of the sound run, or a message that names what is wrong. Anything else is counted:
a traceback, and a label or prediction that differs without a word.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pll.cli.main import main
from pll.runs.files import MANIFEST_FILE
from pll.runs.manifest import listed_files


def truncated(content: bytes) -> bytes:
    """The second half is missing."""
    return content[: len(content) // 2]


def flipped(content: bytes, share: float = 0.5) -> bytes:
    """One bit is another one, at this share of the file."""
    at = min(int(len(content) * share), len(content) - 1)
    return content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :]


WAYS: dict[str, Callable[[bytes], bytes | None]] = {
    "truncate": truncated,
    "flip": flipped,
    "delete": lambda content: None,
    "empty": lambda content: b"",
}
"""Way → the damaged content; None for no file."""


@dataclass(frozen=True)
class Case:
    """A file, and what happens to it."""

    name: str
    way: str


def cases(run: Path, *, most_frames: int = 2) -> Iterator[Case]:
    """Yield every file of a run with every way; of the frames of the history a few, which are all alike."""
    names = [*listed_files(run), MANIFEST_FILE]
    frames = [name for name in names if name.startswith("history/frames/")]
    for name in names:
        if name in frames and frames.index(name) >= most_frames:
            continue
        content = (run / name).read_bytes()
        for way, damage in WAYS.items():
            if content and damage(content) != content:
                yield Case(name, way)


def damaged(run: Path, case: Case, to: Path) -> Path:
    """Copy a run, with one file of it damaged."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(run, to)
    file = to / case.name
    content = WAYS[case.way](file.read_bytes())
    file.unlink() if content is None else file.write_bytes(content)
    return to


@dataclass(frozen=True)
class Answer:
    """What a command did.

    Attributes:
        status: exit status; None where it ended with a traceback.
        message: what it said on stderr, or the traceback.
        files: name → content of what it wrote.
    """

    status: int | None
    message: str
    files: dict[str, bytes]


def answer(arguments: list[str], out: Path) -> Answer:
    """Run a command of the shell in this process, and read what it wrote to `out`, a file or a folder."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            status: int | None = main(arguments)
    except BaseException:
        return Answer(None, traceback.format_exc(), {})
    files = [out] if out.is_file() else sorted(file for file in out.rglob("*") if file.is_file())
    return Answer(status, said.getvalue(), {file.name: file.read_bytes() for file in files})


COMMANDS: dict[str, Callable[[Path, Path, Path], list[str]]] = {
    "export": lambda run, data, out: ["export", str(run), "--out", str(out)],
    "convert": lambda run, data, out: ["convert", str(run), "--to", "csv", "--out", str(out / "labels.csv")],
    "predict": lambda run, data, out: ["predict", str(run), str(data), "--out", str(out / "predictions.csv")],
    "check": lambda run, data, out: ["check", str(run)],
}
"""Command → its arguments, given the folder of the run, data of the same kind, and a folder to write into."""
LABELS = ("labels.csv", "predictions.csv")
"""What must not differ without a word."""


def verdict(sound: Answer, found: Answer) -> str:
    """Return "same", "refused", "traceback" or "wrong"."""
    if found.status is None or "Traceback" in found.message:
        return "traceback"
    if found.status != 0:
        return "refused"
    return "same" if all(found.files.get(n) == sound.files.get(n) for n in LABELS) else "wrong"
