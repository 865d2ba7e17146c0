from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pll.errors import UserError
from pll.runs.process import PerProcess, own


def test_threads_that_ask_at_once_get_one_object() -> None:
    made: list[object] = []
    together = threading.Barrier(8)

    def make() -> object:
        made.append(object())
        return made[-1]

    shared, found = PerProcess(make), []

    def ask() -> None:
        together.wait(10)
        found.append(shared())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(made) == 1 and len(found) == 8 and set(found) == set(made)


def test_a_home_has_one_server(tmp_path: Path) -> None:
    """The second one is told which process has it; after a kill the home is free."""
    code = (
        "import sys, time; from pathlib import Path; from pll.runs.process import own; own(Path(sys.argv[1])); "
        "print('own', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as first:
        try:
            assert first.stdout is not None and first.stdout.readline() == b"own\n"
            with pytest.raises(UserError, match=f"process {first.pid} on .*PLL_HOME"):
                own(tmp_path)
        finally:
            first.kill()
    own(tmp_path)
