"""Fields that hold objects become columns, as the signature of a table says: fields of fields, and lists of answers.

A path is keys with points between them; `*` is every item of a list, or every value of an object.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pyarrow as pa

from pll.errors import Note, RowError
from pll.formats.crosses import answers_of as cross_answers
from pll.formats.crosses import beside, cross_in, note_on
from pll.formats.forms import USUAL, Form, Gather, fits, plain_name
from pll.formats.listed_objects import answers_of, fields_in, questions_of, reading_of, state_against
from pll.formats.names import NAMED, NUMBERED, check_number
from pll.formats.records import Records, json_column, text_of, value_of, values_in
from pll.formats.tabular.answer_cells import objects_in, share_lists
from pll.formats.tabular.cells import (
    BINARY,
    WORDS,
    Cells,
    are_lists_of_numbers,
    elements,
    nearly_all,
    numbers_in,
)


def unfolded(table: Records, given: Collection[str] = ()) -> Records:
    """Return a table with the columns that its signature finds inside of its columns.

    An object of fields (`flatten`) is replaced by its fields, unless the table has one of that name, and columns of
    marks (`join`) by the one that they are; beside a column of answers (`gather`) stand the answers to each question,
    with who gave them. Without a signature, lists of objects become answers where their fields tell who and what, and
    columns of a voter and a class each (`pll.formats.crosses`) a column of answers a voter.

    Parameters
    ----------
    table
        As a reader made it.
    given
        Columns to which a person gave a role: they stay.
    """
    check_number(table.names)
    table = table if table.first else replace(table, first=table.sample())  # looked at often
    table = _with_lists_read(table if table.form else _with_crosses_read(_with_shares_named(table), given))
    form, names = table.form or _NO_FORM, list(table.names)
    patterns = {name: next((p for p in form.flatten if fits(name, p.rstrip("."))), "") for name in names}
    is_labelled = form is not _NO_FORM or any(
        plain_name(n) in USUAL[r] for n in names for r in ("answers", "people", "vote")
    )
    patterns |= {
        n: n
        for n, cells in zip(names, table.first, strict=True)
        if not patterns[n] and not is_labelled and _holds_people(cells)
    }
    flat = [name for name in names if patterns[name]]
    marked = {n: n.rpartition(".")[::2] for n in names if any(fits(n, pattern) for pattern in form.join)}
    marks = list(marked)
    tops = {path.partition(".")[0] for path in form.gather.each} if form.gather else set()
    asked = [name for name in names if name in tops]
    about, fill = ([name for name in some if name in names] for some in (form.questions, form.fill))
    at = sorted(names.index(name) for name in {*flat, *asked, *marks, *about, *fill})
    rows, answers, whole = list[dict[str, Any]](), list[dict[str, Any]](), set[str]()
    for batch in table.batches(at) if at else ():
        for values in zip(*map(values_in, batch.columns), strict=True):
            record = {names[k]: value for k, value in zip(at, values, strict=True)}
            rows.append(_joined({marked[name]: record[name] for name in marks}))
            for name in flat:
                fields = _fields(record[name])
                whole |= {name} if fields is None else set()
                prefix = f"{name}." if patterns[name].endswith(".") else name[: name.rfind(".") + 1]
                rows[-1] |= {prefix + key: value for key, value in (fields or {}).items()}
            if len(about) == 2 and record[about[0]]:
                rows[-1] |= {f"{about[1]}: {record[about[0]]}": record[about[1]]}
            if len(fill) == 2:
                rows[-1] |= {" or ".join(fill): record[fill[0]] or record[fill[1]]}
            answers.append(_answers(record, form.gather) if form.gather and asked else {})
    questions = list(dict.fromkeys(name for row in answers for name in row))
    new = {name: [row.get(name) for row in rows] for row in rows for name in row if name not in names}
    new |= {name: [row.get(name) for row in answers] for name in questions}
    if not new:
        return table
    gone = {*flat, *marks, *about[1:]} - whole
    stays = [k for k, name in enumerate(names) if name not in gone]
    arrays = {name: json_column(values) for name, values in new.items()}
    return _beside(table, stays, arrays, None if form is _NO_FORM else form.having(dict.fromkeys(questions, "answers")))


_NO_FORM = Form("", "", (), "example", ())


def _holds_people(column: Sequence[str | None]) -> bool:
    """Whether the cells of a column are objects with a field for each of several people: `{"rater_A": "cat", …}`."""
    cells = [cell for cell in column if cell]
    if not any(cells) or not nearly_all(lambda cell: cell.lstrip().startswith("{"), cells):
        return False
    fields = [set(value) for cell in cells if isinstance(value := value_of(cell), dict)]
    people = {key for key in set().union(*fields) if NAMED.fullmatch(key) or NUMBERED.fullmatch(key)}
    return len(people) > 1 and 2 * sum(len(people & some) > 1 for some in fields) > len(cells)


_WITH_NAMES = re.compile(r".*[\[({](?P<names>[^][(){}]+)[\])}]\s*", re.DOTALL)
"""A header that says which number of a list is of which class: `soft label [good, bad]`."""


def _with_shares_named(table: Records) -> Records:
    """The table with its lists of shares as objects, where the header or the file says which number is of which class.

    Where nobody says so, they are carried along and never learnt from, which is said.
    """
    sample = table.first
    for name, cells in zip(table.names, sample, strict=True):
        width = share_lists(name, cells)
        if not width:
            continue
        beside = _labels_beside(table, sample, name, width)
        if beside is not None:
            pairs = _lists_of(table, beside), _lists_of(table, list(table.names).index(name))
            objects = [
                dict(zip(a, map(float, b), strict=True)) if len(a) == len(b) else None
                for a, b in zip(*pairs, strict=True)
            ]
            stays = [k for k, one in enumerate(table.names) if one != name and k != beside]
            return _with_shares_named(_beside(table, stays, {table.names[beside]: json_column(objects)}, table.form))
        match = _WITH_NAMES.fullmatch(name)
        classes = (
            [one.strip(" '\"") for one in re.split(r"[,;/|]", match["names"])] if match else list(table.class_names)
        )
        if len(set(classes)) != width:
            text = (
                f"{name} holds {width} shares a row, and nothing says of which classes: it is not used. To use it, "
                f"write them into its heading, in their order, as in {name} [a, b, c]."
            )
            table = replace(table, roles={name: "keep", **table.roles}, notes=(*table.notes, Note(text, kind="labels")))
            continue
        at = list(table.names).index(name)
        lists = [numbers_in(cell) if cell else None for cell in _texts_of(table, at)]
        named: list[Any] = [dict(zip(classes, one, strict=True)) if one and len(one) == width else one for one in lists]
        stays = [k for k in range(len(table.names)) if k != at]
        table = _beside(table, stays, {name: json_column(named)}, table.form)
    return table


def _labels_beside(table: Records, sample: Sequence[Cells], name: str, width: int) -> int | None:
    """Return the column whose lists have a label for each share of another one: `labels` beside `scores`."""
    for at, cells in enumerate(sample):
        lists = [elements(cell) for cell in cells if cell and cell.lstrip()[:1] == "["]
        if table.names[at] != name and lists and all(len(one) == len(set(map(str, one))) == width for one in lists):
            return None if are_lists_of_numbers(cells) else at
    return None


def _lists_of(table: Records, at: int) -> list[list[Any]]:
    return [list(elements(cell)) for cell in _texts_of(table, at)]


def _texts_of(table: Records, at: int) -> Iterator[str | None]:
    """Yield the cells of a column as text."""
    for batch in table.batches([at]):
        yield from text_of(batch.column(0)).to_pylist()


def _with_crosses_read(table: Records, given: Collection[str]) -> Records:
    """The table with one column a voter instead of one for each class; not where a person said what these are."""
    names = [name.strip() for name in table.names]
    cross = cross_in(names, table.first)
    used = [name for classes in cross.values() for name in classes.values()]
    if not cross or not {*used}.isdisjoint(given):
        return table
    at = sorted(map(names.index, used))
    parts = [list(map(text_of, batch.columns)) for batch in table.batches(at)]
    cells = {names[k]: [cell for part in parts for cell in part[j].to_pylist()] for j, k in enumerate(at)}
    new = {
        voter: pa.array(cross_answers(classes, [cells[name] for name in classes.values()]), pa.string())
        for voter, classes in cross.items()
    }
    stays = [k for k, name in enumerate(names) if name not in cells and name not in new]
    made = _beside(table, stays, new, None)
    roles = dict.fromkeys(beside(names, cross), "keep") | dict(table.roles)
    return replace(made, roles=roles, notes=(*table.notes, note_on(cross)))


def _with_lists_read(table: Records) -> Records:
    """The table with its lists of objects as answers; where several fields fit, as a column each, to be asked about."""
    sample = table.first
    some = [k for k, cells in enumerate(sample) if any(cells) and nearly_all(_holds_objects, cells)]
    named = [table.names[k] for k in some if objects_in(table.names[k], sample[k])[0] == "voters"]
    form = table.form or _NO_FORM
    of_form = {path.partition(".")[0] for path in form.gather.each} if form.gather else set()
    lists = [table.names[k] for k in some if not form.role_of(table.names[k]) and table.names[k] not in of_form]
    for name in lists:
        at = table.names.index(name)  # earlier ones have moved to the end
        values = [value or [] for batch in table.batches([at]) for value in values_in(batch.column(0))]
        rows = [row for value in values if (row := fields_in(value)) is not None]
        if len(rows) < len(values):
            continue
        against = [[state_against(one) for one in row] for row in rows]
        states = Counter(state for row in against for state in row if state)
        known = [[one for one, out in zip(*pair, strict=True) if not out] for pair in zip(rows, against, strict=True)]
        if name in named:  # they say themselves who and what
            stay = [[x for x, out in zip(*pair, strict=True) if not out] for pair in zip(values, against, strict=True)]
            table = _without(table, at, {name: json_column(stay)}, states) if states else table
            continue
        found = reading_of([row for row in known if row])
        asked = None if found else questions_of([row for row in known if row])
        if asked is not None:
            every = [{str(one[asked[0]]): one.get(asked[1]) for one in row if asked[0] in one} for row in known]
            titles = dict.fromkeys(title for row in every for title in row)
            new = {
                title: json_column([row.get(title) for row in every]) for title in titles if title not in table.names
            }
        elif found is not None:
            pairs = [(who, what) for what in found.what for who in found.who]
            new = {
                f"{name}: {what} of {who}" if len(pairs) > 1 else name: json_column(
                    [answers_of(r, who, what) for r in known]
                )
                for who, what in pairs
            }
        else:
            continue
        table = _without(table, at, new, states)
    return table


def _without(table: Records, at: int, new: Mapping[str, pa.Array], states: Mapping[str, int]) -> Records:
    """The table with new columns for one of lists, and a note on the answers that did not count, by their states."""
    if states:
        said = ", ".join(f"{state} ({n:,})" for state, n in states.items())
        note = Note(f"Answers in {table.names[at]} that do not count, by their state: {said}.", kind="states")
        table = replace(table, notes=(*table.notes, note))
    return _beside(table, [k for k in range(len(table.names)) if k != at], new, table.form)


def _holds_objects(cell: str) -> bool:
    return cell.lstrip()[:1] == "[" and cell[1:].lstrip()[:1] == "{"


def _beside(table: Records, stays: Sequence[int], new: Mapping[str, pa.Array], form: Form | None) -> Records:
    """Some columns of a table, and new ones beside them."""

    def batches(used: Sequence[int]) -> Iterator[pa.RecordBatch]:
        old, others = [stays[k] for k in used if k < len(stays)], [k - len(stays) for k in used if k >= len(stays)]
        columns, start = list(new.values()), 0
        for batch in table.batches(old or [0]):
            arrays = [*(batch.columns if old else ()), *(columns[k].slice(start, len(batch)) for k in others)]
            start += len(batch)
            yield pa.RecordBatch.from_arrays(arrays, [str(k) for k in used])

    first = [table.first[k] for k in stays] if any(table.first) else []
    if first:
        length = len(first[0])
        first += [text_of(column.slice(0, length)).to_pylist() for column in new.values()]
    return replace(table, names=[*(table.names[k] for k in stays), *new], batches=batches, first=first, signature=form)


def _answers(record: Mapping[str, Any], gather: Gather) -> dict[str, list[dict[str, Any]]]:
    """The answers in a record by question, each an object of who gave it and its label."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in said_in(record, gather, {}):
        if one.labels and one.question:
            label = one.labels[0] if len(one.labels) == 1 else one.labels
            found.setdefault(one.question, []).append({"annotator": one.who, "label": label})
    return found


