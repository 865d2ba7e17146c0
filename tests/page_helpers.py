"""What the tests of pages share: what a page says, its buttons and figures; a run, and its review under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pll.catalog.sources import Source
from pll.review.queue import ReviewQueue
from pll.runs.config import RunConfig
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui.review import service

IRIS = RunConfig(Source("iris"), params={"epochs": 30, "batch_size": 256}, flip=Flip("binomial", 0.3), name="irises")
"""Trained with one step an epoch, so that a test can stop between steps and between epochs at once."""


def said(page: Any) -> str:
    """All text of the page."""
    headings, notes = (page.title, page.markdown, page.caption, page.latex), (page.info, page.warning, page.error)
    return "\n".join(element.value for kind in (*headings, *notes, page.success) for element in kind)


def button(page: Any, label: str) -> Any:
    """The one of this name."""
    (found,) = [one for one in page.button if one.label == label]
    return found


def labels(page: Any) -> set[str]:
    """What stands on its buttons."""
    return {one.label for one in page.button}


def understood(page: Any) -> str:
    """The sentence of the Data page; "" where there is none."""
    assert not page.exception
    assert not page.error, [one.value for one in page.error]
    return next((one.value.removeprefix("##### ") for one in page.markdown if one.value.startswith("##### ")), "")


def with_details(page: Any) -> Any:
    """The Data page with its details open."""
    page.session_state["details"] = True
    return page.run()


def bring_by(page: Any, way: str) -> Any:
    """The Data page on another way of bringing data."""
    page.session_state["way"] = way
    return page.run()


def figures(page: Any) -> dict[str, str]:
    """The metrics by name."""
    return {metric.label: metric.value for metric in page.metric}


# ---- reviews ---------------------------------------------------------------------------------------------------------


def begun(run: Run, overlap: int = 1) -> ReviewQueue:
    """The queue of a review that has just begun."""
    queue = service.queue_of(run)
    if overlap > 1:
        queue.review.configure(overlap=overlap)
    return queue


def entered(page: Any, name: str = "Ada") -> Any:
    """The page of a review once its reviewer has given a name."""
    page.text_input[0].set_value(name)
    return button(page, "Start").click().run()


def turned_to(page: Any, run: Run, view: str = "Progress") -> Any:
    """Another view of the review."""
    return page.segmented_control(f"review-view-{service.queue_of(run).review.id}").set_value(view).run()


def for_experts(page: Any) -> Any:
    """The Progress view of a review with what it keeps for experts."""
    page.session_state["review-experts"] = True
    return page.run()


def correct(page: Any, several: str, names: Sequence[str], field: str, value: str) -> Any:
    """Say in two fields of some things what they are instead."""
    page = next(one for one in page.multiselect if one.label == several).set_value(list(names)).run()
    return next(one for one in page.selectbox if one.label == field).set_value(value).run()
