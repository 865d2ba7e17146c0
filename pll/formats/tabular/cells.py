"""What the cells of a table hold: names of labels and how they are joined, and the type of a column of cells.

Types follow from all cells that are not missing: numbers, 0 and 1, yes and no, lists of numbers, pictures, dates,
texts, few words. Nothing here knows of roles (`pll.formats.roles`).
"""

from __future__ import annotations

import ast
import csv
import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache, wraps
from itertools import filterfalse, islice
from operator import itemgetter
from typing import Any, NoReturn, TypeVar

from pll.errors import UserError
from pll.formats.forms import NO_ANSWER, USUAL, WORDS, WORDS_OF_FIELDS, between_words, plain_name, words_of
from pll.formats.grouping import summed
from pll.images import PICTURE_SUFFIXES

Answer = TypeVar("Answer")
Cells = Sequence[str | None]
"""The first cells of a column, as text; None where one is missing."""

MISSING = tuple(sorted(NO_ANSWER["numbers"]))
"""Missing values in a column of numbers (in label columns these are ordinary names)."""
_MISSING = frozenset(MISSING)

BINARY = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
"""Cells of the column of a class."""

YES_OR_NO = {word: kind == "yes" for kind in ("yes", "no") for word in WORDS[kind]}
"""Words in the column of a class; where none means no, an empty cell does."""

_ERROR = re.compile(r"#(?:[¡¿]?[^\W\d_a-z]+(?:/0)?[!?]|N/A|NV|N/D|N/B|Н/Д)")

_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+(?:[eE][+-]?\d+)?")
_WITH_POINTS = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})*")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")


_KNOWN: ContextVar[dict[tuple[Any, int], tuple[Cells, Any]] | None] = ContextVar("known", default=None)
"""What is known of columns, by test and column, while roles are found: rules ask the same of the same columns."""


