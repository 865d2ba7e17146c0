"""Names that would be links, pictures, formulas or colours in Markdown: no page shows one of them as such."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from pll.catalog.sources import Source
from pll.experiments.evaluation import Result
from pll.experiments.execution import CellOutcome, ExperimentFolder, ExperimentProgress
from pll.experiments.experiment import Missing, parse_experiment
from pll.experiments.registry import experiments_home
from pll.runs.config import RunConfig
from pll.runs.lanes import lane_configs
from pll.runs.registry import default_registry
from pll.ui.data import upload
from pll.ui.format import plain
from pll.ui.train.views import VIEWS
from tests.page_helpers import begun, entered, turned_to

EVIL = ("![x](http://evil.test/a.png)", "[log in](http://evil.test)", ":red[urgent]", "$x^2$", "<b>bold</b>", "`code`")
LITERAL = {
    *("ArrowDataFrame", "Dataframe", "DataEditor", "Component", "BidiComponent", "ComponentInstance", "PlotlyChart"),
    *("Code", "Selectbox", "MultiSelect", "TextInput", "TextArea", "Html", "Text", "ImageList", "FileUploader"),
}
"""Elements that show their content as it is (of those with a label, the label is checked all the same)."""
NEVER_SHOWN = {
    "id",
    "key",
    "form_id",
    "url",
    "icon",
    "page_script_hash",
    "widget_id",
    "element_id",
    "alt",
    "query_string",
}


def strings(message: Message) -> Iterator[str]:
    """All text of an element but what is never shown."""
    for field, value in message.ListFields():
        if field.name in NEVER_SHOWN:
            continue
        if field.type == FieldDescriptor.TYPE_STRING:
            yield from [value] if isinstance(value, str) else list(value)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            try:
                parts = [value] if isinstance(value, Message) else list(value)
            except TypeError:
                continue
            for part in parts:
                if isinstance(part, Message):
                    yield from strings(part)


def elements(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        if hasattr(child, "children"):
            if child.proto is not None:
                yield child.proto
            yield from elements(child)
        else:
            yield child.proto


def check(page: Any) -> None:
    """Nothing on the page is Markdown of a user."""
    assert not page.exception
    for tree in page._tree.children.values():
        for proto in elements(tree):
            kind = type(proto).__name__
            shown = [proto.label] if kind in LITERAL and hasattr(proto, "label") else []
            for text in shown if kind in LITERAL else strings(proto):
                found = [evil for evil in EVIL if evil in text]
                assert not found, f"{kind} renders {found[0]} in {text[:300]!r}"
    for table in page.table:  # whose cells are Markdown, and no strings of the message
        cells = [*map(str, table.value.columns), *map(str, table.value.to_numpy().ravel())]
        assert not [cell for cell in cells for evil in EVIL if evil in cell]


@pytest.fixture
def evil(open_page: Any, tmp_path: Path) -> RunConfig:
    """Data in which the file, its classes and its examples have such names."""
    open_page("home")
    rng = np.random.default_rng(0)
    y = np.arange(60) % len(EVIL)
    file = tmp_path / "![x](www.evil.test) :red[urgent] $x^2$ `code`.npz"
    np.savez(
        file,
        X=(rng.normal(size=(60, 4)) + 3 * rng.normal(size=(len(EVIL), 4))[y]).astype(np.float32),
        y=y,
        candidates=np.eye(len(EVIL), dtype=bool)[y] | (rng.random((60, len(EVIL))) < 0.4),
        class_names=np.array(EVIL),
        ids=np.array([f"{EVIL[k % len(EVIL)]} {k}" for k in range(60)]),
    )
    source = upload.store_upload(file.name, file.read_bytes())
    return RunConfig(source, params={"epochs": 3, "threads": 1}, name=" ".join(EVIL))


def test_no_page_renders_names(open_page: Any, evil: RunConfig) -> None:
    run = default_registry().start(evil)
    run.join(60)
    lanes = default_registry().start(*lane_configs(evil, ["proden", "proden-naive"]))
    lanes.join(60)
    failed = default_registry().start(RunConfig(Source("digits"), params={"epochs": 1}, name=EVIL[0], test=evil.source))
    failed.join(60)
    check(open_page("home"))
    for view in VIEWS:
        page = open_page("train", run=run.id)
        page.session_state[f"run-view-{run.id}"].select(3)
        page.session_state[f"run-view-{run.id}"].view = view
        check(page.run())
    check(open_page("train", run=failed.id))
    check(open_page("compare", comparison=lanes.id))
    check(open_page("compare"))
    check(open_page("export", run=run.id))
    check(open_page("train", link="1", file=EVIL[1], sha256="0" * 16))
    check(open_page("train", link="1", data=EVIL[1]))
    check(open_page("train", link="1", **{EVIL[1]: EVIL[0]}))
    data = open_page("data")
    data.session_state["uploads"] = [evil.source]
    check(data.run())


def test_no_view_of_a_review_renders_names(open_page: Any, evil: RunConfig) -> None:
    run = default_registry().start(evil)
    run.join(60)
    begun(run, overlap=2)
    for view in ("One by one", "Look-alikes", "Disagreements", "Progress"):
        page = entered(open_page("review", run=run.id), EVIL[1])
        check(page)
        check(turned_to(page, run, view))


@pytest.mark.parametrize("text", [*EVIL, "www.evil.test", "a@evil.test", "# x", "1. x", "- x", "a\n\nb", ":smile: x:y"])
def test_plain_text_keeps_every_character_that_is_seen(text: str) -> None:
    shown = plain(text).replace("\u2060", "")
    assert "".join(shown.split()).replace("\\", "") == "".join(text.split())


@pytest.mark.slow  # two dozen pages
def test_no_page_renders_what_voters_students_and_experiments_are_called(
    open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(open_page("experiments", experiment=EVIL[0]))
    experiment = parse_experiment(
        f"title = {json.dumps(EVIL[1])}\ndatasets = {{ {json.dumps(EVIL[0])} = '', {json.dumps(EVIL[3])} = 'x.csv' }}\n"
        'methods = ["plknn"]\nholdout = 0.2',
        "x",
    )
    folder = ExperimentFolder(experiments_home() / "small")
    folder.create(experiment)
    told = Missing(EVIL[0], EVIL[2], 1)
    folder.write_progress("finished", ExperimentProgress(2, 0, 1, 1, missing=(told,), errors=((EVIL[4], EVIL[5]),)))
    result = Result(EVIL[0], "plknn", "", 0, 0, 0.5, 0.5, 1.0, settings=json.dumps({EVIL[1]: EVIL[2]}))
    folder.write_results([cell := SimpleNamespace(key="a")], {"a": CellOutcome(result)})  # type: ignore[list-item]
    assert cell.key == "a"
    check(open_page("experiments"))
    page = open_page("experiments", experiment="small")
    assert page.table
    check(page)
    page = open_page("experiments")
    page.toggle(key="experiment-as-text").set_value(True).run()
    for text in (EVIL[1], f"datasets = [{json.dumps(EVIL[0])}]\nmethods = [{json.dumps(EVIL[1])}]"):
        check(page.text_area[0].set_value(text).run())

    lines = [
        {"custom_id": f"{EVIL[k % 2]} {k}", "response": {"status_code": 200, "body": _answer(EVIL[k % len(EVIL)])}}
        for k in range(30)
    ]
    batch = "".join(json.dumps(line) + "\n" for line in lines).encode()
    rows = "".join(f'"{EVIL[k % 2]} {k}",{k % 7},{k % 3},"{EVIL[k % 3]}"\n' for k in range(30))
    table = f'id,"{EVIL[1]}","{EVIL[2]}",annotator_{EVIL[0]}\n{rows}'.encode()
    files = [(f"{EVIL[2]}.jsonl", batch, "application/jsonl"), ("t `code` $x^2$.csv", table, "text/csv")]
    for some in (files, files[:1], files[1:]):
        page = open_page("data").file_uploader(key="uploader").set_value(some).run()
        check(page)
        undo = [one.key for one in page.button if one.label == "Undo all" and "answers-" in one.key]
        if undo:
            page.session_state[undo[0].removesuffix("-undo")] = {EVIL[2]: EVIL[1], EVIL[3]: ""}
            check(page.run())

    check(open_page("learn", idea=EVIL[0]))


def _answer(text: str) -> dict[str, Any]:
    return {"model": EVIL[1], "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
