"""Exports: labels, label weights, the model, and programs that run without Candid.

`bundle.export_all` writes everything; `parts.EXPORTS` has each file on its own.
"""
