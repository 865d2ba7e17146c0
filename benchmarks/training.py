"""What PRODEN costs beside supervised training: `python -m benchmarks.training [--threads N] [--epochs N]`.

On 60,000 × 784 features and 10 classes, binomial candidates with q = 0.7, batch 256, three ways are measured in turns,
an epoch each, so that noise hits all of them alike:

    bare       a plain supervised loop over the same model, batches and optimiser, in memory
    proden     the training part of an epoch of Candid's loop
    observed   a whole epoch of a run that is watched: records, history on disk, test-free metrics, and a page that
               looks at a snapshot and prepares its star plot and heatmap every 0.4 s

and the medians and ratios printed. Promises: proden ≤ 1.35 × bare for linear, ≤ 1.15 × for mlp; observing adds ≤ 10 %.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
import torch
from torch import nn

from pll.candidates import CandidateSets
from pll.methods.base import Task
from pll.methods.proden import PRODEN
from pll.runs.history import HistoryWriter
from pll.synthesis import flip_binomial
from pll.training.metrics import EpochRecord, Monitor
from pll.training.models import build_model
from pll.training.trainer import Optimisation, Trainer, train
from pll.ui.components.heatmap import heatmap_order, heatmap_payload
from pll.ui.components.star import star_payload

N, D, C, BATCH = 60_000, 784, 10, 256


def data() -> tuple[torch.Tensor, torch.Tensor, CandidateSets]:
    """Ten Gaussian classes, so that the label weights sharpen as they do on real data."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, C, N)
    X = rng.standard_normal((N, D), dtype=np.float32) + rng.standard_normal((C, D), dtype=np.float32)[y] * 0.3
    return torch.from_numpy(X), torch.from_numpy(y), flip_binomial(y, C, 0.7, seed=0)


def bare_epochs(model: str, X: torch.Tensor, y: torch.Tensor) -> Iterator[float]:
    """Seconds of one epoch after the other of supervised training."""
    torch.manual_seed(0)
    network = build_model(model, (D,), C)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-3, fused=True)
    loss = nn.CrossEntropyLoss()
    while True:
        started = time.perf_counter()
        for rows in torch.split(torch.randperm(N), BATCH):
            optimiser.zero_grad(set_to_none=True)
            loss(network(X.index_select(0, rows)), y.index_select(0, rows)).backward()
            optimiser.step()
        yield time.perf_counter() - started


def proden_trainer(model: str, X: torch.Tensor, sets: CandidateSets) -> Trainer:
    """Candid's own, ready to train."""
    torch.manual_seed(0)
    objective = PRODEN()._objective(Task(X.numpy(), sets))
    return Trainer(build_model(model, (D,), C), X, sets, objective, Optimisation(BATCH, 0.01), seed=0)


def proden_epochs(model: str, X: torch.Tensor, sets: CandidateSets) -> Iterator[float]:
    """Seconds of the training part of one epoch after the other."""
    trainer = proden_trainer(model, X, sets)
    while True:
        started = time.perf_counter()
        for rows in trainer.batches_left():
            with trainer.stream.drawing():
                trainer.step(rows)
        trainer.end_epoch()
        yield time.perf_counter() - started


def observed_epochs(model: str, X: torch.Tensor, sets: CandidateSets, y: torch.Tensor, folder: Path) -> Iterator[float]:
    """Seconds of one whole epoch after the other, with history and a page that looks on."""
    truth = y.numpy()
    monitor = Monitor(sets, truth)
    history = HistoryWriter(folder, sets, truth)
    page = _Page(sets)
    records = train(proden_trainer(model, X, sets), 10**6, monitor)
    while True:
        page.open()
        started = time.perf_counter()
        record = next(records)
        history.append(record)
        page.record = record
        spent = time.perf_counter() - started
        page.close()
        yield spent


class _Page:
    """Does every 0.4 s what the train page does: a star plot and a heatmap from the last record."""

    def __init__(self, sets: CandidateSets) -> None:
        self.sets = sets
        self.record: EpochRecord | None = None
        self._looking = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def open(self) -> None:
        self._looking.set()

    def close(self) -> None:
        self._looking.clear()

    def _look(self) -> None:
        while True:
            self._looking.wait()
            record = self.record
            if record is not None:
                star_payload(record.label_weights, self.sets)
                order = heatmap_order(record.label_weights, self.sets)
                heatmap_payload(record.label_weights, self.sets, order=order)
            time.sleep(0.4)


def measure(model: str, epochs: int) -> None:
    """Take turns, an epoch each, and print the medians."""
    X, y, sets = data()
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, Callable[[], Iterator[float]]] = {
            "bare": lambda: bare_epochs(model, X, y),
            "proden": lambda: proden_epochs(model, X, sets),
            "observed": lambda: observed_epochs(model, X, sets, y, Path(folder)),
        }
        running = {name: start() for name, start in ways.items()}
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(epochs + 1):
            for name, epoch in running.items():
                spent = next(epoch)
                if turn:  # the first warms up
                    seconds[name].append(spent)
    middle = {name: median(values) for name, values in seconds.items()}
    print(
        f"{model:7} bare {middle['bare']:.3f} s   proden {middle['proden']:.3f} s "
        f"({middle['proden'] / middle['bare']:.2f} ×)   observed {middle['observed']:.3f} s "
        f"({middle['observed'] / middle['proden'] - 1:+.1%})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--models", default="linear,mlp")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{N:,} × {D}, {C} classes, batch {BATCH}, {options.threads} thread(s), medians of {options.epochs} epochs")
    for model in options.models.split(","):
        measure(model, options.epochs)


if __name__ == "__main__":
    main()
