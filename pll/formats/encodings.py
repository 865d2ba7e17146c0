"""In which encoding a text is: UTF-8, UTF-16, or one of those that spreadsheets still save in (`encodings.toml`).

Each is tried, and the one counts in whose languages the letters are likeliest: how frequent they are, how capitals and
small letters, vowels and consonants stand together, whether signs stand in words. Where two are about as likely, or
none is, nobody but the person can tell, and is asked to save as UTF-8. (Why not charset-normalizer: docs/decisions.md.)
"""

from __future__ import annotations

import codecs
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import exp, log
from pathlib import Path

from pll.errors import UserError

_DATA = tomllib.loads(files("pll.formats").joinpath("encodings.toml").read_text("utf-8"))
ENCODINGS = {"utf-16": "UTF-16"} | {name: about["title"] for name, about in _DATA["encoding"].items()}
"""Encodings that are read besides UTF-8, as they are called."""

HEAD_CHUNK = 4 * 2**20
"""Number of bytes from which an encoding is guessed."""
_LOOKED_AT, _MOST_WORDS = 2000, 2000
"""Number of lines with characters beyond ASCII, and of different words in them, that the encoding is guessed from."""
CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f"))
"""Characters that no text holds."""
END_OF_TEXT = b"\x1a"
"""Ctrl-Z, with which old programs end a text."""
_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")

_WORD = re.compile(r"[^\s,;|\"]*[^\x00-\x7f][^\s,;|\"]*")
_FOREIGN = 0.1
"""Share of the words that may be of another language than the file's."""
_APART = log(6)
"""How much likelier than any other an encoding must be."""
_LEAST, _LEAST_BESIDE_UTF_8 = -6.5, -4.0
"""Logarithm of how likely each byte beyond ASCII is on average, at least; where most are characters of UTF-8 too."""
_RARE, _STRANGE = 1e-4, 1e-5
"""How likely a letter is that is not among those of a language: of its script, and of another."""
_PRINTED = "“”„‘’‚–—…•€\u00a0"
"""Signs that programs put into every text, English ones too."""
_USUAL_SIGNS = _PRINTED + "«»£§°·¿¡²³½¼¾×±®™©µº、。・「」『』（）！？：；，～《》【】\u3000"
_NO_LETTER = re.compile(r"(?:(?<=\d)|(?<=\b[NnMD]))[ºª](?!\w)|(?<![^\W\d_])µ(?=(?:mol|Pa|Hz|[AVWSLMglsm])(?![^\W\d_]))")
"""What is a sign, though Unicode has it as a letter: `1ª`, `Nº`, `Mª` of Romance languages, and the micro of units."""
_AFTER = "¹²³¼½¾"
"""Signs that stand after a word and not before one."""
_PRINTED_SIGN, _SIGN, _UNUSUAL_SIGN, _SIGN_IN_WORD = 0.1, 0.03, 1e-3, 1e-4
"""How likely a sign is, by what it is and where it stands."""
_CAPITAL_INSIDE, _CAPITALS, _CLUSTER, _TWO_SCRIPTS = log(0.003), log(0.1), log(0.2), log(0.01)
"""What a capital after a small letter, a word of capitals, a vowel or consonant among its like, and a letter of another
alphabet beside one of ASCII lose."""
_VOWELS = frozenset("aeiouyœæøıαεηιουωаеиоуыэюяіє")


def encoding_of(head: bytes) -> str:
    """Return the encoding of a text, from its start: "utf-8" or one of `ENCODINGS`.

    Text that is not UTF-8 but mostly has characters of several bytes as UTF-8 has them is damaged UTF-8.

    Raises
    ------
    UserError
        None of them, or several are possible.

    Examples
    --------
    >>> [encoding_of("für".encode(name)) for name in ("utf-8", "utf-16", "cp1252")]
    ['utf-8', 'utf-16', 'cp1252']
    >>> encoding_of("кошка, собака".encode("cp1251")), encoding_of("karışık, olumlu".encode("cp1254"))
    ('cp1251', 'cp1254')
    >>> encoding_of("EMG_µV;Blutdruck".encode("cp1252"))
    'cp1252'
    """
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    head = head.rstrip().removesuffix(END_OF_TEXT)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut off
        return "utf-8"
    except UnicodeDecodeError:
        if len(head.translate(None, CONTROL)) != len(head):
            return "utf-8"  # the error comes when the file is read
    lines = [line for line in head.splitlines() if not line.isascii()]
    lines = lines[:-1] if len(head) >= HEAD_CHUNK and len(lines) > 1 else lines  # the last may be cut off
    some = b"\n".join(lines[:_LOOKED_AT])
    texts = {name: text for name in _DATA["encoding"] if (text := _decoded(some, name)) is not None}
    likely = {name: _likelihood(name, text) for name, text in texts.items()}
    best = max(likely, key=likely.__getitem__, default="")
    beyond = sum(byte > 127 for byte in b"\n".join(_words(some)))
    is_damaged = 2 * sum(map(len, _UTF_8.findall(head))) >= sum(byte > 127 for byte in head)
    if is_damaged and (not best or likely[best] < _LEAST_BESIDE_UTF_8 * beyond):
        return "utf-8"  # the error comes when the file is read
    why = f"is not UTF-8, nor words in {', '.join(list(ENCODINGS.values())[1:])}"
    if best and likely[best] >= _LEAST * beyond:
        near = [name for name, one in likely.items() if one > likely[best] - _APART and texts[name] != texts[best]]
        if not near:
            return best
        why = f"could be {' or '.join(ENCODINGS[name] for name in (best, *near))}"
    raise UserError(f'The text {why}; save it as UTF-8 (in a spreadsheet: "CSV UTF-8"), so that no name is misread.')


