"""The command `experiment`: a grid of fits, with a progress bar, Ctrl-C, and a report at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pll.cli import INTERRUPTED
from pll.cli.declared import ExperimentOptions
from pll.cli.options import listed
from pll.cli.output import Bars, note, print_result
from pll.cli.signals import stopped_by_signals
from pll.errors import UserError
from pll.experiments.cost import cost_in_words
from pll.experiments.execution import ExperimentFolder, ExperimentProgress, Tell, results_of, run
from pll.experiments.experiment import PRESETS, Experiment, preset, read_experiment, selected
from pll.experiments.registry import experiments_home
from pll.experiments.report import PLOTTING, failures, tables_of, write_report
from pll.experiments.tables import markdown
from pll.extras import is_installed, missing_extra


def experiment(options: ExperimentOptions) -> int:
    """Fit what is missing of an experiment, and write its report; ends by printing one JSON line.

    Returns
    -------
    int
        0, or 130 where a signal stopped it before its end.
    """
    if options.show:
        if options.name not in PRESETS and Path(options.name).is_file():
            raise UserError(f"--show prints a preset, to be copied; {options.name} is a file already.")
        preset(options.name)  # suggests one where there is none
        print(PRESETS[options.name].rstrip())
        return 0
    if (options.backend == "dask") != (options.scheduler is not None):
        raise UserError("Give --backend dask and --scheduler ADDRESS together.")
    result = _definition(options.name)
    plan = result.plan(download=options.download)
    note([f"{one.dataset}: {one.cells} cells cannot run. {one.reason}" for one in plan.missing])
    if not plan.cells:
        raise UserError("None of the datasets of this experiment can be read; the notes above say what each needs.")
    among = selected(plan.cells, [part for text in options.only for part in listed(text, "--only", "dataset=lost")])
    folder = _folder(options)
    left = folder.left(among)
    if options.scheduler is None and (cost := cost_in_words(left, options.jobs or os.cpu_count() or 1)):
        note([f"{len(left)} fits left. {cost}"])
    if not is_installed(PLOTTING):
        note([f"There will be tables but no figures. {missing_extra(PLOTTING)}"])
    with stopped_by_signals() as stop, _bar() as tell:
        folder.create(result)
        outcomes = run(
            plan,
            folder,
            among=among,
            jobs=options.jobs,
            scheduler=options.scheduler,
            is_stopped=stop.event.is_set,
            tell=tell,
        )
        write_report(result, plan, outcomes, folder)
    failed, results = failures(among, outcomes), results_of(plan.cells, outcomes)
    for table in tables_of(result, results):
        print(markdown(table))
    note(failed[:5])
    if len(failed) > 5:
        note([f"{len(failed) - 5} more errors; {folder.path / 'log.txt'} has them all."])
    print_result(
        out=str(folder.path),
        cells=len(plan.cells),
        done=len(results),
        failed=sum(bool(one.error) for cell in plan.cells if (one := outcomes.get(cell.key))),
        missing=[one.dataset for one in plan.missing],
    )
    if stop.event.is_set():
        print(f"candid: stopped; the same command goes on in {folder.path}", file=sys.stderr)
        return INTERRUPTED
    return 0


def _folder(options: ExperimentOptions) -> ExperimentFolder:
    """Return the folder of the experiment: --out, or one of its name in ~/.candid."""
    name = options.name if options.name in PRESETS else Path(options.name).stem
    return ExperimentFolder(Path(options.out) if options.out else experiments_home() / name)


def _definition(name: str) -> Experiment:
    """Return the experiment of a TOML file or of a preset."""
    path = Path(name)
    if path.is_file():
        return read_experiment(path)
    if path.suffix == ".toml":
        raise UserError(f"There is no file {path}; check the path.")
    return preset(name)


@contextmanager
def _bar() -> Iterator[Tell]:
    """Yield what shows how far an experiment is."""
    with Bars() as bars:
        begun: list[int] = []

        def tell(progress: ExperimentProgress) -> None:
            begun.append(progress.todo)
            failed = f"{progress.failed} failed" if progress.failed else ""
            bars.show("cells", begun[0] - progress.todo, begun[0], failed)

        yield tell