@contextmanager
def remembered() -> Iterator[None]:
    """Within, tests of a column of cells are made once; its cells do not change."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)
        spelling.cache_clear()


def once(test: Callable[[Cells], Answer]) -> Callable[[Cells], Answer]:
    """Return a test of a column of cells that is made once for each while roles are found (`remembered`)."""

    @wraps(test)
    def asked(cells: Cells) -> Answer:
        known = _KNOWN.get()
        if known is None:
            return test(cells)
        key = test, id(cells)
        if key not in known:
            known[key] = cells, test(cells)  # with the cells, so that no others get their id
        answer: Answer = known[key][1]
        return answer

    return asked


# ---- what the cells of a column hold ---------------------------------------------------------------------------------


def looks_like_picture(cell: str) -> bool:
    """Whether a cell is the path or address of a picture.

    Examples
    --------
    >>> looks_like_picture("cats/1.PNG"), looks_like_picture("https://x.org/1.jpg?s=2"), looks_like_picture("a cat")
    (True, True, False)
    """
    match = _ATTACHED.fullmatch(cell.strip())
    name = cell if match is None else match["name"] or match["file"]
    bare = name.split("?", 1)[0].split("#", 1)[0].lower()
    return bare.endswith(PICTURE_SUFFIXES) or cell.startswith("data:image/")


_ATTACHED = re.compile(
    r"(?P<name>[^()\[\]{}]+) \((?P<at>https?://[^\s()]+)\)(?:,.*)?|"
    r'\[\{(?=.*"url": ?"(?P<url>[^"]+)")(?=.*"filename": ?"(?P<file>[^"]+)").*\}\]',
    re.DOTALL,
)
"""A file that was attached to a row, and where it is, as Airtable writes it; of several the first."""


def picture_in(cell: str) -> str:
    """Return the path or address of the picture in a cell.

    Examples
    --------
    >>> picture_in("1.jpg (https://x.org/17/1.jpg)"), picture_in('[{"url": "https://x.org/2", "filename": "2.png"}]')
    ('https://x.org/17/1.jpg', 'https://x.org/2')
    >>> picture_in("cats/1.png")
    'cats/1.png'
    """
    match = _ATTACHED.fullmatch(cell.strip())
    return cell if match is None else str(match["at"] or match["url"])


def is_number(cell: str) -> bool:
    """Whether a cell is written as a number, infinite ones included (which reading refuses, with their row).

    Examples
    --------
    >>> is_number(" 1e3 "), is_number("1_000"), is_number("nan")
    (True, False, False)
    """
    if cell.isalpha() and cell.casefold() not in _INFINITE:
        return False  # sooner than by an exception
    try:
        return "_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return False


_INFINITE = ("inf", "infinity")


def are_pictures(cells: Cells) -> bool:
    """Whether nearly all cells are pictures."""
    return nearly_all(looks_like_picture, cells)


@once
def is_measured(cells: Cells) -> bool:
    """Whether a column holds numbers: at least half of its cells; the others are errors or missing.

    Numbers of which some cells hold several, as `41025; 80110`, are codes.

    Examples
    --------
    >>> is_measured(["1.5", "2", "?"]), is_measured(["11", "12", "11; 12", "12; 14"])
    (True, False)
    """
    filled = present_cells(cells)
    others = [cell for cell in filled if not is_number(cell)]
    several = sum(_CODES.fullmatch(cell) is not None for cell in others)
    are_codes = several > 1 and several >= LEAST_SEVERAL * len(filled)
    return bool(filled) and 2 * len(others) <= len(filled) and not are_codes


_CODES = re.compile(r"\s*\d+(?:\s*[;|]\s*\d+)+\s*")
LEAST_SEVERAL = 0.02
"""Share of the cells that name several labels, or one with a doubt, from which these are no slips."""


def have_decimal_commas(columns: Sequence[Cells]) -> list[bool]:
    """Whether the numbers of each column are written as 1,5 or 1.234,5, as in much of Europe.

    All cells of such a column are, or are whole; and since 1,234 may be more than a thousand, in some column there must
    be a number that cannot be read so. Beside one, 1.234 is more than a thousand.

    Examples
    --------
    >>> have_decimal_commas([["1,5", "2"], ["1.500", "1.200,5"], ["1.5", "2"], ["a,1", "2,5"]])
    [True, True, False, False]
    >>> have_decimal_commas([["1,500", "2,300"]]), have_decimal_commas([["1,500", "0,300"]])
    ([False], [True])
    """
    with_commas, certain = [], False
    for cells in columns:
        if not any("," in cell for cell in cells if cell):  # nearly always, and at once
            with_commas.append(False)
            continue
        filled = [cell.strip() for cell in present_cells(cells)]
        commas = [cell for cell in filled if _DECIMAL_COMMA.fullmatch(cell)]
        whole = sum(_WITH_POINTS.fullmatch(cell) is not None or cell.lstrip("+-").isdecimal() for cell in filled)
        is_one = bool(commas) and len(commas) + whole >= len(filled)
        with_commas.append(is_one)
        certain = certain or (is_one and any(not _THOUSANDS.fullmatch(cell) for cell in commas))
    return [certain and (is_one or _are_thousands(cells)) for is_one, cells in zip(with_commas, columns, strict=True)]


def _are_thousands(cells: Cells) -> bool:
    """Whether whole numbers have points between their thousands, where they have any."""
    filled = [cell.strip() for cell in present_cells(cells)]
    are_whole = all(_WITH_POINTS.fullmatch(cell) or cell.lstrip("+-").isdecimal() for cell in filled)
    return are_whole and any("." in cell for cell in filled)


@once
def has_fractions(cells: Cells) -> bool:
    """Whether there is a number that is not whole; labels are whole."""
    numbers = (float(cell) for cell in cells if cell and is_number(cell))
    return any(not number.is_integer() and math.isfinite(number) for number in numbers)


def are_binary(cells: Cells) -> bool:
    """Whether all cells are 0 or 1 (or the like), as in the column of a class."""
    return bool(cells) and all(cell is not None and cell.strip().casefold() in BINARY for cell in cells)


@once
def read_marks(cells: Cells) -> list[bool | None] | None:
    """Return whether each cell of a column marks its row: 1, yes, x, against 0, no; None if it is no column of marks.

    An odd cell is neither (None), and so is a missing one, except where nothing says no: there it does. Most cells that
    are filled are marks.

    Examples
    --------
    >>> read_marks(["yes", "no"]), read_marks(["x", "NaN"]), read_marks(["0", ""]), read_marks(["1", "0", "2"])
    ([True, False], [True, False], [False, None], [True, False, None])
    >>> read_marks(["a", "1", "b"]), read_marks(["2.5", "1.5"])
    (None, None)
    """
    filled = present_cells(cells)
    if 2 * sum(mark_in(cell) is not None for cell in filled) < len(filled):
        return None
    marks = [None if is_missing(cell) else mark_in(cell or "") for cell in cells]
    if any(mark is False for mark in marks):
        return marks
    return [False if is_missing(cell) else mark for cell, mark in zip(cells, marks, strict=True)]


MARKS = BINARY | YES_OR_NO | dict.fromkeys(WORDS["circles"], True)
"""Cells of a column of marks."""


def mark_in(cell: str) -> bool | None:
    """Return whether a cell marks its row: 1, yes, x, or (x), against 0, no; None where it is no mark.

    Examples
    --------
    >>> mark_in("(X)"), mark_in("nein"), mark_in("2")
    (True, False, None)
    """
    plain = cell.strip().casefold()
    return MARKS.get(plain.strip("()") or plain)


def numbers_in(cell: str) -> list[float] | None:
    """Return the numbers of a list, as JSON, Python or NumPy writes it; None where it is no list of two or more.

    Examples
    --------
    >>> numbers_in("[0.5, -1]"), numbers_in("[0.1 2. ]"), numbers_in('["0.5", "1"]'), numbers_in("[a, b]")
    ([0.5, -1.0], [0.1, 2.0], [0.5, 1.0], None)
    """
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    words = text[1:-1].replace(",", " ").replace('"', " ").split()
    try:
        numbers = [math.nan if part in ("null", "None", "NaN", "nan") else float(part) for part in words]
    except ValueError:
        return None
    return numbers if len(numbers) > 1 else None


def are_lists_of_numbers(cells: Cells) -> bool:
    """Whether nearly all cells are lists of numbers, equally long."""
    if not next((cell for cell in cells if cell), "").lstrip().startswith("["):
        return False
    widths = Counter(len(numbers_in(cell) or ()) for cell in present_cells(cells))
    return max((count for width, count in widths.items() if width), default=0) >= NEARLY_ALL * max(widths.total(), 1)


def are_share_lists(cells: Cells) -> bool:
    """Whether they are lists of numbers from 0 that make up 1: how likely each of some classes is.

    Examples
    --------
    >>> are_share_lists(["[0.25, 0.75]", "[1. 0.]"]), are_share_lists(["[3, 1]"])
    (True, False)
    """
    if not are_lists_of_numbers(cells):
        return False
    lists = [numbers for cell in present_cells(cells) if (numbers := numbers_in(cell))]
    return all(min(one) >= 0 and abs(sum(one) - 1) <= ROUNDED * len(one) for one in lists)


ROUNDED = 0.0051
"""How far each of the shares of a list may be from what it was before it was rounded."""


def are_vectors(cells: Cells) -> bool:
    """Whether they are lists of numbers, and not all of these whole (as class numbers are)."""
    numbers = (number for cell in present_cells(cells) for number in numbers_in(cell) or ())
    return are_lists_of_numbers(cells) and any(not number.is_integer() for number in numbers)


FEW = 20
"""So many different cells are few, whatever the number of rows; and so many are looked at first."""


def are_texts(cells: Cells, words: int) -> bool:
    """Whether a column holds texts: of so many words on average, and more different ones than answers are.

    Parameters
    ----------
    cells
        Of the column.
    words
        How many words a text has on average, at least.
    """
    filled = _filled(cells)
    if not filled or nearly_all(is_number, filled) or are_pictures(filled) or are_dates(filled):
        return False
    least = min(len(filled) / 2, max(FEW, len(filled) / 4))
    return len(set(filled)) > least and sum(map(_words_in, filled)) >= words * len(filled)


_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""A letter of a writing that leaves no space between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


_LETTERS = re.compile(r"\b(?=\d*[^\W\d])\w{2,}")
"""A word, or a code with a letter and more: E_48, 2b."""


def _words_in(cell: str) -> int:
    """How many words a text has, of which half have letters; in a writing without spaces two letters are one.

    >>> _words_in("the 2 dishes were cold"), _words_in("料理が冷めていました。"), _words_in("[[0, 1], [1, 0]]")
    (5, 6, 0)
    >>> _words_in("KB 75 H 1")  # a shelf mark
    0
    """
    words = len(cell.split())
    words = words if 2 * len(_LETTERS.findall(cell)) >= words else 0
    return words + (0 if cell.isascii() else len(_WITHOUT_SPACES.findall(cell)) // 2)


@once
def default_role(cells: Cells) -> str:
    """Return the role of a column from its cells alone: a feature, a category, or a text that is only kept."""
    filled = present_cells(cells)
    if not filled or is_measured(filled) or all(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in filled):
        return "feature"  # what is no number in it, reading refuses with its row
    kinds = len(set(filled))
    few = kinds <= max(FEW, len(filled) // 2) and not 5 <= kinds == len(filled)  # a word of its own for every row
    return "category" if few and are_names(filled) else "keep"


MOST_LETTERS_OF_NAME = 60
"""Letters of a name, on average, where few of them stand in several rows."""


def are_names(cells: Sequence[str]) -> bool:
    """Whether filled cells can be names of classes: short, or, however long, each in several rows."""
    return sum(map(len, cells)) <= MOST_LETTERS_OF_NAME * len(cells) or 2 * len({*cells}) <= len(cells)


NEARLY_ALL = 0.9
"""Share of cells that determines the type of a column: one cell in ten may be a mistake, a remark or empty."""


def nearly_all(test: Callable[[str], bool], cells: Cells) -> bool:
    """Whether a test holds for nearly all cells that are filled.

    Parameters
    ----------
    test
        Of one cell.
    cells
        Of the column.
    """
    filled = _filled(cells)
    most = len(filled) - NEARLY_ALL * len(filled)
    others = islice(filterfalse(test, filled), int(most) + 1)  # no further than tells
    return bool(filled) and sum(1 for _ in others) <= most


@once
def _filled(cells: Cells) -> list[str]:
    return [cell for cell in cells if cell and cell.strip()]


def is_missing(cell: str | None) -> bool:
    """Whether a cell, which is no name of a label, is empty or one of `MISSING`."""
    return cell is None or _is_blank(cell)


def _is_blank(cell: str) -> bool:
    plain = cell.strip()
    return plain in _MISSING or (plain.startswith("#") and is_error(plain))


def is_error(cell: str) -> bool:
    """Whether a cell is what a spreadsheet writes where a formula has no result, in any of its languages.

    Examples
    --------
    >>> [is_error(cell) for cell in ("#REF!", "#¿NOMBRE?", "#DIV/0!", "#NV", "#ok!", "#1")]
    [True, True, True, True, False, False]
    """
    return cell[:1] == "#" and _ERROR.fullmatch(cell.strip()) is not None


@once
def present_cells(cells: Cells) -> list[str]:
    """The cells that are not missing."""
    return [cell for cell in cells if cell is not None and not _is_blank(cell)]


_WORD_OF_DAY = r"[^\W\d_]{2,}"
_DAY_AND_MONTH = (
    rf"(?:0?[1-9]|[12]\d|3[01])(?:\.|st|nd|rd|th|er)? (?:de )?{_WORD_OF_DAY}|{_WORD_OF_DAY}\.? (?:[12]?\d|3[01])"
)
_DAY = re.compile(
    r"(?:(?:0?[1-9]|1[0-2])[./](?:19|20)\d\d|1\d{9}(?:\.\d+)?|1\d{12}|"  # a month; seconds or milliseconds since 1970
    r"(?:\d{4}[-/.] ?(?:0?[1-9]|1[0-2])[-/.] ?(?:0?[1-9]|[12]\d|3[01])\.?|"
    r"(?:0?[1-9]|[12]\d|3[01])([-/.])(?:0?[1-9]|[12]\d|3[01])\1(?:\d{4}|\d\d)|"  # day
    rf"(?:{_WORD_OF_DAY}\.?,? )?(?:{_DAY_AND_MONTH})\.?,? (?:de )?(?:19|20)\d\d)?"  # with the month in words
    r"(?:(?:^|(?<=[\d.])(?:T|,? ?(?:[^\W\d_]+\.? ?){0,2}))\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?"  # hour, after "오전"
    r"(?: ?(?:[^\W\d_]\.? ?){1,2})?(?: ?(?:Z|UTC|[A-Z]{2,4}T))?"
    r"(?: ?[+-]\d\d?(?::?\d\d)?)?)?)",
    re.IGNORECASE,
)


_ADDRESS = re.compile(r"(?:https?|ftp|s3|gs)://\S+|\d{1,3}(?:\.\d{1,3}){3}")


def are_addresses(cells: Cells) -> bool:
    """Whether nearly all cells are addresses in the web, or of computers."""
    return nearly_all(lambda cell: _ADDRESS.fullmatch(cell.strip()) is not None, cells)


_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.\w{2,}")


def are_mails(cells: Cells) -> bool:
    """Whether nearly all cells are addresses of people."""
    return nearly_all(lambda cell: _MAIL.fullmatch(cell.strip()) is not None, cells)


@once
def are_dates(cells: Cells) -> bool:
    """Whether nearly all cells are days or times.

    Examples
    --------
    >>> are_dates(["2026-07-01", "2026-07-02 09:12", "2026/07/03 4:40:48 PM GMT+2"]), are_dates(["10-12", "8-10"])
    (True, False)
    >>> (
    ...     are_dates(["25 January 2022 07:30", "3 de marzo de 2022", "Mon, Jan 25, 2022 7:30 AM"]),
    ...     are_dates(["12 Angry Men"]),
    ... )
    (True, False)
    >>> are_dates(["2026. 7. 3. 오후 4:40:48", "03.07.2026 um 16:40", "3/7/2026 4:40 p. m."]), are_dates(["Room 10:22"])
    (True, False)
    """
    return nearly_all(lambda cell: _DAY.fullmatch(cell.strip()) is not None, cells)


def is_no_answer(label: str, *, among_votes: bool = False) -> bool:
    """Whether a label says that there is no answer.

    Parameters
    ----------
    label
        As it stands there.
    among_votes
        Whether it is a voter's: these have more ways to say so.

    Examples
    --------
    >>> [is_no_answer(label) for label in ("N/A", "k. A.", "–", "dont_know", "late", "abstain")]
    [True, True, True, True, False, False]
    >>> is_no_answer("ABSTAIN", among_votes=True)
    True
    """
    plain, words = spelling(label).replace("_", " "), NO_ANSWER["everywhere"]
    is_one = not words.isdisjoint((plain, plain.replace(". ", "."), label.strip())) or is_error(label)
    is_one = is_one or (" / " in plain and words.issuperset(plain.split(" / ")))
    is_one = is_one or (among_votes and plain in NO_ANSWER["votes"])
    return is_one or _says_not(plain, among_votes=among_votes)


MOST_WORDS_OF_NOTHING = 7
"""Words, at most, in which people say that they do not know."""
LONGEST_WHOLE_WORD = 4
"""Letters up to which a word is that one alone, and no beginning of others: `idea` is no `ideal`."""


@lru_cache(maxsize=2**14)
def _says_not(plain: str, *, among_votes: bool) -> bool:
    """Whether a label is a negation, what is not known, and nothing but the words between.

    >>> _says_not("weiss ich nicht", among_votes=False), _says_not("not yet rated", among_votes=True)
    (True, True)
    >>> _says_not("not rated", among_votes=False), _says_not("no known allergies", among_votes=True)
    (False, False)
    """
    words = [word.strip(".,!?()") for word in plain.split()]
    if not 1 < len(words) <= MOST_WORDS_OF_NOTHING or WORDS["negation"].isdisjoint(words):
        return False
    stems = NO_ANSWER["known"] | (NO_ANSWER["judged"] if among_votes else frozenset())
    long = tuple(stem for stem in stems if len(stem) > LONGEST_WHOLE_WORD)
    others = [word for word in words if word not in WORDS["negation"] and word not in NO_ANSWER["between"]]
    return bool(others) and all(word in stems or word.startswith(long) for word in others)


WHOLE = re.compile(r"(\d{1,9})(?:\.0+)?", re.ASCII)
"""A whole number; beside missing cells a reader made a fraction of it."""

FUNCTION = re.compile(
    r"(?:.*[\W_])?(?:lf|lfs|weak|labell?ing[\W_]?functions?|rule|heuristic)(?:[\W_\d]|$)", re.IGNORECASE
)
"""What the voters are called that are functions, which say nothing of most examples."""


MINUS_ONE = ("-1", "-1.0", "−1")
"""How −1 is written: no answer, or a doubt."""


def minus_one(cells: Collection[str], people: Collection[str]) -> set[str]:
    """Return the cells −1 where every other one is a whole number from 0.

    Beside 1, or 0 and 1, it is a class, as in a scale, unless most voters are labelling functions.

    Parameters
    ----------
    cells
        What the voters said.
    people
        Who they are.

    Examples
    --------
    >>> minus_one(["-1", "0", "1"], ["lf_link"]), minus_one(["-1", "0", "1"], ["Ann"]), minus_one(["-1", "3"], ["Ann"])
    ({'-1'}, set(), {'-1'})
    """
    marks = {cell for cell in cells if cell.strip() in MINUS_ONE}
    others = {cell.strip() for cell in set(cells) - marks}
    are_functions = 2 * sum(FUNCTION.match(name) is not None for name in people) >= len(people)
    is_scale = {one.partition(".")[0] for one in others} <= {"0", "1"} and not are_functions
    return marks if all(map(WHOLE.fullmatch, others)) and not is_scale else set()


def without_case(text: str) -> str:
    """A text without differences of case, also of the Turkish i with and without a dot, and of Arabic letters.

    >>> without_case("KARIŞIK") == without_case("karışık"), without_case("İyi")
    (True, 'iyi')
    >>> without_case("إجابة مُحتملة") == without_case("اجابه محتمله")
    True
    """
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold().replace("i\u0307", "i").replace("ı", "i")
    return plain.translate(_ARABIC)


_ARABIC = str.maketrans("أإآىة", "ااايه", "".join(map(chr, range(0x64B, 0x653))) + "ـ")
"""Letters that are written in two ways, and marks that are mostly left out."""


_TYPED = str.maketrans("’‐‑‒–—―−－", "'--------")
"""Signs that programs set for those of a keyboard: apostrophe, hyphens, dashes, minus."""
_MARKED = re.compile(r"([*_`\"']{1,3})(.*\w.*)\1", re.DOTALL)
"""A name between two marks, as Markdown sets it or as a quotation."""
_MARKS_AROUND = tuple("*_`\"'")


@lru_cache(2**12)  # what many cells hold, and what rules ask again of the same cells
def spelling(label: str) -> str:
    """A label without differences of case, whitespace, kinds of dashes, a final `.`, `,`, `!`, `?`, or marks around it.

    Labels with one spelling are one class; digits, signs and anything within a name distinguish classes.

    Examples
    --------
    >>> spelling(" PRAISE."), spelling("not  sure!"), spelling("C#"), spelling("−1"), spelling("e–mail")
    ('praise', 'not sure', 'c#', '-1', 'e-mail')
    >>> spelling("**Pass**"), spelling("'good'."), spelling("A*"), spelling("**")
    ('pass', 'good', 'a*', '**')
    """
    plain = " ".join(without_case(label).translate(_TYPED).split())
    plain = plain.rstrip(".,!? ") or plain
    marked = _MARKED.fullmatch(plain) if plain[:1] in _MARKS_AROUND else None
    return marked[2] if marked else plain


# ---- names of labels in a cell ---------------------------------------------------------------------------------------

SEPARATORS = ("|", ";", "\n", ",", "/", "#", " - ", " – ", " & ", " + ", *map(between_words, sorted(WORDS["or"])))
"""Separators of names that are tried where none is given, in this order; from the comma on only where parts recur."""
_SIGNS = {"|": "｜", ";": "；؛", ",": "，،、", "/": "／"}
"""How Arabic, Chinese and Japanese write some of them."""
LIST_NUMBER = "1) "
"""Stands as a separator for the numbers of a list, `1) cat 2) dog`."""


def signs_of(separator: str) -> tuple[str, ...]:
    """Return a separator and its other signs: the wide one, those of Arabic, Chinese and Japanese."""
    return (separator, *_SIGNS.get(separator, ""))


def _has(separator: str, text: str) -> bool:
    return separator in text or (separator in _SIGNS and any(sign in text for sign in _SIGNS[separator]))


def _parts(cell: str, separator: str) -> list[str]:
    """What stands between the separators of a cell, be they written with one sign or the other; "" for nothing."""
    if separator == LIST_NUMBER:
        return [part.strip(" ,;\n") for part in re.split(r"(?:^|\s)\d+\) ", cell.strip())]
    for sign in () if cell.isascii() else signs_of(separator)[1:]:
        cell = cell.replace(sign, separator)
    return [part.strip() for part in cell.split(separator)]


def join_names(names: Sequence[str]) -> str:
    """Return the cell of a candidate set.

    Examples
    --------
    >>> join_names(["cat", "dog"]), join_names(["a|b", "c"]), join_names([" "])
    ('cat|dog', '["a|b", "c"]', '[" "]')
    """
    plain = "|".join(names)
    survives = all(name and name == name.strip() and not _has("|", name) for name in names)
    return plain if survives and not _like_a_list(plain) else json.dumps(list(names), ensure_ascii=False)


def join_column(sets: Iterable[Sequence[str]]) -> list[str]:
    """Return the cells of a whole column, as `join_names` does, such that the separator can be guessed on reading."""
    cells = [join_names(names) for names in sets]
    # Sets of one alone, some named like "a;b", which a reader would take for two.
    while (mark := guess_separator(cells)) != SEPARATORS[0]:
        cells = [
            json.dumps([cell], ensure_ascii=False) if _has(mark, cell) and not _like_a_list(cell) else cell
            for cell in cells
        ]
    return cells


def split_cell(cell: str, separator: str = "|") -> tuple[str, ...]:
    """Return the candidates in a cell, trimmed and without repetitions; none for an empty cell.

    Parameters
    ----------
    cell
        As it stands there.
    separator
        Between the names.

    Raises
    ------
    UserError
        What looks like a list is not a JSON list of names.

    Examples
    --------
    >>> split_cell(" cat | dog|"), split_cell('["a|b", 1]'), split_cell(""), split_cell("N/A", "/")
    (('cat', 'dog'), ('a|b', '1'), (), ('N/A',))
    >>> split_cell("{NV, BCC}"), split_cell("{NV}"), split_cell('{"black, or brown",NV}')
    (('NV', 'BCC'), ('NV',), ('black, or brown', 'NV'))
    """
    return tuple(dict.fromkeys(labels_in(cell, separator)))


def labels_in(cell: str, separator: str = "|") -> list[str]:
    """The same with repetitions.

    Parameters
    ----------
    cell, separator
        As for `split_cell`.

    Raises
    ------
    UserError
        As for `split_cell`.

    Examples
    --------
    >>> labels_in("['cat', 'cat', 'dog']"), labels_in("cat|cat")
    (['cat', 'cat', 'dog'], ['cat', 'cat'])
    """
    listed = _json_names(cell)
    if listed is not None:
        return listed
    if separator == "/" and cell.strip() in MISSING and cell.strip():
        return [cell.strip()]
    return list(filter(None, _parts(cell, separator)))


def elements(cell: str | None) -> list[Any] | dict[str, Any]:
    """Return the list or the object in a cell; of other text what stands between its separators.

    Examples
    --------
    >>> elements('["a", 1]'), elements("{'a': 1}"), elements("a, b"), elements("['a' 'b']"), elements("")
    (['a', '1'], {'a': 1}, ['a', 'b'], ['a', 'b'], [])
    """
    text = (cell or "").strip()
    with suppress(RecursionError):
        if isinstance(value := _value_in(text), list | dict):
            return value
    return _parts(text, next((mark for mark in SEPARATORS[:4] if _has(mark, text)), "\n")) if text else []


def are_lists(cells: Cells) -> bool:
    """Whether nearly all cells are lists, as programs write them, or several parts with a separator."""
    filled = _filled(cells)
    are_printed = nearly_all(_like_a_list, filled)
    marks = _marks_in("|;,", filled)
    some = [cell for cell in filled if _like_a_list(cell) or any(_has(mark, cell) for mark in marks)]
    return are_printed or (len(some) >= NEARLY_ALL * len(filled) > 0 and not are_texts(filled, 6))


def guess_separator(cells: Iterable[str]) -> str:
    """Return the separator of the names in a cell: `|`, else `;`, else a comma or a slash, where a cell holds one.

    A comma may belong to a name ("Paris, France"), and so may a slash ("24/7"). A comma separates names only where
    there are no more parts than cells, and some part occurs both first and later in a cell, as in "cat, dog" and
    "dog, fox". So does a slash or a # (as doccano writes) between spaces; else where this is so of at least half of the
    later parts. Without any it is `|`. Where all cells begin with `1) `, and `2) ` follows in some, it is that mark.

    Examples
    --------
    >>> guess_separator(["a;b", "c"]), guess_separator(["a;b|c"]), guess_separator(["a", '["x;y"]'])
    (';', '|', '|')
    >>> guess_separator(["cat, dog", "dog"]), guess_separator(["Paris, France", "Lyon, France"])
    (',', '|')
    >>> guess_separator(["cat/dog", "dog/fox", "fox"]), guess_separator(["24/7", "N/A", "A"])
    ('/', '|')
    >>> guess_separator(["gut", "teils/teils", "teils/teils"])
    '|'
    >>> guess_separator(["cat#dog", "dog#fox", "fox"]), guess_separator(["C#", "F#", "C"])
    ('#', '|')
    >>> guess_separator(["喜び、怒り", "怒り"]), guess_separator(["حزين أو غاضب", "غاضب"])
    (',', ' أو ')
    >>> guess_separator(["1) cat 2) dog", "1) fox"]), guess_separator(["1) agree", "2) disagree"])
    ('1) ', '|')
    """
    plain = {cell for cell in cells if not _like_a_list(cell)}
    if _are_numbered(plain):
        return LIST_NUMBER
    marks = _marks_in(SEPARATORS, plain)
    for mark in (one for one in SEPARATORS[:3] if one in marks):
        if any(_has(mark, cell.strip()) for cell in plain):
            return mark
    for mark in (one for one in SEPARATORS[3:] if one in marks):
        filled = [cell for cell in plain if cell.strip() and (mark == "," or cell.strip() not in MISSING)]
        lists = [_parts(cell, mark) for cell in filled]
        first, later = {names[0] for names in lists}, {name for names in lists for name in names[1:]}
        both = (first & later) - {""}
        if all(len({*names}) == 1 for names in lists):  # `teils/teils` is one word of German
            continue
        are_apart = mark == "," or all(cell.count(mark) == cell.count(f" {mark} ") for cell in filled)
        enough = are_apart or 2 * len(both) >= len(later)
        if both and enough and len(first | later) <= len(lists):
            return mark
    return " " if not marks and _are_words_joined(plain) else "|"


def _are_words_joined(cells: Collection[str]) -> bool:
    """Whether every word of cells of several words stands alone too, three of them at least: `rust`, `rust scab`.

    >>> _are_words_joined({"ant", "bee", "fly", "ant bee", "bee fly"}), _are_words_joined({"low", "very low"})
    (True, False)
    """
    alone = {cell.strip() for cell in cells}
    joined = [cell.split() for cell in alone if " " in cell]
    words = {word for some in joined for word in some}
    return len(joined) > 1 and len(words) > FEWEST_JOINED and words <= alone


FEWEST_JOINED = 2
"""Labels, less than which may as well be one of two words: `no`, `hate`, `no hate`."""


def _are_numbered(cells: Collection[str]) -> bool:
    """Whether all cells are lists whose parts are numbered from 1 on, some of several: `2) agree` alone is a name."""
    filled = [cell.strip() for cell in cells if cell.strip() and cell.strip() not in MISSING]
    return all(cell.startswith(LIST_NUMBER) for cell in filled) and any(" 2) " in cell for cell in filled)


def _marks_in(marks: Iterable[str], cells: Iterable[str]) -> list[str]:
    """Those of some separators that stand anywhere in cells: looked for once, and not in each of many."""
    every = "\0".join(cells)
    return [mark for mark in marks if _has(mark, every)]


def write_label(name: str | None) -> str:
    """Return the cell of one true label; empty where it is not known."""
    if name is None:
        return ""
    plain = name and name == name.strip() and not _like_a_list(name)
    return name if plain else json.dumps([name], ensure_ascii=False)


def read_label(cell: str) -> str | None:
    """Return one true label: the trimmed text, whole (`a|b` is one name), or a JSON list of one; None if it is empty.

    Examples
    --------
    >>> read_label(" NA "), read_label("a|b"), read_label('[" x"]'), read_label("")
    ('NA', 'a|b', ' x', None)
    """
    listed = _json_names(cell)
    if listed is None:
        return cell.strip() or None
    if len(listed) != 1:
        raise UserError(f"the true label is a list of {len(listed)}; name one label, or leave the cell empty")
    return listed[0]


def holds_several(cells: Iterable[str | None]) -> bool:
    """Whether a cell of the column names more than one label.

    Examples
    --------
    >>> holds_several(["cat|dog", "cat"]), holds_several(["['cat', 'dog']"]), holds_several(["[UNK]", "a, b"])
    (True, True, False)
    """
    some = [cell for cell in cells if cell]
    mark = guess_separator(some)
    if not (_marks_in([mark], some) or any(map(_like_a_list, some))):
        return False
    try:
        return any(len(split_cell(cell, mark)) > 1 for cell in some)
    except UserError:  # a list that cannot be read: the error comes when the column is read
        return True


_TUPLE = re.compile(r"c?\(\s*['\"].*\)", re.S)
_OBJECT = re.compile(r"""\{\s*(?:"[^"]*"|'[^']*')\s*:""")


