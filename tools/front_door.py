"""Writes the names of the methods' classes where they are listed: `python -m tools.front_door`.

A type checker reads them off the source, and `import pll` must import nothing, so that neither can look into the
registry (`pll.methods.names`).
"""

from __future__ import annotations

import re
from pathlib import Path

from pll.methods.names import REGISTERED

ROOT = Path(__file__).parents[1]
PACKAGE, METHODS = ROOT / "pll" / "__init__.py", ROOT / "pll" / "methods" / "__init__.py"
REFERENCE = ROOT / "docs" / "api" / "front.md"
BLOCK = re.compile(r"(?<=# ---- generated: `make generated`\n).*?(?=# ---- end of what is generated\n)", re.DOTALL)


def package() -> str:
    """pll/__init__.py as it should be."""
    kinds = sorted((kind for _, kind, _ in REGISTERED.values()), key=_isort)
    imports = "".join(f"    from pll.methods import {kind} as {kind}\n" for kind in kinds)
    return _with_block(PACKAGE, f"if TYPE_CHECKING:\n{imports}")


def methods() -> str:
    """pll/methods/__init__.py as it should be."""
    entries = [(file, kind) for file, kind, _ in REGISTERED.values()]
    entries += [("base", "PartialLabelEstimator"), ("base", "Task")]
    entries.sort(key=lambda one: (one[0], _isort(one[1])))
    imports = "".join(f"    from pll.methods.{file} import {kind} as {kind}\n" for file, kind in entries)
    return _with_block(METHODS, f"if TYPE_CHECKING:  # what `__getattr__` returns\n{imports}")


def reference() -> str:
    """docs/api/front.md as it should be."""
    entries = [
        f"::: pll.{kind}\n    options: {{heading_level: 3, members: false}}\n\n" for _, kind, _ in REGISTERED.values()
    ]
    before, rest = REFERENCE.read_text("utf-8").split("<!-- generated: `make generated` -->\n\n")
    end = "<!-- end of what is generated -->"
    return f"{before}<!-- generated: `make generated` -->\n\n{''.join(entries)}{end}{rest.split(end)[1]}"


def _isort(name: str) -> tuple[bool, str]:
    """The order in which the linter wants imported names: constants, as it takes PRODEN to be one, before classes."""
    return not name.isupper(), name


def _with_block(file: Path, block: str) -> str:
    return BLOCK.sub(lambda _: block, file.read_text("utf-8"), count=1)


if __name__ == "__main__":
    PACKAGE.write_text(package(), "utf-8")
    METHODS.write_text(methods(), "utf-8")
    REFERENCE.write_text(reference(), "utf-8")
