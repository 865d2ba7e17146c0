"""What lies inside of cells becomes columns: fields of objects, lists of answers, shares of classes; and a column of
answers a voter those that are a voter and a class each.

The signature of a table says where its answers are, as paths: keys with points between them; `*` is every item of a
list, or every value of an object. Without a signature they are found by what the fields hold (`_lists`) and
what the columns are called (`_crosses`). Answers are objects then, of who gave them and the label, or one
label a voter: `pll.formats.answers` reads them as those that stand in a file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from pll.errors import Note, RowError, UserError
from pll.formats.checks import listing
from pll.formats.class_groups import agree, amount
from pll.formats.forms import FIELDS, USUAL, WORDS, Form, Gather, fits, plain_name, words_of
from pll.formats.melted import turned, wide
from pll.formats.names import GRID, MARKS
from pll.formats.proposal import FEW, says_fact
from pll.formats.reading import OF_LABELS
from pll.formats.records import Records, cell_of, value_of
from pll.formats.row_forms import LEAST_SHARED, agreement
from pll.formats.tabular.answer_cells import read_by_hand
from pll.formats.tabular.cells import (
    NEARLY_ALL,
    Cells,
    are_dates,
    guess_separator,
    is_number,
    labels_in,
    mark_in,
    nearly_all,
    objects_in,
    read_marks,
    says_counts,
    spelling,
)

Rows = Sequence[Mapping[str, Any]]
"""The values of some columns, row by row."""
New = tuple[Mapping[str, Sequence[Any]], str]
"""What columns become: the values of others by name, and what to say."""


@dataclass(frozen=True)
class Inside:
    """Columns with something inside, and what they become.

    Attributes
    ----------
    of
        The columns.
    become
        Returns what they become, of their values in all rows; no column where they are nothing of the kind after all.
    stay
        Whether they stay beside the new ones.
    roles
        Of other columns that are about these.
    """

    of: Sequence[str]
    become: Callable[[Rows], New]
    stay: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)

    def in_table(self, table: Records, given: Collection[str]) -> Records:
        """Return the table with what they become; as it is where a person says what they are, and not what they become.

        Parameters
        ----------
        table
            With these columns.
        given
            Columns to which a person gave a role.
        """
        at = [k for k, name in enumerate(table.names) if name.strip() in self.of]
        new, note = self.become([{name.strip(): cell for name, cell in row.items()} for row in table.values(at)])
        if any(name in given and name not in new for name in self.of):
            return table
        notes = (*table.notes, note) if note else table.notes
        table = replace(table, roles={**self.roles, **table.roles}, notes=notes)
        return table.with_columns(new, () if self.stay else at) if new else table


def unfolded(table: Records, given: Mapping[str, str] | None = None) -> Records:
    """Return a table with the columns that its signature finds inside of its columns.

    An object of fields (`flatten`) is replaced by its fields, unless the table has one of that name, and columns of
    marks (`join`) by the one that they are; beside a column of answers (`gather`) stand the answers to each question,
    with who gave them. Without a signature, lists of objects become answers where their fields tell who and what, and
    columns of a voter and a class each a column of answers a voter.

    Parameters
    ----------
    table
        As a reader made it.
    given
        Roles that a person gave: what these say is no answer stays.
    """
    given = given or {}
    table = wide(turned(table, given), given)
    table = table if table.first else replace(table, first=table.sample())  # looked at often
    for find in (_lists,) if table.form else FINDERS:
        cells = zip((name.strip() for name in table.names), table.first, strict=True)
        free = {name: some for name, some in cells if name not in given or given[name] in OF_LABELS}
        for inside in find(table, free):
            table = inside.in_table(table, given)
    return table if table.form is None else _as_signed(table, table.form, given)


def _as_signed(table: Records, form: Form, given: Mapping[str, str]) -> Records:
    """The table with the columns that its signature finds inside of its columns."""
    names, flat = list(table.names), _flat(table, form)
    joined = [name for name in names if any(fits(name, pattern) for pattern in form.join)]
    marks = {name: name.partition(":::")[::2] if ":::" in name else name.rpartition(".")[::2] for name in joined}
    tops = {path.partition(".")[0] for path in form.gather.each} if form.gather else set()
    used = {*flat, *tops, *marks}
    at = [k for k, name in enumerate(names) if name in used]
    rows, answers, whole, out = list[dict[str, Any]](), list[dict[str, Any]](), set[str](), Counter[str]()
    said = {name: name for name in names if any(fits(name, pattern) for pattern in form.said)}
    for record in table.values(at) if at else ():
        row = _joined({mark: record[name] for name, mark in marks.items()}, boxes=not any(":::" in n for n in marks))
        for name, prefix in flat.items():
            fields = _fields(record[name])
            whole |= {name} if fields is None else set()
            inner = {prefix + key: _ticked(value) for key, value in (fields or {}).items()}
            said |= dict.fromkeys(inner, name) if name in said else {}
            row |= inner
        rows.append(row)
        answers.append(_answers(record, form.gather) if form.gather and not tops.isdisjoint(record) else {})
        out.update(_against(record, form.gather) if form.gather else ())
    questions = dict.fromkeys(name for row in answers for name in row)
    if form.gather and not questions and any(_begin_with(table.first[names.index(n)], "[{") for n in tops & {*names}):
        other = replace(form.having(dict.fromkeys(tops, "")), gather=None)  # written in another way: as any list
        return unfolded(replace(table, signature=other), given)
    is_line = form.form == "answer"  # which says itself who answered
    answers = [{name: _said_by_one(some) for name, some in row.items()} if is_line else row for row in answers]
    tasks = dict[str, list[str | None]]()
    if form.needs in names:  # a page to read, or a survey, is no example
        shown = [bool((cell or "").strip()) for cell in table.texts(names.index(form.needs))]
        tasks = {name: list(table.texts(at)) for at, name in enumerate(names) if form.role_of(name) == "task"}
        tasks = {
            n: [cell if is_shown else None for cell, is_shown in zip(some, shown, strict=True)]
            for n, some in tasks.items()
        }
    new = {name: _chosen(cells) for name, cells in _by_name(rows, names).items()}
    new = tasks | new | {name: [row.get(name) for row in answers] for name in questions}
    if not (new or tasks):
        return table
    gone = {*flat, *marks, *tasks, *(tops & questions.keys())} - whole
    made = table.with_columns(new, [k for k, name in enumerate(names) if name in gone])
    note = _uncounted(listing(sorted(tops)), out)
    made = replace(made, notes=(*made.notes, note) if note else made.notes)
    signed = form.having(dict.fromkeys(questions, "" if is_line else "answers"))
    made = replace(made, signature=replace(signed, said=(*said,)))
    return unfolded(made, given) if not _flat(made, form).keys() <= {*names} else made  # objects in objects


def _by_name(rows: Rows, taken: Collection[str]) -> dict[str, list[Any]]:
    """The columns of rows, but for those that there are."""
    return {name: [row.get(name) for row in rows] for row in rows for name in row if name not in taken}


def _flat(table: Records, form: Form) -> dict[str, str]:
    """The columns of objects that become their fields, each with what stands before the names of these."""
    patterns = {name: next((p for p in form.flatten if fits(name, p.rstrip("."))), "") for name in table.names}
    inner = {name: name[: name.rfind(".") + 1] for name in table.names}
    return {n: f"{n}." if pattern.endswith(".") else inner[n] for n, pattern in patterns.items() if pattern}


def _fields(value: Any) -> Mapping[str, Any] | None:
    """The fields of an object, or of a list of objects, as one; none of a missing value; None of anything else."""
    objects = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(one, dict) for one in objects):
        return None
    return {key: inner for one in objects for key, inner in one.items()}


def _ticked(value: Any) -> Any:
    """The names of the ticked boxes in an object of check boxes, as a list; any other value as it is."""
    are_boxes = isinstance(value, dict) and all(isinstance(one, bool) for one in value.values())
    return [name for name, is_ticked in value.items() if is_ticked] if are_boxes else value


def _chosen(cells: list[Any]) -> list[Any]:
    """Lists of what was chosen, where objects have a name of each choice, with its number or itself: `{"polite": "1"}`.

    Each choice has one number, whoever chooses it, and another one than the others, or all have the same, as a tick;
    other cells stay as they are.
    """
    objects = [cell for cell in cells if isinstance(cell, dict)]
    numbers = {(name, str(number)) for one in objects for name, number in one.items()}
    is_code = all(number.isdecimal() or number == name for name, number in numbers)
    names, codes = ({*some} for some in zip(*numbers, strict=True)) if numbers else (set[str](), set[str]())
    is_one = len(codes) in (1, len(names)) and 1 < len(names) == len(numbers)
    if not (is_code and is_one) or any(cell not in (None, "") for cell in cells if not isinstance(cell, dict)):
        return cells
    return [list(cell) if cell else None for cell in cells]


def _joined(marks: Mapping[tuple[str, ...], Any], *, boxes: bool) -> dict[str, str | list[str] | None]:
    """What columns of marks say, by person and class; who answered twice may mark two.

    Where they are no boxes to tick, whatever stands in one is a mark, and a column alone says itself what was written.
    """
    said: dict[str, list[str]] = {}
    times = Counter(stem for stem, _ in marks)
    for (stem, label), cell in marks.items():
        is_other = cell in (None, "") or (str(cell).casefold() in ("false", "0") and cell != label)
        is_said = any(map(mark_in, str(cell).split(","))) if boxes else not is_other
        said.setdefault(stem, []).extend([label if boxes or times[stem] > 1 else str(cell)] * is_said)
    return {stem: labels if len(labels) > 1 else next(iter(labels), None) for stem, labels in said.items()}


# ---- what is said in a record, as a signature says -------------------------------------------------------------------


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


def _answers(record: Mapping[str, Any], gather: Gather) -> dict[str, list[dict[str, Any]]]:
    """The answers in a record by question, each an object of who gave it and its label."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in said_in(record, gather, {}):
        question = one.question or ("" if gather.question else gather.each[0].partition(".")[0])
        if one.labels and question:
            label = one.labels[0] if len(one.labels) == 1 else one.labels
            found.setdefault(question, []).append({"annotator": one.who, "label": label})
    return found


