"""A run, or lanes that are compared, and a view of it as a link: everything that determines them, and back again.

A link names its data (a dataset of the catalogue; of a file its name and fingerprint, since the file itself has to be
given again) and every setting, defaults included, so that it means the same when a default becomes another one. It
never names a path. What this package is not about: pages (pll.ui.train.sharing).
"""

from __future__ import annotations

from pll.share.lanes import lanes_from_query, lanes_to_link, lanes_to_query
from pll.share.link import (
    CONTROLS,
    FINGERPRINT,
    LANE_CONTROLS,
    Look,
    Share,
    from_query,
    on_this_machine,
    slug,
    to_link,
    to_query,
)

__all__ = [
    "CONTROLS", "FINGERPRINT", "LANE_CONTROLS", "Look", "Share", "from_query", "lanes_from_query", "lanes_to_link",
    "lanes_to_query", "on_this_machine", "slug", "to_link", "to_query",
]  # fmt: skip
