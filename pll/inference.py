"""Forward passes that only look: without gradients, in evaluation mode, in pieces that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


def evaluation_batch(shape: tuple[int, ...]) -> int:
    """Examples a forward pass without gradients. Few for images: a layer of a convnet keeps 512 KiB for each."""
    return 4096 if len(shape) < 4 else 256


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """Evaluation mode and no gradients inside; the mode is put back afterwards."""
    was_training = network.training
    network.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        network.train(was_training)
