"""Texts made of templates: one way for the README of an export, the page of a certificate and that of a replay."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pll.review.certificate import INFORMATION
from pll.wording import percent


def rendered(template: str, **values: Any) -> str:
    """Return a file of `templates/` with its values filled in; in HTML they are escaped.

    Parameters
    ----------
    template
        Its file name.
    values
        What it names.
    """
    environment = Environment(
        loader=PackageLoader("pll.export"),
        undefined=StrictUndefined,
        autoescape=template.endswith(".html.jinja"),  # in Markdown names are quoted
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"quoted": _quoted, "json_block": _json_block, "percent": percent}
    return environment.get_template(template).render(values)


def certificate_html(document: Mapping[str, Any]) -> str:
    """Return the page of a certificate (`pll.review.certificate.certificate_document`)."""
    return rendered("certificate.html.jinja", **document, information=document[INFORMATION])


def _quoted(name: str) -> str:
    """Return a name as code in Markdown, where no letter of it means anything."""
    plain = name if name and name.isprintable() and name == name.strip() else json.dumps(name, ensure_ascii=False)
    return f"`` {plain} ``" if "`" in plain else f"`{plain}`"


def _json_block(values: Mapping[str, object]) -> str:
    """Return values as a code block."""
    return f"```json\n{json.dumps(values, indent=2, ensure_ascii=False, default=str)}\n```"
