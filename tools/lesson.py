"""Writes the lesson that needs no server into docs/lesson/: `python -m tools.lesson`. It is not committed."""

from __future__ import annotations

from pathlib import Path

from pll.ui.learn.lesson_files import write_lesson

PATH = Path(__file__).parents[1] / "docs" / "lesson"

if __name__ == "__main__":
    write_lesson(PATH)
