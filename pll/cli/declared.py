"""The commands, each declared once: a dataclass, whose docstring is the help and whose fields are the options.

Nothing here imports NumPy or PyTorch; what describes a run is in `pll.runs.description`.
"""

from __future__ import annotations

import difflib
import importlib
import math
from dataclasses import dataclass, field, fields
from typing import Any

import click

from pll.runs.description import FIELDS, Field, setting_of
from pll.synthesis.names import FLIPS

HOWS = [
    f"{name}{''.join(f'[:{one.upper()}]' for one in way.takes if one != 'q')}"
    + "".join(":FILE" for one in way.needs if one == "matrix")
    for name, way in FLIPS.items()
]
"""The ways to make candidates, as the shell writes them."""

# ---- types of values -------------------------------------------------------------------------------------------------


class FiniteFloat(click.ParamType[float]):
    """A number that is neither infinite nor NaN."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = click.FLOAT.convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class Described(click.ParamType[Any]):
    """A value of a field of a run."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.name = {"whole": "integer", "number": "float"}.get(field.kind, "text")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        kinds: dict[str, click.ParamType[Any]] = {"whole": click.INT, "number": NUMBER}
        result = kinds.get(self.field.kind, click.STRING).convert(value, param, ctx)
        problem = self.field.problem(result, self.field.name)
        if problem:
            close = difflib.get_close_matches(str(value), self.field.choices or (), n=1)
            self.fail(problem + (f" Did you mean {close[0]!r}?" if close else ""), param, ctx)
        return result


