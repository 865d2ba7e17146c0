"""Rules read off the source: the order of the packages, circles, what is never unpickled, what docstrings describe."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = sorted((ROOT / "pll").rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in LIBRARY}


@pytest.fixture(autouse=True, scope="module")
def _trees() -> Iterator[None]:
    """Half a million nodes: the garbage collector need not look through them, and they go when they are not needed."""
    gc.disable()
    yield
    gc.enable()
    tree.cache_clear()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def statements(module: ast.Module, *, types_too: bool) -> Iterator[ast.AST]:
    """Every statement, of functions too; without what only a type checker sees unless `types_too`. No expressions."""
    left: list[ast.AST] = [module]
    while left:
        node = left.pop()
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            left += [one for one in getattr(node, block, ()) if types_too or not is_type_checking(one)]
        yield node


@cache
def imported(path: Path, *, types_too: bool = False) -> frozenset[str]:
    """Full names of the modules a file imports; for `from a import b` both `a` and, where it is a module, `a.b`.

    Args:
        types_too: also what only a type checker imports.
    """
    found: set[str] = set()
    for node in statements(tree(path), types_too=types_too):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import; write the full name"
            source = node.module or ""
            submodules = {f"{source}.{alias.name}" for alias in node.names} & set(MODULES)
            names = {alias.name for alias in node.names if f"{source}.{alias.name}" not in MODULES}
            found |= submodules | ({source} if names or not submodules else set())
    return frozenset(found)


def of_package(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def test_the_library_knows_no_page() -> None:
    """Only `pll.ui` may know Streamlit, and nothing outside it may know `pll.ui`."""
    wrong = {name: {"pages", "app", "tests", "benchmarks"} & tops(path) for name, path in MODULES.items()}
    for name, path in MODULES.items():
        if not of_package(name, "pll.ui"):
            wrong[name] |= {one for one in imported(path) if of_package(one, "streamlit") or of_package(one, "pll.ui")}
    assert {name: found for name, found in wrong.items() if found} == {}


def tops(path: Path) -> set[str]:
    """The packages that a file imports from."""
    return {name.split(".")[0] for name in imported(path)}


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    inside = {name for name in MODULES if package(name) is not None}  # the lazy `pll/__init__.py` names what imports it
    edges = {name: imported(MODULES[name], types_too=True) & inside - {name} for name in inside}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for other in sorted(edges[name]):
                visit(other, (*trail, name))
            done.add(name)

    for name in sorted(edges):
        visit(name, ())


PACKAGES = (
    *("errors", "extras", "paths", "io", "images", "wording", "colors", "candidates", "weights", "copies", "training"),
    *("synthesis", "annotations", "dataset", "formats", "catalog", "features"),
    *("methods", "analysis", "runs", "experiments"),
    *("review", "export", "cli", "ui"),
)
"""Top modules and packages of `pll/`. A package imports only from itself and from packages before it; `ui` and `cli`
import anything, and nothing imports them. `pll/__init__.py` and `pll/__main__.py` stand outside."""


def package(name: str) -> str | None:
    """The package of a module; None for the two that stand outside."""
    parts = name.split(".")
    return None if len(parts) < 2 or parts[1] == "__main__" else parts[1]


def test_every_module_has_a_package() -> None:
    assert {package(name) for name in MODULES} - {None} <= set(PACKAGES)


def test_packages_import_from_earlier_packages_only() -> None:
    late = {name: from_later_packages(name, path) for name, path in MODULES.items() if package(name) is not None}
    assert {name: found for name, found in late.items() if found} == {}


def from_later_packages(name: str, path: Path) -> set[str]:
    """What a module imports from packages that come after its own."""
    allowed = set(PACKAGES[: PACKAGES.index(package(name)) + 1])
    imports = {one for one in imported(path, types_too=True) if of_package(one, "pll") and package(one)}
    return {one for one in imports if package(one) not in allowed}


PICKLES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}
UNPICKLING = {"joblib.load", "pd.read_pickle", "pandas.read_pickle", "eval", "exec", "__import__"}


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def is_constant(value: ast.expr | None, expected: bool) -> bool:
    return isinstance(value, ast.Constant) and value.value is expected


def dotted(name: ast.expr) -> str:
    """`a.b.c` of such a name, "" of any other expression; to write the code of every one anew takes half a second."""
    if isinstance(name, ast.Attribute):
        before = dotted(name.value)
        return before and f"{before}.{name.attr}"
    return name.id if isinstance(name, ast.Name) else ""


def unsafe_reads(path: Path) -> Iterator[str]:
    """Where a file could run code that somebody else's file carries."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module in PICKLES:
            yield f"line {node.lineno}: from {node.module}"
        # An error may be named, so that it can be caught; nothing else of these modules may be used.
        if isinstance(node, ast.Attribute) and dotted(node.value) in PICKLES and not node.attr.endswith("Error"):
            yield f"line {node.lineno}: {dotted(node)}"
        if not isinstance(node, ast.Call):
            continue
        called = dotted(node.func)
        place = f"line {node.lineno}: {called}"
        allow = keyword(node, "allow_pickle")
        if allow is not None and not is_constant(allow, False):
            yield f"{place} with allow_pickle"
        if called == "torch.load" and not is_constant(keyword(node, "weights_only"), True):
            yield f"{place} without weights_only=True"
        if called in UNPICKLING:
            yield place


