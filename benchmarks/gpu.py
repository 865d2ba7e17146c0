"""Whether Candid is ready for the GPU of this machine; on a machine without one, what can be checked without.

    python -m benchmarks.gpu            everything, under 8 minutes
    python -m benchmarks.gpu --cpu      as on a machine without a GPU, minutes of one core
    python -m benchmarks.gpu --only memory      the checks whose name begins so

One table; exit 1 where something fails. Each check has a process of its own, so that one that crashes, hangs or leaves
the GPU unusable ends itself alone. It needs torch, NumPy, SciPy, scikit-learn and pandas, and no network: the data
are drawn, or scikit-learn's digits. Without a GPU the checks of correctness run on a simulated one
(`benchmarks.simulated_gpu`), whose numbers are the CPU's; what needs a real one is named as skipped.
"""

from __future__ import annotations

import argparse
import io
import math
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any
from unittest import mock

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from benchmarks import simulated_gpu
from pll.candidates import CandidateSets
from pll.methods import METHODS
from pll.methods.base import Start, Task
from pll.methods.deep import DeepEstimator
from pll.methods.held_out import held_out_weights
from pll.methods.proden import PRODEN
from pll.synthesis import flip_binomial
from pll.training import devices, layouts
from pll.training import streamed as streamed_module
from pll.training.metrics import EpochRecord
from pll.training.models import build_model, step_work
from pll.training.precision import choose_precision
from pll.training.recorded import RecordedSteps
from pll.training.trainer import Optimisation, Trainer

C = 10
Timer = Callable[[], float]
DEEP = sorted(name for name, kind in METHODS.items() if issubclass(kind, DeepEstimator))


class Skipped(Exception):
    """A check that cannot be made here; the message says why."""


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    what: str
    measured: str
    goal: str = ""
    met: bool = True


@dataclass(frozen=True)
class Place:
    """Where the checks are made.

    Attributes
    ----------
    name
        Full name of the GPU; of the simulated one where there is none.
    is_real
        Whether it is a GPU.
    """

    name: str
    is_real: bool

    @property
    def device(self) -> torch.device:
        return torch.device(self.name)

    @contextmanager
    def entered(self, limit: int | None = None) -> Iterator[simulated_gpu.SimulatedGpu | None]:
        """Context manager in which tensors can be on it; `limit` is the simulated one's memory."""
        if self.is_real:
            yield None
        else:
            with simulated_gpu.simulated_gpu(limit) as gpu:
                yield gpu

    def needs_real(self, why: str) -> None:
        if not self.is_real:
            raise Skipped(why)


# ---- data ------------------------------------------------------------------------------------------------------------


