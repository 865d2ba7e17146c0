"""A run and a view of it as a link: of one lane, or of the lanes of a comparison that are trained together.

The parts of a link are one pydantic model, made for the settings of the link's method; whatever does not fit it is
refused with the name of the part. Each lane of a comparison is written and read as the link of a single run: what the
lanes share is said once, and `lr.2` is what the second lane alone has.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import BaseModel, BeforeValidator, Field, FiniteFloat, Json, ValidationError, create_model

from pll import catalog
from pll.annotations import Rule
from pll.catalog.sources import Source
from pll.errors import UserError, did_you_mean
from pll.features import without_folders
from pll.formats.checks import listing
from pll.methods import get_method
from pll.runs.config import RunConfig
from pll.runs.description import FIELDS, number_or_text
from pll.runs.lanes import check_lanes
from pll.runs.run import MOST_LANES
from pll.synthesis import SETTINGS, Flip
from pll.synthesis.label_noise import Noisy

LONGEST_LINK = 6000
"""Characters of a link: browsers take more, but mail programs and chats break longer ones."""
_AS_DEFAULTED = ("seed", "missing", "device", "precision")
"""Settings that a link carries only where they are not the default: data and machine decide them."""
_ALWAYS = ("seed", "method")
"""Parts that a link carries also where they are the default."""
_PASSED_OVER = ("run", "comparison", "theme", "embed", "embed_options")
"""Parts that are not ours, or of one browser alone: which run or comparison the link became there."""
_OF_ONE_RUN = ("method", "view", "example", "order")
"""Parts of a run's link that mean nothing for a comparison."""
AS_THEY_ARE = ("features", "holdout", "strict", "seed", "method")
"""Parts that are fields of `RunConfig` of the same name and value."""
VERSION = "1"
FINGERPRINT = 16
"""Hexadecimal digits of a file's SHA-256 that a link carries."""
MOST_EPOCHS = 100_000

CONTROLS = {
    "navigation": "Navigation between pages",
    "settings": "Settings of the run",
    "transport": "Transport: step, play, pause, stop",
    "speed": "Speed and stop condition",
    "next": "Export and new run",
    "timeline": "Timeline",
    "figures": "Figures",
    "star": "Star plot",
    "heatmap": "Heatmap",
    "truth": "True labels and accuracies",
}
"""What a lesson may hide, besides single views (`view-…`)."""
LANE_CONTROLS = {
    "navigation": "Navigation between pages",
    "settings": "Settings of the lanes",
    "transport": "Transport: step, play, pause, stop",
    "speed": "Speed and stop condition",
    "next": "New comparison and single runs",
    "timeline": "Timeline",
    "star": "Star plots",
    "verdict": "What this shows, in words",
    "curves": "Curves over the epochs",
    "table": "Table of figures",
    "truth": "True labels and accuracies",
}
"""What a lesson may hide of a comparison."""


# ---- the parts of a link ---------------------------------------------------------------------------------------------


def _described(name: str) -> Any:
    """The part of a field of a run (`pll.runs.description`)."""
    one = FIELDS[name]
    limits: dict[str, Any] = one.limits
    return Field(one.default, description=one.wanted, **limits)


def _whole(low: int, high: int) -> Any:
    return Field(None, ge=low, le=high, description=f"a whole number from {low:g} to {high:g}")


def _number(low: float, high: float) -> Any:
    return Field(None, ge=low, le=high, description=f"a number from {low:g} to {high:g}")


def _yes_or_no() -> Any:
    return Field(False, description="true or false")


def _one_of(*names: str) -> Any:
    return Field(names[0], description=f"one of {', '.join(names)}")


_Row = Annotated[tuple[FiniteFloat, ...], Field(min_length=1)]
_Votes = tuple[tuple[str, Annotated[str, Field(pattern=rf"^[0-9a-f]{{{FINGERPRINT},64}}$")]], ...]
_MATRIX: Any = Field(None, description="a matrix of numbers; it must be JSON, as Candid wrote it")


def _names(text: object) -> object:
    return tuple(name for name in text.split(",") if name) if isinstance(text, str) else text


