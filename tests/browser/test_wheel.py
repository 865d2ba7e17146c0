"""The wheel, installed into an empty environment: the shell, Python and the first page work there."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.wheel,
    pytest.mark.slow,
    pytest.mark.timeout(3600),  # the first test waits for pip: ten minutes beside other work
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    (built,) = folder.glob("*.whl")
    return built


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


class Installed:
    """An environment with the wheel in it, and an empty folder to work in."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.wheel = wheel
        self.venv = folder / "venv"
        self.work = folder / "work"
        self.work.mkdir()
        venv.create(self.venv, with_pip=True)
        self.pins = folder / "constraints.txt"  # the tested versions; extras may not stand in constraints
        pinned = (ROOT / "requirements.txt").read_text("utf-8")
        self.pins.write_text(re.sub(r"\[[^]]*\]", "", pinned), "utf-8")

    def install(self) -> None:
        # torch first and by its exact version, as requirements.txt has it: a plain `torch` may bring CUDA packages.
        torch = re.search(r"^torch==\S+", self.pins.read_text("utf-8"), re.MULTILINE)
        assert torch is not None
        pip = [self.venv / "bin" / "pip", "install", "-q", "--disable-pip-version-check"]
        for what in (torch.group(0), f"{self.wheel}[app]"):
            subprocess.run([*pip, "-c", self.pins, what], check=True, capture_output=True, timeout=1200)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        env |= {"PLL_HOME": str(self.work / "home"), "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            [str(self.venv / "bin" / command[0]), *command[1:]],
            cwd=self.work,
            env=env,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    result = Installed(tmp_path_factory.mktemp("installed"), wheel)
    result.install()
    print(f"\nwheel {wheel.stat().st_size / 1e6:.2f} MB, environment {size_of(result.venv) / 1e6:.0f} MB")
    return result


def test_the_wheel_holds_one_package_with_pages_and_assets(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"pll"}
    for needed in (
        "py.typed",
        "app/app.py",
        "app/pages/home.py",
        "app/assets/logo.svg",
        "app/.streamlit/config.toml",
    ):
        assert f"pll/{needed}" in names
    assert any(name.startswith("pll/app/assets/samples/") for name in names)


@pytest.mark.parametrize("script", ["candid", "candid-labels"])
def test_the_shell_and_python_work(installed: Installed, script: str) -> None:
    fitted = installed.run(
        *(script, "fit", "digits", "--flip", "binomial", "--q", "0.3", "--epochs", "2", "--out", f"run-{script}")
    )
    assert fitted.returncode == 0, fitted.stderr
    assert (installed.work / f"run-{script}" / "labels.csv").is_file()
    python = installed.run("python", "-c", "from pll import PRODEN; print(PRODEN.__name__)")
    assert python.stdout.strip() == "PRODEN", python.stderr
    exported = installed.run(script, "export", f"run-{script}", "--out", f"out-{script}")
    assert exported.returncode == 0, exported.stderr
    assert "candid-labels[onnx]" in exported.stdout + exported.stderr  # the one file that needs an extra says so


@pytest.fixture(scope="module")
def server(installed: Installed) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = dict(os.environ) | {
        "PLL_HOME": str(installed.work / "home"),
        "STREAMLIT_SERVER_PORT": str(port),
        "STREAMLIT_SERVER_HEADLESS": "true",
    }
    env.pop("PYTHONPATH", None)
    process = subprocess.Popen([installed.venv / "bin" / "candid"], cwd=installed.work, env=env)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(1200):
            assert process.poll() is None
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.browser
def test_candid_opens_its_pages_from_any_folder(server: str, new_page: Callable[..., Any]) -> None:
    page = new_page(color_scheme="light")
    began = time.monotonic()
    page.goto(server)
    page.get_by_role("button", name="Watch it work").wait_for(timeout=60_000)
    print(f"\nfirst page {time.monotonic() - began:.1f} s after it was asked for")
    for name in ("data", "train", "review"):  # asked for first, without the home page before
        page.goto(f"{server}/{name}")
        page.get_by_test_id("stHeading").first.wait_for(timeout=60_000)
        assert page.get_by_test_id("stException").count() == 0
    colour = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stHeader]')).backgroundColor")
    assert colour == "rgb(255, 255, 255)"  # [theme.light] of config.toml
