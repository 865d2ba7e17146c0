"""Files of JSON objects, one a line or in one list, read object by object without trusting them.

However large the file, only one object is in memory at a time; a message names the line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import IO, Any

from pll.errors import UserError
from pll.formats.checks import MAX_RECORD_BYTES, readable, scan_text, shorten
from pll.formats.encodings import without_marks

Record = dict[str, Any]

MAX_BYTES = MAX_RECORD_BYTES
"""Longest object that is read."""

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


def first_record(path: Path, head: bytes) -> Record | None:
    """The first object of a file, or None where it does not begin with one."""
    start = without_marks(head).lstrip()
    if start[:1] not in (b"{", b"["):
        return None
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next((record for _, record in _ObjectReader(file, limit=_CHUNK).walk()), None)
    except (UserError, UnicodeDecodeError):
        return None


def is_list(path: Path) -> bool:
    """Whether a file is one list of objects, and not an object a line."""
    with path.open("rb") as file:
        return without_marks(file.read(2**16)).lstrip().startswith(b"[")


def write(path: Path, records: Iterable[Record], *, as_list: bool) -> None:
    """Write objects, one a line; as the items of one list, or each for itself.

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
        A file that `records` has read.
    path
        Where to write.
    added
        The fields of each object, in the order of `records`.
    """
    with source.open("rb") as raw:
        head = raw.read(8)
    mark = "\ufeff" if without_marks(head) != head else ""
    with source.open(encoding="utf-8-sig", newline="") as file, path.open("w", encoding="utf-8", newline="") as out:
        out.write(mark)
        reader = _ObjectReader(file)
        reader.passed = []
        for _, fields in zip(reader.walk(), added, strict=True):
            out.write(_with_fields("".join(reader.passed), fields))
            reader.passed.clear()
        out.write("".join(reader.passed) + reader.text[reader.at :])


def _with_fields(text: str, fields: Record) -> str:
    """Return a text that ends with an object, with fields added to that.

    Examples
    --------
    >>> _with_fields('[{"a": 1}', {"label": "x"}), _with_fields("{ }", {"label": "x"})
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

    Where `passed` is a list, it gets the text that was read past.
    """

    def __init__(self, file: IO[str], limit: int = MAX_BYTES) -> None:
        self.file, self.limit = file, limit
        self.decoder = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=unique_keys)
        self.text, self.at, self.line, self.ended = "", 0, 1, False
        self.passed: list[str] | None = None

    def walk(self) -> Iterator[tuple[int, Record]]:
        inside_list = self._next_character() == "["
        if inside_list:
            self._move(1)
        number = 0
        while (character := self._next_character()) != "":
            if inside_list and character == "]":
                self._move(1)
                if self._next_character():
                    raise self._wrong("There is something after the end of the list")
                return
            if inside_list and number:
                if character != ",":
                    raise self._wrong(f"Where a comma or the end of the list should be stands {character!r}")
                self._move(1)
                self._next_character()
            number += 1
            yield self.line, self._object()
        if inside_list:
            raise self._wrong("The file ends inside its list of objects")

    def _object(self) -> Record:
        if self.text[self.at : self.at + 1] != "{":
            raise self._wrong(
                f"Where an object {{…}} should be stands {self.text[self.at : self.at + 20]!r}" if self.text[self.at :]
                else "The file ends where an object should be"
            )  # fmt: skip
        while True:
            try:
                decoded = self.decoder.raw_decode(self.text, self.at)
                break
            except RecursionError:
                raise self._wrong("The object is nested too deeply") from None
            except json.JSONDecodeError as error:
                # A mistake far from the end of the window will not go away as the window grows.
                cut_off = error.pos >= len(self.text) - 64 or error.msg.startswith("Unterminated string")
                if not cut_off or self.ended or not self._grow():
                    where = self.line + self.text.count("\n", self.at, error.pos)
                    ends = error.pos >= len(self.text) - 1 or error.msg.startswith("Unterminated string")
                    why = "the file ends inside it" if self.ended and ends else error.msg
                    raise self._wrong(f"The object is not JSON ({why}, line {where})") from None
            except UserError as error:
                raise self._wrong(str(error)) from None
            except ValueError as error:
                raise self._wrong(f"The object cannot be read ({str(error)[:100]})") from None
        record: Record = decoded[0]
        end: int = decoded[1]
        raw = self.text[self.at : end]
        if "\\ud" in raw or "\\uD" in raw:
            _check_characters(record, self)
        self._move(end - self.at)
        return record

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
        return UserError(f"Row {self.line}: {what}; correct it, or export the file again.")


def unique_keys(pairs: list[tuple[str, Any]]) -> Record:
    """Return the object of these keys and values, as a hook of `json`.

    Raises
    ------
    UserError
        A key stands twice.
    """
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in record if names.count(name) > 1)
        raise UserError(f"An object has the key {shorten(twice)} twice")
    return record


def _constant(word: str) -> float | None:
    """NaN, which JSON does not have and many programs write, is a missing value."""
    return None if word == "NaN" else float(word.replace("Infinity", "inf"))


def _check_characters(record: Record, where: _ObjectReader) -> None:
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.start + 1]
        raise where._wrong(f"It holds {bad!a}, which is half a character") from None