class Look(BaseModel, frozen=True):
    """What is in view, and what a lesson hides.

    Parameters
    ----------
    epoch
        The epoch in view; None follows the latest.
    view
        The view below the pictures, as a slug; "" for the first.
    example
        Id of the example in view.
    truth
        Colour the star plot by true labels.
    order
        Of the heatmap's rows: `"confidence"` or `"label"`.
    hidden
        Names of `CONTROLS`, or `view-<slug>`.
    paused
        Wait before the first epoch.
    pace
        Epochs a second; None for full speed.
    patience
        Stop after so many epochs without a change; None for never.
    """

    epoch: int | None = _whole(0, MOST_EPOCHS)
    view: str = ""
    example: str | None = None
    truth: bool = _yes_or_no()
    order: Literal["confidence", "label"] = _one_of("confidence", "label")
    hidden: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    paused: bool = _yes_or_no()
    pace: FiniteFloat | None = _number(1e-3, 1e3)
    patience: int | None = _whole(1, MOST_EPOCHS)


class ReadingParts(BaseModel, extra="forbid"):
    """`pll.formats.ReadOptions` as a link carries them."""

    name: str = ""
    class_names: list[str] = []
    columns: dict[str, str] = {}
    combine: Literal["union", "largest"] = "union"
    fold: int | None = Field(None, ge=1)
    max_bytes: int = Field(1, ge=1, le=2**40)


class LinkParts(Look, extra="forbid", frozen=True):
    """The parts of a link but the settings of its method; a part that is missing has its default here."""

    link: str
    data: str | None = None
    file: str | None = None
    sha256: str | None = Field(
        None,
        pattern=rf"^[0-9a-f]{{{FINGERPRINT},64}}$",
        description=f"at least {FINGERPRINT} hexadecimal digits, the beginning of the file's SHA-256",
    )
    format: str | None = None
    options: Json[ReadingParts] | None = Field(None, description="how to read the file, as Candid wrote it")
    rule: str = ""
    classes: Json[dict[str, str | None]] | None = Field(None, description="what becomes of classes, as Candid wrote it")
    votes: Json[_Votes] | None = Field(None, description="names and fingerprints of files, as Candid wrote them")
    answers: Json[dict[str, str]] | None = Field(None, description="the meaning of answers, as Candid wrote it")
    features: str = _described("features")
    flip: str | None = None
    q: FiniteFloat | None = _described("q")
    size: int | None = _described("size")
    matrix: Json[tuple[_Row, ...]] | None = _MATRIX
    noisy: str | None = None
    confusion: Json[tuple[_Row, ...]] | None = _MATRIX
    rows: Literal["true", "given"] = _one_of("true", "given")
    holdout: FiniteFloat | None = _described("holdout")
    test: str | None = None
    strict: bool = _described("strict")
    seed: int = _described("seed")
    method: str = _described("method")
    name: str = ""


@lru_cache(maxsize=32)
def _model_of(method: str) -> type[LinkParts]:
    """Return the model of a link's parts with the settings of a method, each of its default's kind."""
    settings: dict[str, Any] = {
        name: _setting(name, default) for name, default in get_method(method)().get_params().items() if name != "seed"
    }
    return create_model(f"LinkParts_{method}", __base__=LinkParts, **settings)


def _setting(name: str, default: object) -> tuple[Any, Any]:
    """Return type and field of a setting of a method."""
    if name == "recipe":  # never a file: who opens a link does not say what is read here
        return str | None, Field(
            None, pattern=r"^(auto|default|paper(:[\w -]+)?)$", description="auto, default or paper"
        )
    if name in FIELDS and FIELDS[name].kind in ("whole", "number"):
        return (int if FIELDS[name].kind == "whole" else FiniteFloat) | None, _described(name)
    if name in FIELDS:
        return str | None, None
    if isinstance(default, bool):
        return bool | None, Field(None, description="true or false")
    if isinstance(default, int):
        return int | None, _whole(0, MOST_EPOCHS)
    if isinstance(default, float):
        return FiniteFloat | None, _number(0, 1e9)
    if default is None:
        return Annotated[int | FiniteFloat, BeforeValidator(_whole_or_float)] | None, _number(0, 1e9)
    return Annotated[int | float | str, BeforeValidator(number_or_text)] | None, None  # such as k: "auto" or a number


def _whole_or_float(text: str) -> int | float:
    return float(text) if "." in text else int(text)


