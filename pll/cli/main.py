"""The command line, `python -m pll …` and `candid …`: commands and options. The work is in pll.cli.commands and fit.

Nothing here imports NumPy or PyTorch: a command imports what it needs when it runs, a registry is read when a value has
to be checked, and `choices.json` holds for the help what the registries hold (`python -m tools.cli_choices` writes it).
"""

from __future__ import annotations

import copy
import difflib
import importlib
import json
import math
import os
import runpy
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from pll import __version__
from pll.cli import INTERRUPTED
from pll.errors import UserError, explain, is_disk_full
from pll.paths import app_root

DATA = "a file of any format, a folder of pictures, or a name that the command datasets lists"
SEED = "of split, candidate sets and method: the same seed, the same result"
CHOICES = Path(__file__).with_name("choices.json")


@cache
def listed() -> dict[str, dict[str, Any]]:
    """Return what the help lists: `names` of each registry, and `settings` that only some methods have."""
    found: dict[str, dict[str, Any]] = json.loads(CHOICES.read_text("utf-8"))
    return found


def candid() -> None:
    """Run the console script `candid`: open the app (`--ranks N` may say how), or, with a command, run that."""
    arguments = sys.argv[1:]
    if arguments and arguments[0].partition("=")[0] == "--ranks":
        app.main(arguments, prog_name="candid")
    sys.exit(main(program="candid") if arguments else open_app())


@click.command()
@click.option("--ranks", type=click.IntRange(1, 1024), required=True, help="processes that train a run of the pages")
def app(ranks: int) -> int:
    """Open the app."""
    os.environ["PLL_RANKS"] = str(ranks)
    sys.exit(open_app())


def main(arguments: Sequence[str] | None = None, *, program: str = "python -m pll") -> int:
    """Run a command.

    Args:
        arguments: of the command line, without the program; None takes those of this process.

    Returns:
        The exit status: 0, 2 where the user has to mend something, 130 after Ctrl-C.
    """
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        if sys.stdout is None:  # closed by whoever started this (`… >&-`): there is nobody to tell
            sys.stdout = nowhere
        if sys.stderr is None:
            sys.stderr = nowhere
        try:
            cli.main(arguments, prog_name=program)
        except SystemExit as stop:  # how click ends, always
            return stop.code if isinstance(stop.code, int) else 0
        finally:
            sys.stdout = None if sys.stdout is nowhere else sys.stdout
            sys.stderr = None if sys.stderr is nowhere else sys.stderr


def open_app() -> int:
    """Serve the app with Streamlit until Ctrl-C; returns the exit status.

    Streamlit reads `.streamlit/config.toml` beside `app.py`, whatever the working directory is.
    """
    if find_spec("streamlit") is None:
        click.echo("candid: the app needs Streamlit; install it with: pip install 'candid-labels[app]'", err=True)
        return 2
    sys.argv = ["streamlit", "run", str(app_root() / "app.py")]
    try:
        runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    return 0


class Refusal(click.ClickException):
    """Something that the user can mend, as one line on stderr and exit status 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"candid: {self.message}", err=True)


class Commands(click.Group):
    """The commands, with one way to begin and one way to end for all of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments of a command.

        Raises:
            Refusal: one that is not UTF-8, as the name of a file may be: libraries and our own files need text.
        """
        for argument in args:
            if any("\ud800" <= letter <= "\udfff" for letter in argument):  # how Python holds bytes that are no text
                shown = argument.encode("utf-8", "backslashreplace").decode()
                raise Refusal(f"{shown} is not UTF-8; rename the file or folder, then give its new name.")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> None:
        """Run a command; its return value, where it has one, is the exit status.

        Raises:
            Refusal: a `UserError`, or a file that cannot be read or written.
        """
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
        except UserError as error:
            raise Refusal(str(error)) from error
        except KeyboardInterrupt:
            click.echo("candid: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:  # `… | head` has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is not for anybody
            ctx.exit(0)
        except OSError as error:
            raise Refusal(explain(error) if is_disk_full(error) else f"reading or writing failed: {error}") from error
        ctx.exit(status or 0)


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

    Args:
        registry: where it is, as `module:attribute`.
        others: whether other values, which the command itself judges, are taken too.
    """

    name = "name"

    def __init__(self, registry: str, *, others: bool = False) -> None:
        self.registry = registry
        self.others = others

    def entries(self) -> Iterable[str]:
        """Import the registry and return it."""
        module, _, attribute = self.registry.partition(":")
        found: Iterable[str] = getattr(importlib.import_module(module), attribute)
        return found

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
            complete.help = f"{self.help}: {', '.join(listed()['names'][self.type.registry])}"
        return super(NameOption, complete).get_help_record(ctx)


