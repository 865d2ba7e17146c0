"""requirements.lock names what requirements.txt pins, at the same versions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)


def _pins(text: str) -> dict[str, str]:
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in PIN.findall(text)}


def test_every_line_of_the_requirements_is_a_pin() -> None:
    lines = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if not PIN.match(line)] == []


def test_the_lock_has_every_pinned_package_at_the_same_version() -> None:
    wanted, locked = (_pins((ROOT / name).read_text()) for name in ("requirements.txt", "requirements.lock"))
    assert {name: version for name, version in wanted.items() if locked.get(name) != version} == {}
