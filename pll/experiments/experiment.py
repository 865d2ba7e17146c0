"""The definition of an experiment, as a TOML file has it, and the cells that follow from it.

A cell is one fit: a method on one part of one data set. Cells of a data set differ in the method alone where seed, fold
and flip are the same: they get the same split and the same candidate sets.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from pll import catalog
from pll.catalog.download import by_hand
from pll.catalog.sources import Source, holds_data, source_of
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, did_you_mean, unknown
from pll.experiments.evaluation import CHOSEN, Result, as_json
from pll.methods import METHODS
from pll.methods.base import PartialLabelEstimator
from pll.methods.chosen import OF_OTHER_METHODS
from pll.methods.names import RECIPES
from pll.runs.config import AS_GIVEN, DataConfig, RunConfig, new_estimator
from pll.runs.data import Splits, one_fold, prepare
from pll.runs.description import RUN_FIELDS
from pll.runs.link import data_parts
from pll.synthesis import Flip

T = TypeVar("T")
OTHERS = "others"
"""In the table `models`: the data sets that it does not name."""
MOST_FITS = 100_000
LONGEST_TOML, MOST_DOTS = 200_000, 200
"""Characters of a TOML text, and dots in one line of it: a name of n parts (`a.a.a`) takes n² steps to read."""
HASH = 16
"""Hexadecimal digits of a cell's key."""
OF_THE_MACHINE = ("seed", "device", "precision", "threads", "recipe")
"""Settings that are in other columns of results.csv, or of the machine."""


@dataclass(frozen=True, kw_only=True)
class Cell(DataConfig):
    """One fit.

    Attributes
    ----------
    dataset
        Name in the tables.
    method
        A name of `METHODS`.
    model
        Of the method; "" where it has no such setting.
    recipe
        Where its settings come from: one of `RECIPES`, or another that the method takes.
    settings
        Settings given explicitly, which come before those of the recipe; those that the method does not have mean
        nothing.
    fold, folds
        Which part, where the data are divided into folds.
    """

    dataset: str
    method: str
    model: str
    recipe: str
    settings: Mapping[str, Any]
    fold: int
    folds: int | None

    def part(self, data: PartialLabelDataset, test: PartialLabelDataset | None = None) -> Splits:
        """Return the part of the data that it is fitted and tested on.

        Parameters
        ----------
        data : PartialLabelDataset
        test : PartialLabelDataset, optional
            As `load` returned them.

        Raises
        ------
        UserError
            See `one_fold` and `prepare`; or there is nothing to test on.
        """
        if self.folds is not None:
            return one_fold(data, self, self.folds, self.fold)
        splits = prepare(data, self, test=test)
        if splits.test is None:
            raise UserError(f"{data.name} has no test part with true labels; hold a share out, or make folds.")
        return splits

    def estimator(self, *, is_table: bool = False) -> PartialLabelEstimator:
        """Return the unfitted estimator: one CPU thread; explicit settings, else the recipe's, else its defaults.

        Parameters
        ----------
        is_table
            Missing cells of tables are filled, in arrays they are refused.

        Raises
        ------
        UserError
            a setting that is no finite number.
        """
        parameters = METHODS[self.method]().get_params()
        model = {} if self.model == parameters.get("model") else {"model": self.model}  # not given: a recipe may choose
        settings: dict[str, Any] = {"threads": 1} | model
        if self.recipe == "paper":  # by the name that the experiment gives the data
            settings |= {"recipe": f"paper:{self.dataset}"} | OF_OTHER_METHODS.get(self.method, {})
        elif self.recipe != "default":
            settings["recipe"] = self.recipe
        params = {name: value for name, value in (settings | dict(self.settings)).items() if name in parameters}
        return new_estimator(RunConfig(self.source, self.method, params, seed=self.seed), is_table=is_table)

    def row(self, estimator: PartialLabelEstimator) -> Result:
        """Return its row of results.csv without figures; after the fit with what a recipe has chosen."""
        params = estimator.get_params()
        own = {name: value for name, value in params.items() if name not in OF_THE_MACHINE}
        described = {
            name: part for name, part in self.parts.items() if name not in ("data", "flip", "q", "seed", "fold")
        }
        found = vars(estimator)["recipe_"].settings if "recipe_" in vars(estimator) else {}
        chosen = {CHOSEN: found} if "recipe_" in vars(estimator) else {}
        return Result(
            dataset=self.dataset,
            method=self.method,
            model=str({**params, **found}.get("model", "")),
            seed=self.seed,
            fold=self.fold,
            test_accuracy=None,
            transductive_accuracy=None,
            seconds=0.0,
            flip="" if self.flip is None else self.flip.how,
            q=None if self.flip is None else self.flip.q,
            recipe=self.recipe,
            settings=as_json({**own, **described, **chosen}),
        )

    @cached_property
    def parts(self) -> dict[str, Any]:
        """What its result depends on besides the method, as in a link."""
        return data_parts(self.hashed()) | ({} if self.folds is None else {"folds": self.folds, "fold": self.fold})

    @cached_property
    def key(self) -> str:
        """Unique key: readable parts, and a hash of all that its result depends on."""
        facts = [self.dataset, self.parts, self.method, self.model, self.recipe, dict(self.settings)]
        text = json.dumps(facts, sort_keys=True, default=str)
        made = "" if self.flip is None else f"{self.flip.how}{'' if self.flip.q is None else f'-{self.flip.q:g}'}"
        readable = "_".join(filter(None, (self.dataset, made, self.method, self.model, f"s{self.seed}f{self.fold}")))
        safe = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in readable)[:120]
        return f"{safe}_{hashlib.sha256(text.encode()).hexdigest()[:HASH]}"


