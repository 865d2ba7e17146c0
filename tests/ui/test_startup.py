"""Getting ready makes what follows cheap."""

from __future__ import annotations

import gc
import sys

from pll.ui.startup import MODULES, get_ready_in_background


def test_what_is_loaded_is_not_looked_through_again() -> None:
    gc.collect()
    before = len(gc.get_objects())
    try:
        get_ready_in_background().join(60)
        assert all(name in sys.modules for name in MODULES)
        assert len(gc.get_objects()) < before / 5  # what a collection goes through
    finally:
        gc.unfreeze()
