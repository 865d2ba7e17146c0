"""Tables without a header."""

from __future__ import annotations

from pathlib import Path

import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import ReadOptions, Results


def read(folder: Path, text: str, name: str = "table.data", **options: object) -> PartialLabelDataset:
    (folder / name).write_text(text)
    return formats.read(folder / name, options=ReadOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_without_a_header_no_row_is_lost(tmp_path: Path, mark: str) -> None:
    text = "5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n".replace(",", mark)
    data = read(tmp_path, text, columns={"column 3": "true_label"})
    assert len(data) == 3 and data.feature_names == ("column 1", "column 2")
    assert data.class_names == ("setosa", "virginica")
    assert "taken for data" in data.notes[0]
    with pytest.raises(UserError, match="Row 4, column 'column 1' holds 'x'"):
        read(tmp_path, text + mark.join(["x", "1", "setosa\n"]), columns={"column 1": "feature"})


def test_labels_go_back_and_nothing_changes(tmp_path: Path) -> None:
    source, out = tmp_path / "table.data", tmp_path / "labelled.data"
    source.write_text("1.5\t2\ta\n0.5\t7\tb\n3\t1\tb\n")
    done = Results(["0", "1", "2"], {"identified_label": ["a", "b", "a"], "confidence": ["1", "1", "0.5"]})
    formats.give_back(source, out, done)
    assert out.read_text() == "1.5\t2\ta\ta\t1.0\n0.5\t7\tb\tb\t1.0\n3\t1\tb\ta\t0.5\n"


@pytest.mark.parametrize("names", ["1990,1995,2005,2010,2020", "400.1,402.3,405.9,407,411.2", "0,1", "2001,2002,2003"])
def test_numbers_in_even_steps_or_many_that_rise_are_names(tmp_path: Path, names: str) -> None:
    row = ",".join("0.5" for _ in names.split(","))
    data = read(tmp_path, f"country,{names},label\n" + "".join(f"c{k},{row},{'ab'[k % 2]}\n" for k in range(4)))
    assert data.feature_names == tuple(names.split(",")) and data.class_names == ("a", "b") and len(data) == 4
