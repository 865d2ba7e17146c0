"""What lies inside of cells becomes columns: fields of objects, lists of answers.

The signature of a table says where its answers are, as paths: keys with points between them; `*` is every item of a
list, or every value of an object. Without a signature they are found by what the fields hold (`_with_answers`).
Answers are objects then, of who gave them and the label: `pll.formats.answers` reads them as those that stand in a
file.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pll.errors import Note, RowError
from pll.formats.checks import listing
from pll.formats.codebook import codes_noted, codes_of, decoded, says_nothing
from pll.formats.crossed import with_names_in_classes, with_shares_of_lines, with_voters
from pll.formats.forms import USUAL, WORDS_OF_FIELDS, Form, Gather, fits, plain_name
from pll.formats.grouping import grouped
from pll.formats.paired import with_pairs
from pll.formats.proposal import says_fact
from pll.formats.questions import with_questions
from pll.formats.reading import OF_LABELS
from pll.formats.records import Records, cell_of, value_of
from pll.formats.row_forms import FAR_SHARED, agreement
from pll.formats.tabular.cells import (
    FEW,
    NEARLY_ALL,
    Cells,
    are_dates,
    are_likeliest,
    are_share_lists,
    elements,
    guess_separator,
    is_number,
    label_named,
    mark_in,
    named_shares,
    nearly_all,
    numbers_in,
    objects_in,
    present_cells,
    says_counts,
)

Rows = Sequence[Mapping[str, Any]]
"""The values of some columns, row by row."""
New = tuple[Mapping[str, Sequence[Any]], str]
"""What a column becomes: the values of others by name, and what to say."""


def unfolded(table: Records, given: Mapping[str, str] | None = None) -> Records:
    """Return a table with the columns that its signature finds inside of its columns.

    An object of fields (`flatten`) is replaced by its fields, unless the table has one of that name, and columns of
    marks (`join`) by the one that they are; beside a column of answers (`gather`) stand the answers to each question,
    with who gave them. Without a signature, an object that is called as what there is to read is replaced by its
    fields, lists of objects become answers where their fields tell who and what, and columns of a voter and a class
    each a column of answers a voter.

    Parameters
    ----------
    table
        As a reader made it.
    given
        Roles that a person gave: what these say is no answer stays.
    """
    given = given or {}
    table = table if table.first else replace(table, first=table.sample())  # looked at often
    table = _with_named_shares(_with_numbered_shares(_decoded(table), given), given)
    if table.form is None:
        table = _with_contents(table, given)
        table = with_names_in_classes(with_voters(with_pairs(table, given), given), given)
        table = with_questions(table, given)
        table = _with_people(with_shares_of_lines(table, given))
    table = _with_answers(table, given)
    return table if table.form is None else _as_signed(table, table.form, given)


def _with_people(table: Records) -> Records:
    """The table with who answered as columns beside objects that say it by a usual name: `{"app": 1, "user_id": 7}`."""
    for at, (name, cells) in enumerate(zip(table.names, table.first, strict=True)):
        if not nearly_all(_begins_object, cells) or objects_in(name, cells)[0] != "others":
            continue
        objects = [one for cell in cells if isinstance(one := _value_in(cell), dict)]
        fields = {plain_name(field): field for one in objects for field in one}
        who = next((fields[usual] for usual in USUAL["worker"] if usual in fields), "")
        said = [str(one[who]) for one in objects if isinstance(one.get(who), str | int)]
        if who not in ("", *table.names) and len(said) == len(objects) >= 2 * len({*said}) > 2:
            table = table.with_columns({who: [value_at(row[name], who) for row in table.values([at])]})
    return table


def _with_contents(table: Records, given: Mapping[str, str]) -> Records:
    """The table with the fields of objects of what there is to read, which are called so, or have a text, or a list of
    objects: `{"text": …, "channel": …}`, `{"judgments": [{…}, …]}`.
    """
    for name, cells in zip(table.names, table.first, strict=True):
        if name in given or says_fact(name) or not nearly_all(_begins_object, cells):
            continue
        first = [one for cell in cells if isinstance(one := _value_in(cell or ""), dict)]
        has_text = all(isinstance(one.get("text"), str) for one in first)
        lists = [
            [some for some in one.values() if isinstance(some, list) and all(map(_is_object, some))] for one in first
        ]
        has_list = all(lists) and any(map(any, lists))  # somebody may have no judgment yet
        is_answer = objects_in(name, cells)[0] != "others" and plain_name(name) != "features"
        if is_answer or not (has_text or has_list or plain_name(name) in USUAL["contents"]):
            continue
        at = table.names.index(name)
        rows = [row[name] if isinstance(row[name], dict) else {} for row in table.values([at])]
        fields = dict.fromkeys(field for row in rows for field in row)
        new = {f"{name}.{one}" if one in table.names else one: [row.get(one) for row in rows] for one in fields}
        if 0 < len(new) <= MOST_FIELDS:
            return _with_contents(table.with_columns(new, [at]), given)  # objects in objects
    return table


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


MOST_FIELDS = 200
"""Fields of an object, at most: more are names of things."""


def _decoded(table: Records) -> Records:
    """Return the table with words in the columns of which a codebook, by their names, says what their codes mean."""
    written, asked = list[str](), {name: codes_noted([[text]]).get("") for name, text in table.titles.items()}
    known = _ids_listed(table) | codes_of([name for name in table.names if name], table.codes)
    books = {name: codes for name in table.names if name and (codes := known.get(name) or asked.get(name))}
    silent = dict[str, str]()
    for name, said in books.items():  # or in the text of a question: `… (1=modern, 2=classic)`
        none = {code: text for code, text in said.items() if says_nothing(code, said)}
        names = {**said, **dict.fromkeys(none, "n/a")}
        at = list(table.names).index(name)
        sample = present_cells(table.sample()[at])
        mark = guess_separator(sample)
        if sum(decoded(cell, names, mark) != cell for cell in sample) >= NEARLY_ALL * len(sample) > 0:
            table = table.with_columns({name: [decoded(cell, names, mark) for cell in table.texts(at)]}, [at])
            written.append(name)
            silent |= none
    about = f"Codes in {listing(written)} were written out as the codebook in the file says."
    about += f" No answer: {listing([f'{code} ({text})' for code, text in silent.items()])}." if silent else ""
    return replace(table, notes=(*table.notes, about)) if written else table


def _ids_listed(table: Records) -> dict[str, Mapping[str, str]]:
    """What the ids in a column mean, where objects listed in another one have them beside their labels.

    So is the truth `Q42` beside the candidates `[{"id": "Q42", "name": "Adams"}, …]`. Not where a field of them is
    chosen (`_answers_listed`): it may be that of the ids.
    """
    found = dict[str, Mapping[str, str]]()
    for at, cells in enumerate(table.first):
        rows = [fields_in(_value_in(cell)) or [] for cell in cells] if nearly_all(_holds_objects, cells) else []
        if rows and not _answers_listed("", rows):
            for field, codes in _labels_by_field(cells):
                own = [{str(one.get(field)) for one in row} for row in rows]
                ids = [
                    name for name, some in zip(table.names, table.first, strict=True) if _are_codes(some, own, codes)
                ]
                codes = dict(_labels_by_field(table.texts(at))).get(field, {}) if ids else codes
                found |= dict.fromkeys(ids, codes)
    return found


def _labels_by_field(lists: Iterable[str | None]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield fields of listed objects that have one text for each label and no other, none of them a label."""
    pairs = dict[str, set[tuple[str, str]]]()
    for one in (one for cell in lists for one in elements(cell) if isinstance(one, dict)):
        for field, value in one.items():
            pairs.setdefault(field, set()).add((str(value), str(label_named(one))))
    for field, some in pairs.items():
        codes = dict(some)
        if len(some) == len(codes) == len({*codes.values()}) and codes.keys().isdisjoint(codes.values()):
            yield field, codes


