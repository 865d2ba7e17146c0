"""The commands, each declared once: a class, whose docstring is the help and whose fields are the options.

Nothing here imports NumPy or PyTorch; what describes a run is in `pll.runs.description`.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from functools import partial
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, dataclass_transform

import click

from pll.errors import UserError
from pll.runs.description import METHOD_SETTINGS, RUN_FIELDS, setting_of
from pll.synthesis.names import FLIPS, NOISY

HOWS = [
    f"{name}{''.join(f'[:{one.upper()}]' for one in way.takes if one != 'q')}"
    + "".join(":FILE" for one in way.needs if one == "matrix")
    for name, way in FLIPS.items()
]
"""The ways to make candidates, as the shell writes them."""
DOUBTS = [f"{name}:{number:g}" for name, (_, number) in NOISY.items()]

# ---- types of values -------------------------------------------------------------------------------------------------


class Parsed(click.ParamType[Any]):
    """What a function makes of a text, or refuses with a `UserError`."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name, self.parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.parse(value) if isinstance(value, str) else value
        except UserError as error:
            self.fail(str(error), param, ctx)


def _pair(text: str, form: str) -> tuple[str, str]:
    """Return the two sides of the last `=`; `form` is what a message asks for."""
    name, _, value = text.rpartition("=")
    if not name or not value:
        raise UserError(f"{text!r}; write {form}.")
    return name, value


def _setting(text: str) -> tuple[str, Any]:
    """Return name and value of a setting of a method, as `NAME=VALUE` says them."""
    name, _, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if not name or not value:
        raise UserError(f"{text!r} is not of the form NAME=VALUE, such as k=10")
    return name, setting_of(name, value.strip())


# ---- how commands are declared ---------------------------------------------------------------------------------------


VALUE_TYPES = {"whole": "integer", "number": "float"}
"""What click calls the values of a field."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Options:
    """Options of a command, or of several: a frozen dataclass, whose fields are made by `argument` and `option`.

    One with a `place` is a command: `module:function` within `pll.cli`. The module is imported when the command runs,
    and the function, which the command is called after, gets an object of the class; what it returns, where it returns
    something, is the exit status. The docstring is the help.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls, place: str = "") -> None:
        dataclass(frozen=True, kw_only=True)(cls)
        if place:
            COMMANDS[place.partition(":")[2]] = cls, place


COMMANDS: dict[str, tuple[type[Options], str]] = {}
"""By name: what declares the command, and its place."""


def argument(**shown: Any) -> Any:
    """Declare a positional argument: a field of a command."""
    return field(metadata={"argument": shown})


def option(help: str, metavar: str | None = None, group: str = "", **more: Any) -> Any:
    """Declare an option: a field of a command. Its kind follows from the type of the field, its flag from the name.

    A tuple may be given several times; text without a default, and not None, must be given.

    Parameters
    ----------
    help
        What it does.
    metavar
        What its value is called.
    group
        Its heading.
    more
        For `click.Option`.
    """
    return field(metadata={"option": {"help": help, "metavar": metavar, "group": group, **more}})


def described(name: str, group: str = "", **more: Any) -> Any:
    """Declare the option of a field of a run (`pll.runs.description`).

    Parameters
    ----------
    name
        Of the field.
    group
        Its heading.
    more
        For `click.Option`.
    """
    one = RUN_FIELDS[name]
    words = one.words if one.choices is None else f"{one.words}: {', '.join(one.choices)}"
    kind = (
        {}
        if one.kind == "flag"
        else {"type": Parsed(VALUE_TYPES.get(one.kind, "text"), one.value_of), "default": one.default}
    )
    return option(**{"help": words, "metavar": one.metavar, "group": group} | kind | more)


def option_of(name: str) -> str:
    """Return how the shell spells a field."""
    return f"--{name.replace('_', '-')}"


