"""The result of reading is looked at, whatever the way it came: what is odd is asked about and never trained on.

A finding is hardly what the person who made the file means. Few and sure: each names the cells that show it, and what
to do. It is refused until the person accepts it (`ReadOptions.accept`, in the shell `--accept KIND`).
"""

from __future__ import annotations

import math
import re
import shlex
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from pll.annotations import Annotations
from pll.annotations.agreement import pairs_in
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, notes_of
from pll.formats.answers import BETWEEN_ANSWERS
from pll.formats.base import ReadOptions
from pll.formats.checks import listing
from pll.formats.forms import FIRST_WITHOUT_SPACES, NO_ANSWER, WORDS, any_of
from pll.formats.names import UNNAMED, two_names
from pll.formats.proposal import says
from pll.formats.reading import CODEBOOK, PERSONS, SWAPPED, option
from pll.formats.tabular.answer_cells import graded_by_signs, is_sentence
from pll.formats.tabular.cells import NEARLY_ALL, is_no_answer, is_number, spelling
from pll.formats.tabular.header import begins_as_total

FEW_EXAMPLES, SOME_EXAMPLES = 10, 20
"""Below so many examples hardly anything is odd: people try things out."""
MOST_CELLS_IN_FINDING = 3
MOST_VOTERS_IN_IDS = 20
"""Voters that ids may name beside the examples."""
SHORT_CLASS = 30
"""Letters of a class beside which a whole sentence is hardly one."""
OWN_WORDS = 0.8
"""Share of a voter's answers in words that no other voter uses, from which that is odd."""

FEW_TIMES = 2
"""Sets that hold a class, of which it is no wonder that there are many of such."""
MANY = 3
"""Answers to an example, for each class, of which it is no wonder that they name all classes."""
RARE = 10
"""A class is rare where another one has so many times its answers."""
LEAST_LETTERS_ALIKE = 4
"""Letters at the beginning that two spellings of one class share at least, and fewer than a word with a slip has."""


_FINDINGS: Mapping[str, Mapping[str, str]] = tomllib.loads(files("pll.formats").joinpath("odd.toml").read_text("utf-8"))
"""By name, what may be odd, in words: `odd.toml`."""
KINDS = tuple(sorted({about.get("kind", name) for name, about in _FINDINGS.items()}))
"""Short names of all that is looked at."""


@dataclass(frozen=True)
class Oddity:
    """Something about a reading that is hardly what the person who made the file means.

    Attributes
    ----------
    kind
        Short name, by which a person accepts it.
    text
        What it is, in one sentence.
    cells
        The names or cells that show it, a few.
    remedy
        What to do, for a page.
    hint
        What to do in the shell.
    edits
        What becomes of classes, perhaps: the old name → the new one, or None where it is no label.
    """

    kind: str
    text: str
    cells: tuple[str, ...] = ()
    remedy: str = ""
    hint: str = ""
    edits: Mapping[str, str | None] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = f" ({listing(self.cells, limit=MOST_CELLS_IN_FINDING)})" if self.cells else ""
        return f"{self.text.rstrip('.')}{shown}. {self.remedy}"

    @property
    def shell(self) -> str:
        """What to type in the shell."""
        return "; or, if it is meant so, ".join(filter(None, (self.hint, f"--accept {self.kind}")))


class OddReading(UserError):
    """A reading is odd, and nobody said yet that it is meant so."""

    def __init__(self, findings: tuple[Oddity, ...]) -> None:
        shell = "; ".join(finding.shell for finding in findings)
        super().__init__(" ".join(map(str, findings)), kind="odd", shell=shell)
        self.findings = findings


def refuse_odd(data: PartialLabelDataset, options: ReadOptions) -> None:
    """Raise where something about the data is odd that the user has not accepted.

    Parameters
    ----------
    data
        As it was read.
    options
        What it was read with, and what the user has accepted.

    Raises
    ------
    OddReading
        It is.
    """
    findings = tuple(one for one in findings_in(data, options) if one.kind not in options.accept)
    if findings:
        raise OddReading(findings)


def findings_in(data: PartialLabelDataset, options: ReadOptions) -> list[Oddity]:
    """Return what is odd about data that was read from a file; mostly nothing.

    Parameters
    ----------
    data
        As it was read.
    options
        What it was read with.
    """
    found = [finding for check in CHECKS for finding in check(data, options)]
    column = "--column NAME=ROLE"  # is wrong where nothing would be left
    every = [{*one.edits} >= {*data.class_names} and None in one.edits.values() for one in found]
    return [replace(one, edits={}, hint=column) if is_all else one for one, is_all in zip(found, every, strict=True)]


Check = Callable[[PartialLabelDataset, ReadOptions], Iterator[Oddity]]


def _odd(name: str, cells: Iterable[str] = (), hint: str = "", /, **facts: Any) -> Oddity:
    """Return a finding of `odd.toml`, with these facts in its sentence; `hint` where that depends on the data."""
    about = _FINDINGS[name]
    text, hint = about["text"].format(**facts), hint or about.get("hint", "")
    return Oddity(about.get("kind", name), text, tuple(cells), about["remedy"], hint)


def _one_example(data: PartialLabelDataset, _: ReadOptions) -> Iterator[Oddity]:
    fields = [*data.feature_names, *data.categories, *data.extras]
    fields += list(data.annotations.annotator_names) if data.annotations is not None else []
    texts = [] if data.texts is None else [data.texts]
    values = [cells[0] for cells in (*data.extras.values(), *texts) if len(data) == 1]
    inside = [one for value in values for one in (value.values() if isinstance(value, dict) else [value])]
    are_columns = any(isinstance(one, list) and len(one) >= FEW_EXAMPLES for one in inside)
    are_columns = are_columns or any(isinstance(one, str) and _LIST.match(one) for one in values)
    if len(data) == 1 and (len(fields) > FEW_EXAMPLES or are_columns):
        yield _odd("one-example", fields[:MOST_CELLS_IN_FINDING], fields=len(fields))


_LIST = re.compile(r'\s*\[\s*(?:"(?:[^"\\]|\\.)*"\s*,\s*){9}')
"""How a text begins that is a list of texts."""


def _are_proposed(data: PartialLabelDataset, options: ReadOptions) -> bool:
    """Whether there are some examples with labels whose classes nobody listed."""
    has_labels = data.candidates is not None or data.annotations is not None
    return len(data) >= FEW_EXAMPLES and has_labels and not options.class_names


