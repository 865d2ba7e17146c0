"""The page of the formats says what they are, field by field."""

from __future__ import annotations

import re

import pytest

from pll.formats import FORMATS
from pll.formats.arrays import npz
from tools.formats_fields import FIELDS
from tools.formats_page import SAMPLES, markdown


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_is_explained_with_an_example(name: str) -> None:
    (section,) = re.findall(rf"^## {name}\n(.*?)(?=^## )", markdown(), flags=re.DOTALL | re.MULTILINE)
    assert all(words in section for _, words in FIELDS[name] if "|" not in words) and FIELDS[name]
    (sample,) = re.findall(r"^`assets/samples/(.*)`:$", section, flags=re.MULTILINE)
    assert (SAMPLES / sample).is_file() and len(section.split("```")[1].splitlines()) > 2


def test_every_array_is_named() -> None:
    named = " ".join(field + words for field, words in FIELDS["npz"])
    for key in npz.KEYS:
        stem = re.sub(r"^(answer)_.*", r"\1_*", key)
        assert f"`{stem}`" in named or f"`{key}`" in named or key == "anonymous", key


def test_every_format_says_where_it_goes_and_what_is_added() -> None:
    for form in FORMATS.values():
        assert form.tool and form.adds.endswith(".") and (not form.queue or form.queue.startswith("There, "))
    assert {name for name, form in FORMATS.items() if form.queue} == {"labelstudio", "argilla", "prodigy", "doccano"}