def _against(record: Mapping[str, Any], gather: Gather) -> Iterator[str]:
    """Yield the states by which answers in a record do not count."""
    for _, one in (pair for path in gather.each for pair in at_path(record, path)):
        yield from (state.replace("=", ": ") for state in gather.drop if _is_so(_object(one), state))


def _said_by_one(answers: Sequence[Mapping[str, Any]]) -> Any:
    """The label in answers to one question, or a list of several."""
    labels = [label for one in answers for label in _listed(one["label"])]
    return labels[0] if len(labels) == 1 else labels


def said_in(record: Mapping[str, Any], gather: Gather, names: dict[str, str], row: int = 0) -> Iterator[Said]:
    """Yield what is said in a record; the names of people who have numbers too go to `names`.

    Parameters
    ----------
    record
        As the tool wrote it.
    gather
        Where the answers stand in it.
    names
        By number, the names of people; more are put there.
    row
        The number that a message gives to the record.

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
    """Whether a field is true, or, of `field=word`, that word or value."""
    path, _, word = state.partition("=")
    value = value_at(one, path)
    return cell_of(value) == word if word else bool(value)


def _first_name(one: Mapping[str, Any], paths: Sequence[str]) -> str | None:
    """Return the first name or number at some paths, as text."""
    values = (value_at(one, path) for path in paths)
    return next((str(value) for value in values if isinstance(value, str | int) and value != ""), None)


def _labels(result: Mapping[str, Any], paths: Sequence[str]) -> list[Any] | None:
    """Return the labels of an answer; None where there is none, or there are objects, as spans of a text are."""
    found = [some for path in paths if (some := [one for _, one in at_path(result, path)])]
    every = [[label for one in some for label in (one if isinstance(one, list) else [one])] for some in found]
    plain = [labels for labels in every if not any(isinstance(label, dict) for label in labels)]
    return [label for labels in plain for label in labels] if plain else None


@cache
def _keys(path: str) -> tuple[str, ...]:
    return tuple(path.split(".")) if path else ()


def value_at(value: Any, path: str) -> Any:
    """Return what stands at a path without `*`; None where there is nothing.

    Parameters
    ----------
    value
        A value of JSON.
    path
        Keys with points between them.

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

    Parameters
    ----------
    value
        A value of JSON.
    path
        Keys with points between them; `*` is every item, `?` every key.
    name
        The key where the path has no `?`.

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


