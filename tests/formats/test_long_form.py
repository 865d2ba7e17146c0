"""Tables of one answer a line under any header: found by their content, asked about where that is not sure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pll import formats
from pll.formats.tabular.schema import Column, answer_lines, guesses, long_form, roles_of

LABELS = np.array(["gut", "schlecht", "unklar"])
PEOPLE = ("Anna", "Bert", "Chloé")


def lines(examples: int = 40, people: int = 3, *, seed: int = 0, right: float = 0.7) -> pd.DataFrame:
    """A line for each of `people` on each of `examples`, in order."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, examples)
    example = np.repeat(np.arange(examples), people)
    said = np.where(rng.random(len(example)) < right, truth[example], rng.integers(0, 3, len(example)))
    names = [PEOPLE[k] if k < 3 else f"person {k}" for k in range(people)]
    return pd.DataFrame(
        {
            "Ticket": [f"T-{k:03}" for k in example],
            "Wer": np.tile(names, examples),
            "Urteil": LABELS[said],
            "Kommentar": [f"what was written in the ticket of number {k}" for k in example],
            "Soll": LABELS[truth[example]],
        }
    )


def columns_of(table: pd.DataFrame, tmp_path: Path) -> list[Column]:
    table.to_csv(tmp_path / "lines.csv", index=False)
    return formats.columns(tmp_path / "lines.csv")


@pytest.mark.parametrize("order", ["Ticket", "Wer", "mixed"])
def test_lines_of_one_answer_each_are_votes_under_any_header_and_in_any_order(tmp_path: Path, order: str) -> None:
    table = lines(examples=230)  # the first 200 rows, from which columns are guessed, may be one person's
    table = table.sample(frac=1, random_state=0) if order == "mixed" else table.sort_values(order, kind="stable")
    found = columns_of(table, tmp_path)
    assert [column.role for column in found] == ["task", "worker", "vote", "text", "keep"]
    data = formats.read(tmp_path / "lines.csv")
    assert len(data) == 230 and data.class_names == tuple(LABELS)
    assert data.annotations is not None and data.annotations.n_answers == len(table)
    assert data.texts is not None and data.texts[0].endswith(str(int(data.row_ids[0].removeprefix("T-"))))


@settings(max_examples=25, deadline=None)
@given(
    st.permutations(["Ticket", "Wer", "Urteil"]),
    st.lists(st.text("äßçаб回答ABC ", min_size=2, max_size=8), min_size=3, max_size=3, unique_by=str.strip),
    st.sampled_from([(40, 3), (30, 5), (12, 30)]),
    st.integers(0, 10),
)
def test_neither_headers_nor_the_order_of_columns_matter(
    order: list[str], headers: list[str], size: tuple[int, int], seed: int
) -> None:
    table = lines(*size, seed=seed, right=0.8)[order]
    cells = {f"{header.strip()}·": table[name].tolist() for header, name in zip(headers, order, strict=True)}
    named = dict(zip(order, cells, strict=True))
    assert answer_lines(cells) == ((named["Ticket"], named["Wer"], named["Urteil"]), True)


def test_somebody_who_answers_what_looks_alike_is_no_example() -> None:
    """Three answers an example; each person answers a run of examples of mostly one kind, unevenly many."""
    rng = np.random.default_rng(0)
    truth = np.sort(rng.random(600) < 0.3)
    table = pd.DataFrame({"bild": np.repeat(np.arange(600), 3)})
    first = rng.permutation(60)
    table["wer"] = [first[(k // 3 // 20 + 7 * (k % 3) * (1 + (k // 60) % 3)) % 60] for k in range(1800)]
    table["sagt"] = np.where(rng.random(1800) < 0.8, truth[table["bild"]], ~truth[table["bild"]]).astype(int)
    table = table.drop_duplicates(["bild", "wer"])
    found = answer_lines({name: table[name].astype(str).tolist() for name in table})
    assert found is not None and found[0] == ("bild", "wer", "sagt")


def test_a_table_with_labels_of_its_own_is_asked_about_and_read_as_before(tmp_path: Path) -> None:
    table = lines()[["Ticket", "Wer", "Urteil"]].rename(columns={"Urteil": "label"})
    found = columns_of(table, tmp_path)
    assert [column.role for column in found] == ["category", "category", "true_label"]
    assert [(column.name, column.otherwise) for column in long_form(found)] == [
        ("Ticket", "category"),
        ("Wer", "category"),
        ("label", "true_label"),
    ]
    assert any("--column Ticket=task --column Wer=worker --column label=vote" in note for note in guesses(found))


def test_few_lines_are_asked_about() -> None:
    few = lines(examples=8)[["Ticket", "Wer", "Urteil"]]
    found = answer_lines({name: few[name].tolist() for name in few})
    assert found is not None and not found[1]


def test_other_tables_are_no_answers() -> None:
    rng = np.random.default_rng(0)
    months = np.tile([f"2024-{k:02}-01" for k in range(1, 13)], 20)
    panel = {
        "customer": np.repeat([f"C-{k}" for k in range(20)], 12).tolist(),
        "month": months.tolist(),
        "colour": rng.choice(["red", "blue"], 240).tolist(),
    }
    assert answer_lines(panel) is None  # dates are nobody
    agreed = {"a": np.repeat(list("abcdefgh"), 3).tolist(), "b": ["x", "y", "z"] * 8}
    assert answer_lines(agreed | {"kind": np.repeat(["p", "q"] * 4, 3).tolist()}) is None  # the same in every line
    numbers = {f"x{k}": rng.integers(0, 9, 300).astype(str).tolist() for k in range(5)}
    assert answer_lines(numbers) is None
    words = [column.role for column in roles_of(list(agreed), list(agreed.values()))]
    assert words == ["category", "category"]
