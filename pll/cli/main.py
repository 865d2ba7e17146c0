"""The command line, `python -m pll …` and `candid …`: the commands. What they take is in `pll.cli.declared`.

Nothing here imports NumPy or PyTorch: a command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pll import __version__
from pll.cli import INTERRUPTED
from pll.cli.declared import (
    CertifyOptions,
    ConvertOptions,
    EvaluateOptions,
    ExperimentOptions,
    ExportOptions,
    FitOptions,
    MethodCommand,
    PlanOptions,
    PredictOptions,
    SynthesizeOptions,
    TrainingOptions,
    takes,
)
from pll.errors import UserError, explain, is_disk_full
from pll.paths import app_root


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

    Parameters
    ----------
    arguments
        Of the command line, without the program; None takes those of this process.

    Returns
    -------
    int
        The exit status: 0, 2 where the user has to mend something, 130 after Ctrl-C.
    """
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        if sys.stdout is None:  # closed by the caller (`… >&-`)
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
    sys.argv = ["streamlit", "run", str(app_root() / "app.py")]
    try:
        runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    return 0


class Refusal(click.ClickException):
    """Error that the user can correct: one line on stderr, exit status 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"candid: {self.message}", err=True)


class Commands(click.Group):
    """The commands, with one way to begin and one way to end for all of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments of a command.

        Raises
        ------
        Refusal
            One that is not UTF-8, as the name of a file may be: libraries and our own files need text.
        """
        for argument in args:
            if any("\ud800" <= letter <= "\udfff" for letter in argument):  # surrogates: bytes that are not UTF-8
                printable = argument.encode("utf-8", "backslashreplace").decode()
                raise Refusal(f"{printable} is not UTF-8; rename the file or folder, then give its new name.")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> None:
        """Run a command; its return value, where it has one, is the exit status.

        Raises
        ------
        Refusal
            a `UserError`, or a file that cannot be read or written.
        """
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
        except UserError as error:
            raise Refusal(str(error)) from error
        except KeyboardInterrupt:
            click.echo("candid: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:  # the reader (`… | head`) has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discard the rest of the output
            ctx.exit(0)
        except OSError as error:
            raise Refusal(explain(error) if is_disk_full(error) else f"reading or writing failed: {error}") from error
        ctx.exit(status or 0)


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
@takes(SynthesizeOptions)
def synthesize(options: SynthesizeOptions) -> None:
    """Make candidate sets from labels or annotators."""
    from pll.cli import commands

    commands.synthesize(options)


@cli.command(cls=MethodCommand)
@takes(FitOptions)
def fit(options: FitOptions) -> int:
    """Train one method and write a run folder.

    Ctrl-C stops before the next mini-batch, keeps what was learnt and ends with status 130; --resume continues from
    there to the same result.
    """
    _check_exclusive(options, "test", "holdout")
    _check_data(options)
    from pll.cli import fit

    return fit.fit(options)


@cli.command(cls=MethodCommand)
@takes(EvaluateOptions)
def evaluate(options: EvaluateOptions) -> None:
    """Compare methods over folds or seeds.

    A setting goes to every method that has it; a note names methods without it.
    """
    _check_exclusive(options, "test", "holdout")
    _check_data(options)
    from pll.cli import evaluate

    evaluate.evaluate(options)


@cli.command()
@takes(ExperimentOptions)
def experiment(options: ExperimentOptions) -> int:
    """Fit a grid of datasets and methods; write tables and figures.

    PRESET is quick, uci-binomial, real-world, uci-pair, image-binomial, image-pair or ambiguity; DIR is the folder of
    an earlier experiment. Every cell is on disk when it ends: after a stop the same command fits the missing ones.
    """
    _check_exclusive(options, "folds", "holdout")
    from pll.cli import experiment

    return experiment.experiment(options)


@cli.command()
@takes(PredictOptions)
def predict(options: PredictOptions) -> None:
    """Label unseen examples with a run's model."""
    from pll.cli import commands

    commands.predict(options)


@cli.command()
@takes(ExportOptions)
def export(options: ExportOptions) -> None:
    """Write a run's labels and model, and one ZIP of them."""
    from pll.cli import commands

    commands.export(options)


@cli.command()
@takes(ConvertOptions)
def convert(options: ConvertOptions) -> None:
    """Write data or a run's labels in another format.

    IN is a file, a name of the catalogue, or a RUN_DIR, whose labels go back into the format they came from.
    """
    from pll.cli import commands

    commands.convert(options)


@cli.command()
@takes(PlanOptions)
def plan(options: PlanOptions) -> None:
    """Draw the controls for a promise about all labels of a table.

    LABELS is a table with the columns id, identified_label and confidence, from Candid or not.
    """
    from pll.cli import dataset_promise

    dataset_promise.plan(options)


@cli.command()
@takes(CertifyOptions)
def certify(options: CertifyOptions) -> None:
    """Say what people's decisions promise about all labels."""
    from pll.cli import dataset_promise

    dataset_promise.certify(options)


@cli.command()
@click.argument("certificate", metavar="FILE")
def verify(certificate: str) -> int:
    """Check a certificate, or audit.jsonl, from the file alone; says what was altered."""
    from pll.cli import dataset_promise

    return dataset_promise.verify(certificate)


@cli.command()
@click.argument("run", metavar="RUN_DIR")
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
@click.argument("run", metavar="RUN_DIR")
@click.option("--url", help="address of this server, as Label Studio reaches it")
def labelstudio(run: str, url: str | None) -> None:
    """Make user and secret by which Label Studio uses a run of this server as its model."""
    from pll.cli import upkeep

    upkeep.labelstudio(run, url)


@cli.command()
@click.option("--yes", is_flag=True, help="remove it; else it is only listed")
def gc(yes: bool) -> None:
    """Remove deleted runs, uploads of before today that no run reads, and half-written files."""
    from pll.cli import upkeep

    upkeep.gc(remove=yes)


def _check_data(options: TrainingOptions) -> None:
    if not options.data and not options.votes:
        raise click.UsageError("Missing argument 'DATA'; give data, or votes with --votes FILE.")


def _check_exclusive(options: object, *names: str) -> None:
    """Raise `click.UsageError` where more than one of these options is given."""
    if sum(getattr(options, name) is not None for name in names) > 1:
        raise click.UsageError(f"{' and '.join(f'--{name}' for name in names)} exclude each other; give one of them.")
