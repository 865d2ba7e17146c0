"""`python -m pll`: the command line. Parsing only; the work is in pll.cli.commands and pll.cli.fit."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence

from pll.cli import commands, fit
from pll.errors import UserError
from pll.formats import FORMATS
from pll.formats.roles import ROLES
from pll.methods import METHODS
from pll.synthesis import FLIPS
from pll.training.augment import AUGMENTATIONS
from pll.training.losses import LOSSES
from pll.training.models import MODELS
from pll.training.scaling import SCALES
from pll.training.trainer import OPTIMISERS

DATA = "a file of any format, a folder of pictures, or a name that the command datasets lists"
SEED = "of split, candidate sets and method: the same seed, the same result (default: 0)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 2 where the user has to mend something, 130 after Ctrl-C."""
    options = parser().parse_args(arguments)
    try:
        status = options.command(options) or 0
        sys.stdout.flush()
        return status
    except UserError as error:
        print(f"candid: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("candid: interrupted", file=sys.stderr)
        return fit.INTERRUPTED
    except BrokenPipeError:  # `… | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is not for anybody
        return 0
    except OSError as error:
        print(f"candid: reading or writing failed: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(prog="python -m pll", description="Candidate labels in, identified labels out.")
    sub = top.add_subparsers(required=True, metavar="COMMAND")

    add = sub.add_parser("datasets", help="what the catalogue has, and where each comes from")
    add.set_defaults(command=commands.datasets)

    add = sub.add_parser("synthesize", help="make candidate sets from single labels, or from what several people said")
    add.add_argument("data", metavar="NAME|FILE", help=DATA)
    _column_option(add)
    _rule_option(add)
    _flip_options(add)
    add.add_argument("--seed", type=_seed, default=0, help=SEED)
    add.add_argument("--out", required=True, metavar="FILE", help="data.npz, or any format by its ending")
    add.set_defaults(command=commands.synthesize)

    add = sub.add_parser(
        "fit",
        help="train one method and write a run folder",
        epilog="Ctrl-C stops before the next mini-batch, keeps what was learnt and ends with status 130; "
        "--resume goes on from there to the same result.",
    )
    add.add_argument("data", metavar="DATA", help=DATA)
    add.add_argument("--method", default="proden", help=f"{', '.join(METHODS)} (default: proden)")
    _training_options(add)
    add.add_argument("--seed", type=_seed, default=0, help=SEED)
    add.add_argument("--out", required=True, metavar="RUN_DIR", help="the folder of the run")
    add.add_argument("--resume", action="store_true", help="go on where an earlier run in RUN_DIR ended")
    add.set_defaults(command=fit.fit)

    add = sub.add_parser("evaluate", help="compare methods over folds or seeds")
    add.add_argument("data", metavar="DATA", help=DATA)
    add.add_argument("--methods", default="proden", help=f"several of {', '.join(METHODS)}, separated by commas")
    add.add_argument("--folds", type=int, metavar="K", help="cross-validation in so many folds")
    add.add_argument("--seeds", default="0", help="numbers, separated by commas: new splits and sets for each")
    _training_options(add)
    add.add_argument("--out", metavar="FILE", help="write results.csv here")
    add.set_defaults(command=commands.evaluate)

    add = sub.add_parser("predict", help="label unseen examples with a run's model")
    add.add_argument("run", metavar="RUN_DIR", help="the folder that fit wrote")
    add.add_argument("data", metavar="DATA", help=DATA)
    _column_option(add)
    add.add_argument("--out", required=True, metavar="FILE", help="the file to write")
    add.set_defaults(command=commands.predict)

    add = sub.add_parser("export", help="a run's labels and model in every form, and one ZIP of them")
    add.add_argument("run", metavar="RUN_DIR", help="the folder that fit wrote")
    add.add_argument("--out", required=True, metavar="DIR", help="the folder to write into")
    add.set_defaults(command=commands.export)

    add = sub.add_parser(
        "convert", help="from one format to another; a run's labels back into the format they came from"
    )
    add.add_argument("given", metavar="IN", help="a file, a name of the catalogue, or a RUN_DIR")
    add.add_argument("--to", required=True, metavar="FORMAT", help=", ".join(FORMATS))
    add.add_argument("--out", required=True, metavar="FILE", help="the file to write")
    add.add_argument("--from", metavar="FORMAT", help="the format of IN, where its content does not say it")
    _column_option(add)
    add.add_argument("--combine", choices=("union", "largest"), default="union", help="sets from several annotators")
    add.add_argument(
        "--uncertain-first", action="store_true", help="the least certain first, in a tool's file (of a run)"
    )
    add.set_defaults(command=commands.convert)
    return top


def _column_option(add: argparse.ArgumentParser) -> None:
    add.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="NAME=ROLE",
        help=f"what a column or field is ({', '.join(ROLES)}); may be given several times",
    )


def _rule_option(add: argparse.ArgumentParser) -> None:
    add.add_argument("--rule", default="", help="candidates from annotators: union, votes:2 or reliability:0.05")


def _flip_options(add: argparse.ArgumentParser) -> None:
    """How candidate sets are made from true labels, or from labels that may be wrong."""
    ways = "; ".join(f"{name}: {way.title.partition(': ')[2]}" for name, way in FLIPS.items())
    add.add_argument("--flip", choices=tuple(FLIPS), help=f"make candidates of true labels ({ways})")
    add.add_argument("--q", type=_number, help="probability that a wrong label enters, 0-1, with --flip")
    add.add_argument("--size", type=int, help="size of the sets, with --flip uniform")
    add.add_argument("--matrix", metavar="FILE", help="a table of probabilities (csv, npz, …), with --flip matrix")
    add.add_argument(
        "--noisy",
        metavar="HOW",
        help="make candidates of single labels that may be wrong: topk:2 (what a classifier finds likeliest joins) or "
        "confusion:0.05 (what the label is confused with at least so often joins)",
    )
    add.add_argument(
        "--confusion",
        metavar="FILE",
        help="a confusion matrix (counts), with --noisy confusion, or with --flip matrix instead of --matrix (--q then "
        "is its highest probability)",
    )
    add.add_argument("--confusion-rows", choices=("true", "given"), default="true", help="what its rows are")


def _training_options(add: argparse.ArgumentParser) -> None:
    """What `fit` and `evaluate` share. None means: the method's own default."""
    add.add_argument("--model", help=f"{', '.join(MODELS)}, or torchvision:NAME")
    add.add_argument("--loss", help=", ".join(LOSSES))
    add.add_argument("--epochs", type=int, help="passes over the data")
    add.add_argument("--batch-size", type=int, help="examples a step")
    add.add_argument("--lr", type=_number, help="learning rate")
    add.add_argument("--weight-decay", type=_number, help="of the optimiser")
    add.add_argument("--momentum", type=_number, help="of SGD; for Adam its β₁")
    add.add_argument("--device", help="auto, cpu, cuda, …")
    add.add_argument("--threads", type=int, help="CPU threads (default: one less than there are cores)")
    add.add_argument("--optimiser", choices=OPTIMISERS, help="how steps are taken")
    add.add_argument("--lr-decay", type=_number, help="factor on the learning rate every --lr-decay-every epochs")
    add.add_argument("--lr-decay-every", type=int, metavar="EPOCHS", help="see --lr-decay")
    add.add_argument("--augment", choices=AUGMENTATIONS, help="vary images at random while training")
    add.add_argument("--scale", choices=SCALES, help="of features: auto is z-scores, for images by channel")
    add.add_argument(
        "--features",
        default="auto",
        metavar="SPEC",
        help="what makes features of texts, pictures and words: auto, none, or e.g. table+tfidf:100, pixels:64",
    )
    _column_option(add)
    _rule_option(add)
    _flip_options(add)
    held = add.add_mutually_exclusive_group()
    held.add_argument("--test", metavar="FILE", help="test on this data")
    held.add_argument("--holdout", type=_number, metavar="SHARE", help="test on this share of the data, 0-1")
    add.add_argument("--strict", action="store_true", help="refuse a truth that is not among the candidates")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is negative; a seed is a whole number, 0 or more")
    return value
