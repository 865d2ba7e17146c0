"""Thousands of damaged files: each gives a message that names the file, or a dataset; quickly, in little memory.

What is generated is in `hostile`. The suite reads some hundred files; under `--hypothesis-profile random`, which
looks for new examples, it reads ten thousand others.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import re
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sized
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import settings

from pll import formats
from pll.errors import UserError
from pll.images import encode

from .hostile import VARIANTS, Damage, flipped, rewritten, shuffled, truncated, v73_file, whole_file

SECONDS = 10
"""Of the processor: how long it takes otherwise depends on who else is at work."""
BYTES = 2**30
THOROUGH = settings.default.max_examples > 50
"""Whether new examples are looked for."""
FILES, SEED = (250, 1) if THOROUGH else (5, 0)
"""Files of each kind of damage and each variant, and where their random numbers start."""

STATUS = Path("/proc/self/status")


def memory(what: str) -> int:
    """Bytes this process holds (`VmRSS`), or held at most since `forget_peak` (`VmHWM`)."""
    if not STATUS.exists():  # not Linux: the most it ever held
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024


def forget_peak() -> None:
    """From here on, count anew the most memory that is held."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def survives(path: Path, content: bytes) -> bool:
    """Whether a dataset came out; if not, it was a `UserError` that names the file; in time and memory either way.

    What the columns of a table are taken for, as the data page shows it first, is asked for as well.
    """
    path.write_bytes(content)
    forget_peak()
    before, start = memory("VmRSS"), time.process_time()
    for look in (formats.columns, formats.read):
        try:
            result: Sized | None = look(path)
        except UserError as error:
            assert path.name in str(error) and len(str(error)) < 2000 and "Traceback" not in str(error)
            result = None
    seconds, grown = time.process_time() - start, memory("VmHWM") - before
    assert seconds < SECONDS and grown < BYTES
    return result is not None and len(result) > 0


@pytest.mark.parametrize("variant", list(VARIANTS))
@pytest.mark.parametrize("kind", ["truncated", "flipped", "shuffled", "rewritten"])
def test_damaged_files_give_a_message_or_a_dataset(tmp_path: Path, variant: str, kind: str) -> None:
    damage = {"truncated": truncated, "flipped": flipped, "shuffled": shuffled, "rewritten": rewritten(variant)}[kind]
    whole, path = whole_file(tmp_path, variant), tmp_path / f"bad.{VARIANTS[variant]}"
    assert survives(path, whole)
    outcomes = [survives(path, content) for content in damage(whole, np.random.default_rng(SEED), FILES)]
    assert len(outcomes) >= FILES // 2
    assert False in outcomes  # the damage was real


