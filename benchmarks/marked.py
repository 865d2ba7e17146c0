"""Tables of figures in the hand-written pages of docs/."""

from __future__ import annotations

import re
from pathlib import Path


def put(file: Path, name: str, table: str) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- end of name -->`.

    Raises
    ------
    ValueError
        If the page does not have the two marks once.
    """
    marks = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end of {re.escape(name)} -->)", re.DOTALL)
    text, times = marks.subn(
        lambda match: f"{match[1]}\n{table.strip()}\n\n{match[2]}", file.read_text(encoding="utf-8")
    )
    if times != 1:
        raise ValueError(f"{file} has the marks of {name!r} {times} times.")
    file.write_text(text, encoding="utf-8")


def table(header: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown.

    Examples
    --------
    >>> print(table(["method", "%"], [["PRODEN", "95"]]))
    | method | % |
    |---|---|
    | PRODEN | 95 |
    """
    cells = [f"| {' | '.join(row)} |" for row in [header, *rows]]
    return "\n".join([cells[0], f"|{'---|' * len(header)}", *cells[1:]])