def _like_a_list(cell: str) -> bool:
    text = cell.strip()
    if text[-1:] == ")":
        return text == "set()" or _TUPLE.fullmatch(text) is not None
    return text[:1] + text[-1:] in ("[]", "{}")


def _json_names(cell: str) -> list[str] | None:
    """Return the names in a list of JSON, or a list, tuple or set of Python; None where the cell is plain text.

    Numbers are names as they are written.
    """
    if not _like_a_list(cell):
        return None
    text = cell.strip()
    try:
        value = _value_in(text)
    except RecursionError:
        raise UserError("the list is nested too deeply; write a flat list of names") from None
    if value is None and any(mark in text for mark in "\"',") and not _OBJECT.match(text):
        raise UserError(
            'the cell looks like a list but is not JSON; write ["cat", "dog"] with double quotes, or cat|dog'
        )
    if not isinstance(value, list):
        return [] if value == {} else None  # an object, or a name in brackets, such as [UNK]
    value = [label_named(one) for one in value if one is not None]
    wrong = [place for place, name in enumerate(value, start=1) if not isinstance(name, str)]
    if any(isinstance(one, dict) for one in value):
        raise UserError("its entries are objects; bring one answer a line, with fields for example, person and label")
    if wrong:
        raise UserError(f"entry {wrong[0]} of the list is not a name; write names in double quotes")
    return value


