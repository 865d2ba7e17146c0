"""A private PostgreSQL for the tests: a cluster in a temporary folder, reached by a Unix socket, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

GIVEN = "PLL_TEST_POSTGRES_URL"
"""Names a server of PostgreSQL 15 or later to use instead; its user must be allowed to create databases."""

OWNER = "candid"


def binaries() -> Path | None:
    """The folder of initdb and pg_ctl, of the latest version installed; None where there is none."""
    result = shutil.which("initdb")
    if result is not None:
        return Path(result).resolve().parent
    folders = [file.parent for file in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(folders, key=lambda folder: float(folder.parent.name), default=None)


@contextmanager
def cluster() -> Iterator[str]:
    """The URL of a server that is started here and stopped at the end; the server named by `GIVEN`, where it is set."""
    if os.environ.get(GIVEN):
        yield os.environ[GIVEN]
        return
    programs = binaries()
    assert programs is not None, "ask binaries() first"
    user = _unprivileged()
    place = tempfile.gettempdir()  # a socket's path has 107 bytes at most
    folder = Path(tempfile.mkdtemp(prefix="candid-pg-", dir=place if len(place) < 40 else "/tmp"))
    try:
        if user is not None:
            shutil.chown(folder, user.pw_uid, user.pw_gid)
        data = folder / "data"
        _run(user, programs / "initdb", "-D", data, "-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        settings = f"-k {folder} -c listen_addresses='' -c max_connections=50 -c shared_buffers=16MB"
        _run(user, programs / "pg_ctl", "-D", data, "-w", "-o", settings, "-l", folder / "log", "start")
        try:
            yield f"postgresql://{OWNER}@/postgres?host={quote(str(folder), safe='')}"
        finally:
            _run(user, programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom to run it as: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _run(user: pwd.struct_passwd | None, *command: str | Path) -> None:
    who: dict[str, Any] = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    # Output goes to a file: the server inherits it, and a pipe would never end.
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(
            [str(part) for part in command], stdout=said, stderr=said, cwd="/tmp", timeout=120, check=False, **who
        )
        said.seek(0)
        assert done.returncode == 0, f"{command[0]}: {said.read().decode(errors='replace')}"
