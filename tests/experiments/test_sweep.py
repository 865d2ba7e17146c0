"""Lanes repeated over seeds and values of q."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pll.catalog.sources import Source
from pll.errors import UserError
from pll.experiments.execution import run_cell
from pll.experiments.figures import q_panels
from pll.experiments.sweep import sweep
from pll.experiments.tables import tables
from pll.runs.config import RunConfig
from pll.runs.fit_loop import new_estimator
from pll.runs.lanes import lane_configs
from pll.runs.run_data import load_splits
from pll.synthesis import Flip
from pll.synthesis.label_noise import Noisy

IRIS = RunConfig(
    Source("iris"), params={"epochs": 4, "lr": 0.1}, flip=Flip("binomial", 0.3), holdout=0.2, seed=3, name="irises"
)
LANES = lane_configs(IRIS, ["proden", "proden-naive", "plknn"], {"proden-naive": {"epochs": 6}})


def test_every_fit_is_that_of_the_lane_with_its_seed_and_q() -> None:
    cells = sweep(LANES, seeds=2, qs=[0.5, 0.1]).plan().cells
    assert len(cells) == 3 * 2 * 2
    assert {cell.seed for cell in cells} == {3, 4}
    (cell,) = [c for c in cells if (c.method, c.seed, c.flip) == ("proden-naive", 4, Flip("binomial", 0.5))]
    assert dict(cell.settings) == {"epochs": 6, "lr": 0.1}
    lane = replace(LANES[1], seed=4, flip=Flip("binomial", 0.5))
    parts = load_splits(lane)
    estimator = new_estimator(lane, is_table=parts.train.kind == "table")
    rows = [record.transductive_accuracy for record in estimator.iter_fit(parts.task())]
    assert [pair[1] for pair in run_cell(cell).curve] == pytest.approx(rows, abs=1e-6)


def test_curves_over_q_have_the_mean_and_deviation_of_the_seeds() -> None:
    wanted = sweep(LANES[2:], seeds=3, qs=[0.1, 0.5])
    results = [outcome.result for cell in wanted.plan().cells if (outcome := run_cell(cell)).result]
    found = tables([one for one in results if one], methods=wanted.methods, n_fits=3)
    (panel,) = q_panels(found, transductive=True, fewest=2)
    (line,) = panel.lines
    for x, mean, deviation in zip(line.x, line.mean, line.deviation, strict=True):
        shares = [100 * float(one.transductive_accuracy or 0) for one in results if one and one.q == x]
        assert len(shares) == 3 and mean == pytest.approx(sum(shares) / 3)
        assert deviation == pytest.approx((sum((share - mean) ** 2 for share in shares) / 2) ** 0.5)


@pytest.mark.parametrize(
    ("lane", "values"),
    [
        (replace(IRIS, flip=None), {"qs": [0.1]}),
        (replace(IRIS, flip=Flip("uniform", size=2)), {"qs": [0.1]}),
        (replace(IRIS, flip=Flip("matrix", matrix=((1.0, 0.0), (0.0, 1.0)))), {}),
        (replace(IRIS, flip=None, noisy=Noisy("topk", 2)), {}),
        (IRIS, {"seeds": 0}),
        (IRIS, {"seeds": 21}),
    ],
    ids=range(6),
)
def test_what_cannot_be_repeated_is_said(lane: RunConfig, values: dict[str, object]) -> None:
    with pytest.raises(UserError):
        sweep([lane], **({"seeds": 2} | values))  # type: ignore[arg-type]  # one of them is wrong on purpose
