"""Parts of Candid that are installed on demand: `pip install 'candid-labels[NAME]'`, and what is said without them."""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

import pll
from pll.errors import UserError


@dataclass(frozen=True)
class Extra:
    """An optional part.

    Attributes
    ----------
    packages
        What it installs: name on the package index → module.
    words
        What for.
    """

    packages: Mapping[str, str]
    words: str


EXTRAS = {
    "app": Extra({"streamlit": "streamlit", "plotly": "plotly", "sqlalchemy": "sqlalchemy"}, "the app, reviews"),
    "excel": Extra({"openpyxl": "openpyxl"}, "workbooks of Excel"),
    "hdf5": Extra({"h5py": "h5py"}, ".mat files of MATLAB v7.3"),
    "vision": Extra({"torchvision": "torchvision"}, "models and pretrained features of torchvision, CIFAR-10"),
    "onnx": Extra({"onnx": "onnx", "onnxscript": "onnxscript", "onnxruntime": "onnxruntime"}, "model.onnx"),
    "postgres": Extra({"psycopg": "psycopg"}, "decisions in PostgreSQL"),
    "login": Extra({"authlib": "authlib", "httpx2": "httpx2"}, "logging in"),
    "archives": Extra({"rarfile": "rarfile"}, ".rar files"),
    "dask": Extra({"distributed": "distributed"}, "experiments on a Dask cluster"),
    "embeddings": Extra({"sentence-transformers": "sentence_transformers"}, "texts by a language model"),
}
"""By name; pyproject.toml has their versions."""


def is_installed(module: str) -> bool:
    """Return whether a module can be imported; it is not imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def missing_extra(*modules: str) -> UserError | None:
    """Return what to say of modules of which some are not installed; None where none is of an optional part.

    Examples
    --------
    >>> print(missing_extra("plotly"))
    Not installed, and needed here: plotly. Run: pip install 'candid-labels[app]'
    """
    for name, extra in EXTRAS.items():
        missing = [module for module in modules if module in extra.packages.values()]
        if missing:
            return UserError(
                f"Not installed, and needed here: {', '.join(missing)}. Run: pip install 'candid-labels[{name}]'"
            )
    return None


def require_extra(*modules: str) -> None:
    """Raise UserError where a module of an optional part is not installed."""
    error = missing_extra(*(name for name in modules if not is_installed(name)))
    if error is not None:
        raise error


def versions() -> dict[str, str]:
    """Return what a run, a model or an experiment was made with."""
    return {"candid": pll.__version__, "python": platform.python_version()} | _of_packages()


@cache
def _of_packages() -> dict[str, str]:
    return {name: version(name) for name in ("torch", "numpy")}
