"""Fitting an experiment to its report: tables.md, tables.csv and figures/, in its folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from pll.experiments.evaluation import MEANS_OF, Result
from pll.experiments.execution import CellOutcome, ExperimentFolder, results_of
from pll.experiments.experiment import Cell, Experiment, ExperimentPlan
from pll.experiments.figures import curve_panels, panel_figure, q_panels, save_figure
from pll.experiments.tables import WHAT_IS_TESTED, Table, entries_frame, markdown, tables
from pll.extras import is_installed
from pll.io import write_csv, write_text
from pll.methods import method_title
from pll.wording import count, percent

PLOTTING = "plotly"
"""What draws the figures; without it there are tables alone."""
REPORT = ("tables.md", "tables.csv")


def tables_of(experiment: Experiment, results: Sequence[Result]) -> list[Table]:
    """Return the tables of the results there are.

    Parameters
    ----------
    experiment
        The experiment.
    results
        The results there are, in the order of the cells.
    """
    n_fits = len(experiment.seeds) * (experiment.folds or 1)
    return tables(results, methods=experiment.methods, n_fits=n_fits)


def failures(cells: Sequence[Cell], outcomes: Mapping[str, CellOutcome]) -> list[str]:
    """Return a sentence for each error there is, with the fits that failed with it: a broken file fails all of its.

    Parameters
    ----------
    cells
        Its cells, in order.
    outcomes
        The outcomes there are, by key.
    """
    of_error: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.key in outcomes and outcomes[cell.key].error:
            of_error.setdefault(outcomes[cell.key].error.splitlines()[0], []).append(cell)
    return [
        f"{failed[0].key} failed: {error}"
        if len(failed) == 1
        else f"{len(failed):,} fits failed ({', '.join(dict.fromkeys(cell.dataset for cell in failed))} by "
        f"{', '.join(dict.fromkeys(cell.method for cell in failed))}): {error}"
        for error, failed in of_error.items()
    ]


def write_report(
    experiment: Experiment, plan: ExperimentPlan, outcomes: Mapping[str, CellOutcome], folder: ExperimentFolder
) -> list[Path]:
    """Write tables, figures where Plotly is installed, and the checksums of all files; return the report's files.

    The same results give the same bytes.

    Parameters
    ----------
    experiment
        The experiment.
    plan
        Its cells, and what of it is not at hand.
    outcomes
        The outcomes there are, by key.
    folder
        Where they are written.
    """
    result = tables_of(experiment, results_of(plan.cells, outcomes))
    text = "\n".join([*_head(experiment, plan, outcomes), *(markdown(table) for table in result)])
    path = folder.path
    write_text(path / "tables.md", text.rstrip() + "\n")
    write_csv(path / "tables.csv", entries_frame(result))
    figures = path / "figures"
    shutil.rmtree(figures, ignore_errors=True)
    files = [path / name for name in REPORT]
    if is_installed(PLOTTING):
        panels = [(panel.file_name, panel) for panel in (*q_panels(result), *curve_panels(plan.cells, outcomes))]
        of_training = curve_panels(plan.cells, outcomes, transductive=True)
        panels += [(f"transductive-{panel.file_name}", panel) for panel in of_training]
        for name, panel in panels:
            files += save_figure(*panel_figure(panel, experiment.methods), figures / name)
    folder.seal()
    return files


def protocol_in_words(experiment: Experiment) -> str:
    """Return what the methods are tested on, and how often.

    Examples
    --------
    >>> from pll.experiments.experiment import preset
    >>> protocol_in_words(preset("quick"))
    '10 % held out, 3 seeds'
    """
    seeds = count(len(experiment.seeds), "seed")
    if experiment.folds:
        return f"{experiment.folds} folds, {seeds}"
    tested = f"{percent(experiment.holdout, 0)} held out" if experiment.holdout else "the published test part"
    return f"{tested}, {seeds}"


def _head(experiment: Experiment, plan: ExperimentPlan, outcomes: Mapping[str, CellOutcome]) -> list[str]:
    done, failed = results_of(plan.cells, outcomes), failures(plan.cells, outcomes)
    first = method_title(experiment.methods[0])
    lines = [
        f"## {experiment.title or 'Experiment'}",
        "",
        f"Test accuracy in %, mean ± standard deviation over {protocol_in_words(experiment)}; for methods trained by "
        f"gradient descent {MEANS_OF}. Bold: the highest of a column. • (◦): "
        f"{first} is significantly better (worse) by the paired t-test at 5 % over the same parts, \\* also after "
        "Holm's correction for all comparisons of the table; –: no test, since all parts differ by the same. "
        f"{WHAT_IS_TESTED} Below a figure that of the paper, where it has one, and the difference; its folds and "
        "candidate sets are not published.",
        "",
        f"{len(done):,} of {len(plan.cells):,} fits are done.",
        "",
    ]
    if failed:
        lines += [*(f"- {sentence}" for sentence in failed[:20]), ""]
        lines += [f"… and {len(failed) - 20} more errors; log.txt has all.", ""] if len(failed) > 20 else []
    if plan.missing:
        lines += ["Data that are not here:", ""]
        lines += [f"- {one.dataset} ({one.cells} fits): {one.reason}" for one in plan.missing]
        lines += [""]
    return lines
