"""The commands, each declared once: a dataclass, whose docstring is the help and whose fields are the options.

Nothing here imports NumPy or PyTorch: a registry is read when a value has to be checked, and `choices.json` holds for
the help what the registries hold (`python -m tools.cli_choices` writes it).
"""

from __future__ import annotations

import copy
import difflib
import importlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

CHOICES = Path(__file__).with_name("choices.json")


@cache
def choices() -> dict[str, dict[str, Any]]:
    """Return what the help lists: `names` of each registry, and `settings` that only some methods have."""
    result: dict[str, dict[str, Any]] = json.loads(CHOICES.read_text("utf-8"))
    return result


# ---- types of values -------------------------------------------------------------------------------------------------


class FiniteFloat(click.ParamType[float]):
    """A number that is neither infinite nor NaN."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = click.FLOAT.convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class Name(click.ParamType[str]):
    """A name in a registry of the library, which is imported when it is first needed.

    Parameters
    ----------
    registry
        Where it is, as `module:attribute`.
    others
        Whether other values, which the command itself judges, are taken too.
    """

    name = "name"

    def __init__(self, registry: str, *, others: bool = False) -> None:
        self.registry = registry
        self.others = others

    def entries(self) -> Iterable[str]:
        """Import the registry and return it."""
        module, _, attribute = self.registry.partition(":")
        result: Iterable[str] = getattr(importlib.import_module(module), attribute)
        return result

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not self.others and text not in (names := tuple(self.entries())):
            close = difflib.get_close_matches(text, names, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            self.fail(f"{text!r} is not one of {', '.join(names)}.{hint}", param, ctx)
        return text


class NameOption(click.Option):
    """An option whose help lists the names in the registry of its type."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        complete = copy.copy(self)
        if isinstance(self.type, Name):
            complete.help = f"{self.help}: {', '.join(choices()['names'][self.type.registry])}"
        return super(NameOption, complete).get_help_record(ctx)


class SettingValue(click.ParamType[Any]):
    """A setting that only some methods have: a number, a word, or none, true, false.

    Examples
    --------
    >>> [SettingValue().convert(text, None, None) for text in ("3", "1e-3", "rbf", "none", "true")]
    [3, 0.001, 'rbf', None, True]
    """

    name = "value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        words: dict[str, bool | None] = {"none": None, "true": True, "false": False}
        if value.lower() in words:
            return words[value.lower()]
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                pass
        return value


METHODS = Name("pll.methods:METHODS", others=True)
NUMBER = FiniteFloat()


# ---- settings of methods ---------------------------------------------------------------------------------------------


def _setting(name: str, help: str, **more: Any) -> click.Option:
    return NameOption([f"--{name.replace('_', '-')}"], help=help, **more)


SETTINGS = (
    _setting("model", "torchvision:NAME, or one of", type=Name("pll.training.models:MODELS", others=True)),
    _setting("loss", "loss of a label", type=Name("pll.training.losses:LOSSES", others=True)),
    _setting("epochs", "passes over the data", type=int),
    _setting("batch_size", "examples a step", type=int),
    _setting("lr", "learning rate", type=NUMBER),
    _setting("weight_decay", "of the optimiser", type=NUMBER),
    _setting("momentum", "of SGD; for Adam its β₁", type=NUMBER),
    _setting("device", "auto, cpu, cuda, cuda:1, mps, xpu"),
    _setting(
        "precision",
        "numbers of the training passes; auto is float32 on a CPU",
        type=Name("pll.training.precision:PRECISIONS"),
    ),
    _setting("threads", "CPU threads; if not given, one less than there are cores", type=int),
    _setting("optimiser", "how steps are taken", type=Name("pll.training.trainer:OPTIMISERS")),
    _setting("lr_decay", "factor on the learning rate every --lr-decay-every epochs", type=NUMBER),
    _setting("lr_decay_every", "see --lr-decay", type=int, metavar="EPOCHS"),
    _setting("augment", "vary images at random while training", type=Name("pll.training.augment:AUGMENTATIONS")),
    _setting(
        "scale",
        "of features; auto is z-scores, for images by channel; +rbf adds radial basis features",
        type=Name("pll.training.scaling:SCALES"),
    ),
    _setting(
        "recipe",
        "how settings that are not given are chosen: by a search without true labels, as published (paper:lost: for "
        "that dataset), or as in the recipe.json of a run, given by its path; if not given, auto; one of",
        type=Name("pll.methods.recipe:RECIPES", others=True),
    ),
)
"""Settings that are options of every method; without the option the method's default applies."""


