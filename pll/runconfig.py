"""What determines a run's result, as plain values that can be written down and read again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from pll.lessons import Lessons
from pll.noisy import Noisy
from pll.sources import Source
from pll.synthesis import Flip


@dataclass(frozen=True)
class RunConfig:
    """Everything that determines a run's result.

    Args:
        source: the data.
        method: a name of `METHODS`.
        params: settings of the method that differ from its defaults.
        flip: how candidates are made from true labels; None uses those of the data.
        holdout: share held out to test on, or None.
        test: data to test on, or None.
        features: what makes features of texts, pictures and words; see `pll.protocol.prepare`.
        seed: of split, candidates and method.
        strict: refuse truth outside the candidates.
        name: what to call it on a page.
        noisy: how candidates are made from single labels that may be wrong; None where they are not.
        lessons: what decisions of a review taught it, on top of all this; None where it was not taught.
    """

    source: Source
    method: str = "proden"
    params: dict[str, Any] = field(default_factory=dict)
    flip: Flip | None = None
    holdout: float | None = None
    test: Source | None = None
    features: str = "auto"
    seed: int = 0
    strict: bool = False
    name: str = ""
    noisy: Noisy | None = None
    lessons: Lessons | None = None

    @property
    def candidates(self) -> str:
        """Where the candidate sets come from, in a few words."""
        made = self.flip or self.noisy
        if made is not None:
            return made.words
        return f"from annotators, {self.source.rule}" if self.source.rule else "as in the data"

    def to_json(self) -> dict[str, Any]:
        """Plain values for config.json."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> RunConfig:
        """The inverse of `to_json`.

        Raises:
            TypeError, KeyError: not what `to_json` gives.
        """
        flip, test, noisy = values.get("flip"), values.get("test"), values.get("noisy")
        lessons = values.get("lessons")
        return cls(
            **{
                **values,
                "source": Source(**values["source"]),
                "flip": None if flip is None else Flip(**flip),
                "test": None if test is None else Source(**test),
                "noisy": None if noisy is None else Noisy(**noisy),
                "lessons": None if lessons is None else Lessons(**lessons),
            }
        )
