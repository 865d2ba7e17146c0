"""What the names of columns say: reserved names, our own marks, and what people usually call things."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress

from pll.errors import UserError
from pll.formats.checks import shorten
from pll.formats.forms import USUAL, WORDS, plain_name, words_of
from pll.formats.label_frame import RESULT_COLUMNS

LABEL_COLUMNS = ("id", "candidates", "true_label", "split")
"""Reserved names; a feature cannot be called so."""

PAYLOAD_COLUMNS = ("text", "image")
"""Reserved names of columns that hold texts or pictures."""

CONSENSUS_COLUMNS = ("num_annotations", "consensus_label", "annotator_agreement", "consensus_quality_score")
"""Results of cleanlab, which are not read back."""

IDENTIFIED = "identified_label"

UNNAMED = "unnamed"
"""Name of a column without one, followed by its position."""

ROLE_PREFIXES = {
    "annotator": "annotator:",
    "score": "score:",
    "class": "candidate:",
    "feature": "feature:",
    "category": "category:",
    "keep": "keep:",
}
"""Prefixes that mark the role of a column: `annotator:ann`, `category:zip`."""

SCORE_ENDS = ("_score", "_confidence", "_prob", " score", " confidence", ":confidence")
"""Suffixes of columns with the scores of an annotator."""

SHARE_COLUMN = re.compile(
    r"(?P<stem>(?:votes|p|score)_|prob(?:a|ability)?[_: ]|softmax[_.]|"
    r"p\((?=[^()]*(?:\)[\s%in]*)?$))(?P<name>.+)",  # of nobody: `P(tumour) reader 1` is what one reader says
    re.IGNORECASE | re.DOTALL,
)
"""Columns with the probability of a class, and its name."""

_PEOPLE = "|".join(sorted(WORDS["people"], key=len)[::-1])

NUMBERED = re.compile(
    rf"(?P<person>(?:{_PEOPLE})[ _.-]*(?:\d{{1,4}}|[a-z]))|(?P<label>label[ _.-]*\d{{1,4}})|"
    r"(?:annotation|vote|rating)[ _.-]*\d{1,4}|ann[ _.-]*\d{1,2}|"  # more digits are years, as in "ann. 2019"
    r"lf[ _.-].{1,40}",  # a labelling function, which may say one word or nothing
    re.IGNORECASE,
)

GRID = re.compile(r"(?P<question>.+?)\s*\[(?P<item>[^\[\]]+)\]", re.DOTALL)
"""A column of a grid of a form: the question, and in brackets what it is about."""

NAMED = re.compile(
    rf"(?:{_PEOPLE})[ _.-]+.{{1,40}}|(?-i:(?:Dr|Prof|PD|Mr|Mrs|Ms)\.? (?=[A-Z])).{{1,40}}",  # DR: a disease
    re.IGNORECASE,
)
"""A column that is called as one of some people, by what they do or by a title."""

OPTION_COLUMN = re.compile(
    r"(?:candidate|option|choice|alternative|possible[ _]label)[ _.-]*(?:\d{1,4}|[a-h])", re.IGNORECASE
)

CLASS_COLUMN = re.compile(
    r"(?P<stem>candidates?|cand|class|label|y)(?:(?:[_.= -]|: ?)(?P<name>.+)|(?P<number>\d{1,4}))", re.IGNORECASE | re.S
)

_NAMED_ID = re.compile(
    rf"(?:.*[\W_])?(?:{'|'.join(sorted(WORDS['id']))})[\W_]*|.*(?:nummer|number)[\W_]*|"
    r"(?:.* )?#|n[°º]\s?.+|(?:id|kod|codigo|codice)[\W_]+(?:(?:d\w{1,2}|dell\w)[\W_]+)?[^\W_]+|"
    r"signatuu?r|segnatura|sygnatura|signatura|cote|shelfmark|barcode",
    re.IGNORECASE,
)

_CAMEL_ID = re.compile(r".*(?:[^\W\d_A-Z]ID|[A-Za-z]Id|[a-z]N[ro])[\W_]*")

_BETWEEN_NAMES = ("::", "__", "#", "@", "|", "/", "~", "-", "_")
"""What stands between the two names in an id, the surer first: `ticket-1::gpt`."""

SAMPLE_ROWS = 2000
"""Maximum number of rows that the roles are guessed from; fewer in wide tables (`sample_rows`)."""

FIRST_CELLS = 3
"""Number of cells of a column that the interface shows."""

LIKE_A_MODEL = re.compile(
    r"gpt|claude|gemini|gemma|llama|mi[sx]tral|qwen|deepseek|grok|bert|clip|\bphi|\bllm|model|\bbot", re.IGNORECASE
)
"""Names that are perhaps that of a model."""


def sample_rows(width: int) -> int:
    """Return from how many rows of a table with so many columns its roles are guessed: 50,000 cells, 200 to 2,000 rows.

    Examples
    --------
    >>> sample_rows(5), sample_rows(50), sample_rows(10_000)
    (2000, 1000, 200)
    """
    return min(max(50_000 // max(width, 1), 200), SAMPLE_ROWS)


def marked(role: str, name: str) -> str:
    """The header of a column that is marked; in quotes what would be lost without.

    Parameters
    ----------
    role
        What the column is.
    name
        What it is of.

    Examples
    --------
    >>> marked("annotator", "ann"), marked("category", " x")
    ('annotator:ann', 'category:" x"')
    """
    plain = name == name.strip() != "" and not name.startswith('"')
    return ROLE_PREFIXES[role] + (name if plain else json.dumps(name, ensure_ascii=False))


def bare_name(name: str, role: str) -> str:
    """Return the name of a feature, an annotator, …: that of the column without the mark.

    Parameters
    ----------
    name
        Of the column.
    role
        What it is.
    """
    mark = ROLE_PREFIXES.get(role)
    if mark is None or not name.startswith(mark) or name == mark:
        return name
    bare = name.removeprefix(mark)
    if bare.startswith('"'):
        with suppress(ValueError):
            called = json.loads(bare)
            return called if isinstance(called, str) else bare
    return bare


_OURS = re.compile(r"(?:label|confidence|reviewed by) \(Candid(?: \d+)?\)")


def results_among(names: Sequence[str]) -> set[str]:
    """Return the columns with results of an earlier run: those of `RESULT_COLUMNS` from `IDENTIFIED` on.

    Examples
    --------
    >>> sorted(results_among(["id", "source", "identified_label", "confidence"]))
    ['confidence', 'identified_label']
    """
    start = names.index(IDENTIFIED) if IDENTIFIED in names else len(names)
    added = next((at for at, name in enumerate(names) if _OURS.fullmatch(name)), len(names))
    ours = {name for name in names[added:] if _OURS.fullmatch(name) or name in ("confidence", "reviewed by")}
    return set(names[start:]) & set(RESULT_COLUMNS) | ours


def labels_at_end(names: Sequence[str]) -> list[str]:
    """Return the last columns where they are called as Candid calls what it adds to a file; a person may call them so.

    Examples
    --------
    >>> labels_at_end(["id", "ann", "label", "confidence"]), labels_at_end(["id", "label"])
    (['label', 'confidence'], [])
    """
    for added in (["label", "confidence", "reviewed by"], ["label", "confidence"]):
        if list(names[-len(added) :]) == added:
            return added
    return []


def is_named_id(name: str) -> bool:
    """Whether a name is usual for ids, or ends in a word for one.

    Examples
    --------
    >>> [
    ...     is_named_id(name)
    ...     for name in ("case", "Fall-Nr.", "TicketID", "回答者ID", "Código da obra", "Essay #", "# of rooms", "n_ids")
    ... ]
    [True, True, True, True, True, True, False, False]
    """
    bare, words = name.partition(" (")[0], [*words_of(name)]
    if words[-1:] == ["ids"] and words[0] in WORDS["number_of"]:
        return False  # how many
    plain = "".join(one for one in unicodedata.normalize("NFKD", bare) if not unicodedata.combining(one))
    is_usual = plain_name(name) in USUAL["id"]
    return is_usual or _NAMED_ID.fullmatch(plain) is not None or _CAMEL_ID.fullmatch(plain) is not None


def two_names(ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return the two names that each of some ids is made of, of which the first ones recur; none where one is not.

    Examples
    --------
    >>> two_names(["t-1__run-1", "t-1__run-2", "t-2__run-1", "t-2__run-2"])[1], two_names(["a-1", "a2"])
    (('t-1', 'run-2'), [])
    """
    for mark in _BETWEEN_NAMES:
        parts = [(one.rpartition(mark)[0], one.rpartition(mark)[2]) for one in ids]
        recur = 5 * len({first for first, _ in parts}) <= 4 * len(ids)
        if parts and recur and all(first and last for first, last in parts):
            return parts
    return []