def clouds(n: int, shape: tuple[int, ...], seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return X and y of ten Gaussian classes."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((C, *shape), dtype=np.float32) * 0.3
    y = rng.integers(0, C, n)
    return rng.standard_normal((n, *shape), dtype=np.float32) + centres[y], y


def small(pictures: bool = False) -> tuple[np.ndarray[Any, Any], CandidateSets, np.ndarray[Any, Any]]:
    X, y = clouds(121, (1, 8, 8) if pictures else (7,))
    return X, flip_binomial(y, C, 0.3, seed=0), y


def digits() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return scikit-learn's digits as pictures of 32 × 32."""
    X, y = load_digits(return_X_y=True)
    return np.kron(X.reshape(-1, 1, 8, 8), np.ones((1, 1, 4, 4))).astype(np.float32), y


def learn(method: str, X: Any, sets: CandidateSets, y: Any, **settings: Any) -> tuple[DeepEstimator, list[EpochRecord]]:
    """Train to the end, and give the device back."""
    estimator = METHODS[method](**{"epochs": 2, "batch_size": 16, "threads": None} | settings)
    assert isinstance(estimator, DeepEstimator)
    records = list(estimator.iter_fit(Task(X, sets, y, X[:20], y[:20])))
    estimator.release()
    return estimator, records


def apart(one: list[EpochRecord], other: list[EpochRecord]) -> float:
    """Return the largest difference of two runs' label weights."""
    return max(float(np.abs(a.label_weights - b.label_weights).max()) for a, b in zip(one, other, strict=True))


# ---- correctness: on a GPU, or on the simulated one ------------------------------------------------------------------


def same_as_cpu(place: Place) -> Iterator[Row]:
    """Every method learns on the device what it learns on the CPU."""
    exact = "0" if not place.is_real else "≤ 1e-3"
    for layout in ("dense", "padded"):
        worst, where = 0.0, ""
        with mock.patch.object(layouts, "DENSE_ENTRIES", 2**28 if layout == "dense" else 0):
            X, sets, y = small()
            for method in DEEP:
                settings: dict[str, Any] = {"lr": 0.01, "epochs": 2, "precision": "float32"}
                settings |= {"noise": 0.0} if method == "cr-dpll" else {}  # a GPU draws other numbers
                on_cpu = learn(method, X, sets, y, device="cpu", **settings)[1]
                with place.entered():
                    there = learn(method, X, sets, y, device=place.name, **settings)[1]
                difference = apart(on_cpu, there)
                worst, where = max((worst, where), (difference, method))
        met = worst == 0 if not place.is_real else worst <= 1e-3
        yield Row(
            f"{len(DEEP)} methods as on the CPU, {layout}", f"{worst:.1g}{f' ({where})' if worst else ''}", exact, met
        )
    X, sets, y = small(pictures=True)
    settings = {"lr": 1e-4, "epochs": 1, "precision": "float32", "model": "resnet"}
    on_cpu = learn("proden", X, sets, y, device="cpu", **settings)[1]
    with place.entered():
        there = learn("proden", X, sets, y, device=place.name, **settings)[1]
    difference = apart(on_cpu, there)
    yield Row("pictures, channels last, as on the CPU", f"{difference:.1g}", "≤ 1e-2", difference <= 1e-2)
    if place.is_real:
        before = devices.random_state(place.device)
        learn("proden", X, sets, y, device=place.name, model="convnet")
        same = torch.equal(devices.random_state(place.device), before)
        yield Row("the GPU's global random stream", "as before" if same else "changed", "as before", same)


WATCHED: dict[str, dict[str, Any]] = {
    "linear": {},
    "padded sets": {"padded": True},
    "mlp, adam": {"model": "mlp", "optimiser": "adam"},
    "convnet, crop-flip": {"model": "convnet", "augment": "crop-flip"},
    "resnet": {"model": "resnet"},
    "pn-decomp": {"method": "pn-decomp"},
    "cr-dpll, pictures": {"method": "cr-dpll", "model": "convnet"},
    "ga": {"method": "ga"},
    "d2cnn": {"method": "d2cnn"},
    "streamed features": {"streamed": True},
}
"""What is watched for waits: settings, and whether sets are padded or features streamed."""


def waits(place: Place) -> Iterator[Row]:
    """The processor does not wait for the device within a step."""
    if place.is_real and place.device.type != "cuda":
        raise Skipped("only CUDA reports them")
    for name, chosen in WATCHED.items():
        settings = dict(chosen)
        padded, streamed = settings.pop("padded", False), settings.pop("streamed", False)
        method = settings.pop("method", "proden")
        X, sets, y = small(pictures=settings.get("model") in ("convnet", "resnet"))
        share = 0.0 if streamed else streamed_module.FEATURES_SHARE
        with (
            mock.patch.object(layouts, "DENSE_ENTRIES", 0 if padded else 2**28),
            mock.patch.object(streamed_module, "FEATURES_SHARE", share),
            place.entered(10**9) as simulated,
        ):
            estimator = METHODS[method](batch_size=16, device=place.name, **settings)
            assert isinstance(estimator, DeepEstimator)
            trainer = estimator._new_trainer(Task(X, sets, y), place.device)
            trainer.network.train()
            found = ""
            for epoch in range(2):  # the first one allocates
                if epoch and simulated is not None:
                    simulated.waits.clear()
                try:
                    if epoch and simulated is None:
                        torch.cuda.set_sync_debug_mode("error")
                    for units in trainer.batches_left():
                        with trainer.stream.drawing():
                            trainer.step(units)
                except RuntimeError as error:
                    found = str(error).splitlines()[0]
                finally:
                    if simulated is None:
                        torch.cuda.set_sync_debug_mode("default")
                if epoch and simulated is not None:
                    found = ", ".join(sorted(set(simulated.waits) - ({"copy from the machine"} if streamed else set())))
                trainer.cursor = 0
            del trainer, estimator
        yield Row(f"waits in a step: {name}", found or "0", "0", not found)
    if not place.is_real:
        yield from waits_of_an_epoch(place)


def waits_of_an_epoch(place: Place) -> Iterator[Row]:
    """One for loss and label weights, and one for the predictions of test examples: between them training is timed."""
    X, sets, y = small()
    for name, test, goal in (("", None, 1), (", with test examples", X[:20], 2)):
        with place.entered() as simulated:
            assert simulated is not None
            estimator = PRODEN(epochs=3, device=place.name)
            records = estimator.iter_fit(Task(X, sets, y, test, None if test is None else y[:20]))
            next(records)
            simulated.waits.clear()
            next(records)
            found = len(simulated.waits)
            estimator.release()
        yield Row(f"waits of an epoch{name}", str(found), str(goal), found == goal)


def memory_given_back(place: Place) -> Iterator[Row]:
    """Ten runs leave the device as it was."""
    X, sets, y = small(pictures=True)
    with place.entered() as simulated:
        before = after = 0
        for run in range(11):
            if run == 1:  # what the first one leaves are torch's own workspaces
                before = allocated(place, simulated)
            learn("d2cnn" if run % 2 else "proden", X, sets, y, device=place.name, model="convnet", epochs=1)
        after = allocated(place, simulated)
        yield Row("memory after ten runs", f"{after - before:+,} bytes", "0", after <= before)


def allocated(place: Place, simulated: simulated_gpu.SimulatedGpu | None) -> int:
    if simulated is not None:
        return simulated.allocated()
    devices.free_unused(place.device)
    torch.accelerator.synchronize(place.device)
    return torch.accelerator.memory_allocated(place.device)


def streamed(place: Place) -> Iterator[Row]:
    """Features that do not fit stay in the machine's memory, and the result is the same."""
    X, sets, y = small()
    for method in ("proden", "cr-dpll"):  # which reads each mini-batch again, while the next ones are read
        with place.entered(10**9):
            kept = learn(method, X, sets, y, device=place.name, lr=0.01)
            with mock.patch.object(streamed_module, "FEATURES_SHARE", 0.0):
                read = learn(method, X, sets, y, device=place.name, lr=0.01)
        difference = apart(kept[1], read[1])
        said = any("by batches" in note for note in read[0].notes_)
        met = difference <= 1e-6 and said
        yield Row(f"features read by batches, and said: {method}", f"{difference:.1g}, {said}", "≤ 1e-6, True", met)


def out_of_memory(place: Place) -> Iterator[Row]:
    """A mini-batch that does not fit is computed in parts, and the run goes on with a note."""
    if place.is_real and place.device.type != "cuda":
        raise Skipped("only CUDA lets its memory be limited")
    X, y = clouds(2048, (3, 32, 32)) if place.is_real else clouds(192, (1, 8, 8))
    sets, batch = flip_binomial(y, C, 0.3, seed=0), 512 if place.is_real else 96
    settings: dict[str, Any] = {"model": "resnet", "epochs": 2, "batch_size": batch, "precision": "float32"}
    work = partial(learn, "proden", X, sets, y, device=place.name, **settings)
    with place.entered() as simulated, launched():
        peak = peak_of(place, simulated, work)
    # Half on a GPU, where cuDNN may have taken less, had there been less; in pretence parameters are a third of it.
    estimator, records, _ = limited(place, int((0.5 if place.is_real else 0.6) * peak), work)
    said = [note for note in estimator.notes_ if "parts" in note]
    ended = len(records) == 2 and all(math.isfinite(record.loss or 0.0) for record in records)
    yield Row(
        "memory for a part of a mini-batch: goes on in parts",
        f"{'ended' if ended else 'not ended'}, {'said' if said else 'not said'}",
        "ended, said",
        ended and bool(said),
    )
    if place.is_real:
        _, records, recorded = limited(place, int(1.2 * peak), work)
        yield Row(
            "memory for a step, not for its recording: launched",
            f"{len(records)} epochs, {recorded} recordings",
            "2 epochs, 0",
            len(records) == 2 and recorded == 0,
        )


def limited(
    place: Place, limit: int, work: Callable[[], tuple[DeepEstimator, list[EpochRecord]]]
) -> tuple[DeepEstimator, list[EpochRecord], int]:
    """Return what work returns with so many bytes of the device's memory, and how many epochs it recorded."""
    if not place.is_real:
        with place.entered(limit), recordings() as epochs:
            return *work(), len(epochs)
    devices.free_unused(place.device)  # of what it keeps it could give out more than the limit
    total = torch.accelerator.get_memory_info(place.device)[1]

    def memory(device: torch.device) -> tuple[int, int]:
        return limit - torch.accelerator.memory_reserved(device), limit

    torch.cuda.set_per_process_memory_fraction(limit / total, place.device)
    try:
        with recordings() as epochs, mock.patch.object(torch.accelerator, "get_memory_info", memory):
            return *work(), len(epochs)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, place.device)


