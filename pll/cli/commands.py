"""The commands of the command line but `fit`. Progress goes to stderr, results to stdout."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
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
from pll.catalog.sources import Source, file_hash
from pll.cli.options import (
    SetOptions,
    TrainingOptions,
    class_notes,
    flip_of,
    listed,
    noisy_of,
    note,
    note_votes,
    print_result,
    resolve_columns,
    resolve_source,
    settings,
    source_like,
    whole_number,
    with_voters,
)
from pll.cli.progress import load
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.export.convert import convert as convert_to
from pll.export.spreadsheet import formula_messages
from pll.features import featurised, load_features
from pll.formats.classes import with_classes
from pll.io import write_atomically
from pll.methods import AUTO, PartialLabelEstimator, get_method
from pll.methods.input_range import RANGE, range_warnings
from pll.methods.persistence import ModelCard, load_model, read_card
from pll.review.record import missing_review
from pll.runs import runner
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder, check_has_result, inspect
from pll.runs.manifest import unverified
from pll.synthesis.ambiguity import ambiguity_degree
from pll.training.devices import default_threads


@dataclass(frozen=True, kw_only=True)
class SynthesizeOptions(SetOptions):
    """Options of `synthesize`."""

    seed: int
    out: str


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(TrainingOptions):
    """Options of `evaluate`."""

    methods: str
    folds: int | None
    seeds: str
    out: str | None


def datasets() -> None:
    """List the catalogue."""
    for entry in catalog.CATALOG.values():
        shape = "×".join(str(size) for size in entry.shape)
        where = "embedded" if entry.embedded else "on this machine" if _is_here(entry) else entry.page
        print(f"{entry.name:18} {entry.n:>7,} × {shape:<10} {entry.c:>4} classes  {entry.title}: {where}")
    print_result(datasets=len(catalog.CATALOG))


def convert(
    given: str,
    to: str,
    out: str,
    *,
    source_format: str | None,
    column: Sequence[str],
    sheet: str | None,
    combine: str,
    uncertain_first: bool,
    spreadsheet_safe: bool,
) -> None:
    """Write data, or a run's labels, in another format; a note says first what the format cannot hold."""
    folder = RunFolder(Path(given))
    note([*unverified(folder.path), *missing_review(folder)] if folder.exists() else [])
    done = convert_to(
        given,
        to,
        Path(out),
        options=formats.ReadOptions(columns=resolve_columns(column), sheet=sheet, combine=combine),
        format=source_format,
        uncertain_first=uncertain_first,
        tell=note,
    )
    note(formula_messages(done.files, safe=spreadsheet_safe))
    for file in done.files:
        print(file)
    labelled = f", {done.labelled:,} with an identified label" if done.labelled else ""
    print(f"{done.examples:,} examples{labelled}")
    print_result(files=[str(file) for file in done.files], examples=done.examples, labelled=done.labelled)


def _is_here(entry: catalog.Entry) -> bool:
    try:
        return bool(catalog.available(entry))
    except UserError:  # there is a file, but not the right one; loading says so
        return False


def synthesize(options: SynthesizeOptions) -> None:
    """Make candidate sets from true labels, from labels that may be wrong, or from several annotators; write them."""
    data = load(resolve_source(options))
    flip, noisy = flip_of(options, data), noisy_of(options, data)
    if flip is None and noisy is None and not options.rule:
        raise UserError(
            "Say how candidates are made: --flip binomial --q 0.7, --noisy topk:2 of labels you doubt, or "
            "--rule votes:2 of what several people said."
        )
    if data.unanswered is not None:
        note([f"{int(data.unanswered.sum()):,} examples have no annotation; they are left out."])
        data = data.answered()
    if options.rule:  # the sets are the result; with the answers beside them, a reader would make its own
        data = replace(data, annotations=None)
    made = data if flip is None and noisy is None else with_candidates(data, flip, options.seed, noisy=noisy)
    formats.write(made, Path(options.out))
    sets = made.sets()
    gamma = None if made.y is None else ambiguity_degree(sets, made.y)
    shown = "" if gamma is None else f", γ = {gamma:.3f}"
    print(f"{options.out}: {len(made)} examples, {sets.nnz / len(sets):.2f} candidates on average{shown}")
    note([*class_notes(made), *warnings_about(made)])
    print_result(out=options.out, examples=len(made), mean_candidates=sets.nnz / len(sets), gamma=gamma)


