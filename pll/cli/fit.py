"""The command `fit`: one run in the foreground, with a progress bar, Ctrl-C and `--resume`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import click
from click.core import ParameterSource

from pll import cli
from pll.catalog.sources import Source
from pll.cli.declared import FitOptions, option_of
from pll.cli.options import note_models_beside, prepared, resolve_source, source_of_test, with_voters
from pll.cli.output import Bars, load, note, print_result
from pll.cli.signals import SIGNALS, Stop, stopped_by_signals
from pll.errors import UserError
from pll.methods import METHODS
from pll.methods.advice import advise
from pll.runs.config import RunConfig, new_estimator
from pll.runs.data import method_of_votes, warnings_about
from pll.runs.description import RUN_FIELDS
from pll.runs.fit_loop import FitLoop
from pll.runs.folder import RunFolder
from pll.runs.link import parts_of
from pll.runs.ranks import follow
from pll.runs.snapshots import HOW_SURE, SETTINGS
from pll.training.devices import default_threads
from pll.training.distributed import Ranks
from pll.training.metrics import EpochRecord


def fit(options: FitOptions) -> int:
    """Train one method into a run folder; ends by printing one JSON line of the final metrics.

    Returns
    -------
    int
        0, or 128 + the number of the signal that stopped it before its end: 130 after Ctrl-C, 143 after SIGTERM.
    """
    ranks = Ranks.from_environment()
    if ranks is None:
        return _fit(options, None)
    with closing(ranks):
        if not ranks.leads:
            for name in SIGNALS:  # signals are for rank 0, which then stops the others
                signal.signal(name, signal.SIG_IGN)
            follow(ranks)
            return 0
        try:
            return _fit(options, ranks)
        finally:
            if not ranks.has_broadcast:  # nothing was trained, or it was refused before: the others may go
                ranks.broadcast(None)


def _fit(options: FitOptions, ranks: Ranks | None) -> int:
    folder, source = RunFolder(Path(options.out)), resolve_source(options)
    options = _without_features(options, source)
    kind = METHODS[options.method]
    if ranks is not None and not kind.in_ranks:
        able = ", ".join(name for name in METHODS if METHODS[name].in_ranks)
        raise UserError(f"{kind.title} trains in one process; start it without torchrun. In several train: {able}.")
    config = _run_config(options, source)
    new_estimator(config)  # refuses wrong settings before anything is written
    folder.check_free()
    folder.lock()
    try:
        if folder.exists() and folder.has_begun():
            if not options.resume:
                raise UserError(
                    f"{options.out} holds a run already; add --resume to go on with it, or choose another folder."
                )
            _check_unchanged(folder, config, options.settings)
        else:
            folder.create(config)
        result = folder.state()
        if result["state"] != "finished":
            with Bars() as bars, stopped_by_signals() as stop:
                on_step, on_ready = partial(_show_step, bars, stop), partial(_ready, bars)
                loop = FitLoop(folder, hook=stop.hook, on_ready=on_ready, on_step=on_step, ranks=ranks)
                result = loop.train(lambda record: _show(bars, loop, record))
            if stop.event.is_set() and result["state"] == "finished":  # in the last step: --resume goes on with it
                health = result["health"].to_json()
                folder.set_state("stopped", metrics=result["metrics"], notes=result["notes"], health=health)
                result = folder.state()
    finally:
        folder.unlock()
    if "metrics" in result:
        print_result(**result["metrics"], health=result["health"].to_json(), **_no_answer(folder))
    else:  # stopped before the first epoch
        print_result(state=result["state"])
    if result["state"] == "stopped":
        print(f"candid: stopped; add --resume to go on in {options.out}", file=sys.stderr)
        return stop.status
    return 0


def _no_answer(folder: RunFolder) -> dict[str, int]:
    """Return how many examples nobody answered, for the JSON line, and how many of them have no label; {} for none."""
    data = folder.about().get("data", {})
    result = data.get("no_answer", 0)
    return {"no_answer": result, "without_label": data["without_label"]} if result else {}


def _without_features(options: FitOptions, source: Source) -> FitOptions:
    """Return the options with a method of votes alone where no method is given and nothing is there to learn from."""
    context = click.get_current_context(silent=True)
    if context is None or context.get_parameter_source("method") is not ParameterSource.DEFAULT:
        return options
    if source.path is None or METHODS[options.method].takes_votes:
        return options
    data = source.load()
    method = "" if data.contents else method_of_votes(data)
    if not method:
        return options
    there = "probabilities of classes" if data.annotations is None else "votes"
    note([f"There are {there} but no features: the method is {method}."])
    return replace(options, method=method)


def _show_step(bars: Bars, stop: Stop, what: str, done: int, total: int | None) -> None:
    """Show how far a step is; a signal while the data is read interrupts, since nothing is trained yet."""
    bars.show(what, done, total)
    if stop.event.is_set() and what not in (SETTINGS, HOW_SURE):
        raise KeyboardInterrupt


def _show(bars: Bars, loop: FitLoop, record: EpochRecord) -> None:
    bars.show("epochs", record.epoch, loop.total, f"sharpness={record.mean_confidence:.3f}")


def _run_config(options: FitOptions, source: Source) -> RunConfig:
    params = dict(options.settings)
    defaults = METHODS[options.method]().get_params()
    if defaults.get("recipe", cli.RECIPE) != cli.RECIPE:
        params.setdefault("recipe", cli.RECIPE)
    if "threads" in defaults:
        params.setdefault("threads", default_threads())
    note_models_beside(source)
    method = METHODS[options.method]
    if method.takes_prior or method.takes_votes:
        source = with_voters(source, options)
    return RunConfig(
        source=source,
        method=options.method,
        params=params,
        test=source_of_test(options),
        **prepared(options, lambda: load(source)),
    )


def _check_unchanged(folder: RunFolder, config: RunConfig, given: Collection[str]) -> None:
    """Refuse options that would make `--resume` go on with another run.

    Parameters
    ----------
    folder
        Of the run.
    config
        What the options say.
    given
        Names of the settings among them.

    Raises
    ------
    UserError
        Something differs, or what a file holds; the message names it.
    """
    begun = folder.config()
    if begun.decided_sets is not None or "comparison" in folder.about():
        raise UserError(f"The run in {folder.path} was begun on a page; resume it there, or choose another folder.")
    before, now = parts_of(begun), parts_of(config.hashed())
    for name in before | now:
        # Threads that nobody named are those of a machine, perhaps of another one; the run's own apply.
        if before.get(name) != now.get(name) and (name != "threads" or name in given):
            word = option_of(name) if name in RUN_FIELDS else name
            was, is_ = (f"with {word} {one[name]}" if name in one else f"without {word}" for one in (before, now))
            raise UserError(
                f"{folder.path} was started {was}, now it is {is_}; resume with the same options, or choose another "
                "folder."
            )


def _ready(bars: Bars, loop: FitLoop) -> None:
    """Say what was chosen and what is odd about the data, before the first epoch."""
    bars.clear()
    train, recipe = loop.splits.train, loop.folder.recipe()
    note([] if recipe is None else recipe.messages())
    note([*warnings_about(train), *advise(loop.estimator, train).notes])