class Grouped(click.Option):
    """An option that the help shows in a group."""

    def __init__(self, *declarations: Any, group: str = "", **shown: Any) -> None:
        super().__init__(*declarations, **shown)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups; those of another command's are only named."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[click.Parameter]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option):
                groups.setdefault(getattr(param, "group", RUN), []).append(param)
        read = [param.opts[0] for param in groups.pop(READ, [])]
        for title in OPTION_GROUPS:
            params = groups.get(title, [])
            rows = [row for param in params if (row := param.get_help_record(ctx)) is not None]
            if title == DATA:
                rows.append((f"{read[0]} …", f"as of candid read: {', '.join(read)}"))
            with formatter.section(title):
                formatter.write_dl(rows, col_max=24)


def click_command(name: str, kind: type[Options], place: str) -> click.Command:
    """Return the command that a dataclass declares.

    Parameters
    ----------
    name
        Of the command.
    kind
        The dataclass.
    place
        As for `Options`.
    """
    declared = [one for one in fields(kind) if one.metadata]
    declared.sort(key=lambda one: one.name not in kind.__annotations__)  # the command's own options first

    def run(**values: Any) -> Any:
        _check_once(values)
        _check_written(values)
        module, _, function = place.partition(":")
        return getattr(importlib.import_module(f"pll.cli.{module}"), function)(kind(**values))

    grouped = issubclass(kind, TrainingOptions)
    parameters = [_parameter(one) for one in declared]
    return (GroupedCommand if grouped else click.Command)(name, params=parameters, help=kind.__doc__, callback=run)


def _check_once(values: dict[str, Any]) -> None:
    """Raise UsageError where two options NAME=VALUE say different things of one name."""
    for option, given in values.items():
        pairs = {one for one in given if isinstance(one, tuple)} if isinstance(given, tuple) else set()
        names = sorted(name for name, _ in pairs)
        twice = next((name for name, after in pairwise(names) if name == after), None)
        if twice is not None:
            raise click.UsageError(f"{twice} is given twice; give it once, as {option_of(option)} {twice}=….")


WRITTEN = ("out", "save", "labels_out")
"""Options that name a file which a command writes."""


def _check_written(values: dict[str, Any]) -> None:
    """Raise UserError where a command would write over what it reads, or over a file of a run."""
    given = [one for name, value in values.items() if name not in WRITTEN for one in _texts(value)]
    for out in [Path(value) for name in WRITTEN for value in _texts(values.get(name))]:
        if not out.is_file():
            continue
        if any(Path(one).exists() and out.samefile(one) for one in given):
            raise UserError(f"{out} is read by this command; write to another file.")
        from pll.runs.files import CONFIG_FILE, MANIFEST_FILE, OF_A_RUN  # late: imports NumPy

        for folder in out.parents:
            is_run = (folder / CONFIG_FILE).is_file() and (folder / MANIFEST_FILE).is_file()
            if is_run and out.relative_to(folder).parts[0] in OF_A_RUN:
                raise UserError(f"{out} belongs to the run in {folder}; write to another file.")


def _texts(value: Any) -> list[str]:
    """The texts among a value, short enough to name a file, and what stands behind a = in them."""
    every = [one for one in (value if isinstance(value, tuple | list) else (value,)) if isinstance(one, str)]
    every += [one.partition("=")[2] for one in every]
    return [one for one in every if 0 < len(one) < LONGEST_PATH and "\0" not in one]


LONGEST_PATH = 250
"""Letters of a text that is looked for as a file."""


def _parameter(one: Field[Any]) -> click.Parameter:
    if "argument" in one.metadata:
        return click.Argument([one.name], **one.metadata["argument"])
    shown, kind = dict(one.metadata["option"]), str(one.type)
    flag = shown.pop("flag", option_of(one.name))
    if kind == "bool":
        return Grouped([one.name, flag], is_flag=True, **shown)
    if kind.startswith("tuple"):
        shown |= {"multiple": True, "help": f"{shown['help']} (several times)"}
    given: dict[str, Any] = {"type": {"int": click.INT, "float": click.FLOAT}.get(kind.removesuffix(" | None"))}
    if kind == "tuple[tuple[str, str], ...]":
        given["type"] = Parsed("pair", partial(_pair, form=shown["metavar"]))
    if shown.get("default") is not None:
        given["show_default"] = shown["default"] != ""
    elif kind == "str":
        given["required"] = True
    return Grouped([one.name, flag], **given | shown)