@dataclass(frozen=True)
class Missing:
    """A data set that cannot be read here, why and where to get it, and how many cells wait for it."""

    dataset: str
    reason: str
    cells: int


@dataclass(frozen=True)
class ExperimentPlan:
    """The cells of an experiment in order, and the data sets whose cells cannot run."""

    cells: tuple[Cell, ...]
    missing: tuple[Missing, ...] = ()


class _TomlTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _fits(value: Any, info: ValidationInfo) -> Any:
    """Return the value of a field of a run (`pll.runs.description`); raise ValueError where it must be another one."""
    name = str(info.field_name)
    if problem := RUN_FIELDS[name].problem(value, name):
        raise ValueError(problem)
    return value


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | dict) else [value]


def _once(values: list[T], info: ValidationInfo) -> list[T]:
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise ValueError(f"{info.field_name} has {twice} twice; name each once")
    return values


Several = Annotated[list[T], BeforeValidator(_listed), AfterValidator(_once), Field(min_length=1)]
"""One or several different values, in a list or alone."""


class FlipGrid(_TomlTable):
    """A way to make candidates, with one or several values of q or of the size."""

    how: str
    q: Several[Annotated[float | None, BeforeValidator(_fits)]] = [None]
    size: Several[int | None] = [None]

    def flips(self) -> Iterator[Flip]:
        """Yield every combination."""
        for q, size in product(self.q, self.size):
            yield Flip(self.how, q, size)


class DataFile(_TomlTable):
    """A file of data: its path ("" for the catalogue), and how it is read; the fields are those of `Source`."""

    path: str
    rule: str = ""
    format: str | None = None
    columns: dict[str, str] = Field(default_factory=dict)


def _files_by_name(value: Any, info: ValidationInfo) -> Any:
    """Return names of the catalogue, or paths and tables by name, as tables by name."""
    if isinstance(value, list):
        value = dict.fromkeys(map(str, _once(value, info)), "")
    if not isinstance(value, dict):
        return value
    return {name: {"path": one} if isinstance(one, str) else one for name, one in value.items()}


def _models_by_data(value: Any) -> Any:
    return value if isinstance(value, dict) else {OTHERS: value}


