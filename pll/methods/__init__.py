"""The registry of methods: `METHODS`, name → estimator class. A new method is a file, and a line in `names.py`.

A class is imported when it is first used: pages that list runs need their methods' names, and not torch.
"""

from __future__ import annotations

import importlib
from collections import UserDict
from typing import TYPE_CHECKING, Any

from pll.errors import UserError, unknown
from pll.methods.names import REGISTERED, TITLES

# ---- generated: `make generated`
if TYPE_CHECKING:  # what `__getattr__` returns
    from pll.methods.base import PartialLabelEstimator as PartialLabelEstimator
    from pll.methods.base import Task as Task
    from pll.methods.cavl import CAVL as CAVL
    from pll.methods.cc import CC as CC
    from pll.methods.cc import RC as RC
    from pll.methods.clpl import CLPL as CLPL
    from pll.methods.crdpll import CRDPLL as CRDPLL
    from pll.methods.d2cnn import D2CNN as D2CNN
    from pll.methods.decomp import PNDecomp as PNDecomp
    from pll.methods.ecoc import PLECOC as PLECOC
    from pll.methods.ga import GA as GA
    from pll.methods.ipal import IPAL as IPAL
    from pll.methods.lws import LWS as LWS
    from pll.methods.outside import PRODENOutside as PRODENOutside
    from pll.methods.plknn import PLKNN as PLKNN
    from pll.methods.plsvm import PLSVM as PLSVM
    from pll.methods.pop import POP as POP
    from pll.methods.proden import PRODEN as PRODEN
    from pll.methods.proden import PNOracle as PNOracle
    from pll.methods.proden import PRODENItera as PRODENItera
    from pll.methods.proden import PRODENNaive as PRODENNaive
    from pll.methods.proden import PRODENSudden as PRODENSudden
    from pll.methods.sure import SURE as SURE
    from pll.methods.voting import DawidSkene as DawidSkene
    from pll.methods.voting import Majority as Majority
# ---- end of what is generated

_OTHERS = {
    "PartialLabelEstimator": "base",
    "Task": "base",
}
"""What else this package offers, and its file."""


class UnknownMethod(UserError, KeyError):
    """Raised by `METHODS[name]` where no method has that name; the message suggests one."""


class _Registry(UserDict[str, "type[PartialLabelEstimator]"]):
    """Classes by name, each imported when it is first used; asking whether there is one imports nothing."""

    def __getitem__(self, name: str) -> type[PartialLabelEstimator]:
        if name not in self.data:
            raise UnknownMethod(str(unknown("method", name, self)))
        if self.data[name] is None:
            file, kind, _ = REGISTERED[name]
            self.data[name] = getattr(importlib.import_module(f"pll.methods.{file}"), kind)
        return self.data[name]


METHODS = _Registry(dict.fromkeys(REGISTERED))  # type: ignore[arg-type]  # None: not imported yet
"""Every method by the name that pages, shell and files use."""


def get_method(name: str) -> type[PartialLabelEstimator]:
    """Return the estimator class of that name.

    Raises
    ------
    UnknownMethod
        There is none; the message lists those there are, and suggests one.
    """
    return METHODS[name]


def method_title(name: str) -> str:
    """Return a method as papers call it; its own name where it is none of ours.

    Examples
    --------
    >>> method_title("plknn"), method_title("my-own")
    ('PL-kNN', 'my-own')
    """
    return TITLES.get(name) or (METHODS[name].title if name in METHODS else name)


if not TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> Any:
        file = _OTHERS.get(name) or next((file for file, kind, _ in REGISTERED.values() if kind == name), None)
        if file is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        value = getattr(importlib.import_module(f"pll.methods.{file}"), name)
        globals()[name] = value  # the next use does not come here
        return value