class MethodCommand(click.Command):
    """A command that trains methods: the settings which only some of them have are options too."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *common, help_option = super().get_params(ctx)
        return [*common, *self._own_settings, help_option]

    @cached_property
    def _own_settings(self) -> list[click.Parameter]:
        taken = {option for param in self.params for option in param.opts}
        return [
            click.Option([name, flag], type=SettingValue(), metavar="VALUE", help=words)
            for name, words in choices()["settings"].items()
            if (flag := f"--{name.replace('_', '-')}") not in taken
        ]


# ---- how commands are declared ---------------------------------------------------------------------------------------


def argument(**shown: Any) -> Any:
    """Declare a positional argument: a field of a command."""
    return field(metadata={"kind": click.Argument, "shown": shown})


def option(*flags: str, **shown: Any) -> Any:
    """Declare an option: a field of a command; its flag is made of its name where none is given."""
    return field(metadata={"kind": NameOption, "flags": flags, "shown": shown})


def click_command(name: str, kind: type[Any], place: str) -> click.Command:
    """Return the command that a dataclass declares.

    What is no field of the dataclass is a setting of a method, and goes into its field `settings`.

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
    has_settings = any(one.name == "settings" for one in fields(kind))

    def run(**values: Any) -> Any:
        own = {one.name: values.pop(one.name) for one in declared}
        source = click.get_current_context().get_parameter_source
        explicit = {name: value for name, value in values.items() if source(name) is not ParameterSource.DEFAULT}
        options = kind(**own, **({"settings": explicit} if has_settings else {}))
        module, _, function = place.partition(":")
        return getattr(importlib.import_module(f"pll.cli.{module}"), function)(options)

    parameters = [_parameter(one.name, **one.metadata) for one in declared]
    if has_settings:
        return MethodCommand(name, params=[*parameters, *SETTINGS], help=kind.__doc__, callback=run)
    return click.Command(name, params=parameters, help=kind.__doc__, callback=run)


def _parameter(
    name: str, kind: type[click.Parameter], shown: dict[str, Any], flags: tuple[str, ...] = ()
) -> click.Parameter:
    if kind is click.Argument:
        return click.Argument([name], **shown)
    return kind([name, *(flags or [f"--{name.replace('_', '-')}"])], **shown)


def _check_exclusive(options: object, *names: str) -> None:
    """Raise `click.UsageError` where more than one of these options is given."""
    if sum(getattr(options, name) is not None for name in names) > 1:
        raise click.UsageError(f"{' and '.join(f'--{name}' for name in names)} exclude each other; give one of them.")


# ---- the commands ----------------------------------------------------------------------------------------------------