@dataclass(frozen=True)
class Share:
    """A run to set up, a config for each lane, and how to look at it."""

    configs: tuple[RunConfig, ...]
    look: Look = field(default_factory=Look)

    @property
    def missing(self) -> tuple[Source, ...]:
        """The files that have to be given (`with_file`): the data, then the files of votes."""
        source = self.configs[0].source
        return tuple(one for one in (source, *source.votes) if one.path == "")

    def with_file(self, source: Source) -> Share:
        """Return the same with a requested file.

        Parameters
        ----------
        source
            The file, its `sha256` known.

        Raises
        ------
        UserError
            It is none of the `missing` ones.
        """
        missing = self.missing
        if missing and not any(is_file(one, source) for one in missing):
            wanted = listing([f"{one.name} ({one.sha256})" for one in missing])
            raise UserError(
                f"{source.name} is not a file of this link: its fingerprint is {(source.sha256 or '')[:FINGERPRINT]}. "
                f"Give the very files that the run was made with: {wanted}."
            )

        def filled(one: Source) -> Source:
            if one.path != "" or not is_file(one, source):
                return one
            return replace(one, path=source.path, sha256=source.sha256)

        whole = filled(self.configs[0].source)
        whole = replace(whole, votes=tuple(filled(one) for one in whole.votes))
        return replace(self, configs=tuple(replace(config, source=whole) for config in self.configs))


def is_file(wanted: Source, source: Source) -> bool:
    """Return whether a file is the one that a link is about, by its fingerprint.

    Parameters
    ----------
    wanted
        The file of the link.
    source
        The one that is given.
    """
    return (source.sha256 or "").startswith(wanted.sha256 or "")


def slug(title: str) -> str:
    """The name of a view as a part of a link.

    Examples
    --------
    >>> slug("Slow motion")
    'slow-motion'
    """
    return title.lower().replace(" ", "-")


def on_this_machine(share: Share) -> tuple[Share, tuple[str, ...]]:
    """The share as this machine can run it, and what is different then, in words.

    Threads are part of a link, since sums in another order may differ in their last digits; more than there are
    cores would only be slower.
    """
    most = os.cpu_count() or 1
    configs, notes = [], []
    for config in share.configs:
        wanted = config.params.get("threads")
        if wanted is not None and wanted > most:
            config = replace(config, params=config.params | {"threads": most})
            notes.append(
                f"The link's run used {wanted} CPU threads and this machine has {most}: the last digits may differ."
            )
        configs.append(config)
    return replace(share, configs=tuple(configs)), tuple(dict.fromkeys(notes))


# ---- writing ---------------------------------------------------------------------------------------------------------


def to_link(address: str, share: Share) -> str:
    """Return the whole link of a run; `address` is that of its page, without a query.

    Parameters
    ----------
    address
        Of the page.
    share
        What to carry.

    Raises
    ------
    UserError
        See `to_query`; the link would be too long.
    """
    link = f"{address}?{urlencode(to_query(share), safe=',')}"
    if len(link) > LONGEST_LINK:
        raise UserError(
            f"The link would have {len(link):,} characters; make sets by q, not a matrix, or map fewer answers by hand."
        )
    return link


def to_query(share: Share) -> list[tuple[str, str]]:
    """Return the parts of the link in reading order, as (name, value).

    Raises
    ------
    UserError
        Something that a link cannot carry; lanes that do not belong together.
    """
    each = [_parts(config, share.look) for config in share.configs]
    if len(each) == 1:
        return list(each[0].items())
    check_lanes(share.configs)
    names = [set(get_method(config.method)().get_params()) for config in share.configs]
    items = [("link", each[0]["link"]), ("lanes", ",".join(config.method for config in share.configs))]
    for name in dict.fromkeys(name for one in each for name in one if name not in ("link", *_OF_ONE_RUN)):
        mine = {k: one[name] for k, one in enumerate(each) if name in one}
        # A setting that a lane could have and has not cannot be said for all.
        is_shared = all(k in mine or name not in names[k] for k in range(len(each)))
        common = Counter(mine.values()).most_common(1)[0][0] if is_shared else None
        items += [] if common is None else [(name, common)]
        items += [(f"{name}.{k + 1}", value) for k, value in mine.items() if value != common and name in names[k]]
    return items


def _parts(config: RunConfig, look: Look) -> dict[str, str]:
    """Return the parts of the link of one lane, as text."""
    if config.decided_sets is not None:
        raise UserError("This run was taught by people's decisions, which no link can carry; share the run before it.")
    parts = {
        "link": VERSION,
        **_source_parts(config.source),
        **_flip_parts(config.flip),
        **_noisy_parts(config.noisy),
        "test": _test_name(config.test),
        **{name: getattr(config, name) for name in AS_THEY_ARE},
        **_settings_of(config),
        "name": "" if config.name == config.source.name else config.name,
        **dict(look),
    }
    default = {name: part.default for name, part in LinkParts.model_fields.items() if name not in _ALWAYS}
    return {
        name: _text(value)
        for name, value in parts.items()
        if value is not None and not (name in default and value == default[name])
    }


