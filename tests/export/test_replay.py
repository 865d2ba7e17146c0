"""The replay of a run: what is in the file is what happened, and nothing else is needed to show it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.export.replay.film import SCALE, film, quantised
from pll.export.replay.page import replay_html, script
from pll.runs import fit_loop, run_data
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder
from pll.runs.history import History
from pll.synthesis import Flip
from pll.weights import identified_labels, normalise
from tests.run_helpers import config, write_data

NASTY = ("</script><script>alert(1)</script>", "{{film}}", "<!--", "a & b", "日本")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Six epochs on four classes with names that break pages."""
    root = tmp_path_factory.mktemp("replay")
    folder = RunFolder(root / "run")
    folder.create(config(write_data(root / "small.npz", class_names=np.array(NASTY[:4])), name=NASTY[0]))
    fit_loop.FitLoop(folder).train()
    return folder


@pytest.fixture(scope="module")
def data(run: RunFolder) -> PartialLabelDataset:
    return run_data.load_splits(run.config()).train


class Reader(HTMLParser):
    """The scripts of a page, and everything that a tag of it refers to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.refers: list[str] = []
        self._in_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append((dict(attrs), ""))
        self.refers += [
            f"{name}={value}" for name, value in attrs if name in ("src", "href", "srcset", "action", "data")
        ]
        self.refers += [tag] if tag in ("link", "iframe", "object", "embed", "base", "form") else []

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False


# ---- what is in it ---------------------------------------------------------------------------------------------------


def unpacked(content: bytes, count: int) -> np.ndarray:
    """The frames of a replay, read as film.js does."""
    low, high = np.frombuffer(zlib.decompress(content), dtype=np.uint8).astype(np.int32).reshape(2, count, -1)
    zigzag = low | high << 8
    return np.cumsum(np.where(zigzag & 1, -(zigzag + 1) // 2, zigzag // 2), axis=0).astype(np.uint16)


def test_what_is_in_it_is_what_happened(run: RunFolder, data: PartialLabelDataset) -> None:
    told, sets = film(run, data), data.sets()
    history = History(run.history, sets)
    frames = unpacked(base64.b64decode(told["frames"]), len(told["epochs"]))
    assert told["epochs"] == [0, 1, 2, 3, 4, 5, 6]
    for epoch, frame in zip(told["epochs"], frames, strict=True):
        weights = history.weights(epoch)
        assert np.abs(frame / SCALE - weights).max() <= 1.5 / SCALE
        assert identified_labels(frame.astype(np.float32), sets).tolist() == identified_labels(weights, sets).tolist()
    rows = run.metrics()
    assert told["metrics"]["loss"] == [None, *(round(row["loss"], 5) for row in rows)]
    assert told["metrics"]["changed_labels"] == [None, *(row["changed_labels"] for row in rows)]
    final = run.state()["metrics"]
    assert told["metrics"]["transductive_accuracy"][-1] == round(final["transductive_accuracy"], 5)
    assert told["ids"] == data.row_ids.tolist()
    assert np.frombuffer(base64.b64decode(told["labels"]), "<u4").tolist() == sets.indices.tolist()
    assert np.frombuffer(base64.b64decode(told["sizes"]), "<u4").tolist() == sets.sizes.tolist()
    assert data.y is not None
    assert np.frombuffer(base64.b64decode(told["truth"]), "<u2").tolist() == data.y.tolist()


@given(some.lists(some.lists(some.floats(0, 1, width=32), min_size=1, max_size=6), min_size=1, max_size=20))
def test_thousandths_keep_the_identified_label(rows: list[list[float]]) -> None:
    sets = CandidateSets.from_lists([list(range(len(row))) for row in rows], n_classes=6)
    weights = normalise(np.array([value for row in rows for value in row], dtype=np.float32), sets)
    whole = quantised(weights, sets)
    assert np.abs(whole.astype(float) / SCALE - weights).max() <= 1.5 / SCALE
    assert identified_labels(whole.astype(np.float32), sets).tolist() == identified_labels(weights, sets).tolist()


# ---- pictures and texts ----------------------------------------------------------------------------------------------


def dataset(**more: Any) -> PartialLabelDataset:
    n = 60
    return PartialLabelDataset(
        np.zeros((n, 2), dtype=np.float32), y=np.zeros(n, dtype=int), class_names=("a", "b"), **more
    )


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_page_needs_nothing_and_runs_nothing_of_the_data(run: RunFolder, data: PartialLabelDataset) -> None:
    page = replay_html(run, data)
    reader = Reader(page)
    assert reader.refers == []
    assert not re.findall(r"https?://(?!www\.w3\.org)", page)  # w3.org: names of SVG, never fetched
    kinds = [attributes.get("type") for attributes, _ in reader.scripts]
    assert kinds == ["application/json", "module"]
    assert json.loads(reader.scripts[0][1]) == film(run, data)
    assert reader.scripts[1][1].strip() == script().strip()
    assert "default-src 'none'" in page
    assert "{{" not in page.replace(NASTY[1], "")


@pytest.mark.slow
def test_a_hundred_epochs_of_digits_are_less_than_3_mb(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create(RunConfig(Source("digits"), flip=Flip("binomial", 0.7), holdout=0.2, params={"threads": 1}))
    fit_loop.FitLoop(folder).train()
    page = replay_html(folder, run_data.load_splits(folder.config()).train)
    assert len(page.encode()) < 3_000_000
    assert len(json.loads(Reader(page).scripts[0][1])["epochs"]) == 101  # none was left out