def _are_codes(cells: Cells, own: Sequence[Collection[str]], codes: Mapping[str, str]) -> bool:
    """Whether nearly all cells are codes, no bare numbers, and of those that stand in the same row."""
    said = [(cell, some) for cell, some in zip(cells, own, strict=True) if cell and cell.strip()]
    are_own = sum(cell in some for cell, some in said) >= NEARLY_ALL * len(said)
    kinds = {cell for cell, _ in said} & codes.keys()
    return are_own and len(kinds) > 1 and not any(map(is_number, kinds))


def _with_numbered_shares(table: Records, given: Mapping[str, str]) -> Records:
    """The table with lists of shares (`[0.25, 0.75]`) as shares of classes by number, where these are the candidates.

    That is where a person says so, or another column has the number of the largest share.
    """
    lists = [name for name, cells in zip(table.names, table.first, strict=True) if are_share_lists(cells)]
    chosen = [name for name in lists if given.get(name) == "candidates"]
    if not chosen and len(lists) == 1 and lists[0] not in given and _has_number_of_largest(table, lists[0]):
        chosen = lists
    for name in chosen:
        at = list(table.names).index(name)
        shares = [numbers_in(cell) if cell else None for cell in table.texts(at)]
        objects = [one and {str(k): share / (sum(one) or 1.0) for k, share in enumerate(one)} for one in shares]
        table = table.with_columns({name: objects}, [at])
    return table


