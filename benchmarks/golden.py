"""What the product gives, recorded and compared: the net for whoever restructures it.

    python -m benchmarks.golden record FOLDER     what this checkout gives, as files
    python -m benchmarks.golden compare FOLDER    what it gives now, beside that: exit 1 where something differs

Both take about a minute of one core. They use the public command line alone (and `pll.__all__`, `pll.METHODS`), so
what is inside may change in any way. A recording is a folder of what the commands wrote:

    names.json      the names of `pll`, the methods, the commands and their options
    fits/           labels.csv and label_weights.npz of PRODEN on digits, iris, wine, Lost and every file of
                    assets/samples, and of each other method on Lost (voting: on reviews.csv); 5 epochs, one thread
    converted/      every sample in every format (`to`), from there in its own again (`back`), and its file with the
                    labels of the run (`run`)

Where a command refuses, its message is recorded; that it refuses is compared, not the wording. Conversions must be
equal; label weights and what is computed of them, also where a run's labels are given back, equal to 1e-5, on the same
machine and with as many threads. Data that is absent (../shared/data/lost.mat) is skipped and named. What may differ is
in golden-accepted.toml beside this file, a pattern and the reason a line; each part is compared by itself, such as
`fits/lost-sure/labels.csv#confidence`.

To record an earlier commit: `git worktree add ../before COMMIT`, copy this file into its `benchmarks/`, record there.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import io
import json
import math
import os
import re
import runpy
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse
from PIL import Image

import pll
from pll.formats import FORMATS

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "assets" / "samples"
LOST = ROOT.parent / "shared" / "data" / "lost.mat"
ACCEPTED = Path(__file__).with_name("golden-accepted.toml")

SUFFIXES = {name: form.suffixes[0] for name, form in FORMATS.items()}
"""Format → how its file's name ends."""

CATALOGUE = ("digits", "iris", "wine")
FLIP = ("--flip", "binomial", "--q", "0.5")
ON_VOTES = ("majority", "dawid-skene")
SMALL = {"epochs": "5", "threads": "1", "recipe": "default"}
"""Settings of every fit, where the method has them."""
TOLERANCE = 1e-5
REFUSED = "refused.txt"


