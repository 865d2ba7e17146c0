"""Replay: a run as one HTML file that any browser plays, without a server or network."""

from __future__ import annotations

from pll.export.replay.page import replay_html

__all__ = ["replay_html"]