def _with_named_shares(table: Records, given: Mapping[str, str]) -> Records:
    """The table with two columns of lists, of labels and of how likely or how often each is, as one column of both."""
    free = {name: cells for name, cells in zip(table.names, table.first, strict=True) if name not in given}
    shares = [name for name, cells in free.items() if are_share_lists(cells) or says_counts(name)]
    pairs = [(one, other) for other in shares for one in free if one != other and _are_named(free[one], free[other])]
    if len(pairs) != 1:
        return table
    labels, numbers = pairs[0]
    at = [list(table.names).index(name) for name in (labels, numbers)]
    rows = zip(*map(table.texts, at), strict=True)
    objects = [named_shares(elements(names), _listed_numbers(cell)) or None for names, cell in rows]
    called = numbers if says_counts(numbers) else labels  # votes, whatever was to choose from
    return table.with_columns({called: objects}, at)


def _are_named(labels: Cells, shares: Cells) -> bool:
    """Whether there is a word for each number of the lists of another column, in each of several."""
    rows = [(elements(names), _listed_numbers(cell)) for names, cell in zip(labels, shares, strict=True) if cell]
    are_words = not any(is_number(str(name)) for names, _ in rows for name in names)
    several = sum(len(numbers) > 1 for _, numbers in rows) > 1
    return are_words and several and all(named_shares(*row) is not None for row in rows)


def _listed_numbers(cell: str | None) -> list[float]:
    """The numbers of a list, or between separators; none where one is no number."""
    numbers = [str(one) for one in elements(cell)]
    if not all(map(is_number, numbers)):
        return []
    return [int(one) if one.isdecimal() else float(one) for one in numbers]


