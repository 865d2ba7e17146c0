"""Files of JSON, read record by record without trusting them, in every shape that tables have (`JSON_SHAPES`).

However large a file of objects, only one is in memory at a time; a message names the line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import IO, Any

from pll.errors import RowError, UserError
from pll.formats.checks import MAX_RECORD_BYTES, readable, scan_text, shorten
from pll.formats.encodings import without_marks
from pll.formats.forms import WORDS

Record = dict[str, Any]

KEY, SPLIT = "id", "split"
"""The field of a record for the key that it has in an object of objects, or that its list has."""
VALUES, ANSWERS = "candidates", "answers"
"""The field of a record that is a list of labels, or of what each of several people answered."""
ROW_FIELDS = ("rows", "data", "items", "examples", "records", "results")
"""What the records are called beside other lists of objects."""
WITHOUT_PLACE = ("split", "lists", "keyed lists", "keyed answers", "keyed people")
"""Shapes that have no place for a field of a record."""
_MOST_KEYS = 50
"""Values of an object that are looked at to see which shape it is."""
MAX_VALUES = 1_000_000
"""Values in one object; each takes some fifty times the memory that `[],` has in the file."""

_CHUNK = 2**20
_SPACE = " \t\r\n\ufeff"


def records(path: Path) -> Iterator[tuple[int, Record]]:
    """(line, object) of every object, in order; the line it begins on, counted from 1.

    Raises
    ------
    UserError
        Not UTF-8, not JSON, something that is no object, nested too deeply or too long; the line is named.
    """
    scan_text(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from _ObjectReader(file).walk()


def records_in(text: str) -> Iterator[tuple[int, Record]]:
    """(line, object) of every object in a text, as `records` of a file; and its errors."""
    yield from _ObjectReader(StringIO(text)).walk()


def only_record(path: Path) -> Record:
    """Return the object that a file is, whatever lists there are in it.

    Raises
    ------
    UserError
        It is no JSON, or no object alone.
    """
    scan_text(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return _ObjectReader(file).only()


def first_record(path: Path, head: bytes) -> Record | None:
    """The first object of a file, or None where it does not begin with one.

    Parameters
    ----------
    path
        The file.
    head
        How it begins.
    """
    start = without_marks(head).lstrip()
    if start[:1] not in (b"{", b"["):
        return None
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next((record for _, record in _ObjectReader(file, limit=_CHUNK).walk()), None)
    except (UserError, UnicodeDecodeError):
        return None


def shape_of(path: Path) -> str:
    """Return which of `JSON_SHAPES` a file has."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return _ObjectReader(file).find_shape()[0]