# ---- lists of objects, whatever their fields are called --------------------------------------------------------------

DEEPEST = 6
"""Fields of fields that are looked at; a list between them is one more."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

_WHO = FIELDS["who"].union(USUAL["worker"])

Row = Sequence[Mapping[str, Any]]
"""The objects in a cell, each as its fields by path: `author.email`."""


@dataclass(frozen=True)
class Fields:
    """Fields of the objects in a column.

    Attributes
    ----------
    who, what
        Paths that may say who, and what; the likelier first.
    """

    who: tuple[str, ...]
    what: tuple[str, ...]


def _lists(table: Records, free: Mapping[str, Cells]) -> Iterator[Inside]:
    """Lists of objects are answers; where several fields fit, a column each, to be asked about.

    Without a signature so is the one list of answers that stands inside of the objects of a column, beside it.
    """
    gather = table.form.gather if table.form else None
    signed = {path.partition(".")[0] for path in gather.each} if gather else set()
    signed |= {name for name in free if table.form and table.form.role_of(name)}
    for name, cells in free.items():
        if name not in signed and nearly_all(_holds_objects, cells):
            say_who = objects_in(name, cells)[0] == "voters"  # they say themselves who and what
            yield Inside([name], partial(_answers_in_lists, name=name, say_who=say_who, taken={*table.names} - {name}))
    for name, cells in free.items() if table.form is None else ():
        values = [value_of(cell) for cell in cells if cell] if _begin_with(cells, "{") else []
        for path in dict.fromkeys(path for value in values[:FEW] for path in _paths_of_lists(value, LISTS_WITHIN)):
            found = [_items_at(value, path) for value in values]
            read = [row for value in found if (row := fields_in(value))]
            say_who = objects_in(path, [json.dumps(one) for one in found])[0] == "voters"
            if say_who or reading_of(read) is not None:
                make = partial(_answers_in_lists, name=name, say_who=say_who, taken={*table.names}, path=path)
                yield Inside([name], make, stay=True)
                return


def _answers_in_lists(rows: Rows, *, name: str, say_who: bool, taken: Collection[str], path: str = "") -> New:
    """Lists of objects as answers; objects that do not count by their state are left out, which is said."""
    values = [_items_at(row[name], path) for row in rows]
    name = f"{name}.{path}" if path else name
    read = [row for value in values if (row := fields_in(value)) is not None]
    if len(read) < len(values):
        return {}, ""
    against = [[state_against(one) or _made_by_machine(one) for one in row] for row in read]
    if all(map(all, against)) and any(_made_by_machine(one) for row in read for one in row):  # of models alone
        against = [[state_against(one) for one in row] for row in read]
    states = Counter(state for row in against for state in row if state)
    if say_who:
        new = {name: _those_that_count(values, against)} if states or path else {}
    else:
        new = _answers_listed(name, _those_that_count(read, against))
    new = {called: column for called, column in new.items() if called not in taken}
    return new, _uncounted(name, states) if new else ""


def _uncounted(name: str, states: Mapping[str, int]) -> str:
    """What to say of answers that do not count, by their state; "" where all count."""
    said = ", ".join(f"{state} ({n:,})" for state, n in states.items())
    return Note(f"Answers in {name} that do not count, by their state: {said}.", kind="states") if states else ""


LISTS_WITHIN = 3
"""Objects within objects in which a list of answers is looked for."""


def _paths_of_lists(value: Any, depth: int, path: str = "") -> Iterator[str]:
    """Yield the paths to lists of objects in an object."""
    for key, inner in value.items() if isinstance(value, dict) and depth else ():
        if isinstance(inner, list) and inner and all(isinstance(one, dict) for one in inner):
            yield f"{path}{key}"
        yield from _paths_of_lists(inner, depth - 1, f"{path}{key}.")


def _items_at(value: Any, path: str) -> Any:
    """The list at a path, without items where there is none; at "" the value itself."""
    return value_at(value, path) or []


def _holds_objects(cell: str) -> bool:
    return cell.lstrip()[:1] == "[" and cell[1:].lstrip()[:1] == "{"


def _those_that_count(rows: Sequence[Sequence[Any]], against: Sequence[Sequence[str]]) -> list[list[Any]]:
    return [[one for one, out in zip(*pair, strict=True) if not out] for pair in zip(rows, against, strict=True)]


def _answers_listed(name: str, rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The columns of answers that lists of objects are, by name; none where nothing says who and what."""
    filled = [row for row in rows if row]
    if (found := reading_of(filled)) is not None:
        pairs = [(who, what) for what in found.what for who in found.who]
        called = [f"{name}: {what} of {who}" if len(pairs) > 1 else name for who, what in pairs]
        answers = [
            [[{"annotator": x.get(who), "label": x[what]} for x in row if x.get(what) is not None] for row in rows]
            for who, what in pairs
        ]
        return dict(zip(called, answers, strict=True))
    return {}


