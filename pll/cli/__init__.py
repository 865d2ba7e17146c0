"""The command line: `python -m pll …` and `candid …`."""

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it: 128 + SIGINT."""
RECIPE = "auto"
"""Recipe of `fit` and `evaluate` where none is given."""