@pytest.mark.parametrize("damage", [truncated, flipped, shuffled])
def test_damaged_files_of_version_73(tmp_path: Path, damage: Damage) -> None:
    whole, path = v73_file(tmp_path), tmp_path / "bad.mat"
    assert survives(path, whole)
    outcomes = [survives(path, content) for content in damage(whole, np.random.default_rng(SEED), FILES // 2)]
    assert damage is shuffled or False in outcomes  # two shuffled ones may all be read


def wide(columns: int) -> bytes:
    header = ",".join(f"c{k}" for k in range(columns))
    return f"{header},candidates\n{','.join('1' * columns)},a\n{','.join('2' * columns)},b\n".encode()


def parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def archive(*members: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            packed.writestr(name, content)
    return file.getvalue()


def fields(line: bytes) -> bytes:
    """A record with 10,000 more fields, each of which could be an example of PLCIFAR10."""
    return line % b",".join(b'"f%d": [["a"]]' % k for k in range(10_000))


def matlab(variables: dict[str, Any]) -> bytes:
    import scipy.io  # each heavy file is read in a process of its own, which had better start soon

    file = io.BytesIO()
    scipy.io.savemat(file, variables)
    return file.getvalue()


def deep(levels: int) -> pa.Array:
    """One list in a list in a list …"""
    array = pa.array([1])
    for _ in range(levels):
        array = pa.ListArray.from_arrays(pa.array([0, 1]), array)
    return array


MB = 2**20
PNG = encode(np.zeros((3, 3), dtype=np.uint8))
HEAVY: dict[str, tuple[str, Callable[[], bytes], str | None]] = {
    "10,000 columns": ("csv", lambda: wide(10_000), None),
    "10,000 fields": ("jsonl", lambda: b"{%s}\n" % b",".join(b'"f%d":1' % k for k in range(10_000)) * 20, None),
    "10,000 columns, typed": ("parquet", lambda: parquet(pa.table({f"c{k}": [1, 2] for k in range(10_000)})), None),
    **{
        f"10,000 fields, {tool}": (suffix, partial(fields, line), None)
        for tool, suffix, line in (
            ("Label Studio", "json", b'[{"id": 1, "data": {"text": "t", %s}}]'),
            ("Argilla", "json", b'[{"id": "1", "fields": {"text": "t"}, "metadata": {%s}}]'),
            ("Prodigy", "jsonl", b'{"text": "t", "options": [{"id": "a"}], %s}'),
            ("doccano", "jsonl", b'{"text": "t", "label": ["a"], %s}'),
            ("PLCIFAR10", "json", b'{"0": [["a"], ["b"]], %s}'),
        )
    },
    "10,000 annotators": (
        "csv",
        lambda: (
            b",".join(b"a%d" % k for k in range(10_000)).join([b",", b"\n"])
            + b"\n".join(b"%d" % r + b",1" * 10_000 for r in range(3))
        ),
        None,
    ),
    "10,000 arrays": ("npz", lambda: archive(*((f"a{k}.npy", b"") for k in range(10_000))), "X .*is missing"),
    "10,000 variables": ("mat", lambda: matlab({f"v{k}": np.ones((1, 1)) for k in range(10_000)}), "variable data"),
    "10,000 columns beside pictures": (
        "zip",
        lambda: archive(
            ("t.csv", b"image," + wide(10_000).replace(b"\n", b"\na.png,", 2).removesuffix(b"a.png,")), ("a.png", PNG)
        ),
        None,
    ),
    "deep in a task": (
        "json",
        lambda: b'[{"data": {"text": "t", "a": ' + b'{"a": ' * 10**5 + b"1" + b"}" * (10**5 + 3) + b"]",
        "nested too deeply",
    ),
    "deep in a line": (
        "jsonl",
        lambda: b'{"text": "t", "label": ["a"], "x": ' + b"[" * 10**6 + b"]" * 10**6 + b"}\n",
        "nested too deeply|more than 1,000,000 values",
    ),
    "deep in a column": (
        "parquet",
        lambda: parquet(pa.table({"x": deep(80), "candidates": ["a"]})),
        "too deeply nested",
    ),
    "a label of 15 MB": ("jsonl", lambda: b'{"text": "t", "label": ["' + b"a" * (15 * MB) + b'"]}\n', "label"),
    "a task of 15 MB": ("json", lambda: b'[{"id": 1, "data": {"text": "' + b"a" * (15 * MB) + b'"}}]', None),
    "a million ids, one twice": (
        "csv",
        lambda: b"id,x,candidates\n" + b"\n".join(b"%d,1,a" % (k % 999_999) for k in range(10**6)),
        "the same id",
    ),
    "a cell of 15 MB": ("csv", lambda: b"text,candidates\n" + b"a" * (15 * MB) + b",x\n", None),
    "a name of 15 MB": ("csv", lambda: b"x,candidates\n1," + b"a" * (15 * MB) + b"\n", "holds a label of"),
    "millions of lists": (
        "jsonl",
        lambda: b'{"y": 1, "x": [' + b"[]," * (5 * MB) + b"[]]}\n",
        "An object holds more than 1,000,000 values",
    ),
    "millions of answers": (
        "json",
        lambda: b'{"0": [' + b"[]," * (5 * MB) + b"[]]}",
        "more than 2,500,000 values|more than 1,000,000 values",
    ),
    "only brackets": ("json", lambda: b"[" * (40 * MB), "Row 1: Where an object"),
    "only an open string": ("json", lambda: b'[{"a": "' + b"a" * (60 * MB), "An object is longer"),
    "rows of nothing": (
        "parquet",
        lambda: parquet(pa.table({"x": pa.nulls(40_000_000, pa.int8())})),
        "fill the memory",
    ),
    "one text in all rows": (
        "parquet",
        lambda: parquet(pa.table({"text": pa.DictionaryArray.from_arrays(np.zeros(100_000, np.int32), ["x" * 10**5])})),
        "would take|fill the memory",
    ),
    "a bomb of arrays": ("npz", lambda: archive(("X.npy", npy(300 * MB))), "fill the memory"),
    "a bomb of a table": ("zip", lambda: archive(("t.csv", bytes(300 * MB)), ("a.png", b"")), "fill the memory"),
    "a zip of zips": ("zip", lambda: archive(("a.zip", archive(("b.png", b"x"))), ("a.png", b"x")), "in no folder"),
    "a million files": ("zip", lambda: directory(1_100_000), "more files than are read"),
}


def npy(size: int) -> bytes:
    """A header and zeros."""
    text = f"{{'descr': '|u1', 'fortran_order': False, 'shape': (300, {size // 300}), }}".encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(size // 300 * 300)


def directory(count: int) -> bytes:
    """A ZIP archive whose directory lists one empty picture over and over."""
    one = archive(("cat/a.png", b""))
    at = one.index(b"PK\x01\x02")
    entry = one[at : one.index(b"PK\x05\x06")]
    end = b"PK\x05\x06" + bytes(8) + (len(entry) * count).to_bytes(4, "little") + at.to_bytes(4, "little") + bytes(2)
    return one[:at] + entry * count + end


@pytest.fixture(scope="module")
def read_alone() -> Iterator[Callable[[Path], tuple[str, float, int]]]:
    """`read_alone(path)`: the message, seconds and bytes of reading a file in a process of its own.

    These are children of one process that has everything imported and has read nothing yet.
    """
    program = "from tests.formats.test_damaged import read_in_children; read_in_children()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], text=True, **pipes) as parent:

        def read(path: Path) -> tuple[str, float, int]:
            print(path, file=parent.stdin, flush=True)
            message, seconds, grown = json.loads(parent.stdout.readline())
            return message, seconds, grown

        yield read
        parent.stdin.close()


def read_in_children() -> None:
    """For each path on standard input, print a line of JSON: message (or ""), seconds, bytes."""
    for line in sys.stdin:
        child = os.fork()
        if child:
            assert os.waitpid(child, 0)[1] == 0
            continue
        forget_peak()
        before, start = memory("VmRSS"), time.process_time()
        message = ""
        try:
            formats.read(Path(line.rstrip("\n")))
        except UserError as error:
            message = str(error)
        print(json.dumps([message, time.process_time() - start, memory("VmHWM") - before]), flush=True)
        os._exit(0)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(HEAVY))
def test_what_is_made_to_take_long_or_much_does_neither(tmp_path: Path, name: str, read_alone: Any) -> None:
    suffix, make, words = HEAVY[name]
    path = tmp_path / f"bad.{suffix}"
    path.write_bytes(make())
    message, seconds, grown = read_alone(path)
    assert seconds < SECONDS and grown < BYTES
    if words is None:
        assert message == ""
    else:
        assert re.search(rf"(?s)^bad\.{suffix}: .*({words})", message)


class Trap:
    """A pickle of it writes a file as it is opened."""

    def __init__(self, where: Path) -> None:
        self.where = where

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.where,)


def strangers(trap: Trap) -> dict[str, bytes]:
    """What else people upload, or slip in."""
    import torch

    objects, array, torched = io.BytesIO(), io.BytesIO(), io.BytesIO()
    hidden = np.array([trap, trap], dtype=object)
    np.savez(objects, X=hidden, candidates=hidden)
    np.save(array, hidden)
    torch.save({"X": trap}, torched)
    return {
        "a pickle": pickle.dumps(trap),
        "an old pickle": pickle.dumps(trap, protocol=0),
        "arrays of objects": objects.getvalue(),
        "one array of objects": array.getvalue(),
        "a torch file": torched.getvalue(),
        "compressed": gzip.compress(b"a,candidates\n1,x\n"),
        "a page": b"<!doctype html><html><body>Log in</body></html>",
        "a picture": encode(np.zeros((3, 3), dtype=np.uint8)),
        "a document": b"%PDF-1.7 " + bytes(range(256)),
        "a spreadsheet": archive(("[Content_Types].xml", b"<x/>"), ("xl/workbook.xml", b"<x/>")),
        "a zip that climbs": archive(("../../climbed.png", encode(np.zeros((3, 3), dtype=np.uint8)))),
        "nothing": b"",
        "spaces": b" \n\n \t",
        "zeros": bytes(5000),
        "noise": np.random.default_rng(0).bytes(5000),
        "half a character": b'{"text": "\xc3',
    }


@pytest.mark.parametrize("suffix", sorted(set(VARIANTS.values())))
def test_strangers_are_refused_and_nothing_of_them_runs(tmp_path: Path, suffix: str) -> None:
    trap = Trap(tmp_path / "it ran")
    for name, content in strangers(trap).items():
        result = survives(tmp_path / f"stranger.{suffix}", content)
        assert not result or name == "an old pickle", name  # that one is a text, and no more to us
    assert not trap.where.exists() and not (tmp_path.parent.parent / "climbed.png").exists()
