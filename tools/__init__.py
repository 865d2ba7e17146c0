"""Generators of the pages in docs/: `python -m tools.methods_page` and its like."""
