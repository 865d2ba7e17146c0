"""The registry of methods: `METHODS`, name → estimator class. A new method is one file and one line here."""

from __future__ import annotations

import difflib

from pll.errors import UserError
from pll.methods.base import PartialLabelEstimator, Task, covering_rate_scorer
from pll.methods.cavl import CAVL
from pll.methods.cc import CC, RC
from pll.methods.choice import AUTO, Auto
from pll.methods.clpl import CLPL
from pll.methods.crdpll import CRDPLL
from pll.methods.d2cnn import D2CNN
from pll.methods.decomp import PNDecomp
from pll.methods.ecoc import PLECOC
from pll.methods.ga import GA
from pll.methods.ipal import IPAL
from pll.methods.lws import LWS
from pll.methods.outside import PRODENOutside
from pll.methods.plknn import PLKNN
from pll.methods.plsvm import PLSVM
from pll.methods.pop import POP
from pll.methods.proden import PRODEN, PNOracle, PRODENItera, PRODENNaive, PRODENSudden
from pll.methods.sure import SURE
from pll.methods.voting import DawidSkene, Majority


class UnknownMethod(UserError, KeyError):
    """Raised by `METHODS[name]` where no method has that name; the message suggests one."""

    __str__ = UserError.__str__  # KeyError's would put the message in quotation marks


class _Registry(dict[str, type[PartialLabelEstimator]]):
    def __missing__(self, name: str) -> type[PartialLabelEstimator]:
        close = difflib.get_close_matches(str(name).lower(), self, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UnknownMethod(f"There is no method called {name!r}; use one of {', '.join(self)}.{hint}")


METHODS: dict[str, type[PartialLabelEstimator]] = _Registry(
    {
        "proden": PRODEN,
        "proden-itera": PRODENItera,
        "proden-sudden": PRODENSudden,
        "proden-naive": PRODENNaive,
        "pn-oracle": PNOracle,
        "pn-decomp": PNDecomp,
        "d2cnn": D2CNN,
        "ga": GA,
        "sure": SURE,
        "clpl": CLPL,
        "ecoc": PLECOC,
        "plsvm": PLSVM,
        "plknn": PLKNN,
        "ipal": IPAL,
        "majority": Majority,
        "dawid-skene": DawidSkene,
        "cc": CC,
        "rc": RC,
        "lws": LWS,
        "cavl": CAVL,
        "pop": POP,
        "cr-dpll": CRDPLL,
        "proden-outside": PRODENOutside,
    }
)
"""Every method by the name that pages, shell and files use."""


def get_method(name: str) -> type[PartialLabelEstimator]:
    """Return the estimator class of that name: `METHODS[name]`, and `Auto`, which chooses among them, for `"auto"`.

    Raises:
        UnknownMethod: there is none; the message lists those there are, and suggests one.
    """
    return Auto if name == AUTO else METHODS[name]


__all__ = [
    "AUTO",
    "METHODS",
    "Auto",
    "CAVL",
    "CC",
    "CLPL",
    "CRDPLL",
    "D2CNN",
    "DawidSkene",
    "Majority",
    "GA",
    "IPAL",
    "LWS",
    "PLECOC",
    "PLKNN",
    "PLSVM",
    "PNDecomp",
    "PNOracle",
    "POP",
    "PRODEN",
    "PRODENItera",
    "PRODENNaive",
    "PRODENOutside",
    "PRODENSudden",
    "RC",
    "SURE",
    "PartialLabelEstimator",
    "Task",
    "UnknownMethod",
    "covering_rate_scorer",
    "get_method",
]
