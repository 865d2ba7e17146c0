"""Runs: settings, folder, history, the thread that trains, comparisons, and the registry of a process."""