def test_nothing_is_ever_unpickled() -> None:
    found = {str(path.relative_to(ROOT)): list(unsafe_reads(path)) for path in [*LIBRARY, *PAGES]}
    assert {path: reads for path, reads in found.items() if reads} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle; pickle.loads(f)", ["line 1: pickle.loads"]),
        ("from pickle import load", ["line 1: from pickle"]),
        ("import pickle; pickle.UnpicklingError", []),
        ("np.load(f)", []),  # refuses pickles by itself
        ("np.load(f, allow_pickle=False)", []),
        ("np.load(f, allow_pickle=True)", ["line 1: np.load with allow_pickle"]),
        ("np.load(f, allow_pickle=anything)", ["line 1: np.load with allow_pickle"]),
        ("torch.load(f)", ["line 1: torch.load without weights_only=True"]),
        ("torch.load(f, weights_only=False)", ["line 1: torch.load without weights_only=True"]),
        ("torch.load(f, weights_only=True)", []),
        ("joblib.load(f)", ["line 1: joblib.load"]),
    ],
)
def test_the_check_itself_sees_what_it_should(tmp_path: Path, source: str, found: list[str]) -> None:
    path = tmp_path / "x.py"
    path.write_text(source)
    hits = list(unsafe_reads(path))
    assert len(hits) == len(found)
    assert all(hit.startswith(expected) for hit, expected in zip(hits, found, strict=True))


def test_no_merge_is_left_half_done() -> None:
    """Scripts, styles and texts are not parsed by the other checks."""
    kinds = ("*.js", "*.css", "*.md", "*.jinja", "*.toml")
    files = [file for folder in ("pll", "docs", "assets") for kind in kinds for file in (ROOT / folder).rglob(kind)]
    for file in [*files, *ROOT.glob("*.md")]:
        lines = file.read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if line.startswith(("<<<<<<< ", ">>>>>>> "))], file


PAPER = re.compile(r"\bet al\.|\b[A-Z][\w-]+ & [A-Z][\w-]+ (?:\(?\d{4}|20\d\d)")


AS_CHECKED = "mat5.py"
"""A file that stays as it was checked; all others are counted."""


@cache
def public() -> list[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """Public classes and functions of all modules, with their names."""
    found: list[tuple[str, ast.ClassDef | ast.FunctionDef]] = []
    for file in LIBRARY:
        if file.name == AS_CHECKED:
            continue
        waiting: list[tuple[str, ast.stmt]] = [(file.stem, node) for node in tree(file).body]
        for where, node in waiting:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                found.append((f"{where}.{node.name}", node))
                if isinstance(node, ast.ClassDef):
                    waiting += [(f"{where}.{node.name}", inner) for inner in node.body]
    return found


def described(doc: str) -> set[str]:
    """Names of the parameters that a docstring describes."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n[A-Z]\w*\n-{3,}|\Z)", doc, re.DOTALL | re.MULTILINE)
    heads = [] if section is None else [line.split(" : ")[0] for line in section[1].splitlines() if line[:1].strip()]
    return {name.strip(" *") for head in heads for name in head.split(",")}


def test_public_functions_describe_all_their_parameters() -> None:
    """Those of two and more; a method that overrides another has its docstring from there."""
    functions = [(name, node) for name, node in public() if isinstance(node, ast.FunctionDef)]
    lacking = {}
    for name, node in functions:
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = [one.arg for one in every if one.arg not in ("self", "cls") and not one.arg.startswith("_")]
        doc = ast.get_docstring(node)
        if doc is not None and len(names) > 1 and (left := set(names) - described(doc)):
            lacking[name] = sorted(left)
    assert len(functions) > 200
    assert lacking == {}


def test_papers_stand_under_references() -> None:
    docs = {name: ast.get_docstring(node) or "" for name, node in public()}
    citing = {name: doc for name, doc in docs.items() if PAPER.search(doc.partition("References\n---")[0])}
    assert len(citing) > 10
    assert [name for name, doc in citing.items() if "References\n---" not in doc] == []


def test_a_public_constant_has_one_meaning() -> None:
    """One name, one definition: `MOST_ROWS` of a sheet and `MOST_ROWS` of a model are called after what they are of."""
    said: dict[str, set[str]] = {}
    for path in LIBRARY:
        for node in tree(path).body:
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if value is None or (isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar"):
                continue  # type variables are local to their module
            for target in targets:
                several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                pairs = zip(target.elts, value.elts, strict=True) if several else [(target, value)]
                for name, one in pairs:
                    if isinstance(name, ast.Name) and name.id.isupper() and not name.id.startswith("_"):
                        said.setdefault(name.id, set()).add(ast.unparse(one))
    assert len(said) > 100
    assert not {name: values for name, values in said.items() if len(values) > 1}
