from __future__ import annotations

import pytest
import torch

from pll.errors import UserError
from pll.training import devices
from pll.training.devices import choose_device, device_name


def test_a_gpu_has_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"auto": "cuda", "cuda": "cuda", "cuda:0": "cuda:0", "cuda:1": "cuda:1", "mps": "mps"}
    monkeypatch.setattr(devices, "choose_device", lambda device: torch.device(chosen[device]))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    assert [device_name(device) for device in ("auto", "cuda", "cuda:0")] == ["cuda:0"] * 3
    assert (device_name("cuda:1"), device_name("mps")) == ("cuda:1", "mps:0")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_of_this_machine_has_one_name() -> None:
    assert {device_name(device) for device in ("auto", "cuda", "cuda:0")} == {"cuda:0"}
    assert str(torch.empty(0, device=choose_device("auto")).device) == "cuda:0"


def test_a_device_that_is_not_there_has_no_name() -> None:
    with pytest.raises(UserError, match="nonsense"):
        device_name("nonsense")
