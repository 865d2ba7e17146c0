"""Check the exported model: `python check.py`. Check features of your own: `python check.py FEATURES.npy`.

Compares the probabilities of model.onnx and model.pt2 with those in check.npz (what the model gave when it was
exported), and says whether features have the scale of those of training. Needs NumPy and ONNX Runtime or PyTorch.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np

TOLERANCE = 1e-4
HERE = Path(__file__).resolve().parent


def programs(features):
    """Probabilities by the name of the file that gave them."""
    found = {}
    if (HERE / "model.onnx").exists() and importlib.util.find_spec("onnxruntime"):
        import onnxruntime

        session = onnxruntime.InferenceSession(str(HERE / "model.onnx"), providers=["CPUExecutionProvider"])
        (found["model.onnx"],) = session.run(["probabilities"], {"features": features})
    if (HERE / "model.pt2").exists() and importlib.util.find_spec("torch"):
        import torch

        program = torch.export.load(HERE / "model.pt2").module()
        with torch.no_grad():
            found["model.pt2"] = program(torch.from_numpy(features)).numpy()
    return found


def out_of_range(features, known):
    """What is unlike training, in words; None where nothing is."""
    least, most, usual = known["minimum"], known["maximum"], known["deviation"]
    axis = 0 if usual.ndim else None
    with np.errstate(all="ignore"):
        low, high = np.nanmin(features, axis=axis), np.nanmax(features, axis=axis)
        ratio = np.sqrt(np.nanmean((np.nanstd(features, axis=axis)[usual > 0] / usual[usual > 0]) ** 2))
    width = most - least
    spans = f"{np.nanmin(low):g} to {np.nanmax(high):g}, in training {np.min(least):g} to {np.max(most):g}"
    if np.any((usual > 0) & ((low < least - width) | (high > most + width))):
        return f"values far outside those of training ({spans})"
    if (not usual.ndim or len(features) >= 20) and ratio < 1 / 4:
        return f"values that vary {ratio:.2g} times as much as in training ({spans})"
    return None


def main():
    with np.load(HERE / "check.npz") as arrays:
        known = {name: arrays[name] for name in arrays.files}
    if len(sys.argv) > 1:
        features = np.load(sys.argv[1]).astype(np.float32)
        if features.shape[1:] != known["features"].shape[1:]:
            return (
                f"{sys.argv[1]}: examples of shape {features.shape[1:]}; the model takes {known['features'].shape[1:]}."
            )
        unlike = out_of_range(features, known)
        if unlike:
            return f"{sys.argv[1]}: {unlike}. Is the scale another one?"
        print(f"{sys.argv[1]}: like the features of training.")
        return None
    found = programs(known["features"])
    if not found:
        return "Nothing to check: needs model.onnx and onnxruntime, or model.pt2 and torch."
    for name, probabilities in found.items():
        apart = float(np.abs(probabilities - known["probabilities"]).max())
        if not apart <= TOLERANCE:
            return f"{name}: probabilities are up to {apart:.2g} from those expected."
        print(f"{name}: as expected on {len(probabilities)} examples.")
    return None


if __name__ == "__main__":
    sys.exit(main())
