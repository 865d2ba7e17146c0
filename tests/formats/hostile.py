"""Bad files by the thousand: whole files of every format, cut, flipped, shuffled, and rewritten with hostile values."""

from __future__ import annotations

import copy
import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse

from pll import formats
from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.images import Pictures, encode

VARIANTS = {
    **{name: form.suffixes[0].removeprefix(".") for name, form in formats.FORMATS.items()},
    **{"long form": "csv", "npz, plain": "npz", "mat, plain": "mat", "mat, struct": "mat", "folders": "zip"},
}
"""A whole file of each of these, and how its name ends."""

MATRIX = np.arange(8.0).reshape(4, 2)
SETS = CandidateSets.from_lists([[0, 1], [1], [0, 2], [2]], 3, ("a|b", "é", "c"))


def dataset() -> PartialLabelDataset:
    """A little of everything."""
    annotations = Annotations([0, 0, 1, 2], [0, 1, 0, 1], [0, 1, 1, 2], 4, SETS.class_names, ("ann", "bob"))
    column = np.array(["one", "two", "", "日本"], dtype=object)
    png = encode(np.zeros((3, 2), dtype=np.uint8))
    pictures = Pictures(
        np.array([f"p/{k}.png" for k in range(4)], dtype=object), None, np.array([png] * 4, dtype=object)
    )
    return PartialLabelDataset(
        MATRIX,
        SETS,
        np.array([0, 1, -1, 2]),
        ids=np.array(list("wxyz")),
        feature_names=("width", "height"),
        texts=column,
        pictures=pictures,
        categories={"colour": np.array(["red", None, "blue", "red"], dtype=object)},
        extras={"note": np.array([1, None, [2], "x"], dtype=object)},
        annotations=annotations,
        is_test=np.array([False, True, False, True]),
    )


def whole_file(folder: Path, variant: str) -> bytes:
    """A file that reads."""
    path = folder / f"whole.{VARIANTS[variant]}"
    variables: dict[str, Any] = {
        "data": MATRIX,
        "partial_target": scipy.sparse.csc_matrix(SETS.mask().T),
        "target": np.eye(3)[:, [0, 1, 2, 2]],
    }
    if variant == "long form":
        return b"task,annotator,label,width\na,1,x,0.5\na,2,y,0.5\nb,1,y,1.5\nc,2,x,2.5\n"
    if variant == "folders":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("train/cat/1.png", "train/cat;dog/2.png", "test/dog/3.png"):
                archive.writestr(name, encode(np.zeros((3, 2), dtype=np.uint8)))
        return file.getvalue()
    if variant.startswith("mat"):
        fields = {"all": variables} if variant == "mat, struct" else variables
        scipy.io.savemat(path, fields, do_compression=variant != "mat, plain")
    elif variant == "npz, plain":
        np.savez(path, X=MATRIX, candidates=SETS.mask(), y=np.array([0, 1, -1, 2]), ids=np.array(list("wxyz")))
    else:
        formats.write(dataset(), path, variant)
    return path.read_bytes()


def v73_file(folder: Path) -> bytes:
    """A MATLAB v7.3 file that reads; reading one starts a process, so that these are few."""
    path = folder / "whole.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("data", data=MATRIX.T, chunks=True, compression="gzip")
        file.create_dataset("partial_target", data=SETS.mask().astype(float))
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    return path.read_bytes()


Damage = Callable[[bytes, np.random.Generator, int], Iterator[bytes]]


def truncated(content: bytes, rng: np.random.Generator, count: int) -> Iterator[bytes]:
    """Cut off at places spread over the file."""
    for end in np.linspace(0, len(content) - 1, count).astype(int).tolist():
        yield content[:end]


def flipped(content: bytes, rng: np.random.Generator, count: int) -> Iterator[bytes]:
    """A few bits changed."""
    for _ in range(count):
        damaged = bytearray(content)
        for at in rng.integers(len(content), size=rng.integers(1, 4)):
            damaged[at] ^= 1 << int(rng.integers(8))
        yield bytes(damaged)