# ---- the commands ----------------------------------------------------------------------------------------------------

METHOD, DATA, SETS, TRAINING, RUN = OPTION_GROUPS = ("Method", "Data", "Candidate sets", "Training", "Run")
"""Groups of options, in the order of the help."""
READ = "reading"
"""Options of how a file is read, which the help of other commands only names."""
FORMAT_NAMES = tuple(tomllib.loads(files("pll").joinpath("formats/formats.toml").read_text("utf-8"))["format"])
"""The names of `pll.formats.FORMATS`, which is slow to import."""
PRESET_NAMES = sorted(one.name.removesuffix(".toml") for one in files("pll").joinpath("experiments/presets").iterdir())
"""Those of `pll.experiments.experiment`, which is slow to import."""


class ColumnOptions(Options):
    """What the columns of a file are."""

    column: tuple[tuple[str, str], ...] = option("what a column is; see candid read", "NAME=ROLE", DATA)
    reading: str | None = option("read the data as candid read --save has it", "FILE", DATA)


class SafeOptions(Options):
    """How a table is written."""

    spreadsheet_safe: bool = option("put an apostrophe before cells that a spreadsheet would execute (=1+1)")


class FileOptions(ColumnOptions):
    """How a file is read."""

    sheet: str | None = option("of a workbook: the sheet to read; else the first table", "NAME", READ)
    no_merge: bool = option("labels that differ by case, spaces or a final . , ! stay classes of their own", None, READ)
    answer: tuple[tuple[str, str], ...] = option("map an answer that names no class", "FROM=CLASS", READ)
    classes: str = option("all classes, where the data does not list them", "A,B,C", READ, default="")
    keep_answer: tuple[str, ...] = option(
        "a cell that is a class, though it looks like no answer, such as NA", "CELL", READ
    )
    accept: tuple[str, ...] = option("what is odd about the reading and right all the same", "KIND", READ)
    merge: tuple[tuple[str, str], ...] = option("take the class FROM for TO", "FROM=TO", SETS)
    rename: tuple[tuple[str, str], ...] = option("call a class otherwise", "OLD=NEW", SETS)
    drop: tuple[str, ...] = option("take a class for no answer at all", "CLASS", SETS)


class ReadFileOptions(FileOptions, place="read:read"):
    """Say what is understood of a file: its columns with their first cells, and what came of it.

    Nothing is trained. What it says can be changed with --column and the like, kept with --save, and used for this and
    other files with --reading.
    """

    data: str = argument(metavar="FILE")
    save: str | None = option("write the reading, for --reading", "FILE")
    disagree: str | None = option("write the rows on which these two voters differ to --out", "A,B")
    out: str | None = option("a table of the rows of --disagree", "FILE")

    def __post_init__(self) -> None:
        if (self.disagree is None) != (self.out is None):
            raise click.UsageError("--disagree A,B and --out FILE go together; give both.")


class SetOptions(FileOptions):
    """The data, and how candidate sets are made: of annotators, true labels, or labels that may be wrong."""

    data: str = argument(metavar="NAME|FILE")
    rule: str = option("of annotators: voters (if not given), union, votes:2, reliability:0.05", None, SETS, default="")
    flip: str | None = described("flip", SETS, metavar="HOW", help=f"of true labels: {', '.join(HOWS)}")
    q: float | None = described("q", SETS, help=f"{RUN_FIELDS['q'].words}, 0-1")
    noisy: str | None = described(
        "noisy",
        SETS,
        metavar="HOW",
        help=f"of labels that may be wrong: {', '.join(DOUBTS)}",
    )
    confusion: str | None = option("counts, for --noisy confusion or --flip matrix", "FILE", SETS)
    confusion_rows: str = option(
        "what its rows are, true or given labels", "WHICH", SETS, type=click.Choice(("true", "given")), default="true"
    )


class DatasetsOptions(Options, place="commands:datasets"):
    """List what the catalogue has, and where each comes from."""


class MethodsOptions(Options, place="methods:methods"):
    """List the methods; or what one is, and its settings, which fit --set NAME=VALUE gives."""

    name: str | None = argument(metavar="[NAME]", required=False)