COLUMN: dict[str, Any] = {
    "type": Name("pll.formats.roles:ROLES", others=True),
    "multiple": True,
    "metavar": "NAME=ROLE",
    "help": "what a column or field is (may be given several times), a role of",
}
SHEET = {"metavar": "NAME", "help": "of a workbook: the sheet to read; else the first table"}
SEED: dict[str, Any] = {
    "type": click.IntRange(min=0),
    "default": 0,
    "show_default": True,
    "help": "of split, candidate sets and method: the same seed, the same result",
}
ANSWER: dict[str, Any] = {
    "multiple": True,
    "metavar": "FROM=CLASS",
    "help": "map an answer that names no class (several times)",
}
CLASSES = {"default": "", "metavar": "A,B,C", "help": "all classes, where the data does not list them"}
READING = {"metavar": "FILE", "help": "read the data as this file says, which candid read --save wrote"}
KEEP_ANSWER: dict[str, Any] = {
    "multiple": True,
    "metavar": "CELL",
    "help": "a cell that is a class, though it looks like no answer, such as NA (several times)",
}
ACCEPT: dict[str, Any] = {
    "multiple": True,
    "metavar": "KIND",
    "help": "what is odd about the reading and right all the same (several times)",
}
NO_MERGE: dict[str, Any] = {
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
    merge: tuple[str, ...] = option(multiple=True, metavar="FROM=TO", help="take the class FROM for TO (several times)")
    rename: tuple[str, ...] = option(multiple=True, metavar="OLD=NEW", help="call a class otherwise (several times)")
    drop: tuple[str, ...] = option(
        multiple=True, metavar="CLASS", help="take a class for no answer at all (several times)"
    )
    rule: str = option(
        default="",
        help="candidates from annotators: voters (voter models and features together; the default of fit), union, "
        "votes:2 or reliability:0.05",
    )
    flip: str | None = option(type=Name("pll.synthesis:FLIPS"), help="make candidates of true labels", metavar="HOW")
    q: float | None = option(type=NUMBER, help="probability that a wrong label enters, 0-1, with --flip")
    size: int | None = option(type=int, help="size of the sets, with --flip uniform")
    matrix: str | None = option(metavar="FILE", help="a table of probabilities (csv, npz, …), with --flip matrix")
    noisy: str | None = option(
        metavar="HOW",
        help="make candidates of single labels that may be wrong: topk:2 (what a classifier finds likeliest joins) or "
        "confusion:0.05 (what the label is confused with at least so often joins)",
    )
    confusion: str | None = option(
        metavar="FILE",
        help="a confusion matrix (counts), with --noisy confusion, or with --flip matrix instead of --matrix (--q then "
        "is its highest probability)",
    )
    confusion_rows: str = option(
        type=click.Choice(("true", "given")), default="true", show_default=True, help="what its rows are"
    )


@dataclass(frozen=True, kw_only=True)
class DatasetsOptions:
    """List what the catalogue has, and where each comes from."""


@dataclass(frozen=True, kw_only=True)
class SynthesizeOptions(SetOptions):
    """Make candidate sets from labels or annotators."""

    seed: int = option(**SEED)
    out: str = option(required=True, metavar="FILE", help="data.npz, or any format by its ending")


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(SetOptions):
    """Options that `fit` and `evaluate` share.

    Attributes
    ----------
    settings
        Of the methods; those that were given.
    """

    data: str = argument(required=False)
    votes: tuple[str, ...] = option(
        multiple=True,
        metavar="FILE",
        help="answers of models: batch results, samples_*.jsonl, Argilla suggestions, Label Studio predictions, "
        "columns of models or prob_CLASS, .npy of probabilities (several times); joined with DATA on the id, or alone",
    )
    features: str = option(
        default="auto",
        show_default=True,
        metavar="SPEC",
        help="what makes features of texts, pictures and words: auto, none, or e.g. table+tfidf:100, pixels:64",
    )
    test: str | None = option(metavar="FILE", help="test on this data")
    holdout: float | None = option(type=NUMBER, metavar="SHARE", help="test on this share of the data, 0-1")
    strict: bool = option(is_flag=True, help="refuse a truth that is not among the candidates")
    settings: dict[str, Any]

    def __post_init__(self) -> None:
        _check_exclusive(self, "test", "holdout")
        if not self.data and not self.votes:
            raise click.UsageError("Missing argument 'DATA'; give data, or votes with --votes FILE.")


@dataclass(frozen=True, kw_only=True)
class FitOptions(TrainingOptions):
    """Train one method and write a run folder.

    Ctrl-C stops before the next mini-batch, keeps what was learnt and ends with status 130; --resume continues from
    there to the same result.
    """

    method: str = option(
        type=METHODS,
        default="proden",
        show_default=True,
        help="auto (compares PRODEN, IPAL, SURE and PL-kNN without true labels and takes the best), or one of",
    )
    seed: int = option(**SEED)
    out: str = option(required=True, metavar="RUN_DIR", help="the folder of the run")
    resume: bool = option(is_flag=True, help="go on where an earlier run in RUN_DIR ended")


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(TrainingOptions):
    """Compare methods over folds or seeds.

    A setting goes to every method that has it; a note names methods without it.
    """

    methods: str = option(type=METHODS, default="proden", show_default=True, help="several, separated by commas, of")
    folds: int | None = option(type=int, metavar="K", help="cross-validation in so many folds")
    seeds: str = option(
        default="0", show_default=True, help="numbers, separated by commas: new splits and sets for each"
    )
    out: str | None = option(metavar="FILE", help="write results.csv here; what it holds already is not fitted again")


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
    holdout: float | None = option(type=NUMBER, metavar="SHARE", help="the same: test on this share")
    seeds: str | None = option(metavar="LIST", help="the same: numbers, separated by commas")
    epochs: int | None = option(type=int, help="the same: of the methods trained by gradient descent")
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
    to: str = option(type=Name("pll.formats:FORMATS", others=True), required=True, metavar="FORMAT", help="one of")
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
class GcOptions:
    """Remove deleted runs, uploads of before today that no run reads, and half-written files."""

    yes: bool = option(is_flag=True, help="remove it; else it is only listed")


COMMANDS: dict[str, tuple[type[Any], str]] = {
    "datasets": (DatasetsOptions, "commands:datasets"),
    "synthesize": (SynthesizeOptions, "commands:synthesize"),
    "fit": (FitOptions, "fit:fit"),
    "evaluate": (EvaluateOptions, "evaluate:evaluate"),
    "experiment": (ExperimentOptions, "experiment:experiment"),
    "predict": (PredictOptions, "commands:predict"),
    "export": (ExportOptions, "commands:export"),
    "read": (ReadFileOptions, "read:read"),
    "convert": (ConvertOptions, "commands:convert"),
    "plan": (PlanOptions, "certify:plan"),
    "certify": (CertifyOptions, "certify:certify"),
    "verify": (VerifyOptions, "certify:verify"),
    "check": (CheckOptions, "commands:check"),
    "backup": (BackupOptions, "upkeep:backup"),
    "restore": (RestoreOptions, "upkeep:restore"),
    "labelstudio": (LabelstudioOptions, "upkeep:labelstudio"),
    "gc": (GcOptions, "upkeep:gc"),
}
"""By name: what declares the command, and the function of `pll.cli` that does it."""
