"""From a link to a run and a view of it. Strict: whatever cannot be meant is said, by the name of its part."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pll import catalog
from pll.annotations import Rule
from pll.catalog.sources import Source
from pll.errors import UserError
from pll.formats import ReadOptions
from pll.methods import get_method
from pll.runs.config import RunConfig
from pll.share.model import CONTROLS, FINGERPRINT, MOST_EPOCHS, VERSION, Look, Share
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy

_OWN = {
    "link", "data", "file", "sha256", "format", "options", "rule", "features", "flip", "q", "size", "matrix", "noisy",
    "confusion", "rows", "holdout", "test", "strict", "seed", "method", "name", "epoch", "view", "example", "pin",
    "colour", "order", "hide", "start", "pace", "settle",
}  # fmt: skip
_PASSED_OVER = {"run", "comparison", "theme", "embed", "embed_options"}
"""Not ours, or of this browser alone: which run or comparison the link became here."""


def from_query(
    query: Mapping[str, Sequence[str]], *, views: Collection[str] = (), controls: Collection[str] = tuple(CONTROLS)
) -> Share:
    """What a link means.

    Args:
        query: every part's values, by name.
        views: slugs of the views there are.
        controls: names of what a lesson may hide, besides the views.

    Raises:
        UserError: a part that is missing, unknown, given twice, or has a value that cannot be meant; it is named.
    """
    link = _Link(query)
    if link.text("link") != VERSION:
        raise UserError(
            f"The link is of version {link.text('link')!r}; this Candid reads version {VERSION}. Update it."
        )
    method = link.text("method", "proden")
    defaults = get_method(method)().get_params()
    link.check_names(defaults)
    params = {name: link.setting(name, defaults[name]) for name in defaults if name != "seed" and name in query}
    config = RunConfig(
        source=_source(link),
        method=method,
        params={name: value for name, value in params.items() if value != defaults[name]},
        flip=_flip(link),
        noisy=_noisy(link),
        holdout=link.number("holdout", float, 0.0, 1.0),
        test=Source(catalog.find(link.text("test")).name) if "test" in query else None,
        features=link.text("features", "auto"),
        seed=link.number("seed", int, 0, 2**31 - 1) or 0,
        strict=link.one_of("strict", ("true", "false"), "false") == "true",
        name=link.text("name", "")[:200],
    )
    return Share(config, _look(link, views, controls))


def _source(link: _Link) -> Source:
    if ("data" in link.query) == ("file" in link.query):
        raise UserError("The link must say which data: either data (a dataset of the catalogue) or file and sha256.")
    rule = link.text("rule", "")
    if rule:
        Rule.parse(rule)
    if "data" in link.query:
        return Source(catalog.find(link.text("data")).name, rule=rule)
    fingerprint = link.text("sha256")
    if len(fingerprint) < FINGERPRINT or set(fingerprint) - set("0123456789abcdef"):
        raise link.wrong("sha256", f"at least {FINGERPRINT} hexadecimal digits, the beginning of the file's SHA-256")
    options = link.json("options", {})
    try:
        ReadOptions(**options)
    except TypeError as error:
        raise link.wrong("options", "how to read the file, as Candid wrote it") from error
    format_name = link.text("format") if "format" in link.query else None
    return Source(link.text("file"), "", format_name, fingerprint, options, rule)


def _flip(link: _Link) -> Flip | None:
    if "flip" not in link.query:
        for name in ("q", "size", "matrix"):
            if name in link.query:
                raise UserError(
                    f"The link has {name} but no flip, the way to make candidates; add it, or leave {name} out."
                )
        return None
    try:
        return Flip(
            link.text("flip"),
            q=link.number("q", float, 0.0, 1.0),
            size=link.number("size", int, 1, 10**6),
            matrix=link.json("matrix", None),
        )
    except UserError:
        raise
    except (TypeError, ValueError) as error:
        raise link.wrong("matrix", "a matrix of numbers") from error


def _noisy(link: _Link) -> Noisy | None:
    if "noisy" not in link.query:
        return None
    try:
        return Noisy.parse(
            link.text("noisy"),
            confusion=link.json("confusion", None),
            rows=link.one_of("rows", ("true", "given"), "true"),
        )
    except UserError:
        raise
    except (TypeError, ValueError) as error:
        raise link.wrong("confusion", "a matrix of numbers") from error


def _look(link: _Link, views: Collection[str], controls: Collection[str]) -> Look:
    hideable = [*controls, *(f"view-{view}" for view in views)]
    hidden = tuple(name for name in link.text("hide", "").split(",") if name)
    for name in hidden:
        if name not in hideable:
            raise UserError(f"The link's hide names {name!r}; what can be hidden is {', '.join(hideable)}.")
    return Look(
        epoch=link.number("epoch", int, 0, MOST_EPOCHS),
        view=link.one_of("view", views, ""),
        example=link.text("example") if "example" in link.query else None,
        pins=tuple(dict.fromkeys(link.query.get("pin", ()))),
        truth=link.one_of("colour", ("truth", "label"), "label") == "truth",
        order=link.one_of("order", ("confidence", "label"), "confidence"),
        hidden=tuple(dict.fromkeys(hidden)),
        paused=link.one_of("start", ("paused", "training"), "training") == "paused",
        pace=link.number("pace", float, 1e-3, 1e3),
        settle=link.number("settle", int, 1, MOST_EPOCHS),
    )


@dataclass(frozen=True)
class _Link:
    """Reads the parts of a link, and says which one is wrong."""

    query: Mapping[str, Sequence[str]]

    def check_names(self, settings: Collection[str]) -> None:
        known = _OWN | set(settings) | _PASSED_OVER
        for name, values in self.query.items():
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f" Did you mean {close[0]}?" if close else ""
                raise UserError(f"The link has a part {name!r} that means nothing here; leave it out.{hint}")
            if len(values) > 1 and name != "pin":
                raise UserError(f"The link says {name} {len(values)} times; it can be one only.")

    def text(self, name: str, default: str | None = None) -> str:
        values = self.query.get(name) or ([] if default is None else [default])
        if not values:
            raise UserError(f"The link lacks its part {name!r}; copy the whole of it.")
        return values[0]

    def wrong(self, name: str, wanted: str) -> UserError:
        return UserError(f"The link's {name} is {self.text(name, '')[:80]!r}; it must be {wanted}.")

    def one_of(self, name: str, values: Collection[str], default: str) -> str:
        text = self.text(name, default)
        if text != default and text not in values:
            raise self.wrong(name, f"one of {', '.join(values)}")
        return text

    def number(self, name: str, kind: Callable[[str], Any], low: float, high: float) -> Any:
        """A number within bounds; None where the link does not say it."""
        if name not in self.query:
            return None
        words = "a whole number" if kind is int else "a number"
        try:
            value = kind(self.text(name))
        except ValueError as error:
            raise self.wrong(name, f"{words} from {low:g} to {high:g}") from error
        if not (math.isfinite(value) and low <= value <= high):
            raise self.wrong(name, f"{words} from {low:g} to {high:g}")
        return value

    def setting(self, name: str, default: object) -> Any:
        """A setting of the method, of its default's kind."""
        low = 1 if name in ("epochs", "batch_size", "threads") else 0
        if name == "threads" or (isinstance(default, int) and not isinstance(default, bool)):
            return self.number(name, int, low, MOST_EPOCHS)
        if isinstance(default, float):
            return self.number(name, float, low, 1e9)
        if default is None:
            return self.number(name, float if "." in self.text(name) else int, low, 1e9)
        text = self.text(name)
        try:
            return float(text)  # such as lam, which is "auto" or a number
        except ValueError:
            return text

    def json(self, name: str, default: Any) -> Any:
        if name not in self.query:
            return default
        try:
            value = json.loads(self.text(name))
        except ValueError as error:
            raise self.wrong(name, "JSON, as Candid wrote it") from error
        if not isinstance(value, dict if default is not None else list):
            raise self.wrong(name, "JSON, as Candid wrote it")
        return value