def shuffled(content: bytes, rng: np.random.Generator, count: int) -> Iterator[bytes]:
    """A stretch left out, replaced by noise, or doubled; or the whole in another encoding."""
    for _ in range(count):
        start, end = sorted(rng.integers(len(content), size=2).tolist())
        kind = rng.integers(4)
        if kind == 3:
            yield content.decode("utf-8", "replace").encode(
                ("utf-16", "latin-1", "utf-32")[int(rng.integers(3))], "replace"
            )
            continue
        middle = (b"", rng.bytes(end - start), content[start:end] * 2)[kind]
        yield content[:start] + middle + content[end:]


HOSTILE: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, 10**400, float("nan"), float("inf"), "", " ", "NA", "\x00", "\ud800", "w", "x" * 70_000,
    "a|b|c", "[", '["a"', "=1+1", "../../etc/passwd", [], [[]], [["a"]], {}, {"a": {}}, [1, "a", None], {"value": None},
    ["a"] * 3000, "1,5", "é\u202e", json.loads("[" * 300 + "]" * 300),
)  # fmt: skip
"""Values that careless readers trip over."""


def rewritten(variant: str) -> Damage:
    """Damage that keeps a file's form and puts hostile values in: the way depends on what the file is made of."""
    suffix = VARIANTS[variant]
    if suffix in ("csv", "tsv"):
        return _cells
    if suffix in ("json", "jsonl"):
        return _json
    ways = {"parquet": _parquet, "npz": _arrays, "mat": _variables, "zip": _members, "xlsx": _members}
    return ways.get(suffix, flipped)


def _pick(rng: np.random.Generator) -> Any:
    return copy.deepcopy(HOSTILE[int(rng.integers(len(HOSTILE)))])


def _cells(content: bytes, rng: np.random.Generator, count: int) -> Iterator[bytes]:
    mark = "\t" if b"\t" in content else ","
    rows = list(csv.reader(io.StringIO(content.decode()), delimiter=mark))
    for _ in range(count):
        table = [list(row) for row in rows]
        for _ in range(int(rng.integers(1, 4))):
            row = table[int(rng.integers(len(table)))]
            value = _pick(rng)
            row[int(rng.integers(len(row)))] = value if isinstance(value, str) else str(value)[:4000]
        if rng.integers(4) == 0:
            table.append(list(table[int(rng.integers(len(table)))]))  # an id twice, or a row too short
            table[-1] = table[-1][: int(rng.integers(1, len(table[-1]) + 1))]
        out = io.StringIO()
        csv.writer(out, delimiter=mark).writerows(table)
        yield out.getvalue().encode("utf-8", "surrogatepass")


def _json(content: bytes, rng: np.random.Generator, count: int) -> Iterator[bytes]:
    lines = not content.lstrip().startswith(b"[") and content.count(b"\n") > 1
    whole = [json.loads(line) for line in content.splitlines()] if lines else json.loads(content)
    for _ in range(count):
        tree = json.loads(json.dumps(whole))
        for _ in range(int(rng.integers(1, 4))):
            place: Any = tree
            while isinstance(place, dict | list) and len(place):
                keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
                key = keys[int(rng.integers(len(keys)))]
                if not isinstance(place[key], dict | list) or not place[key] or rng.integers(3) == 0:
                    place[key] = _pick(rng)
                    break
                place = place[key]
        if isinstance(tree, list) and rng.integers(4) == 0:
            tree.append(tree[int(rng.integers(len(tree)))])
        text = "\n".join(map(json.dumps, tree)) if lines and isinstance(tree, list) else json.dumps(tree)
        yield text.encode("utf-8", "surrogatepass")