OWN = "own_"
"""Prefix of the parameters that hold the settings which only some methods have."""


class MethodCommand(click.Command):
    """A command that trains methods: the settings which only some of them have are options too."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *common, help_option = super().get_params(ctx)
        return [*common, *self._own_options, help_option]

    @cached_property
    def _own_options(self) -> list[click.Parameter]:
        taken = {option for param in self.params for option in param.opts}
        return [
            click.Option([OWN + name, flag], metavar="VALUE", help=words)
            for name, words in listed()["settings"].items()
            if (flag := f"--{name.replace('_', '-')}") not in taken
        ]


def _with_own(values: dict[str, Any]) -> dict[str, Any]:
    """Gather the settings that only some methods have into one dict, `own`."""
    from pll.cli.options import setting_value

    own = {name.removeprefix(OWN): text for name, text in values.items() if name.startswith(OWN) and text is not None}
    common = {name: value for name, value in values.items() if not name.startswith(OWN)}
    return common | {"own": {name: setting_value(text) for name, text in own.items()}}


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _together(*options: Decorator) -> Decorator:
    """Options that several commands share, as one decorator."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


METHODS = Name("pll.methods:METHODS", others=True)
NUMBER = FiniteFloat()

data_argument = click.argument("data")
run_argument = click.argument("run", metavar="RUN_DIR")
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help=SEED)
column_option = click.option(
    "--column",
    cls=NameOption,
    type=Name("pll.formats.tabular.schema:ROLES", others=True),
    multiple=True,
    metavar="NAME=ROLE",
    help="what a column or field is (may be given several times), a role of",
)
sheet_option = click.option("--sheet", metavar="NAME", help="of a workbook: the sheet to read; else the first table")
spreadsheet_option = click.option(
    "--spreadsheet-safe", is_flag=True, help="put an apostrophe before cells that a spreadsheet would execute (=1+1)"
)
votes_options = _together(
    click.option(
        "--votes",
        multiple=True,
        metavar="FILE",
        help="answers of models: batch results, samples_*.jsonl, Argilla suggestions, Label Studio predictions, "
        "columns of models or prob_CLASS, .npy of probabilities (several times); joined with DATA on the id, or alone",
    ),
    click.option("--answer", multiple=True, metavar="FROM=CLASS", help="map an answer in --votes (several times)"),
)
set_options = _together(
    column_option,
    sheet_option,
    click.option("--merge", multiple=True, metavar="FROM=TO", help="take the class FROM for TO (several times)"),
    click.option("--rename", multiple=True, metavar="OLD=NEW", help="call a class otherwise (several times)"),
    click.option("--drop", multiple=True, metavar="CLASS", help="take a class for no answer at all (several times)"),
    click.option(
        "--rule",
        default="",
        help="candidates from annotators: voters (voter models and features together; the default of fit), union, "
        "votes:2 or reliability:0.05",
    ),
    click.option(
        "--flip", cls=NameOption, type=Name("pll.synthesis:FLIPS"), help="make candidates of true labels", metavar="HOW"
    ),
    click.option("--q", type=NUMBER, help="probability that a wrong label enters, 0-1, with --flip"),
    click.option("--size", type=int, help="size of the sets, with --flip uniform"),
    click.option("--matrix", metavar="FILE", help="a table of probabilities (csv, npz, …), with --flip matrix"),
    click.option(
        "--noisy",
        metavar="HOW",
        help="make candidates of single labels that may be wrong: topk:2 (what a classifier finds likeliest joins) or "
        "confusion:0.05 (what the label is confused with at least so often joins)",
    ),
    click.option(
        "--confusion",
        metavar="FILE",
        help="a confusion matrix (counts), with --noisy confusion, or with --flip matrix instead of --matrix (--q then "
        "is its highest probability)",
    ),
    click.option(
        "--confusion-rows",
        type=click.Choice(("true", "given")),
        default="true",
        show_default=True,
        help="what its rows are",
    ),
)
"""How candidate sets are made: from annotators, from true labels, or from labels that may be wrong."""

