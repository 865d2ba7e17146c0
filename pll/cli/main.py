"""The command line, `python -m pll …` and `candid …`: how a command begins and ends.

The commands are in `pll.cli.declared`. Nothing here imports NumPy or PyTorch: a command imports what it needs when it
runs.
"""

from __future__ import annotations

import io
import os
import runpy
import sys
from collections.abc import Sequence
from typing import Any

import click

from pll import __version__
from pll.cli import INTERRUPTED
from pll.cli.declared import COMMANDS, click_command
from pll.errors import UserError, WriteError, explain, is_disk_full
from pll.extras import EXTRAS, is_installed, missing_extra
from pll.paths import app_root


def candid() -> None:
    """Run the console script `candid`: open the app, or, with a command, run that."""
    sys.exit(main(program="candid") if sys.argv[1:] else open_app())


def main(arguments: Sequence[str] | None = None, *, program: str = "python -m pll") -> int:
    """Run a command.

    Parameters
    ----------
    arguments
        Of the command line, without the program; None takes those of this process.
    program
        Its name in messages.

    Returns
    -------
    int
        The exit status: 0, 2 where the user has to mend something, 130 after Ctrl-C.
    """
    sys.stdout, sys.stderr = sys.stdout or io.StringIO(), sys.stderr or io.StringIO()  # closed by the caller (`… >&-`)
    try:
        cli.main(arguments, prog_name=program)
    except SystemExit as stop:  # how click ends, always
        return stop.code if isinstance(stop.code, int) else 0


def open_app() -> int:
    """Serve the app with Streamlit until Ctrl-C; returns the exit status, 2 where Streamlit is not installed.

    Streamlit reads `.streamlit/config.toml` beside `app.py`, whatever the working directory is.
    """
    missing = missing_extra(*(name for name in EXTRAS["app"].packages.values() if not is_installed(name)))
    if missing is not None:
        Refusal(str(missing)).show()
        return Refusal.exit_code
    sys.argv = ["streamlit", "run", str(app_root() / "app.py")]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)  # ends with SystemExit
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

        Parameters
        ----------
        ctx, args
            As click has them.

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
            a `UserError`, a file that cannot be read or written, or a package of an optional part that is missing.
        """
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
        except UserError as error:
            raise Refusal(str(error)) from error
        except ModuleNotFoundError as error:
            missing = missing_extra(str(error.name).partition(".")[0])
            if missing is None:
                raise
            raise Refusal(str(missing)) from error
        except KeyboardInterrupt:
            click.echo("candid: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:  # the reader (`… | head`) has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discard the rest of the output
            ctx.exit(0)
        except OSError as error:
            if isinstance(error, WriteError) and not is_disk_full(error):
                raise Refusal(str(error)) from error
            raise Refusal(explain(error) if is_disk_full(error) else f"reading or writing failed: {error}") from error
        ctx.exit(status or 0)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="candid")
def cli() -> None:
    """Candidate labels in, identified labels out.

    Every command that ends well prints one line of JSON last. DATA is a file of any format, a folder of pictures, or
    a name that the command datasets lists.
    """


for name, (options, place) in COMMANDS.items():
    cli.add_command(click_command(name, options, place))