def _parquet(content: bytes, rng: np.random.Generator, count: int) -> Iterator[bytes]:
    table = pq.read_table(io.BytesIO(content))
    others = [
        pa.array([1, None, 3, 4]), pa.array([0.5, float("nan"), np.inf, None]), pa.array([b"\xff", b"", None, b""]),
        pa.array([[1], [], None, [9]]), pa.array([["a"], [None], None, ["b", "b"]]), pa.array([{"a": 1}, None, {}, {}]),
        pa.array(["x" * 70_000, None, "", "w"]), pa.array([True, False, None, True]), pa.nulls(4),
        pa.array([10**9, -5, 7, 2**40]), pa.array(["w", "w", "w", "w"]), pa.array([1, 2, 3, 4], pa.timestamp("s")),
        pa.array(["a", "b", "a", None]).dictionary_encode(), pa.array([1, 2, 3, 4], pa.decimal128(5, 2)),
    ]  # fmt: skip
    for _ in range(count):
        changed = table
        for _ in range(int(rng.integers(1, 3))):
            at = int(rng.integers(table.num_columns))
            changed = changed.set_column(at, table.schema.names[at], others[int(rng.integers(len(others)))])
        metadata = dict(table.schema.metadata)
        if rng.integers(3) == 0:
            key = list(metadata)[int(rng.integers(len(metadata)))]
            metadata[key] = json.dumps(_pick(rng)).encode() if rng.integers(2) else b"{" * 2000
        out = io.BytesIO()
        pq.write_table(changed.replace_schema_metadata(metadata), out)
        yield out.getvalue()


def _odd_array(rng: np.random.Generator) -> Any:
    unusual: tuple[Any, ...] = (
        np.empty((0, 2)), np.ones((4, 2, 2)), np.array(["a", "b", "c", "d"]), np.array([0.5, np.nan, np.inf, -1]),
        np.array([2**62, -(2**62), 0, 1]), np.ones((4, 3), dtype=bool), np.ones((4, 2), dtype=complex), np.array(7),
        np.array([[1], [2, 3]], dtype=object), np.zeros((4, 10_000), dtype=np.uint8), np.array([b"\xff"] * 4),
        np.array(["w"] * 4), np.array([-1, 5, 0, 1]), np.zeros(4, dtype="M8[D]"), np.array([1e308, 1, 1, 1]),
    )  # fmt: skip
    return unusual[int(rng.integers(len(unusual)))]


def _arrays(content: bytes, rng: np.random.Generator, count: int) -> Iterator[bytes]:
    with np.load(io.BytesIO(content)) as file:
        arrays = {name: file[name] for name in file.files}
    for _ in range(count):
        changed: dict[str, Any] = dict(arrays)
        for _ in range(int(rng.integers(1, 3))):
            name = list(arrays)[int(rng.integers(len(arrays)))]
            if rng.integers(4):
                changed[name] = _odd_array(rng)
            else:
                changed.pop(name, None)
        out = io.BytesIO()
        np.savez(out, **changed)
        yield out.getvalue()


def _variables(content: bytes, rng: np.random.Generator, count: int) -> Iterator[bytes]:
    loaded = scipy.io.loadmat(io.BytesIO(content), simplify_cells=True)
    variables = {name: value for name, value in loaded.items() if not name.startswith("__")}
    for _ in range(count):
        changed: dict[str, Any] = dict(variables)
        name = list(variables)[int(rng.integers(len(variables)))]
        value = _odd_array(rng)
        if value.dtype.kind == "M":
            continue
        changed[name] = {"data": value} if rng.integers(3) == 0 else value
        out = io.BytesIO()
        scipy.io.savemat(out, changed)
        yield out.getvalue()


def _members(content: bytes, rng: np.random.Generator, count: int) -> Iterator[bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = (
        "../x.png",
        "/etc/x.png",
        "C:\\x.png",
        "a" * 60_000 + ".png",
        "cat/\u202egnp.png",
        "x.csv",
        "cat/x.png/y.png",
    )
    for _ in range(count):
        changed = dict(members)
        name = list(members)[int(rng.integers(len(members)))]
        kind = int(rng.integers(5))
        if kind == 0:
            changed[names[int(rng.integers(len(names)))]] = members[name]
        elif kind == 1:
            changed[name] = b""
        elif kind == 2:
            del changed[name]
        elif kind == 3:
            changed[name] = rng.bytes(50)
        else:
            inside = _cells if name.endswith(".csv") else flipped
            changed[name] = next(inside(members[name], rng, 1))
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in changed.items():
                archive.writestr(member, data)
        yield out.getvalue()
