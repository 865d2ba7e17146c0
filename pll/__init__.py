"""Candid: partial-label learning. Candidate label sets in, one identified label per example out.

The names below are imported on first use, so that `import pll` stays fast.

>>> from pll import PRODEN, CandidateSets
>>> sets = CandidateSets.from_lists([[0, 1], [1], [0, 2], [2]], n_classes=3)
>>> proden = PRODEN(seed=0).fit([[0.1, 1.0], [1.2, 0.1], [0.0, 0.9], [-1.0, -1.0]], sets)
>>> proden.identify().tolist()
[0, 1, 0, 2]
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from pll.methods.names import REGISTERED

if TYPE_CHECKING:  # what `__getattr__` returns, for type checkers; a test compares the two
    from pll.candidates import CandidateSets as CandidateSets
    from pll.dataset import PartialLabelDataset as PartialLabelDataset
    from pll.errors import UserError as UserError
    from pll.formats import read as read
    from pll.formats import write as write
    from pll.methods import METHODS as METHODS
    from pll.methods.model_selection import covering_rate_scorer as covering_rate_scorer
    from pll.methods.persistence import load_model as load_model
    from pll.methods.persistence import save_model as save_model
    from pll.synthesis import flip_binomial as flip_binomial
    from pll.synthesis import flip_by_instance as flip_by_instance
    from pll.synthesis import flip_pair as flip_pair
    from pll.synthesis import flip_uniform as flip_uniform
    from pll.synthesis import flip_with_matrix as flip_with_matrix

__version__ = "0.1.0"

if "OMP_WAIT_POLICY" not in os.environ:
    # Read when torch is loaded, whose threads else wait for each other spinning: two of them on busy cores took 13
    # times the processor's seconds for a step. Without any spinning they are no faster than one on idle cores.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")

# ---- generated: `make generated`
if TYPE_CHECKING:
    from pll.methods import CAVL as CAVL
    from pll.methods import CC as CC
    from pll.methods import CLPL as CLPL
    from pll.methods import CRDPLL as CRDPLL
    from pll.methods import D2CNN as D2CNN
    from pll.methods import GA as GA
    from pll.methods import IPAL as IPAL
    from pll.methods import LWS as LWS
    from pll.methods import PLECOC as PLECOC
    from pll.methods import PLKNN as PLKNN
    from pll.methods import PLSVM as PLSVM
    from pll.methods import POP as POP
    from pll.methods import PRODEN as PRODEN
    from pll.methods import RC as RC
    from pll.methods import SURE as SURE
    from pll.methods import DawidSkene as DawidSkene
    from pll.methods import Majority as Majority
    from pll.methods import PNDecomp as PNDecomp
    from pll.methods import PNOracle as PNOracle
    from pll.methods import PRODENItera as PRODENItera
    from pll.methods import PRODENNaive as PRODENNaive
    from pll.methods import PRODENOutside as PRODENOutside
    from pll.methods import PRODENSudden as PRODENSudden
# ---- end of what is generated

_MODULES = {
    "pll.candidates": ("CandidateSets",),
    "pll.dataset": ("PartialLabelDataset",),
    "pll.errors": ("UserError",),
    "pll.formats": ("read", "write"),
    "pll.methods": ("METHODS", *(kind for _, kind, _ in REGISTERED.values())),
    "pll.methods.model_selection": ("covering_rate_scorer",),
    "pll.methods.persistence": ("load_model", "save_model"),
    "pll.synthesis": ("flip_binomial", "flip_pair", "flip_uniform", "flip_with_matrix", "flip_by_instance"),
}
"""Module → the public names that come from it."""

__all__ = sorted(name for names in _MODULES.values() for name in names)


if not TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> Any:
        for module, names in _MODULES.items():
            if name in names:
                value = getattr(importlib.import_module(module), name)
                globals()[name] = value  # the next use does not come here
                return value
        import difflib  # only now: it costs as much as everything else here

        lower = {name_.lower(): name_ for name_ in __all__}
        close = difflib.get_close_matches(name.lower(), lower, n=1)
        hint = f" Did you mean {lower[close[0]]!r}?" if close else ""
        raise AttributeError(f"module 'pll' has no attribute {name!r}.{hint}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
