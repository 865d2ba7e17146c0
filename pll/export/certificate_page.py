"""A certificate as one HTML page for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pll.export.rendered import rendered
from pll.review.certificate import INFORMATION


def certificate_html(document: Mapping[str, Any]) -> str:
    """Return the page of a certificate (`pll.review.certificate.certificate_document`)."""
    return rendered("certificate.html.jinja", **document, information=document[INFORMATION])
