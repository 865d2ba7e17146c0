"""A run and a view of it as a link: of one lane, or of the lanes of a comparison that are trained together.

The parts of a link are the fields of a run (`pll.runs.description`), of its source and of how it is looked at (`LOOK`),
and the settings of its method, each written as the shell takes it; what has parts of its own is JSON. Whatever does not
fit is refused with the name of the part. Each lane of a comparison is written and read as the link of a single run:
what the lanes share is said once, and `lr.2` is what the second lane alone has.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import Field as Limited
from pydantic import FiniteFloat, StringConstraints, TypeAdapter, ValidationError

from pll import catalog
from pll.annotations import SetRule
from pll.catalog.sources import Source
from pll.errors import UserError, did_you_mean
from pll.features.selection import without_folders
from pll.formats import ReadOptions
from pll.formats.checks import listing
from pll.methods import METHODS
from pll.methods.names import MOST_EPOCHS
from pll.runs.config import AS_GIVEN, DataConfig, RunConfig, new_estimator
from pll.runs.description import RUN_FIELDS, Field, FieldKind, setting_of
from pll.runs.lanes import check_lanes
from pll.runs.run import MOST_LANES
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy
from pll.synthesis.names import FLIP_SETTINGS

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
LINK_VERSION = "1"
FINGERPRINT = 16
"""Hexadecimal digits of a file's SHA-256 that a link carries."""
_MARK = rf"[0-9a-f]{{{FINGERPRINT},64}}"
_RECIPE = r"auto|default|paper(:[\w -]+)?"
"""Never a file: who opens a link does not say what is read here."""

CONTROLS = {
    "navigation": "Navigation between pages",
    "settings": "Settings",
    "transport": "Transport: step, pause, resume, stop",
    "speed": "Speed and stop condition",
    "next": "What to do next",
    "timeline": "Timeline",
    "figures": "Figures",
    "star": "Star plot",
    "heatmap": "Heatmap",
    "verdict": "What this shows, in words",
    "curves": "Curves over the epochs",
    "table": "Table of figures",
    "truth": "True labels and accuracies",
}
"""What a lesson may hide, besides single views (`view-…`)."""


def controls(*, lanes: bool) -> dict[str, str]:
    """Return what a lesson may hide of a run, or of a comparison: name → title.

    Parameters
    ----------
    lanes
        It is a comparison.
    """
    others = ("figures", "heatmap") if lanes else ("verdict", "curves", "table")
    return {name: title for name, title in CONTROLS.items() if name not in others}


# ---- the parts of a link ---------------------------------------------------------------------------------------------


def _part(words: str, kind: FieldKind = "text", default: Any = None, **limits: Any) -> Any:
    """Declare what a link says of the view; a link leaves out what is the default."""
    return field(default=default, metadata={"words": words, "kind": kind, "default": default, **limits})


@dataclass(frozen=True)
class Look:
    """What is in view, and what a lesson hides."""

    epoch: int | None = _part("the epoch in view; if not given, the latest", "whole", most=MOST_EPOCHS)
    view: str = _part("the view below the pictures, as a slug", default="")
    example: str | None = _part("id of the example in view")
    truth: bool = _part("colour the star plot by true labels", "flag", False)
    order: Literal["confidence", "label"] = _part(
        "of the heatmap's rows", default="confidence", choices={"confidence": "Confidence", "label": "Label"}
    )
    hidden: tuple[str, ...] = _part("names of controls, or view-SLUG; in a link with commas", default=())
    paused: bool = _part("wait before the first epoch", "flag", False)
    pace: float | None = _part("epochs a second; if not given, full speed", "number", least=1e-3, most=1e3)
    patience: int | None = _part("stop after so many epochs without a change", "whole", least=1, most=MOST_EPOCHS)


LOOK = {one.name: Field(one.name, one.name, **one.metadata) for one in fields(Look)}

AS_THEY_ARE = (*AS_GIVEN, "method")
"""Parts that are fields of `RunConfig` of the same name and value."""

PARTS = {
    **{name: RUN_FIELDS[name] for name in (*AS_THEY_ARE, "flip", "noisy", *FLIP_SETTINGS) if name in RUN_FIELDS},
    **{
        name: Field(name, name, "")
        for name in ("link", "data", "file", "sha256", "format", "rule", "rows", "test", "name")
    },
    **LOOK,
}
"""Every part but settings of the method and those of `_structures`."""


