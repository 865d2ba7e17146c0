from __future__ import annotations

import pytest
import torch
from torch import nn

from pll.training.trainer import evaluating


def test_evaluating_puts_the_mode_back_even_after_an_error() -> None:
    network = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    network.train()
    with pytest.raises(ZeroDivisionError), evaluating(network):
        assert not network.training and not torch.is_grad_enabled()
        raise ZeroDivisionError
    assert network.training and torch.is_grad_enabled()
    network.eval()
    with evaluating(network):
        pass
    assert not network.training