def peak_of(place: Place, simulated: simulated_gpu.SimulatedGpu | None, work: Callable[[], Any]) -> int:
    """Return the most bytes that work has had on the device."""
    if simulated is None:
        torch.zeros(1, device=place.device)  # there is nothing to ask before
        devices.free_unused(place.device)
        torch.accelerator.reset_peak_memory_stats(place.device)
        work()
        return torch.accelerator.max_memory_reserved(place.device)
    simulated.watch = True
    work()
    return simulated.peak


def lost(place: Place) -> Iterator[Row]:
    """After an error that poisons a context, `auto` is the CPU. The error is made up, on a GPU too."""
    try:
        error = RuntimeError("CUDA error: an illegal memory access was encountered")
        with place.entered():
            before = devices.choose_device("auto").type
            if devices.is_lost(error):
                devices.lose()
            after = devices.choose_device("auto").type
    finally:
        devices._lost.clear()
    yield Row(
        "device before and after an illegal access", f"{before}, {after}", f"{place.device.type}, cpu", after == "cpu"
    )


def resumed(place: Place) -> Iterator[Row]:
    """A run that goes on from its checkpoint gives what an uninterrupted one gives."""
    X, sets, y = small(pictures=True)
    task = Task(X, sets, y)
    with place.entered():
        make = partial(PRODEN, model="convnet", epochs=3, batch_size=16, device=place.name, lr=0.01)
        whole = list(make().iter_fit(task))
        first, second = make(), make()
        training = first.iter_fit(task)
        next(training)
        rest = list(second.iter_fit(task, start=Start(checkpoint=first.checkpoint())))
        difference = apart(whole[1:], rest)
        for one in (first, second):
            one.release()
        limit = 0.0 if not place.is_real else math.inf
        yield Row(
            "resumed against uninterrupted", f"{difference:.1g}", "0" if not place.is_real else "", difference <= limit
        )
        for before, after in (("cpu", place.name), (place.name, "cpu")):  # as a run whose GPU was lost
            began = make(device=before)
            next(began.iter_fit(task))
            file = io.BytesIO()
            torch.save(began.checkpoint(), file)
            file.seek(0)
            kept = torch.load(file, map_location="cpu", weights_only=True)
            rest = list(make(device=after).iter_fit(task, start=Start(checkpoint=kept)))
            ended = len(rest) == 2 and all(np.isfinite(record.label_weights).all() for record in rest)
            yield Row(f"begun on {before}, ended on {after}", "ended" if ended else "not ended", "ended", ended)