def state_against(one: Mapping[str, Any]) -> str:
    """Return the state by which an object does not count; "" where it counts.

    Examples
    --------
    >>> state_against({"by": "a", "latest": False}), state_against({"by": "b", "status": "draft"}), state_against({})
    ('latest: false', 'status: draft', '')
    """
    return next((f"{path}: {str(cell).lower()}" for path, cell in one.items() if _is_out(path, cell)), "")


def _is_out(path: str, cell: Any) -> bool:
    """Whether a field says that its object does not count."""
    if isinstance(cell, bool):
        return bool(_words(path) & FIELDS["does_not_count" if cell else "counts"])
    is_state = not {"status", "state", "type", "kind"}.isdisjoint(_words(path))
    return is_state and isinstance(cell, str) and cell.casefold() in FIELDS["does_not_count"]


def _made_by_machine(one: Mapping[str, Any]) -> str:
    """Return the field that says that an answer is a program's; "" where none does."""
    told = ((path, cell) for path, cell in one.items() if _words(path) & FIELDS["made"] and isinstance(cell, str))
    return next(
        (f"{path}: {cell.lower()}" for path, cell in told if not WORDS["machine"].isdisjoint(words_of(cell))), ""
    )


def _cells_at(path: str, rows: Sequence[Row]) -> list[list[str]]:
    return [[str(one[path]) for one in row if path in one] for row in rows]


def fields_in(value: Any) -> list[dict[str, Any]] | None:
    """Return the objects of a list as their fields by path; None of anything else.

    Examples
    --------
    >>> fields_in([{"by": {"email": "a@b"}, "data": '{"class": {"label": "cat"}}', "all": [{"x": 1}, {"x": 2}]}])
    [{'by.email': 'a@b', 'data.class.label': 'cat', 'all.x': [1, 2]}]
    """
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return None
    found = []
    for one in value:
        fields: dict[str, list[Any]] = {}
        for path, leaf in _leaves(one, DEEPEST):
            fields.setdefault(path, []).append(leaf)
        found.append({path: some[0] if len(some) == 1 else some for path, some in fields.items()})
    return found