class Setting(click.ParamType[tuple[str, Any]]):
    """`NAME=VALUE`: a setting of a method."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        name, equals, text = str(value).partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name or not text:
            self.fail(f"{value!r} is not of the form NAME=VALUE, such as k=10", param, ctx)
        setting = setting_of(name, text.strip())
        problem = FIELDS[name].problem(setting, name) if name in FIELDS else ""
        if problem:
            self.fail(problem, param, ctx)
        return name, setting


NUMBER = FiniteFloat()


# ---- how commands are declared ---------------------------------------------------------------------------------------


def argument(**shown: Any) -> Any:
    """Declare a positional argument: a field of a command."""
    return field(metadata={"kind": click.Argument, "shown": shown})


def option(*flags: str, **shown: Any) -> Any:
    """Declare an option: a field of a command; its flag is made of its name where none is given."""
    return field(metadata={"kind": Grouped, "flags": flags, "shown": shown})


def described(name: str, group: str = "", **more: Any) -> Any:
    """Declare the option of a field of a run (`pll.runs.description`)."""
    one = FIELDS[name]
    words = one.words if one.choices is None else f"{one.words}: {', '.join(one.choices)}"
    kind: dict[str, Any] = {"is_flag": True} if one.kind == "flag" else {"type": Described(one)}
    default = {} if one.default is None or one.default is False else {"default": one.default, "show_default": True}
    shown = {"help": words} | ({"metavar": one.metavar} if one.metavar else {}) | kind | default | more
    return option(group=group, **shown)


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
        read = [param.opts[0] for param in groups.pop(READING_GROUP, [])]
        for title in GROUPS:
            params = groups.get(title, [])
            rows = [row for param in params if (row := param.get_help_record(ctx)) is not None]
            if title == DATA:
                rows.append((f"{read[0]} …", f"as of candid read: {', '.join(read)}"))
            with formatter.section(title):
                formatter.write_dl(rows, col_max=24)


def click_command(name: str, kind: type[Any], place: str) -> click.Command:
    """Return the command that a dataclass declares.

    Parameters
    ----------
    name
        Of the command.
    kind
        The dataclass.
    place
        `module:function` within `pll.cli`: imported when the command runs, and called with an object of `kind`; what
        it returns, where it returns something, is the exit status.
    """
    declared = [one for one in fields(kind) if one.metadata]
    declared.sort(key=lambda one: one.name not in kind.__annotations__)  # the command's own options first

    def run(**values: Any) -> Any:
        module, _, function = place.partition(":")
        return getattr(importlib.import_module(f"pll.cli.{module}"), function)(kind(**values))

    parameters = [_parameter(one.name, **one.metadata) for one in declared]
    grouped = issubclass(kind, TrainingOptions)
    return (GroupedCommand if grouped else click.Command)(name, params=parameters, help=kind.__doc__, callback=run)


def _parameter(
    name: str, kind: type[click.Parameter], shown: dict[str, Any], flags: tuple[str, ...] = ()
) -> click.Parameter:
    if kind is click.Argument:
        return click.Argument([name], **shown)
    return kind([name, *(flags or [option_of(name)])], **shown)


def _check_exclusive(options: object, *names: str) -> None:
    """Raise `click.UsageError` where more than one of these options is given."""
    if sum(getattr(options, name) is not None for name in names) > 1:
        raise click.UsageError(f"{' and '.join(f'--{name}' for name in names)} exclude each other; give one of them.")


# ---- the commands ----------------------------------------------------------------------------------------------------

METHOD, DATA, SETS, TRAINING, RUN = GROUPS = ("Method", "Data", "Candidate sets", "Training", "Run")
"""Groups of options, in the order of the help."""
READING_GROUP = "reading"
"""Options of how a file is read, which the help of other commands only names."""
FORMATS = (
    *("npz", "mat", "xlsx", "imagezip", "huggingface", "parquet", "plcifar", "labelstudio", "argilla", "prodigy"),
    *("doccano", "jsonl", "cleanlab", "csv", "tsv"),
)
"""The names of `pll.formats.FORMATS`, which is slow to import (a test compares the two)."""

COLUMN: dict[str, Any] = {
    "group": DATA,
    "multiple": True,
    "metavar": "NAME=ROLE",
    "help": "what a column is (several times); see candid read",
}
SHEET = {"group": READING_GROUP, "metavar": "NAME", "help": "of a workbook: the sheet to read; else the first table"}
ANSWER: dict[str, Any] = {
    "group": READING_GROUP,
    "multiple": True,
    "metavar": "FROM=CLASS",
    "help": "map an answer that names no class (several times)",
}
CLASSES = {
    "group": READING_GROUP,
    "default": "",
    "metavar": "A,B,C",
    "help": "all classes, where the data does not list them",
}
READING = {"group": DATA, "metavar": "FILE", "help": "read the data as candid read --save has it"}
KEEP_ANSWER: dict[str, Any] = {
    "group": READING_GROUP,
    "multiple": True,
    "metavar": "CELL",
    "help": "a cell that is a class, though it looks like no answer, such as NA (several times)",
}
ACCEPT: dict[str, Any] = {
    "group": READING_GROUP,
    "multiple": True,
    "metavar": "KIND",
    "help": "what is odd about the reading and right all the same (several times)",
}
NO_MERGE: dict[str, Any] = {
    "group": READING_GROUP,
    "is_flag": True,
    "help": "labels that differ by case, spaces or a final . , ! stay classes of their own",
}
SPREADSHEET: dict[str, Any] = {
    "is_flag": True,
    "help": "put an apostrophe before cells that a spreadsheet would execute (=1+1)",
}


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How a file is read."""

    column: tuple[str, ...] = option(**COLUMN)
    sheet: str | None = option(**SHEET)
    no_merge: bool = option(**NO_MERGE)
    answer: tuple[str, ...] = option(**ANSWER)
    classes: str = option(**CLASSES)
    reading: str | None = option(**READING)
    keep_answer: tuple[str, ...] = option(**KEEP_ANSWER)
    accept: tuple[str, ...] = option(**ACCEPT)


@dataclass(frozen=True, kw_only=True)
class ReadFileOptions(FileOptions):
    """Say what is understood of a file: its columns with their first cells, and what came of it.

    Nothing is trained. What it says can be changed with --column and the like, kept with --save, and used for this and
    other files with --reading.
    """

    data: str = argument(metavar="FILE")
    save: str | None = option(metavar="FILE", help="write the reading, for --reading")
    disagree: str | None = option(metavar="A,B", help="write the rows on which these two voters differ to --out")
    out: str | None = option(metavar="FILE", help="a table of the rows of --disagree")

    def __post_init__(self) -> None:
        if (self.disagree is None) != (self.out is None):
            raise click.UsageError("--disagree A,B and --out FILE go together; give both.")


