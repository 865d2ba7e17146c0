"""Conversion between formats, and of a run's labels back into the file of its examples."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from pll import formats
from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, unknown
from pll.export.run_export import export_source
from pll.export.source import ExportSource
from pll.formats import ENTRIES, FORMATS, ReadOptions, Results
from pll.formats.json_objects import shape_of
from pll.formats.limitations import cannot_hold
from pll.formats.results import read_results
from pll.formats.tabular.cells import guess_separator, split_cell
from pll.formats.votes import VOTES_FORMAT
from pll.review.record import record_of
from pll.runs.files import LABELS_FILE
from pll.runs.folder import ENDED, RunFolder
from pll.runs.labels_table import write_labels

TRIED = 50
"""Rows written to test whether a format can hold the data."""

Tell = Callable[[Sequence[str]], None]
"""Called with each warning before anything is written."""

LoadData = Callable[[Source], PartialLabelDataset]


@dataclass(frozen=True)
class Converted:
    """What was written.

    Attributes
    ----------
    files
        The converted file, then those that go with it.
    examples
        How many examples.
    labelled
        How many of them have an identified label in it.
    """

    files: tuple[Path, ...]
    examples: int
    labelled: int = 0


@dataclass(frozen=True, eq=False)
class Conversion:
    """A file that data or a run's labels can become; nothing is written before `write`.

    Attributes
    ----------
    to
        The format, a name in `FORMATS`.
    data
        The examples.
    results
        Their identified labels, if they have some.
    back_into
        The file that the examples came from, where it is of this very format: it is written again, all else in it
        untouched. None where the data is written from scratch.
    options
        How that file is read.
    lost
        Sentences on what the file will not hold.
    why_unlabelled
        Why some examples have no label, as in "the run held them out".
    why_anew
        Why the file that they came from is not written again, though it is of this format; "" where it is, or is not.
    """

    to: str
    data: PartialLabelDataset
    results: Results | None
    back_into: Path | None
    options: ReadOptions
    lost: tuple[str, ...]
    why_unlabelled: str = ""
    why_anew: str = ""

    @property
    def notes(self) -> list[str]:
        """Warnings: what the format cannot hold, how many examples get no label."""
        lost = [self.why_anew] if self.why_anew else []
        lost += [sentence if self.back_into else f"{self.to} cannot hold: {sentence}" for sentence in self.lost]
        return [*lost, *self.unlabelled()]

    def unlabelled(self) -> list[str]:
        """How many examples have no label, and why, in a sentence; empty where all have one."""
        results = self.results
        if results is None or self.labelled == len(self.data):
            return []
        without = [name for name in self.data.row_ids.tolist() if results.label(name) is None]
        by_hand = sum(name in results for name in without)
        why = {self.why_unlabelled: len(without) - by_hand, "people found no candidate right": by_hand}
        n = len(self.data)
        return [f"{count:,} of {n:,} examples have no label: {words}." for words, count in why.items() if count]

    @cached_property
    def labelled(self) -> int:
        """How many of the examples have an identified label that the file holds."""
        by_id = self.results
        if by_id is None:
            return 0
        there = sum(by_id.label(name) is not None for name in self.data.row_ids.tolist())
        return there - FORMATS[self.to].labels_lost(self.data, by_id)

    @cached_property
    def extra_files(self) -> dict[str, str]:
        """Companion texts by suffix, such as a labelling configuration."""
        if self.back_into is not None and self.results is not None:
            return FORMATS[self.to].extra_files_given_back(self.back_into, self.results, self.options)
        return FORMATS[self.to].extra_files(self.data, self.results)

    def write(self, out: Path, *, uncertain_first: bool = False) -> Converted:
        """Write the file and its companions.

        Parameters
        ----------
        out
            The file; not one that the data came from.
        uncertain_first
            Begin with the least certain where people go through such a file one by one (`Format.queue`); else the order
            of the data stays.

        Raises
        ------
        UserError
            Data that the format cannot hold at all, a folder that is not there.
        """
        results = None if self.results is None else replace(self.results, uncertain_first=uncertain_first)
        if self.back_into is not None and results is not None:
            files = formats.give_back(self.back_into, out, results, options=self.options, format=self.to)
        else:
            files = formats.write(self.data, out, self.to, results)
        return Converted(tuple(files), len(self.data), self.labelled)

    @cached_property
    def obstacle(self) -> str | None:
        """Return why the format cannot hold the data, tested on the first rows; None if it can."""
        if self.back_into is not None:
            return None
        with tempfile.TemporaryDirectory() as folder:
            try:
                formats.write(self.data.take(slice(0, TRIED)), Path(folder) / "file", self.to, self.results)
            except UserError as error:
                return str(error).removeprefix("file: ")
        return None


def convert(
    origin: Source | RunFolder,
    to: str,
    out: Path,
    *,
    uncertain_first: bool = False,
    by_example: bool = False,
    tell: Tell,
) -> Converted:
    """Write data, or the labels of a run, in a format.

    Parameters
    ----------
    origin
        The data, or the folder of the run.
    to
        a name in `FORMATS`.
    out
        The file to write.
    uncertain_first
        See `Conversion.write`.
    by_example
        See `of_run`.
    tell
        Called with what the format cannot hold.

    Raises
    ------
    UserError
        No such data or format, a run without labels, or data that the format cannot hold at all.
    """
    _check_format(to)
    _check_ending(out, to)
    if isinstance(origin, RunFolder):
        plan = of_run(origin, to, results=_decided_results(origin), by_example=by_example)
        _check_shape(plan, out)
        tell(plan.notes)
    else:
        plan = _anew(origin.load(), to, None)
        tell([*plan.data.notes, *plan.notes])
    return plan.write(out, uncertain_first=uncertain_first)


def of_run(
    folder: RunFolder,
    to: str,
    *,
    results: Results | None = None,
    load: LoadData = Source.load,
    by_example: bool = False,
) -> Conversion:
    """What giving the labels of a run away in a format would do: back into its own file, or into a new one.

    Parameters
    ----------
    folder
        Of the run.
    to
        Name of a format.
    results
        The labels, where they are not (only) those of labels.csv.
    load
        Reads a source; the caller may have its data already.
    by_example
        A row an example, even where the file has a row an answer, and the labels could go into that.

    Raises
    ------
    UserError
        No such format, a run without labels, data that is gone or has changed.
    """
    _check_format(to)
    config, results = folder.config(), results or run_results(folder)
    source = config.source
    file = files_of(source).get(to)
    why_anew = ""
    if file is not None and not by_example:
        file.check_unchanged()
        path, options = Path(str(file.path)), ReadOptions(**file.options)
        why_anew = FORMATS[to].no_place(path, options)
        if not why_anew:
            data = load(replace(source, rule=""))  # rows that the rule left out stay in the file
            lost = [*FORMATS[to].cannot_give_back(path, results, options), *FORMATS[to].cannot_label(data, results)]
            return Conversion(to, data, results.rounded(), path, options, tuple(lost), _why_unlabelled(source))
    data = load(source)
    if (
        data.candidates is None
        or config.flip is not None
        or config.noisy is not None
        or config.decided_sets is not None
    ):
        data = _with_sets(data, folder.path / LABELS_FILE)
    return replace(_anew(data, to, results, _why_unlabelled(source)), why_anew=why_anew)


def run_results(folder: RunFolder) -> Results:
    """Return the labels of a run as in its labels.csv.

    Raises
    ------
    UserError
        The run has none yet.
    """
    labels, state = folder.path / LABELS_FILE, folder.state()["state"]
    if state not in ENDED or not labels.exists():
        lost = " Its labels.csv is gone; put it back from a backup, or train again." if state in ENDED else ""
        raise UserError(f"The run in {folder.path} has no labels yet ({state}); finish it first.{lost}")
    folder.checked(LABELS_FILE)
    results = read_results(labels, model_name(folder))
    n = folder.about().get("data", {}).get("examples", len(results.ids))
    if len(results.ids) < n:
        raise UserError(
            f"{labels} is damaged: it has {len(results.ids):,} rows, but the run has {n:,} examples. Put it "
            "back from a backup, or train again."
        )
    return results


def results_of(folder: RunFolder, source: ExportSource) -> Results:
    """The labels that an export of a run holds: those of its labels.csv, and later decisions.

    Parameters
    ----------
    folder
        Of the run.
    source
        What is exported.
    """
    if not source.decisions and not source.labels.follows:
        return run_results(folder)
    with tempfile.TemporaryDirectory() as place:
        write_labels([source.frame], Path(place) / LABELS_FILE)
        return read_results(Path(place) / LABELS_FILE, model_name(folder))


def certified_results(folder: RunFolder, source: ExportSource) -> Results:
    """The labels that a certificate is of, whatever was decided since.

    Parameters
    ----------
    folder
        Of the run.
    source
        What is exported.

    Raises
    ------
    UserError
        There is no certificate.
    """
    if source.certified is None:
        raise UserError("There is no certificate of these labels yet; answer the controls of the review first.")
    final = source.certified.final.astype(object).fillna("").astype(str)
    columns = {name: final[name].tolist() for name in ("identified_label", "confidence", "source")}
    by_whom = (
        source.frame.set_index("id")["reviewer"].reindex(final["id"]).where(final["source"].eq("human").to_numpy())
    )
    columns["reviewer"] = by_whom.fillna("").tolist()
    return Results(final["id"].tolist(), columns, model_name(folder))


def _decided_results(folder: RunFolder) -> Results | None:
    """Return the reviewed labels; None without decisions."""
    return None if record_of(folder) is None else results_of(folder, export_source(folder))


def model_name(folder: RunFolder) -> str:
    """Return the name of a run's model for tools that distinguish models."""
    return f"{folder.config().method}-{folder.path.resolve().name}"


