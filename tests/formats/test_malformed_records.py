"""Bad files of the formats that are made of JSON objects: the message names the line and the field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pll import formats
from pll.errors import UserError


def lines(*records: dict[str, Any] | str) -> str:
    return "\n".join(one if isinstance(one, str) else json.dumps(one) for one in records) + "\n"


def listed(*records: dict[str, Any]) -> str:
    return "[" + ",\n".join(map(json.dumps, records)) + "]"


GOOD = {"x": 1, "candidates": ["a"]}
TASK: dict[str, Any] = {"id": 1, "data": {"text": "hello"}}


def annotated(*labels: Any, **more: Any) -> dict[str, Any]:
    result = [{"from_name": "q", "to_name": "text", "type": "choices", "value": {"choices": list(labels)}}]
    return TASK | {"annotations": [{"completed_by": 1, "result": result}]} | more


JSONL: dict[str, tuple[str | bytes, str]] = {
    "not JSON": (lines(GOOD, '{"x": 2,}'), r"Row 2: The object is not JSON \(.*line 2\)"),
    "cut off": (lines(GOOD, '{"x": 2, "cand'), "Row 2: .*"),
    "a list": (lines(GOOD, "[1, 2]"), "Row 2: Where an object"),
    "a number": (lines(GOOD, "17"), "Row 2: Where an object"),
    "a comma": ('[{"x": 1} {"x": 2}]', "Row 1: Where a comma"),
    "an open list": ('[{"x": 1},\n', "Row 2: The file ends where an object should be"),
    "an open list of objects": ('[{"x": 1}\n', "The file ends inside its list"),
    "something after the list": ('[{"x": 1}]\n{"x": 2}', "Row 2: There is something after the end"),
    "nested": (lines(GOOD, '{"x": ' + "[" * 10**5 + "]" * 10**5 + "}"), "Row 2: The object is nested too deeply"),
    "huge number": (lines(GOOD, '{"x": ' + "9" * 10_000 + "}"), "Row 2: The object cannot be read"),
    "large number": (lines(GOOD, {"x": 10**50, "candidates": ["a"]}), r"Row 2, column 'x' holds '1000"),
    "infinite": (lines(GOOD, '{"x": Infinity, "candidates": ["a"]}'), "Row 2, column 'x' holds 'Infinity'"),
    "half a character": (lines(GOOD, r'{"x": 1, "candidates": ["\ud800"]}'), "Row 2: It holds .*half a character"),
    "empty set": (lines(GOOD, {"x": 1, "candidates": []}), "Row 2 has an empty candidate set"),
    "no set": (lines(GOOD, "", {"x": 1}), "Row 3 has an empty candidate set"),
    "set in a set": (lines(GOOD, {"x": 1, "candidates": [["a"]]}), "Row 2, column candidates .*entry 1"),
    "truth": (lines({"x": 1, "true_label": {"a": 1}}), "Row 1, column true_label .*one name"),
    "two truths": (lines({"x": 1, "true_label": ["a", "b"]}), "Row 1, column true_label"),
    "same id": (lines({"id": "a", "x": 1}, {"id": "a", "x": 2}), "Rows 1 and 2 have the same id 'a'"),
    "text among numbers": (lines(GOOD, GOOD, {"x": "red", "candidates": ["a"]}), "Row 3, column 'x' holds 'red'"),
    "many fields": (lines({f"f{k}": 1 for k in range(60_001)}), "more than 60,000 different fields"),
    "no fields": (lines({}, {}), "no fields"),
    "not UTF-8": (lines(GOOD).encode() + '{"x": "é"}'.encode("latin-1"), r"Byte .* \(line 2\) is 0xE9"),
    "UTF-16": (lines(GOOD).encode("utf-16"), "UTF-16"),
    "a long object": ('{"x": "' + "a" * (17 * 2**20) + '"}', "Row 1: An object is longer than 16.0 MB"),
}

LABEL_STUDIO: dict[str, tuple[str, str]] = {
    "no data": (listed(annotated("a"), {"id": 2}), "Row 2: data is no object"),
    "a label that is none": (listed(annotated(["a"])), "Row 1: a label in value.choices is a list"),
    "annotation": (listed(TASK | {"annotations": ["a"]}), "Row 1: a part of annotations is no object"),
    "a long label": (listed(annotated("a" * 2000)), "Row 1, .* holds a label of 2,000 characters"),
    "features": (
        listed({"id": 1, "data": {"features": [1, 2]}}, {"id": 2, "data": {"features": [1, "x"]}}),
        "Row 2, column features holds",
    ),
    "other features": (
        listed({"id": 1, "data": {"features": [1, 2]}}, {"id": 2, "data": {"features": [1, 2, 3]}}),
        "Row 2, column features holds a list of 3 numbers, others have 2",
    ),
    "a marked feature": (
        listed({"id": 1, "data": {"feature:w": 1}}, {"id": 2, "data": {"feature:w": "x"}}),
        "Row 2, column 'feature:w' holds 'x', which is not a number",
    ),
    "split": (listed({"id": 1, "data": {"split": "half"}}), "Row 1, column split holds 'half'"),
}

OTHERS: dict[str, tuple[str, str, str]] = {
    "doccano, spans": (
        "jsonl",
        lines({"text": "t", "label": [[0, 1, "A"]]}),
        "Row 1: a label in label is a list; .*spans and boxes",
    ),
    "doccano, a label": (
        "jsonl",
        lines({"text": "t", "label": ["a"]}, {"text": "u", "label": [None]}),
        "Row 2: a label",
    ),
    "prodigy, an answer": (
        "jsonl",
        lines({"text": "t", "options": [], "answer": "accept"}, {"text": "u", "answer": "maybe"}),
        "Row 2: the answer is 'maybe'",
    ),
    "prodigy, an option": (
        "jsonl",
        lines({"text": "t", "options": [{"id": ["a"]}]}),
        "Row 1: a label in options is a list",
    ),
    "argilla, fields": ("json", listed({"fields": {"text": "t"}}, {"fields": "t"}), "Row 2: fields is no object"),
    "argilla, responses": (
        "json",
        listed({"fields": {"text": "t"}, "responses": 7}),
        "Row 1: responses is no object",
    ),
    "plcifar, no sets": ("json", '{"0": [["a"]], "1": ["b"]}', "Row 1, column candidates holds .* not a name"),
    "plcifar, twice": ("json", '{"0": [["a"]], "0": [["b"]]}', "the same id '0'"),
    "plcifar, a label": ("json", '{"0": [["a"]], "1": [[{}]]}', "Row 1, column candidates holds .* not a name"),
    "plcifar, cut off": ("json", '{"0": [["a"]], "1"', "Row 1: After the key '1' a colon is missing"),
}


def matrix() -> Iterator[Any]:
    for suffix, cases in (("jsonl", JSONL), ("json", LABEL_STUDIO)):
        for name, (content, words) in cases.items():
            yield pytest.param(suffix, None, content, words, id=f"{suffix}-{name}")
    for name, (suffix, text, words) in OTHERS.items():
        yield pytest.param(suffix, name.partition(",")[0], text, words, id=name)


@pytest.mark.parametrize(("suffix", "format", "content", "words"), matrix())
def test_the_message_names_the_file_and_the_line(
    tmp_path: Path, suffix: str, format: str | None, content: str | bytes, words: str
) -> None:
    path = tmp_path / f"bad.{suffix}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(UserError, match=rf"(?s)^bad\.{suffix}: .*{words}") as caught:
        formats.read(path, format=format)
    assert (len(str(caught.value)) < 1000 and "counted" in str(caught.value)) or "Row" not in words
