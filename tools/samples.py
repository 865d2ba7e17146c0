"""Writes the sample files of formats that have none into assets/samples: `python -m tools.samples`."""

from __future__ import annotations

from pathlib import Path

from pll.formats import ENTRIES, read, write

SAMPLES = Path(__file__).parents[1] / "assets" / "samples"


def main() -> None:
    """Write what the plainest table holds in each format without a sample."""
    for name, entry in ENTRIES.items():
        if not (SAMPLES / entry["sample"]).exists():
            write(read(SAMPLES / "flowers.csv"), SAMPLES / entry["sample"], name)


if __name__ == "__main__":
    main()
