"""Formats that hold arrays."""