def chosen_and_known(place: Place) -> Iterator[Row]:
    """The recipe auto and held-out weights on the device: many models at once, and one after another."""
    X, y = load_digits(return_X_y=True)
    n = 300 if place.is_real else 80
    X, sets = X[:n].astype(np.float32), flip_binomial(y[:n], C, 0.3, seed=0)
    with place.entered():
        for name, settings in (("linear, recipe auto", {"recipe": "auto", "epochs": 20}), ("mlp", {"model": "mlp"})):
            found = []
            for device in ("cpu", place.name):
                started = time.perf_counter()
                own: dict[str, Any] = {"epochs": 3, "batch_size": 32, "precision": "float32"} | settings
                estimator = PRODEN(device=device, **own)
                estimator.fit(X, sets)
                weights = held_out_weights(estimator, X, sets)
                found.append((weights, time.perf_counter() - started))
            difference = float(np.abs(found[0][0] - found[1][0]).mean())
            measured = f"{found[0][1]:.1f}, {found[1][1]:.1f} s, apart {difference:.1g}"
            yield Row(f"fit and held-out weights, CPU and GPU: {name}", measured, "≤ 1e-2", difference <= 1e-2)


def whole_run(place: Place) -> Iterator[Row]:
    """A run as the app has it: folder, checkpoint, resume, model; what it leaves on the device."""
    try:
        from pll.catalog.sources import Source
        from pll.runs.config import RunConfig
        from pll.runs.fit_loop import FitLoop
        from pll.runs.folder import RunFolder
    except ImportError as error:
        raise Skipped(f"{error}") from error
    X, sets, y = small(pictures=True)
    with tempfile.TemporaryDirectory() as where, place.entered() as simulated:
        np.savez(f"{where}/data.npz", X=X, indptr=sets.indptr, indices=sets.indices, n_classes=C, y=y)
        left = []
        for turn in range(2):
            folder = RunFolder(Path(where, f"run{turn}"))
            params = {"model": "convnet", "epochs": 3, "batch_size": 16, "device": place.name}
            folder.create(RunConfig(Source("data.npz", f"{where}/data.npz"), params=params))
            folder.lock()
            loop = FitLoop(folder)
            loop.device = place.name
            loop.advance()
            loop.stop()  # and resumed by the next
            loop.close()
            loop = FitLoop(folder)
            loop.device = place.name
            state = loop.train()["state"]
            loop.close()
            folder.unlock()
            del loop
            left.append(allocated(place, simulated))
        files = sorted(one.name for one in folder.path.iterdir())
    met = state == "finished" and "model.safetensors" in files and left[0] == left[1]
    yield Row("a run, stopped, resumed, saved", f"{state}, left {left[1] - left[0]:+,} bytes", "finished, 0", met)


