"""What each command of `python -m pll` does, `fit` apart. Progress goes to stderr, results to stdout."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from tqdm import tqdm

from pll import catalog, formats
from pll.analysis import evaluation as ev
from pll.analysis.protocol import with_candidates
from pll.analysis.readiness import warnings_about
from pll.catalog.sources import Source
from pll.cli.options import (
    columns_told,
    flip_of,
    listed,
    noisy_of,
    note,
    settings,
    source_like,
    source_told,
    whole_number,
)
from pll.cli.progress import load
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.export.convert import convert as convert_to
from pll.features import featurised, load_features
from pll.io import write_atomically
from pll.methods import PartialLabelEstimator, get_method
from pll.methods.persistence import ModelCard, load_model, read_card
from pll.runs import runner
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder, check_has_result
from pll.synthesis.ambiguity import ambiguity_degree
from pll.training.devices import default_threads


def datasets(options: argparse.Namespace) -> None:
    """List the catalogue."""
    for entry in catalog.CATALOG.values():
        shape = "×".join(str(size) for size in entry.shape)
        where = "embedded" if entry.embedded else "on this machine" if _is_here(entry) else entry.page
        print(f"{entry.name:18} {entry.n:>7,} × {shape:<10} {entry.c:>4} classes  {entry.title}: {where}")


def convert(options: argparse.Namespace) -> None:
    """Write data, or a run's labels, in another format; what the format cannot hold is said first."""
    read = formats.ReadOptions(columns=columns_told(options), combine=options.combine)
    done = convert_to(
        options.given,
        options.to,
        Path(options.out),
        options=read,
        format=getattr(options, "from"),
        uncertain_first=options.uncertain_first,
        tell=note,
    )
    for file in done.files:
        print(file)
    labelled = f", {done.labelled:,} with an identified label" if done.labelled else ""
    print(f"{done.examples:,} examples{labelled}")


def _is_here(entry: catalog.Entry) -> bool:
    try:
        return bool(catalog.available(entry))
    except UserError:  # there is a file, but not the right one; loading says so
        return False


def synthesize(options: argparse.Namespace) -> None:
    """Make candidate sets of true labels, of labels that are doubted or of what several people said; write them."""
    data = load(source_told(options.data, options))
    flip, noisy = flip_of(options, data), noisy_of(options, data)
    if flip is None and noisy is None and not options.rule:
        raise UserError(
            "Say how candidates are made: --flip binomial --q 0.7, --noisy topk:2 of labels you doubt, or "
            "--rule votes:2 of what several people said."
        )
    if options.rule:  # the sets are the result; with the answers beside them, a reader would make its own
        data = replace(data, annotations=None)
    made = data if flip is None and noisy is None else with_candidates(data, flip, options.seed, noisy=noisy)
    formats.write(made, Path(options.out))
    sets = made.sets()
    gamma = "" if made.y is None else f", γ = {ambiguity_degree(sets, made.y):.3f}"
    print(f"{options.out}: {len(made)} examples, {sets.nnz / len(sets):.2f} candidates on average{gamma}")
    note(warnings_about(made))


def evaluate(options: argparse.Namespace) -> None:
    """Compare methods; prints mean ± standard deviation, writes results.csv."""
    names = listed(options.methods, "--methods", "proden,proden-naive")
    seeds = [whole_number(seed) for seed in listed(options.seeds, "--seeds", "0,1,2")]
    if options.folds is not None and (options.holdout is not None or options.test is not None):
        raise UserError("Give --folds, or --holdout, or --test; they exclude each other.")
    source = source_told(options.data, options)
    data = load(source)
    if options.folds is None and options.holdout is None and options.test is None and data.is_test is None:
        raise UserError("Say what to test on: --folds 5, --holdout 0.2 or --test FILE.")
    estimators = {name: _factory(name, options, source, is_table=data.kind == "table") for name in names}
    splits = ev.Splits(
        folds=options.folds,
        holdout=options.holdout,
        test=None if options.test is None else load(source_like(options.test, columns_told(options))),
        flip_with=flip_of(options, data),
        noisy=noisy_of(options, data),
        features=options.features,
        seeds=seeds,
        strict=options.strict,
    )
    results: list[ev.Result] = []
    with tqdm(total=len(names) * splits.count(), unit="fit") as bar:
        for result in ev.evaluate(data, estimators, splits, partial(_show_round, bar)):
            results.append(result)
            bar.update()
            if options.out:  # after every fit: an interrupted evaluation has not been for nothing
                write_atomically(Path(options.out), partial(ev.results_frame(results).to_csv, index=False))
    _print_summary(ev.results_frame(results))


