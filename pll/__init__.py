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
    from pll.synthesis.flips import flip_binomial as flip_binomial
    from pll.synthesis.flips import flip_by_instance as flip_by_instance
    from pll.synthesis.flips import flip_pair as flip_pair
    from pll.synthesis.flips import flip_uniform as flip_uniform
    from pll.synthesis.flips import flip_with_matrix as flip_with_matrix

__version__ = "0.1.0"

if "OMP_WAIT_POLICY" not in os.environ:
    # Read when torch is loaded, whose threads else wait for each other spinning: two of them on busy cores took 13
    # times the processor's seconds for a step. Without any spinning they are no faster than one on idle cores.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")

# ---- generated: `make generated`
if TYPE_CHECKING:
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

_PLACES = {
    **dict.fromkeys(
        ("flip_binomial", "flip_pair", "flip_uniform", "flip_with_matrix", "flip_by_instance"), "pll.synthesis.flips"
    ),
    **dict.fromkeys(("load_model", "save_model"), "pll.methods.persistence"),
    **dict.fromkeys(("read", "write"), "pll.formats"),
    "CandidateSets": "pll.candidates",
    "METHODS": "pll.methods",
    "PartialLabelDataset": "pll.dataset",
    "UserError": "pll.errors",
    "covering_rate_scorer": "pll.methods.model_selection",
    **{kind: f"pll.methods.{file}" for file, kind, _ in REGISTERED.values()},
}
"""Public name → the module that it comes from."""

__all__ = sorted(_PLACES)


if not TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> Any:
        if name in _PLACES:
            value = getattr(importlib.import_module(_PLACES[name]), name)
            globals()[name] = value  # the next use does not come here
            return value
        from pll.errors import did_you_mean

        raise AttributeError(f"module 'pll' has no attribute {name!r}.{did_you_mean(name, __all__)}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
