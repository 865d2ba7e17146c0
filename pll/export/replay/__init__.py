"""Replay: a run as one HTML file that any browser plays, without a server or network."""