def label_named(value: Any) -> Any:
    """Return the label that an object names, as text; any other value, or an object that names none, itself.

    Parameters
    ----------
    value
        An entry of a list in a cell.

    Examples
    --------
    >>> label_named({"rating": 3}), label_named({"id": 7, "name": "bug", "color": "red"}), label_named("cat")
    ('3', 'bug', 'cat')
    """
    if not isinstance(value, dict):
        return value
    said = {plain_name(name): str(one) for name, one in value.items() if isinstance(one, str | int | float)}
    usual = [said[name] for name in (*USUAL["vote"], *USUAL["names_label"]) if name in said]
    return next(iter(usual or (said.values() if len(value) == 1 else ())), value)


_NUMPY_NUMBERS = re.compile(r"[\[{]\s*(-?\d+(?:\s+-?\d+)*)\s*[\]}]")
_NUMPY_WORDS = re.compile(r"""\[\s*(?:'[^']*'|"[^"]*")(?:\s+(?:'[^']*'|"[^"]*"))+\s*\]""")
"""Arrays as NumPy prints them: without commas; and sets of numbers as they are written by hand, `{0 2}`."""


_BARE_SET = re.compile(r"""\{((?:"(?:[^"\\]|\\.)*"|[^{}\[\]"':=])+)\}""")
"""A set as papers write it, or an array as PostgreSQL does: `{NV, BCC}`, `{"a, b",NV}`."""


