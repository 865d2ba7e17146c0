"""Pictures: read one by one, by many threads, never from outside their archive or folder; torchvision's import."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pll.errors import UserError
from pll.images import MAX_BYTES, Pictures, encode

N = 200


def png(k: int) -> bytes:
    return encode(np.full((2, 3, 3), k, dtype=np.uint8))


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for k in range(N):
            packed.writestr(f"p/{k}.png", png(k))
    return path


def named(where: Path | None, *names: str) -> Pictures:
    return Pictures(np.array(names, dtype=object), where)


def test_what_is_not_there_or_leads_out(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png(1))
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.png").write_bytes(png(5))
    (inside / "link.png").symlink_to(tmp_path / "secret.png")
    assert named(inside, "a.png").data(0) == png(5)
    for where, name, words in (
        (archive, "p/nothing.png", r"many\.zip holds no picture"),
        (archive, "../secret.png", "leads out of the archive"),
        (inside, "../secret.png", "leads out of the archive"),
        (inside, "link.png", "a link that leads out"),
        (inside, "b.png", "cannot be read"),
    ):
        with pytest.raises(UserError, match=words):
            named(where, name).data(0)
    assert named(None, "https://x.org/1.png").data(0) is None
    assert named(archive, "https://x.org/1.png").data(0) is None  # no address is followed


def test_a_file_that_says_it_is_huge_is_not_read(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pll.images.MAX_BYTES", 10)
    assert MAX_BYTES > 10
    with pytest.raises(UserError, match="at most 0 are read"):
        named(archive, "p/1.png").data(0)


# ---- torchvision -------------------------------------------------------------------------------------------------

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


@pytest.mark.slow
def test_a_fresh_process_gets_a_torchvision_that_works() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", FRESH], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "(1, 1000)"), done.stderr