training_options = _together(
    click.option(
        "--model",
        cls=NameOption,
        type=Name("pll.training.models:MODELS", others=True),
        help="torchvision:NAME, or one of",
    ),
    click.option(
        "--loss", cls=NameOption, type=Name("pll.training.losses:LOSSES", others=True), help="loss of a label"
    ),
    click.option("--epochs", type=int, help="passes over the data"),
    click.option("--batch-size", type=int, help="examples a step"),
    click.option("--lr", type=NUMBER, help="learning rate"),
    click.option("--weight-decay", type=NUMBER, help="of the optimiser"),
    click.option("--momentum", type=NUMBER, help="of SGD; for Adam its β₁"),
    click.option("--device", help="auto, cpu, cuda, …"),
    click.option("--threads", type=int, help="CPU threads; if not given, one less than there are cores"),
    click.option(
        "--optimiser", cls=NameOption, type=Name("pll.training.trainer:OPTIMISERS"), help="how steps are taken"
    ),
    click.option("--lr-decay", type=NUMBER, help="factor on the learning rate every --lr-decay-every epochs"),
    click.option("--lr-decay-every", type=int, metavar="EPOCHS", help="see --lr-decay"),
    click.option(
        "--augment",
        cls=NameOption,
        type=Name("pll.training.augment:AUGMENTATIONS"),
        help="vary images at random while training",
    ),
    click.option(
        "--scale",
        cls=NameOption,
        type=Name("pll.training.scaling:SCALES"),
        help="of features; auto is z-scores, for images by channel; +rbf adds radial basis features",
    ),
    click.option(
        "--recipe",
        cls=NameOption,
        type=Name("pll.methods.recipe:RECIPES", others=True),
        help="how settings that are not given are chosen: by a search without true labels, as published (paper:lost: "
        "for that dataset), or as in the recipe.json of a run, given by its path; one of",
    ),
    click.option(
        "--features",
        default="auto",
        show_default=True,
        metavar="SPEC",
        help="what makes features of texts, pictures and words: auto, none, or e.g. table+tfidf:100, pixels:64",
    ),
    set_options,
    click.option("--test", metavar="FILE", help="test on this data"),
    click.option("--holdout", type=NUMBER, metavar="SHARE", help="test on this share of the data, 0-1"),
    click.option("--strict", is_flag=True, help="refuse a truth that is not among the candidates"),
)
"""What `fit` and `evaluate` share. An option that is not given leaves the method its own default."""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="candid")
def cli() -> None:
    """Candidate labels in, identified labels out.

    Every command that ends well prints one line of JSON last. DATA is a file of any format, a folder of pictures, or
    a name that the command datasets lists.
    """


@cli.command()
def datasets() -> None:
    """List what the catalogue has, and where each comes from."""
    from pll.cli import commands

    commands.datasets()


@cli.command()
@click.argument("data", metavar="NAME|FILE")
@set_options
@seed_option
@click.option("--out", required=True, metavar="FILE", help="data.npz, or any format by its ending")
def synthesize(**values: Any) -> None:
    """Make candidate sets from labels or annotators."""
    from pll.cli import commands

    commands.synthesize(commands.SynthesizeOptions(**values))


@cli.command(cls=MethodCommand)
@click.argument("data", required=False)
@votes_options
@click.option(
    "--method",
    cls=NameOption,
    type=METHODS,
    default="proden",
    show_default=True,
    help="auto (compares PRODEN, IPAL, SURE and PL-kNN without true labels and takes the best), or one of",
)
@training_options
@seed_option
@click.option("--out", required=True, metavar="RUN_DIR", help="the folder of the run")
@click.option("--resume", is_flag=True, help="go on where an earlier run in RUN_DIR ended")
def fit(**values: Any) -> int:
    """Train one method and write a run folder.

    Ctrl-C stops before the next mini-batch, keeps what was learnt and ends with status 130; --resume continues from
    there to the same result.
    """
    _check_exclusive(values, "test", "holdout")
    _check_data(values)
    from pll.cli import fit

    return fit.fit(fit.FitOptions(**_with_own(values)))