def _value_in(text: str, *, as_written: bool = True) -> Any:
    """Return the list or object in a text, as JSON, Python or NumPy writes it; None of any other text.

    Tuples and sets are lists.

    Parameters
    ----------
    text
        As it stands there.
    as_written
        Whether numbers are text, as they are written.

    Raises
    ------
    RecursionError
        It is nested too deeply.
    """
    if not _like_a_list(text):
        return None
    with suppress(ValueError):
        return json.loads(text, **_AS_WRITTEN) if as_written else json.loads(text)
    if printed := _NUMPY_NUMBERS.fullmatch(text):
        return printed[1].split()
    if (bare := _BARE_SET.fullmatch(text)) and any(map(str.isalpha, bare[1])):
        if '"' in bare[1]:
            quoted = next(csv.reader([" ".join(bare[1].split())], escapechar="\\", skipinitialspace=True))
            are_several = any('"' in name or "|" in name or ";" in name for name in quoted)
            return None if are_several else [*map(str.strip, quoted)]
        return [name.strip() for name in re.split("[,;|]", bare[1]) if name.strip()]
    if _NUMPY_WORDS.fullmatch(text):  # Python would join the words
        return [word[1:-1] for word in re.findall(r"'[^']*'|\"[^\"]*\"", text)]
    try:
        value = ast.literal_eval(text.removeprefix("c"))  # c("cat", "dog") of R
    except (ValueError, SyntaxError, MemoryError, TypeError):
        return None
    if not isinstance(value, list | tuple | set):
        return value if isinstance(value, dict) else None
    names = [str(one) if isinstance(one, int | float) and not isinstance(one, bool) else one for one in value]
    return sorted(names) if isinstance(value, set) and all(isinstance(one, str) for one in names) else names


def _not_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_AS_WRITTEN: Mapping[str, Any] = {"parse_int": str, "parse_float": str, "parse_constant": _not_json}


# ---- cells in JSON ---------------------------------------------------------------------------------------------------

ANSWER_FIELDS = USUAL["answer_field"]
"""Fields of a model's answer that hold the label."""
_SEVERAL = (*(f"{name}s" for name in ANSWER_FIELDS), "classes", "categories")
SCORE_FIELDS = USUAL["score_field"]
"""Fields with the confidence in it."""
_FENCE = re.compile(r"\s*```[a-z]*[ \t]*\n?(.*?)\n?```\s*", re.IGNORECASE | re.DOTALL)
COVERED = 0.99
"""Probability that the likeliest classes together have at least, where candidate sets are made of probabilities."""


def answer_of(cell: str) -> tuple[tuple[str, ...], float] | None:
    """Return the labels of a model's answer in JSON, and its confidence from 0 to 1 (NaN where it has none).

    None where the cell is no such answer.

    Examples
    --------
    >>> answer_of('{"label": "cat", "confidence": 0.8}'), answer_of('{"label": null, "why": "blurred"}')[0]
    ((('cat',), 0.8), ())
    >>> answer_of("cat"), answer_of('{"cat": 0.8, "dog": 0.2}')
    (None, None)
    """
    fields = object_in(cell)
    if fields is None:
        return None
    plain = {name.strip().casefold(): value for name, value in fields.items()}
    field = next((name for name in (*ANSWER_FIELDS, *_SEVERAL) if name in plain), None)
    if field is None:
        field = _only_word(plain)
    if field is None:
        marked = [name.strip() for name, value in fields.items() if value is True or value == "true"]
        are_marks = all(isinstance(value, bool) or value in ("true", "false") for value in fields.values())
        return (tuple(marked), math.nan) if fields and are_marks else None
    values = plain[field] if isinstance(plain[field], list) else [plain[field]]
    names = [_name(one) for one in values if one is not None]
    if any(name is None for name in names):
        return None
    confidence = next((_share(plain[name]) for name in SCORE_FIELDS if name in plain), math.nan)
    return tuple(dict.fromkeys(name for name in names if name)), confidence


def _only_word(fields: Mapping[str, Any]) -> str | None:
    """Return the one field of words beside a confidence: `{"sentiment": "good", "confidence": 0.8}`."""
    if not any(name in fields for name in SCORE_FIELDS):
        return None
    words = [name for name, value in fields.items() if isinstance(value, str) and name not in SCORE_FIELDS]
    return words[0] if len(words) == 1 and len(fields[words[0]]) <= MOST_LETTERS_OF_NAME else None