class Experiment(_TomlTable):
    """An experiment: every data set × flip × method × model × recipe × seed × fold.

    Parameters
    ----------
    title
        For pages and tables.
    datasets
        Names of the catalogue, or a table: the name in the tables → a path, "" for the catalogue, or a table of path,
        rule, format and columns.
    flips
        How candidates are made of true labels; none for the candidate sets of the data.
    methods
        Names of `METHODS`; the first is the one that others are compared with.
    models
        For the methods that have one; or a table: data set → models, `others` for the rest.
    recipe
        One or several of `RECIPES`.
    folds
        Cross-validation; holdout: a share to test on; neither: the published test part.
    seeds
        One series of splits and candidate sets each.
    settings
        Tables of settings of methods. `dataset`, `method` and `model`, a name or a list, say what a table is for; a
        later one comes before an earlier one.
    """

    title: str = ""
    datasets: Annotated[dict[str, DataFile], BeforeValidator(_files_by_name), Field(min_length=1)]
    flips: list[FlipGrid] = Field(default_factory=list)
    methods: Several[str]
    models: Annotated[dict[str, Several[str]], BeforeValidator(_models_by_data)] = {OTHERS: ["linear"]}
    recipe: Several[str] = ["default"]
    folds: int | None = Field(default=None, ge=2)
    holdout: Annotated[float | None, BeforeValidator(_fits)] = RUN_FIELDS["holdout"].default
    seeds: Several[Annotated[int, Field(ge=0)]] = [0]
    features: Annotated[str, BeforeValidator(_fits)] = RUN_FIELDS["features"].default
    strict: Annotated[bool, BeforeValidator(_fits)] = RUN_FIELDS["strict"].default
    settings: list[dict[str, Any]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.folds is not None and self.holdout is not None:
            raise ValueError("folds and holdout exclude each other; give one of them")
        for recipe in self.recipe:
            if recipe not in RECIPES:
                raise unknown("recipe", recipe, RECIPES)
        for method in self.methods:
            METHODS[method]
        models = max(self.models.values(), key=len, default=[])
        sizes = (self.datasets, self.flip_list, self.methods, models, self.recipe, self.seeds)
        cells = math.prod(map(len, sizes)) * (self.folds or 1)
        if cells > MOST_FITS:
            raise ValueError(f"this would be {cells:,} fits; an experiment has {MOST_FITS:,} at most")
        self._check_settings()
        return self

    def _check_settings(self) -> None:
        parameters = {name: METHODS[name]().get_params() for name in self.methods}
        for number, table in enumerate(self.settings, start=1):
            methods = [name for name in self.methods if _applies(table, "method", name)]
            given = {name: value for name, value in table.items() if name not in _SELECTORS}
            for name, value in given.items():
                lacking = [method for method in methods if name not in parameters[method]]
                if methods and len(lacking) >= (len(methods) if "method" not in table else 1):
                    hint = did_you_mean(name, parameters[lacking[0]])
                    raise ValueError(f"settings, table {number}: {lacking[0]} has no setting {name!r}.{hint}")
                if name in RUN_FIELDS and (problem := RUN_FIELDS[name].problem(value, name)):
                    raise ValueError(f"settings, table {number}: {problem}")
            for method in methods:
                own = {name: value for name, value in given.items() if name in parameters[method]}
                try:
                    METHODS[method](**own).check_settings()
                except UserError as error:
                    raise ValueError(f"settings, table {number}, {method}: {error}") from error

    @property
    def flip_list(self) -> list[Flip | None]:
        """Every way to make candidates; None for those of the data."""
        return [flip for grid in self.flips for flip in grid.flips()] or [None]

    def resolved(self, folder: Path) -> Experiment:
        """Return the experiment with absolute paths; relative ones begin at a folder."""
        whole = {
            name: file.model_copy(update={"path": str(folder.resolve() / Path(file.path).expanduser())})
            for name, file in self.datasets.items()
            if file.path
        }
        return self.model_copy(update={"datasets": self.datasets | whole})

    def paths(self) -> list[str]:
        """Return the paths of all files of data."""
        return [file.path for file in self.datasets.values() if file.path]

    def plan(self, *, download: bool = False) -> ExperimentPlan:
        """Return the cells that can run here, and the data sets that are missing.

        Parameters
        ----------
        download
            Whether missing data sets of the catalogue are downloaded.
        """
        cells: list[Cell] = []
        missing = []
        for name, file in self.datasets.items():
            try:
                source = _source(name, file)
                if source.path is None:
                    _check_here(source.name, download=download)
            except UserError as error:
                missing.append(Missing(name, str(error), sum(1 for _ in self._of_dataset(name, Source(name)))))
                continue
            cells.extend(self._of_dataset(name, source))
        return ExperimentPlan(tuple(cells), tuple(missing))

    def _of_dataset(self, name: str, source: Source) -> Iterator[Cell]:
        models = self.models.get(name, self.models.get(OTHERS))
        if not models:
            raise UserError(f"models says nothing of {name}; name its models, or those of all {OTHERS}.")
        for flip, seed, fold in product(self.flip_list, self.seeds, range(self.folds or 1)):
            for model, recipe, method in product(models, self.recipe, self.methods):
                has_model = "model" in METHODS[method]().get_params()
                if not has_model and model != models[0]:
                    continue
                yield Cell(
                    dataset=name,
                    source=source,
                    method=method,
                    model=model if has_model else "",
                    recipe=recipe,
                    settings=self._settings(name, method, model if has_model else ""),
                    fold=fold,
                    folds=self.folds,
                    flip=flip,
                    seed=seed,
                    **{name: getattr(self, name) for name in AS_GIVEN if name != "seed"},
                )

    def _settings(self, dataset: str, method: str, model: str) -> dict[str, Any]:
        parameters = METHODS[method]().get_params()
        result: dict[str, Any] = {}
        for table in self.settings:
            if all(_applies(table, name, one) for name, one in zip(_SELECTORS, (dataset, method, model), strict=True)):
                result |= {
                    name: value for name, value in table.items() if name not in _SELECTORS and name in parameters
                }
        return result


_SELECTORS = ("dataset", "method", "model")


def _applies(table: Mapping[str, Any], selector: str, one: str) -> bool:
    return selector not in table or one in _listed(table[selector])


def _source(name: str, file: DataFile) -> Source:
    if not file.path:
        if Path(name).suffix:
            table = f"[datasets] and below it {Path(name).stem} = {json.dumps(name)}"
            raise UserError(f"{name} is no dataset of the catalogue; to use a file, name it in a table: {table}.")
        return Source(catalog.find(name).name, rule=file.rule)
    path = Path(file.path).expanduser()
    if not path.is_file() and not holds_data(path):
        raise UserError(f"There is no file {path}; check the path of {name}.")
    options = {"columns": file.columns} if file.columns else {}
    return replace(source_of(str(path), file.rule), name=name, format=file.format, options=options)


def _check_here(name: str, *, download: bool) -> None:
    """Raise UserError where a data set of the catalogue is not on this machine."""
    entry = catalog.find(name)
    if catalog.available(entry):
        return
    if download:
        catalog.load(name)
        return
    hint = "run again with --download" if entry.downloadable else ""
    raise UserError(by_hand(entry.title, entry.files), shell=hint)


# ---- files -----------------------------------------------------------------------------------------------------------


def parse_experiment(text: str, name: str) -> Experiment:
    """Return the experiment of a TOML text.

    Parameters
    ----------
    text
        Of the file.
    name
        Of the file, for messages.

    Raises
    ------
    UserError
        Not TOML, or not an experiment; the message names the file and the field.
    """
    if len(text) > LONGEST_TOML or any(line.count(".") > MOST_DOTS for line in text.splitlines()):
        raise UserError(
            f"{name} is not an experiment: it is longer than {LONGEST_TOML:,} characters, or has endless names."
        )
    try:
        return Experiment.model_validate(tomllib.loads(text))
    except ValidationError as error:
        raise UserError(f"{name}: {_first(error)}") from error
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, a number of thousands of digits, deep nesting
        raise UserError(f"{name} is not a TOML file: {error}.") from error


def read_experiment(path: Path) -> Experiment:
    """Return the experiment of a TOML file; relative paths in it begin at its folder.

    Raises
    ------
    UserError
        There is no such file, or as `parse_experiment`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}.") from error
    return parse_experiment(text, str(path)).resolved(path.parent)


_PRESETS = sorted(
    Path(__file__).with_name("presets").glob("*.toml"), key=lambda file: (file.stem != "quick", file.stem)
)
PRESETS: dict[str, str] = {file.stem: file.read_text(encoding="utf-8") for file in _PRESETS}
"""The TOML text of every preset, by name, the quick one first; a new one is its file."""


def preset(name: str) -> Experiment:
    """Return one of the paper's experiments, or the quick one.

    Raises
    ------
    UserError
        No preset has that name; the message suggests one.

    Examples
    --------
    >>> list(preset("real-world").datasets)
    ['lost', 'birdsong', 'msrcv2', 'soccer-player', 'yahoo-news']
    """
    if name not in PRESETS:
        raise unknown("preset, and no file,", name, PRESETS)
    return parse_experiment(PRESETS[name], name)


def changed(experiment: Experiment, **values: Any) -> Experiment:
    """Return the experiment with other values of some fields, checked again.

    Raises
    ------
    UserError
        The values do not fit.
    """
    try:
        return Experiment.model_validate(experiment.model_dump() | values)
    except ValidationError as error:
        raise UserError(f"The experiment cannot be changed like this: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    """Return the first problem with its place, as one sentence; a misspelt field before what is missing for it."""
    every = error.errors(include_url=False)
    result = next((one for one in every if one["type"] == "extra_forbidden"), every[0])
    *_, last = loc = list(map(str, result["loc"])) or [""]
    place = ".".join(loc)
    message = result["msg"].removeprefix("Value error, ").rstrip(".")
    if result["type"] == "extra_forbidden":
        kinds: dict[str, type[_TomlTable]] = {"flips": FlipGrid, "datasets": DataFile}
        kind = kinds.get(loc[0], Experiment)
        message = f"there is no field of this name; there are {', '.join(kind.model_fields)}"
        return f"{place}: {message}.{did_you_mean(last, kind.model_fields)}"
    return f"{message}." if not place or message.startswith(f"{place} ") else f"{place}: {message}."


def selected(cells: Sequence[Cell], only: Sequence[str]) -> list[Cell]:
    """Return the cells that match a selection.

    Parameters
    ----------
    cells
        Its cells, in order.
    only
        Each `NAME=VALUE` (dataset, flip, q, method, model, recipe, seed or fold) or a value alone (a data set, method,
        model or flip). Values of one name are alternatives, different names must all match.

    Raises
    ------
    UserError
        a selection that matches no cell at all.

    Examples
    --------
    >>> selected([], [])
    []
    """
    facts = [_facts(cell) for cell in cells]
    wanted: dict[str, set[str]] = {}
    for text in only:
        key, _, value = text.rpartition("=")
        if key and key not in _FACTS:
            raise UserError(f"--only {text}: there is no {key!r}; use one of {', '.join(_FACTS)}.")
        names = [key] if key else ["dataset", "method", "model", "flip"]
        name = next((name for name in names if any(_same(fact[name], value) for fact in facts)), None)
        if name is None:
            there = sorted({fact[name] for fact in facts for name in names} - {""})
            raise UserError(f"--only {text} matches no cell; there are {', '.join(there)}.")
        wanted.setdefault(name, set()).add(value)
    return [
        cell
        for cell, fact in zip(cells, facts, strict=True)
        if all(any(_same(fact[name], value) for value in values) for name, values in wanted.items())
    ]


_FACTS = ("dataset", "flip", "q", "method", "model", "recipe", "seed", "fold")


def _facts(cell: Cell) -> dict[str, str]:
    made = {} if cell.flip is None else {"flip": cell.flip.how, "q": cell.flip.q}
    facts = {name: getattr(cell, name) for name in _FACTS if name not in ("flip", "q")} | {"flip": "", "q": None} | made
    return {name: "" if value is None else str(value) for name, value in facts.items()}


def _same(fact: str, value: str) -> bool:
    try:
        return fact == value or float(fact) == float(value)
    except ValueError:
        return False
