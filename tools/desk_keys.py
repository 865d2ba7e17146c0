"""Writes the table of the desk's keys in docs/review.md: `python -m tools.desk_keys` (a test says when)."""

from __future__ import annotations

from pathlib import Path

from pll.ui.review.keys import ACTIONS

PAGE = Path(__file__).parents[1] / "docs" / "review.md"
START, END = "<!-- generated: `make generated` -->\n", "<!-- end of what is generated -->\n"


def page() -> str:
    """docs/review.md as it should be."""
    text = PAGE.read_text("utf-8")
    before, rest = text.split(START, 1)
    rows = [f"| {action.key} | {action.label} | {action.title} |\n" for action in ACTIONS]
    table = "".join(["| key | button | what it does |\n", "|---|---|---|\n", *rows])
    return f"{before}{START}\n{table}\n{END}{rest.split(END, 1)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