@cli.command(cls=MethodCommand)
@click.argument("data", required=False)
@votes_options
@click.option(
    "--methods",
    cls=NameOption,
    type=METHODS,
    default="proden",
    show_default=True,
    help="several, separated by commas, of",
)
@click.option("--folds", type=int, metavar="K", help="cross-validation in so many folds")
@click.option(
    "--seeds", default="0", show_default=True, help="numbers, separated by commas: new splits and sets for each"
)
@training_options
@click.option("--out", metavar="FILE", help="write results.csv here; what it holds already is not fitted again")
def evaluate(**values: Any) -> None:
    """Compare methods over folds or seeds.

    A setting goes to every method that has it; a method without it runs without, and that is said.
    """
    _check_exclusive(values, "test", "holdout")
    _check_data(values)
    from pll.cli import evaluate

    evaluate.evaluate(evaluate.EvaluateOptions(**_with_own(values)))


@cli.command()
@click.argument("name", metavar="PRESET|FILE.toml|DIR")
@click.option(
    "--out", metavar="DIR", help="folder of the experiment; if not given, one of its name in ~/.candid/experiments"
)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME=VALUE",
    help="fit only these cells (may be given several times): dataset=lost, method=ipal, q=0.7, seed=0, or just lost",
)
@click.option("--folds", type=int, metavar="K", help="instead of what the experiment says: cross-validation")
@click.option("--holdout", type=NUMBER, metavar="SHARE", help="the same: test on this share")
@click.option("--seeds", metavar="LIST", help="the same: numbers, separated by commas")
@click.option("--epochs", type=int, help="the same: of the methods trained by gradient descent")
@click.option("--download", is_flag=True, help="download datasets of the catalogue that are not here")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="processes at once; if not given, one a core")
@click.option(
    "--backend", type=click.Choice(("local", "dask")), default="local", show_default=True, help="where to fit"
)
@click.option("--scheduler", metavar="ADDRESS", help="of the Dask cluster, such as tcp://10.0.0.1:8786")
@click.option("--show", is_flag=True, help="print the TOML file of a preset, to be copied and changed, and end")
def experiment(**values: Any) -> int:
    """Fit a grid of datasets and methods; write tables and figures.

    PRESET is uci-binomial, real-world, uci-pair, image-binomial, image-pair or ambiguity; DIR is the folder of an
    experiment begun before. Every cell is on disk when it
    ends: the same command after a stop, by whatever, fits what is missing.
    """
    _check_exclusive(values, "folds", "holdout")
    from pll.cli import experiment

    return experiment.experiment(experiment.ExperimentOptions(**values))


@cli.command()
@run_argument
@data_argument
@column_option
@click.option("--out", required=True, metavar="FILE", help="the file to write")
@spreadsheet_option
def predict(run: str, data: str, column: tuple[str, ...], out: str, spreadsheet_safe: bool) -> None:
    """Label unseen examples with a run's model."""
    from pll.cli import commands

    commands.predict(run, data, column, out, spreadsheet_safe=spreadsheet_safe)


@cli.command()
@run_argument
@click.option("--out", required=True, metavar="DIR", help="the folder to write into")
@spreadsheet_option
def export(run: str, out: str, spreadsheet_safe: bool) -> None:
    """Write a run's labels and model, and one ZIP of them."""
    from pll.cli import commands

    commands.export(run, out, spreadsheet_safe=spreadsheet_safe)


@cli.command()
@click.argument("given", metavar="IN")
@click.option(
    "--to",
    cls=NameOption,
    type=Name("pll.formats:FORMATS", others=True),
    required=True,
    metavar="FORMAT",
    help="one of",
)
@click.option("--out", required=True, metavar="FILE", help="the file to write")
@click.option("--from", "source_format", metavar="FORMAT", help="the format of IN, where its content does not say it")
@column_option
@sheet_option
@click.option(
    "--combine",
    type=click.Choice(("union", "largest")),
    default="union",
    show_default=True,
    help="sets from several annotators",
)
@click.option("--uncertain-first", is_flag=True, help="the least certain first, in a tool's file (of a run)")
@spreadsheet_option
def convert(**values: Any) -> None:
    """Write data or a run's labels in another format.

    IN is a file, a name of the catalogue, or a RUN_DIR, whose labels go back into the format they came from.
    """
    from pll.cli import commands

    commands.convert(**values)


