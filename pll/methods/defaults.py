"""A method whose settings are those of its parent class, but for some defaults and some more of its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from pll.methods.base import PartialLabelEstimator

E = TypeVar("E", bound=PartialLabelEstimator)


def own_settings(**values: Any) -> Callable[[type[E]], type[E]]:
    """A class decorator: the settings of the parent class, with these defaults; what it does not know is added.

    Args:
        values: setting → default. The class says what an added one means, and of which type it is.

    >>> from pll.methods.proden import Proden
    >>> @own_settings(lr=0.5, haste=2)
    ... class Hasty(Proden):
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
        parameters = [common[0], *own, *common[1:]]  # the first is self
        # scikit-learn and docs/methods.md read the settings off the signature.
        setattr(__init__, "__signature__", signature.replace(parameters=parameters))  # noqa: B010
        setattr(estimator, "__init__", __init__)  # noqa: B010
        return estimator

    return decorate
