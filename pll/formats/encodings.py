"""In which encoding a text is: UTF-8, UTF-16, or one of those that spreadsheets still save in.

An encoding is possible where every byte is a character of it and the words could be words: of one script, no capital
after a small letter, no signs inside. Where several are, or none is, nobody but the person can tell, and is asked to
save as UTF-8. (Why not charset-normalizer: docs/decisions.md.)
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from pll.errors import UserError

ENCODINGS = {"utf-16": "UTF-16", "cp1252": "Windows-1252", "cp1251": "Windows-1251 (Cyrillic)", "cp932": "Shift-JIS"}
"""Encodings that are read besides UTF-8, as they are called."""

HEAD_CHUNK = 4 * 2**20
"""Number of bytes from which an encoding is guessed."""
_LOOKED_AT = 2000
"""Number of lines with characters beyond ASCII that the encoding is guessed from."""
CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f"))
"""Characters that no text holds."""
END_OF_TEXT = b"\x1a"
"""Ctrl-Z, with which old programs end a text."""
_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")

_WORD = re.compile(r"[^\W\d_]+")
_SIGN_IN_WORD = re.compile(
    r"(?:[¹¼½¾¤¦¨¬¯¸¢¥¶]|(?<![mM])[²³])(?=[^\W\d_])|(?<=[^\W\d_\x00-\x7f])[¹²³¼½¾¤¦¨¬¯¸¢¥¶±¿¡]|ƒ\S|‚\S‚"
)
"""In Windows-1252 what other encodings are misread as: `¿ó³ty`, `Œ¢`; kana begin with ‚ and ƒ. But m²K is a unit."""
_CAPITAL_INSIDE = re.compile(r"[а-яёіїєґўђ][А-ЯЁІЇЄҐЎЂ]")
_MAX_UNUSUAL = 0.1
"""Share of the words beyond ASCII that may look unusual: abbreviations, units, names such as КамАЗ."""
_JAPANESE = re.compile(r"[\u3005-\u3007\u3040-\u30ff\u4e00-\u9fff]+")
_KANA = re.compile(r"[\u3040-\u30ff]")
_RARE_KANJI = 0x98
"""First byte in Shift-JIS from which characters are rare; letters with accents are from 0xC0 on in Windows-1252."""


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
    >>> encoding_of("кошка, собака".encode("cp1251")), encoding_of("ねこ, いぬ".encode("cp932"))
    ('cp1251', 'cp932')
    """
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    head = head.rstrip().removesuffix(END_OF_TEXT)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut off
        return "utf-8"
    except UnicodeDecodeError:
        beyond = sum(byte > 127 for byte in head)
        if len(head.translate(None, CONTROL)) != len(head) or 2 * sum(map(len, _UTF_8.findall(head))) >= beyond:
            return "utf-8"  # the error comes when the file is read
    lines = [line for line in head.splitlines() if not line.isascii()]
    lines = lines[:-1] if len(head) >= HEAD_CHUNK and len(lines) > 1 else lines  # the last may be cut off
    some = b"\n".join(lines[:_LOOKED_AT])
    fitting = [name for name, test in _TESTS.items() if (text := _decoded(some, name)) is not None and test(text)]
    if len(fitting) == 1:
        return fitting[0]
    why = (
        f"could be {' or '.join(ENCODINGS[name] for name in fitting)}"
        if fitting
        else f"is not UTF-8, nor words in {', '.join(ENCODINGS[name] for name in _TESTS)}"
    )
    raise UserError(f'The text {why}; save it as UTF-8 (in a spreadsheet: "CSV UTF-8"), so that no name is misread.')


def _decoded(head: bytes, encoding: str) -> str | None:
    try:
        return head.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_western(text: str) -> bool:
    """Whether letters with accents stand among plain ones: three or more in a row are another alphabet."""
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    unusual = sum(len(word) > 2 and not re.search("[a-zA-Z]", word) for word in words)
    signs = sum(not letter.isascii() for letter in text)
    return unusual <= _MAX_UNUSUAL * len(words) and len(_SIGN_IN_WORD.findall(text)) <= _MAX_UNUSUAL * signs


def _is_cyrillic(text: str) -> bool:
    """Whether words are Cyrillic or Latin, and not all in capitals, as KOI8-R read so would be."""
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    letters = "".join(words)
    usual = sum("А" <= letter <= "я" for letter in letters)
    is_script = all("\u0400" <= letter <= "\u04ff" for letter in letters) and 2 * usual >= len(letters)
    is_prose = len(letters) >= 2 * len(words) and letters != letters.upper()
    unusual = sum(_CAPITAL_INSIDE.search(word) is not None for word in words)
    return bool(words) and is_script and is_prose and unusual <= _MAX_UNUSUAL * len(words)


def _is_japanese(text: str) -> bool:
    """Whether characters are kana or usual kanji; a kanji alone in a Latin word is an accent or a quote misread."""
    beyond = [letter for letter in text if not letter.isascii()]
    if any("\uff61" <= letter <= "\uff9f" or "\ue000" <= letter <= "\uf8ff" for letter in beyond):
        return False  # half-width katakana and private characters: every byte of another encoding is one
    runs = list(_JAPANESE.finditer(text))
    alone = [run for run in runs if len(run[0]) == 1 and not _KANA.match(run[0])]
    if any(text[run.start() - 1 : run.start()].isalpha() or text[run.end() : run.end() + 1].isalpha() for run in alone):
        return False
    rare = sum(letter.encode("cp932")[0] >= _RARE_KANJI for run in runs for letter in run[0])
    return bool(runs) and 2 * rare <= sum(len(run[0]) for run in runs)


_TESTS = {"cp1252": _is_western, "cp1251": _is_cyrillic, "cp932": _is_japanese}


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