def _has_number_of_largest(table: Records, name: str) -> bool:
    """Whether another column has the number, from 0, of the largest share of each row."""
    cells = dict(zip(table.names, table.first, strict=True))
    rows = [(row, numbers) for row, cell in enumerate(cells[name]) if cell and (numbers := numbers_in(cell))]
    best = [(row, {str(k) for k, share in enumerate(some) if share == max(some)}) for row, some in rows]
    others = (some for other, some in cells.items() if other != name)
    return any(sum(some[row] in numbers for row, numbers in best) >= NEARLY_ALL * len(best) > 0 for some in others)


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
    is_line = form.form == "answer"  # which says itself who answered
    answers = [{name: _said_by_one(some) for name, some in row.items()} if is_line else row for row in answers]
    tasks = dict[str, list[str | None]]()
    if form.needs in names:  # a page to read, or a survey, is no example
        shown = [bool((cell or "").strip()) for cell in table.texts(names.index(form.needs))]
        for name in (one for one in names if form.role_of(one) == "task"):
            cells = zip(table.texts(names.index(name)), shown, strict=True)
            tasks[name] = [cell if is_shown else None for cell, is_shown in cells]
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
    other cells stay as they are. The name may be that of the number, too: `{"1": "polite"}`.
    """
    objects = [cell for cell in cells if isinstance(cell, dict)]
    if any(objects) and all(code.isdecimal() and not is_number(str(n)) for one in objects for code, n in one.items()):
        objects = [{str(name): code for code, name in one.items()} for one in objects]
    numbers = {(name, str(number)) for one in objects for name, number in one.items()}
    is_code = all(number.isdecimal() or number == name for name, number in numbers)
    names, codes = ({*some} for some in zip(*numbers, strict=True)) if numbers else (set[str](), set[str]())
    is_one = len(codes) in (1, len(names)) and 1 < len(names) == len(numbers)
    if not (is_code and is_one) or any(cell not in (None, "", []) for cell in cells if not isinstance(cell, dict)):
        return cells
    chosen = iter(objects)
    return [(list(next(chosen)) or None) if isinstance(cell, dict) else None for cell in cells]


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
            if gather.by_id and isinstance(inner, int):
                continue
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

DEEPEST_OBJECT = 6
"""Fields of fields that are looked at; a list between them is one more."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

_WHO = WORDS_OF_FIELDS["who"].union(USUAL["worker"])

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


def _with_answers(table: Records, given: Mapping[str, str]) -> Records:
    """The table with answers in place of lists of objects, or of lists of words, and of objects of people by class.

    Where several fields of the objects may say who and what, each pair is a column, to be asked about. What a person
    says is another thing stays.
    """
    gather = table.form.gather if table.form else None
    signed = {path.partition(".")[0] for path in gather.each} if gather else set()
    signed |= {name for name in table.names if table.form and table.form.role_of(name)}
    for name, cells in zip(table.names, table.first, strict=True):
        called = name.strip()
        if called in signed or given.get(called, OF_LABELS[0]) not in OF_LABELS:
            continue
        are_lists = nearly_all(_holds_objects, cells) or nearly_all(_holds_words, cells)
        are_objects = table.form is None and nearly_all(_begins_object, cells)
        if not are_lists and not (are_objects and answers_by_class(map(_value_in, cells))):
            continue
        at = table.names.index(name)
        values = [_as_objects(row[name]) for row in table.values([at])]
        if are_lists:  # of whom each may say itself who and what
            new, note = _answers_in_lists(called, values, say_who=objects_in(called, cells)[0] == "voters")
        else:
            new, note = _answers_in_objects(called, values)
        new = {one: column for one, column in new.items() if one == called or one not in table.names}
        if new and (called in new or called not in given):
            table = replace(table, notes=(*table.notes, note) if note else table.notes).with_columns(new, [at])
    return table


def _answers_in_lists(name: str, values: Sequence[Any], *, say_who: bool) -> New:
    """Lists of objects as answers; objects that do not count by their state are left out, which is said."""
    read = [row for value in values if (row := fields_in(value or [])) is not None]
    if len(read) < len(values):
        return {}, ""
    against = [[state_against(one) for one in row] for row in read]
    states = Counter(state for row in against for state in row if state)
    if say_who:
        new = {name: _those_that_count([value or [] for value in values], against)} if states else {}
    else:
        new = _answers_listed(name, _those_that_count(read, against))
    return new, _uncounted(name, states) if new else ""


def _uncounted(name: str, states: Mapping[str, int]) -> str:
    """What to say of answers that do not count, by their state; "" where all count."""
    said = ", ".join(f"{state} ({n:,})" for state, n in states.items())
    return Note(f"Answers in {name} that do not count, by their state: {said}.", kind="states") if states else ""


