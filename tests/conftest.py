"""What all tests share: one thread, reproducible properties, the real data where it is there, both databases."""

from __future__ import annotations

import gc
import logging
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before torch and NumPy start their pools: threads of two would spin
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # they say what a CPU computes, to the last bit; `benchmarks.gpu` is for a GPU

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.strategies import characters

from tests import postgres as servers

MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2 * 2**30:
    os.environ["TMPDIR"] = str(MEMORY)  # a run makes and replaces ten thousand files, and a disk makes it wait for each
    tempfile.tempdir = None  # it is asked for anew

logging.basicConfig(level=logging.INFO)  # what a failed test logged is shown with it, as standard error

gc.disable()  # until all tests are collected: what that makes stays, and would be looked through again and again

# Every process that a test starts, and every worker, would compile the same files again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile(
    "candid",
    deadline=None,  # the first call of a torch kernel is slow
    max_examples=12,  # `--hypothesis-profile random` tries more
    derandomize=True,  # the same examples every time: a red test stays red until somebody mends it
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("random", settings.get_profile("candid"), derandomize=False, max_examples=200)
settings.load_profile("candid")  # `pytest --hypothesis-profile random` looks for new examples


def pytest_xdist_auto_num_workers() -> int:
    """Workers of `-n auto`: one more than processors, since a test with a server or a browser mostly waits."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodeready(node: Any) -> None:
    """What Hypothesis knows of Unicode it works out for two seconds and keeps in a file: one process does it, while the
    workers look for tests, and not every worker.
    """
    characters(codec="utf-8").validate()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Libraries and tests stay: the garbage collector need not look through them each time."""
    gc.freeze()
    gc.set_threshold(20_000, 20)  # and what a test makes, twenty times less often than Python does by itself
    gc.enable()


SHARED_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real datasets beside the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the real datasets are not here ({SHARED_DATA})")
    return SHARED_DATA


@pytest.fixture(autouse=True)
def _same_draws(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Review draws its controls and seeds by chance; here every test draws the same each time, as Hypothesis does."""
    if settings.get_current_profile_name() != "random":
        monkeypatch.setattr(secrets, "randbits", Random(request.node.nodeid).getrandbits)


@pytest.fixture(autouse=True, scope="session")
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs, uploads and decisions of whoever runs the tests are neither read nor written."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PLL_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(autouse=True, scope="session")
def _one_fit() -> Iterator[None]:
    """`fit` and `evaluate` train once, without a search, where a test says no recipe; two models, not ten, say how sure
    the labels are, and twenty trees, not a hundred, what a review tells of examples that are alike.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("pll.cli.RECIPE", "default")
        patched.setattr("pll.methods.held_out.SUBSETS", 2)
        patched.setattr("pll.review.forest.TREES", 20)
        yield


@pytest.fixture
def all_held_out_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten, where a test asks how good they are."""
    monkeypatch.setattr("pll.methods.held_out.SUBSETS", 10)


@pytest.fixture
def whole_forest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred trees, where a test asks how good they are."""
    monkeypatch.setattr("pll.review.forest.TREES", 100)


@pytest.fixture
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exports leave out the two programs of the model, which take a second to trace; `tests/export` has them."""
    from pll.export.parts import EXPORTS

    for name in ("torch-program", "onnx"):  # replaced, not taken out: what is put back would be the last of them
        monkeypatch.setitem(EXPORTS, name, replace(EXPORTS[name], made_of=lambda source: None))


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT as in the foreground: what a shell starts in the background, and all that this starts, ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # becomes the default again in a child process
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a real PostgreSQL server, started for these tests."""
    if servers.binaries() is None and not os.environ.get(servers.GIVEN):
        missing = "no PostgreSQL is installed (apt-get install postgresql)"
        if os.environ.get("PLL_TEST_POSTGRES") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    with servers.cluster() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_database(postgres: str) -> Iterator[str]:
    """The URL of a database of that server, for one test after another: to make one takes longer than most tests."""
    import psycopg

    name = f"candid_{secrets.token_hex(6)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    with_options = "/postgres?" in postgres
    yield postgres.replace("/postgres?", f"/{name}?") if with_options else postgres.rsplit("/", 1)[0] + f"/{name}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database, of either kind in turn."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'reviews.sqlite3'}"
        return
    import psycopg

    url = request.getfixturevalue("postgres_database")
    yield url
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")


@pytest.fixture(scope="session")
def chromium_file() -> str:
    """The program; whoever starts a server for it asks for this first."""
    pytest.importorskip("playwright.sync_api", reason="needs playwright (requirements-dev.txt)")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("needs a Chromium on the PATH")
    return path


@pytest.fixture(scope="module")
def chromium(chromium_file: str) -> Iterator[Any]:
    """A Chromium that plays no part in other modules' event loops."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium_file, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