def command(*arguments: str | Path) -> tuple[int, str, str]:
    """Run `python -m pll` in this process.

    Returns
    -------
    tuple of int, str, str
        Exit status, stdout, stderr.
    """
    before, out, err = sys.argv, io.StringIO(), io.StringIO()
    sys.argv = ["pll", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module("pll", run_name="__main__")
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    finally:
        sys.argv = before
    return status, out.getvalue(), err.getvalue()


def succeeds(folder: Path, *arguments: str | Path) -> bool:
    """Run a command that writes into `folder`; where it refuses, keep why."""
    folder.mkdir(parents=True, exist_ok=True)
    status, _, error = command(*arguments)
    if status:
        (folder / REFUSED).write_text(error.strip().rpartition("\n")[2] + "\n", "utf-8")
    return status == 0


def own_format(sample: Path) -> str:
    """Return the format that a sample's name says: flowers.csv, reviews.doccano.jsonl; csv for what is only read."""
    return next((part for part in sample.name.split(".")[1:] if part in SUFFIXES), "csv")


def record(folder: Path) -> None:
    """Write what the product gives into a folder that is empty or does not exist.

    Raises
    ------
    SystemExit
        Where the folder holds something.
    """
    if folder.exists() and any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty.")
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    about = {"commit": commit(), "threads": os.environ.get("OMP_NUM_THREADS"), "skipped": skipped()}
    (folder / "about.json").write_text(json.dumps(about, indent=1), "utf-8")
    (folder / "names.json").write_text(json.dumps(names(), indent=1), "utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["PLL_HOME"] = str(Path(scratch) / "home")
        for sample in sorted(SAMPLES.iterdir()):
            convert(sample, folder / "converted" / sample.name)
        for run, data, method, options in fits():
            fit(folder, run, data, method, options, Path(scratch))
    print(f"{time.perf_counter() - began:.0f} s: {folder}", *skipped(), sep="\n")


def commit() -> str:
    """Return the commit of this checkout, as git describes it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return described.stdout.strip()


def skipped() -> list[str]:
    """Return a sentence for each data set that is absent."""
    return [] if LOST.exists() else [f"Skipped, for it is absent: {LOST}; other methods are fitted on wine."]


def names() -> dict[str, Any]:
    """Return the public names: of Python, of the methods, and of the options of each command."""
    commands = re.findall(r"^  ([a-z]+)(?:  |$)", command("--help")[1].partition("Commands:")[2], re.M)
    options = {
        name: _found(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", command(name, "--help")[1], re.M)) for name in commands
    }
    return {"pll": _found(pll.__all__), "methods": _found(pll.METHODS), "commands": options}


def _found(names: Iterable[str]) -> dict[str, bool]:
    """Return names as keys, so that each is compared by itself."""
    return dict.fromkeys(sorted(names), True)


def convert(sample: Path, folder: Path) -> None:
    """Write a sample in every format, and from there in its own again."""
    own = own_format(sample)
    for name, suffix in SUFFIXES.items():
        there, back = folder / name / "to", folder / name / "back"
        if succeeds(there, "convert", sample, "--to", name, "--out", there / f"data{suffix}"):
            succeeds(back, "convert", there / f"data{suffix}", "--to", own, "--out", back / f"data{SUFFIXES[own]}")


def fits() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield name, data, method and options of each fit."""
    for name in CATALOGUE:
        yield f"{name}-proden", name, "proden", FLIP
    for sample in sorted(SAMPLES.iterdir()):
        yield f"{sample.name}-proden", str(sample), "proden", ()
    one = ("lost", str(LOST), ()) if LOST.exists() else ("wine", "wine", FLIP)
    for method in sorted(pll.METHODS):
        name, data, options = ("reviews.csv", str(SAMPLES / "reviews.csv"), ()) if method in ON_VOTES else one
        if (name, method) != ("wine", "proden"):
            yield f"{name}-{method}", data, method, options


def fit(folder: Path, name: str, data: str, method: str, options: tuple[str, ...], scratch: Path) -> None:
    """Fit, and keep the labels and the label weights; of a sample also its file with the labels in it."""
    settings = pll.METHODS[method]().get_params() if method in pll.METHODS else {}
    words = [word for key, value in SMALL.items() if key in settings for word in (f"--{key}", value)]
    words += ["--recipe", "default"] if "recipe" in settings else []
    run, out, there = scratch / name, scratch / f"{name}-export", folder / "fits" / name
    if not succeeds(there, "fit", data, "--method", method, *options, *words, "--seed", "0", "--out", run):
        return
    if succeeds(there, "export", run, "--out", out):
        for file in ("labels.csv", "label_weights.npz"):
            (there / file).write_bytes((out / file).read_bytes())
    if Path(data).parent == SAMPLES and method == "proden":
        own = own_format(Path(data))
        back = folder / "converted" / Path(data).name / "run"
        succeeds(back, "convert", run, "--to", own, "--out", back / f"data{SUFFIXES[own]}")


def arrays(path: Path) -> Any:
    """Return what a file holds, read without Candid: arrays by name, or JSON."""
    return READERS.get(path.suffix, _words)(path)


def _text(path: Path | io.BytesIO, separator: str) -> dict[str, Any]:
    table = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    return {str(name): column.to_numpy(str) for name, column in table.items()}


def _zip(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return {name: _member(name, archive.read(name)) for name in archive.namelist() if not name.endswith("/")}


def _member(name: str, data: bytes) -> Any:
    if name.endswith(".png"):
        return np.asarray(Image.open(io.BytesIO(data)))
    return _text(io.BytesIO(data), ",") if name.endswith(".csv") else data.decode("utf-8").splitlines()


def _words(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": lambda path: _text(path, ","),
    ".tsv": lambda path: _text(path, "\t"),
    ".parquet": lambda path: pd.read_parquet(path).to_dict("list"),
    ".xlsx": lambda path: pd.read_excel(path, dtype=str, keep_default_na=False).to_dict("list"),
    ".json": lambda path: json.loads(path.read_text("utf-8")),
    ".jsonl": _lines,
    ".npz": lambda path: dict(np.load(path)),
    ".mat": lambda path: {name: value for name, value in scipy.io.loadmat(path).items() if not name.startswith("__")},
    ".zip": _zip,
    ".txt": lambda path: "refused",
}


def compare(folder: Path) -> int:
    """Print what differs from a recording.

    Returns
    -------
    int
        How many parts differ that golden-accepted.toml does not name.
    """
    accepted = tomllib.loads(ACCEPTED.read_text("utf-8"))
    about = json.loads((folder / "about.json").read_text("utf-8"))
    if about["threads"] != os.environ.get("OMP_NUM_THREADS"):
        print(f"The recording was made with OMP_NUM_THREADS={about['threads']}: label weights may differ.")
    unexpected, used = 0, dict.fromkeys(accepted, 0)
    with tempfile.TemporaryDirectory() as scratch:
        now = Path(scratch) / "now"
        record(now)
        for part, sentence in differences(folder, now):
            pattern = next((pattern for pattern in accepted if fnmatch.fnmatchcase(part, pattern)), None)
            if pattern is None:
                unexpected += 1
                print(f"{part}: {sentence}")
            else:
                used[pattern] += 1
    for pattern, count in used.items():
        print(f"accepted, {count} × {pattern}: {accepted[pattern]}")
    print(f"{unexpected} differences from {about['commit']} that nobody accepted, {sum(used.values())} accepted.")
    return unexpected


def differences(before: Path, now: Path) -> Iterator[tuple[str, str]]:
    """Yield what differs between two recordings: the part, and a sentence."""
    files = {path.relative_to(root) for root in (before, now) for path in root.rglob("*") if path.is_file()}
    for file in sorted(files - {Path("about.json")}):
        if not (before / file).exists():
            yield str(file), "is new: " + _reason(now / file)
        elif not (now / file).exists():
            yield str(file), "is gone"
        else:
            is_of_fit = file.parts[0] == "fits" or "run" in file.parts
            tolerance = TOLERANCE if is_of_fit else 0.0
            yield from _parts(str(file), arrays(before / file), arrays(now / file), tolerance)


def _reason(path: Path) -> str:
    return path.read_text("utf-8").strip() if path.name == REFUSED else "a file"


def _parts(part: str, before: Any, now: Any, tolerance: float) -> Iterator[tuple[str, str]]:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in [*before, *(name for name in now if name not in before)]:
            if name not in now:
                yield f"{part}#{name}", "is gone"
            elif name not in before:
                yield f"{part}#{name}", "is new"
            else:
                yield from _parts(f"{part}#{name}", before[name], now[name], tolerance)
    elif sentence := _unequal(before, now, tolerance):
        yield part, sentence


def _unequal(before: Any, now: Any, tolerance: float) -> str:
    """Return what differs between two values that are no mappings, or an empty string."""
    before, now = (value.toarray() if scipy.sparse.issparse(value) else value for value in (before, now))
    if isinstance(before, np.ndarray) and isinstance(now, np.ndarray):
        return _unequal_arrays(before, now, tolerance)
    first, second = (json.dumps(value, sort_keys=True, default=_plain) for value in (before, now))
    if first == second or (tolerance and _alike(before, now, tolerance)):
        return ""
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        at = next(i for i, (a, b) in enumerate(zip(before, now, strict=True)) if _unequal(a, b, tolerance))
        return f"entry {at} of {len(before)}: {_short(before[at])} → {_short(now[at])}"
    return f"{first[:80]} → {second[:80]}"


def _alike(before: Any, now: Any, tolerance: float) -> bool:
    """Return whether two values of JSON are the same, but for numbers that differ by `tolerance` at most."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return before.keys() == now.keys() and all(_alike(before[name], now[name], tolerance) for name in before)
    if isinstance(before, list | tuple) and isinstance(now, list | tuple):
        return len(before) == len(now) and all(_alike(a, b, tolerance) for a, b in zip(before, now, strict=True))
    try:
        return math.isclose(float(before), float(now), rel_tol=0, abs_tol=tolerance)
    except (TypeError, ValueError):
        return bool(before == now)


def _short(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)[:200]


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _unequal_arrays(before: np.ndarray[Any, Any], now: np.ndarray[Any, Any], tolerance: float) -> str:
    if before.shape != now.shape:
        return f"shape {before.shape} → {now.shape}"
    first, second = (_numbers(array) if tolerance else array for array in (before, now))
    if first.dtype.kind == second.dtype.kind == "f":
        apart = ~np.isclose(first, second, rtol=0, atol=tolerance, equal_nan=True)
        largest = f", by {np.nanmax(np.abs(first - second)):.2g} at most" if apart.any() else ""
    else:
        apart, largest = np.asarray(first != second), ""
    if not apart.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(apart)[0])
    return f"{np.count_nonzero(apart)} of {apart.size} differ{largest}; the first {before[at]!s:.80} → {now[at]!s:.80}"


def _numbers(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a column of words as numbers, where it holds numbers only."""
    with contextlib.suppress(ValueError):
        return array.astype(np.float64)
    return array


def main() -> int:
    """Run `record` or `compare`."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.golden", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    if chosen.what == "record":
        record(chosen.folder)
        return 0
    return int(compare(chosen.folder) > 0)


if __name__ == "__main__":
    sys.exit(main())
