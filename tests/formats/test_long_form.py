"""Tables of one answer a line: read where their names are usual, asked about under any other header."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pll import formats
from pll.errors import UserError
from pll.formats.tabular.columns import Question, question, roles_of

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
            "gold": LABELS[truth[example]],
        }
    )


def asked_of(table: pd.DataFrame) -> Question | None:
    return question(roles_of([str(name) for name in table], [table[name].astype(str).tolist() for name in table]))


@pytest.mark.parametrize("order", ["Ticket", "Wer", "mixed"])
def test_lines_under_other_names_are_asked_about_and_read_as_said(tmp_path: Path, order: str) -> None:
    table = lines(examples=230)
    table = table.sample(frac=1, random_state=0) if order == "mixed" else table.sort_values(order, kind="stable")
    table.to_csv(tmp_path / "lines.csv", index=False)
    asked = question(formats.columns(tmp_path / "lines.csv"))
    assert asked is not None
    told = dict(asked.answers[0][1])
    assert told == {"Ticket": "task", "Wer": "worker", "Urteil": "vote"}
    with pytest.raises(UserError, match="--column Ticket=task --column Wer=worker --column Urteil=vote"):
        formats.read(tmp_path / "lines.csv")
    data = formats.read(tmp_path / "lines.csv", columns=told)
    assert len(data) == 230 and data.class_names == tuple(LABELS) and data.y is not None
    assert data.annotations is not None and data.annotations.n_answers == len(table)
    assert data.texts is not None and data.texts[0].endswith(str(int(data.row_ids[0].removeprefix("T-"))))


@settings(max_examples=25, deadline=None)
@given(
    st.permutations(["Ticket", "Wer", "Urteil"]),
    st.lists(st.text("äßçаб回答ABC ", min_size=2, max_size=8), min_size=3, max_size=3, unique_by=str.strip),
    st.sampled_from([(40, 3), (30, 5), (100, 12)]),
    st.integers(0, 10),
)
def test_neither_headers_nor_the_order_of_columns_matter(
    order: list[str], headers: list[str], size: tuple[int, int], seed: int
) -> None:
    table = lines(*size, seed=seed)[order]
    named = {name: f"{header.strip()}·" for name, header in zip(order, headers, strict=True)}
    asked = asked_of(table.rename(columns=named))
    assert asked is not None
    assert asked.answers[0][1] == {named["Ticket"]: "task", named["Wer"]: "worker", named["Urteil"]: "vote"}


def test_other_tables_are_no_answers() -> None:
    rng = np.random.default_rng(0)
    months = np.tile([f"2024-{k:02}-01" for k in range(1, 13)], 20)
    panel = {
        "customer": np.repeat([f"C-{k}" for k in range(20)], 12),
        "month": months,
        "colour": rng.choice(["red", "blue"], 240),
    }
    assert asked_of(pd.DataFrame(panel)) is None  # dates are nobody
    kinds = {"a": np.repeat(list("abcdefgh"), 3), "b": ["x", "y", "z"] * 8, "kind": np.repeat(["p", "q"] * 4, 3)}
    assert asked_of(pd.DataFrame(kinds)) is None  # the same in every line of an example
    iris = pd.DataFrame({"width": rng.random(60), "height": rng.random(60), "species": rng.choice(LABELS, 60)})
    assert asked_of(iris) is None
