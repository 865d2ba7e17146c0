from __future__ import annotations

import subprocess
import sys

import pytest

from pll.images import torchvision

FRESH = """
import threading
import pll.images

found = []
threads = [threading.Thread(target=lambda: found.append(pll.images.torchvision())) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 3 and len({id(module) for module in found}) == 1
import torchvision
assert torchvision is found[0]
import torch
model = torchvision.models.resnet18(weights=None).eval()
print(tuple(model(torch.zeros(1, 3, 32, 32)).shape))
"""


def test_a_fresh_process_gets_a_torchvision_that_works() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", FRESH], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "(1, 1000)"), done.stderr


def test_without_our_help_a_cpu_build_cannot_import_it() -> None:
    import torch

    if torch.version.cuda is not None:
        pytest.skip("this torch is a CUDA build: torchvision's operators load")
    done = subprocess.run([sys.executable, "-c", "import torchvision"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        pytest.skip("this torchvision is a CPU build too: nothing to mend")
    assert "operator torchvision::nms does not exist" in done.stderr


def test_datasets_and_transforms_are_there() -> None:
    module = torchvision()
    assert module.datasets.MNIST.resources and module.transforms.Compose([]) is not None
    assert torchvision() is module


def test_other_failures_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise RuntimeError("something else")

    monkeypatch.setattr("pll.images.importlib.import_module", broken)
    with pytest.raises(RuntimeError, match="something else"):
        torchvision()
