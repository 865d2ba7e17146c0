"""The command line: `python -m pll …` and `candid …`."""