def _source_parts(source: Source) -> dict[str, Any]:
    votes = [[one.name, _fingerprint(one)] for one in source.votes]
    return {
        **({"data": source.name} if source.path is None else {"file": source.name, "sha256": _fingerprint(source)}),
        "format": source.format,
        "options": _json_text(source.options),
        "rule": source.rule,
        "classes": _json_text(source.classes),
        "votes": _json_text(votes),
        "answers": _json_text(source.answers),
    }


def _flip_parts(flip: Flip | None) -> dict[str, Any]:
    if flip is None:
        return {}
    settings = {name: getattr(flip, name) for name in SETTINGS}
    return {"flip": flip.how, **settings, "matrix": _matrix_text(flip.matrix)}


def _noisy_parts(noisy: Noisy | None) -> dict[str, Any]:
    if noisy is None:
        return {}
    return {"noisy": str(noisy), "confusion": _matrix_text(noisy.confusion), "rows": noisy.rows}


def _json_text(value: Sized) -> str | None:
    """Return a value as short JSON; None where it is empty."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if value else None


def _fingerprint(source: Source) -> str:
    if source.sha256 is None:
        raise UserError(f"The fingerprint of {source.name} is not known; start the run again to share it.")
    return source.sha256[:FINGERPRINT]


def _settings_of(config: RunConfig) -> dict[str, Any]:
    params = config.params
    if params.get("seed", config.seed) != config.seed:
        raise UserError("This run's method has a seed of its own, beside the run's; a link cannot carry two.")
    every = get_method(config.method)().get_params() | params
    return {
        name: value for name, value in every.items() if name != "seed" and (name in params or name not in _AS_DEFAULTED)
    }


def _test_name(test: Source | None) -> str | None:
    if test is not None and test.path is not None:
        raise UserError(f"This run was tested on a file of its own, {test.name}; a link cannot ask for two files.")
    return None if test is None else test.name


def _matrix_text(matrix: Sized | None) -> str | None:
    if isinstance(matrix, str):
        raise UserError(f"The candidates were made with the file {matrix}; a link cannot carry it.")
    return None if matrix is None else _json_text(matrix)


def _text(value: object) -> str:
    """Return the shortest text that is read as the same value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


# ---- reading ---------------------------------------------------------------------------------------------------------


def from_query(query: Mapping[str, Sequence[str]], *, views: Collection[str] = (), lanes: bool = False) -> Share:
    """Return what a link means.

    Parameters
    ----------
    query
        Every part's values, by name.
    views
        Slugs of the views there are.
    lanes
        It is the link of a comparison.

    Raises
    ------
    UserError
        A part that is missing, unknown, given twice, or has a value that cannot be meant; it is named.
    """
    values_of = {name: values for name, values in query.items() if values and name not in _PASSED_OVER}
    for name, values in values_of.items():
        if len(values) > 1:
            raise UserError(f"The link says {name} {len(values)} times; it can be one only.")
    texts = {name: values[0] for name, values in values_of.items()}
    if not lanes:
        config, look = _lane(texts, views, CONTROLS)
        return Share((config,), look)
    each = [_lane(one, (), LANE_CONTROLS) for one in _texts_of_lanes(texts)]
    share = Share(tuple(config for config, _ in each), each[0][1])
    check_lanes(share.configs)
    return share