def _factory(
    name: str, options: argparse.Namespace, source: Source, *, is_table: bool
) -> Callable[[int], PartialLabelEstimator]:
    """A function of the seed that makes the method; settings it does not have are left out and said."""
    given = {"threads": default_threads()} | settings(options)
    known = get_method(name)().get_params()
    foreign = sorted(set(given) - set(known) - {"threads"})
    if foreign:
        note([f"{name} has no {', '.join(foreign)}; it runs without."])
    own = {key: value for key, value in given.items() if key in known}

    def new(seed: int) -> PartialLabelEstimator:
        config = RunConfig(source, method=name, params=own, seed=seed)
        return runner.new_estimator(config, is_table=is_table)

    new(0)  # a wrong setting is said before the first fit
    return new


def _show_round(bar: Any, name: str, done: int, total: int) -> None:
    bar.set_postfix_str(f"{name} {done}/{total}")


def _print_summary(results: pd.DataFrame) -> None:
    verdicts, first = ev.versus_first(results), results["method"].iloc[0]
    print(f"{'method':16} {'test accuracy %':>18} {'transductive %':>18} {'seconds':>9}")
    for row in ev.summary(results).to_dict("records"):
        test = _plus_minus(row["test_accuracy_mean"], row["test_accuracy_std"])
        transductive = _plus_minus(row["transductive_accuracy_mean"], row["transductive_accuracy_std"])
        verdict = verdicts.get(row["method"], "")
        mark = f"  significantly {verdict} than {first}" if verdict in ("worse", "better") else ""
        print(f"{row['method']:16} {test:>18} {transductive:>18} {row['seconds']:9.1f}{mark}")


def _plus_minus(mean: float, deviation: float) -> str:
    if np.isnan(mean):
        return "-"
    return f"{mean:.2f}" if np.isnan(deviation) else f"{mean:.2f} ± {deviation:.2f}"


def predict(options: argparse.Namespace) -> None:
    """Predict with a run's model; writes id,predicted_label,confidence."""
    folder = RunFolder(Path(options.run))
    if folder.exists():  # else an exported model, perhaps
        check_has_result(folder)
    estimator, card = load_model(folder.path), read_card(folder.path)
    known = dict.fromkeys(card.feature_names, "feature")
    known |= folder.config().source.options.get("columns", {}) if folder.exists() else {}
    data = load(source_like(options.data, known, columns_told(options)))
    made = load_features(folder.path)
    if made is not None:
        data = featurised(data, made)
    probabilities = estimator.predict_proba(_features_for(card, data, options.run))
    top = probabilities.argmax(axis=1)
    frame = pd.DataFrame(
        {
            "id": data.row_ids,
            "predicted_label": np.asarray(estimator.class_names_, dtype=object)[top],
            "confidence": probabilities[np.arange(len(top)), top],
        }
    )
    write_atomically(Path(options.out), partial(frame.to_csv, index=False))
    print(f"{options.out}: {len(frame)} predictions")


def _features_for(card: ModelCard, data: PartialLabelDataset, run: str) -> npt.NDArray[np.float32]:
    """The features in the order the model learnt them: by name where both have names, else by place.

    Raises:
        UserError: a column is missing, or the shapes differ.
    """
    if card.feature_names and data.feature_names:
        place = {name: k for k, name in enumerate(data.feature_names)}
        missing = [name for name in card.feature_names if name not in place]
        if missing:
            raise UserError(f"{data.name} has no column {missing[0]!r}, which the model of {run} was trained on.")
        return np.ascontiguousarray(data.X[:, [place[name] for name in card.feature_names]])
    if data.input_shape != card.input_shape:
        raise UserError(
            f"{data.name} has examples of shape {data.input_shape}; the model of {run} takes {card.input_shape}."
        )
    return data.X


def export(options: argparse.Namespace) -> None:
    """Write everything a run gives, loose and as one ZIP."""
    from pll.export.run_export import export_run  # onnx is slow to import, and needed here alone

    check_has_result(RunFolder(Path(options.run)))
    with tqdm(unit="file") as bar:

        def show(done: int, total: int, label: str) -> None:
            bar.total, bar.n = total, done
            bar.set_description(label)

        result = export_run(RunFolder(Path(options.run)), Path(options.out), progress=show)
    for file in (*result.files, result.zip_path):
        print(file)
    note(result.notes)