def _as_objects(value: Any) -> Any:
    """Lists of words in a list as objects, whose fields are called by their place; anything else as it is.

    >>> _as_objects([["ann", "cat"], ["bob", "dog"]]), _as_objects(["cat"])
    ([{'1': 'ann', '2': 'cat'}, {'1': 'bob', '2': 'dog'}], ['cat'])
    """
    are_lists = isinstance(value, list) and all(isinstance(one, list) for one in value)
    return [{str(at): part for at, part in enumerate(one, 1)} for one in value] if are_lists else value


def _holds_words(cell: str) -> bool:
    return re.match(r'\s*\[\s*\[\s*"[^"]*"\s*,\s*"', cell) is not None


def _holds_objects(cell: str) -> bool:
    return cell.lstrip()[:1] == "[" and cell[1:].lstrip()[:1] == "{"


def _those_that_count(rows: Sequence[Sequence[Any]], against: Sequence[Sequence[str]]) -> list[list[Any]]:
    return [[one for one, out in zip(*pair, strict=True) if not out] for pair in zip(rows, against, strict=True)]


def _answers_listed(name: str, rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The columns of answers that lists of objects are, by name; none where nothing says who and what."""
    filled = [row for row in rows if row]
    if shares := _shares_listed(rows):
        return {name: shares}
    if (found := reading_of(filled)) is not None:
        pairs = [(who, what) for what in found.what for who in found.who]
        called = [f"{name}: {what} of {who}" if len(pairs) > 1 else name for who, what in pairs]
        answers = [
            [[{"annotator": x.get(who), "label": x[what]} for x in row if x.get(what) is not None] for row in rows]
            for who, what in pairs
        ]
        return dict(zip(called, answers, strict=True))
    return {}


def _shares_listed(rows: Sequence[Row]) -> list[dict[str, float]]:
    """Return how likely each label is in each row, whose objects say it of several; none where they say anything else.

    Examples
    --------
    >>> _shares_listed([[{"of": "cat", "p": 0.7}, {"of": "dog", "p": 0.3}], [], [{"of": ["ox", "elk"], "p": [1, 0]}]])
    [{'cat': 0.7, 'dog': 0.3}, {}, {'ox': 1, 'elk': 0}]
    >>> [one.keys() for one in _shares_listed([[{"token": "A", "logprob": -0.1}, {"token": "B", "logprob": -2.4}]])]
    [dict_keys(['A', 'B'])]
    """
    paths = dict.fromkeys(path for row in rows for one in row for path in one)
    said = {path: [[cell for one in row for cell in _listed(one.get(path))] for row in rows] for path in paths}
    numbers = [path for path in paths if all(isinstance(cell, int | float) for row in said[path] for cell in row)]
    for path in numbers:  # as a model gives them for its tokens
        if _last(path).startswith("log") and all(cell <= 0 for row in said[path] for cell in row):
            said[path] = [[math.exp(cell) for cell in row] for row in said[path]]
    for share, what in ((one, other) for one in numbers for other in paths if _is_beside(one, other)):
        read = [named_shares(*pair) for pair in zip(said[what], said[share], strict=True)]
        found = [one for one in read if one is not None]
        filled = [one for one in found if one]
        are_whole = all(len(one) > 1 for one in filled) and are_share_lists([str([*one.values()]) for one in filled])
        if len(found) == len(read) and (are_whole or are_likeliest(filled)):
            return found
    return []


def _is_beside(path: str, other: str) -> bool:
    """Whether a path is that of a field of an object, and the other one of that, or of an object in it."""
    return path != other and other.startswith(path.rpartition(".")[0])


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
        return bool(_words(path) & WORDS_OF_FIELDS["does_not_count" if cell else "counts"])
    is_state = not {"status", "state", "type", "kind"}.isdisjoint(_words(path))
    return is_state and isinstance(cell, str) and cell.casefold() in WORDS_OF_FIELDS["does_not_count"]


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
        fields = grouped(_leaves(one, DEEPEST_OBJECT))
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
    told = [path for path in paths if times[path] >= NEARLY_ALL * len(objects) and _names_people(path, rows)]
    who = named = [path for path in told if _words(path) & _WHO]
    if not named and 2 * sum(len(row) > 1 for row in rows) >= len(rows):
        who = [path for path in told if _are_few(path, objects)]
    what = [path for path in paths if path not in who and _says_what(path, objects)]
    others = [path for path in paths if path not in (*who, *what) and _may_be_what(path, rows, who)]
    agreed = [path for path in others if _agree_on(path, rows)] if what and who else others
    what = what if any(_agree_on(path, rows) for path in what) else [*agreed, *what]
    what = what if named else [path for path in what if _agree_on(path, rows)]
    who.sort(key=lambda path: _last(path) in WORDS_OF_FIELDS["about"])  # names before numbers
    who, what = (_different(some, objects) for some in (who, what))
    return Fields(tuple(who), tuple(what)) if what and who else None


def _words(path: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(path)}


def _last(path: str) -> str:
    return str((_WORD.findall(path) or [path])[-1]).casefold()


def _names_people(path: str, rows: Sequence[Row]) -> bool:
    """Whether a field differs within nearly every row, and comes again in others."""
    cells = _cells_at(path, rows)
    every = [cell for some in cells for cell in some]
    apart = sum(len(set(some)) == len(some) for some in cells)
    return apart >= NEARLY_ALL * len(rows) and 2 * len(set(every)) <= max(len(every), 4) and not are_dates(every)


def _says_what(path: str, objects: Row) -> bool:
    """Whether a field has few different words, and is called as labels are."""
    is_called = not WORDS_OF_FIELDS["what"].isdisjoint(_words(path)) and _last(path) not in WORDS_OF_FIELDS["about"]
    return is_called and _are_few(path, objects)


def _may_be_what(path: str, rows: Sequence[Row], who: Sequence[str]) -> bool:
    """Whether a field of few words may be the label, whatever called: no fact about the person, nor the item."""
    objects = [one for row in rows for one in row]
    pairs = ([(str(one.get(w)), str(one.get(path))) for one in objects] for w in who)  # a field may be a list
    is_fact = any(len({*some}) == len({w for w, _ in some}) for some in pairs)
    is_item = all(len({*some}) < 2 for some in _cells_at(path, rows))
    is_other = _last(path) in WORDS_OF_FIELDS["about"] or says_fact(path) or bool(_words(path) & _WHO)
    return not (is_fact or is_item or is_other) and _are_few(path, objects)


def _agree_on(path: str, rows: Sequence[Row]) -> bool:
    """Whether objects of one row have the same in a field more often than by chance."""
    said = [(cell, str(k)) for k, cells in enumerate(_cells_at(path, rows)) for cell in cells]
    return agreement(*([*some] for some in zip(*said, strict=True))) >= FAR_SHARED if said else False


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


def _answers_in_objects(name: str, values: Sequence[Any]) -> New:
    answers = answers_by_class(values)
    return ({} if answers is None else {name: answers}), ""


def _begins_object(cell: str) -> bool:
    return cell.lstrip().startswith("{")


def _value_in(cell: str | None) -> Any:
    return value_of(cell) if cell else None


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
        people = lists or {}
        if not isinstance(people, dict) or not all(map(_are_names, people.values())):
            return None
        said.append([(str(who), label) for label, some in people.items() for who in some])
        for label, some in people.items():
            sizes.setdefault(label, set()).add(len(some))
    times = Counter(who for row in said for who, _ in row)
    under = Counter(who for who, _ in {one for row in said for one in row})
    are_people = 2 * sum(n > 1 for n in under.values()) >= sum(n > 1 for n in times.values())
    once = sum(len({who for who, _ in row}) == len(row) for row in said)
    is_free = 1 < len(sizes) <= FEW and any(len(some) > 1 for some in sizes.values())
    if not (is_free and are_people) or 2 * len(times) > times.total() or 2 * once < len(said):
        return None
    return [[{"annotator": who, "label": label} for who, label in row] for row in said]


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str | int) for one in value)