def _words(some: bytes) -> list[bytes]:
    """The different words beyond ASCII, whatever the encoding."""
    return list(dict.fromkeys(re.findall(rb"[^\s,;|\"]*[\x80-\xff][^\s,;|\"]*", some)))[:_MOST_WORDS]


def _decoded(head: bytes, encoding: str) -> str | None:
    try:
        return head.decode(encoding)
    except UnicodeDecodeError:
        return None


# ---- how likely letters are ------------------------------------------------------------------------------------------


def _likelihood(encoding: str, text: str) -> float:
    """The logarithm of how likely the different words of a text are in the likeliest language of an encoding."""
    words = list(dict.fromkeys(_WORD.findall(_NO_LETTER.sub("°", text))))[:_MOST_WORDS]
    shape = sum(map(_shape, words))
    languages: Mapping[str, float] = _DATA["encoding"][encoding]["languages"]
    of_language = {name: [_letters(word, name) for word in words] for name in languages}
    best = [max(some) for some in zip(*of_language.values(), strict=True)]
    mixed = (
        log(languages[name]) + sum(_mix(own, other) for own, other in zip(some, best, strict=True))
        for name, some in of_language.items()
    )
    return shape + max(mixed)


def _mix(own: float, other: float) -> float:
    return other + log((1 - _FOREIGN) * exp(own - other) + _FOREIGN)


@cache
def _frequencies(language: str) -> tuple[Mapping[str, float], frozenset[str]]:
    """How likely each letter of a language beyond ASCII is, by its rank; and of which scripts they are."""
    letters = dict.fromkeys(_DATA["letters"][language])
    weights = {letter: 1 / (rank + 3) for rank, letter in enumerate(letters)}
    total = sum(weights.values())
    return {letter: weight / total for letter, weight in weights.items()}, frozenset(map(_script, letters))


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "PRIVATE").partition(" ")[0]


def _letters(word: str, language: str) -> float:
    frequencies, scripts = _frequencies(language)
    letters = (letter for letter in _folded(word) if letter.isalpha() and not letter.isascii())
    return sum(log(frequencies.get(x) or (_RARE if _script(x) in scripts else _STRANGE)) for x in letters)


def _folded(word: str) -> str:
    return word.replace("İ", "i").lower()


def _shape(word: str) -> float:
    """How likely the signs, the capitals and the vowels of a word stand where they do, whatever the language."""
    return sum(_signs(word)) + sum(_capitals(word)) + sum(_clusters(_folded(word)))


def _signs(word: str) -> Iterator[float]:
    for at, sign in enumerate(word):
        if not (sign.isascii() or sign.isalpha()):
            is_inside = word[at + 1 : at + 2].isalpha() and (word[at - 1 : at].isalpha() or sign in _AFTER)
            is_inside = is_inside and sign != "’"
            is_usual = sign in _USUAL_SIGNS and not (sign in "¿¡" and word[at - 1 : at].isalpha())
            usual = _PRINTED_SIGN if sign in _PRINTED else _SIGN
            yield log(usual if is_usual and not is_inside else _UNUSUAL_SIGN if not is_inside else _SIGN_IN_WORD)


def _capitals(word: str) -> Iterator[float]:
    pairs = [(a, b) for a, b in pairwise(word) if not (a.isascii() and b.isascii())]
    yield _TWO_SCRIPTS * sum(_are_two_scripts(a, b) for a, b in pairs)
    yield _CAPITAL_INSIDE * sum(a.islower() and b.isupper() for a, b in pairs)
    if any(a.isupper() and b.isupper() for a, b in pairs):
        yield _CAPITALS


def _clusters(word: str) -> Iterator[float]:
    for at, letter in enumerate(word):
        if letter.isascii() or not letter.isalpha() or letter in "йь" or _script(letter) not in _WITH_VOWELS:
            continue
        beside = [one for one in (word[at - 1 : at], word[at + 1 : at + 2]) if one.isalpha()]
        vowels = sum(map(_is_vowel, beside))
        if beside and (vowels == len(beside) if _is_vowel(letter) else vowels == 0):
            yield _CLUSTER


def _are_two_scripts(a: str, b: str) -> bool:
    return a.isalpha() and b.isalpha() and (_script(a) == "LATIN") != (_script(b) == "LATIN")


_WITH_VOWELS = ("LATIN", "CYRILLIC", "GREEK")


@cache
def _is_vowel(letter: str) -> bool:
    return unicodedata.normalize("NFD", letter)[0] in _VOWELS


def encode_like(source: Path, made: Path) -> None:
    """Write a text again in the encoding of another one, with a byte order mark where that has one.

    Parameters
    ----------
    source
        the text whose encoding is wanted.
    made
        in UTF-8 without a mark, rewritten in place. Where it has a character that the encoding does not have (a label
        that a reviewer added, say), it becomes UTF-8 with a mark.
    """
    with source.open("rb") as file:
        head = file.read(HEAD_CHUNK)
    encoding = encoding_of(head)
    if encoding == "utf-8" and without_marks(head) == head:
        return
    text = made.read_bytes().decode()
    try:
        made.write_bytes(text.encode("utf-8-sig" if encoding == "utf-8" else encoding))
    except UnicodeEncodeError:
        made.write_bytes(text.encode("utf-8-sig"))


def without_marks(head: bytes) -> bytes:
    """Return the start of a text without its byte order marks; some programs put one before the one that is there."""
    while head.startswith(codecs.BOM_UTF8):
        head = head.removeprefix(codecs.BOM_UTF8)
    return head


def as_utf8(head: bytes) -> bytes:
    """Return the start of a text without byte order marks, and in UTF-8 where it is UTF-16; else as it is."""
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return head.decode("utf-16", errors="ignore").encode("utf-8", errors="ignore")
    return without_marks(head)