@dataclass(frozen=True, kw_only=True)
class SetOptions(FileOptions):
    """The data, and how candidate sets are made: of annotators, true labels, or labels that may be wrong."""

    data: str = argument(metavar="NAME|FILE")
    merge: tuple[str, ...] = option(
        group=SETS, multiple=True, metavar="FROM=TO", help="take the class FROM for TO (several times)"
    )
    rename: tuple[str, ...] = option(
        group=SETS, multiple=True, metavar="OLD=NEW", help="call a class otherwise (several times)"
    )
    drop: tuple[str, ...] = option(
        group=SETS, multiple=True, metavar="CLASS", help="take a class for no answer at all (several times)"
    )
    rule: str = option(
        group=SETS,
        default="",
        help="of annotators: voters, union, votes:2, reliability:0.05",
    )
    flip: str | None = described("flip", SETS, metavar="HOW", help=f"of true labels: {', '.join(HOWS)}")
    q: float | None = described("q", SETS, help=f"{FIELDS['q'].words}, 0-1")
    noisy: str | None = described(
        "noisy", SETS, metavar="HOW", help="of labels that may be wrong: topk:2, confusion:0.05"
    )
    confusion: str | None = option(group=SETS, metavar="FILE", help="counts, for --noisy confusion or --flip matrix")
    confusion_rows: str = option(
        group=SETS,
        type=click.Choice(("true", "given")),
        default="true",
        metavar="WHICH",
        help="its rows are true (if not given) or given labels",
    )


@dataclass(frozen=True, kw_only=True)
class DatasetsOptions:
    """List what the catalogue has, and where each comes from."""


@dataclass(frozen=True, kw_only=True)
class MethodsOptions:
    """List the methods; or what one is, and its settings, which fit --set NAME=VALUE gives."""

    name: str | None = argument(metavar="[NAME]", required=False)


