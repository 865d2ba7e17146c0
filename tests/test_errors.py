from __future__ import annotations

import pytest
import torch

from pll.errors import UserError, explain


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (torch.OutOfMemoryError("CUDA"), "GPU ran out of memory"),
        (MemoryError(), "machine ran out of memory"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), "machine ran out of"),
        (PermissionError(13, "Permission denied", "x"), "Permission denied"),
        (UserError("as it is"), "as it is"),
    ],
)
def test_errors_are_explained_with_a_remedy(error: Exception, words: str) -> None:
    assert words in explain(error)
