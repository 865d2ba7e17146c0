"""What a link stands for: a run to set up, and how to look at it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from pll.catalog.sources import Source
from pll.errors import UserError
from pll.runs.config import RunConfig

VERSION = "1"
FINGERPRINT = 16
"""Hexadecimal digits of a file's SHA-256 that a link carries."""
MOST_EPOCHS = 100_000

CONTROLS = {
    "navigation": "Navigation between pages",
    "settings": "Settings of the run",
    "transport": "Transport: step, play, pause, stop",
    "speed": "Speed and stop when settled",
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
    "speed": "Speed and stop when settled",
    "next": "New comparison and single runs",
    "timeline": "Timeline",
    "star": "Star plots",
    "verdict": "What this shows, in words",
    "curves": "Curves over the epochs",
    "table": "Table of figures",
    "truth": "True labels and accuracies",
}
"""What a lesson may hide of a comparison."""


@dataclass(frozen=True)
class Look:
    """What is in view, and what a lesson hides.

    Args:
        epoch: the epoch in view; None follows the latest.
        view: the view below the pictures, as a slug; "" for the first.
        example: id of the example in view.
        pins: ids of the examples pinned.
        truth: colour the star plot by true labels.
        order: how the heatmap's rows stand: `"confidence"` or `"label"`.
        hidden: names of `CONTROLS`, or `view-<slug>`.
        paused: wait before the first epoch.
        pace: epochs a second; None for full speed.
        settle: stop after so many epochs without a change; None for never.
    """

    epoch: int | None = None
    view: str = ""
    example: str | None = None
    pins: tuple[str, ...] = ()
    truth: bool = False
    order: str = "confidence"
    hidden: tuple[str, ...] = ()
    paused: bool = False
    pace: float | None = None
    settle: int | None = None


@dataclass(frozen=True)
class Share:
    """A run to set up, and how to look at it."""

    config: RunConfig
    look: Look = field(default_factory=Look)

    @property
    def is_complete(self) -> bool:
        """Whether the data is known; a file has to be given first (`with_file`)."""
        return self.config.source.path != ""

    def with_file(self, source: Source) -> Share:
        """The same with the file that was asked for.

        Args:
            source: the file, its `sha256` known.

        Raises:
            UserError: it is another file.
        """
        wanted = self.config.source
        if not (source.sha256 or "").startswith(wanted.sha256 or ""):
            raise UserError(
                f"{source.name} is not the file of this link: its fingerprint is "
                f"{(source.sha256 or '')[:FINGERPRINT]}, the link's {wanted.sha256}. "
                f"Give the very {wanted.name} that the run was made with."
            )
        return replace(
            self, config=replace(self.config, source=replace(wanted, path=source.path, sha256=source.sha256))
        )


def slug(title: str) -> str:
    """The name of a view as a part of a link.

    >>> slug("Slow motion")
    'slow-motion'
    """
    return title.lower().replace(" ", "-")


def on_this_machine(share: Share, most_threads: int | None = None) -> tuple[Share, tuple[str, ...]]:
    """The share as this machine can run it, and what is different then, in words.

    Threads are part of a link, since sums in another order may differ in their last digits; more than there are
    cores would only be slower.
    """
    most = most_threads or os.cpu_count() or 1
    wanted = share.config.params.get("threads")
    if wanted is None or wanted <= most:
        return share, ()
    config = replace(share.config, params=share.config.params | {"threads": most})
    note = f"The link's run used {wanted} CPU threads and this machine has {most}: the last digits may differ."
    return replace(share, config=config), (note,)
