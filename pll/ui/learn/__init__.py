"""The Learn page: one idea a file, each beside a figure that the reader moves."""
