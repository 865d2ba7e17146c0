"""What a test that waits too long is told."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest

from tests.browser.conftest import Serve, Server
from tests.run_helpers import wait_for

pytestmark = pytest.mark.slow


def test_a_server_writes_the_stacks_of_its_threads_and_goes_on(
    serve: Serve, servers: list[Server], tmp_path: Path
) -> None:
    script = tmp_path / "hello.py"
    script.write_text("import streamlit as st; st.write('hello')")
    url = serve(script)
    servers[-1].write_stacks()
    wait_for(lambda: "most recent call first" in servers[-1].log.read_text("utf-8"), "the stacks")
    with urllib.request.urlopen(f"{url}/_stcore/health", timeout=30) as answer:
        assert answer.status == 200
