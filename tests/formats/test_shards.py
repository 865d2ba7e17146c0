"""A folder of Parquet files is one table, read in pieces."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pll.io
from pll import formats
from pll.catalog.sources import source_of
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import is_mapped
from pll.runs import fit_loop
from pll.runs.folder import RunFolder
from tests.run_helpers import config

N = 120


def table(n: int = N, d: int = 3, *, vectors: bool = False) -> pa.Table:
    """A table of numbers with missing cells, candidate sets as lists, true labels and ids."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 4
    names = ["ant", "bee", "cat", "dog"]
    X = rng.normal(size=(n, d)).astype(np.float32) + y[:, None]
    columns = {f"x{k}": pa.array(X[:, k], mask=rng.random(n) < 0.02) for k in range(d)}
    if vectors:
        columns["embedding"] = pa.array([None if i == 5 else [float(i), 0.5, -1.25] for i in range(n)])
    sets = [[names[label], names[(label + 1 + i % 3) % 4]] for i, label in enumerate(y)]
    return pa.table(
        {
            "id": pa.array([f"row {i}" for i in range(n)]),
            **columns,
            "candidates": pa.array(sets),
            "true_label": pa.array([names[label] for label in y]),
        }
    )


def in_shards(whole: pa.Table, folder: Path, count: int = 3, rows: int = 17) -> Path:
    """Write a table as files of unequal lengths."""
    folder.mkdir()
    cuts = [0, *(len(whole) * k // count - k for k in range(1, count)), len(whole)]
    for k in range(count):
        pq.write_table(
            whole.slice(cuts[k], cuts[k + 1] - cuts[k]), folder / f"part-{k:05}.parquet", row_group_size=rows
        )
    return folder


def assert_same(one: PartialLabelDataset, other: PartialLabelDataset) -> None:
    assert one.fingerprint == other.fingerprint and one.feature_names == other.feature_names
    assert one.sets() == other.sets() and one.kind == other.kind


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("limit", [0, 2**30])
def test_a_folder_reads_as_one_file_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vectors: bool, limit: int
) -> None:
    whole = table(vectors=vectors)
    pq.write_table(whole, tmp_path / "whole.parquet")
    expected = formats.read(tmp_path / "whole.parquet")
    monkeypatch.setattr(pll.io, "FEATURES_IN_MEMORY_UP_TO", limit)
    data = formats.read(in_shards(whole, tmp_path / "shards"))
    assert is_mapped(data.X) == (limit == 0)
    assert_same(data, expected)


def test_features_never_lie_in_memory_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(0).normal(size=(100, 40_000)).astype(np.float32)
    columns = {f"x{k}": pa.array(column) for k, column in enumerate(numbers)}
    whole = pa.table(columns | {"candidates": pa.array(["ant|bee", "bee", "cat|dog", "dog"] * 10_000)})
    folder = in_shards(whole, tmp_path / "shards", rows=4096)
    del numbers, columns, whole
    monkeypatch.setattr(pll.io, "FEATURES_IN_MEMORY_UP_TO", 0)
    formats.read(in_shards(table(), tmp_path / "few"))  # imports would be traced, which takes longer than all the rest
    formats.columns(folder)  # and so would the rules of the roles, which look at the first rows alone
    tracemalloc.start()
    try:
        pool = pa.total_allocated_bytes()
        data = formats.read(folder)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert data.X.nbytes == 16_000_000 and is_mapped(data.X)
    assert peak < 12_000_000 and pa.total_allocated_bytes() - pool < 4_000_000


def test_a_run_on_a_folder_is_that_on_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = table()
    pq.write_table(whole, tmp_path / "whole.parquet")
    made = []
    for place, limit in ((tmp_path / "whole.parquet", 2**30), (in_shards(whole, tmp_path / "shards"), 0)):
        monkeypatch.setattr(pll.io, "FEATURES_IN_MEMORY_UP_TO", limit)
        folder = RunFolder(tmp_path / f"run {limit}")
        folder.create(config(tmp_path, source=source_of(str(place)), flip=None, holdout=None))
        folder.lock()
        fit_loop.FitLoop(folder).train()
        folder.unlock()
        made.append((folder.path / "labels.csv").read_bytes())
    assert made[0] == made[1]


def test_files_that_do_not_belong_together_are_refused_by_name(tmp_path: Path) -> None:
    folder = in_shards(table(), tmp_path / "shards")
    pq.write_table(table().drop_columns(["x1"]), folder / "part-00009.parquet")
    with pytest.raises(UserError, match=r"part-00009\.parquet has other columns than part-00000.*x1"):
        formats.read(folder)
    (folder / "part-00009.parquet").write_bytes(b"PAR1 cut off")
    with pytest.raises(UserError, match=r"part-00009\.parquet"):
        formats.read(folder)
    (folder / "part-00009.parquet").rename(folder / "test-00000.parquet")
    (folder / "part-00000.parquet").rename(folder / "train-00000.parquet")
    with pytest.raises(UserError, match="--test FOLDER"):
        formats.read(folder)
