"""Experiments: grids of data sets, candidate sets, methods and seeds, in the paper's protocol, with its tables.

An `Experiment` is read from a TOML file or a preset; `execution.run` fits its cells, here or on a Dask cluster, and
`report.write_report` makes tables and figures of them.
"""