def files_of(source: Source) -> dict[str, Source]:
    """The files that labels can go back into, by format: the data's own, then those of votes.

    Raises
    ------
    UserError
        a file is gone, or the data is of no format that is known.
    """
    result: dict[str, Source] = {}
    if source.path is not None and source.format != VOTES_FORMAT:
        result[source.format or formats.detect(Path(source.path)).name] = source
    for file in source.vote_files:
        name = formats.detect(Path(str(file.path))).name if Path(str(file.path)).suffix != ".npy" else ""
        if name in ENTRIES and ENTRIES[name].get("labels_into_votes"):
            result.setdefault(name, file)
    return result


def has_a_row_an_answer(source: Source) -> bool:
    """Whether the file of a source has a row for every answer, and not one an example.

    Raises
    ------
    UserError
        It cannot be read.
    """
    if source.path is None or source.format == VOTES_FORMAT:
        return False
    options = ReadOptions(**source.options)
    return any(column.role == "task" for column in formats.columns(source.path, name=source.name, options=options))


def _anew(data: PartialLabelDataset, to: str, results: Results | None, why_unlabelled: str = "") -> Conversion:
    lost = cannot_hold(data, FORMATS[to])
    if results is not None:
        lost = [*lost, *FORMATS[to].cannot_label(data, results)]
    return Conversion(to, data, results, None, ReadOptions(), tuple(lost), why_unlabelled)


