"""Formats of annotation tools, read one record at a time."""
