"""A file is read alike by the page and by the shell: every sample, and some files of the field where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pll.cli.declared import SynthesizeOptions
from pll.cli.main import cli
from pll.cli.options import resolve_source
from pll.errors import UserError
from pll.paths import app_root
from pll.ui.data import loader, upload

SAMPLES = sorted((app_root() / "assets" / "samples").iterdir())
FIELD = app_root().parent / "shared" / "field"
FILES = [*SAMPLES, *sorted(path for path in (FIELD.iterdir() if FIELD.is_dir() else ()) if path.suffix != ".md")[::4]]


def by_shell(path: Path) -> Any:
    given = cli.commands["synthesize"].make_context("synthesize", [str(path), "--out", "x"]).params
    return resolve_source(SynthesizeOptions(**given)).load()


def by_page(path: Path) -> Any:
    source = upload.store_upload(path.name, path.read_bytes())
    kind = upload._kind(str(source.path), source.sha256 or "")
    return loader.dataset(upload._with_own_votes(source, kind if kind != "beside" else ""))


def essence(read: Any, path: Path) -> Any:
    """What matters of a file as it was read; what is asked or refused, as a text."""
    try:
        data = read(path)
    except UserError as error:
        return str(error).replace(str(path), path.name)
    sets, annotations = data.candidates, data.annotations
    return (
        data.row_ids.tolist(),
        data.class_names,
        None if sets is None else (sets.indptr.tolist(), sets.indices.tolist()),
        None if data.y is None else data.y.tolist(),
        None if annotations is None else (annotations.annotator_names, annotations.labels.tolist()),
        data.feature_names,
        list(data.categories),
        [str(note) for note in data.notes],
    )


def test_tables_of_a_person_each_that_are_dropped_together_are_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLL_HOME", str(tmp_path))
    rows = {"amy": ["cat", "dog", "cat"], "ben": ["cat", "dog", "dog"], "cleo": ["dog", "dog", "cat"]}
    files = [
        upload.store_upload(
            f"{who}.csv",
            ("id,text,label\n" + "".join(f"{k},this is number {k},{x}\n" for k, x in enumerate(labels))).encode(),
        )
        for who, labels in rows.items()
    ]
    data = upload._together(files).load()
    assert data.annotations is not None and data.annotations.annotator_names == ("amy", "ben", "cleo")
    assert len(data) == 3 and data.texts is not None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_page_and_shell_read_a_file_alike(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLL_HOME", str(tmp_path))
    assert essence(by_page, path) == essence(by_shell, path)
