"""What every command says: notes on stderr, and one line of JSON at the end."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pll.errors import Note


def note(messages: Sequence[str]) -> None:
    """Print notes, which are not errors, to stderr."""
    for message in messages:
        text = message.with_hint if isinstance(message, Note) else message
        print(f"candid: note: {text}", file=sys.stderr)


def print_result(**values: Any) -> None:
    """Print the line of JSON that every command which ends well prints last; a number that is not finite is null."""
    print(json.dumps(_json_value(values), ensure_ascii=False, allow_nan=False))


def _json_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _json_value(one) for key, one in value.items()}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