def evaluate(options: EvaluateOptions) -> None:
    """Compare methods; print mean ± standard deviation, write results.csv."""
    names = listed(options.methods, "--methods", "proden,proden-naive")
    seeds = [whole_number(seed) for seed in listed(options.seeds, "--seeds", "0,1,2")]
    if options.folds is not None and (options.holdout is not None or options.test is not None):
        raise UserError("Give --folds, or --holdout, or --test; they exclude each other.")
    told = resolve_source(options)
    note_votes(told)
    source = with_voters(told, options)
    data = load(source)
    if options.folds is None and options.holdout is None and options.test is None and data.is_test is None:
        raise UserError("Say what to test on: --folds 5, --holdout 0.2 or --test FILE.")
    is_table = data.kind == "table"
    estimators = {name: _factory(name, options, source, is_table=is_table) for name in names}
    splits = ev.Splits(
        folds=options.folds,
        holdout=options.holdout,
        test=None if options.test is None else _test_data(options, source),
        flip_with=flip_of(options, data),
        noisy=noisy_of(options, data),
        features=options.features,
        seeds=seeds,
        strict=options.strict,
    )
    files = {"data": source.path, "test_data": None if options.test is None else source_like(options.test, {}).path}
    about: dict[str, Any] = {name: file_hash(Path(path))[:HASH] for name, path in files.items() if path is not None}
    if source.vote_files:
        about["votes"] = [file_hash(Path(str(one.path)))[:HASH] for one in source.vote_files]
        about["answers"] = json.dumps(source.answers, sort_keys=True, ensure_ascii=False)
    if source.classes:
        about["classes"] = json.dumps(source.classes, sort_keys=True, ensure_ascii=False)
    recipe = options.recipe or "default"
    kept = ev.read_results(Path(options.out)) if options.out and Path(options.out).exists() else []
    found, others = _of_this_evaluation(kept, data.name, estimators, splits, about, recipe)
    if found:
        note([f"{options.out} holds {len(found)} of these results already; only what is missing is fitted."])
    if others:
        note([f"{options.out} holds {len(others)} results of other evaluations too; they are kept."])
    with tqdm(total=len(names) * splits.count(), initial=len(found), unit="fit") as bar:
        made = ev.evaluate(data, estimators, splits, partial(_show_round, bar), recipe=recipe, about=about, done=found)
        for result in made:
            found[ev.key_of(result)] = result
            bar.update()
            if options.out:  # after every fit: an interrupted evaluation has not been for nothing
                results = [*others, *found.values()]
                write_atomically(Path(options.out), partial(ev.results_frame(results).to_csv, index=False))
    place = {(name, *where): k for k, (where, name) in enumerate(product(splits.places(), names))}
    in_order = sorted(found.values(), key=lambda result: place[result.method, result.seed, result.fold])
    _print_summary(ev.results_frame(in_order))
    print_result(out=options.out, fits=len(in_order), methods=_means(ev.results_frame(in_order)))


def _of_this_evaluation(
    kept: Sequence[ev.Result],
    dataset: str,
    estimators: Mapping[str, ev.Made],
    splits: ev.Splits,
    about: Mapping[str, Any],
    recipe: str,
) -> tuple[dict[ev.Key, ev.Result], list[ev.Result]]:
    """Divide the results of a file into those of this evaluation and others."""
    facts = {**splits.described(), **about}
    wanted = {
        (name, seed, fold, ev.settings_json(new(seed), facts))
        for (seed, fold), (name, new) in product(splits.places(), estimators.items())
    }
    flip = splits.flip_with
    made = ("", None) if flip is None else (flip.how, flip.q)
    found, others = {}, []
    for result in kept:
        is_of_this = (result.dataset, result.recipe, result.flip, result.q) == (dataset, recipe, *made)
        if is_of_this and ev.key_of(result) in wanted:
            found[ev.key_of(result)] = result
        else:
            others.append(result)
    return found, others


def _test_data(options: EvaluateOptions, source: Source) -> PartialLabelDataset:
    """Return the data of `--test`, with its classes put in order as those of DATA."""
    assert options.test is not None
    test = load(source_like(options.test, resolve_columns(options.column)))
    return with_classes(test, source.classes, strict=False)


