"""Results for PLENCH's `plench.collect_results` (Wang et al., ICLR 2025).

Its reader takes a folder of folders, each with a results.jsonl of one JSON object a line: `step`, `test_acc`,
`val_accuracy`, `val_covering_rate`, `val_approximated_acc`, and `args` with `dataset`, `algorithm`, `trial_seed` and
`hparams_seed`. It chooses among steps and settings by the `val_` figures. Here every fit is one line, and nothing is
left to choose: those figures are null, and each of its four columns shows the same mean. It prints data sets that it
lists (`DATASETS`) alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pll.analysis.evaluation import CHOSEN, Result
from pll.io import stored_name, write_text

DATASETS = {
    "lost": "Lost",
    "birdsong": "Birdsong",
    "msrcv2": "MSRCv2",
    "soccer-player": "SoccerPlayer",
    "yahoo-news": "YahooNews",
}
"""Data sets under PLENCH's names; others keep their own."""


def plench_lines(results: Sequence[Result]) -> dict[str, str]:
    """Return name of a folder → content of its results.jsonl, one folder for each data set and method.

    Folds and seeds are trials; models and recipes other than the first are part of the algorithm's name.
    """
    trials: dict[tuple[int, int], int] = {}
    for result in results:
        trials.setdefault((result.seed, result.fold), len(trials))
    plain = next(((result.model, result.recipe) for result in results if result.model), ("", "default"))
    folders: dict[str, list[str]] = {}
    for result in results:
        if result.test_accuracy is None:
            continue
        made = "" if not result.flip else f"_{result.flip}" + ("" if result.q is None else f"_{result.q:g}")
        dataset = DATASETS.get(result.dataset, result.dataset) + made
        variant = [name for name, usual in zip((result.model, result.recipe), plain, strict=True) if name != usual]
        algorithm = "_".join([result.method.upper(), *filter(None, variant)])
        settings = json.loads(result.settings or "{}")
        settings |= settings.pop(CHOSEN, {})
        record: dict[str, Any] = {
            "step": settings.get("epochs", 1),
            "epoch": settings.get("epochs", 1),
            "test_acc": result.test_accuracy,
            **dict.fromkeys(("val_accuracy", "val_covering_rate", "val_approximated_acc")),
            "args": {
                "dataset": dataset,
                "algorithm": algorithm,
                "trial_seed": trials[result.seed, result.fold],
                "hparams_seed": 0,
            },
            "hparams": settings,
        }
        folders.setdefault(f"{dataset}_{algorithm}", []).append(json.dumps(record, sort_keys=True))
    return {name: "\n".join(lines) + "\n" for name, lines in folders.items()}


def write_plench(results: Sequence[Result], folder: Path) -> None:
    """Write the folders of `plench_lines`."""
    for name, text in plench_lines(results).items():
        safe = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
        write_text(folder / stored_name(safe) / "results.jsonl", text)