@dataclass(frozen=True, kw_only=True)
class SynthesizeOptions(SetOptions):
    """Make candidate sets from labels or annotators."""

    seed: int = described("seed")
    out: str = option(required=True, metavar="FILE", help="data.npz, or any format by its ending")


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(SetOptions):
    """Options that `fit` and `evaluate` share."""

    data: str = argument(required=False)
    votes: tuple[str, ...] = option(
        group=DATA,
        multiple=True,
        metavar="FILE",
        help="answers of models (several times), with DATA or alone",
    )
    features: str = described("features", DATA)
    test: str | None = option(group=DATA, metavar="FILE", help="test on this data")
    holdout: float | None = described("holdout", DATA)
    strict: bool = described("strict", SETS)
    recipe: str | None = described("recipe", METHOD)
    model: str | None = described("model", METHOD)
    set: tuple[tuple[str, Any], ...] = option(
        group=METHOD,
        type=Setting(),
        multiple=True,
        metavar="NAME=VALUE",
        help="any that candid methods NAME lists (several times)",
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
        _check_exclusive(self, "test", "holdout")
        if not self.data and not self.votes:
            raise click.UsageError("Missing argument 'DATA'; give data, or votes with --votes FILE.")
        names = [name for name, _ in self.set]
        twice = next((name for name in names if names.count(name) > 1 or getattr(self, name, None) is not None), None)
        if twice is not None:
            raise click.UsageError(f"{twice} is given twice; give it once, as --set {twice}=VALUE or as an option.")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of methods that were given."""
        given = {name: getattr(self, name) for name in SETTINGS}
        return {name: value for name, value in given.items() if value is not None} | dict(self.set)


SETTINGS = (
    *("recipe", "model", "loss", "epochs", "batch_size", "lr", "weight_decay", "momentum", "scale"),
    *("device", "threads"),
)
"""Settings of methods that are options; `--set` gives any."""


@dataclass(frozen=True, kw_only=True)
class FitOptions(TrainingOptions):
    """Train one method and write a run folder.

    Ctrl-C stops before the next mini-batch, keeps what was learnt and ends with status 130; --resume continues from
    there to the same result.
    """

    method: str = described("method", METHOD)
    seed: int = described("seed", RUN)
    out: str = option(group=RUN, required=True, metavar="RUN_DIR", help="the folder of the run")
    resume: bool = option(group=RUN, is_flag=True, help="go on where an earlier run in RUN_DIR ended")


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(TrainingOptions):
    """Compare methods over folds or seeds.

    A setting goes to every method that has it; a note names methods without it.
    """

    methods: str = option(
        group=METHOD, default="proden", show_default=True, help="several, with commas; candid methods lists them"
    )
    folds: int | None = option(group=DATA, type=int, metavar="K", help="cross-validation in so many folds")
    seeds: str = option(
        group=RUN, default="0", show_default=True, help="numbers, separated by commas: new splits and sets for each"
    )
    out: str | None = option(
        group=RUN, metavar="FILE", help="write results.csv here; what it holds already is not fitted again"
    )


@dataclass(frozen=True, kw_only=True)
class ExperimentOptions:
    """Fit a grid of datasets and methods; write tables and figures.

    PRESET is quick, uci-binomial, real-world, uci-pair, image-binomial, image-pair or ambiguity; DIR is the folder of
    an earlier experiment. Every cell is on disk when it ends: after a stop the same command fits the missing ones.
    """

    name: str = argument(metavar="PRESET|FILE.toml|DIR")
    out: str | None = option(
        metavar="DIR", help="folder of the experiment; if not given, one of its name in ~/.candid/experiments"
    )
    only: tuple[str, ...] = option(
        multiple=True,
        metavar="NAME=VALUE",
        help="fit only these cells (may be given several times): dataset=lost, method=ipal, q=0.7, seed=0, or just "
        "lost",
    )
    folds: int | None = option(type=int, metavar="K", help="instead of what the experiment says: cross-validation")
    holdout: float | None = described("holdout", help="the same: test on this share")
    seeds: str | None = option(metavar="LIST", help="the same: numbers, separated by commas")
    epochs: int | None = described("epochs", help="the same: of the methods trained by gradient descent")
    download: bool = option(is_flag=True, help="download datasets of the catalogue that are not here")
    jobs: int | None = option(
        type=click.IntRange(min=1), metavar="N", help="processes at once; if not given, one a core"
    )
    backend: str = option(type=click.Choice(("local", "dask")), default="local", show_default=True, help="where to fit")
    scheduler: str | None = option(metavar="ADDRESS", help="of the Dask cluster, such as tcp://10.0.0.1:8786")
    show: bool = option(is_flag=True, help="print the TOML file of a preset, to be copied and changed, and end")

    def __post_init__(self) -> None:
        _check_exclusive(self, "folds", "holdout")


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """Label unseen examples with a run's model."""

    run: str = argument(metavar="RUN_DIR")
    data: str = argument()
    column: tuple[str, ...] = option(**COLUMN)
    reading: str | None = option(**READING)
    out: str = option(required=True, metavar="FILE", help="the file to write")
    spreadsheet_safe: bool = option(**SPREADSHEET)


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Write a run's labels and model, and one ZIP of them."""

    run: str = argument(metavar="RUN_DIR")
    out: str = option(required=True, metavar="DIR", help="the folder to write into")
    spreadsheet_safe: bool = option(**SPREADSHEET)


@dataclass(frozen=True, kw_only=True)
class ConvertOptions(FileOptions):
    """Write data or a run's labels in another format.

    IN is a file, a name of the catalogue, or a RUN_DIR, whose labels go back into the format they came from.
    """

    origin: str = argument(metavar="IN")
    to: str = option(required=True, metavar="FORMAT", help=f"one of {', '.join(FORMATS)}")
    out: str = option(required=True, metavar="FILE", help="the file to write")
    source_format: str | None = option(
        "--from", metavar="FORMAT", help="the format of IN, where its content does not say it"
    )
    combine: str = option(
        type=click.Choice(("union", "largest")),
        default="union",
        show_default=True,
        help="sets from several annotators",
    )
    uncertain_first: bool = option(is_flag=True, help="the least certain first, in a tool's file (of a run)")
    by_example: bool = option(is_flag=True, help="one row an example, where the file has a row an answer (of a run)")
    spreadsheet_safe: bool = option(**SPREADSHEET)


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Draw the controls for a certificate of all labels of a table.

    LABELS is a table with the columns id, identified_label and confidence, from Candid or not.
    """

    labels: str = argument(metavar="LABELS|RUN_DIR")
    error: float = option(
        type=NUMBER, default=0.05, show_default=True, help="share of all labels that may be wrong, 0-1"
    )
    confidence: float = option(
        type=NUMBER, default=0.95, show_default=True, help="probability with which the certificate holds"
    )
    controls: float | None = option(
        type=NUMBER, metavar="SHARE", help="share of the labels drawn as controls; else planned"
    )
    seed: int | None = option(type=click.IntRange(min=0), help="of the draw; if not given, one that nobody knows")
    out: str = option(required=True, metavar="FILE", help="plan.csv; plan.json is written beside it")


@dataclass(frozen=True, kw_only=True)
class CertifyOptions:
    """Certify all labels by people's decisions."""

    labels: str = argument(metavar="LABELS|RUN_DIR")
    plan: str = option(required=True, metavar="FILE", help="plan.csv, with plan.json beside it")
    decisions: str = option(required=True, metavar="FILE", help="a table with id and label; ? where nobody can tell")
    out: str = option(required=True, metavar="FILE", help="certificate.json; a page for people is written beside it")
    labels_out: str | None = option(metavar="FILE", help="write all labels, as they are accepted now")


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Check a certificate, or audit.jsonl, from the file alone; says what was altered."""

    certificate: str = argument(metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Say which files of a run are damaged.

    Every file is compared with the checksums in manifest.json. Exit status 2 where one is damaged.
    """

    run: str = argument(metavar="RUN_DIR")


@dataclass(frozen=True, kw_only=True)
class BackupOptions:
    """Copy all decisions, runs and uploads into a new folder, while a server runs."""

    folder: str = argument(metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class RestoreOptions:
    """Copy a backup into an empty home (PLL_HOME) and an empty database (PLL_DATABASE_URL)."""

    folder: str = argument(metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class LabelstudioOptions:
    """Make user and secret by which Label Studio uses a run of this server as its model."""

    run: str = argument(metavar="RUN_DIR")
    url: str | None = option(help="address of this server, as Label Studio reaches it")


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """Say what is installed, how large it is, which device computes, and what is missing."""


@dataclass(frozen=True, kw_only=True)
class GcOptions:
    """Remove deleted runs, uploads of before today that no run reads, and half-written files."""

    yes: bool = option(is_flag=True, help="remove it; else it is only listed")


COMMANDS: dict[str, tuple[type[Any], str]] = {
    "datasets": (DatasetsOptions, "commands:datasets"),
    "synthesize": (SynthesizeOptions, "commands:synthesize"),
    "fit": (FitOptions, "fit:fit"),
    "evaluate": (EvaluateOptions, "evaluate:evaluate"),
    "methods": (MethodsOptions, "methods:methods"),
    "experiment": (ExperimentOptions, "experiment:experiment"),
    "predict": (PredictOptions, "commands:predict"),
    "export": (ExportOptions, "commands:export"),
    "read": (ReadFileOptions, "read:read"),
    "convert": (ConvertOptions, "commands:convert"),
    "plan": (PlanOptions, "certify:plan"),
    "certify": (CertifyOptions, "certify:certify"),
    "verify": (VerifyOptions, "certify:verify"),
    "doctor": (DoctorOptions, "doctor:doctor"),
    "check": (CheckOptions, "commands:check"),
    "backup": (BackupOptions, "upkeep:backup"),
    "restore": (RestoreOptions, "upkeep:restore"),
    "labelstudio": (LabelstudioOptions, "upkeep:labelstudio"),
    "gc": (GcOptions, "upkeep:gc"),
}
"""By name: what declares the command, and the function of `pll.cli` that does it."""