def without_order(name: str) -> str:
    """Return a name without the letter or number that tells it from another: `response_a`, `sentence 2`."""
    return re.sub(r"(?:[\W_]+[a-z]|[\W_]*\d)$", "", name.casefold())


def may_hold_labels(name: str) -> bool:
    """Whether a name is usual for labels of any kind."""
    return any(plain_name(name) in USUAL[role] for role in ("vote", "true_label", "candidates"))


MAX_COLUMNS = 60_000
"""Maximum number of columns; each takes the parser some 10 KB, however few rows there are."""


def check_number(header: Sequence[str]) -> None:
    """Raise UserError where there are too many columns to look at."""
    if len(header) > MAX_COLUMNS:
        raise UserError(f"There are {len(header):,} columns; at most {MAX_COLUMNS:,} are supported.")


def check_header(header: Sequence[str]) -> list[str]:
    """Return the column names, trimmed; a column without a name is called by its position, `unnamed 1`.

    Raises
    ------
    UserError
        No name at all, one that occurs twice, or too many columns.
    """
    check_number(header)
    if not any(name.strip() for name in header):
        raise UserError("The header is blank; the first row of a table must hold the names of its columns.")
    names = [name.strip() or f"{UNNAMED} {at}" for at, name in enumerate(header, start=1)]
    positions: dict[str, int] = {}
    for at, name in enumerate(names, start=1):
        part = name.casefold()
        key = part if part in LABEL_COLUMNS else name  # ID and id would be one column
        first = positions.setdefault(key, at)
        if first != at:
            raise UserError(
                f"Columns {first} and {at} have the same name {shorten(name)}; every column needs its own. "
                "The first row of a table must hold the column names."
            )
    return names


