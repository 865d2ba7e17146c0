"""Writes the names of the methods' classes where they are listed: `python -m tools.front_door`.

A type checker reads them off the source, and `import pll` must import nothing, so that neither can look into the
registry (`pll.methods.names`).
"""

from __future__ import annotations

import re
from pathlib import Path

from pll.methods.names import REGISTERED

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pll" / "__init__.py"
REFERENCE = ROOT / "docs" / "api" / "front.md"
BLOCK = re.compile(r"(?<=# ---- generated: `make generated`\n).*?(?=# ---- end of what is generated\n)", re.DOTALL)


def package() -> str:
    """pll/__init__.py as it should be."""
    entries = sorted((file, not kind.isupper(), kind) for file, kind, _ in REGISTERED.values())  # as the linter sorts
    imports = "".join(f"    from pll.methods.{file} import {kind} as {kind}\n" for file, _, kind in entries)
    block = f"if TYPE_CHECKING:\n{imports}"
    return BLOCK.sub(lambda _: block, PACKAGE.read_text("utf-8"), count=1)


def reference() -> str:
    """docs/api/front.md as it should be."""
    entries = [
        f"::: pll.{kind}\n    options: {{heading_level: 3, members: false}}\n\n" for _, kind, _ in REGISTERED.values()
    ]
    before, rest = REFERENCE.read_text("utf-8").split("<!-- generated: `make generated` -->\n\n")
    end = "<!-- end of what is generated -->"
    return f"{before}<!-- generated: `make generated` -->\n\n{''.join(entries)}{end}{rest.split(end)[1]}"


if __name__ == "__main__":
    PACKAGE.write_text(package(), "utf-8")
    REFERENCE.write_text(reference(), "utf-8")
