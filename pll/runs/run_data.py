"""The data a run learns from, read again as its settings say."""

from __future__ import annotations

from dataclasses import replace

from pll.analysis.protocol import Parts, prepare
from pll.errors import UserError
from pll.io import Progress
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder


def load_parts(config: RunConfig, progress: Progress | None = None) -> Parts:
    """The data of a run, split and with its candidate sets.

    Args:
        progress: told how far reading, features and candidate sets are; what it raises stops them.

    Raises:
        UserError: see `Source.load` and `prepare`.
    """
    test = None if config.test is None else config.test.load(progress)
    parts = prepare(
        config.source.load(progress),
        flip_with=config.flip,
        holdout=config.holdout,
        test=test,
        features=config.features,
        seed=config.seed,
        strict=config.strict,
        noisy=config.noisy,
        progress=progress,
    )
    return parts if config.lessons is None else replace(parts, train=config.lessons.applied(parts.train))


def parts_of(folder: RunFolder) -> Parts:
    """The data of a run that has begun, as it was then.

    Raises:
        UserError: see `load_parts`; or the data is read otherwise than then.
    """
    parts = load_parts(folder.config())
    train, known = parts.train, folder.about().get("data", {})
    found = {"examples": len(train), "input_shape": list(train.input_shape), "class_names": list(train.class_names)}
    others = [name.replace("_", " ") for name, value in found.items() if known.get(name, value) != value]
    if others:
        raise UserError(
            f"{train.name} is read otherwise than when this run was trained ({', '.join(others)}). Say what its "
            "columns are, and train on it again."
        )
    return parts
