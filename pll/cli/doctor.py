"""The command `doctor`: what is installed, how large it is, which device computes, and what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from pll import __version__
from pll.cli.declared import DoctorOptions
from pll.cli.output import print_result
from pll.extras import EXTRAS
from pll.paths import candid_home

CORE = (
    *("torch", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "safetensors", "pillow", "pydantic", "jinja2"),
    *("click", "tqdm", "filelock", "requests", "urllib3", "threadpoolctl", "joblib"),
)
"""What the library and the shell need; pyproject.toml has their versions."""
MB = 10**6


def doctor(_: DoctorOptions) -> None:
    """Print it, and one line of JSON."""
    import torch

    from pll.training.devices import default_threads, gpus

    core = {name: _installed(name) for name in CORE}
    parts = {extra: {name: _installed(name) for name in about.packages} for extra, about in EXTRAS.items()}
    missing, lacking = _absent(core), [extra for extra, packages in parts.items() if _absent(packages)]
    device, home = next(iter(gpus()), "CPU"), candid_home()
    built = f"CUDA {torch.version.cuda}" if torch.version.cuda else "the CPU"
    free = shutil.disk_usage(home if home.exists() else Path(home.anchor)).free
    print(f"Candid {__version__}, Python {platform.python_version()} in {sys.prefix} ({platform.machine()})")
    print(f"Device: {device}; torch is built for {built}; {default_threads()} of {os.cpu_count() or 1} cores")
    if torch.version.cuda and device == "CPU":
        print("  No GPU is usable here; torch for the CPU alone takes a tenth of the space (README, Run).")
    print(f"Home: {home}, {free / 1e9:,.1f} GB free")
    print(f"\nLibrary and shell, {_size(core):,} MB")
    for name, one in core.items():
        print(f"  {name:22}  {'missing' if one is None else f'{one[0]:14}  {one[1]:6,} MB'}")
    print("\nOptional parts")
    for extra, packages in parts.items():
        absent = _absent(packages)
        state = f"missing {', '.join(absent)}" if absent else f"{_size(packages):,} MB"
        print(f"  {extra:11}  {EXTRAS[extra].words:58}  {state}")
    if lacking:
        print(f"\nTo add one: pip install 'candid-labels[{lacking[0]}]'")
    print_result(
        version=__version__, device=device.lower(), megabytes=_size(core), missing=missing, missing_parts=lacking
    )


Packages = dict[str, tuple[str, int] | None]
"""Version and MB by name; None for what is not installed."""


def _installed(name: str) -> tuple[str, int] | None:
    """Return the version of a package, and the MB of the files that it installed."""
    try:
        one = distribution(name)
    except PackageNotFoundError:
        return None
    paths = (Path(str(one.locate_file(file))) for file in one.files or ())
    return one.version, round(sum(path.stat().st_size for path in paths if path.exists()) / MB)


def _absent(packages: Packages) -> list[str]:
    return [name for name, one in packages.items() if one is None]


def _size(packages: Packages) -> int:
    return sum(one[1] for one in packages.values() if one is not None)
