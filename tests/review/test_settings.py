"""How a review is begun."""

from __future__ import annotations

import pytest

from pll.errors import UserError
from pll.review.rounds import Promise
from pll.review.settings import Settings
from tests.review_helpers import open_with


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (Settings(overlap=0), "1 to 100 reviewers"),
        (Settings(mix=1.5), "mix is 1.5"),
        (Settings(hold=0), "above 0"),
        (Settings(promise=Promise(share=0.0)), "control share"),
        (Settings(promise=Promise(max_error=1.0)), "between 0 and 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: Settings, says: str, url: str) -> None:
    review = None
    with pytest.raises(UserError, match=says):
        review = open_with(url, **vars(settings))
    assert review is None
