from __future__ import annotations

import pytest
import torch

from pll.errors import UserError, explain, require_extra


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


def test_a_missing_optional_package_is_named_with_what_installs_it() -> None:
    require_extra("onnx", "json")  # there is nothing to say where it is installed
    with pytest.raises(UserError, match=r"no_such_package.*candid-labels\[onnx\]"):
        require_extra("onnx", "json", "no_such_package")