def _factory(
    name: str, options: EvaluateOptions, source: Source, *, is_table: bool
) -> Callable[[int], PartialLabelEstimator]:
    """Return a function of the seed that makes the method; settings it does not have are left out, with a note."""
    given = {"threads": default_threads()} | settings(options)
    if name == AUTO:
        given = {"threads": given.pop("threads"), "settings": given}
    known = get_method(name)().get_params()
    foreign = sorted(set(given) - set(known) - {"threads"})
    if foreign:
        note([f"{name} has no {', '.join(foreign)}; it runs without."])
    own = {key: value for key, value in given.items() if key in known}

    def new(seed: int) -> PartialLabelEstimator:
        config = RunConfig(source, method=name, params=own, seed=seed)
        return runner.new_estimator(config, is_table=is_table)

    new(0)  # refuses a wrong setting before the first fit
    return new


HASH = 16
"""Hexadecimal digits of a data file's SHA-256 in results.csv."""


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


def _means(results: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return mean and standard deviation of the accuracies, as fractions, by method."""
    return {
        str(method): {
            f"{measure}_{name}": float(value)
            for measure in ("test_accuracy", "transductive_accuracy")
            for name, value in (("mean", rows[measure].mean()), ("std", rows[measure].std(ddof=1)))
        }
        for method, rows in results.groupby("method", sort=False)
    }


def _plus_minus(mean: float, deviation: float) -> str:
    if np.isnan(mean):
        return "-"
    return f"{mean:.2f}" if np.isnan(deviation) else f"{mean:.2f} ± {deviation:.2f}"


def predict(run: str, data_name: str, column: Sequence[str], out: str, *, spreadsheet_safe: bool = False) -> None:
    """Predict with a run's model; write id,predicted_label,confidence."""
    folder = RunFolder(Path(run))
    if folder.exists():  # else an exported model, perhaps
        check_has_result(folder)
        note(unverified(folder.path))
    estimator, card = load_model(folder.path), read_card(folder.path)
    known = dict.fromkeys(card.feature_names, "feature")
    known |= folder.config().source.options.get("columns", {}) if folder.exists() else {}
    data = load(source_like(data_name, known, resolve_columns(column)))
    made = load_features(folder.path)
    if made is not None:
        data = featurised(data, made)
    X = _features_for(card, data, run)
    if RANGE in card.extra:  # not in models of earlier versions
        with suppress(KeyError, TypeError, ValueError):  # edited by the user: the predictions are still right
            note(range_warnings(X, card.extra[RANGE], card.feature_names))
    best = [(part.argmax(axis=1), part.max(axis=1)) for part in estimator.iter_proba(X)]
    frame = pd.DataFrame(
        {
            "id": data.row_ids,
            "predicted_label": np.asarray(estimator.class_names_, dtype=object)[np.concatenate([k for k, _ in best])],
            "confidence": np.concatenate([share for _, share in best]),
        }
    )
    write_atomically(Path(out), partial(frame.to_csv, index=False))
    note(formula_messages([Path(out)], safe=spreadsheet_safe))
    print(f"{out}: {len(frame)} predictions")
    print_result(out=out, predictions=len(frame))


def _features_for(card: ModelCard, data: PartialLabelDataset, run: str) -> npt.NDArray[np.float32]:
    """Return the features in the order the model learnt them: by name where both have names, else by place.

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


def export(run: str, out: str, *, spreadsheet_safe: bool = False) -> None:
    """Write everything a run gives, loose and as one ZIP."""
    from pll.export.run_export import export_run  # onnx is slow to import, and needed here alone

    folder = RunFolder(Path(run))
    check_has_result(folder)
    note([*unverified(folder.path), *missing_review(folder)])
    with tqdm(unit="file") as bar:

        def show(done: int, total: int, label: str) -> None:
            bar.total, bar.n = total, done
            bar.set_description(label)

        result = export_run(folder, Path(out), spreadsheet_safe=spreadsheet_safe, progress=show)
    for file in (*result.files, result.zip_path):
        print(file)
    note([*result.notes, *formula_messages(result.files, safe=spreadsheet_safe)])
    print_result(out=out, files=len(result.files), zip=str(result.zip_path), notes=len(result.notes))


def check(run: str) -> int:
    """Compare the files of a run with its manifest. Returns 2 where some are damaged."""
    report = inspect(RunFolder(Path(run)))
    for damage in report.damaged:
        print(damage.words)
    if not report.damaged:
        open_ = "" if report.complete else "; it has not ended, so the files it wrote last are not listed yet"
        print(f"{run}: {report.files} files are as they were written{open_}")
    print_result(files=report.files, damaged=[damage.name for damage in report.damaged])
    return 2 if report.damaged else 0