@cache
def _structures() -> dict[str, TypeAdapter[Any]]:
    """The parts that are JSON."""
    matrix = TypeAdapter[Any](list[Annotated[list[FiniteFloat], Limited(min_length=1)]])
    return {
        "options": TypeAdapter(ReadOptions),
        "classes": TypeAdapter(dict[str, str | None]),
        "votes": TypeAdapter(list[tuple[str, Annotated[str, StringConstraints(pattern=f"^{_MARK}$")]]]),
        "answers": TypeAdapter(dict[str, str]),
        "matrix": matrix,
        "confusion": matrix,
    }


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
        fitting = [one for one in self.missing if is_file(one, source)]
        if self.missing and not fitting:
            wanted = listing([f"{one.name} ({one.sha256})" for one in self.missing])
            raise UserError(
                f"{source.name} is not a file of this link: its fingerprint is {(source.sha256 or '')[:FINGERPRINT]}. "
                f"Give the very files that the run was made with: {wanted}."
            )

        def filled(one: Source) -> Source:
            return replace(one, path=source.path, sha256=source.sha256) if one in fitting else one

        data = self.configs[0].source
        whole = replace(filled(data), votes=tuple(map(filled, data.votes)))
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
    names = [set(METHODS[config.method]().get_params()) for config in share.configs]
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
    source, flip, noisy, test = config.source, config.flip, config.noisy, config.test
    if config.decided_sets is not None:
        raise UserError("This run was taught by people's decisions, which no link can carry; share the run before it.")
    if test is not None and test.path is not None:
        raise UserError(f"This run was tested on a file of its own, {test.name}; a link cannot ask for two files.")
    for matrix in (flip and flip.matrix, noisy and noisy.confusion):
        if isinstance(matrix, str):
            raise UserError(f"The candidates were made with the file {matrix}; a link cannot carry it.")
    own_name = "" if config.name == source.name else config.name
    look_texts = _texts(asdict(look) | {"hidden": ",".join(look.hidden)})
    return {"link": LINK_VERSION} | parts_of(config) | _texts({"name": own_name}) | look_texts


def parts_of(config: RunConfig) -> dict[str, str]:
    """Return what determines the result of a run, as the parts of a link are written; without what is the default.

    Raises
    ------
    UserError
        The fingerprint of a file is not known, or the method has a seed of its own.
    """
    return data_parts(config) | _texts({"method": config.method, **_settings_of(config)})


def data_parts(config: DataConfig) -> dict[str, str]:
    """Return what determines the data of a run, as `parts_of`.

    Raises
    ------
    UserError
        The fingerprint of a file is not known.
    """
    source, flip, noisy, test = config.source, config.flip, config.noisy, config.test
    values = {
        **({"data": source.name} if source.path is None else {"file": source.name, "sha256": _fingerprint(source)}),
        **{name: getattr(source, name) for name in ("format", "options", "rule", "classes", "answers")},
        "votes": [(one.name, _fingerprint(one)) for one in source.votes],
        **({} if flip is None else {"flip": flip.how} | {name: getattr(flip, name) for name in FLIP_SETTINGS}),
        **({} if noisy is None else {"noisy": str(noisy), "confusion": noisy.confusion, "rows": noisy.rows}),
        "test": test and (test.name if test.path is None else f"{test.name} {_fingerprint(test)}"),
        **{name: getattr(config, name) for name in AS_GIVEN},
    }
    return _texts(values)


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts as text, without those that are the default."""
    defaults = {name: _text(part.default) for name, part in PARTS.items() if name not in _ALWAYS}
    texts = {name: _text(value) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text and text != defaults.get(name)}


def _fingerprint(source: Source) -> str:
    if source.sha256 is None:
        raise UserError(f"The fingerprint of {source.name} is not known; start the run again to share it.")
    return source.sha256[:FINGERPRINT]


def _settings_of(config: RunConfig) -> dict[str, Any]:
    params = config.params
    if params.get("seed", config.seed) != config.seed:
        raise UserError("This run's method has a seed of its own, beside the run's; a link cannot carry two.")
    every = METHODS[config.method]().get_params() | params
    return {
        name: value for name, value in every.items() if name != "seed" and (name in params or name not in _AS_DEFAULTED)
    }


def _text(value: object) -> str:
    """Return the shortest text that is read as the same value; "" for None and what is empty."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if value else ""
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return "" if value is None else str(value)


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
        config, look = _lane(texts, [*controls(lanes=False), *(f"view-{view}" for view in views)], views)
        return Share((config,), look)
    each = [_lane(one, controls(lanes=True)) for one in _texts_of_lanes(texts)]
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
    settings = [set(METHODS[method]().get_params()) for method in methods]
    every = set().union(*settings)
    shared = {name: text for name, text in texts.items() if "." not in name and name != "lanes"}
    lanes = [
        # A setting of another lane's method is left out; one of no method is refused.
        {name: text for name, text in shared.items() if name in names or name not in every} | {"method": method}
        for method, names in zip(methods, settings, strict=True)
    ]
    places = {str(k + 1): k for k in range(len(methods))}
    for part in texts.keys() - shared.keys() - {"lanes"}:
        name, _, place = part.partition(".")
        if place not in places or name not in settings[places[place]]:
            raise UserError(f"The link has a part {part!r}, and there is no lane {place} with a setting {name!r}.")
        lanes[places[place]][name] = texts[part]
    return lanes