def shares_of(cell: str) -> dict[str, float] | None:
    """Return how likely or how frequent each label is, of a JSON object of such numbers; None of any other cell.

    Of shares the likeliest labels that make up `COVERED` of their sum, of counts all above 0. Where a label has null,
    as in a struct of Arrow, nobody gave it.

    Examples
    --------
    >>> shares_of('{"cat": 3, "dog": 1, "fox": null}'), shares_of('{"cat": 0.6, "dog": 0.399, "fox": 0.001}')
    ({'cat': 3, 'dog': 1}, {'cat': 0.6, 'dog': 0.399})
    >>> shares_of('{"width": -1}'), shares_of("{cat, dog}")
    (None, None)
    >>> shares_of("good: 6, bad: 1")
    {'good': 6, 'bad': 1}
    """
    fields = object_in(cell)
    if not fields:
        said = ((label, float(share)) for label, share in pairs_in(cell) if is_number(share))
        fields = {label: int(share) if share.is_integer() else share for label, share in said}
    return shares_among(fields)


def shares_among(fields: Mapping[str, Any]) -> dict[str, float] | None:
    """Return how likely or how frequent each label is, of the fields of an object, as `shares_of` its cell."""
    if not fields:
        return None
    shares = {name.strip(): 0 if value is None else value for name, value in fields.items()}
    if not all(map(_is_share, shares.values())):
        return None
    positive = {name: value for name, value in shares.items() if value > 0 and name}
    whole = sum(positive.values())
    if not positive or all(value == round(value) for value in positive.values()):
        return positive
    ahead, least = 0.0, 0.0
    for value in sorted(positive.values(), reverse=True):
        if ahead >= COVERED * whole - 1e-9:
            break
        ahead, least = ahead + value, value
    return {name: value for name, value in positive.items() if value >= least}


def listed_answers(
    cell: str | None, people: str | None = None, states: str | None = None, *, counts: Sequence[str] = ()
) -> list[tuple[str | None, str, float]]:
    """Return (who, label, confidence) of every answer in a cell that holds all answers to an example.

    It is a list of labels, whose people stand in another cell; an object of people and labels; or a list of objects
    with a label and a person. Nobody is None, and so is no confidence NaN.

    Parameters
    ----------
    cell
        As JSON or Python write it, or with commas between the answers.
    people
        As `cell`, who gave them.
    states
        As `cell`, their states.
    counts
        The states that count; () where all do.

    Raises
    ------
    UserError
        As many people as answers there are not.

    Examples
    --------
    >>> [one[:2] for one in listed_answers('["cat", "dog"]', "ann,bob")], listed_answers('{"ann": "cat"}')[0][:2]
    ([('ann', 'cat'), ('bob', 'dog')], ('ann', 'cat'))
    >>> [one[:2] for one in listed_answers('[{"label": "cat", "user": 1}, {"label": "dog"}]')]
    [('1', 'cat'), (None, 'dog')]
    >>> listed_answers("{'ann': ('cat', 'dog')}")[0][:2]
    ('ann', '["cat", "dog"]')
    >>> listed_answers('{"gpt": {"verdict": "cat", "raw": "a cat, I think"}}')[0][:2]
    ('gpt', 'cat')
    """
    if pairs := pairs_in(cell):
        return [(who, label, math.nan) for who, label in pairs if label]
    value = elements(cell)
    names = [None if one is None else _as_text(one) for one in elements(people)] if people else []
    said = [str(one).casefold() for one in elements(states)] if states and counts else []
    if isinstance(value, dict):
        are_plain = not any(isinstance(one, dict | list) for one in value.values())
        is_one = are_plain and any(plain_name(name) in USUAL["vote"] for name in value)
        value = [value] if is_one else [{"user": who, "label": _answer_inside(what)} for who, what in value.items()]
        names, said = [], []
    if names and value and len(names) != len(value):  # who was asked may have said nothing
        raise UserError(f"there are {len(value)} answers and {len(names)} people; they must be as many")
    found: list[tuple[str | None, str, float]] = []
    for at, one in enumerate(value):
        if said and (at >= len(said) or not counts_in(said[at], counts)):
            continue
        if isinstance(one, dict):
            found += _of_object(one)
        elif one is not None:
            found.append((names[at] if names else None, _as_text(one), math.nan))
    return found


def _answer_inside(said: Any) -> Any:
    """Return the answer among what somebody said, where it is an object with one: `{"verdict": "B", "raw": …}`.

    >>> _answer_inside({"verdict": "B", "tokens": 9}), _answer_inside({"verdict": None, "error": "not parsed"})
    ('B', None)
    """
    fields = {plain_name(name): one for name, one in said.items()} if isinstance(said, dict) else {}
    answers = (one for name, one in fields.items() if name in WORDS_OF_FIELDS["what"])
    return next((one for one in answers if one is None or isinstance(one, str | int)), said)


def counts_in(state: str, counts: Sequence[str]) -> bool:
    """Whether an answer in this state counts.

    Parameters
    ----------
    state
        As the answer has it.
    counts
        States that count, in small letters, or those that do not, as "!state".

    Examples
    --------
    >>> counts_in("Submitted", ["submitted"]), counts_in("draft", ["submitted"]), counts_in("Preview", ["!preview"])
    (True, False, False)
    """
    plain = state.strip().casefold()
    return plain in counts or (f"!{plain}" not in counts and all(one.startswith("!") for one in counts))


def _of_object(one: Mapping[str, Any]) -> list[tuple[str | None, str, float]]:
    """Return the answers that an object with a label, and perhaps people and a confidence, is."""
    fields = {plain_name(name): value for name, value in one.items()}
    label = next((fields[name] for name in USUAL["vote"] if fields.get(name) is not None), None)
    if label is None:
        return []
    who = next((fields[name] for name in (*USUAL["worker"], *USUAL["people"]) if fields.get(name) is not None), None)
    score = next((_share(fields[name]) for name in SCORE_FIELDS if name in fields), math.nan)
    whose = who if isinstance(who, list) else [who]
    return [(None if name is None else _as_text(_who(name)), _as_text(label), score) for name in whose]


def _who(value: Any) -> Any:
    """Return the name of a person who is an object of fields; a name as it is."""
    if not isinstance(value, dict):
        return value
    fields = {plain_name(name): one for name, one in value.items()}
    return next((fields[name] for name in USUAL["worker"] if fields.get(name) is not None), value)


