from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from pll.errors import UserError
from pll.training import devices


@pytest.fixture(autouse=True)
def nothing_lost() -> Iterator[None]:
    yield
    devices._lost.clear()


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    free = {"cuda:0": 2, "cuda:1": 21}
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    monkeypatch.setattr(devices, "memory_of", lambda name: devices.Memory(free[str(name)] * 10**9, 24 * 10**9))
    return free


def test_without_a_gpu_everything_is_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available: None)
    assert devices.devices() == ("cpu",)
    assert devices.choose_device("auto") == torch.device("cpu")
    assert devices.device_names("auto") == ("cpu",)
    assert devices.memory_of("cpu") is None


def test_auto_is_the_gpu_with_the_most_free_memory(two_gpus: dict[str, int]) -> None:
    assert devices.devices() == ("auto", "cuda:0", "cuda:1", "cpu")
    assert devices.device_names("auto") == ("cuda:0", "cuda:1")
    assert devices.choose_device("auto") == torch.device("cuda:1")
    two_gpus["cuda:0"] = 22
    assert devices.choose_device("auto") == torch.device("cuda:0")
    assert devices.device_in_words("cuda:1") == "GPU 1, 3 of 24 GB"


@pytest.mark.parametrize(
    "words",
    [
        "CUDA error: an illegal memory access was encountered",
        "CUDA error: no kernel image is available for execution on the device",
        "CUDA error: device-side assert triggered",
    ],
)
def test_a_gpu_that_is_poisoned_is_used_no_more_and_a_user_is_told_what_to_do(
    two_gpus: dict[str, int], words: str
) -> None:
    error = RuntimeError("while it trained")
    error.__cause__ = torch.AcceleratorError(words)
    assert devices.is_lost(error)
    devices.lose()
    assert devices.choose_device("auto") == torch.device("cpu")
    assert devices.devices() == ("cpu",)
    with pytest.raises(UserError, match="restart the server"):
        devices.choose_device("cuda:0")
    devices.free_unused(torch.device("cuda:1"))  # does not touch it


@pytest.mark.parametrize("error", [ValueError("illegal memory access"), RuntimeError("shapes differ")])
def test_other_errors_poison_nothing(error: Exception) -> None:
    assert not devices.is_lost(error)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 18.00 GB)"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
            True,
        ),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
    ],
)
def test_errors_of_memory_are_told_from_others(error: RuntimeError, expected: bool) -> None:
    assert devices.is_out_of_memory(error) is expected


def test_a_network_that_visits_a_gpu_leaves_nothing_there(monkeypatch: pytest.MonkeyPatch) -> None:
    network, freed = torch.nn.Linear(2, 1), list[torch.device]()
    monkeypatch.setattr(devices, "free_unused", freed.append)
    gpu = torch.device("meta")
    with pytest.raises(KeyError), devices.visited(gpu, network):
        assert network.weight.device == gpu
        network.to_empty(device="cpu")
        raise KeyError
    assert network.weight.device.type == "cpu" and freed == [gpu]


@pytest.mark.parametrize(("work", "threads"), [(1e6, 1), (1.9e8, 1), (4.1e8, 4), (1e12, 6)])
def test_small_steps_get_fewer_threads_than_they_may_have(
    monkeypatch: pytest.MonkeyPatch, work: float, threads: int
) -> None:
    monkeypatch.setattr(devices.os, "cpu_count", lambda: 8)
    before = torch.get_num_threads()
    with devices.computing_threads(6, work):
        assert torch.get_num_threads() == threads
        with devices.computing_threads(None, 1e6):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == threads
    assert torch.get_num_threads() == before


def test_blas_gets_its_threads_back_in_whatever_order_those_leave_who_want_one() -> None:
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with devices.one_blas_thread():
        pass
    with threadpool_limits(2, user_api="blas"):
        first, second = ExitStack(), ExitStack()
        first.enter_context(devices.one_blas_thread())
        second.enter_context(devices.one_blas_thread())
        first.close()
        assert threads() == {1}
        second.close()
        assert threads() == {2}


def test_a_blas_that_is_loaded_later_has_one_thread_too() -> None:
    program = """
import numpy
from pll.training import devices
with devices.one_blas_thread():
    import scipy.linalg
    from threadpoolctl import threadpool_info
    print({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
"""
    several = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=several)
    assert done.stdout.strip() == "{1}"
