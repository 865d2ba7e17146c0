"""Roles that are shown are the roles that are used: telling a table what it was taken for changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from pll import formats

from .sameness import essence

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"
WORDS = ["cat", "dog", "fox"]


def _votes() -> str:
    """Four annotators who agree mostly and one, Eve, who says what she likes."""
    rows = ["id,width,Ann,Bob,Cem,Dan,Eve"]
    for k in range(30):
        answers = [WORDS[k % 3]] * 3 + [WORDS[(k + (k % 5 == 0)) % 3], WORDS[(k * 7 + k // 3) % 3]]
        rows.append(",".join([f"e{k:03d}", str(k % 7 + 0.5), *answers]))
    return "\n".join(rows) + "\n"


def _lines() -> str:
    """A line for each answer; `seconds` differs between the answers to one example, `width` does not."""
    rows = ["item,worker,answer,width,seconds"]
    rows += [
        f"i{k},{who},{WORDS[(k + (k % 4 == at)) % 3]},{k % 5}.5,{at}.25"
        for k in range(12)
        for at, who in enumerate("abc")
    ]
    return "\n".join(rows) + "\n"


TABLES = {
    "votes": _votes(),
    "lines": _lines(),
    "stem": "id,is_cat,is_dog,true_label,width\n"
    + "".join(f"a{k},{k % 2},1,{'cat' if k % 2 else 'dog'},{k}.5\n" for k in range(8)),
    "shares": "id,P(cat),P(dog),width\n" + "".join(f"a{k},0.{k + 1},0.{9 - k},{k}.5\n" for k in range(8)),
    "commas": "id;width;candidates\n" + "".join(f"a{k};{k},5;cat|dog\n" for k in range(8)),
    "scores": "id,annotator_1,annotator_1_score,annotator_2\n" + "".join(f"a{k},cat,0.{k},dog\n" for k in range(8)),
    "numbers": "label_1,label_2,target,width\n" + "".join(f"{k % 2},1,2,{k}.5\n" for k in range(8)),
}  # fmt: skip


@pytest.mark.parametrize("name", [*TABLES, *(path.name for path in sorted(SAMPLES.iterdir()) if "." in path.name)])
def test_telling_what_is_shown_changes_nothing(tmp_path: Path, name: str) -> None:
    path = SAMPLES / name
    if name in TABLES:
        path = tmp_path / f"{name}.csv"
        path.write_text(TABLES[name], encoding="utf-8")
    guesses = {column.name: column.role for column in formats.columns(path)}
    assert essence(formats.read(path, columns=guesses)) == essence(formats.read(path))


def test_one_role_corrected_leaves_the_others_as_they_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(TABLES["votes"], encoding="utf-8")
    guesses = {column.name: column.role for column in formats.columns(path)}
    data = formats.read(path, columns=guesses | dict.fromkeys(["Ann", "Bob", "Cem", "Dan", "Eve"], "annotator"))
    assert data.annotations is not None and data.annotations.annotator_names == ("Ann", "Bob", "Cem", "Dan", "Eve")
    assert not data.categories and data.feature_names == ("width",)