class SynthesizeOptions(SetOptions, place="commands:synthesize"):
    """Make candidate sets from labels or annotators."""

    seed: int = described("seed")
    out: str = option("data.npz, or any format by its ending", "FILE")


class TrainingOptions(SetOptions):
    """Options that `fit` and `evaluate` share."""

    data: str = argument(required=False)
    votes: tuple[str, ...] = option("answers of models, with DATA or alone", "FILE", DATA)
    features: str = described("features", DATA)
    test: str | None = option("test on this data", "FILE", DATA)
    holdout: float | None = described("holdout", DATA)
    strict: bool = described("strict", SETS)
    recipe: str | None = described("recipe", METHOD)
    model: str | None = described("model", METHOD)
    set: tuple[tuple[str, Any], ...] = option(
        "any that candid methods NAME lists", "NAME=VALUE", METHOD, type=Parsed("setting", _setting)
    )
    loss: str | None = described("loss", TRAINING)
    epochs: int | None = described("epochs", TRAINING)
    batch_size: int | None = described("batch_size", TRAINING)
    lr: float | None = described("lr", TRAINING)
    weight_decay: float | None = described("weight_decay", TRAINING)
    momentum: float | None = described("momentum", TRAINING)
    scale: str | None = described("scale", TRAINING, help="of features: auto (z-scores), unit, none, zscore+rbf, …")
    device: str | None = described("device", RUN)
    threads: int | None = described("threads", RUN)

    def __post_init__(self) -> None:
        tests = [name for name in ("test", "holdout", "folds") if getattr(self, name, None) is not None]
        if len(tests) > 1:
            raise click.UsageError(f"--{' and --'.join(tests)} exclude each other; give one of them.")
        if not self.data and not self.votes:
            raise click.UsageError("Missing argument 'DATA'; give data, or votes with --votes FILE.")
        names = [name for name, _ in self.set]
        twice = next((name for name in names if names.count(name) > 1 or getattr(self, name, None) is not None), None)
        if twice is not None:
            raise click.UsageError(f"{twice} is given twice; give it once, as --set {twice}=VALUE or as an option.")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of methods that were given, by an option or `--set`."""
        given = {name: getattr(self, name) for name in SETTING_NAMES}
        return {name: value for name, value in given.items() if value is not None} | dict(self.set)


SETTING_NAMES = tuple(name for name in METHOD_SETTINGS if name in TrainingOptions.__dataclass_fields__)
"""Settings of methods that are options; `--set` gives any."""


class FitOptions(TrainingOptions, place="fit:fit"):
    """Train one method and write a run folder.

    Ctrl-C stops before the next mini-batch, keeps what was learnt and ends with status 130; --resume continues from
    there to the same result.
    """

    method: str = described("method", METHOD)
    seed: int = described("seed", RUN)
    out: str = option("the folder of the run", "RUN_DIR", RUN)
    resume: bool = option("go on where an earlier run in RUN_DIR ended", None, RUN)


class EvaluateOptions(TrainingOptions, place="evaluate:evaluate"):
    """Compare methods over folds or seeds.

    A setting goes to every method that has it; a note names methods without it.
    """

    methods: str = option("several, with commas; candid methods lists them", None, METHOD, default="proden")
    folds: int | None = option("cross-validation in so many folds", "K", DATA)
    seeds: str = option("numbers, separated by commas: new splits and sets for each", None, RUN, default="0")
    out: str | None = option("write results.csv here; what it holds already is not fitted again", "FILE", RUN)


class ExperimentOptions(Options, place="experiment:experiment"):
    """Fit a grid of datasets and methods; write tables and figures.

    PRESET is one of those that --show names. Every cell is on disk when it ends, the state of a long fit every five
    minutes: after a stop the same command goes on.
    """

    name: str = argument(metavar="PRESET|FILE.toml")
    out: str | None = option("folder of the experiment; if not given, one of its name in ~/.candid/experiments", "DIR")
    only: tuple[str, ...] = option(
        "fit only these cells: dataset=lost, method=ipal, q=0.7, seed=0, or just lost", "NAME=VALUE"
    )
    download: bool = option("download datasets of the catalogue that are not here")
    jobs: int | None = option("processes at once; if not given, one a core", "N", type=click.IntRange(min=1))
    backend: str = option("where to fit", type=click.Choice(("local", "dask")), default="local")
    scheduler: str | None = option("of the Dask cluster, such as tcp://10.0.0.1:8786", "ADDRESS")
    show: bool = option(f"print the TOML file of a preset ({', '.join(PRESET_NAMES)}), to be copied, and end")


class PredictOptions(FileOptions, SafeOptions, place="commands:predict"):
    """Label unseen examples with a run's model."""

    run: str = argument(metavar="RUN_DIR")
    data: str = argument()
    out: str = option("the file to write", "FILE")