@cli.command()
@click.argument("labels", metavar="LABELS|RUN_DIR")
@click.option(
    "--error", type=NUMBER, default=0.05, show_default=True, help="share of all labels that may be wrong, 0-1"
)
@click.option(
    "--confidence", type=NUMBER, default=0.95, show_default=True, help="probability with which the promise holds"
)
@click.option("--controls", type=NUMBER, metavar="SHARE", help="share of the labels drawn as controls; else planned")
@click.option("--seed", type=click.IntRange(min=0), help="of the draw; if not given, one that nobody knows")
@click.option("--rerank", is_flag=True, help="order the labels anew while people review (see certify --next-out)")
@click.option("--out", required=True, metavar="FILE", help="plan.csv; plan.json is written beside it")
def plan(**values: Any) -> None:
    """Draw the controls for a promise about all labels of a table.

    LABELS is a table with the columns id, identified_label and confidence, from Candid or not.
    """
    from pll.cli import dataset_promise

    dataset_promise.plan(dataset_promise.PlanOptions(**values))


@cli.command()
@click.argument("labels", metavar="LABELS|RUN_DIR")
@click.option("--plan", required=True, metavar="FILE", help="plan.csv, with plan.json beside it")
@click.option("--decisions", required=True, metavar="FILE", help="a table with id and label; ? where nobody can tell")
@click.option("--out", required=True, metavar="FILE", help="certificate.json; a page for people is written beside it")
@click.option("--labels-out", metavar="FILE", help="write all labels, as they are accepted now")
@click.option("--next-out", metavar="FILE", help="write the ids to look at next, in their order")
@click.option(
    "--class", "classes", multiple=True, metavar="NAME", help="a class that no label has, but decisions (several times)"
)
def certify(**values: Any) -> None:
    """Say what people's decisions promise about all labels."""
    from pll.cli import dataset_promise

    dataset_promise.certify(dataset_promise.CertifyOptions(**values))


@cli.command()
@click.argument("certificate", metavar="FILE")
def verify(certificate: str) -> int:
    """Check a certificate, or audit.jsonl, from the file alone; says what was altered."""
    from pll.cli import dataset_promise

    return dataset_promise.verify(certificate)


@cli.command()
@run_argument
def check(run: str) -> int:
    """Say which files of a run are damaged.

    Every file is compared with the checksums in manifest.json. Exit status 2 where one is damaged.
    """
    from pll.cli import commands

    return commands.check(run)


@cli.command()
@click.argument("folder", metavar="DIR")
def backup(folder: str) -> None:
    """Copy all decisions, runs and uploads into a new folder, while a server runs."""
    from pll.cli import upkeep

    upkeep.backup(folder)


@cli.command()
@click.argument("folder", metavar="DIR")
def restore(folder: str) -> None:
    """Copy a backup into an empty home (PLL_HOME) and an empty database (PLL_DATABASE_URL)."""
    from pll.cli import upkeep

    upkeep.restore(folder)


@cli.command()
@click.option("--yes", is_flag=True, help="remove it; else it is only listed")
def gc(yes: bool) -> None:
    """Remove deleted runs, uploads of before today that no run reads, and half-written files."""
    from pll.cli import upkeep

    upkeep.gc(remove=yes)


def _check_data(values: Mapping[str, Any]) -> None:
    if not values["data"] and not values["votes"]:
        raise click.UsageError("Missing argument 'DATA'; give data, or votes with --votes FILE.")


def _check_exclusive(values: Mapping[str, object], *names: str) -> None:
    """Raise `click.UsageError` where more than one of these options is given."""
    if sum(values[name] is not None for name in names) > 1:
        raise click.UsageError(f"{' and '.join(f'--{name}' for name in names)} exclude each other; give one of them.")