def _fields(value: Any) -> Mapping[str, Any] | None:
    """The fields of an object, or of a list of objects, as one; none of a missing value; None of anything else."""
    objects = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(one, dict) for one in objects):
        return None
    return {key: inner for one in objects for key, inner in one.items()}


def _joined(marks: Mapping[tuple[str, str], Any]) -> dict[str, str | list[str] | None]:
    """What columns of marks say, by person and class; who answered twice may mark two."""
    said: dict[str, list[str]] = {}
    for (stem, label), cell in marks.items():
        ones = any((BINARY | WORDS).get(one.strip().casefold()) for one in str(cell).split(","))
        said.setdefault(stem, []).extend([label] * ones)
    return {stem: labels if len(labels) > 1 else next(iter(labels), None) for stem, labels in said.items()}


@dataclass(slots=True)
class Said:
    """What one person, or one model, answered to one question.

    Attributes
    ----------
    question
        Its name; "" where there is one question without.
    who
        Name of the person; None where nobody is named.
    labels
        What was said; None where it is no label.
    is_true
        Whether it is the true label.
    score
        How sure the answer is, as the tool says it; None where it does not.
    result
        The object with the label.
    """

    question: str
    who: str | None
    labels: list[Any] | None
    is_true: bool
    score: Any
    result: Mapping[str, Any]


