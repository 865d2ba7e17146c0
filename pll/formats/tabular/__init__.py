"""Formats that are tables: every reader makes one Arrow table of a file, and `builder` a dataset of that."""
