"""model.pt2 and model.onnx run where Candid is not, on any batch, and say what `candid predict` says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from torch import Tensor, nn

from pll.export.programs import NotExportable, write_onnx, write_torch_program
from pll.export.source import ExportSource

ELSEWHERE = """
import importlib.util, json
import numpy as np, onnxruntime, torch

assert importlib.util.find_spec("pll") is None, "this test is about a machine without Candid"
found = {}
for kind in json.loads(open("kinds.json").read()):
    X = np.load(f"{kind}.npy")
    extra = {"class_names.json": ""}
    program = torch.export.load(f"{kind}.pt2", extra_files=extra).module()
    session = onnxruntime.InferenceSession(f"{kind}.onnx")
    names = json.loads(session.get_modelmeta().custom_metadata_map["class_names"])
    assert names == json.loads(extra["class_names.json"])
    for size in (1, 2, 7, len(X)):
        found[f"{kind} pt2 {size}"] = program(torch.from_numpy(X[:size])).detach().numpy()
        (found[f"{kind} onnx {size}"],) = session.run(["probabilities"], {"features": X[:size]})
np.savez("found.npz", names=np.array(names), **found)
"""

KINDS = [("linear", (5,)), ("mlp", (2, 4, 3))]


@pytest.mark.slow
def test_both_run_without_candid(sources: Callable[..., ExportSource], tmp_path: Path) -> None:
    wanted = {}
    for model, shape in KINDS:
        source = sources(model, shape)
        kind = f"{model}-{len(shape)}"
        X = (np.random.default_rng(1).normal(size=(9, *shape)) * 40 + 190).astype(np.float32)
        X.reshape(9, -1)[[0, 3, 8], [1, 0, 4]] = np.nan  # imputation is inside, too
        np.save(tmp_path / f"{kind}.npy", X)
        write_torch_program(source, tmp_path / f"{kind}.pt2")
        write_onnx(source, tmp_path / f"{kind}.onnx")
        wanted[kind] = source.estimator.predict_proba(X)
    (tmp_path / "kinds.json").write_text(json.dumps(list(wanted)))

    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=tmp_path, env=bare, check=True, timeout=120)

    with np.load(tmp_path / "found.npz") as found:
        assert tuple(found["names"]) == source.labels.candidates.class_names
        for kind, probabilities in wanted.items():
            for program in ("pt2", "onnx"):
                for size in (1, 2, 7, 9):
                    got = found[f"{kind} {program} {size}"]
                    assert got.dtype == np.float32
                    np.testing.assert_allclose(got, probabilities[:size], atol=1e-4, err_msg=f"{kind} {program} {size}")
                    np.testing.assert_array_equal(got.argmax(axis=1), probabilities[:size].argmax(axis=1))


@pytest.mark.parametrize("temperatures", [(), (0.8, 3.0)])
def test_probabilities_are_at_the_temperatures_of_the_model(
    temperatures: tuple[float, ...],
    sources: Callable[..., ExportSource],
    tmp_path: Path,
) -> None:
    source = sources()
    source.estimator.temperatures_ = temperatures
    X = source.train.X[:4]
    write_torch_program(source, tmp_path / "model.pt2")
    write_onnx(source, tmp_path / "model.onnx")
    found = torch.export.load(tmp_path / "model.pt2").module()(torch.from_numpy(X)).detach().numpy()
    (other,) = onnxruntime.InferenceSession(tmp_path / "model.onnx").run(["probabilities"], {"features": X})
    wanted = np.concatenate(list(source.estimator.iter_tempered(X)))
    for probabilities in (found, other):
        np.testing.assert_allclose(probabilities, wanted, atol=1e-4)
    plain = source.estimator.predict_proba(X)
    assert np.allclose(plain, found, atol=1e-4) == (not temperatures)


# ---- what cannot be exported ------------------------------------------------------------------------------------


class Branching(nn.Module):
    """Python decides by the data: no tracer can follow."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) if float(x.sum()) > 0 else -self.layer(x)


class Noisy(Branching):
    """Gives something else every time."""

    def forward(self, x: Tensor) -> Tensor:
        logits = self.layer(x)
        return logits + torch.randn_like(logits)


@pytest.mark.parametrize("write", [write_torch_program, write_onnx])
@pytest.mark.parametrize(
    ("network", "message"),
    [(Branching, "cannot be turned into a program"), (Noisy, "was left out: its probabilities are up to")],
)
def test_what_would_be_wrong_is_not_written(
    network: type[nn.Module],
    message: str,
    write: Callable[[ExportSource, Path], None],
    sources: Callable[..., ExportSource],
    tmp_path: Path,
) -> None:
    with pytest.raises(NotExportable, match=message):
        write(sources(network()), tmp_path / "program")
    assert not list(tmp_path.iterdir())


def test_a_network_of_ones_own_is_exported_like_any_other(sources: Callable[..., ExportSource], tmp_path: Path) -> None:
    source = sources(nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.5), nn.Tanh(), nn.Linear(8, 10)))
    write_torch_program(source, tmp_path / "model.pt2")
    X = np.full((4, 5), 200, dtype=np.float32)
    program = torch.export.load(tmp_path / "model.pt2").module()
    np.testing.assert_allclose(
        program(torch.from_numpy(X)).detach().numpy(), source.estimator.predict_proba(X), atol=1e-4
    )
