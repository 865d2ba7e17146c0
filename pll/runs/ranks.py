"""One run in several processes, which torchrun has started: rank 0 trains it, the others `follow`."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from pll.errors import UserError, explain
from pll.io import from_json
from pll.methods.deep import DeepEstimator
from pll.runs.config import RunConfig, new_estimator
from pll.runs.folder import RunFolder
from pll.runs.run_data import splits_of
from pll.training.distributed import Ranks


def send_run(ranks: Ranks, folder: RunFolder, config: RunConfig, fingerprint: str) -> None:
    """On rank 0: let the others read the data and make their trainers, as they do in `follow`.

    Parameters
    ----------
    ranks
        The processes.
    folder
        Of the run.
    config
        With the settings that the estimator has here.
    fingerprint
        Of the data.

    Raises
    ------
    UserError
        One of them cannot.
    """
    ranks.broadcast({"folder": str(folder.path.resolve()), "run": asdict(config), "fingerprint": fingerprint})
    ranks.agree(None)


def follow(ranks: Ranks) -> None:
    """On a rank other than 0: train what rank 0 trains, until it ends.

    Raises
    ------
    UserError
        This rank does not have the same data, or another rank has ended.
    """
    message = ranks.broadcast(None)
    if message is None:  # rank 0 has nothing to train
        return
    estimator, task, problem = None, None, None
    try:
        config = from_json(RunConfig, message["run"])
        splits = splits_of(RunFolder(Path(message["folder"])))
        if splits.identity != message["fingerprint"]:
            raise UserError(f"{splits.train.name} is not the data that rank 0 has read.")
        estimator = new_estimator(config, is_table=splits.train.kind == "table")
        task = replace(splits.task(), X_test=None, y_test=None)
        del splits
    except Exception as error:  # rank 0 says it
        problem = explain(error)
    ranks.agree(problem)
    assert isinstance(estimator, DeepEstimator) and task is not None
    estimator.follow(task, ranks)
