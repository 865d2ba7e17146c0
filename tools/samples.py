"""Writes the sample files of formats that have none into assets/samples: `python -m tools.samples`."""

from __future__ import annotations

from pathlib import Path

from pll.formats import FORMATS, detect, read, write

SAMPLES = Path(__file__).parents[1] / "assets" / "samples"


def main() -> None:
    """Write what the plainest table holds in each format without a sample."""
    existing = {detect(path).name for path in SAMPLES.iterdir()}
    for name, form in FORMATS.items():
        if name not in existing:
            write(read(SAMPLES / "flowers.csv"), SAMPLES / f"flowers{form.suffixes[0]}", name)


if __name__ == "__main__":
    main()
