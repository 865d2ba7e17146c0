"""What codes mean, where another sheet or file says it: a codebook, a legend, the data dictionary of REDCap."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pll.dataset import PartialLabelDataset
from pll.errors import Note
from pll.formats.checks import listing
from pll.formats.classes import with_classes
from pll.formats.forms import NO_ANSWER, WORDS, any_of, plain_name, words_of
from pll.formats.odd import RARE, same_as
from pll.formats.proposal import Codes
from pll.formats.reading import CODEBOOK
from pll.formats.tabular.cells import (
    NEARLY_ALL,
    Cells,
    guess_separator,
    is_no_answer,
    is_number,
    present_cells,
    spelling,
)

MOST_CODES = 1000
"""Lines of a codebook that are looked at."""
LONGEST_CODE, LONGEST_NAME = 12, 60
LEAST_WORD = 4
"""Letters, not all of them capitals, from which a code is a name itself: what it means is said of it, as of `Rojo`."""
LEAST_SHORT_NAMES = 0.75
"""Share of the names of letters, at least, that are of few words: texts that say what is meant are none."""
LEAST_CLASSES_NAMED = 0.5
"""Share of the classes that a codebook has names for, at least."""
APART = 0.8
"""Share of the names that differ from each other, at least: answers to examples do not."""
LEAST_OF_SCALE = ("none", "brak", "无", "無", "なし", "없음")
"""What the least of a scale may be called, as elsewhere what is no answer."""
_BOOK = re.compile(any_of("codebook"))
_LINE = re.compile(r"\s*(?P<code>[^\s=:–—]{1,12})\s*(?:[=:–—]|\s-\s|->|→)\s*(?P<name>\S.*)", re.DOTALL)
_LISTED = re.compile(r"(?:^|\|)\s*(-?\w{1,12})\s*,\s*([^|]*[^|\s])")
_NAME = re.compile(r"[^\s,;(]+(?: [^\s,;(]+){0,3}")
"""A name of few words; letters whose meaning is a longer text stay."""


def codes_in(title: str, rows: Sequence[Sequence[str | None]]) -> Codes:
    """Return what a sheet or file says that codes mean; nothing where it is no codebook.

    Parameters
    ----------
    title
        Of the sheet or file.
    rows
        Its cells, the header first.

    Examples
    --------
    >>> codes_in("Legende", [["Code", "Bedeutung"], ["1", "Lob"], ["2", "Kritik"]])
    {'': {'1': 'Lob', '2': 'Kritik'}}
    >>> codes_in("Codes", [["tone", "1 = good"], ["", "2 = bad"]]), codes_in("People", [["no", "who"], ["1", "Ann"]])
    ({'tone': {'1': 'good', '2': 'bad'}}, {})
    >>> lines = [[q, "answer", a, b] for q, names in (("A", "xyz"), ("B", "yzx")) for a, b in zip("123", names)]
    >>> codes_in("Codes", [["question", "type", "code", "text"], *lines])
    {'A': {'1': 'x', '2': 'y', '3': 'z'}, 'B': {'1': 'y', '2': 'z', '3': 'x'}}
    >>> codes_in("Lists", [["Period"], ["Late Roman"], ["Hellenistic"]])  # which says how they are written
    {'': {'late roman': 'Late Roman', 'hellenistic': 'Hellenistic'}}
    >>> codes_in("Key", [["A / B", "good / bad"], ["-", "none"]])
    {'': {'A': 'good', 'B': 'bad', '-': 'none'}}
    >>> lines = [["F1", "heard", "1", "yes"], *(["", "", str(k), name] for k, name in ((2, "no"), (3, "a bit")))]
    >>> codes_in("Codes", [["variable", "label", "value", "value label"], ["id", "number", "", ""], *lines])
    {'F1': {'1': 'yes', '2': 'no', '3': 'a bit'}}
    >>> codes_in("label", [["0", "1"], ["ham", "spam"]])
    {'': {'0': 'ham', '1': 'spam'}}
    >>> codes_in("Info", [["Panel 2023", ""], ["", ""], ["Code", "Meaning"], ["A", "free"], ["B", "mild"]])
    {'': {'A': 'free', 'B': 'mild'}}
    >>> codes_in("codebook", [["Key", None], ["A", "good"], ["B", "bad"]])
    {'': {'A': 'good', 'B': 'bad'}}
    """
    cells = [[(cell or "").strip() for cell in row] for row in rows[:MOST_CODES]]
    if len(cells) == 2 and all(map(str.isdecimal, cells[0])) and not any(map(is_number, cells[1])):
        cells = [["code", "name"], *([*pair] for pair in zip(*cells, strict=True))]  # an object: the keys are codes
    begin = next((k for k, row in enumerate(cells) if sum(map(bool, row)) > 1), 0)
    above = [cell for row in cells[:begin] for cell in row if cell]
    is_header = begin and _BOOK.search(" ".join(word for cell in cells[begin] for word in words_of(cell)))
    if is_header and not any(_LINE.fullmatch(cell) for cell in above):  # titles, and what is said of the sheet
        cells = cells[begin:]
    header = [plain_name(cell) for cell in cells[0]] if cells else []
    width = max(map(len, cells), default=0)
    if not width:
        return {}
    pairs_at = [[code for row in cells if (code := _pair(row, k)[0])] for k in range(width)]
    at = max(range(width), key=lambda k: (len(pairs_at[k]), len({*pairs_at[k]})))  # a variable may have several lines
    words = [word for name in (title, *header[at : at + 2]) for word in words_of(name)]
    if not _BOOK.search(" ".join(words)):
        labels = [row[0] for row in cells[1:] if row and row[0] and not any(row[1:])]
        is_list = len(labels) == len(cells) - 1 > 1 and not WORDS["list"].isdisjoint(words)
        return {"": {spelling(name): name for name in labels}} if is_list else {}
    of_rows = {k: [row[k] for row in cells[1:] if len(row) > k and row[k]] for k in range(at)}
    kinds = {k: len({*some}) for k, some in of_rows.items() if 2 * len({*some}) < len(cells)}
    by = max(kinds, key=kinds.__getitem__, default=at - 1)  # the column of variables, be there one of types beside it
    found, variable = dict[str, dict[str, str]](), ""
    for row in cells:  # of a data dictionary, all codes of a variable stand in one cell
        if listed := next((codes for cell in row if len(codes := dict(_LISTED.findall(cell))) > 1), {}):
            found[row[0]] = listed
    for row in cells if not found else ():
        pair = _pair(row, at)
        variable = row[by] if at and row[by] else variable
        both = [re.split(r"\s*[/;|,]\s*", one) for one in pair]  # `MS / GY`, and what these mean
        pairs = zip(*both, strict=True) if len(both[0]) == len(both[1]) and all(map(all, both)) else [pair]
        for code, name in pairs:
            if code and plain_name(name) not in header:
                found.setdefault(variable, {}).setdefault(code, name)
    apart = {variable: codes for variable, codes in found.items() if len(codes) > 1}
    return {v: codes for v, codes in apart.items() if len({*codes.values()}) >= APART * len(codes)}


def codes_of_fields(fields: Mapping[str, Any]) -> Codes:
    """Return what the fields beside the records of a file of JSON say that codes mean.

    That is an object of names by code, or a list of names, whose codes count from 0, that is called as labels, codes or
    rules are, and not as people.

    Parameters
    ----------
    fields
        Their values, by name.

    Examples
    --------
    >>> codes_of_fields({"rules": {"R1": "spam", "R2": "attack"}, "raters": {"1": "Ann", "2": "Bob"}, "tags": ["x"]})
    {'rules': {'R1': 'spam', 'R2': 'attack'}}
    >>> codes_of_fields({"label_names": ["spam", "attack"], "models": ["gpt", "qwen"]})
    {'label_names': {'0': 'spam', '1': 'attack'}}
    """
    found = dict[str, dict[str, str]]()
    for field, value in fields.items():
        said = {str(code): name for code, name in enumerate(value)} if isinstance(value, list) else value
        words = {word.removesuffix(end) for word in words_of(field) for end in ("", "s", "es")}
        is_book = bool(_BOOK.search(" ".join(words_of(field)))) or not words.isdisjoint({*WORDS["labels"], "rule"})
        if not isinstance(said, dict) or not is_book or not words.isdisjoint(WORDS["people"]):
            continue
        are_names = all(isinstance(name, str) and name[:1].isalpha() for name in said.values())
        if are_names and 1 < len(said) <= MOST_CODES and len({*said.values()}) == len(said):
            are_short = all(len(code) <= LONGEST_CODE and len(name) <= LONGEST_NAME for code, name in said.items())
            found |= {field: said} if are_short else {}
    return found


def codes_beside(columns: Mapping[str, Cells], rows: Sequence[Sequence[str | None]]) -> Codes:
    """Return what a sheet says that the codes in some columns mean, whatever it is called.

    It names a column, a code and what that means in each line; or all that stands in a column, or what some columns are
    called, by short codes that are no words and no numbers, unless these have three digits each (`000`, `100`).

    Parameters
    ----------
    columns
        Of the table that is read, by name.
    rows
        Cells of the sheet, the header first.

    Examples
    --------
    >>> art = {"Art": ["FU / DX", "FU", "DX"], "n": ["1", "2", "1"]}
    >>> codes_beside(art, [["Kürzel", "Art"], ["FU", "Fuchs"], ["DX", "Dachs"], ["RE", "Reh"]])
    {'Art': {'FU': 'Fuchs', 'DX': 'Dachs', 'RE': 'Reh'}}
    >>> codes_beside(art, [["no", "who"], ["1", "Ann"], ["2", "Bob"]])
    {}
    >>> codes_beside(art, [["VAR", "RESPONSE", "MEANING"], ["n", "1", "good"], ["n", "2", "bad"]])
    {'n': {'1': 'good', '2': 'bad'}}
    >>> bats = [["", ""], ["Mdau", "Myotis daubentonii"], ["Ppip", "Pipistrellus pipistrellus"]]
    >>> codes_beside({"Mdau": ["x"], "Ppip": [""]}, bats)
    {'': {'Mdau': 'Myotis daubentonii', 'Ppip': 'Pipistrellus pipistrellus'}}
    """
    lines = [[(cell or "").strip() for cell in row] for row in rows[1:MOST_CODES]]
    width = min(map(len, lines), default=0)
    for at in range(width - 2):
        if all(row[at] in columns and row[at + 1] for row in lines):
            found = dict[str, dict[str, str]]()
            for variable, code, name in (row[at : at + 3] for row in lines):
                found.setdefault(variable, {})[code] = name
            return {variable: codes for variable, codes in found.items() if len(codes) > 1}
    for at in range(width - 1):
        codes = {row[at]: row[at + 1] for row in lines if row[at] and row[at + 1]}
        if _are_codes(codes) and 1 < len(codes) == len({*codes.values()}) == sum(bool(row[at]) for row in lines):
            coded = {name: codes for name, cells in columns.items() if is_coded(cells, codes)}
            return coded or ({"": codes} if codes.keys() <= {name.strip() for name in columns} else {})
    return {}


def _are_codes(codes: Mapping[str, str]) -> bool:
    """Whether short names stand for longer ones, and are no words."""
    are_words = any(_is_word(code, name) for code, name in codes.items())
    are_numbers = any(map(is_number, codes)) and {*map(len, codes)} != {LONG_NUMBER}
    are_short = max(map(len, codes), default=0) <= LONGEST_CODE and all(map(len, codes.values()))
    are_named = sum(map(len, codes)) < sum(map(len, codes.values())) and not any(map(is_number, codes.values()))
    return are_short and are_named and not are_words and not are_numbers


def _is_word(code: str, name: str) -> bool:
    """Whether a code is a name itself, of which is said what it means, and not the name in short.

    >>> _is_word("Rojo", "the red ones"), _is_word("Mdau", "Myotis daubentonii"), _is_word("MSKY", "smoky")
    (True, False, False)
    """
    left = iter(name.casefold())
    is_short = code[:1].casefold() == name[:1].casefold() and all(letter in left for letter in code.casefold())
    is_short = is_short and 2 * len(code) <= len(name) and code.casefold() not in words_of(name)
    return len(code) >= LEAST_WORD and code.isalpha() and not code.isupper() and not is_short


LONG_NUMBER = 3
"""Digits of numbers that are codes, if all have as many: they measure nothing."""


def is_coded(cells: Cells, codes: Mapping[str, str]) -> bool:
    """Whether a column holds codes, or several of them a cell, which recur.

    Parameters
    ----------
    cells
        Of the column.
    codes
        What they mean.

    Examples
    --------
    >>> is_coded(["1", "2", "1|2"], {"1": "good", "2": "bad"}), is_coded(["1", "2"], {"1": "good", "2": "bad"})
    (True, False)
    """
    filled = present_cells(cells)
    mark = guess_separator(filled)
    said = [one.strip() for cell in filled for one in cell.split(mark)]
    known = sum(one in codes for one in said)
    return len({*said}) > 1 and 2 * len({*said}) <= len(said) and known >= NEARLY_ALL * len(said)


def codes_of(names: Sequence[str], codes: Codes) -> dict[str, Mapping[str, str]]:
    """Return what a codebook says of columns, by their names or by a range of numbered names.

    Parameters
    ----------
    names
        Of the columns.
    codes
        Of `codes_in`.

    Examples
    --------
    >>> codes_of(["B07", "C07", "tone"], {"B01-B30": {"1": "glad"}, "tone": {"1": "good"}})
    {'tone': {'1': 'good'}, 'B07': {'1': 'glad'}}
    """
    found = {name: codes[name] for name in names if codes.get(name)}
    spans = [(span, some) for variable, some in codes.items() if (span := _RANGE.fullmatch(variable))]
    numbered = [own for name in names if spans and name not in found and (own := _NUMBERED.fullmatch(name))]
    for own in numbered:
        for span, some in spans:
            is_in = int(span["first"]) <= int(own["number"]) <= int(span["last"])
            if is_in and span["stem"] == own["stem"]:
                found[own[0]] = some
    return found


_NUMBERED = re.compile(r"(?P<stem>.*?)(?P<number>\d+)")
_RANGE = re.compile(r"(?P<stem>.*?)(?P<first>\d+)\s*(?:[-–:]|to|bis)\s*(?P=stem)?(?P<last>\d+)")
"""A numbered name, and a range of them: `B01-B30`, `B1 to 30`."""


def decoded(cell: str | None, codes: Mapping[str, str], mark: str) -> str | None:
    """Return a cell with what a codebook calls its code, or each of several.

    Parameters
    ----------
    cell
        Of a column.
    codes
        What they are called.
    mark
        What stands between several.

    Examples
    --------
    >>> decoded("FU / DX?", {"FU": "Fuchs", "DX": "Dachs"}, "/"), decoded("1.0", {"1": "good"}, "|")
    ('Fuchs / DX?', 'good')
    """
    if cell is None:
        return None
    if (name := codes.get(re.sub(r"\.0+$", "", cell.strip()))) is not None:
        return name
    parts = re.split(rf"(\s*{re.escape(mark)}\s*)", cell)
    return "".join(codes.get(part, part) for part in parts)


def codes_noted(rows: Sequence[Sequence[str]], columns: Sequence[Cells] = ()) -> Codes:
    """Return what notes beside a table say that codes mean, several in a line; nothing where they say nothing of it.

    Codes that are no numbers stand alone in a line or a cell, with what they mean in the next one, and in a column.

    Parameters
    ----------
    rows
        What stands above the table, or below it.
    columns
        First cells of its columns.

    Examples
    --------
    >>> codes_noted([["Codes: 1 = Pils, 2 = Stout; 9 = no idea", ""], ["brewed in 2019 = good", ""]])
    {'': {'1': 'Pils', '2': 'Stout', '9': 'no idea'}}
    >>> codes_noted([["# Study 2 · # 1 = ja · # 2 = nein"]])
    {'': {'1': 'ja', '2': 'nein'}}
    >>> codes_noted([["1 = ja"], ["2 = nein"]]), codes_noted([["n = 45, mean = 2.1"]])
    ({'': {'1': 'ja', '2': 'nein'}}, {})
    >>> codes_noted([["# ABSTAIN = -1, HAM = 0, SPAM = 1"]], [["0", "-1", "1"] * 3]), codes_noted([["a = 4, b = 3"]])
    ({'': {'-1': 'ABSTAIN', '0': 'HAM', '1': 'SPAM'}}, {})
    >>> codes_noted([["Key:", "+ = in"], ["", "- = out"]], [["+", "-", "-", "+"]])
    {'': {'+': 'in', '-': 'out'}}
    >>> codes_noted([["b", "brown"], ["n", "black"]], [["b", "n", "n", "b"]]), codes_noted([["b", "brown"]], [["x"]])
    ({'': {'b': 'brown', 'n': 'black'}}, {})
    """
    meant, called = ([m for row in rows for cell in row for m in one.finditer(cell)] for one in (_MEANT, _CALLED))
    numbers = {match["code"]: match["name"].strip() for match in meant if not is_number(match["name"].strip())}
    defined = {match["code"]: match["name"] for match in called}
    filled = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    alone = [_pair([cell], 0) for row in filled for cell in row]
    said = alone if any(map(any, alone)) else [_pair(row, 0) for row in filled if len(row) == 2]
    if len(numbers) == len(meant) and _are_several(numbers):
        return {"": numbers}
    others = [defined] * (len(defined) == len(called)) + [{code: name for code, name in said if code}]
    for codes in filter(_are_several, others):
        if any(is_coded(one, codes) for one in columns):
            return {"": codes}
    return {}


def _are_several(codes: Mapping[str, str]) -> bool:
    """Whether there are two codes or more, and no two mean the same."""
    return len({*codes.values()}) == len(codes) > 1


_MEANT = re.compile(r"(?:^|[,;:(\n·#]|\s{2})\s*(?P<code>-?\d{1,3})\s*=\s*(?P<name>[^,;=()\n·]{1,60})")
"""A number and what it means, one of several in a line: what a word means is no name for it."""


_CALLED = re.compile(
    r"(?:^|[,;(:#\n]|\s{2})\s*(?P<name>[^\W\d][\w-]{1,30})\s*=\s*(?P<code>-?\d{1,3})(?=\s*(?:[,;)\n]|$))"
)
"""A name and its number, as programs define them: `HAM = 0, SPAM = 1`."""


def _pair(row: Sequence[str], at: int) -> tuple[str, str]:
    """A code and its name that begin at a cell of a row: in two cells, or in one as `1 = good`."""
    pair = tuple(row[at : at + 2])
    if len(pair) == 2 and all(pair) and len(pair[0]) <= LONGEST_CODE and len(pair[1]) <= LONGEST_NAME:
        return pair
    match = _LINE.fullmatch(row[at]) if len(row) > at else None
    return (match["code"], match["name"]) if match and len(match["name"]) <= LONGEST_NAME else ("", "")


def with_names(
    data: PartialLabelDataset, codes: Codes, columns: Sequence[str], others: Sequence[str] = ()
) -> PartialLabelDataset:
    """Return data whose classes are called as a codebook calls them, where it has names for most of them.

    Parameters
    ----------
    data
        As it was read.
    codes
        Of `codes_in`.
    columns
        The columns with labels, which tell the variable that is meant.
    others
        All columns: where no variable is called as one with labels, one that is no column may be meant.
    """
    called = [plain_name(name) for name in columns]
    variables = {variable: [*map(plain_name, map(str.strip, variable.split("/")))] for variable in codes}
    fitting = [codes[v] for v, parts in variables.items() if any(part in one for part in parts for one in called)]
    fitting = [*codes.values()] if len(codes) == 1 else fitting or [codes[v] for v in variables if v not in others]
    called_so = {spelling(name): name for name in data.class_names}
    fitting = [{called_so.get(spelling(code), code): name for code, name in names.items()} for names in fitting]
    known = [sum(k in names or k in names.values() for k in data.class_names) for names in fitting]
    covers = [names for names, n in zip(fitting, known, strict=True) if n >= LEAST_CLASSES_NAMED * data.n_classes]
    covers = [
        names for names in covers if not ("0" in names and str(len(names)) in data.class_names)
    ]  # from 1, perhaps
    is_one = bool(covers) and all(names == covers[0] for names in covers) and not {*covers[0].values()} <= {*others}
    if not is_one or data.n_classes < 2:
        return data
    if set(data.class_names) <= {*covers[0].values()}:
        same = Note("The classes are called as the codebook in the file calls them.", kind=CODEBOOK)
        return replace(data, notes=(*data.notes, same))
    names = {code: name for code in data.class_names if (name := covers[0].get(code)) and name != code}
    parts = {code: [one.strip() for one in re.split(r"[,;(–—]|\s-\s", name)] for code, name in names.items()}
    begin = {code: some[0] for code, some in parts.items()}
    scale = sorted(filter(str.isdecimal, covers[0]), key=int)
    is_whole = bool(scale) and int(scale[-1]) - int(scale[0]) == len(scale) - 1
    ends = {*scale[:1], *(scale[-1:] if is_whole else ())}  # of a scale: none, mild, severe
    grades = {code for code in ends if begin.get(code, "").casefold() in LEAST_OF_SCALE}
    silent = [k for k, some in parts.items() if any(is_no_answer(o, among_votes=True) for o in some if o)]
    silent = [code for code in silent if code not in grades]
    silent += [code for code in names if code not in silent and says_nothing(code, covers[0])]
    left = [name for name in data.class_names if name not in covers[0] and name not in covers[0].values()]
    alike = same_as(dict.fromkeys(covers[0].values(), RARE) | dict.fromkeys(left, 1))
    names |= {name: alike[name] for name in left if name in alike}  # cut short, or a slip, whatever it is as often as
    left = [name for name in left if name not in alike]
    are_words = 2 * sum(_is_word(code, name) for code, name in names.items()) >= len(names)
    short = sum(_NAME.fullmatch(name) is not None for name in names.values())
    are_numbered = all(re.search(r"\d", code) for code in names)  # `A2` of a survey is one code of many
    are_called_so = are_numbered or (not are_words and short >= LEAST_SHORT_NAMES * len(names))
    edits = {code: name for code, name in names.items() if are_called_so} | dict.fromkeys(silent)
    said = listing([f"{code} is {name}" for code, name in names.items()])
    text = f"{'Labels are called as' if are_called_so else 'What labels mean is what'} the codebook in the file says"
    text += f": {said}." + (f" It does not name {listing(left)}." if left else "")
    text += f" No answer: {listing(silent)}." if silent else ""
    changed = with_classes(data, edits)
    return replace(changed, notes=(*data.notes, Note(text, kind=CODEBOOK)))


def says_no_answer(code: str, name: str) -> bool:
    """Whether a code means that there is no answer, by its name, or as letters that stand for a negation.

    Parameters
    ----------
    code, name
        Of a codebook.

    Examples
    --------
    >>> says_no_answer("NV", "Not viewed"), says_no_answer("-", "not ripe"), says_no_answer("9", "no answer")
    (True, False, True)
    """
    is_negated = not WORDS["negation"].isdisjoint(words_of(name)[:1])
    is_mark = is_no_answer(code, among_votes=True) or spelling(code) in NO_ANSWER["rare"]
    is_mark = is_mark and code.replace(".", "").isalpha()
    return is_no_answer(name, among_votes=True) or (is_mark and is_negated)


def says_nothing(code: str, names: Mapping[str, str]) -> bool:
    """Whether a code stands apart from the others, as 9 or 99 does, and its name begins with a negation.

    Parameters
    ----------
    code
        One of the codes.
    names
        What each of the codes means.

    Examples
    --------
    >>> names = {"1": "none", "2": "mild", "9": "not read (no picture)"}
    >>> says_nothing("9", names), says_nothing("1", names), says_nothing("3", {"1": "a", "2": "b", "3": "not c"})
    (True, False, False)
    """
    numbers = [int(one) for one in names if one.isdecimal()]
    next_one = max((one for one in numbers if set(str(one)) != {"9"}), default=0) + 1
    is_apart = set(code) == {"9"} and int(code) > next_one
    return is_apart and not WORDS["negation"].isdisjoint(words_of(names[code])[:1])