# ---- speed -----------------------------------------------------------------------------------------------------------

EPOCHS = {"linear": (60_000, (784,), 256), "mlp": (60_000, (784,), 256)}
PICTURES = {"convnet": (10_000, (3, 32, 32), 256), "resnet": (10_000, (3, 32, 32), 256)}
ON_CPU = {
    "linear": (20_000, (784,), 256),
    "mlp": (6_000, (784,), 256),
    "convnet": (16, (3, 32, 32), 16),
    "resnet": (32, (3, 32, 32), 16),
}
"""Model → examples, shape, batch size of an epoch that is timed."""


def over_bare(place: Place) -> Iterator[Row]:
    """Seconds of an epoch of PRODEN over those of a supervised loop written by hand, by turns; medians of 5.

    On a CPU those of the processor, since others may be at work on the machine.
    """
    device = place.device if place.is_real else torch.device("cpu")
    for model, (n, shape, batch) in (EPOCHS | PICTURES if place.is_real else ON_CPU).items():
        X, y = clouds(n, shape)
        timer = time.perf_counter if place.is_real else time.process_time
        bare, own = (epochs(model, X, y, batch, device, timer) for epochs in (bare_epochs, proden_epochs))
        seconds = [(next(bare), next(own)) for _ in range(6)][1:]  # the first warms up
        middle = [median(times) for times in zip(*seconds, strict=True)]
        ratio = middle[1] / middle[0]
        goal = ("≤ 1.1", ratio <= 1.1) if place.is_real else ("", True)
        yield Row(f"{model}: s an epoch, bare and PRODEN", f"{middle[0]:.3f}, {middle[1]:.3f}: {ratio:.2f}", *goal)


def bare_epochs(
    model: str, X: Any, y: Any, batch: int, device: torch.device, timer: Timer = time.perf_counter
) -> Iterator[float]:
    """Seconds of one epoch after the other of supervised training, in the same precision."""
    torch.manual_seed(0)
    precision = choose_precision("auto", model, X.shape[1:], device)
    network = precision.prepared(build_model(model, X.shape[1:], C)).train()
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-3, fused=True)
    loss, features, labels = nn.CrossEntropyLoss(), torch.from_numpy(X).to(device), torch.from_numpy(y).to(device)
    while True:
        started = timer()
        with precision.switched():
            order = torch.randperm(len(labels)).to(device)
            for rows in torch.split(order, batch):
                optimiser.zero_grad(set_to_none=True)
                with precision.training_pass():
                    logits = network(precision.arranged(features.index_select(0, rows)))
                loss(logits.float(), labels.index_select(0, rows)).backward()
                optimiser.step()
            finish(device)
        yield timer() - started