def _classes(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    if not _are_proposed(data, options):
        return
    names = data.class_names
    if len(names) == 1:
        yield _odd("one-class", name=names[0])
    if votes := data.annotations:
        left = [cell for cell, times in votes.unmapped for _ in range(times)]
        if len(left) >= max(votes.n_answers, FEW_EXAMPLES):
            every, classes = len(left) + votes.n_answers, listing(names, limit=6)
            yield _odd("no-class", left[:MOST_CELLS_IN_FINDING], every=every, left=len(left), classes=classes)
    if data.candidates is None:
        return
    sets = data.sets()
    labelled = np.flatnonzero(sets.sizes < len(names))  # where nobody answered, any label is possible
    if len(labelled) < FEW_EXAMPLES or 2 * len(names) <= len(labelled):
        return
    given = _times_given(data)
    rare = 1 if len(labelled) < SOME_EXAMPLES else FEW_TIMES
    if 2 * int((given <= rare).sum()) > len(names):
        yield _odd("many-classes", names[:MOST_CELLS_IN_FINDING], classes=len(names), examples=len(labelled))


def _summary(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    """A table of what was counted over examples, with no example in it: a row a class, or a row and a column each."""
    n, votes, sets = len(data), data.annotations, data.candidates
    if options.class_names or not LEAST_ROWS_OF_SUMMARY <= n < SOME_EXAMPLES or all(map(is_number, data.class_names)):
        return
    voters = () if votes is None or votes.anonymous else votes.annotator_names
    texts = () if data.texts is None else (data.texts,)
    columns = [data.row_ids, *texts, *data.categories.values(), *data.extras.values()]
    cells = [{spelling(str(cell)) for cell in column.tolist()} for column in columns]
    crossed = [some for some in (data.class_names, voters) if LEAST_ROWS_OF_SUMMARY <= len(some) <= n < 2 * len(some)]
    labels = data.y if sets is None else sets.indices if (sets.sizes == 1).all() else None
    numbers = np.nan_to_num(data.X.reshape(n, -1))
    are_counts = ((numbers == np.floor(numbers)).all(axis=0) & (numbers > 1).any(axis=0)).any()
    alone = labels is not None and len({*labels.tolist()} - {-1}) == n and bool(are_counts)
    for names in (*crossed, *([data.class_names] if alone else [])):
        named = {*map(spelling, names)}
        if alone or any(len(some) == n and named <= some for some in cells):
            yield _odd("summary", names)
            return


LEAST_ROWS_OF_SUMMARY = 4
"""Rows from which a table is perhaps a summary of another, and nothing that somebody tries."""

_MONTH = (
    r"(?:jan|feb|f[ée]v|mar|mär|mrz|apr|avr|abr|may|mai|mag|maj|jun|jui|giu|jul|lug|aug|ao[uû]|ago|sep|set|oct|okt|ott|"
    r"nov|dec|dez|déc|dic|ene|gen|gru|lut|kwi|cze|lip|sie|wrz|paź|lis)\w?\.?"
)
_STRANGE = {
    "dates, which spreadsheets make of 1-2": re.compile(
        rf"\d{{4}}-\d\d?-\d\d?(?: \d\d?:\d\d(?::\d\d)?)?|\d\d?(?:-|\. ){_MONTH}|{_MONTH}-\d\d", re.IGNORECASE
    ),
    "JSON": re.compile(r'\s*(?:\{\s*".*\}|\[\s*[\["{].*\])\s*', re.DOTALL),
    "addresses": re.compile(r"(?:https?|ftp)://\S+"),
}


_TICK = re.compile(r"[xX×✓✔☑✗✘]")


def _names(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    """Classes that are hardly names of one question: JSON, sentences, codes, numbers or marks beside words, columns."""
    if not _are_proposed(data, options):
        return
    names = [name for name in data.class_names if name not in options.keep]
    for what, pattern in _STRANGE.items():
        if found := [name for name in names if pattern.fullmatch(name)]:
            yield _odd("strange", found, what=what)
    sentences = [name for name in names if is_sentence(name)]
    if 3 * len(sentences) > len(names):
        yield _odd("sentences", sentences)
    elif sentences and max(map(len, {*names} - {*sentences})) <= SHORT_CLASS:
        yield from _to_drop("sentence", sentences)
    yield from _to_drop("minus", ["-1"] if {*names} == {"-1", "0", "1"} else [])
    # `Error: timeout`, and no kind of errors, as `Error grave` is
    errors = [name for name in names if re.fullmatch(r"error(\W*|\s*[\d:(].*)", name, re.IGNORECASE)]
    yield from _to_drop("failed", errors)
    yield from _to_drop("far-codes", _far_codes(names))
    is_known = data.candidates is None or _has_codebook(data)
    times = [] if is_known else _times_given(data).tolist()
    short = _rare_short({} if is_known else dict(zip(data.class_names, times, strict=True)))
    yield from _to_drop("abbreviation", short)

    voters = data.annotations.annotator_names if data.annotations is not None and not data.annotations.anonymous else ()
    headers = {spelling(one) for one in (*data.feature_names, *data.categories, *data.extras, *voters)}
    numbers = [name for name in names if is_number(name.rstrip(" %").replace(",", "."))]
    words = [name for name in names if any(map(str.isalpha, name)) and not name[0].isdecimal()]  # 3a is beside 3
    odd = min(numbers, words, key=len) if len(names) > 2 else []
    if data.y is not None and data.annotations is not None:  # what the truth says as well is a class
        odd = [name for name in odd if not (data.y == data.class_names.index(name)).any()]
    letters = [name for name in words if len(name) == 1]
    called = [name for name in words if spelling(name) in headers and not _is_said_by_several(data, name)]
    ticks = [n for n in names if _TICK.fullmatch(n) and len(letters) < 2 < len(names)]  # x and y are letters
    yield from _to_drop("numbers", odd)
    yield from _to_drop("ticks", ticks)
    yield from _to_drop("columns", [] if _are_sides(data, called) else called)
    if unnamed := [name for name in voters if re.fullmatch(rf"{UNNAMED} \d+", name)]:
        yield _odd("unnamed-voters", unnamed)


def _is_said_by_several(data: PartialLabelDataset, name: str) -> bool:
    """Whether several voters give a class, often: it is one, whatever columns beside them are called."""
    votes = data.annotations
    if votes is None or votes.anonymous or spelling(name) in map(spelling, votes.annotator_names):
        return False
    gave = votes.annotators[votes.labels == data.class_names.index(name)]
    return len(np.unique(gave)) > 1 and len(gave) >= (1 - NEARLY_ALL) * len(votes.labels)


def _marks(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    """Classes, or true labels, called as what means that there is no answer; "none" may be one."""
    if len(data) >= FEW_EXAMPLES and not options.class_names and "*" not in options.keep:
        many = data.annotations is not None
        graded = graded_by_signs(data.class_names)
        names = [one for one in data.class_names if is_no_answer(one, among_votes=many) and one not in graded]
        names = [one for one in names if spelling(one) not in ("none", *NO_ANSWER["unless often"])]
        names = [name for name in names if name not in options.keep] if len(names) < data.n_classes - 1 else []
        of_columns = {role for role in data.reading.get("roles", {}).values() if role in ("count", "probability")}
        names = [] if of_columns else names  # a column of counts called `empty` is a class
        yield from _to_drop("mark", names)


def _to_drop(finding: str, names: Sequence[str]) -> Iterator[Oddity]:
    """Classes that are perhaps no labels, if there are any."""
    if names:
        hint = " ".join(f"--drop={shlex.quote(name)}" for name in names)
        yield replace(_odd(finding, names, hint), edits=dict.fromkeys(names))


def _to_merge(finding: str, same: Mapping[str, str], shown: Iterable[str] = ()) -> Iterator[Oddity]:
    """Classes that are perhaps others in other words; or those that are `shown`, where it is not known which."""
    pairs = [f"{name} → {to}" for name, to in same.items()]
    hint = " ".join(f"--merge {shlex.quote(f'{name}={to}')}" for name, to in same.items())
    yield replace(_odd(finding, pairs or shown, hint), edits=same)


def _times_given(data: PartialLabelDataset) -> npt.NDArray[np.int64]:
    """(c,) in how many sets each class is; where nobody answered, any label is possible, and none given."""
    sets = data.sets()
    return np.bincount(sets.take(np.flatnonzero(sets.sizes < data.n_classes)).indices, minlength=data.n_classes)


def _rare_short(times: Mapping[str, int]) -> list[str]:
    """Return the one class of two or three capitals beside words, where it was given far less often than any of them.

    Examples
    --------
    >>> _rare_short({"Notable": 40, "Suficiente": 60, "Insuficiente": 30, "NP": 9})
    ['NP']
    >>> _rare_short({"Stout": 40, "Wheat": 60, "Pilsner": 30, "IPA": 25}), _rare_short({"AK": 9, "BCC": 4, "SCC": 1})
    ([], [])
    """
    short = [name for name in times if name.isalpha() and name.isupper() and name.isascii() and len(name) in (2, 3)]
    words = [name for name in times if len(name) > 3 and not name.isupper() and not is_number(name)]
    is_one = len(short) == 1 and len(words) == len(times) - 1 > 1
    return short if is_one and times[short[0]] <= RARE_SHORT * min(times[name] for name in words) else []


RARE_SHORT = 0.5
"""How often an abbreviation was given that perhaps is no answer, at most, where the rarest of the words was once."""


def _far_codes(names: Sequence[str]) -> tuple[str, ...]:
    """Return codes such as 9, 99 or -9 beside 1 to 4, with which codebooks say that there is no answer.

    Examples
    --------
    >>> _far_codes(["-8", "1", "2", "3", "9", "99"]), _far_codes(["7", "8", "9"]), _far_codes(["1", "a", "9"])
    (('-8', '9', '99'), (), ())
    """
    if not all(name.removeprefix("-").isdecimal() for name in names):
        return ()
    last = next((int(name) for name in names if name.isdecimal() and str(int(name) + 1) not in names), 0)
    apart = [name for name in names if not -1 <= int(name) <= last + 1]
    far = tuple(name for name in apart if len({*name.removeprefix("-")}) == 1 and name[-1] in "6789")
    return far if 1 < last == len(names) - len(far) - (0 if "0" not in names else 1) else ()


def _are_sides(data: PartialLabelDataset, names: Sequence[str]) -> bool:
    """Whether classes are columns of things that are compared, which hold the same ones: an answer is a side."""
    called, columns = {*map(spelling, names)}, {**data.extras, **data.categories}
    cells = [{*map(str, some.tolist())} for name, some in columns.items() if spelling(name) in called]
    return len(cells) > 1 and 2 * len(set.intersection(*cells)) > len(cells[0]) > 1


def _sets(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    if data.candidates is None or len(data) < SOME_EXAMPLES or data.n_classes < 3 or data.prior is not None:
        return
    sets, n = data.candidates, len(data)
    if data.annotations is not None and data.annotations.n_answers > MANY * n * data.n_classes:
        return  # so many answers name every class once
    if (sets.sizes == sets.n_classes).all():
        yield _odd("full-sets")
        return
    everywhere = np.flatnonzero(np.bincount(sets.indices, minlength=sets.n_classes) == n)
    found = tuple(name for k in everywhere.tolist() if (name := data.class_names[k]) not in options.keep)
    if found and sets.nnz > n:
        yield from _to_drop("in-every-set", found)


def _ranks(data: PartialLabelDataset, _: ReadOptions) -> Iterator[Oddity]:
    """Counts that are 1, 2, 3 … in every row, in any order: the first, second … choice, of which 1 is best."""
    n, c = len(data), data.n_classes
    if data.prior is None or n < FEW_EXAMPLES or c < 3 or len(data.prior) < n * c:  # some row has no place for a class
        return
    places = np.arange(1, c + 1)
    if np.allclose(np.sort(data.prior.reshape(n, c), axis=1), places / places.sum(), atol=1e-4):
        yield _odd("ranks", data.class_names[:MOST_CELLS_IN_FINDING], classes=c)


def _voters(data: PartialLabelDataset, _: ReadOptions) -> Iterator[Oddity]:
    votes = data.annotations
    if votes is None or votes.anonymous or notes_of(data.notes, PERSONS):
        return
    count = np.bincount(votes.annotators[votes.answer_starts], minlength=votes.n_annotators)
    if 2 * len(data) < votes.n_annotators >= FEW_EXAMPLES and count.mean() > 0.8 * len(data):
        names = votes.annotator_names[:MOST_CELLS_IN_FINDING]
        yield _odd("more-voters", names, voters=votes.n_annotators, examples=len(data))
    pairs = np.unique(votes.annotators * votes.n_classes + votes.labels) // votes.n_classes
    different = np.bincount(pairs, minlength=votes.n_annotators)
    loose = np.flatnonzero((count >= SOME_EXAMPLES) & (different > 0.9 * count))
    if len(loose):
        names = tuple(votes.annotator_names[k] for k in loose)
        yield _odd("voter", names, option(names[0], "keep"))


def _leaks(data: PartialLabelDataset, _: ReadOptions) -> Iterator[Oddity]:
    y = data.y
    if y is None or len(data) < SOME_EXAMPLES or (y < 0).any() or len(np.unique(y)) < 2:
        return
    columns = {name: cells.tolist() for name, cells in data.categories.items()}
    numbers = {name: data.X[:, at] for at, name in enumerate(data.feature_names)} if data.X.ndim == 2 else {}
    few = [name for name, some in numbers.items() if len(np.unique(some[:MOST_NAMES_COMPARED])) < FEW_EXAMPLES]
    columns |= {name: numbers[name].tolist() for name in few}
    for name, cells in columns.items():
        kinds = {cell: k for k, cell in enumerate(dict.fromkeys(cells))}
        codes = np.array([kinds[cell] for cell in cells])
        pairs = len(np.unique(codes * (int(y.max()) + 1) + y))
        if pairs == len(kinds) == len(np.unique(y)):
            yield _odd("leak", [name], option(name, "keep"))


_WITH_PERSON = re.compile(r"(.*\d.*)[\W_]+([^\W\d_][^\W_]*)")
"""An id that ends in a word: `img12_AB`."""


def _two_names(data: PartialLabelDataset, _: ReadOptions) -> Iterator[Oddity]:
    """Ids that name the voter beside the example, so that no example has two answers."""
    votes = data.annotations
    if len(data) < FEW_EXAMPLES or (votes is not None and (votes.answers_per_row > 1).any()):
        return
    ids = data.row_ids.tolist()
    ends = [match for one in ids if (match := _WITH_PERSON.fullmatch(one))] if data.y is not None else []
    # a column of true labels is one answer each, perhaps
    parts = two_names(ids) if votes is not None else [(one[1], one[2]) for one in ends] if len(ends) == len(ids) else []
    firsts, lasts = ({part[at] for part in parts} for at in (0, 1))
    is_whole = len(firsts) * len(lasts) == len(data) and len(lasts) > 1
    few = 2 * len(firsts) <= len(data) and len(lasts) <= min(MOST_VOTERS_IN_IDS, len(firsts))
    if parts and few and (votes is not None or is_whole):
        yield _odd("two-names", ids[:MOST_CELLS_IN_FINDING])


def _words(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    """A voter of several classes that hardly anybody else uses: other names for the same, or another question."""
    votes = data.annotations
    if votes is None or votes.anonymous or options.class_names or votes.n_annotators < 2:
        return
    counts = np.zeros((votes.n_annotators, votes.n_classes), dtype=np.int64)
    np.add.at(counts, (votes.annotators, votes.labels), 1)
    users = (counts > 0).sum(axis=0)
    users[[name in options.keep for name in votes.class_names]] = 0  # a person has seen them
    alone = (counts * (users == 1)).sum(axis=1)
    said, kinds = counts.sum(axis=1), (counts > 0).sum(axis=1)
    for who in np.flatnonzero((said >= FEW_EXAMPLES) & (kinds > 1) & (alone > OWN_WORDS * said))[:1]:
        own = tuple(votes.class_names[k] for k in np.flatnonzero((counts[who] > 0) & (users == 1)))
        others = [name for name, n in zip(votes.class_names, users, strict=True) if n > 1] or ["CLASS"]
        yield _odd("own-words", own, f"--merge '{own[0]}={others[0]}'", voter=votes.annotator_names[who])


def _questions(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    """Answers to several questions in one column: their classes never meet, and another column says which it is."""
    sets, votes = data.candidates, data.annotations
    if votes is None or sets is None or options.class_names or data.n_classes < 4 or len(data) < SOME_EXAMPLES:
        return
    some = np.flatnonzero(sets.sizes < data.n_classes)  # where nobody answered, any label is possible
    own = sets.take(some)
    if not len(some):
        return
    size = len(some) + data.n_classes
    met = scipy.sparse.coo_array((np.ones(own.nnz), (own.rows, len(some) + own.indices)), shape=(size, size))
    n, group = scipy.sparse.csgraph.connected_components(met, directed=False)  # of examples and classes
    of_row, kind = group[: len(some)], group[len(some) :]
    if n < 2 or (np.bincount(kind, minlength=n) < 2).any():
        return
    columns = {name: cells[some].tolist() for name, cells in {**data.extras, **data.categories}.items()}
    columns |= {"the end of the ids": [one.rpartition(BETWEEN_ANSWERS)[2] for one in data.row_ids[some].tolist()]}
    for name, cells in columns.items():
        pairs = Counter(zip(map(str, cells), of_row.tolist(), strict=True))
        if len(pairs) == n == len({cell for cell, _ in pairs}) and min(pairs.values()) >= FEW_EXAMPLES:
            shown = tuple(f"{cell}: {data.class_names[int(np.flatnonzero(kind == k)[0])]} …" for cell, k in pairs)
            yield _odd("questions", shown, column=name)
            return


def _agreed(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    """True labels that stand just where all voters agree, and say the same: they are made of the answers."""
    votes, y = data.annotations, data.y
    if votes is None or y is None or votes.class_names != data.class_names or len(data) < SOME_EXAMPLES:
        return
    votes, y = votes.take(np.arange(min(len(data), MOST_EXAMPLES_COMPARED))), y[:MOST_EXAMPLES_COMPARED]
    given = np.zeros((len(y), data.n_classes), dtype=np.int64)
    np.add.at(given, (votes.rows, votes.labels), 1)
    agree = (given > 0).sum(axis=1) == 1
    apart, several = (given > 0).sum(axis=1) > 1, votes.answers_per_row > 1
    is_same = y == given.argmax(axis=1)
    if apart.sum() >= FEW_EXAMPLES and not (y[apart] >= 0).any() and (is_same & agree)[several & ~apart].all():
        yield _odd("agreed")


def _has_codebook(data: PartialLabelDataset) -> bool:
    return any(getattr(note, "kind", "") == CODEBOOK for note in data.notes)


def _spellings(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    """Classes that look like a more frequent one, and like no other: cut short, slips of the pen, other endings."""
    if options.class_names or not options.merge or len(data) < SOME_EXAMPLES or _has_codebook(data):
        return
    same = dict[str, str]()
    if votes := data.annotations:
        same = _same_names(votes.labels, votes.class_names, options)
    elif sets := data.candidates:  # what stands in one set together is not one label
        labels = sets.take(np.flatnonzero(sets.sizes == 1)).indices
        same = _same_names(labels.astype(np.int64), data.class_names, options)
        held = {name: sets.rows[sets.indices == data.class_names.index(name)] for pair in same.items() for name in pair}
        same = {name: to for name, to in same.items() if not len(np.intersect1d(held[name], held[to]))}
    if same:
        yield from _to_merge("spellings", same)


def _other_words(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    """Voters none of whose answers is called as any true label: codes, or short forms, of the same classes."""
    votes, y = data.annotations, data.y
    if votes is None or y is None or options.class_names or votes.class_names != data.class_names:
        return
    known = y[votes.rows] >= 0
    said, of_truth = votes.labels[known], y[votes.rows[known]]
    kinds, true = np.unique(said), np.unique(y[y >= 0])
    if len(said) < SOME_EXAMPLES or len(true) < 2 or len(np.intersect1d(kinds, true)):
        return
    names = data.class_names
    beside = {names[k]: names[np.bincount(of_truth[said == k]).argmax()] for k in kinds.tolist()}
    yield from _to_merge("other-words", beside if len({*beside.values()}) == len(beside) else {}, beside)


def _same_names(labels: npt.NDArray[np.int64], names: Sequence[str], options: ReadOptions) -> dict[str, str]:
    given = np.bincount(labels, minlength=len(names)).tolist()
    return same_as({name: n for name, n in zip(names, given, strict=True) if name not in options.keep})


def same_as(counts: Mapping[str, int]) -> dict[str, str]:
    """Return which classes look like a more frequent one in other letters, and like no other: the rarer → that one.

    Parameters
    ----------
    counts
        How often each class was given.

    Examples
    --------
    >>> same_as({"benign": 90, "malignant": 80, "B": 3, "maligne": 2, "bengin": 1})
    {'B': 'benign', 'maligne': 'malignant', 'bengin': 'benign'}
    >>> same_as({"fox": 50, "red fox": 40, "type 1": 9, "type 2": 1}), same_as({"Nice": 9, "Kritik": 9, "Krittik": 1})
    ({}, {'Krittik': 'Kritik'})
    >>> same_as({"mild": 50, "severe": 22, "sev.": 6}), same_as({"mild": 50, "severe": 22, "sev": 6})
    ({'sev.': 'severe'}, {})
    >>> same_as({"17e eeuw": 50, "18e eeuw": 40, "17de eeuw": 9}), same_as({"type 1a": 50, "type 1b": 20})
    ({'17de eeuw': '17e eeuw'}, {})
    >>> same_as({"true": 79, "mostly true": 3}), same_as({"Half true": 102, "True": 79, "Mostly true": 3})
    ({'mostly true': 'true'}, {})
    >>> same_as({"气虚": 98, "血瘀": 74, "气虚证": 8, "气滞": 9}), same_as({"日本": 50, "日本人": 40})
    ({'气虚证': '气虚'}, {})
    >>> same_as({"气虚": 98, "血瘀": 74, "气虚证": 30, "血瘀证": 5}), same_as({"气虚": 98, "血瘀": 74, "气虚证": 30})
    ({'气虚证': '气虚', '血瘀证': '血瘀'}, {})
    >>> same_as({"sandy loam": 70, "loam": 63, "sand": 48, "loamy sand": 38})
    {}
    >>> same_as({"chalcopyrite": 9, "calcite": 2}), same_as({"building": 9, "bldg": 2})
    ({}, {'bldg': 'building'})
    """
    same = dict[str, str]()
    names = sorted(counts, key=lambda name: -counts[name]) if len(counts) <= MOST_NAMES_COMPARED else []
    parts = {bare(word) for name in names if len(words := name.split()) > 1 for word in words}
    for _ in range(3):  # since only then it is known which are other names of one that is itself another's
        found = dict[str, tuple[int, str]]()
        for name in names:
            rivals = (other for other in counts if name not in (other, same.get(other), *found.get(other, ())))
            kinds = {other: _likeness(name, other) for other in rivals}
            if bare(name) in parts:  # `sand` of `loamy sand` is a word, and not `sandy loam` cut short
                kinds = {other: kind for other, kind in kinds.items() if kind != _CUT}
            kinds = {o: kind for o, kind in kinds.items() if counts[o] * (1 + (kind == _CUT)) > counts[name]}
            best = min(filter(None, kinds.values()), default=0)
            alike = {same.get(other, other) for other, kind in kinds.items() if kind == best > 0}
            if len(alike) == 1 and name not in alike:
                found[name] = (best, min(alike))
        habits = Counter(kind for kind, _ in {*found.values()})  # several classes are cut short: that is a habit
        added = {name: name[len(to) :] for name, (kind, to) in found.items() if kind == _ENDING and name.startswith(to)}
        endings = Counter(added.values())  # and so is one ending of several
        times = {name: _TIMES[_SLIP if endings[added.get(name, "")] > 1 else kind] for name, (kind, _) in found.items()}
        same = {
            name: to
            for name, (kind, to) in found.items()
            if (kind == _CUT and (habits[kind] > 1 or name.endswith("."))) or counts[to] >= times[name] * counts[name]
            if kind != _LAST or not _has_kinds(to, counts)
        }
    return {name: same[name] for name in counts if name in same}


def _has_kinds(name: str, counts: Mapping[str, int]) -> bool:
    """Whether a class that is not rare is this one with a word more, as `half true` is: then each of these is one."""
    return any(_likeness(other, name) == _LAST and counts[name] < RARE * counts[other] for other in counts)


_BARE, _CUT, _SLIP, _ENDING, _LAST, _LETTERS = range(1, 7)
_TIMES = {_BARE: 1, _CUT: RARE, _SLIP: 2, _ENDING: 5, _LAST: RARE, _LETTERS: 2}
"""How alike two names are, the likeliest to be one first, and how many times the other one is as frequent at least."""
MOST_NAMES_COMPARED = 200


@lru_cache(2 * MOST_NAMES_COMPARED**2)
def _likeness(name: str, other: str) -> int:
    """Return how a name is another one: in the same letters, cut short, with a slip …; 0 where it is not."""
    one, longer = bare(name), bare(other)
    own, words = ([bare(word) for word in re.split(r"[\s_.]+", text) if bare(word)] for text in (name, other))
    if is_number(name) or is_number(other) or re.sub(r"\D", "", one) != re.sub(r"\D", "", longer):
        return 0
    if one == longer:
        return _BARE
    shared = sum(longer.startswith(one[:end]) for end in range(1, len(one) + 1))
    is_word = one.isalpha() and longer.isalpha() and len(one) < len(longer)
    slips = [pair for pair in zip(own, words, strict=False) if pair[0] != pair[1]]
    if any(all(map(_ROMAN.fullmatch, pair)) for pair in slips):
        return 0  # centuries, stages, types
    is_cut = is_word and any(word.startswith(one) for word in (longer, *words)) and one not in words
    begun = [a.startswith(b) or b.startswith(a) for a, b in zip(own, words, strict=False)]
    by_word = len(own) == len(words) > 1 and all(begun)
    is_ended = _ends_alike(*sorted((name, other), key=len))
    tests = {
        _CUT: (is_cut and not is_ended) or by_word,
        _SLIP: len(own) == len(words) and len(slips) == 1 and _is_slip(*slips[0]),
        _ENDING: is_ended
        or (shared >= max(LEAST_LETTERS_ALIKE, len(one) - 2, len(longer) - 3) and len(own) == len(words)),
        _LAST: own[-1:] == [longer] or words[-1:] == [one],
        _LETTERS: is_word and 1 < len(one) <= len(longer) / 2 and one[0] == longer[0] and _stands_in(one, longer),
    }
    return next((kind for kind, is_so in tests.items() if is_so), 0)


_ROMAN = re.compile(r"x{0,3}(?:i[xv]|v?i{1,3}|v)|x{1,3}")


def _ends_alike(short: str, long: str) -> bool:
    """Whether a name is another with one letter more at its end, in a writing where two letters are a word."""
    is_so_written = long.isalpha() and min(map(ord, long)) > FIRST_WITHOUT_SPACES
    return is_so_written and len(short) > 1 and long[:-1] == short


@lru_cache(10_000)  # each name is compared with every other one
def bare(name: str) -> str:
    """Return the letters and digits of a name, without accents.

    Examples
    --------
    >>> bare("A. citrina"), bare("Énvío."), bare("C#")
    ('acitrina', 'envio', 'c#')
    """
    plain = "".join(one for one in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(one))
    return re.sub(r"(?<=\w)(?:[\s.,'’_-]+(?=\w)|\.$|_)", "", plain)


def _is_slip(one: str, other: str) -> bool:
    """Whether two words differ in one letter: another, one more, one less, or two that changed places.

    Ordinals are written in several ways: `17e`, `17de`; `2e`, `2ème`.
    """
    short, long = sorted((one, other), key=len)
    if short[0].isdigit() and short[0] + short[-1] == long[0] + long[-1]:
        return _stands_in(short, long)
    if len(short) <= LEAST_LETTERS_ALIKE or one[0] != other[0]:
        return False
    at = next((k for k, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    is_swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return is_swapped or short[at + 1 :] == long[at + 1 :]


def _stands_in(one: str, other: str) -> bool:
    """Whether the letters of a word come one after the other in another."""
    letters = iter(other)
    return all(letter in letters for letter in one)


MOST_EXAMPLES_COMPARED = 2000
"""Examples, at most, of which that is looked at."""
MOST_ANSWERS_COMPARED = 5_000_000
"""Answers times classes that are compared, at most."""
LEAST_ANSWERS_SHARED = 30
"""Answers beside those of others from which it is told how far a voter agrees with them."""
BELOW_CHANCE = -3.0
"""Standard deviations below what chance gives, from which that is odd."""
BY_CODES = 0.5
"""Share of the answers that agree once other codes are read as these, from which they are."""


@dataclass(frozen=True)
class _Beside:
    """Answers of one label each beside those of others to the same example, of the first examples.

    Attributes
    ----------
    voters, labels
        (m,) who gave each, and which.
    shares
        (m, c) how the answers of the others are spread.
    """

    voters: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    shares: npt.NDArray[np.float64]

    @classmethod
    def of(cls, votes: Annotations) -> _Beside:
        """Compare answers, of as many examples as their number and that of the classes allow."""
        most = max(MOST_ANSWERS_COMPARED * len(votes) // (len(votes.rows) * votes.n_classes + 1), 1)
        most = min(len(votes), MOST_EXAMPLES_COMPARED, most)
        first = votes.rows < most
        given = np.zeros((most, votes.n_classes))
        np.add.at(given, (votes.rows[first], votes.labels[first]), 1)
        alone = first & np.repeat(votes.answer_sizes == 1, votes.answer_sizes)
        voters, labels, others = votes.annotators[alone], votes.labels[alone], given[votes.rows[alone]]
        others[np.arange(len(labels)), labels] -= 1
        shared = others.sum(axis=1) > 0
        return cls(voters[shared], labels[shared], _as_shares(others[shared]))

    def merged(self, into: Sequence[int]) -> _Beside:
        """The same where some classes are others; `into` has for each class which it is."""
        shares = np.zeros_like(self.shares)
        np.add.at(shares.T, into, self.shares.T)
        return _Beside(self.voters, np.asarray(into)[self.labels], shares)


def _as_shares(amounts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    shares: npt.NDArray[np.float64] = amounts / amounts.sum(axis=1, keepdims=True)
    return shares


def _disagreement(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    """A voter who agrees with the others less than by chance: other codes for the same, or rows that are shifted."""
    votes = data.annotations
    if votes is None or votes.anonymous or options.class_names or votes.n_annotators < 2 or votes.n_classes < 2:
        return
    beside, names = _Beside.of(votes), votes.class_names
    for who, name in enumerate(votes.annotator_names):
        own = beside.voters == who
        labels, shares = beside.labels[own], beside.shares[own]
        if len(labels) < LEAST_ANSWERS_SHARED:
            continue
        usual = np.bincount(labels, minlength=votes.n_classes) / len(labels)
        chance = shares @ usual
        agreed = shares[np.arange(len(labels)), labels]
        spread = np.sqrt(max(float((chance * (1 - chance)).sum()), 1e-9))
        codes = _other_codes(labels, shares)
        by_codes = shares[np.arange(len(labels)), [codes.get(k, k) for k in labels.tolist()]]
        below, above = (float((said - chance).sum()) / spread for said in (agreed, by_codes))
        are_codes = by_codes.mean() > BY_CODES and above > -BELOW_CHANCE  # of two, the other agrees where one does not
        if below < BELOW_CHANCE or (are_codes and below < 0):
            shown = [f"{names[k]} where the others say {names[other]}" for k, other in codes.items() if k != other]
            facts = {"voter": name, "agreed": agreed.mean(), "chance": chance.mean()}
            yield _odd("disagreement", shown if are_codes else [name], option(name, "keep"), **facts)
            return
    yield from _by_chance(beside, names, votes.n_answers / max(len(np.unique(votes.rows)), 1))
    yield from _apart(votes)


def _by_chance(beside: _Beside, names: Sequence[str], each: float) -> Iterator[Oddity]:
    """Answers that agree hardly more than by chance, with enough of them to tell: perhaps of the wrong column.

    Of many to each example, every one may be poor: what counts is how reliable they are together (Spearman & Brown).
    """
    n = len(beside.labels)
    if n < LEAST_ANSWERS_OF_ALL:
        return
    by_chance = beside.shares @ (np.bincount(beside.labels, minlength=len(names)) / n)
    agreed, chance = float(beside.shares[np.arange(n), beside.labels].mean()), float(by_chance.mean())
    spread = float(np.sqrt((by_chance * (1 - by_chance)).sum())) / n
    most = (agreed - chance + 2 * spread) / max(1 - chance, 1e-9)  # the upper end of Cohen's κ
    if each * most < HARDLY * (1 + (each - 1) * most):
        yield _odd("chance", names[:MOST_CELLS_IN_FINDING], agreed=agreed, chance=chance)


LEAST_ANSWERS_OF_ALL = 100
"""Answers beside those of others from which it is told how far all of them agree."""
HARDLY = 0.25
"""Reliability of all answers to an example, from which they may be to one question: of three, where κ is .1."""


def _apart(votes: Annotations) -> Iterator[Oddity]:
    """Voters who name several labels, of whom hardly two name one label of an example, as by chance many would.

    Each column is a class then, whose cells say what or who is in it.
    """
    if votes.n_annotators > MOST_VOTERS_IN_IDS or len(votes.labels) == votes.n_answers:
        return
    first = votes.rows < MOST_EXAMPLES_COMPARED
    rows, who, labels = votes.rows[first], votes.annotators[first], votes.labels[first]
    given = np.zeros((votes.n_annotators, votes.n_classes))
    np.add.at(given, (who, labels), 1)
    answered = scipy.sparse.csr_array((np.ones(len(rows)), (who, rows)), shape=(votes.n_annotators, len(votes))) > 0
    count, both = answered.sum(axis=1), (answered.astype(np.int64) @ answered.T.astype(np.int64)).toarray()
    shares = given / np.maximum(count, 1)[:, None]
    chance = (both * (shares @ shares.T))[np.triu_indices(len(count), 1)].sum()
    same = len(rows) - len(np.unique(rows * votes.n_classes + labels))
    if chance >= FEW_EXAMPLES and same <= NEVER * chance:
        yield _odd("apart", votes.annotator_names, option(votes.annotator_names[0], "keep"))


NEVER = 0.1
"""Share of the labels that two would name by chance, up to which that is odd."""


def _other_codes(labels: npt.NDArray[np.int64], shares: npt.NDArray[np.float64]) -> dict[int, int]:
    """What the others mostly say where a voter says each class, if another for each; else nothing."""
    codes = {k: int(shares[labels == k].sum(axis=0).argmax()) for k in sorted(set(labels.tolist()))}
    return codes if len({*codes.values()}) == len(codes) else {}


def _no_answer(data: PartialLabelDataset, options: ReadOptions) -> Iterator[Oddity]:
    """A class that says nothing of the example, in whatever language: perhaps that there is no answer.

    It is rarer than the others, and it is likelier that others say beside it what they say anywhere than that it is an
    answer: as many times likelier as there are others, where its name does not tell.
    """
    votes = data.annotations
    if votes is None or options.class_names or len(data) < SOME_EXAMPLES:
        return
    if not 3 <= votes.n_classes <= MOST_NAMES_COMPARED:
        return
    same, names = _same_names(votes.labels, votes.class_names, options), votes.class_names
    beside = _Beside.of(votes).merged([names.index(same.get(name, name)) for name in names])
    times = np.bincount(beside.labels, minlength=len(names))
    kinds = [name for name in names if name not in same]
    true = Counter[str]() if data.y is None else Counter(data.class_names[k] for k in data.y[data.y >= 0].tolist())
    seen = {*true, *options.keep}
    # on a scale, where what stands apart is asked about as such; or between two that are compared
    seen.update(name for name in names if is_number(name) or says("tie", name))
    found = list[str]()
    for k in np.flatnonzero(times).tolist():
        is_other = _is_other(names[k], kinds)
        if times[k] * len(kinds) * (1 if is_other else 2) >= times.sum():  # that there is none is not what most say
            continue
        least, repeated = (1, UNCLEAR) if is_other else (len(kinds) - 1, 0.0)  # before looking, it may be any of them
        if names[k] not in seen and odds_of_nothing(beside.shares, beside.labels, k, repeated) >= least:
            found.append(names[k])
    yield from _to_drop("no-answer", found)
    unsaid = sorted(true.keys() - {names[k] for k in np.unique(votes.labels).tolist()})
    unsaid = [name for name in unsaid if name not in options.keep]
    unsaid = [name for name in unsaid if _is_other(name, names) or true[name] >= FEW_EXAMPLES]
    if len(unsaid) == 1 < len(true) - 1:
        yield from _to_drop("unsaid", unsaid)


UNCLEAR = 0.25
"""How far others say it too, where its name tells: of some examples it is clear to all that there is no answer."""
LEAST_USUAL = 0.2
"""Kappa of the other classes from which it is told."""
LIKE_OTHERS, LIKE_NOTHING = 0.7, 0.1
"""How much an answer tells of what others say, and how much what is none; 1 is as the other classes do."""
SAID_AGAIN = 1.3
"""Standard deviations beyond chance from which others say a class too: nine in ten do not by chance."""


def odds_of_nothing(
    beside: npt.NDArray[np.float64], labels: npt.NDArray[np.int64], k: int, repeated: float = 0.0
) -> float:
    """Return how many times likelier it is that a class says nothing of the example than that it is an answer.

    Two kinds of answers are there, of which the likelier counts: one that others say too, if half as often beyond
    chance as they do of the other classes; and one that nobody repeats, since it is taken for others. What others say
    beside it is drawn around what they say anywhere (a Dirichlet-multinomial distribution): nearly as far from it as
    beside the other classes (Goodman and Kruskal's tau), or a tenth as far, where it says nothing.

    Parameters
    ----------
    beside
        (m, c) how the answers of others to the same example are spread, for each answer.
    labels
        (m,) the answers.
    k
        Which class.
    repeated
        How far others may say it too though it says nothing; 1 is as they do of the other classes, beyond chance.

    Examples
    --------
    >>> pairs = [(0, 0)] * 40 + [(1, 1)] * 40 + [(2, 0), (0, 2), (2, 1), (1, 2)] * 9
    >>> beside, labels = np.eye(3)[[other for _, other in pairs]], np.array([own for own, _ in pairs])
    >>> odds_of_nothing(beside, labels, 2) > 2, odds_of_nothing(beside, labels, 1) < 1
    (True, True)
    """
    said = np.zeros((beside.shape[1], beside.shape[1]))  # how much others say each class beside each
    np.add.at(said, labels, beside)
    times, own = said.sum(axis=1), said[k, k]
    rest = np.flatnonzero((times > 0) & (np.arange(len(said)) != k))
    usual = _as_shares(said[rest].sum(axis=0, keepdims=True) + 1 / len(said))[0]
    kappas = (said[rest, rest] / times[rest] - usual[rest]) / (1 - usual[rest])
    kappa = float((kappas * times[rest]).sum() / times[rest].sum())
    chance = float(np.clip(beside[:, k].mean(), 1e-9, 1))
    spread = math.sqrt(2 * times[k] * beside[:, k].var() + 1e-9)  # two who say the same are two such answers
    most = chance + repeated * kappa * (1 - chance)
    if kappa < LEAST_USUAL or own - 1 - times[k] * most > SAID_AGAIN * spread:
        return 0.0
    too, none = chance + kappa / 2 * (1 - chance), float(np.clip(own / times[k], 1e-9, most))
    as_others = own * math.log(none / too) + (times[k] - own) * math.log((1 - none) / (1 - too))

    others = np.delete(said, k, axis=1)
    taken, others = others[k], others[rest][others[rest].sum(axis=1) > 0]
    weights = others.sum(axis=1)
    usual = _as_shares(others.sum(axis=0, keepdims=True) + 1 / len(said))[0]
    apart = ((_as_shares(others) - usual) ** 2).sum(axis=1) / (1 - (usual**2).sum())
    tau = float(np.clip((weights @ apart - len(weights) + 1) / weights.sum(), 1e-4, 0.95))
    as_taken = _drawn_around(taken, usual, LIKE_NOTHING**2 * tau) - _drawn_around(taken, usual, LIKE_OTHERS**2 * tau)
    return math.exp(min(as_others, as_taken, 700.0))  # of more there is no float


def _drawn_around(counts: npt.NDArray[np.float64], shares: npt.NDArray[np.float64], apart: float) -> float:
    """Return the log-likelihood of counts of a Dirichlet-multinomial distribution of this correlation."""
    weights = (1 - apart) / apart * shares
    each = sum(math.lgamma(a + n) - math.lgamma(a) for a, n in zip(weights.tolist(), counts.tolist(), strict=True))
    return each + math.lgamma(weights.sum()) - math.lgamma(weights.sum() + counts.sum())


def _is_other(name: str, names: Sequence[str]) -> bool:
    """Whether a class begins with a negation, or is written otherwise than most: in words, marks or digits as they not.

    Examples
    --------
    >>> [_is_other(name, ("cat", "dog", "hen", name)) for name in ("not clear", "nejasný", "kA.", "nem látszik", "fox")]
    [True, False, True, True, False]
    >>> [_is_other(name, ("GG1", "GG2", "GG3", name)) for name in ("defer", "GG4")]
    [True, False]
    """

    def shape(one: str) -> tuple[bool, bool, bool]:
        is_marked = any(not (letter.isalnum() or letter.isspace()) for letter in one)
        return len(one.split()) > 1, is_marked, any(map(str.isdigit, one))

    alike = sum(shape(other) == shape(name) for other in names if other != name)
    plain = spelling(name)
    first = {plain.partition(" ")[0], *(plain[:end] for end in (1, 2) if ord(plain[0]) > FIRST_WITHOUT_SPACES)}
    is_alone = 3 * alike < len(names) and not is_number(name)
    return is_alone or not WORDS["negation"].isdisjoint(first)


def _copies(data: PartialLabelDataset, _: ReadOptions) -> Iterator[Oddity]:
    """Two voters who say the same everywhere, which as often as others agree they would not: one column twice."""
    votes = data.annotations
    if votes is None or votes.anonymous or len(data) < SOME_EXAMPLES:
        return
    if not 3 <= votes.n_annotators <= MOST_VOTERS_IN_IDS:
        return
    votes = votes.take(np.arange(min(len(data), MOST_EXAMPLES_COMPARED)))
    pairs = pairs_in(votes)
    count = np.bincount(votes.annotators[votes.answer_starts], minlength=votes.n_annotators)
    shares = [1 - pair.apart for pair in pairs]
    alike = Counter(who for pair in pairs if not pair.differing for who in (pair.first, pair.second))
    usual = max((share for share in shares if share < 1), default=0.0)
    if max(alike.values(), default=0) != 1:  # three who agree may be those who know, and the others guess
        usual = max(usual, ALL_ALIKE)
    copies = set[int]()
    for pair in pairs:
        if pair.second in copies:
            continue
        is_whole = pair.rows == count[pair.first] == count[pair.second]  # a copy has the same gaps
        if is_whole and not pair.differing and pair.rows >= SOME_EXAMPLES and usual**pair.rows < COPY:
            copies.add(pair.second)
            names = (votes.annotator_names[pair.first], votes.annotator_names[pair.second])
            yield _odd("copies", names, option(names[1], "keep"), rows=pair.rows)


ALL_ALIKE = 0.97
"""How often two voters who are asked apart say the same of what is easy, where all say the same everywhere."""
COPY = 1e-6
"""By which chance two voters who agree as the likest of the others do would say the same everywhere."""

_INSTRUCTION = re.compile(any_of("instruction"), re.IGNORECASE)


def _attention(data: PartialLabelDataset, _: ReadOptions) -> Iterator[Oddity]:
    """An example that says what to answer, as nearly everybody did: to see who reads, and nothing to learn from."""
    votes = data.annotations
    if votes is None or not FEW_EXAMPLES <= len(data) <= MOST_EXAMPLES_COMPARED:
        return
    texts = [str(one) for one in (data.row_ids if data.texts is None else data.texts).tolist()]
    told = [row for row, text in enumerate(texts) if len(text) < MOST_TOLD and _INSTRUCTION.search(text)]
    if not told or len(told) > FEW_TOLD * len(data):
        return
    given = np.zeros((len(data), votes.n_classes))
    np.add.at(given, (votes.rows, votes.labels), 1)
    for row in told:
        said = texts[row].casefold()
        named = [k for k, name in enumerate(votes.class_names) if len(name) > 1 and name.casefold() in said]
        if len(named) == 1 and given[row, named[0]] >= max(3, TOLD * given[row].sum()):
            yield _odd("attention-check", [texts[row]])


MOST_TOLD, TOLD, FEW_TOLD = 400, 0.8, 0.1
"""Letters of an example that says what to answer; the share of the answers that are so; and of such examples."""


def _swapped(data: PartialLabelDataset, _: ReadOptions) -> Iterator[Oddity]:
    """Two things compared in both orders: the same side is then not the same thing."""
    for note in notes_of(data.notes, SWAPPED):
        yield _odd("swapped", said=str(note).rstrip("."))


def _total(data: PartialLabelDataset, _: ReadOptions) -> Iterator[Oddity]:
    fields = [data.row_ids, *data.extras.values(), *data.categories.values()]
    last = [(str(cells[-1]), cells[:-1].tolist()) for cells in fields if len(cells) > FEW_EXAMPLES and cells[-1]]
    if found := [cell for cell, others in last if begins_as_total(cell) and cell not in others]:
        yield _odd("total-row", found[:1])


CHECKS: tuple[Check, ...] = (
    _one_example,
    _total,
    _classes,
    _summary,
    _names,
    _marks,
    _sets,
    _ranks,
    _voters,
    _two_names,
    _words,
    _questions,
    _agreed,
    _spellings,
    _other_words,
    _disagreement,
    _no_answer,
    _copies,
    _attention,
    _swapped,
    _leaks,
)
"""What is looked at."""
