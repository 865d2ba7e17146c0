"""Writes the pages of docs/ that are read off the code: `python -m tools.pages`. They are not committed."""

from __future__ import annotations

from tools import datasets_page, formats_page, lesson, methods_page, notebooks

if __name__ == "__main__":
    methods_page.PATH.write_text(methods_page.page(), "utf-8")
    formats_page.PATH.write_text(formats_page.markdown(), "utf-8")
    datasets_page.PATH.write_text(datasets_page.markdown(), "utf-8")
    notebooks.write()
    lesson.write_lesson(lesson.PATH)
