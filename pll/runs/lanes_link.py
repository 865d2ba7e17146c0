"""A comparison as a link: what its lanes share is said once, and `lr.2` is what the second lane alone has.

Each lane is written and read by what writes and reads the link of a single run; so a comparison's link carries what
that one carries, and nothing has two meanings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from pll.errors import UserError
from pll.methods import get_method
from pll.runs.config import RunConfig
from pll.runs.lanes import check_lanes
from pll.runs.link import LANE_CONTROLS, Look, Share, check_length, from_query, to_query
from pll.runs.run import MOST_LANES

_OF_ONE_RUN = ("method", "view", "example", "pin", "order")
"""Parts of a run's link that mean nothing for lanes."""


def lanes_to_link(address: str, configs: Sequence[RunConfig], look: Look | None = None) -> str:
    """Return the whole link.

    Parameters
    ----------
    address
        Of the compare page, without a query.
    configs
        Of the lanes, in order.
    look
        What is in view, and what a lesson hides.

    Raises
    ------
    UserError
        See `lanes_to_query`; the link would be too long.
    """
    return check_length(f"{address}?{urlencode(lanes_to_query(configs, look), safe=',')}")


def lanes_to_query(configs: Sequence[RunConfig], look: Look | None = None) -> list[tuple[str, str]]:
    """Return the parts of the link in reading order, as (name, value).

    Raises
    ------
    UserError
        Lanes that do not belong together, or something that a link cannot carry.
    """
    check_lanes(configs)
    each = [dict(to_query(Share(config, look or Look()))) for config in configs]
    known = [set(get_method(config.method)().get_params()) for config in configs]
    parts = [("link", each[0]["link"]), ("lanes", ",".join(config.method for config in configs))]
    for name in dict.fromkeys(name for one in each for name in one if name not in ("link", *_OF_ONE_RUN)):
        mine = {k: one[name] for k, one in enumerate(each) if name in one}
        # A setting that a lane could have and has not cannot be said for all.
        is_shared = all(k in mine or name not in known[k] for k in range(len(configs)))
        common = Counter(mine.values()).most_common(1)[0][0] if is_shared else None
        parts += [] if common is None else [(name, common)]
        parts += [(f"{name}.{k + 1}", value) for k, value in mine.items() if value != common and name in known[k]]
    return parts


def lanes_from_query(query: Mapping[str, Sequence[str]]) -> tuple[Share, ...]:
    """Return the lanes that a link means, with one look at all of them.

    Parameters
    ----------
    query
        Every part's values, by name.

    Raises
    ------
    UserError
        a part that is missing, unknown, given twice, or has a value that cannot be meant; it is named.
    """
    if len(query.get("lanes", ())) != 1:
        raise UserError("The link must name its lanes once, as methods with commas between them; copy the whole of it.")
    for name in _OF_ONE_RUN:
        if name in query:
            raise UserError(f"The link has a part {name!r}, which means nothing for a comparison; leave it out.")
    methods = [method.strip() for method in query["lanes"][0].split(",")]
    if not 2 <= len(methods) <= MOST_LANES:
        raise UserError(f"The link's lanes are {len(methods)}; it must be two to {MOST_LANES} methods.")
    settings = [set(get_method(method)().get_params()) for method in methods]
    _check_own(query, settings)
    every = set().union(*settings)
    shares = []
    for k, (method, known) in enumerate(zip(methods, settings, strict=True)):
        # A setting of another lane's method is left out; one of no method is refused.
        one = {
            name: values
            for name, values in query.items()
            if "." not in name and name != "lanes" and (name in known or name not in every)
        }
        one |= {name: query[f"{name}.{k + 1}"] for name in known if f"{name}.{k + 1}" in query}
        shares.append(from_query(one | {"method": [method]}, controls=LANE_CONTROLS))
    check_lanes([share.config for share in shares])
    return tuple(shares)


def _check_own(query: Mapping[str, Sequence[str]], settings: Sequence[set[str]]) -> None:
    """Raise `UserError` unless every `name.k` is a setting of lane k."""
    for part in query:
        name, dot, place = part.partition(".")
        if not dot:
            continue
        if not (place.isdecimal() and place.isascii() and 1 <= int(place) <= len(settings)):
            raise UserError(f"The link has a part {part!r}, and there are lanes 1 to {len(settings)}.")
        if name not in settings[int(place) - 1]:
            raise UserError(f"The link has a part {part!r}, and lane {place} has no setting {name!r}.")
