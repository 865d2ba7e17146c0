"""In which numbers a network computes: float32, or bfloat16 where the device is fast with it.

Parameters, their gradients, losses and label weights are float32 always, and so is every evaluation; `bf16` is torch's
autocast in the training pass alone. On a GPU `bf16` goes with TF32 in what autocast leaves in float32, and pictures
with channels last and with cuDNN's choice of the fastest convolution.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from pll.errors import UserError, unknown
from pll.training.models import TORCHVISION, ModelSpec
from pll.training.names import PRECISIONS

_HEAVY = ("convnet", "resnet")
"""Models whose time goes to products of matrices; the others would spend it on conversions."""
_FLAT = ("linear", "mlp", "shallow-mlp")
"""Models that read a picture as a row of numbers."""


_switching = threading.Lock()
_before: list[tuple[str, str, bool]] = []
"""What torch's switches were when each of those that are in `switched` came in; the first found the original ones."""


@dataclass(frozen=True)
class Precision:
    """How the passes of a network are computed on one device.

    Attributes
    ----------
    bf16
        Whether training passes are bfloat16.
    channels_last
        Whether pictures, and the weights of convolutions, are stored with their channels last.
    """

    device: torch.device
    bf16: bool = False
    channels_last: bool = False

    def training_pass(self) -> AbstractContextManager[object]:
        """Context manager of a training pass."""
        return torch.autocast(self.device.type, torch.bfloat16) if self.bf16 else nullcontext()

    def prepared(self, network: nn.Module) -> nn.Module:
        """Return the network on the device, its weights stored as they are used there."""
        if self.channels_last:
            return network.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]  # torch's stubs lack it
        return network.to(self.device)

    def arranged(self, inputs: Tensor) -> Tensor:
        """Return inputs (B, …) stored as the network takes them."""
        return inputs.contiguous(memory_format=torch.channels_last) if self.channels_last else inputs

    @contextmanager
    def switched(self) -> Iterator[None]:
        """Context manager of torch's switches for the whole process; does nothing on the CPU.

        Two runs at once on two GPUs share them: those of the later one hold, until the last of them leaves.
        """
        if self.device.type != "cuda":
            yield
            return
        cudnn: Any = torch.backends.cudnn  # torch's stubs lack `conv`
        product = torch.backends.cuda.matmul
        with _switching:
            # Not `allow_tf32`: to read that is an error once anybody in the process has set `fp32_precision`.
            _before.append((cudnn.conv.fp32_precision, product.fp32_precision, cudnn.benchmark))
            cudnn.conv.fp32_precision = product.fp32_precision = "tf32" if self.bf16 else "ieee"
            cudnn.benchmark = self.channels_last and not torch.are_deterministic_algorithms_enabled()
        try:
            yield
        finally:
            with _switching:
                original = _before[0]
                _before.pop()
                if not _before:
                    cudnn.conv.fp32_precision, product.fp32_precision, cudnn.benchmark = original


def choose_precision(precision: str, model: ModelSpec, shape: tuple[int, ...], device: torch.device) -> Precision:
    """Return how a model computes on a device.

    Parameters
    ----------
    precision
        `"float32"`; `"bf16"`; `"auto"`: bf16 on a GPU that has it for the convnet, the resnet and torchvision's models,
        float32 for all others and on the CPU.
    model
        As for `build_model`.
    shape
        Of one example.
    device
        Where it computes.

    Raises
    ------
    UserError
        No such precision, or the device does not have it.

    Examples
    --------
    >>> choose_precision("auto", "convnet", (3, 32, 32), torch.device("cpu")).bf16
    False
    """
    if precision not in PRECISIONS:
        raise unknown("precision", precision, PRECISIONS)
    if precision == "bf16" and not _has_bf16(device):
        raise UserError(f"The device {device} does not compute in bfloat16; use the precision 'auto' or 'float32'.")
    heavy = isinstance(model, str) and (model in _HEAVY or model.startswith(TORCHVISION))
    is_gpu = device.type != "cpu"
    bf16 = precision == "bf16" or (
        precision == "auto" and heavy and device.type in ("cuda", "xpu") and _has_bf16(device)
    )
    is_flat = isinstance(model, str) and model in _FLAT
    return Precision(device, bf16, channels_last=is_gpu and len(shape) == 3 and not is_flat)


def _has_bf16(device: torch.device) -> bool:
    """Return whether a device multiplies bfloat16 by itself."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "xpu":
        return bool(torch.xpu.is_bf16_supported())
    return device.type == "cpu"
