"""Code lines by room: `python -m tools.lines [REVISION]`, beside those of a revision where one is given.

A code line holds part of a statement. Docstrings, comments and blank lines are counted apart: code lines are the
measure of size, so that explaining costs nothing and squeezing gains nothing.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = ("code", "docstring", "comment", "blank")
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def count(source: str) -> Counter[str]:
    """Count the lines of a Python file by kind.

    Examples
    --------
    >>> dict(count('def f():\\n    "What."\\n\\n    # why\\n    return 1  # one\\n'))
    {'code': 2, 'docstring': 1, 'comment': 1, 'blank': 1}
    """
    docstring: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        statements = getattr(node, "body", None)
        for statement in statements if isinstance(statements, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str):
                docstring |= set(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    code: set[int] = set()
    comment: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comment.add(token.start[0])
        elif token.type not in NO_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    code -= docstring
    comment -= code | docstring
    total = source.count("\n") + (not source.endswith("\n") and source != "")
    blank = total - len(code | docstring | comment)
    return Counter(dict(zip(KINDS, (len(code), len(docstring), len(comment), blank), strict=True)))


def room_of(file: str) -> str:
    """Return the room of a file: `pll/NAME` inside the library, else the folder at the top."""
    parts = file.split("/")
    if parts[0] == "pll" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 else "."


def rooms(revision: str | None = None) -> dict[str, Counter[str]]:
    """Count the lines of every room: of the working tree, or of a revision."""
    listed = _git("ls-files", "*.py") if revision is None else _git("ls-tree", "-r", "--name-only", revision)
    result: dict[str, Counter[str]] = {}
    for file in listed.split("\n"):
        if file.endswith(".py") and (revision is not None or (ROOT / file).exists()):
            source = _git("show", f"{revision}:{file}") if revision else (ROOT / file).read_text(encoding="utf-8")
            result.setdefault(room_of(file), Counter()).update(count(source))
    result["pll in all"] = sum((lines for room, lines in result.items() if room.startswith("pll")), Counter())
    return result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.lines", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("revision", metavar="REVISION", nargs="?", help="another column: the code lines of that")
    revision = parser.parse_args().revision
    now, before = rooms(), rooms(revision) if revision else {}
    print(f"{'room':20}" + "".join(f"{kind:>11}" for kind in KINDS) + (f"{'code was':>11}" if revision else ""))
    for room in sorted(now, key=lambda name: (name == "pll in all", name)):
        was = f"{before.get(room, Counter())['code']:11,}" if revision else ""
        print(f"{room:20}" + "".join(f"{now[room][kind]:11,}" for kind in KINDS) + was)


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
