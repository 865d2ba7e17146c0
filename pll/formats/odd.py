"""The result of reading is looked at, whatever the way it came: what is odd is asked about and never trained on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something about a reading that is hardly what the person who made the file means.

    Attributes
    ----------
    kind
        Short name, by which a person accepts it (`--accept KIND`, `ReadOptions(accept=…)`).
    text
        What it is, in one sentence.
    cells
        The names or cells that show it, a few.
    remedy
        What to do, for a page.
    hint
        What to do in the shell.
    """

    kind: str
    text: str
    cells: tuple[str, ...] = ()
    remedy: str = ""
    hint: str = ""
