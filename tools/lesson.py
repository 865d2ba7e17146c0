"""Writes the lesson that needs no server into docs/lesson/: `python -m tools.lesson`. It is not committed."""

from __future__ import annotations

from pathlib import Path

from pll.ui.learn.lesson_files import lesson_files

PATH = Path(__file__).parents[1] / "docs" / "lesson"


def write_lesson(folder: Path) -> None:
    """Write the folder; files of an earlier build that are none of it any more are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    files = lesson_files()
    for stale in folder.iterdir():
        if stale.name not in files:
            stale.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    write_lesson(PATH)
