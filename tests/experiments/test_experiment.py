from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from pll.catalog.sources import Source
from pll.errors import UserError
from pll.experiments.experiment import PRESETS, Experiment, parse_experiment, preset, read_experiment
from pll.experiments.published import published_accuracy
from pll.methods.chosen import PUBLISHED, plain_name

TEXT = """
datasets = ["iris", "digits"]
methods = ["proden", "plknn"]
models = ["linear", "mlp"]
flips = [{ how = "binomial", q = [0.1, 0.7] }, { how = "pair", q = 0.5 }]
folds = 3
seeds = [0, 1]
[[settings]]
epochs = 7
[[settings]]
dataset = "iris"
method = "plknn"
k = 3
"""


def one(**values: object) -> Experiment:
    return Experiment.model_validate({"datasets": ["iris"], "methods": ["proden"], "folds": 2} | values)


def test_every_combination_is_a_cell_once() -> None:
    cells = parse_experiment(TEXT, "x").plan().cells
    assert len(cells) == 2 * 3 * 2 * 3 * (2 + 1)  # plknn has no model
    assert len({cell.key for cell in cells}) == len(cells)
    assert {cell.model for cell in cells if cell.method == "plknn"} == {""}
    assert {cell.flip.words for cell in cells if cell.flip} == {
        "binomial, q = 0.1",
        "binomial, q = 0.7",
        "pair, q = 0.5",
    }


def test_settings_go_to_what_has_them() -> None:
    cells = parse_experiment(TEXT, "x").plan().cells
    assert all(cell.settings == {"epochs": 7} for cell in cells if cell.method == "proden")
    assert all(
        cell.settings == ({"k": 3} if cell.dataset == "iris" else {}) for cell in cells if cell.method == "plknn"
    )
    estimator = next(cell for cell in cells if cell.method == "proden" and cell.model == "mlp").estimator()
    assert (estimator.get_params()["epochs"], estimator.get_params()["model"]) == (7, "mlp")


def test_a_key_depends_on_everything_that_the_result_does() -> None:
    cell = one().plan().cells[0]
    assert one().plan().cells[0].key == cell.key
    others = {
        "dataset": "digits", "method": "sure", "model": "mlp", "recipe": "paper", "settings": {"epochs": 2}, "seed": 1,
        "fold": 1, "folds": 3, "holdout": 0.1, "features": "none", "strict": True, "test": Source("iris"),
    }  # fmt: skip
    keys = {dataclasses.replace(cell, **{name: value}).key for name, value in others.items()}
    assert len(keys | {cell.key}) == len(others) + 1


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "quick"])
def test_presets_are_the_papers_experiments(name: str) -> None:
    result = preset(name)
    assert result.recipe == ["paper"] and result.methods[0] == "proden"
    if result.folds:
        assert (result.folds, result.seeds, len(result.methods)) == (5, [0], 10)
        for dataset in result.datasets:
            for flip in result.flip_list:
                made = ("", None) if flip is None else (flip.how, flip.q)
                assert all(published_accuracy(dataset, *made, method) for method in result.methods)
    else:
        assert result.seeds == [0, 1, 2, 3, 4]
    for dataset in result.datasets:
        for model in result.models.get(dataset, result.models.get("others", [])):
            assert (plain_name(dataset), model) in PUBLISHED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("datasets = [", "not a TOML"),
        ('datasets = ["iris"]', "methods"),
        ('datasets = ["iris"]\nmethods = ["prodn"]', "prodn"),
        ('datasets = ["iris"]\nmethods = ["proden"]\nfold = 3', "fold: there is no field"),
        ('datasets = ["iris"]\nmethods = ["proden"]\nfolds = 3\nholdout = 0.1', "exclude each other"),
        ('datasets = ["iris"]\nmethods = ["proden", "proden"]', "proden twice"),
        ('datasets = ["iris"]\nmethods = ["proden"]\nflips = [{ how = "bino", q = 0.1 }]', "bino"),
        ('datasets = ["iris"]\nmethods = ["proden"]\nflips = [{ how = "pair" }]', "need"),
        ('datasets = ["iris"]\nmethods = ["proden"]\nrecipe = "best"', "recipe"),
        ('datasets = ["iris"]\nmethods = ["proden"]\nsettings = [{ epoch = 3 }]', "no setting 'epoch'"),
        ('datasets = ["iris"]\nmethods = ["proden"]\nsettings = [{ method = "proden", k = 3 }]', "no setting 'k'"),
        ('datasets = ["iris"]\nmethods = ["proden"]\nseeds = ["x"]', "seeds.0"),
        (
            'datasets = ["iris"]\nmethods = ["proden"]\nholdout = 2',
            ": holdout is 2; it must be a number between 0 and 1.",
        ),
        ('datasets = ["iris"]\nmethods = ["proden"]\nstrict = "yes"', "strict is yes; it must be true or false"),
        ('datasets = ["iris"]\nmethods = ["proden"]\nfolds = 1000000', "1,000,000 fits"),
        (
            'datasets = ["iris"]\nmethods = ["proden"]\nsettings = [{ epochs = "many" }]',
            "settings, table 1: epochs is many; it must be a whole number from 1 to 100,000.",
        ),
        ('datasets = ["iris"]\nmethods = ["proden"]\nsettings = [{ lr = [0.1, 0.2] }]', r"lr is \[0.1, 0.2\]; it must"),
        ('datasets = ["iris"]\nmethods = ["plknn"]\nsettings = [{ k = -1 }]', "settings, table 1, plknn: k "),
    ],
)
def test_what_is_no_experiment_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as found:
        parse_experiment(text, "mine.toml")
    assert str(found.value).startswith("mine.toml")


def test_a_file_among_the_datasets_is_told_how_it_is_named() -> None:
    (missing,) = one(datasets=["data/birds.csv"]).plan().missing
    assert missing.reason.endswith(
        'to use a file, name it in a table: [datasets] and below it birds = "data/birds.csv".'
    )


def test_the_documented_definition_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text("utf-8")
    (text,) = re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "data").mkdir()
    heads = {"birds": "x,candidates,true_label", "crowd": "x,annotator_1,annotator_2,label"}
    cells_of = {"birds": ("a|b,a", "b,b"), "crowd": ("a,a,a", "b,b,b")}
    for name, head in heads.items():
        rows = [f"{7 * k % 11}.5,{cells_of[name][k % 2]}" for k in range(40)]
        (tmp_path / "data" / f"{name}.csv").write_text("\n".join([head, *rows]))
    file = tmp_path / "mine.toml"
    file.write_text(text)
    plan = read_experiment(file).plan()
    cells = {cell.dataset: cell for cell in plan.cells}
    assert not plan.missing and cells.keys() == {"digits", "birds", "crowd"}
    for name in ("birds", "crowd"):
        data, _ = cells[name].load()
        assert data.y is not None and data.y.tolist() == [0, 1] * 20
