"""Columns that are a voter and a class each."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from pll import formats
from pll.formats.crossed import cross_in
from pll.formats.reading import question

BIRDS = ("wren", "robin", "tit")


def of_voters(k: int, at: int, way: str) -> list[str]:
    """The cells of three classes, of which the voter gives one."""
    best = (k + (at == 2 and k % 4 == 0)) % 3
    if way == "marks":
        return [("x" if one == best else "") if k != 3 else "" for one in range(3)]
    if way == "ones":
        return [str(int(one == best)) for one in range(3)]
    if way == "counts":
        return [str(5 if one == best else 1) for one in range(3)]
    shares = [0.7 if one == best else 0.15 for one in range(3)]
    return [f"{100 * one:.1f}" if at == 1 else f"{one:.3f}".replace(".", ",") for one in shares]  # one in percent


@pytest.mark.parametrize("way", ["shares", "marks", "ones", "counts"])
@pytest.mark.parametrize("pattern", ["{who}_{bird}", "{who}: {bird}", "{bird} - {who}"])
def test_columns_of_a_voter_and_a_class_are_one_answer_a_voter(tmp_path: Path, way: str, pattern: str) -> None:
    people = ("old net", "new_net", "Ann")
    header = [pattern.format(who=who, bird=bird) for who in people for bird in BIRDS]
    rows = [[f"clip {k}", *(cell for at in range(3) for cell in of_voters(k, at, way)), "1,5"] for k in range(12)]
    (tmp_path / "x.csv").write_text("\n".join(";".join(row) for row in [["clip", *header, "sum of wren"], *rows]))
    data = formats.read(tmp_path / "x.csv")
    votes = data.annotations
    assert votes is not None and set(votes.annotator_names) == set(people) and set(data.class_names) == set(BIRDS)
    assert votes.n_answers == 36 - 3 * (way == "marks") and not data.feature_names
    assert (votes.scores is not None) == (way in ("shares", "counts"))
    kept = formats.read(tmp_path / "x.csv", columns=dict.fromkeys(header, "keep"))
    assert kept.annotations is None and set(header) <= set(kept.extras)


def test_columns_that_only_look_so_are_no_answers() -> None:
    names = ["a_count", "a_share", "b_count", "b_share", "w_1", "w_2", "h_1", "h_2"]
    cells = [[str((k * at) % 7 / 2) for k in range(1, 13)] for at in range(1, 9)]
    assert cross_in(names, cells) == {}


def test_the_mean_of_some_models_is_no_model(tmp_path: Path) -> None:
    shares = np.random.default_rng(0).dirichlet([1, 1], (3, 40))
    every = {**dict(zip("abc", shares, strict=True)), "blend": shares.mean(axis=0)}
    table = {
        f"{who}_{name}": [f"{x:.3f}" for x in one[:, at]]
        for who, one in every.items()
        for at, name in enumerate(["no", "yes"])
    }
    lines = [["clip", *table], *([f"clip {k}", *row] for k, row in enumerate(zip(*table.values(), strict=True)))]
    (tmp_path / "x.csv").write_text("\n".join(map(",".join, lines)))
    data = formats.read(tmp_path / "x.csv")
    assert data.annotations is not None and data.annotations.annotator_names == ("a", "b", "c")
    assert not data.feature_names and {"blend_no", "blend_yes"} <= set(data.extras)


def columns_in(folder: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    lines = [";".join(map(str, row)) for row in (header, *rows)]
    (folder / "x.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "x.csv"


@pytest.mark.parametrize("tick", ["○", "✓", "1"])
def test_people_who_tick_several_classes_in_doubt_are_a_voter_each(tmp_path: Path, tick: str) -> None:
    """Two marks in a row are a doubt where the people mark mostly one, and mostly the same."""
    classes = ["late", "kind", "dear"]
    marks = [
        [{classes[(k + (k % 7 == j)) % 3], *(classes[:1] if k % 4 == j else ())} for j in range(2)] for k in range(60)
    ]
    rows = [[f"what visitor number {k} said", *(tick * (c in m) for m in marks[k] for c in classes)] for k in range(60)]
    path = columns_in(tmp_path, ["text", *(f"{who} [{c}]" for who in ("Ann", "Bob") for c in classes)], rows)
    data = formats.read(path, columns={"Ann": "annotator", "Bob": "annotator"})
    assert data.class_names == ("dear", "kind", "late") and data.annotations is not None
    assert data.annotations.answer_sizes.tolist() == [len(m) for some in marks for m in some]


def test_columns_of_classes_whose_cells_name_who_chose_them_are_a_voter_each(tmp_path: Path) -> None:
    rolls, people = random.Random(3), ["AB", "MK", "JT", "RS"]
    rows = ["apple,weight,Sound,Bruise,Rot"]
    for k in range(60):
        chosen: list[list[str]] = [[], [], []]
        for who in people:
            chosen[k % 3 if rolls.random() < 0.8 else rolls.randrange(3)].append(who)
        rows.append(f"P{k},{rolls.gauss(200, 20):.0f}," + ",".join(f'"{", ".join(some)}"' for some in chosen))
    path = tmp_path / "t.csv"
    path.write_text("\n".join(rows) + "\n")
    data = formats.read(path)
    assert data.annotations is not None and {*data.annotations.annotator_names} == {*people}
    assert {*data.class_names} == {"Sound", "Bruise", "Rot"} and data.annotations.n_answers == 240
    assert data.feature_names == ("weight",)
    plain = [
        row.replace("AB", "red").replace("MK", "red").replace("JT", "green").replace("RS", "green") for row in rows
    ]
    path.write_text("\n".join(plain) + "\n")  # words that stand in several columns of a row are nobody's names
    assert not any("name who chose" in note for note in formats.read(path, check=False).notes)


def test_labels_of_two_people_with_other_rows_each_are_no_names(tmp_path: Path) -> None:
    rolls, labels = random.Random(3), ["film", "music", "news", "sports"]
    said = ["|".join(rolls.sample(labels, rolls.choice([1, 1, 2]))) for _ in range(60)]
    rows = [f"d{k},what page {k} is about,{one if k % 2 else ''},{'' if k % 2 else one}" for k, one in enumerate(said)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["id,text,Ann,Bob", *rows]) + "\n")
    assert not any("name who chose" in note for note in formats.read(path, check=False, columns=roles(path)).notes)


def test_who_comes_late_is_a_voter_too(tmp_path: Path) -> None:
    rows = [f'{k},"AB, MK",JT' if k % 2 else f'{k},JT,"AB, MK"' for k in range(3000)]
    rows += [f'{k},"AB, ZZ",MK' for k in range(3000, 3020)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["id,good,bad", *rows]) + "\n")
    data = formats.read(path, check=False)
    assert data.annotations is not None and {*data.annotations.annotator_names} == {"AB", "MK", "JT", "ZZ"}


def roles(path: Path) -> dict[str, str]:
    asked = question(formats.columns(path))
    return dict(asked.answers[0][1]) if asked else {}