def _as_text(value: Any) -> str:
    """Return a label or a person as a cell: text as it is, a list of labels as JSON."""
    if isinstance(value, list | tuple | set):  # Python writes these too
        names = [_as_text(one) for one in value]
        return json.dumps(sorted(names) if isinstance(value, set) else names, ensure_ascii=False)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_share(value: Any) -> bool:
    """Whether a value can be how likely or how frequent a label is."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


_COUNTED = re.compile(
    r"(?:.*[^a-z])?(?:count|vote|dist|distribution|proba?|probabilitie|score|softmax|logit|pred|prediction)(?:s|er|ers)?"
)


def says_counts(name: str) -> bool:
    """Whether a column or field is called as counts or shares of labels are.

    Examples
    --------
    >>> says_counts("label_counts"), says_counts("Probabilities"), says_counts("box")
    (True, True, False)
    """
    return _COUNTED.fullmatch(name.casefold()) is not None


def is_object(cell: str) -> bool:
    """Whether a cell is a JSON object."""
    return object_in(cell) is not None


def objects_in(name: str, cells: Cells) -> tuple[str, Cells]:
    """Return what the objects in a column are, "" where hardly a cell is one, and its cells as if with labels alone.

    They are "answers" of a model; "voters" with their answers; "shares" of labels, whose sum is 1 unless the name of
    the column says that they are counts; or "others".

    Parameters
    ----------
    name
        Of the column.
    cells
        Of the column.

    Examples
    --------
    >>> objects_in("gpt", ['{"label": "cat", "score": 1}', None]), objects_in("votes", ['{"cat": 2, "dog": 1}'])
    (('answers', ['cat', None]), ('shares', ['["cat", "dog"]']))
    >>> objects_in("gpt", ["cat"])
    ('', ['cat'])
    """

    def says_shares(cell: str) -> bool:
        values = (shares_of(cell) if answer_of(cell) is None else None) or {}
        return len(values) > 0 and (are_counts or abs(sum(values.values()) - 1) <= 1.02 - COVERED)

    if all(nearly_all(lambda cell: bool(pairs_in(cell)), some) for some in (cells[:FEW], cells)):
        is_called_so = plain_name(name) in USUAL["candidates"] or not WORDS["candidate"].isdisjoint(words_of(name))
        if are_times(cells) or (is_called_so and are_weights(cells)):  # what soil is made of are shares, too
            return "shares", list(map(names_shared, cells))
        return ("voters" if _are_whose([pairs_in(cell) for cell in cells]) else ""), cells
    ends = ("}", "```", "}]", "]]", ")]", ")")
    may_be = any(cell.rstrip().endswith(ends) for cell in cells if cell)  # rare, and cheap to check
    may_be |= any(_TIMES.match(cell) for cell in cells[:FEW] if cell)
    if may_be and nearly_all(_is_list_of_answers, cells):
        return "voters", cells
    if not may_be or not nearly_all(is_object, cells):
        return "", cells
    if nearly_all(lambda cell: answer_of(cell) is not None, cells) and not _are_one_list(cells):
        return "answers", [cell and (_joined(answer[0]) if (answer := answer_of(cell)) else cell) for cell in cells]
    if _say_who(name, cells):
        return "voters", cells
    are_counts = says_counts(name) or _says_answers(name) or _are_counted(cells) or _hold_counts(cells)
    are_counts |= are_likeliest([object_in(cell) or {} for cell in cells if cell])
    if nearly_all(says_shares, cells):
        return "shares", list(map(names_shared, cells))
    return "others", cells


def names_shared(cell: str | None) -> str | None:
    """Return the labels of which a cell says shares, as a list; a cell that says none as it is."""
    return cell and (_joined(tuple(shares_of(cell) or ())) or cell)


def are_weights(cells: Cells) -> bool:
    """Whether cells say how many gave each label (`are_times`), or how likely each is: mostly several, their sum 1.

    Parameters
    ----------
    cells
        Of the column.

    Examples
    --------
    >>> are_weights(["cat: .7, dog: .3", "dog: 1", "cat: .5, fox: .5"]), are_weights(["lat: 0.4, lon: 0.6"] * 9)
    (True, False)
    """
    rows = [row for cell in cells if cell and (row := pairs_in(cell))]
    numbers = [row for row in rows if all(is_number(share) for _, share in row)]
    whole = [row for row in numbers if abs(math.fsum(float(share) for _, share in row) - 1) <= ROUNDED]
    are_several = 2 * sum(len(row) > 1 for row in rows) >= len(rows)
    do_differ = len({tuple(label for label, _ in row) for row in rows}) > 1
    return are_times(cells) or (are_several and do_differ and len(whole) >= NEARLY_ALL * len(rows) > 0)


def are_times(cells: Cells) -> bool:
    """Whether cells say how many of some people gave each label, several or one.

    The numbers have nearly the same sum, or one of them is mostly far above the others: people agree, ratings do not
    differ so much.

    Parameters
    ----------
    cells
        Of the column.

    Examples
    --------
    >>> are_times(["good: 6, bad: 1, odd: 1", "good: 7, bad: 1", "good: 8"]), are_times(["ann: 3, bob: 4", "ann: 3"])
    (True, False)
    >>> (
    ...     are_times(["ann: 4; bob: 5; cid: 5; dan: 5"] * 9 + ["ann: 5; bob: 5; cid: 5"]),
    ...     are_times(["10:40, 11:05", "9:10"]),
    ... )
    (False, False)
    >>> are_times(["crab:6|eel:1", "eel:10|crab:1|ray:1", "ray:21"]), are_times(["ann:4|bob:1", "ann:3|cid:2", "bob:2"])
    (True, False)
    """
    pairs = [pairs_in(cell) for cell in cells if cell]
    rows = [[int(times) for label, times in row if times.isdecimal() and not label.isdecimal()] for row in pairs]
    if sum(len(row) == len(some) > 0 for row, some in zip(rows, pairs, strict=True)) < NEARLY_ALL * len(pairs):
        return False
    sums, by_length = sorted(map(sum, rows)), defaultdict[int, list[int]](list)
    if len({*sums}) == 1 and sums[0] != PERCENT and len({*map(tuple, rows)}) > 2:  # no ratings always add up so
        return True
    for row in rows:
        by_length[len(row)].append(sum(row))
    often = sorted(length for length, some in by_length.items() if len(some) > LEAST_OF_LENGTH * len(rows))
    if len(often) < 2:
        return False
    if _one_is_far_above(rows):
        return True
    fewest, most = (sorted(by_length[length])[len(by_length[length]) // 2] for length in (often[0], often[-1]))
    low, high = sums[len(sums) // 20], sums[-1 - len(sums) // 20]
    # whoever is missing has no part of a sum of ratings, and other labels have what one that is missing has not
    return 2 * fewest * often[-1] > most * (often[0] + often[-1]) and 2 * high <= 3 * low


PERCENT = 100
"""What parts of something measured add up to."""


def _one_is_far_above(rows: Sequence[Sequence[float]]) -> bool:
    """Whether one of the numbers of a row is mostly far above the others, as counts are of people who agree."""
    several = [row for row in rows if len(row) > 1]
    ahead = sorted((max(row) * (len(row) - 1)) / (sum(row) - max(row) or 1) for row in several)
    return bool(ahead) and ahead[(len(ahead) - 1) // 2] >= FAR_ABOVE


FAR_ABOVE = 3.0
"""How many times the mean of the others the largest of some counts mostly is, from which they are no ratings."""
LEAST_OF_LENGTH = 0.05
"""Share of the cells that name so many labels, at least, where these are compared."""


def _are_counted(cells: Cells) -> bool:
    """Whether cells are labels that recur, several in some, with how many gave each: `mould (6), rancid (2)`."""
    said = [object_in(cell) or {} for cell in cells if cell and _SAID_OFTEN.fullmatch(cell)]
    names = Counter(name for one in said for name in one)
    return names.total() > len(said) and 4 * len(names) <= names.total()


def _hold_counts(cells: Cells) -> bool:
    """Whether objects hold whole numbers, of the same few names, of which one is mostly far above the others."""
    said = [shares_of(cell) or {} for cell in cells if cell]
    names = Counter(name for one in said for name in one)
    are_whole = all(float(number).is_integer() for one in said for number in one.values())
    are_few = 1 < len(names) <= FEW and 2 * names.total() > len(said) * len(names)
    return len(said) > 1 and are_whole and are_few and _one_is_far_above([[*one.values()] for one in said])


def are_likeliest(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects hold shares, the largest first, mostly several, of this label or that: the likeliest of many.

    Examples
    --------
    >>> are_likeliest([{"cat": 0.6, "dog": 0.3}, {"dog": 0.7}, {"fox": 0.5, "cat": 0.4}])
    True
    """
    shares = [[*one.values()] for one in objects]
    if not all(some and all(map(_is_share, some)) and sum(some) <= 1 + ROUNDED for some in shares):
        return False
    are_several = 2 * sum(len(some) > 1 for some in shares) > len(shares) > 0
    are_falling = all(some == sorted(some, reverse=True) for some in shares)
    return are_several and are_falling and len({next(iter(one)) for one in objects}) > 1


def _are_one_list(cells: Cells) -> bool:
    """Whether all answers are the same several labels: what one may choose from, and nobody's choice."""
    said = {answer[0] if (answer := answer_of(cell)) else () for cell in cells if cell}
    return len(cells) >= FEW and len(said) == 1 and len(next(iter(said))) > 1


def _says_answers(name: str) -> bool:
    """Whether a column is called as answers are, as `ratings`: of objects of numbers, how often each was given."""
    last = next(reversed(words_of(name)), "").removesuffix("s")
    return plain_name(name) in USUAL["answers"] or (last in WORDS_OF_FIELDS["what"] and last != "value")


