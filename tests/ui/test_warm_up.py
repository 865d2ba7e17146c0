from __future__ import annotations

from pathlib import Path

import pytest
import torch

from pll.errors import UserError
from pll.paths import candid_home
from pll.ui.startup import warm_up


def test_warming_up_leaves_no_trace() -> None:
    before = torch.get_rng_state()
    warm_up()
    assert torch.equal(torch.get_rng_state(), before)


def test_home_is_where_one_says_or_in_ones_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLL_HOME", raising=False)
    assert candid_home() == Path.home() / ".candid"
    monkeypatch.setenv("PLL_HOME", "")
    with pytest.raises(UserError, match="PLL_HOME is set but empty"):
        candid_home()
    monkeypatch.setenv("PLL_HOME", "~/elsewhere")
    assert candid_home() == Path.home() / "elsewhere"
    monkeypatch.setenv("PLL_HOME", "/data/candid")
    assert candid_home() == Path("/data/candid")