class ExportOptions(SafeOptions, place="commands:export"):
    """Write a run's labels and model, and one ZIP of them."""

    run: str = argument(metavar="RUN_DIR")
    out: str = option("the folder to write into", "DIR")


class ConvertOptions(FileOptions, SafeOptions, place="commands:convert"):
    """Write data or a run's labels in another format.

    IN is a file, a name of the catalogue, or a RUN_DIR, whose labels go back into the format they came from.
    """

    origin: str = argument(metavar="IN")
    to: str = option(f"one of {', '.join(FORMAT_NAMES)}", "FORMAT")
    out: str = option("the file to write", "FILE")
    source_format: str | None = option("the format of IN, where its content does not say it", "FORMAT", flag="--from")
    combine: str = option("sets from several annotators", type=click.Choice(("union", "largest")), default="union")
    uncertain_first: bool = option("the least certain first, in a tool's file (of a run)")
    by_example: bool = option("one row an example, where the file has a row an answer (of a run)")


class PlanOptions(Options, place="certify:plan"):
    """Draw the controls for a certificate of all labels of a table.

    LABELS is a table with the columns id, identified_label and confidence, from Candid or not.
    """

    labels: str = argument(metavar="LABELS|RUN_DIR")
    error: float = option("share of all labels that may be wrong, 0-1", default=0.05)
    confidence: float = option("probability with which the certificate holds", default=0.95)
    controls: float | None = option("share of the labels drawn as controls; else planned", "SHARE")
    seed: int | None = option("of the draw; if not given, one that nobody knows", type=click.IntRange(min=0))
    out: str = option("plan.csv; plan.json is written beside it", "FILE")


class CertifyOptions(Options, place="certify:certify"):
    """Certify all labels by people's decisions."""

    labels: str = argument(metavar="LABELS|RUN_DIR")
    plan: str = option("plan.csv, with plan.json beside it", "FILE")
    decisions: str = option("a table with id and label; ? where nobody can tell", "FILE")
    out: str = option("certificate.json; a page for people is written beside it", "FILE")
    labels_out: str | None = option("write all labels, as they are accepted now", "FILE")


class VerifyOptions(Options, place="certify:verify"):
    """Check a certificate, or audit.jsonl, from the file alone; says what was altered."""

    certificate: str = argument(metavar="FILE")


class CheckOptions(Options, place="commands:check"):
    """Say which files of a run are damaged.

    Every file is compared with the checksums in manifest.json. Exit status 2 where one is damaged.
    """

    run: str = argument(metavar="RUN_DIR")


class BackupOptions(Options, place="upkeep:backup"):
    """Copy all decisions, runs and uploads into a new folder, while a server runs."""

    folder: str = argument(metavar="DIR")


class RestoreOptions(Options, place="upkeep:restore"):
    """Copy a backup into an empty home (PLL_HOME) and an empty database (PLL_DATABASE_URL)."""

    folder: str = argument(metavar="DIR")


class LabelstudioOptions(Options, place="upkeep:labelstudio"):
    """Make user and secret by which Label Studio uses a run of this server as its model."""

    run: str = argument(metavar="RUN_DIR")
    url: str | None = option("address of this server, as Label Studio reaches it")


class DoctorOptions(Options, place="doctor:doctor"):
    """Say what is installed, how large it is, which device computes, and what is missing."""


class GcOptions(Options, place="upkeep:gc"):
    """Remove deleted runs, uploads of before today that no run reads, and half-written files."""

    yes: bool = option("remove it; else it is only listed")