def _lane(texts: Mapping[str, str], hideable: Collection[str], views: Collection[str] = ()) -> tuple[RunConfig, Look]:
    """Return what the parts of the link of one lane mean."""
    if "link" not in texts:
        raise UserError("The link lacks its part 'link'; copy the whole of it.")
    if texts["link"] != LINK_VERSION:
        raise UserError(
            f"The link is of version {texts['link']!r}; this Candid reads version {LINK_VERSION}. Update it."
        )
    method = texts.get("method", "proden")
    defaults = METHODS[method]().get_params()
    parts = {name: _value(name, text, defaults) for name, text in texts.items()}
    if parts.get("features", "auto") not in ("auto", "none"):
        without_folders(parts["features"])  # a link must not have this computer read a folder
    config = RunConfig(
        source=_source(parts),
        params={
            name: parts[name]
            for name, default in defaults.items()
            if name in parts and name != "seed" and parts[name] != default
        },
        flip=_flip(parts),
        noisy=None if "noisy" not in parts else Noisy.parse(parts["noisy"], **_given(parts, "confusion", "rows")),
        test=None if "test" not in parts else Source(catalog.find(parts["test"]).name),
        name=parts.get("name", "")[:200],
        **_given(parts, *AS_THEY_ARE),
    )
    new_estimator(config).check_settings()
    if parts.get("view") and parts["view"] not in views:
        raise _wrong("view", parts["view"], f"one of {', '.join(views)}")
    hidden = tuple(filter(None, parts.get("hidden", "").split(",")))
    for name in hidden:
        if name not in hideable:
            raise UserError(f"The link's hidden names {name[:80]!r}; what can be hidden is {', '.join(hideable)}.")
    return config, Look(**_given(parts, *LOOK) | {"hidden": hidden})


def _given(parts: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: parts[name] for name in names if name in parts}


def _value(name: str, text: str, settings: Collection[str]) -> Any:
    """Return the value of a part; raise `UserError` where it does not fit."""
    if name in _structures():
        try:
            value = _structures()[name].validate_json(text)
        except ValidationError:
            raise _wrong(name, text, "JSON, as Candid wrote it") from None
        if name != "options":
            return value
        options: dict[str, Any] = json.loads(text)
        if options.keys() <= ReadOptions.__dataclass_fields__.keys():
            return options
        raise _wrong(name, text, "how to read the file, as Candid wrote it")
    if name not in PARTS and name not in settings:
        hint = did_you_mean(name, [*PARTS, *_structures(), *settings])
        raise UserError(f"The link has a part {name[:80]!r} that means nothing here; leave it out.{hint}")
    if name == "recipe" and not re.fullmatch(_RECIPE, text):
        raise _wrong(name, text, "auto, default or paper")
    if name == "sha256" and not re.fullmatch(_MARK, text):
        raise _wrong(name, text, f"at least {FINGERPRINT} hexadecimal digits, the beginning of the file's SHA-256")
    try:
        return PARTS[name].value_of(text) if name in PARTS else setting_of(name, text)
    except UserError as error:
        raise UserError(f"The link's {error}") from None


def _wrong(name: str, value: str, wanted: str) -> UserError:
    return UserError(f"The link's {name} is {value[:80]!r}; it must be {wanted}.")


def _source(parts: Mapping[str, Any]) -> Source:
    if ("data" in parts) == ("file" in parts):
        raise UserError("The link must say which data: either data (a dataset of the catalogue) or file and sha256.")
    if parts.get("rule"):
        SetRule.parse(parts["rule"])
    joined = _given(parts, "rule", "classes", "answers")
    joined["votes"] = tuple(Source(name, "", sha256=mark) for name, mark in parts.get("votes", ()))
    if "data" in parts:
        return Source(catalog.find(parts["data"]).name, **joined)
    if "sha256" not in parts:
        raise UserError("The link lacks its part 'sha256'; copy the whole of it.")
    return Source(parts["file"], "", **joined, **_given(parts, "format", "sha256", "options"))


def _flip(parts: Mapping[str, Any]) -> Flip | None:
    settings = _given(parts, *FLIP_SETTINGS)
    if settings and "flip" not in parts:
        name = next(iter(settings))
        raise UserError(f"The link has {name} but no flip, the way to make candidates; add it, or leave {name} out.")
    return Flip(parts["flip"], **settings) if "flip" in parts else None
