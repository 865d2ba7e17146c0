"""The figures that the notes of docs/results.md give on top of its tables: `python -m benchmarks.results_probes`.

Prints test and transductive accuracy, mean ± standard deviation over the five folds of a seed (digits: over five
seeds). Needs the datasets, as `benchmarks.results` does. About three minutes on one core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from benchmarks.results import PAPER, Setting, cells_of
from pll import catalog
from pll.experiments.execution import fit_cell
from pll.methods.ga import complementary_shares


@dataclass(frozen=True)
class Probe:
    """One method on one table with settings of its own.

    Parameters
    ----------
    logarithms
        Of the features' sizes instead of the features: sign(x) log(1 + |x|).
    seeds
        Of folds, sets and method; digits has its five in one.
    """

    setting: Setting
    method: str
    given: dict[str, Any] = field(default_factory=dict)
    logarithms: bool = False
    seeds: Sequence[int] = (0,)


SYNTHETIC = "synthetic-control"
PROBES = (
    Probe(Setting("digits", "binomial", 0.1), "plsvm", {"lam": 1.0, "scale": "none"}),
    Probe(Setting(SYNTHETIC, "binomial", 0.7), "plsvm", {"starts": 1}),
    Probe(Setting("yeast", "pair", 0.9), "clpl", {"C": 1e-3}),
    Probe(Setting(SYNTHETIC, "pair", 0.5), "clpl", {"C": 1e-3}),
    Probe(Setting(SYNTHETIC, "pair", 0.9), "clpl", {"C": 1e-3}),
    Probe(Setting("lost"), "clpl", seeds=range(11)),
    *(Probe(Setting("birdsong"), "clpl", {"C": C}) for C in (0.1, 1.0, 10.0)),
    Probe(Setting("birdsong"), "clpl", logarithms=True),
    Probe(Setting("yeast", "binomial", 0.7), "sure", {"lam": 0.05, "beta": 0.3, "kernel": "linear"}),
    Probe(Setting("dermatology", "binomial", 0.7), "sure", {"lam": 0.05, "beta": 0.3, "kernel": "linear"}),
    Probe(Setting("lost"), "ecoc", seeds=range(5)),
    Probe(Setting("birdsong"), "ecoc", {"kernel": "linear"}, seeds=range(3)),
    Probe(
        Setting(SYNTHETIC, "pair", 0.9), "proden", PAPER[SYNTHETIC] | {"epochs": 500, "batch_size": 100}, seeds=(1, 2)
    ),
)


def figures(probe: Probe, seed: int) -> str:
    """Test and transductive accuracy of one seed, in percent."""
    data = catalog.load(probe.setting.dataset)
    if probe.logarithms:
        data = replace(data, X=(np.sign(data.X) * np.log1p(np.abs(data.X))).astype(np.float32))

    cells = [replace(cell, settings=probe.given) for cell in cells_of(probe.setting, probe.method)]
    if cells[0].folds is not None:
        cells = [replace(cell, seed=seed) for cell in cells]
    results = [fit_cell(cell, data)[0] for cell in cells]
    test, transductive = (
        np.array([getattr(result, what) for result in results], dtype=np.float64) * 100
        for what in ("test_accuracy", "transductive_accuracy")
    )
    return f"test {test.mean():.2f} ± {test.std(ddof=1):.2f}  transductive {transductive.mean():.2f}"


def main() -> None:
    torch.set_num_threads(1)
    for name in ("lost", "birdsong"):
        data = catalog.load(name)
        shares = (data.n_classes - 1) * complementary_shares(data.sets())
        uneven = f"above 1 for {int((shares > 1).sum())} of {len(shares)} classes"
        print(f"{name}: (c − 1) π_k up to {shares.max():.2f}, {uneven}")
    for probe in PROBES:
        for seed in probe.seeds:
            what = f"{probe.setting.title}: {probe.method} {probe.given or ''}{' of logarithms' * probe.logarithms}"
            print(f"{what} seed {seed}: {figures(probe, seed)}", flush=True)


if __name__ == "__main__":
    main()
