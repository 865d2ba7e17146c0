"""Tables as the UCI repository, R and numpy write them: spaces between the columns, or no header."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import ReadOptions, Results
from pll.formats.tabular.csv import is_spaced

YEAST = """\
    Sequence_Name   mcg gvh class
    ADT1_YEAST  0.58  0.61  MIT
    ADT2_YEAST  0.43     ?  MIT

    ADT3_YEAST  0.64  0.62  CYT
"""


def read(folder: Path, text: str, name: str = "table.data", **options: object) -> PartialLabelDataset:
    (folder / name).write_text(text)
    return formats.read(folder / name, options=ReadOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", [",", ";", "\t", "  "])
def test_without_a_header_no_row_is_lost(tmp_path: Path, mark: str) -> None:
    text = "5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n".replace(",", mark)
    data = read(tmp_path, text, columns={"column 3": "true_label"})
    assert len(data) == 3 and data.feature_names == ("column 1", "column 2")
    assert data.class_names == ("setosa", "virginica")
    assert "taken for data" in data.notes[0]
    with pytest.raises(UserError, match="Row 4, column 'column 1' holds 'x'"):
        read(tmp_path, text + mark.join(["x", "1", "setosa\n"]), columns={"column 1": "feature"})


def test_what_r_and_numpy_write(tmp_path: Path) -> None:
    r = '"length" "kind"\n"1" 5.1 "a b"\n"2" 4.9 "c"\n"3" 4.7 "c"\n'
    data = read(tmp_path, r, columns={"kind": "true_label"})
    assert data.feature_names == ("length",) and data.class_names == ("a b", "c")
    assert data.row_ids.tolist() == ["1", "2", "3"]
    np.savetxt(tmp_path / "numpy.txt", np.arange(6.0).reshape(3, 2), header="width height")
    assert formats.read(tmp_path / "numpy.txt").feature_names == ("width", "height")


def test_a_bad_row_is_named_as_it_stands_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"table.data: Row 6 has 3 fields, others have 4; .* hold spaces"):
        read(tmp_path, YEAST + "    ADT4 0.1  0.2\n" + "  x 1 2 MIT\n" * 5)


@pytest.mark.parametrize(
    "text",
    ["to be or\nnot to be\nthat is it\n", "1 1:0.5 2:0.3\n0 1:0.1 2:0.2\n1 1:0.2 2:0.1\n", "1 2\n3 4\n", "1\n2\n3\n"],
)
def test_prose_and_other_things_with_spaces_are_no_tables(text: str) -> None:
    assert not is_spaced(text.encode())


def test_labels_go_back_and_what_changes_is_said(tmp_path: Path) -> None:
    source, out = tmp_path / "table.data", tmp_path / "labelled.data"
    source.write_text("1.5 2 a\n0.5 7 b\n3 1 b\n")
    done = Results(["0", "1", "2"], {"identified_label": ["a", "b", "a"], "confidence": ["1", "1", "0.5"]})
    lost = formats.FORMATS["tsv"].cannot_give_back(source, done, ReadOptions())
    assert len(lost) == 2 and "spaces" in lost[0] and "no header" in lost[1]
    formats.give_back(source, out, done)
    lines = out.read_text().replace('"', "").splitlines()
    assert lines[0] == "column 1\tcolumn 2\tcolumn 3\tidentified_label\tconfidence"
    assert lines[3] == "3\t1\tb\ta\t0.5"