_PERCENT = re.compile(r"\s*(?:\bin\b|[(\[])?\s*%[)\]]?$")


def shown_name(name: str, role: str) -> str:
    """Return the display name of a column with this role.

    Parameters
    ----------
    name
        Of the column.
    role
        What it is.
    """
    if name.startswith(ROLE_PREFIXES.get(role, "\0")):
        return bare_name(name, role)
    name = (_PERCENT.sub("", name) or name) if role in ("probability", "count") else name
    if role in ("probability", "count") and (match := SHARE_COLUMN.fullmatch(name)):
        return match["name"].removesuffix(")") if match["stem"].endswith("(") else match["name"]
    if role == "item" and (match := GRID.fullmatch(name)):
        return match["item"]
    if role == "score":
        return bare_name(scored_by(name) or name, "annotator")
    return class_name(name.rpartition(":::")[2]) if role == "class" else name


def class_name(name: str) -> str:
    """Return what follows the stem of a column of a class."""
    match = CLASS_COLUMN.fullmatch(name)
    return name if match is None else match["name"] or match["number"]


def scored_by(name: str) -> str:
    """Return the annotator whose scores a column of this name holds: its name before the ending; "" without one."""
    end = next((end for end in SCORE_ENDS if name.casefold().endswith(end)), "")
    return name[: len(name) - len(end)] if end else ""


MOST_IN_GRID = 60
"""Voters, or classes, at most, that columns are called by."""
_BETWEEN_PARTS = re.compile(r"\s*[_.:/|·-]+\s*|\s+")

Grid = Mapping[str, Mapping[str, str]]
"""Names of columns by both of their parts, as a voter and a class."""


def grids(names: Sequence[str]) -> list[Grid]:
    """Return the ways in which names are made of two parts, where every one part stands with the same others.

    The largest come first.

    Parameters
    ----------
    names
        Of columns.

    Examples
    --------
    >>> grids(["ann_tone", "bob_tone", "ann_topic", "bob_topic"])[1]
    {'tone': {'ann': 'ann_tone', 'bob': 'bob_tone'}, 'topic': {'ann': 'ann_topic', 'bob': 'bob_topic'}}
    """
    parts: dict[tuple[bool, str], dict[str, str]] = {}
    for name in names:
        for left, right in parts_of(name):
            if left and right:
                parts.setdefault((True, left), {})[right] = name
                parts.setdefault((False, right), {})[left] = name
    groups: dict[tuple[bool, frozenset[str]], dict[str, dict[str, str]]] = {}
    for (first, part), others in parts.items():
        if 1 < len(others) <= MOST_IN_GRID:
            groups.setdefault((first, frozenset(others)), {})[part] = others
    likely = [group for group in groups.values() if 1 < len(group) <= MOST_IN_GRID]
    return sorted(likely, key=lambda group: -sum(map(len, group.values())))


def parts_of(name: str) -> list[tuple[str, str]]:
    """Return what stands before and after each mark in a name, or in brackets after it."""
    if grid := GRID.fullmatch(name):
        return [(grid["question"], grid["item"])]
    return [(name[: mark.start()], name[mark.end() :]) for mark in _BETWEEN_PARTS.finditer(name)]
