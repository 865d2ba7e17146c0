"""Exports: labels, label weights, the model, and programs that run without Candid.

`export_all` writes everything; `EXPORTS` has each file on its own.
"""

from __future__ import annotations

from pll.export.bundle import ExportResult, archive_data, archive_name, export_all
from pll.export.parts import EXPORTS, Exporter, exporters_of
from pll.export.programs import NotExportable
from pll.export.source import ExportSource, preview

__all__ = [
    "EXPORTS",
    "ExportResult",
    "ExportSource",
    "Exporter",
    "NotExportable",
    "archive_data",
    "archive_name",
    "export_all",
    "exporters_of",
    "preview",
]