def _texts_of_lanes(texts: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the parts of each lane, as the link of a single run would have them."""
    if "lanes" not in texts:
        raise UserError("The link must name its lanes, as methods with commas between them; copy the whole of it.")
    for name in _OF_ONE_RUN:
        if name in texts:
            raise UserError(f"The link has a part {name!r}, which means nothing for a comparison; leave it out.")
    methods = [method.strip() for method in texts["lanes"].split(",")]
    if not 2 <= len(methods) <= MOST_LANES:
        raise UserError(f"The link's lanes are {len(methods)}; it must be two to {MOST_LANES} methods.")
    settings = [set(get_method(method)().get_params()) for method in methods]
    shared, own = {name: text for name, text in texts.items() if "." not in name and name != "lanes"}, {}
    for part, text in texts.items():
        name, dot, place = part.partition(".")
        if not dot:
            continue
        if not (place.isdecimal() and place.isascii() and 1 <= int(place) <= len(methods)):
            raise UserError(f"The link has a part {part!r}, and there are lanes 1 to {len(methods)}.")
        if name not in settings[int(place) - 1]:
            raise UserError(f"The link has a part {part!r}, and lane {place} has no setting {name!r}.")
        own[int(place) - 1, name] = text
    every = set().union(*settings)
    return [
        # A setting of another lane's method is left out; one of no method is refused.
        {name: text for name, text in shared.items() if name in names or name not in every}
        | {name: text for (lane, name), text in own.items() if lane == k}
        | {"method": method}
        for k, (method, names) in enumerate(zip(methods, settings, strict=True))
    ]


def _lane(texts: Mapping[str, str], views: Collection[str], controls: Collection[str]) -> tuple[RunConfig, Look]:
    """Return what the parts of the link of one lane mean."""
    version = texts.get("link")
    if version not in (None, VERSION):
        raise UserError(f"The link is of version {version!r}; this Candid reads version {VERSION}. Update it.")
    method = texts.get("method", "proden")
    defaults = get_method(method)().get_params()
    link = _validated(_model_of(method), texts)
    if link.features not in ("auto", "none"):
        without_folders(link.features)  # a link must not have this computer read a folder
    settings = {name: getattr(link, name) for name in defaults if name != "seed" and name in texts}
    config = RunConfig(
        source=_source(link),
        method=method,
        params={name: value for name, value in settings.items() if value != defaults[name]},
        flip=_flip(link),
        noisy=None if link.noisy is None else Noisy.parse(link.noisy, confusion=link.confusion, rows=link.rows),
        test=None if link.test is None else Source(catalog.find(link.test).name),
        name=link.name[:200],
        **{name: getattr(link, name) for name in AS_THEY_ARE if name != "method"},
    )
    if link.view and link.view not in views:
        raise _wrong("view", link.view, f"one of {', '.join(views)}")
    hideable = [*controls, *(f"view-{view}" for view in views)]
    for name in link.hidden:
        if name not in hideable:
            raise UserError(f"The link's hidden names {name[:80]!r}; what can be hidden is {', '.join(hideable)}.")
    return config, Look(**{name: getattr(link, name) for name in Look.model_fields})


def _validated(model: type[LinkParts], texts: Mapping[str, object]) -> LinkParts:
    """Return the parts; raise `UserError` at the first that does not fit, by its name."""
    try:
        return model.model_validate(texts)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    name = str(first["loc"][0])
    if first["type"] == "missing":
        raise UserError(f"The link lacks its part {name!r}; copy the whole of it.")
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        hint = did_you_mean(name, model.model_fields)
        raise UserError(f"The link has a part {name[:80]!r} that means nothing here; leave it out.{hint}")
    raise _wrong(name, texts[name], model.model_fields[name].description or first["msg"])


def _wrong(name: str, value: object, wanted: str) -> UserError:
    return UserError(f"The link's {name} is {str(value)[:80]!r}; it must be {wanted}.")


def _source(link: LinkParts) -> Source:
    if (link.data is None) == (link.file is None):
        raise UserError("The link must say which data: either data (a dataset of the catalogue) or file and sha256.")
    if link.rule:
        Rule.parse(link.rule)
    joined: dict[str, Any] = {
        "rule": link.rule,
        "classes": link.classes or {},
        "votes": tuple(Source(name, "", sha256=mark) for name, mark in link.votes or ()),
        "answers": link.answers or {},
    }
    if link.data is not None:
        return Source(catalog.find(link.data).name, **joined)
    if link.sha256 is None:
        raise UserError("The link lacks its part 'sha256'; copy the whole of it.")
    options = {} if link.options is None else link.options.model_dump(exclude_unset=True)
    return Source(link.file or "", "", link.format, link.sha256, options, **joined)


def _flip(link: LinkParts) -> Flip | None:
    if link.flip is not None:
        return Flip(link.flip, **{name: getattr(link, name) for name in SETTINGS})
    for name in SETTINGS:
        if getattr(link, name) is not None:
            raise UserError(
                f"The link has {name} but no flip, the way to make candidates; add it, or leave {name} out."
            )
    return None
