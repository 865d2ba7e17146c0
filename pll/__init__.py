"""Candid: partial-label learning. Candidate label sets in, one identified label per example out."""

__version__ = "0.2.0"
