"""A run as one HTML file: scrubbed and played in any browser, with no server, no network and nothing to install."""

from __future__ import annotations

from pll.replay.page import replay_html

__all__ = ["replay_html"]