def _why_unlabelled(source: Source) -> str:
    why = "the run held them out"
    return f"{why}, or the rule {source.rule} left them no candidate" if source.rule else why


def _check_format(to: str) -> None:
    if to not in FORMATS:
        raise unknown("format", to, FORMATS)


def _with_sets(data: PartialLabelDataset, labels: Path) -> PartialLabelDataset:
    """The examples a run was trained on, with the candidate sets that were made for them."""
    results = read_results(labels, "", more=("candidates",))
    has_set = [bool(cell) for cell in results.columns["candidates"]]  # rows whose label was predicted may have none
    ids = [name for name, there in zip(results.ids, has_set, strict=True) if there]
    sets = [cell for cell in results.columns["candidates"] if cell]
    mark = guess_separator(sets)
    place = {name: row for row, name in enumerate(data.row_ids.tolist())}
    unknown = [name for name in ids if name not in place]
    if unknown:
        raise UserError(f"{labels} has a label of {unknown[0]!r}, which {data.name} does not have.")
    ordered = data.take(np.array([place[name] for name in ids], dtype=np.int64))
    cells = [split_cell(cell, mark) for cell in sets]
    names = tuple(dict.fromkeys((*data.class_names, *(label for cell in cells for label in cell))))  # people add some
    number = {name: k for k, name in enumerate(names)}
    lists = ([number[label] for label in cell] for cell in cells)
    return replace(ordered, candidates=CandidateSets.from_lists(lists, len(names), names), annotations=None, prior=None)


def _check_ending(out: Path, to: str) -> None:
    """Raise UserError where the name ends as files of another format do: programs go by it."""
    ending, own = out.suffix.lower(), FORMATS[to].suffixes
    if ending not in own and any(ending in one.suffixes for one in FORMATS.values()):
        raise UserError(f"{out} ends as other files do; a file of {to} ends in {' or '.join(own)}.")


def _check_shape(plan: Conversion, out: Path) -> None:
    """Raise UserError where the name says lines, and labels go back into JSON of another shape, which it keeps."""
    is_json, says_lines = ".json" in FORMATS[plan.to].suffixes, out.suffix.lower() in (".jsonl", ".ndjson")
    if plan.back_into is not None and is_json and says_lines and shape_of(plan.back_into) != "lines":
        raise UserError(f"{out} ends as JSON lines do, but the labels go back into JSON that is none; end it in .json.")
