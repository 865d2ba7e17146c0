"""What PRODEN costs beside supervised training: `python -m benchmarks.training [--threads N] [--epochs N] [--items]`.

Ten classes, binomial candidates with q = 0.7; 60,000 × 784 features in batches of 256 (convnet: 96 pictures of
3 × 32 × 32 in batches of 32). An epoch of each way in turns, so that noise hits all of them alike:

    bare       a plain supervised loop over the same model, batches and optimiser, in memory
    proden     the training part of an epoch of Candid's loop
    observed   a whole epoch of a run that is watched: records, history on disk, test-free metrics, and a page that
               looks at a snapshot and prepares its star plot and heatmap every 0.4 s
    whole      a whole epoch with 10,000 test examples, records and history on disk
    items      the same work as the paper's code does it: pictures one by one through torchvision's transforms and
               torch's DataLoader, the new label weights written example by example, the training pictures and the
               test pictures read once more for their accuracies (linear and mlp; with --items, two epochs)

Printed are the medians, and the ratios proden / bare, observed / proden and items / whole.
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
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from pll.candidates import CandidateSets
from pll.images import torchvision
from pll.methods.base import Task
from pll.methods.proden import PRODEN
from pll.runs.history import HistoryWriter
from pll.synthesis import flip_binomial
from pll.training.metrics import EpochRecord, Monitor
from pll.training.models import build_model
from pll.training.trainer import Optimisation, Trainer, train
from pll.ui.components.canvas import Presentation
from pll.ui.components.heatmap import heatmap_order, heatmap_payload
from pll.ui.components.star import star_payload

C, N_TEST, ITEM_EPOCHS, WORKERS = 10, 10_000, 2, 2
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
        self.y, self.y_test = rng.integers(0, C, n), rng.integers(0, C, N_TEST)
        self.X, self.X_test = (
            torch.from_numpy(rng.standard_normal((len(y), *self.shape), dtype=np.float32) + centres[y])
            for y in (self.y, self.y_test)
        )
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


def whole_epochs(work: Work, folder: Path, watched: bool) -> Iterator[float]:
    """Seconds of one whole epoch after the other, with history; with a page that looks on, or with test examples."""
    monitor = Monitor(work.sets, work.y, None if watched else work.y_test)
    history = HistoryWriter(folder, work.sets)
    page = _Page(work.sets) if watched else None
    records = train(work.trainer(), 10**6, monitor, X_test=None if watched else work.X_test)
    while True:
        if page is not None:
            page.open()
        started = time.perf_counter()
        record = next(records)
        history.append(record)
        spent = time.perf_counter() - started
        if page is not None:
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
                order = heatmap_order(record.label_weights, self.sets, sharp=record.sharpness)
                heatmap_payload(record.label_weights, self.sets, Presentation(), order=order)
            time.sleep(0.4)


Item = tuple[Tensor, Tensor, int, int]


class _Pictures(Dataset[Item]):
    """Grey pictures of 28 × 28, changed into a tensor when they are asked for, with the weights of their labels."""

    def __init__(self, X: Tensor, y: np.ndarray, weights: Tensor) -> None:
        self.pictures = ((X * 32 + 128).clamp(0, 255)).to(torch.uint8).view(-1, 28, 28).numpy()
        self.y = y.tolist()
        self.weights = weights
        transforms = torchvision().transforms
        self.change = transforms.Compose(
            [transforms.ToPILImage(), transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]
        )

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, index: int) -> Item:
        return self.change(self.pictures[index]).flatten(), self.weights[index], self.y[index], index


def item_epochs(work: Work) -> Iterator[float]:
    """Seconds of one whole epoch after the other of PRODEN on pictures that are read one by one."""
    network = work.network()
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-3)
    mask = torch.from_numpy(work.sets.mask())
    training = _Pictures(work.X, work.y, mask.float() / mask.sum(dim=1, keepdim=True))
    test = _Pictures(work.X_test, work.y_test, torch.zeros(N_TEST, C))

    def loader(pictures: _Pictures, shuffle: bool) -> DataLoader[Item]:
        return DataLoader(pictures, work.batch, shuffle=shuffle, num_workers=WORKERS)

    while True:
        started = time.perf_counter()
        network.train()
        for inputs, weights, _, indices in loader(training, shuffle=True):
            g = torch.softmax(network(inputs), dim=1)
            loss = -(weights * torch.log(g + 1e-12)).sum() / len(g)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            new = (weights > 0) * g.detach()
            new /= new.sum(dim=1, keepdim=True)
            for row, index in enumerate(indices):
                training.weights[index] = new[row]
        network.eval()
        with torch.no_grad():
            for pictures in (training, test):
                right = 0
                for inputs, _, y, _ in loader(pictures, shuffle=False):
                    right += int((network(inputs).argmax(dim=1) == y).sum())
        yield time.perf_counter() - started


def measure(model: str, epochs: int, items: bool = False) -> dict[str, float]:
    """Take turns, an epoch each; return the median seconds of each way."""
    work = Work(model)
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, Callable[[], Iterator[float]]] = {
            "bare": lambda: bare_epochs(work),
            "proden": lambda: proden_epochs(work),
            "observed": lambda: whole_epochs(work, Path(folder) / "watched", watched=True),
        }
        if model != "convnet":
            ways["whole"] = lambda: whole_epochs(work, Path(folder) / "whole", watched=False)
        running = {name: start() for name, start in ways.items()}
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(epochs + 1):
            for name, epoch in running.items():
                spent = next(epoch)
                if turn:  # the first warms up
                    seconds[name].append(spent)
        if items and "whole" in ways:
            epoch = item_epochs(work)
            seconds["items"] = [next(epoch) for _ in range(ITEM_EPOCHS)]
    return {name: median(values) for name, values in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--models", default="linear,mlp")
    parser.add_argument("--items", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{options.threads} thread(s), medians of {options.epochs} epochs")
    for model in options.models.split(","):
        found = measure(model, options.epochs, options.items)
        print(
            f"{model:7} bare {found['bare']:.3f} s   proden {found['proden']:.3f} s "
            f"({found['proden'] / found['bare']:.2f} ×)   observed {found['observed']:.3f} s "
            f"({found['observed'] / found['proden'] - 1:+.1%})",
            flush=True,
        )
        if "items" in found:
            print(
                f"whole {found['whole']:.3f} s   items {found['items']:.1f} s ({found['items'] / found['whole']:.0f} ×)"
            )


if __name__ == "__main__":
    main()
