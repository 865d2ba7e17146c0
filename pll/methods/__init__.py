"""Every method by name. A new method is one file and one line here."""

from __future__ import annotations

import difflib

from pll.errors import UserError
from pll.methods.base import PartialLabelEstimator, Task
from pll.methods.clpl import CLPL
from pll.methods.d2cnn import D2CNN
from pll.methods.decomp import PNDecomp
from pll.methods.ecoc import PLECOC
from pll.methods.ga import GA
from pll.methods.ipal import IPAL
from pll.methods.plknn import PLKNN
from pll.methods.plsvm import PLSVM
from pll.methods.proden import PRODEN, PNOracle, PRODENItera, PRODENNaive, PRODENSudden
from pll.methods.sure import SURE

METHODS: dict[str, type[PartialLabelEstimator]] = {
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
}


def get_method(name: str) -> type[PartialLabelEstimator]:
    """The estimator class of that name.

    Raises:
        UserError: there is none; the message lists those there are.
    """
    if name not in METHODS:
        close = difflib.get_close_matches(name, METHODS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UserError(f"There is no method called {name!r}; use one of {', '.join(METHODS)}.{hint}")
    return METHODS[name]


__all__ = ["METHODS", "PartialLabelEstimator", "Task", "get_method"]
