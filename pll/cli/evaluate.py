"""The command `evaluate`: an experiment of one data set, in this process, with every option of `fit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from pll import cli
from pll.cli.declared import SETTING_NAMES, EvaluateOptions
from pll.cli.options import listed, note_models_beside, prepared, resolve_source, source_of_test, with_voters
from pll.cli.output import Bars, note, print_result
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.experiments.evaluation import MEANS_OF, UNKNOWN_SPREAD, Result, planned, read_results, results_frame
from pll.experiments.execution import fit_cell, loaded
from pll.experiments.experiment import Cell
from pll.experiments.tables import UNTESTED, WHAT_IS_TESTED, TableEntry, tables
from pll.io import write_csv
from pll.methods import METHODS
from pll.runs.config import DataConfig
from pll.runs.description import RUN_FIELDS
from pll.training.devices import default_threads


def evaluate(options: EvaluateOptions) -> None:
    """Compare methods; print mean ± standard deviation, write results.csv."""
    names = listed(options.methods, "--methods", "proden,proden-naive")
    seeds = [RUN_FIELDS["seed"].value_of(seed) for seed in listed(options.seeds, "--seeds", "0,1,2")]
    resolved = resolve_source(options)
    note_models_beside(resolved)
    source = with_voters(resolved, options)
    brought = DataConfig(source, test=source_of_test(options))
    with Bars() as bars:
        data, _ = loaded(brought, bars.show)
    if source.vote_files:
        note(data.notes)
    if 0 < data.n_labelled < len(data) and options.test is None:
        note([f"{data.n_labelled:,} of {len(data):,} true labels are known; the accuracies are of these alone."])
    if options.folds is None and options.holdout is None and options.test is None and data.is_test is None:
        raise UserError("Say what to test on: --folds 5, --holdout 0.2 or --test FILE.")
    cells = _cells(options, brought, data, names, seeds)
    plans = {cell.row(cell.estimator(is_table=data.kind == "table")): cell for cell in cells}
    out = None if options.out is None else Path(options.out)
    earlier = read_results(out) if out is not None and out.exists() else []
    result = {plan: one for one in earlier if (plan := planned(one)) in plans}
    others = [one for one in earlier if planned(one) not in plans]
    if result:
        note([f"{options.out} holds {len(result)} of these results already; only what is missing is fitted."])
    if others:
        note([f"{options.out} holds {len(others)} results of other evaluations too; they are kept."])
    with Bars() as bars:
        for key, cell in plans.items():
            if key in result:
                continue
            show = partial(_show, bars, len(result), len(cells), cell.method)
            result[key], _ = fit_cell(cell, show)
            if out is not None:  # after every fit, so that an interruption loses one fit at most
                results = [*others, *result.values()]
                write_csv(out, results_frame(results))
    results = [result[key] for key in plans]
    entries = _entries(results, names)
    _print_table(entries)
    print_result(out=options.out, fits=len(results), methods={entry.method: _means(entry) for entry in entries})


def _cells(
    options: EvaluateOptions,
    brought: DataConfig,
    data: PartialLabelDataset,
    names: Sequence[str],
    seeds: Sequence[int],
) -> list[Cell]:
    """Return the fits, the methods of one part one after the other."""
    how = prepared(options, lambda: data)
    has = {name: METHODS[name]().get_params() for name in names}
    every = set(SETTING_NAMES).union(*has.values())
    unknown = next((name for name in options.settings if name not in every), None)
    if unknown is not None:
        raise UserError(f"None of these methods has a setting {unknown!r}; candid methods NAME lists those of one.")
    for name in names:
        foreign = sorted(options.settings.keys() - has[name].keys() - {"threads"})
        note([f"{name} has no {', '.join(foreign)}; it runs without."] if foreign else [])
    settings = {"threads": default_threads()} | options.settings
    recipe = settings.pop("recipe", cli.RECIPE)
    return [
        Cell(
            dataset=data.name,
            source=brought.source,
            test=brought.test,
            method=name,
            model=str((has[name] | settings)["model"]) if "model" in has[name] else "",
            recipe=recipe,
            settings=settings,
            seed=seed,
            fold=fold,
            folds=options.folds,
            **how,
        )
        for seed, fold, name in product(seeds, range(max(options.folds or 1, 1)), names)
    ]


def _show(bars: Bars, fits: int, of: int, method: str, epoch: int, epochs: int) -> None:
    bars.show("fits", fits, of, f"{method} {epoch}/{epochs}")


def _entries(results: Sequence[Result], names: Sequence[str]) -> list[TableEntry]:
    """Return the entries of the experiment's table by method, whatever their models are."""
    (table,) = tables([replace(one, model="") for one in results], methods=names, n_fits=len(results) // len(names))
    return list(table.entries.values())


def _print_table(entries: Sequence[TableEntry]) -> None:
    first = entries[0].method
    print(f"{'method':16} {'test accuracy %':>18} {'transductive %':>18} {'seconds':>9}")
    for entry in entries:
        verdict = f"  {entry.mark} {'better' if entry.is_better else 'worse'} than {first}" if entry.mark else ""
        verdict += ", not tested: by the same on all parts" if entry.mark == UNTESTED else ""
        figures = f"{entry.test!s:>18} {entry.transductive or '-'!s:>18}"
        print(f"{entry.method:16} {figures} {entry.seconds:9.1f}{verdict}")
    print(f"Mean ± standard deviation over fits; of one by gradient descent {MEANS_OF}.")
    if any(entry.mark for entry in entries):
        print(
            f"◦ (•): significantly better (worse) than {first}, paired t-test at 5 % over the same parts; *: also "
            f"after Holm's correction. {WHAT_IS_TESTED}"
        )


def _means(entry: TableEntry) -> dict[str, float]:
    """Return mean and standard deviation of the accuracies, as fractions."""
    known = {"test": entry.test, "transductive": entry.transductive or UNKNOWN_SPREAD}
    return {
        f"{name}_accuracy_{short}": value / 100
        for name, one in known.items()
        for short, value in (("mean", one.mean), ("std", one.deviation))
    }
