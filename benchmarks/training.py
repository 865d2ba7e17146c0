"""What an epoch of PRODEN costs beside supervised training, for `python -m benchmarks.performance loop`.

Ten classes, binomial candidates with q = 0.7; 60,000 × 784 features in batches of 256 (convnet: 96 pictures of
3 × 32 × 32 in batches of 32). An epoch of each way in turns, so that noise hits all of them alike:

    bare       a plain supervised loop over the same model, batches and optimiser, in memory
    proden     the training part of an epoch of Candid's loop
    observed   a whole epoch of a run that is watched: records, history on disk, metrics, and a page that looks at a
               snapshot and prepares its star plot and heatmap every 0.4 s
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
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
from pll.ui.components.canvas import Presentation
from pll.ui.components.heatmap import heatmap_payload
from pll.ui.components.star import star_payload

C = 10
SHAPES: dict[str, tuple[int, tuple[int, ...], int]] = {
    "linear": (60_000, (784,), 256),
    "mlp": (60_000, (784,), 256),
    "convnet": (96, (3, 32, 32), 32),
}
"""Examples, input shape and batch size by model."""


class Work:
    """A model and the data it is trained on.

    Ten Gaussian classes, so that the label weights sharpen as they do on real data.
    """

    def __init__(self, model: str) -> None:
        n, self.shape, self.batch = SHAPES[model]
        self.model = model
        rng = np.random.default_rng(0)
        centres = rng.standard_normal((C, *self.shape), dtype=np.float32) * 0.3
        self.y = rng.integers(0, C, n)
        self.X = torch.from_numpy(rng.standard_normal((n, *self.shape), dtype=np.float32) + centres[self.y])
        self.sets: CandidateSets = flip_binomial(self.y, C, 0.7, seed=0)

    def network(self) -> nn.Module:
        torch.manual_seed(0)
        return build_model(self.model, self.shape, C)

    def trainer(self) -> Trainer:
        """Candid's own, ready to train."""
        objective = PRODEN()._objective(Task(self.X.numpy(), self.sets))
        return Trainer(self.network(), self.X, self.sets, objective, Optimisation(self.batch, 0.01), seed=0)


def bare_epochs(work: Work) -> Iterator[float]:
    """Seconds of one epoch after the other of supervised training."""
    network = work.network()
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-3, fused=True)
    loss, y = nn.CrossEntropyLoss(), torch.from_numpy(work.y)
    while True:
        started = time.perf_counter()
        for rows in torch.split(torch.randperm(len(y)), work.batch):
            optimiser.zero_grad(set_to_none=True)
            loss(network(work.X.index_select(0, rows)), y.index_select(0, rows)).backward()
            optimiser.step()
        yield time.perf_counter() - started


def proden_epochs(work: Work) -> Iterator[float]:
    """Seconds of the training part of one epoch after the other."""
    trainer = work.trainer()
    while True:
        started = time.perf_counter()
        for rows in trainer.batches_left():
            with trainer.stream.drawing():
                trainer.step(rows)
        trainer.end_epoch()
        yield time.perf_counter() - started


def observed_epochs(work: Work, folder: Path) -> Iterator[float]:
    """Seconds of one whole epoch after the other, with history, while a page looks on."""
    history, page = HistoryWriter(folder, work.sets), _Page(work.sets)
    records = train(work.trainer(), 10**6, Monitor(work.sets, work.y))
    while True:
        page.open()
        started = time.perf_counter()
        record = next(records)
        history.append(record)
        spent = time.perf_counter() - started
        page.record = record
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
                star_payload(record.label_weights, self.sets, Presentation())
                heatmap_payload(record.label_weights, self.sets, Presentation(), sharp=record.sharpness)
            time.sleep(0.4)


def measure(model: str, epochs: int) -> dict[str, float]:
    """Take turns, an epoch each; return the median seconds of each way."""
    work = Work(model)
    with tempfile.TemporaryDirectory() as folder:
        running = {
            "bare": bare_epochs(work),
            "proden": proden_epochs(work),
            "observed": observed_epochs(work, Path(folder)),
        }
        seconds: dict[str, list[float]] = {name: [] for name in running}
        for turn in range(epochs + 1):
            for name, epoch in running.items():
                spent = next(epoch)
                if turn:  # the first warms up
                    seconds[name].append(spent)
    return {name: median(values) for name, values in seconds.items()}