def proden_epochs(
    model: str, X: Any, y: Any, batch: int, device: torch.device, timer: Timer = time.perf_counter
) -> Iterator[float]:
    """Seconds of the training part of one epoch after the other."""
    torch.manual_seed(0)
    sets = flip_binomial(y, C, 0.7, seed=0)
    precision = choose_precision("auto", model, X.shape[1:], device)
    objective = PRODEN()._objective(Task(X, sets))
    features, network = torch.from_numpy(X).to(device), build_model(model, X.shape[1:], C)
    trainer = Trainer(network, features, sets, objective, Optimisation(batch, 0.01), seed=0, precision=precision)
    trainer.network.train()
    while True:
        started = timer()
        with precision.switched():
            for units in trainer.batches_left():
                with trainer.stream.drawing():
                    trainer.step(units)
            trainer.end_epoch()
            finish(device)
        yield timer() - started


def finish(device: torch.device) -> None:
    """Wait until the device has done everything."""
    if device.type != "cpu":
        torch.accelerator.current_stream(device).synchronize()


def over_cpu(place: Place) -> Iterator[Row]:
    """How much faster a picture of the convnet is on the GPU than on all cores of this machine."""
    place.needs_real("there is no GPU")
    rates = []
    for device, n, batch in ((place.device, *PICTURES["convnet"][::2]), (torch.device("cpu"), 128, 128)):
        X, y = clouds(n, (3, 32, 32))
        epochs = proden_epochs("convnet", X, y, batch, device)
        rates.append(n / [next(epochs) for _ in range(2)][1])
    ratio = rates[0] / rates[1]
    yield Row(
        "convnet: pictures a second, GPU and CPU",
        f"{rates[0]:,.0f}, {rates[1]:,.0f}: {ratio:.0f} ×",
        "≥ 20",
        ratio >= 20,
    )


TINY = (("linear", 64), ("linear", 784), ("linear", 8_000), ("mlp", 64), ("mlp", 784))
"""Models and features of which a step is timed on the CPU and on the GPU, from the least work to the most."""


def tiny(place: Place) -> Iterator[Row]:
    """Small models, where a CPU may be faster: milliseconds a step on each, by the work of a step."""
    place.needs_real("there is no GPU")
    slower = 0.0
    for model, d in TINY:
        X, y = clouds(20 * 256, (d,))
        times = []
        for device in (torch.device("cpu"), place.device):
            epochs = proden_epochs(model, X, y, 256, device)
            work = step_work(build_model(model, (d,), C).parameters(), 256)
            with devices.computing_threads(None, work):
                times.append(1000 / 20 * median([next(epochs) for _ in range(6)][1:]))
        slower = max(slower, work) if times[0] < times[1] else slower
        yield Row(f"{model}, {d} features: ms a step, CPU and GPU", f"{times[0]:.3f}, {times[1]:.3f}: {work:.1g} flop")
    yield Row("the CPU is faster up to", f"{slower:.1g} flop a step" if slower else "nowhere")


def graph(place: Place) -> Iterator[Row]:
    """Steps as a CUDA graph against the same ones launched: what is learnt, and how long an epoch takes."""
    if place.device.type != "cuda" or not place.is_real:
        raise Skipped("only CUDA has graphs")
    for name, settings in ({method: {"method": method} for method in DEEP} | RECORDED).items():
        own: dict[str, Any] = {"method": "proden", "lr": 0.01, "epochs": 3, "device": place.name} | settings
        X, sets, y = small(pictures=own.get("model") in ("convnet", "resnet"))
        with recordings() as count:
            recorded = learn(X=X, sets=sets, y=y, **own)[1]
        with launched():
            difference = apart(recorded, learn(X=X, sets=sets, y=y, **own)[1])
        limit = 1e-2 if own.get("model") in ("convnet", "resnet") else 1e-5  # bf16, atomic additions
        goal = f"{'0' if name == 'pn-decomp' else '3'}, ≤ {limit:.0e}"
        met = len(count) == (0 if name == "pn-decomp" else 3) and difference <= limit
        yield Row(f"recorded: {name}", f"{len(count)} recordings, {difference:.1g}", goal, met)
    for model, (n, shape, batch) in (EPOCHS | PICTURES).items():
        X, y = clouds(n, shape)
        seconds = []
        for how in (launched, nullcontext):
            with how():
                seconds.append(median(islice(proden_epochs(model, X, y, batch, place.device), 1, 6)))
        yield Row(
            f"{model}: s an epoch, launched and recorded",
            f"{seconds[0]:.3f}, {seconds[1]:.3f}: {seconds[0] / seconds[1]:.2f} ×",
            "≥ 1.3" if model in EPOCHS else "",
            model not in EPOCHS or seconds[0] >= 1.3 * seconds[1],
        )


