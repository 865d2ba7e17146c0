"""The command `doctor`: what is installed, how large it is, which device computes, and what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from pll import __version__
from pll.cli.declared import DoctorOptions
from pll.cli.options import print_result
from pll.extras import EXTRAS
from pll.paths import candid_home

CORE = (
    *("torch", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "safetensors", "pillow", "pydantic", "jinja2"),
    *("click", "tqdm", "filelock", "requests", "urllib3", "threadpoolctl", "joblib"),
)
"""What the library and the shell need; pyproject.toml has their versions."""
MB = 10**6


def doctor(options: DoctorOptions) -> None:
    """Print it, and one line of JSON."""
    import torch

    from pll.devices import default_threads, gpus

    found = {name: _found(name) for name in CORE}
    sizes = {name: _size(one) for name, one in found.items() if one is not None}
    print(f"Candid {__version__}, Python {platform.python_version()} in {sys.prefix} ({platform.machine()})")
    devices = gpus()
    built = f"CUDA {torch.version.cuda}" if torch.version.cuda else "the CPU"
    cores = os.cpu_count() or 1
    device = devices[0] if devices else "CPU"
    print(f"Device: {device}; torch is built for {built}; {default_threads()} of {cores} cores")
    if torch.version.cuda and not devices:
        print("  No GPU is usable here; torch for the CPU alone takes a tenth of the space (README, Run).")
    home = candid_home()
    there = home if home.exists() else Path(home.anchor)
    print(f"Home: {home}, {shutil.disk_usage(there).free / 1e9:,.1f} GB free")
    print(f"\nLibrary and shell, {sum(sizes.values()):,} MB")
    for name, one in found.items():
        print(f"  {name:22}  {'missing' if one is None else f'{one.version:14}  {sizes[name]:6,} MB'}")
    missing = [name for name, one in found.items() if one is None]
    lacking = []
    print("\nOptional parts")
    for extra, about in EXTRAS.items():
        parts = {name: _found(name) for name in about.packages}
        absent = [name for name, one in parts.items() if one is None]
        lacking += [extra] * bool(absent)
        state = f"missing {', '.join(absent)}" if absent else f"{sum(map(_size, filter(None, parts.values()))):,} MB"
        print(f"  {extra:11}  {about.words:58}  {state}")
    if lacking:
        print(f"\nTo add one: pip install 'candid-labels[{lacking[0]}]'")
    print_result(
        version=__version__,
        device=device.lower(),
        megabytes=sum(sizes.values()),
        missing=missing,
        missing_parts=lacking,
    )


def _found(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _size(one: Distribution) -> int:
    """MB of the files that the package installed."""
    paths = (Path(str(one.locate_file(file))) for file in one.files or ())
    return round(sum(path.stat().st_size for path in paths if path.exists()) / MB)