def _leaves(value: Any, depth: int, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, str) and value[:1] in ("{", "[") and depth > 0:
        value = value_of(value)
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else (("", one) for one in value)
        for key, one in inner if depth > 0 else ():
            yield from _leaves(one, depth - 1, f"{path}.{key}".strip("."))
    elif value is not None:
        yield path, value


def reading_of(rows: Sequence[Row]) -> Fields | None:
    """Return which fields of the objects say who and what; None where no pair does.

    *Who* is a field that differs between the objects of a row and comes again in other rows, called as people are;
    *what* one of few words, called as labels are. Where people agree on none of these no more than by chance, fields on
    which they agree come before them. Fields of fields count, and JSON in text is opened. In a language of which no
    word is known, who is a field of few words, and what one on which these agree.

    Examples
    --------
    >>> rows = [[{"by": w, "class": c} for w, c in zip("ab", s)] for s in (["x", "y"], ["y", "y"])]
    >>> reading_of(rows)
    Fields(who=('by',), what=('class',))
    """
    objects = [one for row in rows for one in row]
    if len(rows) < 2 or len(objects) < 2:
        return None
    times = Counter(path for one in objects for path in one)
    paths = [path for path, n in times.items() if 2 * n >= len(objects)]  # somebody may not have known
    told = [path for path in paths if times[path] >= NEARLY_ALL * len(objects) and _says_who(path, rows)]
    who = named = [path for path in told if _words(path) & _WHO]
    if not named and 2 * sum(len(row) > 1 for row in rows) >= len(rows):
        who = [path for path in told if _are_few(path, objects)]
    what = [path for path in paths if path not in who and _says_what(path, objects)]
    others = [path for path in paths if path not in (*who, *what) and _may_be_what(path, rows, who)]
    agreed = [path for path in others if _agree_on(path, rows)] if what and who else others
    what = what if any(_agree_on(path, rows) for path in what) else [*agreed, *what]
    what = what if named else [path for path in what if _agree_on(path, rows)]
    who.sort(key=lambda path: _last(path) in FIELDS["about"])  # names before numbers
    who, what = (_different(some, objects) for some in (who, what))
    return Fields(tuple(who), tuple(what)) if what and who else None


def _words(path: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(path)}


def _last(path: str) -> str:
    return str((_WORD.findall(path) or [path])[-1]).casefold()


def _says_who(path: str, rows: Sequence[Row]) -> bool:
    """Whether a field differs within nearly every row, and comes again in others."""
    cells = _cells_at(path, rows)
    every = [cell for some in cells for cell in some]
    apart = sum(len(set(some)) == len(some) for some in cells)
    return apart >= NEARLY_ALL * len(rows) and 2 * len(set(every)) <= max(len(every), 4) and not are_dates(every)


def _says_what(path: str, objects: Row) -> bool:
    """Whether a field has few different words, and is called as labels are."""
    is_called = not FIELDS["what"].isdisjoint(_words(path)) and _last(path) not in FIELDS["about"]
    return is_called and _are_few(path, objects)


def _may_be_what(path: str, rows: Sequence[Row], who: Sequence[str]) -> bool:
    """Whether a field of few words may be the label, whatever called: no fact about the person, nor the item."""
    objects = [one for row in rows for one in row]
    is_fact = any(
        len({(one.get(w), str(one.get(path))) for one in objects}) == len({one.get(w) for one in objects}) for w in who
    )
    is_item = all(len({*some}) < 2 for some in _cells_at(path, rows))
    is_other = _last(path) in FIELDS["about"] or says_fact(path) or bool(_words(path) & _WHO)
    return not (is_fact or is_item or is_other) and _are_few(path, objects)


def _agree_on(path: str, rows: Sequence[Row]) -> bool:
    """Whether objects of one row have the same in a field more often than by chance."""
    said = [(cell, str(k)) for k, cells in enumerate(_cells_at(path, rows)) for cell in cells]
    return agreement(*([*some] for some in zip(*said, strict=True))) >= LEAST_SHARED if said else False