RECORDED: dict[str, dict[str, Any]] = {
    "mlp, adam, decaying": {"model": "mlp", "optimiser": "adam", "lr_decay": 0.5, "lr_decay_every": 1},
    "linear, decaying": {"lr_decay": 0.5, "lr_decay_every": 1},
    "convnet, crop-flip": {"model": "convnet", "augment": "crop-flip"},
    "convnet, float32": {"model": "convnet", "precision": "float32"},
    "resnet": {"model": "resnet"},
}
"""What is compared beside every method: settings."""


def launched() -> AbstractContextManager[object]:
    """Context manager in which no step is recorded."""
    return mock.patch.object(RecordedSteps, "repeat", lambda *arguments: False)


@contextmanager
def recordings() -> Iterator[list[int]]:
    """Context manager that counts the recordings, by their epochs."""
    record, found = RecordedSteps._record, list[int]()

    def counted(self: RecordedSteps[Any], step: Any, units: Tensor, epoch: int) -> None:
        record(self, step, units, epoch)
        found.extend([epoch] * self.is_recorded)

    with mock.patch.object(RecordedSteps, "_record", counted):
        yield found


def two_at_once(place: Place) -> Iterator[Row]:
    """Two runs with dropout at once take no longer than one after the other."""
    place.needs_real("two cores say nothing about it")
    X, y = clouds(5_000, (3, 32, 32))

    def work() -> None:
        epochs = proden_epochs("convnet", X, y, 256, place.device)
        for _ in range(6):
            next(epochs)

    def all_of(threads: list[threading.Thread]) -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    seconds = []
    # In threads of their own, since cuDNN looks for its convolutions in each; the first two to warm up.
    for at_a_time in (1, 1, 2):
        started = time.perf_counter()
        for _ in range(2 // at_a_time):
            all_of([threading.Thread(target=work) for _ in range(at_a_time)])
        seconds.append(time.perf_counter() - started)
    ratio = seconds[2] / seconds[1]
    yield Row("two runs at once over one after the other", f"{ratio:.2f}", "≤ 1.1", ratio <= 1.1)


def precision(place: Place) -> Iterator[Row]:
    """Digits with the convnet in bf16 and in float32, three seeds."""
    X, y = digits()
    if not place.is_real:
        X, y = X[:96, :, ::4, ::4], y[:96]  # 8 × 8: that it works, not how well
    sets, seeds, cut = flip_binomial(y, C, 0.5, seed=0), range(3 if place.is_real else 1), int(0.8 * len(X))
    settings: dict[str, Any] = {"model": "convnet", "epochs": 20 if place.is_real else 2, "batch_size": 64, "lr": 0.01}
    device = place.name if place.is_real else "cpu"
    found: dict[str, list[tuple[float, float]]] = {}
    for kind in ("float32", "bf16"):
        for seed in seeds:
            estimator = PRODEN(device=device, precision=kind, seed=seed, **settings)
            task = Task(X[:cut], sets.take(slice(cut)), y[:cut], X[cut:], y[cut:])
            record = list(estimator.iter_fit(task))[-1]
            estimator.release()
            found.setdefault(kind, []).append((record.transductive_accuracy or 0.0, record.test_accuracy or 0.0))
    for k, name in enumerate(("identified", "test")):
        pairs = [100 * (a[k] - b[k]) for a, b in zip(found["float32"], found["bf16"], strict=True)]
        points = [100 * mean(score[k] for score in found[kind]) for kind in ("float32", "bf16")]
        noise = 2 * stdev(pairs) / len(pairs) ** 0.5 if len(pairs) > 1 else math.inf
        measured = f"{points[0]:.1f}, {points[1]:.1f} %"
        if place.is_real:
            yield Row(f"{name}: float32 and bf16", measured, "within .5", mean(pairs) <= max(0.5, noise))
        else:
            yield Row(f"{name}: float32 and bf16 (that it runs)", measured)


def cifar10(place: Place) -> Iterator[Row]:
    """Three epochs of the paper's CIFAR-10 protocol on as many drawn pictures, and what the preset would take."""
    place.needs_real("there is no GPU")
    X, y = clouds(60_000, (3, 32, 32))
    sets = flip_binomial(y[:50_000], C, 0.3, seed=0)
    total = 0.0
    for model in ("resnet", "convnet"):
        estimator = PRODEN(model=model, epochs=4, device=place.name, batch_size=256, lr=0.01)
        seconds = [r.seconds for r in estimator.iter_fit(Task(X[:50_000], sets, y[:50_000], X[50_000:], y[50_000:]))]
        estimator.release()
        total += median(seconds[1:])
        yield Row(f"CIFAR-10, {model}: s an epoch with records", f"{median(seconds[1:]):.2f}")
    yield Row("the preset cifar10: 500 epochs, 5 samplings, 2 q", f"{total * 500 * 5 * 2 / 3600:.1f} h")


CHECKS: dict[str, Callable[[Place], Iterator[Row]]] = {
    "same": same_as_cpu,
    "waits": waits,
    "memory": memory_given_back,
    "streamed": streamed,
    "out-of-memory": out_of_memory,
    "lost": lost,
    "resumed": resumed,
    "auto": chosen_and_known,
    "run": whole_run,
    "precision": precision,
    "bare": over_bare,
    "cpu": over_cpu,
    "tiny": tiny,
    "graph": graph,
    "two": two_at_once,
    "cifar10": cifar10,
}


def rows_of(check: Callable[[Place], Iterator[Row]], name: str, place: Place) -> Iterator[tuple[Row, str]]:
    """Yield the lines of a check, and its state."""
    try:
        for row in check(place):
            yield row, "ok" if row.met else "FAILED"
    except Skipped as reason:
        yield Row(name, f"skipped: {reason}"), "skipped"
    except Exception as error:  # the table goes on
        traceback.print_exc()
        yield Row(name, f"{type(error).__name__}: {error}"[:100]), "FAILED"
    finally:
        if place.is_real:
            devices.free_unused(place.device)


LIMIT, LIMIT_OF_ALL = 150.0, 460.0
"""Seconds of a check, and of all of them."""


def checked(name: str, place: Place) -> int:
    """Print the lines of a check; return 1 where something fails."""
    failed = 0
    for row, state in rows_of(CHECKS[name], name, place):
        failed += state == "FAILED"
        print(f"{row.what:<55} {row.measured:<34} {row.goal:<14} {state}", flush=True)
    return int(failed > 0)


def checked_apart(name: str, options: list[str], seconds: float) -> int:
    """Make a check in a process of its own; return 1 where something fails, or it does not come to its end."""
    why = "no time is left"
    if seconds > 0:
        command = [sys.executable, "-m", "benchmarks.gpu", "--check", name, *options]
        try:
            code = subprocess.run(command, check=False, timeout=min(seconds, LIMIT)).returncode
            why = f"ended with {code}"
            if code in (0, 1):
                return code
        except subprocess.TimeoutExpired:
            why = f"not ended after {min(seconds, LIMIT):.0f} s"
    print(f"{name:<55} {why:<34} {'':<14} FAILED", flush=True)
    return 1


def main() -> int:
    """Print the table; return 1 where something fails."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--cpu", action="store_true", help="as on a machine without a GPU")
    parser.add_argument("--only", default="", help="checks whose name begins so: " + ", ".join(CHECKS))
    parser.add_argument("--check", choices=CHECKS, help="this one, in this process")
    chosen = parser.parse_args()
    there = () if chosen.cpu else devices.gpus()
    place = Place(there[0], True) if there else Place(str(simulated_gpu.device()), False)
    if chosen.check:
        return checked(chosen.check, place)
    about = [f"torch {torch.__version__}", f"{torch.get_num_threads()} CPU threads"]
    if place.is_real:
        about.insert(0, f"{torch.get_device_module(place.device).get_device_name(place.device)} ({place.name})")
    else:
        about.insert(0, "no GPU: correctness on a simulated one, times on the CPU")
    print(", ".join(about), flush=True)
    started, failed = time.perf_counter(), []
    for name in [name for name in CHECKS if name.startswith(chosen.only)]:
        left = LIMIT_OF_ALL - (time.perf_counter() - started)
        if checked_apart(name, ["--cpu"] * chosen.cpu, left):
            failed.append(name)
    print(f"{', '.join(failed) or 'nothing'} failed, {time.perf_counter() - started:.0f} s")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