def said_in(record: Mapping[str, Any], gather: Gather, names: dict[str, str], row: int = 0) -> Iterator[Said]:
    """Yield what is said in a record; the names of people who have numbers too go to `names`.

    Raises
    ------
    UserError
        What holds the answers is neither a list nor an object; the row is named.
    """
    for path in gather.each:
        top, found = path.partition(".")[0], False
        if top and not isinstance(record.get(top), dict | list | None):
            raise RowError(f"Row {row}: {top} is no object {{…}} and no list […]; export the records again.")
        for question, inner in at_path(record, path):
            if not isinstance(inner, dict) and gather.result != ("",):
                raise RowError(f"Row {row}: a part of {top} is no object {{…}}; export the records again.")
            one, found = _object(inner), True
            if any(_is_so(one, state) for state in gather.drop):
                continue
            who, number = _first_name(one, gather.who), _first_name(one, gather.number)
            if who and number:
                names[number] = who
            who, is_true = who or number, gather.gold != "" and value_at(one, gather.gold) is True
            score = value_at(one, gather.score) if gather.score else None
            for place in gather.result:
                for key, said in at_path(one, place, question):
                    result = _object(said)
                    if gather.ours and str(result.get("id", "")).startswith(gather.ours):
                        continue
                    asked = value_at(result, gather.question) if gather.question else None
                    asked = key if asked is None else str(asked)
                    name = who or gather.nobody.format(id=one.get("id"), question=asked) or None
                    yield Said(asked, name, _labels(result, gather.label), is_true, score, result)
        if found:
            return


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {"value": value}