def _are_few(path: str, objects: Row) -> bool:
    """Whether a field has few different words."""
    values = [cell for one in objects for cell in _listed(one.get(path))]
    kinds = {str(cell) for cell in values}
    few = 1 < len(kinds) <= max(FEW, len(values) // 20) and 2 * len(kinds) <= max(len(values), 4)
    plain = all(isinstance(cell, str | int) for cell in values) and not are_dates([str(cell) for cell in values])
    return few and plain


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _different(paths: Sequence[str], objects: Row) -> list[str]:
    """Fields of which none says the same as an earlier one in other words."""
    kept: list[str] = []
    for path in paths:
        cells = [str(one.get(path)) for one in objects]
        others = ([str(one.get(other)) for one in objects] for other in kept)
        if all(len({*zip(cells, some, strict=True)}) > max(len({*cells}), len({*some})) for some in others):
            kept.append(path)
    return kept


# ---- who named each class --------------------------------------------------------------------------------------------


def _people_by_class(table: Records, free: Mapping[str, Cells]) -> Iterator[Inside]:
    """Lists of people, one a class, are answers: in an object, or in a column each, between commas."""
    for name, cells in free.items():
        if _begin_with(cells, "{") and answers_by_class(map(_value_in, cells)) is not None:
            yield Inside([name], partial(_answers_in_objects, name=name))
            return
    own, marks = {name for some in USUAL.values() for name in some}, (*MARKS.values(),)  # who say what they are
    plain = {n: cells for n, cells in free.items() if plain_name(n) not in own and not n.startswith(marks)}
    people = {name: some for name, cells in plain.items() if (some := _people_named(cells))}
    alike = (tuple(n for n, some in people.items() if 2 * len(some & who) >= len(some)) for who in people.values())
    for names in dict.fromkeys(alike):
        rows = list(zip(*(free[name] for name in names), strict=True))
        if len(names) > 1 and _answers_of_named(rows, names) is not None:
            yield Inside(names, partial(_answers_in_columns, names=names))
            return


def _answers_in_objects(rows: Rows, *, name: str) -> New:
    answers = answers_by_class(row[name] for row in rows)
    return ({} if answers is None else {name: answers}), ""


def _answers_in_columns(rows: Rows, *, names: Sequence[str]) -> New:
    answers = _answers_of_named([[row[name] for name in names] for row in rows], names)
    note = f"The cells of {listing(names)} name people: each chose that column."
    return ({}, "") if answers is None else ({"answers": answers}, note)


LONGEST_LIST = 500
"""Letters, at most, of a cell that names people."""
LEAST_VOTING, LEAST_PRESENT, ONCE = 3, 0.5, 0.95
"""People whom cells name at least, the share of them whom a row names, and of the rows that name nobody twice."""


def _people_named(cells: Cells) -> set[str]:
    """The short names in a column of cells, of which some hold several; none where it holds anything else."""
    first = [cell for cell in cells[:FEW] if cell]
    if any(is_number(cell) or len(cell) > LONGEST_LIST for cell in first):  # mostly, and at once
        return set()
    lists = _names_listed([cells])
    people = {one for some in lists[0] for one in some}
    is_short = all(len(one.split()) <= 3 and not is_number(one) for one in people)
    return people if is_short and len(people) <= FEW and any(len(some) > 1 for some in lists[0]) else set()


def _names_listed(columns: Sequence[Sequence[Any]]) -> list[list[list[str]]]:
    """The names in the cells of columns, each in its most frequent spelling; none where lists cannot be read."""
    filled = [str(cell) for cells in columns for cell in cells if cell and str(cell).strip()]
    mark, spelled = guess_separator(filled), dict[str, str]()
    try:
        names = read_by_hand({cell: (times, labels_in(cell, mark)) for cell, times in Counter(filled).items()})
    except UserError:
        return [[[] for _ in cells] for cells in columns]
    for one, _ in Counter(name for cell in filled for name in names[cell]).most_common():
        spelled.setdefault(spelling(one), one)
    return [[[spelled[spelling(one)] for one in names.get(str(cell), ())] for cell in cells] for cells in columns]


def _answers_of_named(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> list[list[dict[str, str]]] | None:
    """As `answers_by_class`, of cells that name people: nearly all rows most of them, hardly one twice, and they agree.

    What things are like (`good: food, staff`, `bad: price`) is nobody's answer: in a row, food and staff have little to
    do with each other.
    """
    split = list(zip(*_names_listed(list(zip(*rows, strict=True))), strict=True))
    filled = [[who for some in row for who in some] for row in split if any(row)]
    once, present = sum(len({*row}) == len(row) for row in filled), sum(map(len, filled))
    people = {who for row in filled for who in row}
    if len(people) < LEAST_VOTING or once < ONCE * len(filled) or present < LEAST_PRESENT * len(people) * len(filled):
        return None
    chosen = [
        (name, str(k)) for k, row in enumerate(split) for name, some in zip(names, row, strict=True) for _ in some
    ]
    agree = agreement([name for name, _ in chosen], [row for _, row in chosen])
    objects = (dict(zip(names, row, strict=True)) for row in split)
    return answers_by_class(objects) if agree >= LEAST_SHARED else None


def _begin_with(cells: Cells, mark: str) -> bool:
    return any(cells) and nearly_all(lambda cell: cell.lstrip().startswith(mark), cells)


def _value_in(cell: str | None) -> Any:
    return value_of(cell) if cell else None


def _people_in(value: Any) -> list[str] | None:
    """The people in a list: names, or an object with the name of each; None of anything else."""
    people = []
    for one in value if isinstance(value, list) else [] if value is None else [None]:
        fields = one if isinstance(one, dict) else {}
        who = next((fields[key] for key in fields if _words(key) & _WHO), None) if fields else one
        if not isinstance(who, str | int) or any(_words(key) & FIELDS["what"] for key in fields):
            return None
        people.append(str(who))
    return people


def answers_by_class(objects: Iterable[Any]) -> list[list[dict[str, str]]] | None:
    """Return the answers in objects of lists of people, a list a class, row by row; None where they are none.

    They are people who come again, mostly under another class, and mostly once in a row; of no class always as many.

    Examples
    --------
    >>> rows = [
    ...     {"pos": ["ann", "bob"], "neg": ["cat"]},
    ...     {"pos": ["cat"], "neg": ["bob", "ann"]},
    ...     {"pos": ["cat", "ann"]},
    ... ]
    >>> (answers_by_class(rows) or [])[2]
    [{'annotator': 'cat', 'label': 'pos'}, {'annotator': 'ann', 'label': 'pos'}]
    """
    said: list[list[tuple[str, str]]] = []
    sizes: dict[str, set[int]] = {}
    for lists in objects:
        people = (
            {key: _people_in(one) for key, one in (lists or {}).items()}
            if isinstance(lists or {}, dict)
            else {"": None}
        )
        if None in people.values():
            return None
        said.append([(who, label) for label, some in people.items() for who in some or ()])
        for label, some in people.items():
            sizes.setdefault(label, set()).add(len(some or ()))
    filled, times = [row for row in said if row], Counter(who for row in said for who, _ in row)
    under = Counter(who for who, _ in {one for row in said for one in row})
    again = [who for who, n in times.items() if n > 1]
    once = sum(len({who for who, _ in row}) == len(row) for row in filled)
    are_people = 2 * len(times) <= times.total() and 2 * sum(under[who] > 1 for who in again) >= len(again)
    is_free = 1 < len(sizes) <= FEW and any(len(some) > 1 and max(some) > 1 for some in sizes.values())
    if not (filled and are_people and is_free and 2 * once >= len(filled)):
        return None
    return [[{"annotator": who, "label": label} for who, label in row] for row in said]


# ---- columns that are a voter and a class each -----------------------------------------------------------------------

MOST = 60
"""Voters, or classes, at most."""
ROUNDED = 0.02
"""How far a sum may be from 1 or 100."""
LEAST = 0.2
"""Share of the rows that every voter answered, at least."""
_MARK = re.compile(r"\s*[_.:/|·-]+\s*|\s+")

Cross = Mapping[str, Mapping[str, str]]
"""The columns of each voter by class (`BirdNET_Amsel`, `Ann: urgent`)."""


def _crosses(table: Records, free: Mapping[str, Cells]) -> Iterator[Inside]:
    """Columns of a voter and a class each are one column a voter.

    Columns that are called as a class of these, as `Sum_Amsel` is, are made of them, and carried along.
    """
    if cross := _without_means(cross_in(list(free), list(free.values())), free):
        used = {name for classes in cross.values() for name in classes.values()}
        labels = {label for classes in cross.values() for label in classes}
        about = [n for n in free if n not in used and labels.intersection(part for pair in _split(n) for part in pair)]
        of = [*used, *free.keys() & cross.keys()]
        yield Inside(of, partial(_answers_of_voters, cross=cross), roles=dict.fromkeys(about, "keep"))


def _without_means(cross: Cross, free: Mapping[str, Cells]) -> Cross:
    """The voters without one whose numbers are the means of those of the others, as of an ensemble."""
    numbers = {
        voter: [[amount(cell) or 0.0 for cell in free[name]] for name in classes.values()]
        for voter, classes in cross.items()
    }

    def is_mean(voter: str) -> bool:
        others = [some for who, some in numbers.items() if who != voter]
        kinds = {round(x, 2) for some in numbers[voter] for x in some}
        return (
            len(others) > 1
            and len(kinds) > 2
            and all(
                abs(x - sum(row) / len(row)) <= ROUNDED / 2
                for own, *columns in zip(numbers[voter], *others, strict=True)
                for x, *row in zip(own, *columns, strict=True)
            )
        )

    return {voter: classes for voter, classes in cross.items() if not is_mean(voter)}


def _answers_of_voters(rows: Rows, *, cross: Cross) -> New:
    answers = {
        voter: _answers_crossed(classes, [[cell_of(row[name]) for row in rows] for name in classes.values()])
        for voter, classes in cross.items()
    }
    classes = next(iter(cross.values()))
    return answers, f"Columns of {listing(list(cross))} for {listing(list(classes))} each were read as one answer each."


def cross_in(names: Sequence[str], sample: Sequence[Cells]) -> Cross:
    """Return the voters and classes that columns are called by; nothing where they are not.

    The cells are how likely the class is, from 0 to 1 or in percents, how many chose it, or marks. Every voter has the
    same classes, and the cells of a row make one answer: one mark, or one sum; where the voters agree, several marks
    in some rows.

    Parameters
    ----------
    names
        Of the columns.
    sample
        Their first cells.

    Examples
    --------
    >>> names = ["text", "ann_good", "ann_bad", "bob_good", "bob_bad"]
    >>> cross_in(names, [["one", "two"], ["x", ""], ["", "x"], ["x", "x"], ["", ""]])
    {'ann': {'good': 'ann_good', 'bad': 'ann_bad'}, 'bob': {'good': 'bob_good', 'bad': 'bob_bad'}}
    >>> [*cross_in(["A [x]", "A [y]", "B [x]", "B [y]"], [["1", "0"], ["0", "1"], ["1", "1"], ["0", "0"]])["A"]]
    ['x', 'y']
    """
    cells = dict(zip(names, sample, strict=True))
    parts: dict[tuple[bool, str], dict[str, str]] = {}
    for name in names:
        for left, right in _split(name):
            if left and right:
                parts.setdefault((True, left), {})[right] = name
                parts.setdefault((False, right), {})[left] = name
    several = {name for classes in parts.values() if len(classes) > 1 for name in classes.values()}
    fit = {name for name in several if _may_be(cells[name])}
    parts = {key: {label: n for label, n in classes.items() if n in fit} for key, classes in parts.items()}
    groups: dict[tuple[bool, frozenset[str]], dict[str, dict[str, str]]] = {}
    for (first, voter), classes in parts.items():
        if 1 < len(classes) <= MOST:
            groups.setdefault((first, frozenset(classes)), {})[voter] = classes
    fitting = [group for group in groups.values() if 1 < len(group) <= MOST]
    fitting.sort(key=lambda group: -sum(map(len, group.values())))
    return next((group for group in fitting if _is_cross(group, cells)), {})


def _split(name: str) -> list[tuple[str, str]]:
    """What stands before and after each mark in a name, or in brackets after it."""
    if grid := GRID.fullmatch(name):
        return [(grid["question"], grid["item"])]
    return [(name[: mark.start()], name[mark.end() :]) for mark in _MARK.finditer(name)]


def _is_cross(group: Cross, cells: Mapping[str, Cells]) -> bool:
    if any(says_counts(voter) or plain_name(voter) in WORDS["amounts"] for voter in group):
        return False
    used = {label for classes in group.values() for label, name in classes.items() if any(_numbers(cells[name]))}
    columns = [[cells[name] for name in classes.values()] for classes in group.values()]
    return len(used) > 1 and (all(map(_are_answers, columns)) or _mark_alike(group, cells))


def _mark_alike(group: Cross, cells: Mapping[str, Cells]) -> bool:
    """Whether voters mark mostly one class of a row, sometimes several, and in most classes the same rows."""
    marks = {voter: {c: _numbers(cells[n]) for c, n in classes.items()} for voter, classes in group.items()}
    sums = [sum(row) for classes in marks.values() for row in zip(*classes.values(), strict=True) if any(row)]
    are_marks = all(number in (0.0, 1.0) for classes in marks.values() for one in classes.values() for number in one)
    names = next(iter(marks.values()))
    alike = [agree([classes[name] for classes in marks.values()]) for name in names]
    return are_marks and 2 * sums.count(1) > len(sums) and 2 * sum(alike) > len(alike)


def _may_be(cells: Cells) -> bool:
    return read_marks(cells) is not None or all(amount(cell) is not None for cell in cells)


def _are_answers(columns: Sequence[Cells]) -> bool:
    """Whether the cells of nearly every row are one answer."""
    rows = [row for row in zip(*map(_numbers, columns), strict=True) if any(row)]
    if len(rows) < max(LEAST * len(columns[0]), 2):
        return False
    if all(number in (0.0, 1.0) for row in rows for number in row):
        return sum(int(sum(row) == 1) for row in rows) >= NEARLY_ALL * len(rows)
    totals = sorted(float(sum(row)) for row in rows)
    whole = totals[len(totals) // 2]
    are_shares = abs(whole - 1) <= ROUNDED or abs(whole - 100) <= 100 * ROUNDED
    alike = sum(abs(total - whole) <= ROUNDED * whole for total in totals)
    return alike >= NEARLY_ALL * len(rows) and (are_shares or all(total.is_integer() for total in totals))


def _numbers(cells: Cells) -> list[float]:
    amounts = list(map(amount, cells))
    return (
        [one or 0.0 for one in amounts] if None not in amounts else [float(x is True) for x in read_marks(cells) or ()]
    )


def _answers_crossed(classes: Collection[str], columns: Sequence[Cells]) -> list[Any]:
    """Return the answer of a voter in each row: the likeliest classes with their share, or the marked ones."""
    numbers, answers = list(map(_numbers, columns)), list[Any]()
    are_marks = all(number in (0.0, 1.0) for column in numbers for number in column)
    for row in zip(*numbers, strict=True):
        best = [name for name, number in zip(classes, row, strict=True) if number == max(row) > 0]
        answer: Any = best[0] if len(best) == 1 else best or None
        if best and not are_marks:
            answer = {"label": answer, "confidence": round(max(row) / sum(row), 6)}
        answers.append(answer)
    return answers


FINDERS = (_people_by_class, _crosses, _lists)
"""What finds something inside of the columns of a table without a signature, in this order."""
