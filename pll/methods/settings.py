"""Settings of the methods: which values they take, and how a method comes by those of its parent class."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeVar

from pll.errors import UserError

E = TypeVar("E")

KERNELS = ("rbf", "linear")
MISSING = ("error", "mean")
WHOLE = 2**63
"""What whole numbers stay below: 64 bits must hold them."""


def check_number(
    name: str,
    value: Any,
    *,
    whole: bool = False,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> None:
    """Raises UserError unless a setting is a finite number (a `whole` one) within its limits.

    >>> check_number("share", 1.5, above=0, most=1)
    Traceback (most recent call last):
    pll.errors.UserError: share is 1.5; it must be a number above 0, at most 1.
    """
    limits = (
        (WHOLE if isinstance(value, Integral) else math.inf, operator.lt, ""),
        (-math.inf, operator.gt, ""),
        (above, operator.gt, " above {:g}"),
        (least, operator.ge, ", {:g} or more"),
        (below, operator.lt, ", below {:g}"),
        (most, operator.le, ", at most {:g}"),
    )
    given = [(limit, holds, words) for limit, holds, words in limits if limit is not None]
    if not isinstance(value, Integral if whole else Real) or not all(holds(value, limit) for limit, holds, _ in given):
        odd = isinstance(value, float) and not math.isfinite(value)  # which looks like a number that fits
        kind = "whole number" if whole else "finite number" if odd else "number"
        wanted = "".join(words.format(limit) for limit, _, words in given)
        raise UserError(f"{name} is {value!r}; it must be a {kind}{wanted}.")


def check_common_settings(seed: Any, missing: Any) -> None:
    """Raises UserError unless the seed is a whole number from 0 and `missing` is one of `MISSING`."""
    check_number("seed", seed, whole=True, least=0)
    if missing not in MISSING:
        raise UserError(f"missing is {missing!r}; use one of {', '.join(MISSING)}.")


def check_kernel(kernel: str) -> None:
    """Raises UserError unless it is one of `KERNELS`."""
    if kernel not in KERNELS:
        raise UserError(f"There is no kernel called {kernel!r}; use one of {', '.join(KERNELS)}.")


def own_settings(**values: Any) -> Callable[[type[E]], type[E]]:
    """A class decorator: the settings of the parent class, with these defaults; what it does not know is added.

    Args:
        values: setting → default. The class says what an added one means, and of which type it is.

    >>> from pll.methods.proden import PRODEN
    >>> @own_settings(lr=0.5, haste=2)
    ... class Hasty(PRODEN):
    ...     haste: int
    >>> inspect.signature(Hasty).parameters["lr"].default
    0.5
    >>> Hasty(haste=3).get_params()["haste"]
    3
    """

    def decorate(estimator: type[E]) -> type[E]:
        inherited: Callable[..., None] = estimator.__init__
        signature = inspect.signature(inherited)
        added = [name for name in values if name not in signature.parameters]

        @functools.wraps(inherited)
        def __init__(self: E, **settings: Any) -> None:
            given = values | settings
            for name in added:
                setattr(self, name, given.pop(name))
            inherited(self, **given)

        own = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=values[name]) for name in added]
        common = [p.replace(default=values.get(p.name, p.default)) for p in signature.parameters.values()]
        changed: Any = estimator  # for a type checker no class ever changes
        changed.__init__ = __init__
        # scikit-learn and docs/methods.md read the settings off the signature. The first parameter is self.
        changed.__init__.__signature__ = signature.replace(parameters=[common[0], *own, *common[1:]])
        return estimator

    return decorate
