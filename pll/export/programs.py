"""The fitted model as a program that runs without Candid: a `torch.export` program, and ONNX.

Both take raw features (B, …) float32 under the name `features`, any B from 1, NaN for a missing value, and give
`probabilities` (B, c) float32, those of `candid predict`. Scaling, imputation and the temperatures are inside; the
class names travel in the file.
"""

from __future__ import annotations

import copy
import importlib.util
import io
import json
import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pll.errors import UserError, first_line
from pll.export.source import ExportSource
from pll.extras import require_extra
from pll.io import write_bytes
from pll.training.scaling import Scaling

INPUT = "features"
OUTPUT = "probabilities"
BATCH_AXIS = "batch"
CLASS_NAMES_KEY = "class_names"
"""Under this name in the ONNX metadata, and as `class_names.json` among the extra files of the torch program."""

PROBABILITY_TOLERANCE = 1e-4
"""How far a program's probabilities may be from those of `candid predict`; more below temperature 1, by as much."""

_EXAMPLES = 3
"""Rows to trace with: torch specialises batches of 0 or 1."""

_one_at_a_time = threading.Lock()  # tracing and warning filters are states of the whole process


class NotExportable(UserError):
    """This model or installation cannot write this file; the message says why."""


class Probabilities(nn.Module):
    """Raw features → class probabilities, in one module.

    Parameters
    ----------
    model
        Raw features → logits.
    temperatures
        What divides the logits: the mean of the probabilities is returned. () where that is not known.
    """

    def __init__(self, model: nn.Module, temperatures: tuple[float, ...] = ()) -> None:
        super().__init__()
        self.model = model
        self.temperatures = temperatures or (1.0,)

    def forward(self, features: Tensor) -> Tensor:
        """(B, …) → (B, c)."""
        logits = self.model(features)
        return torch.stack([torch.softmax(logits / one, dim=1) for one in self.temperatures]).mean(dim=0)


def why_no_program(source: ExportSource) -> str | None:
    """Why this method cannot be such a program, or None where it can."""
    if source.estimator.module() is None:
        return f"{source.estimator.title} is not a network; use model.safetensors with Candid to predict."
    return None


def why_no_onnx(source: ExportSource) -> str | None:
    """Return `why_no_program`, or which package to install."""
    try:
        require_extra("onnx", "onnxscript")
    except UserError as error:
        return str(error)
    return why_no_program(source)


def write_torch_program(source: ExportSource, path: Path) -> None:
    """A program for `torch.export.load`.

    Parameters
    ----------
    source
        What is exported.
    path
        Where to write.

    Raises
    ------
    NotExportable
        The model cannot be traced, or the program does not agree with `iter_tempered`.
    """
    model = _probabilities(source)
    example = _example(source, model)
    with _tracing("torch.export"):
        batch = {INPUT: {0: torch.export.Dim(BATCH_AXIS)}}
        program = torch.export.export(model, (example,), dynamic_shapes=batch)
        for node in program.graph.nodes:
            node.meta.pop("stack_trace", None)  # paths of this machine stay out of the export
        names = {f"{CLASS_NAMES_KEY}.json": json.dumps(source.estimator.class_names_)}
        packed = io.BytesIO()
        torch.export.save(program, packed, extra_files=names)
        packed.seek(0)
        with torch.inference_mode():
            result = torch.export.load(packed).module()(example).numpy()
    _check_agreement(source, example, result, "torch program")
    write_bytes(path, packed.getvalue())


def write_onnx(source: ExportSource, path: Path) -> None:
    """One ONNX file, weights inside.

    Parameters
    ----------
    source
        What is exported.
    path
        Where to write.

    Raises
    ------
    NotExportable
        The model cannot be traced or has no ONNX form, packages are missing, or the program does not agree with
        `iter_tempered` (checked where onnxruntime is installed).
    """
    model = _probabilities(source)
    example = _example(source, model)
    with _tracing("ONNX"):
        program = torch.onnx.export(
            model,
            (example,),
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_shapes={INPUT: {0: BATCH_AXIS}},
            dynamo=True,
            external_data=False,
            verbose=False,
        )
        assert program is not None  # it is for dynamo=True
        for node in program.model.graph.all_nodes():
            node.metadata_props.clear()  # stack traces, with paths of this machine
        program.model.metadata_props[CLASS_NAMES_KEY] = json.dumps(source.estimator.class_names_)
        packed = program.model_proto.SerializeToString()
    if importlib.util.find_spec("onnxruntime") is not None:
        _check_agreement(source, example, _run_onnx(packed, example), "ONNX program")
    write_bytes(path, packed)


def _probabilities(source: ExportSource) -> Probabilities:
    module = source.estimator.module()
    assert module is not None  # `why_no_program` was asked
    model = Probabilities(copy.deepcopy(module).cpu(), source.estimator.temperatures_)
    return model.eval().requires_grad_(False)


def _example(source: ExportSource, model: nn.Module) -> Tensor:
    """Return a few examples like those of training: noise around the means of the scaling, in the units of the data."""
    noise = torch.randn((_EXAMPLES, *source.train.input_shape), generator=torch.Generator().manual_seed(0))
    scaling = next((part for part in model.modules() if isinstance(part, Scaling)), None)
    return noise if scaling is None else scaling.typical(noise)


def _run_onnx(packed: bytes, example: Tensor) -> npt.NDArray[np.float32]:
    import onnxruntime

    session = onnxruntime.InferenceSession(packed, providers=["CPUExecutionProvider"])
    (probabilities,) = session.run([OUTPUT], {INPUT: example.numpy()})
    result: npt.NDArray[np.float32] = probabilities
    return result


def _check_agreement(source: ExportSource, example: Tensor, outputs: npt.NDArray[np.float32], what: str) -> None:
    """Refuse a program whose predictions differ from those of the page."""
    wanted = np.concatenate(list(source.estimator.iter_tempered(example.numpy())))
    apart = float(np.abs(outputs - wanted).max())
    tolerance = PROBABILITY_TOLERANCE / min((1.0, *source.estimator.temperatures_))
    if not apart <= tolerance:  # NaN is not
        raise NotExportable(
            f"The {what} was left out: its probabilities are up to {apart:.2g} from those of the model "
            f"({tolerance:.2g} is allowed). Chance in forward(), or very large scores, are the usual causes."
        )


@contextmanager
def _tracing(what: str) -> Iterator[None]:
    """Around a tracer: quiet, alone, and with its errors in words."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "torch.export", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        try:
            yield
        except Exception as error:  # tracers raise nearly anything over a network they cannot follow
            reason = first_line(error)
            raise NotExportable(
                f"This network cannot be turned into a program by {what} ({reason}). "
                "Data-dependent Python code in its forward() is the usual cause."
            ) from error
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
