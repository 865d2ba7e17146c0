"""The kinds of data the issue names: in by file, out in another format, in again, and exactly the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.formats import FORMATS
from pll.formats.limitations import cannot_hold

from .strategies import answers, check_held, named_sets, named_truth

NAMES = [name for name in FORMATS if name not in ("mat", "imagezip")]  # which need numbers, or pictures


def read(path: Path, text: str) -> PartialLabelDataset:
    path.write_text(text, encoding="utf-8")
    return formats.read(path)


def through(data: PartialLabelDataset, folder: Path, name: str) -> PartialLabelDataset:
    path = folder / f"out{FORMATS[name].suffixes[0]}"
    formats.write(data, path, name)
    return formats.read(path, format=name)


@pytest.mark.parametrize("name", NAMES)
def test_class_names_that_look_like_something_else(tmp_path: Path, name: str) -> None:
    table = """id,candidates,true_label
r1,NA|None,NA
r2,"[""a|b"", ""1""]",a|b
r3,日本語|1,1
r4,None,None
r5,"[""日本語"", ""a|b"", ""NA""]",
"""
    data = read(tmp_path / "in.csv", table)
    wanted = [{"NA", "None"}, {"a|b", "1"}, {"日本語", "1"}, {"None"}, {"日本語", "a|b", "NA"}]
    assert named_sets(data) == wanted and named_truth(data) == ["NA", "a|b", "1", "None", None]
    back = through(data, tmp_path, name)
    assert name == "cleanlab" or named_sets(back) == wanted  # whose classes are numbers
    check_held(back, data, cannot_hold(data, FORMATS[name]))


@pytest.mark.parametrize("name", NAMES)
def test_numbers_and_words_with_missing_cells(tmp_path: Path, name: str) -> None:
    table = """id,width,colour,height,size,candidates
a,1.5,red,,S,x|y
b,?,,-2e-3,M,y
c,NA,blue,0.1,,x
d,7,red,3,S,y|z
"""
    data = read(tmp_path / "in.csv", table)
    assert data.feature_names == ("width", "height") and np.isnan(data.X).sum() == 3
    assert data.categories["colour"].tolist() == ["red", None, "blue", "red"]
    assert data.categories["size"].tolist() == ["S", "M", None, "S"]
    check_held(through(data, tmp_path, name), data, cannot_hold(data, FORMATS[name]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layout", ["wide", "long"])
def test_annotators(tmp_path: Path, layout: str, name: str) -> None:
    wide = "id,text,annotator:ann,annotator:b|b\n1,good,x,y\n2,bad,y|x,\n3,odd,,z\n"
    long = "task,text,annotator,label\n1,good,ann,x\n1,good,b|b,y\n2,bad,ann,y\n2,bad,ann,x\n3,odd,b|b,z\n"
    data = read(tmp_path / "in.csv", wide if layout == "wide" else long)
    assert answers(data) == [(0, "ann", "x"), (0, "b|b", "y"), (1, "ann", "x"), (1, "ann", "y"), (2, "b|b", "z")]
    assert named_sets(data) == [{"x", "y"}, {"x", "y"}, {"z"}]
    check_held(through(data, tmp_path, name), data, cannot_hold(data, FORMATS[name]))


def test_whoever_writes_cf_in_every_name_means_the_species(tmp_path: Path) -> None:
    """However often: a habit is seen by the names that are said without it more often."""
    names = ["Salix alba", "Salix cinerea", "Salix caprea", "Salix purpurea"]
    hedged = [name.replace(" ", mark) for name, mark in zip(names, (" cf. ", " aff. ", " cf. ", " cf. "), strict=True)]
    cells = [*names * 4, *hedged * 2, *[hedged[3]] * 6, *(f"{a}; {b}" for a, b in zip(names, hedged[1:], strict=False))]
    path = tmp_path / "willows.csv"
    path.write_text("\n".join(["leaf,named as", *(f"{k}.5,{cell}" for k, cell in enumerate(cells))]))
    data = formats.read(path, options=formats.ReadOptions(columns={"named as": "candidates"}))
    assert {*data.class_names} == {*names} and data.sets().names(len(data) - 1) == ["Salix caprea", "Salix purpurea"]


def test_numbers_before_names_make_a_list_only_where_a_second_one_follows(tmp_path: Path) -> None:
    """`1) agree` beside `2) disagree` is a name; in a list each cell begins with 1."""
    path = tmp_path / "said.csv"
    for cells, classes in (
        (["1) agree", "2) neutral", "3) no"], {"1) agree", "2) neutral", "3) no"}),
        (["1) oak 2) ash", "1) oak", "1) elm 2) ash"], {"oak", "ash", "elm"}),
    ):
        path.write_text("\n".join(["x,which", *(f"{k}.5,{cells[k % 3]}" for k in range(30))]))
        data = formats.read(path, options=formats.ReadOptions(columns={"which": "candidates"}))
        assert {*data.class_names} == classes
        path.write_text("\n".join(["x,label", *(f"{k}.5,{cells[k % 3]}" for k in range(30))]))
        data = formats.read(path, options=formats.ReadOptions(columns={"label": "true_label"}))
        assert {*data.class_names} == {*cells}