def fields_beside(path: Path) -> Record:
    """Return the fields beside the records in one field of an object, as far as its beginning shows them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = _ObjectReader(file)
        shape, name = reader.find_shape()
        is_beside = name != "" and shape in ("inside", "keyed", "indexed columns")
        return _fields(reader.text[reader.at :])[0] if is_beside else {}


def write(path: Path, records: Iterable[Record], *, as_list: bool) -> None:
    """Write objects, one a line; as the items of one list, or each for itself.

    Parameters
    ----------
    path
        Where to write.
    records
        The objects.
    as_list
        Whether they are the items of one list.

    Raises
    ------
    UserError
        Text that no file can hold.
    """
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    with path.open("w", encoding="utf-8", newline="\n") as file:
        try:
            if as_list:
                file.write("[")
                for number, record in enumerate(records):
                    file.write((",\n" if number else "\n") + encode(record))
                file.write("\n]\n")
            else:
                file.writelines(encode(record) + "\n" for record in records)
        except UnicodeEncodeError as error:
            raise UserError(
                f"{error.object[:200]!r} holds half a character, which no file can hold; rename it."
            ) from error


def write_with(source: Path, path: Path, added: Iterable[Record]) -> None:
    """Write a file again with fields at the end of its objects: every other character stays as it is.

    Parameters
    ----------
    source
        A file that `records` has read, of a shape that has a place for fields (`shape_of`).
    path
        Where to write.
    added
        The fields of each record, in the order of `records`.
    """
    with source.open("rb") as raw:
        head = raw.read(8)
    mark = "\ufeff" if without_marks(head) != head else ""
    with source.open(encoding="utf-8-sig", newline="") as file, path.open("w", encoding="utf-8", newline="") as out:
        out.write(mark)
        reader = _ObjectReader(file)
        reader.passed = []
        pairs = zip(reader.walk(), added, strict=True)
        if reader.find_shape()[0] in ("columns", "indexed columns"):
            rows = [fields for _, fields in pairs]
            names = dict.fromkeys(name for fields in rows for name in fields)
            columns = {name: [fields.get(name) for fields in rows] for name in names}
            new: Record = dict(columns)
            if reader.index:
                new = {name: dict(zip(reader.index, values, strict=True)) for name, values in columns.items()}
            out.write(with_fields("".join(reader.passed), new))
            reader.passed.clear()
        else:
            for _, fields in pairs:
                out.write(with_fields("".join(reader.passed), fields))
                reader.passed.clear()
        out.write("".join(reader.passed) + reader.text[reader.at :])


def with_fields(text: str, fields: Record) -> str:
    """Return a text that ends with an object, with fields added to that.

    Parameters
    ----------
    text
        JSON.
    fields
        What is added.

    Examples
    --------
    >>> with_fields('[{"a": 1}', {"label": "x"}), with_fields("{ }", {"label": "x"})
    ('[{"a": 1, "label": "x"}', '{"label": "x" }')
    """
    if not fields:
        return text
    inside = text[:-1].rstrip()
    end = text[len(inside) :]
    new = json.dumps(fields, ensure_ascii=False)[1:-1]
    return f"{inside}{'' if inside.endswith('{') else ', '}{new}{end}"


def count_values(text: str) -> int:
    """About how many values there are in a piece of JSON, from above."""
    return text.count(",") + text.count("[") + text.count("{")


class _ObjectReader:
    """Reads a file with a window that grows until the next object is complete.

    Where `passed` is a list, it gets the text that was read past. `index` are the keys of rows in columns, once read.
    """

    def __init__(self, file: IO[str], limit: int = MAX_RECORD_BYTES) -> None:
        self.file, self.limit = file, limit
        self.decoder = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=unique_keys)
        self.text, self.at, self.line, self.ended = "", 0, 1, False
        self.passed: list[str] | None = None
        self.index: list[str] = []
        self._shape: tuple[str, str] | None = None

    def find_shape(self) -> tuple[str, str]:
        """Return which of `JSON_SHAPES` the text has, and the field that holds its records."""
        if self._shape is None:
            first = self._next_character()
            text = self.text[self.at :]
            self._shape = _shape(text, len(text) < _CHUNK) if first else ("lines", "")
            if self._shape[0] == "keyed" and self._shape[1] and self._is_a_line():
                self._shape = "lines", ""
        return self._shape

    def _is_a_line(self) -> bool:
        """Whether the object that begins here ends with its line, and another one follows."""
        with suppress(UserError):
            while not self.ended and "\n" not in self.text[self.at :].rstrip(_SPACE):
                self._grow()
        line, _, rest = self.text[self.at :].partition("\n")
        return line.rstrip(_SPACE).endswith("}") and rest.lstrip(_SPACE).startswith("{")

    def walk(self) -> Iterator[tuple[int, Record]]:
        shape, name = self.find_shape()
        if shape == "lines":
            while self._next_character() != "":
                yield self.line, self._object()
        elif shape in ("columns", "indexed columns"):
            yield from self._columns(name, indexed=shape == "indexed columns")
        elif shape == "parts":
            yield from self._parts()
        else:
            columns = _fields(self.text[self.at :])[0]["columns"] if shape == "split" else []
            for part in filter(None, name.split(_WITHIN)):
                self._enter(part)
            for line, key, value in self._items("}" if shape.startswith("keyed") else "]"):
                if shape == "split" and (not isinstance(value, list) or len(value) != len(columns)):
                    raise self._wrong(f"A row is not a list of {len(columns):,} values, one for each of the columns")
                yield line, dict(zip(columns, value, strict=True)) if columns else _record_of(shape, key, value)
            if shape == "keyed" and name:
                self._pass_fields(name)
            self._end("object" if shape.startswith("keyed") else "list", is_inside=shape != "keyed" and name != "")

    def _parts(self) -> Iterator[tuple[int, Record]]:
        """Yield the objects in the lists of an object, each with the key of its list."""
        self._move(1)
        while self._next_character() == '"':
            part = self._key()
            for line, _, value in self._items("]"):
                yield line, {SPLIT: part} | value
            if self._next_character() == ",":
                self._move(1)
        if self._next_character() != "}":
            raise self._wrong("Where the next part or the end of the object should be stands something else")
        self._move(1)
        self._end("object", is_inside=False)

    def only(self) -> Record:
        """Return the one object of the text."""
        self._next_character()
        record = self._object()
        if self._next_character():
            raise self._wrong("There is something after the end of the object")
        return record

    def _enter(self, field: str) -> None:
        """Move to the value of a field of the object that begins here."""
        self._move(1)
        self._next_character()
        while self._key() != field:
            self._value("The value")
            if self._next_character() == ",":
                self._move(1)
            self._next_character()

    def _pass_fields(self, beside: str) -> None:
        """Move past the fields after that of the records to the end of the object, where they are plain values."""
        while self._next_character() == ",":
            self._move(1)
            name = self._key()
            if not _is_plain(self._value("The value")):
                raise UserError(
                    f"The field {shorten(beside)} holds objects, and {shorten(name)} beside it, too; "
                    "bring one of them as a file of its own."
                )
        if self._next_character() != "}":
            raise self._wrong(f"Where a comma or the end of the object should be stands {self._next_character()!r}")
        self._move(1)

    def _items(self, end: str) -> Iterator[tuple[int, str, Any]]:
        """Yield (line, key, value) of every item, an object or a list, of a list, or of an object, up to its end."""
        what, number = "list" if end == "]" else "object", 0
        self._next_character()
        self._move(1)
        while (character := self._next_character()) != "":
            if character == end:
                self._move(1)
                return
            if number:
                if character != ",":
                    raise self._wrong(f"Where a comma or the end of the {what} should be stands {character!r}")
                self._move(1)
                self._next_character()
            number += 1
            line, key = self.line, self._key() if end == "}" else ""
            yield line, key, self._value("The list") if self._next_character() == "[" else self._object()
        raise self._wrong(f"The file ends inside its {what} of objects")

    def _end(self, what: str, *, is_inside: bool) -> None:
        """Check that nothing follows; what stands beside records in a field of an object is not looked at."""
        if self._next_character() and not is_inside:
            raise self._wrong(f"There is something after the end of the {what}")
        self._move(len(self.text) - self.at)
        while not self.ended:
            self._grow()
            self._move(len(self.text) - self.at)

    def _key(self) -> str:
        """Read a key and its colon."""
        if self._next_character() != '"':
            raise self._wrong("Where a key should be stands something else")
        key = str(self._value("The key"))
        if self._next_character() != ":":
            raise self._wrong(f"After the key {shorten(key)} a colon is missing")
        self._move(1)
        self._next_character()
        return key

    def _columns(self, within: str, *, indexed: bool) -> Iterator[tuple[int, Record]]:
        """Yield the rows of an object of columns, or of those in a field of it and beside."""
        line, columns = self.line, self._object()
        if within:
            ids = {key for column in columns[within].values() for key in column}
            beside = {name: one for name, one in columns.items() if isinstance(one, dict) and name != within}
            columns = {name: one for name, one in beside.items() if ids & one.keys()} | columns[within]
        if indexed:
            self.index = list(dict.fromkeys(key for column in columns.values() for key in column))
            for key in self.index:
                yield line, {KEY: key} | {name: column.get(key) for name, column in columns.items()}
            return
        lengths = {name: len(values) if isinstance(values, list) else 0 for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            first, other = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
            raise self._wrong(
                f"The lists {shorten(first)} and {shorten(other)} have {lengths[first]:,} and {lengths[other]:,} values"
            )
        for values in zip(*columns.values(), strict=True):
            yield line, dict(zip(columns, values, strict=True))

    def _object(self) -> Record:
        if self.text[self.at : self.at + 1] != "{":
            raise self._wrong(
                f"Where an object {{…}} should be stands {self.text[self.at : self.at + 20]!r}" if self.text[self.at :]
                else "The file ends where an object should be"
            )  # fmt: skip
        record = self._value("The object")
        return record if isinstance(record, dict) else {KEY: record}  # a value with its type alone

    def _value(self, what: str) -> Any:
        """Read a value, reading on until it is complete."""
        while True:
            try:
                value, end = self.decoder.raw_decode(self.text, self.at)
                break
            except RecursionError:
                raise self._wrong(f"{what} is nested too deeply") from None
            except json.JSONDecodeError as error:
                # A mistake far from the end of the window will not go away as the window grows.
                cut_off = error.pos >= len(self.text) - 64 or error.msg.startswith("Unterminated string")
                if not cut_off or self.ended or not self._grow():
                    where = self.line + self.text.count("\n", self.at, error.pos)
                    ends = error.pos >= len(self.text) - 1 or error.msg.startswith("Unterminated string")
                    why = "the file ends inside it" if self.ended and ends else error.msg
                    raise self._wrong(f"{what} is not JSON ({why}, line {where})") from None
            except UserError as error:
                raise self._wrong(str(error)) from None
            except ValueError as error:
                raise self._wrong(f"{what} cannot be read ({str(error)[:100]})") from None
        raw = self.text[self.at : end]
        if "\\ud" in raw or "\\uD" in raw:
            _check_characters(value, self)
        self._move(end - self.at)
        return value

    def _next_character(self) -> str:
        """The next character that is no space, "" at the end of the file."""
        while True:
            rest = self.at
            while rest < len(self.text) and self.text[rest] in _SPACE:
                rest += 1
            self._move(rest - self.at)
            if self.at < len(self.text):
                return self.text[self.at]
            if self.ended:
                return ""
            self._grow()

    def _move(self, count: int) -> None:
        self.line += self.text.count("\n", self.at, self.at + count)
        if self.passed is not None:
            self.passed.append(self.text[self.at : self.at + count])
        self.at += count

    def _grow(self) -> bool:
        """Read on; False where the object is longer than is read."""
        rest = self.text[self.at :]
        if len(rest) >= self.limit:
            raise self._wrong(f"An object is longer than {readable(self.limit)}")
        if count_values(rest) > MAX_VALUES:
            raise self._wrong(f"An object holds more than {MAX_VALUES:,} values")
        more = self.file.read(max(_CHUNK, len(rest)))
        self.ended = not more
        self.text, self.at = rest + more, 0
        return True

    def _wrong(self, what: str) -> UserError:
        return RowError(f"Row {self.line}: {what}; correct it, or export the file again.")


def _record_of(shape: str, key: str, value: Any) -> Record:
    """Return the record of an item: a list is a field of it, and so is its key, where it has none of that name."""
    if shape == "keyed people":
        return {KEY: key, ANSWERS: [{"annotator": who, **said} for who, said in value.items()]}
    record: Record = {ANSWERS if shape == "keyed answers" else VALUES: value} if isinstance(value, list) else value
    return {KEY: key} | record if shape.startswith("keyed") and KEY not in record else record


def _shape(text: str, whole: bool) -> tuple[str, str]:
    """Return which of `JSON_SHAPES` a text has, by its beginning (or whole), and which field holds its records.

    Examples
    --------
    >>> _shape('{"7": {"a": 1}, "9": {"a": 2}}', True), _shape('{"a": {"x": 1}, "b": 2}', True)
    (('keyed', ''), ('lines', ''))
    >>> _shape('{"a": [1, 2, 3], "b": [4, 5, 6]}', True), _shape("[[1], [2, 3]]", True)
    (('columns', ''), ('lists', ''))
    >>> _shape('{"columns": ["a", "b"], "index": [0], "data": [["x", 1]]}', True)
    ('split', 'data')
    >>> posts = '{"made": "today", "posts": {%s' % ", ".join(f'"-N{k}": {{"text": "a", "n": 1}}' for k in range(20))
    >>> _shape(posts + "}}", True), _shape(posts + ', "-N20": {"te', False)
    (('keyed', 'posts'), ('keyed', 'posts'))
    """
    if text.startswith("["):
        return "lists" if text[1:].lstrip(_SPACE).startswith("[") else "list", ""
    values, rest = _fields(text)
    if rest == "{" or not text.startswith("{"):
        return "lines", ""
    if _is_split(values, rest, text):
        return "split", "data"
    found = list(values.values())
    closed = rest == ""
    are_columns = all(map(_is_column, found)) and not any(map(str.isdecimal, values))
    is_indexed = are_columns and (rest == "#" or _are_alike(found))
    if not is_indexed and _are_of_people(found):
        return "keyed people", ""
    by_voter = [name for name, value in values.items() if _are_by_voter(value, _keys_beside(values))]
    by_voter += [""] if _are_by_voter(values) else []
    if closed and whole and len(by_voter) == 1 and KEY not in values and not _lists_in(values):
        return "indexed columns", by_voter[0]
    if is_indexed or _are_alike(found):
        return "indexed columns" if is_indexed else "keyed", ""
    several = [name for name, value in values.items() if not _is_plain(value)]
    is_alone = len(several) == 1 and ((closed and whole) or rest == "}") and KEY not in values
    if is_alone and _are_keyed(values[several[0]]):  # as Firebase exports a database
        return "keyed", several[0]
    if found and all(isinstance(value, list) for value in found):
        said = [one for value in found for one in value]
        if said and all(isinstance(one, list) and all(isinstance(label, str | int) for label in one) for one in said):
            return "keyed answers", ""
    names = {*values, *filter(None, [rest[1:]])}
    are_parts = len(names) > 1 and names <= WORDS["train"] | WORDS["test"]
    if len(found) > 1 and all(isinstance(value, list) for value in found):
        sizes = {len(value) for value in found}
        inner = any(isinstance(one, dict) for value in found for one in value)
        if are_parts and not inner:
            raise UserError("The parts are lists of labels, and nothing says of what; bring lists of objects.")
        if len(sizes) == 1 and (min(sizes) > len(found) or inner) and (closed or rest == "["):
            return "columns", ""
        if not inner:
            return "keyed lists", ""
    lists = _lists_in(values)
    if lists == [*values] and are_parts:
        return "parts", ""
    within = {key: _lists_in(value) for key, value in values.items() if isinstance(value, dict)}
    lists = lists or [f"{key}{_WITHIN}{name}" for key, names in within.items() if len(names) == 1 for name in names]
    if closed and whole and len(lists) == 1 and KEY not in values:
        return "inside", lists[0]
    if rest == "[" and len(found) == 1 and isinstance(found[0], list) and len(found[0]) > _MOST_KEYS:
        return "columns", ""  # of which the second is cut off
    if not closed and not lists and KEY not in values and rest.startswith("["):
        return ("inside", rest[1:]) if rest[1:] else ("columns", "")
    return "lines", ""


def _is_split(values: Record, rest: str, text: str) -> bool:
    """Whether an object has the names of columns, and a list of as many values for each row; whatever else it says."""
    names, rows = values.get("columns"), values.get("data")
    are_named = isinstance(names, list) and bool(names) and all(isinstance(name, str) for name in names)
    if not are_named or (rows is None and rest != "[") or '"data"' not in text:
        return False
    return rows is None or (isinstance(rows, list) and bool(rows) and isinstance(rows[0], list))


def _is_column(value: Any) -> bool:
    """Whether a value is an object of plain values whose keys are the numbers of rows."""
    is_numbered = isinstance(value, dict) and len(value) > 0 and all(map(str.isdecimal, value))
    return is_numbered and not any(isinstance(one, dict | list) for one in value.values())


def _are_alike(found: Sequence[Any]) -> bool:
    """Whether values are several objects with mostly the same fields."""
    are_objects = len(found) > 1 and all(isinstance(value, dict) and value for value in found)
    return are_objects and all(2 * len(value.keys() & found[0].keys()) >= len(found[0]) for value in found)


def _is_plain(value: Any) -> bool:
    """Whether a value is no list or object, or one that holds none."""
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not any(isinstance(one, dict | list) for one in held)


def _are_keyed(value: Any) -> bool:
    """Whether a value is an object of objects alike, of which each says several things."""
    found = list(value.values()) if isinstance(value, dict) else []
    are_rows = len(found) >= LEAST_KEYS and not any(map(_is_column, found)) and not _are_of_people(found)
    return are_rows and _are_alike(found) and all(len(one) > 1 for one in found)


def _keys_beside(values: Record) -> Iterator[set[str]]:
    """The keys of each field that holds an object of plain values."""
    yield from ({*one} for one in values.values() if isinstance(one, dict) and _is_plain(one))


def _are_by_voter(value: Any, ids: Iterable[Collection[str]] = ()) -> bool:
    """Whether a value is an object of a few voters, of each an object of what it says of many examples, by their ids.

    That they are ids is sure where they are the keys of another object, of texts say: `ids` are such.

    >>> said = {who: {f"item {k}": "ab"[k % 2] for k in range(20)} for who in ("ann", "bob")}
    >>> _are_by_voter(said), _are_by_voter({"x1": {f"field {k}": f"value {k}" for k in range(20)}, "x2": {}})
    (True, False)
    """
    found = list(value.values()) if isinstance(value, dict) else []
    if not _are_alike(found) or len(found[0]) < max(LEAST_KEYS, 2 * len(found)):
        return False
    if any(len({*map(type, some.values())} - {type(None)}) > 1 for some in found):  # a record has numbers and words
        return False
    said = [one for some in found for one in some.values() if one is not None]
    are_words = all(isinstance(one, str | int) for one in said) and 1 < len({*said}) <= len(found[0]) / 2
    if are_words and any(2 * len(found[0].keys() & some) > len(found[0]) for some in ids):
        return True
    if are_words:  # the other way round, of examples what each voter says, those of one example agree
        items = [[one.get(key) for one in found] for key in found[0]]
        return _alike(items) > _alike([list(one.values()) for one in found])
    return _are_alike(said) and all(isinstance(x, int | float) for one in said for x in one.values())


def _alike(groups: Sequence[Sequence[Any]]) -> float:
    """The share of the pairs of values of one group that are the same; 0 without any."""
    times = [Counter(one for one in group if one is not None) for group in groups]
    same = sum(n * (n - 1) for one in times for n in one.values())
    return same / max(sum(one.total() * (one.total() - 1) for one in times), 1)


LEAST_KEYS = 10
"""Objects of the only field of one, from which these are the examples, and not who said something of one."""


def _are_of_people(found: Sequence[Any]) -> bool:
    """Whether values are objects of objects alike, mostly several, some with words: of each person what they said."""
    inner = [one for value in found if isinstance(value, dict) for one in value.values()]
    are_several = len(found) > 1 and all(isinstance(value, dict) for value in found) and len(inner) >= 2 * len(found)
    return are_several and _are_alike(inner) and any(isinstance(one, str) for some in inner for one in some.values())


_WITHIN = "\0"
"""Between the name of a field and that of a field of its object."""


def _lists_in(values: Record) -> list[str]:
    """The fields that hold a list of objects; those that are called as rows, where there are any."""
    several = {name: value for name, value in values.items() if isinstance(value, list) and len(value) > 1}
    lists = [name for name, value in several.items() if all(isinstance(one, dict) for one in value)]
    return [name for name in lists if name in ROW_FIELDS] or lists


def _fields(text: str) -> tuple[Record, str]:
    """Return the first fields of the object that a text begins with, and what follows them.

    That is "" where the object is all there is, "{" where another one follows, "…" after many fields; where a list is
    cut off "[", with its field where it is one of objects; "#" where an object of values whose keys are numbers is; "?"
    for anything else.
    """
    values: Record = {}
    reader = _ObjectReader(StringIO(text), limit=len(text) + 1)
    with suppress(UserError):
        reader._next_character()
        reader._move(1)
        while len(values) < _MOST_KEYS and reader._next_character() == '"':
            key, inside = reader._key(), reader.text[reader.at : reader.at + 100].split()
            start = "".join(inside)[:2]
            try:
                values[key] = reader._value("The value")
            except UserError:
                if start[:1] == "{":
                    inner, rest = _fields(reader.text[reader.at :])
                    if _is_column(inner):
                        return values, "#"
                    if _are_keyed(inner):
                        return values | {key: inner}, "}"
                    return values, f"[{key}{_WITHIN}{rest[1:]}" if rest[:1] == "[" and rest[1:] else "?"
                return values, f"[{key}" if start == "[{" else start[:1] if len(start) == 2 and start[0] == "[" else "?"
            end = reader._next_character()
            reader._move(1)
            if end == "}":
                following = reader._next_character()
                return values, following if following in ("", "{") else "?"
        return values, "…" if len(values) == _MOST_KEYS else "?"
    return values, "?"


_TYPED = frozenset({"$oid", "$date", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal"})
"""Keys under which MongoDB exports a value that plain JSON has no type for (Extended JSON v2)."""


def unique_keys(pairs: list[tuple[str, Any]]) -> Any:
    """Return the object of these keys and values, as a hook of `json`; of a value with its type beside, that value.

    Raises
    ------
    UserError
        A key stands twice.

    Examples
    --------
    >>> unique_keys([("a", 1)]), unique_keys([("$oid", "5f8a")])
    ({'a': 1}, '5f8a')
    """
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in record if names.count(name) > 1)
        raise UserError(f"An object has the key {shorten(twice)} twice")
    return pairs[0][1] if len(pairs) == 1 and pairs[0][0] in _TYPED else record


def _constant(word: str) -> float | None:
    """NaN, which JSON does not have and many programs write, is a missing value."""
    return None if word == "NaN" else float(word.replace("Infinity", "inf"))


def _check_characters(record: Record, where: _ObjectReader) -> None:
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.start + 1]
        raise where._wrong(f"It holds {bad!a}, which is half a character") from None