def _is_so(one: Mapping[str, Any], state: str) -> bool:
    """Whether a field is true, or, of `field=word`, that word."""
    path, _, word = state.partition("=")
    value = value_at(one, path)
    return value == word if word else bool(value)


def _first_name(one: Mapping[str, Any], paths: Sequence[str]) -> str | None:
    """Return the first name or number at some paths, as text."""
    for path in paths:
        value = value_at(one, path)
        if isinstance(value, str | int) and value != "":
            return str(value)
    return None


def _labels(result: Mapping[str, Any], paths: Sequence[str]) -> list[Any] | None:
    """Return the labels of an answer; None where there is none, or there are objects, as spans of a text are."""
    labels: list[Any] | None = None
    for path in paths:
        for _, one in at_path(result, path):
            labels = [*(labels or ()), *(one if isinstance(one, list) else [one])]
    return None if labels is None or any(isinstance(label, dict) for label in labels) else labels


@cache
def _keys(path: str) -> tuple[str, ...]:
    return tuple(path.split(".")) if path else ()


def value_at(value: Any, path: str) -> Any:
    """Return what stands at a path without `*`; None where there is nothing.

    Examples
    --------
    >>> value_at({"a": {"b": 1}}, "a.b"), value_at({"a": 1}, "a.b")
    (1, None)
    """
    for key in _keys(path):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def at_path(value: Any, path: str, name: str = "") -> Iterator[tuple[str, Any]]:
    """Return (key, value) of what stands in a value of JSON at a path; the key is that at the `?` of it, else `name`.

    Examples
    --------
    >>> [one for _, one in at_path({"a": [{"b": 1}, {"b": 2}, {}]}, "a.*.b")], list(at_path({"a": {"x": [1]}}, "a.?.*"))
    ([1, 2], [('x', 1)])
    """
    return _at(value, _keys(path), name)


def _at(value: Any, keys: tuple[str, ...], name: str) -> Iterator[tuple[str, Any]]:
    for at, key in enumerate(keys):
        if key in ("*", "?"):
            items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
            if isinstance(value, list) and key == "*":
                items = (("", one) for one in value)
            for called, one in items:
                yield from _at(one, keys[at + 1 :], str(called) if key == "?" else name)
            return
        value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            return
    yield name, value