def _is_list_of_answers(cell: str) -> bool:
    """Whether a cell is a list of objects with a label, and mostly with a person."""
    value = elements(cell) if cell.lstrip().startswith("[") else []
    if not value or isinstance(value, dict) or not all(isinstance(one, dict) for one in value):
        return False
    fields = [{plain_name(str(name)) for name in one} for one in value]
    named = sum(not some.isdisjoint((*USUAL["worker"], *USUAL["people"])) for some in fields)
    return all(not some.isdisjoint(USUAL["vote"]) for some in fields) and 2 * named > len(fields)


def _say_who(name: str, cells: Cells) -> bool:
    """Whether objects say who answered what: words, in a column that is called as answers are, or of one vocabulary."""
    plain = plain_name(name)
    objects = [object_in(cell) or {} for cell in cells if cell]
    every = [[(key, _answer_inside(one)) for key, one in some.items()] for some in objects]
    pairs = [[(key, said) for key, said in some if said is not None] for some in every]
    values = [one for some in pairs for _, one in some]
    if not values or not all(isinstance(one, str | list) for one in values):
        return False
    are_texts = 2 * len({*map(str, values)}) > max(4, len(values))  # what each letter of a question stands for
    return (plain in (*USUAL["answers"], *USUAL["candidates"]) and not are_texts) or _are_whose(pairs)


def _are_whose(rows: Sequence[Sequence[tuple[str, Any]]]) -> bool:
    """Whether pairs are people and their answers: names that come again, and few words that all of them use.

    >>> _are_whose([[("a", "x"), ("b", "y")], [("a", "y"), ("b", "x")]]), _are_whose([[("a", "x"), ("b", "y")]] * 9)
    (True, False)
    """
    words: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for who, what in (pair for row in rows for pair in row):
        words[who].update(spelling(str(one)) for one in (what if isinstance(what, list) else [what]))
    said = summed(pair for one in words.values() for pair in one.items())
    alike = [sum(n for word, n in one.items() if said[word] > one[word]) for one in words.values()]
    several = 2 * sum(len({*map(itemgetter(0), row)}) > 1 for row in rows) >= len(rows)
    few = 2 * len(words) <= max(4, said.total()) and 1 < len(said) <= max(20, said.total() // 4)
    return several and few and len(words) > 1 and 2 * sum(alike) >= said.total()


_ARROW = re.compile(r'"([^"]*)"\s*=>\s*"([^"]*)"')
"""One of the pairs in `RAYYAN-INCLUSION: {"ann"=>"Maybe", …} | …`, an object as Ruby prints it."""
_PAIR = re.compile(r"\s*(?P<who>[^:=;|{}\[\]]{1,40}?)\s*[:=]\s*(?P<what>[^:=;|]*?)\s*")


def pairs_in(cell: str | None) -> list[tuple[str, str]]:
    """Return who said what in a cell such as `ann: cat; bob: dog`; nothing where a part of it is no such pair.

    Examples
    --------
    >>> pairs_in("ann: cat; bob = dog, or not;"), pairs_in("A.B.: cat, C: dog"), pairs_in("cat; bob: dog")
    ([('ann', 'cat'), ('bob', 'dog, or not')], [('A.B.', 'cat'), ('C', 'dog')], [])
    >>> pairs_in("literal:3 unclear:1"), pairs_in("ann: 2 cats")
    ([('literal', '3'), ('unclear', '1')], [('ann', '2 cats')])
    >>> pairs_in('INCLUSION: {"ann"=>"Maybe", "bob"=>"Included"} | REASONS: old')
    [('ann', 'Maybe'), ('bob', 'Included')]
    """
    if not cell or (":" not in cell and "=" not in cell):  # nearly always, and at once
        return []
    if '"=>"' in cell:
        return _ARROW.findall(cell)
    pairs: list[tuple[str, str]] = []
    if cell.lstrip().startswith(("{", "[")):  # JSON: nobody is called so
        return pairs
    for part in re.split(r"[;|\n]|,(?=[^,;|:=]+[:=])|(?<=\d)\s+(?=[^\W\d][^\s,;|:=]*:)", cell):
        if part.strip():
            pair = _PAIR.fullmatch(part)
            if pair is None:
                return []
            pairs.append((pair["who"], pair["what"]))
    return pairs


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else json.dumps(list(names), ensure_ascii=False) if names else ""


def object_in(cell: str) -> dict[str, Any] | None:
    """The object in a cell, as JSON or Python writes it, or pairs of a name and a number; None of any other cell.

    >>> object_in('{"cat": 2}'), object_in("{'cat': 2, 'dog': None}"), object_in("{cat, dog}")
    ({'cat': 2}, {'cat': 2, 'dog': None}, None)
    >>> object_in("[['cat', 0.7], ['dog', 0.3]]"), object_in("[['cat', 'dog']]"), object_in("[['cat', 1], ['cat', 2]]")
    ({'cat': 0.7, 'dog': 0.3}, None, None)
    >>> object_in("mould (6), rancid oil (2)"), object_in("5x mould, 1 x rancid oil"), object_in("a (x), b (2)")
    ({'mould': 6, 'rancid oil': 2}, {'mould': 5, 'rancid oil': 1}, None)
    """
    if (cell[-1:] == ")" or cell[:1].isdecimal()) and _SAID_OFTEN.fullmatch(cell):
        said = (match.groupdict("") for match in _ONE_SAID.finditer(cell))
        return {(one["name"] or one["after"]).strip(): int(one["times"] or one["before"]) for one in said}
    fenced = _FENCE.fullmatch(cell)
    text = (cell if fenced is None else fenced[1]).strip()
    with suppress(RecursionError):
        value = _value_in(text, as_written=False) if text.startswith(_OBJECTS) else None
        if isinstance(value, list) and all(isinstance(one, list | tuple) and len(one) == 2 for one in value):
            value = named_shares(*zip(*value, strict=True))
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return _by_name(value)
    return None


def _by_name(fields: dict[str, Any]) -> dict[str, Any]:
    """Return two lists, of labels and how likely each is, as the shares that they are; other fields as they are.

    >>> _by_name({"labels": ["cat", "dog"], "scores": [0.9, 0.1]}), _by_name({"ann": ["cat"], "bob": ["dog"]})
    ({'cat': 0.9, 'dog': 0.1}, {'ann': ['cat'], 'bob': ['dog']})
    """
    lists = [one for one in fields.values() if isinstance(one, list)]
    ways = (lists, lists[::-1]) if len(lists) == len(fields) == 2 else ()
    return next((found for way in ways if (found := named_shares(*way)) is not None), fields)


def named_shares(names: Collection[Any], shares: Collection[Any]) -> dict[str, float] | None:
    """Return how likely, or how frequent, each of some labels is, in whatever lists both stand; None where they do not.

    Parameters
    ----------
    names
        The labels: texts, none twice.
    shares
        As many numbers.

    Examples
    --------
    >>> (
    ...     named_shares(["cat", "dog"], [0.9, 0.1]),
    ...     named_shares(["cat", "cat"], [0.9, 0.1]),
    ...     named_shares(["cat"], ["no"]),
    ... )
    ({'cat': 0.9, 'dog': 0.1}, None, None)
    """
    are_named = all(isinstance(name, str) for name in names) and len({*names}) == len(names) == len(shares)
    return dict(zip(names, shares, strict=True)) if are_named and all(map(_is_share, shares)) else None


_ONE_SAID = re.compile(
    r"\s*(?:(?P<name>[^,;()|\d][^,;()|]*)\((?P<times>\d{1,2})\s*[x×]?\)"
    r"|(?P<before>\d{1,2})\s*[x×]\s*(?P<after>[^,;()|\d\s][^,;()|]*))\s*"
)
_ANY_SAID = re.sub(r"\?P<\w+>", "?:", _ONE_SAID.pattern)
_SAID_OFTEN = re.compile(rf"{_ANY_SAID}(?:[,;|]{_ANY_SAID})*")
"""Labels, and how many gave each, as people write it: a year has four digits."""
_TIMES = re.compile(r"\d{1,2}\s*[x×]")
_OBJECTS = ("{", "[[", "[(", "([", "((")
"""How objects begin, and lists of pairs."""


def _name(value: Any) -> str | None:
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value) if isinstance(value, int | float) else None


def _share(value: Any) -> float:
    try:
        share = float(str(value).strip().removesuffix("%"))
    except ValueError:
        return math.nan
    share = share / 100 if str(value).strip().endswith("%") or 1 < share <= 100 else share
    return share if 0 <= share <= 1 else math.nan
