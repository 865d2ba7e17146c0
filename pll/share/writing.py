"""From a run and a view of it to a link."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from pll.catalog.sources import Source
from pll.errors import UserError
from pll.methods import get_method
from pll.runs.config import RunConfig
from pll.share.model import FINGERPRINT, VERSION, Share

LONGEST = 6000
"""Characters of a link: browsers take more, but mail programs and chats break longer ones."""
_AS_DEFAULTED = ("seed", "missing", "device")
"""Settings that a link carries only where they are not the default: what they are is decided by data and machine."""


def to_link(address: str, share: Share) -> str:
    """The whole link.

    Args:
        address: of the train page, without a query.

    Raises:
        UserError: see `to_query`; the link would be too long.
    """
    return check_length(f"{address}?{urlencode(to_query(share), safe=',')}")


def check_length(link: str) -> str:
    """The link itself; raises UserError where it would not survive a mail."""
    if len(link) > LONGEST:
        raise UserError(
            f"The link would have {len(link):,} characters; unpin examples, or make sets by q, not a matrix."
        )
    return link


def to_query(share: Share) -> list[tuple[str, str]]:
    """The parts of the link in reading order, as (name, value).

    Raises:
        UserError: something that a link cannot carry.
    """
    config, look = share.config, share.look
    if config.lessons is not None:
        raise UserError("This run was taught by people's decisions, which no link can carry; share the run before it.")
    parts: list[tuple[str, Any]] = [("link", VERSION), *_source_parts(config.source)]
    parts += [("features", config.features)] if config.features != "auto" else []
    if config.flip is not None:
        parts += [("flip", config.flip.how), ("q", config.flip.q), ("size", config.flip.size)]
        parts.append(("matrix", _matrix_text(config.flip.matrix)))
    if config.noisy is not None:
        confusion = _matrix_text(config.noisy.confusion)
        parts += [("noisy", str(config.noisy)), ("confusion", confusion)]
        parts += [("rows", None if confusion is None else config.noisy.rows)]
    parts += [("holdout", config.holdout), ("test", _test_name(config.test)), ("strict", config.strict or None)]
    parts += [("seed", config.seed), ("method", config.method), *_settings_of(config)]
    parts += [("name", config.name if config.name not in ("", config.source.name) else None)]
    parts += [("epoch", look.epoch), ("view", look.view or None), ("example", look.example)]
    parts += [("pin", pin) for pin in look.pins]
    parts += [("colour", "truth" if look.truth else None), ("order", look.order if look.order == "label" else None)]
    parts += [("hide", ",".join(look.hidden) or None), ("start", "paused" if look.paused else None)]
    parts += [("pace", look.pace), ("settle", look.settle)]
    return [(name, _text(value)) for name, value in parts if value is not None]


def _source_parts(source: Source) -> list[tuple[str, Any]]:
    if source.path is None:
        parts: list[tuple[str, Any]] = [("data", source.name)]
    elif source.sha256 is None:
        raise UserError(f"The fingerprint of {source.name} is not known; start the run again to share it.")
    else:
        parts = [("file", source.name), ("sha256", source.sha256[:FINGERPRINT])]
    return [
        *parts,
        ("format", source.format),
        ("options", json.dumps(source.options, sort_keys=True) if source.options else None),
        ("rule", source.rule or None),
    ]


def _settings_of(config: RunConfig) -> list[tuple[str, Any]]:
    given = config.params
    if given.get("seed", config.seed) != config.seed:
        raise UserError("This run's method has a seed of its own, beside the run's; a link cannot carry two.")
    every = get_method(config.method)().get_params() | given
    return [
        (name, value)
        for name, value in every.items()
        if value is not None and name != "seed" and (name in given or name not in _AS_DEFAULTED)
    ]


def _test_name(test: Source | None) -> str | None:
    if test is not None and test.path is not None:
        raise UserError(f"This run was tested on a file of its own, {test.name}; a link cannot ask for two files.")
    return None if test is None else test.name


def _matrix_text(matrix: object) -> str | None:
    if isinstance(matrix, str):
        raise UserError(f"The candidates were made with the file {matrix}; a link cannot carry it.")
    return None if matrix is None else json.dumps(matrix, separators=(",", ":"))


def _text(value: object) -> str:
    """As `_number` and `_setting` read it: the shortest text that gives the same number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
