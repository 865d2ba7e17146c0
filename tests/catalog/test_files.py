from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pll.catalog.entry import Checksum, Need
from pll.catalog.files import checksum_of, have, locate, verify
from pll.errors import UserError

from .helpers import file_of

HELLO = b"hello\n"
SUMS = {  # of HELLO, from md5sum, sha256sum and git hash-object
    "md5": "b1946ac92492d2347c6235b4d2611184",
    "sha256": "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
    "git-blob": "ce013625030ba8dba906f756967f9e9ca394464a",
}


def put(path: Path, content: bytes = HELLO) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("place", ["toy/toy.data", "toy.data", "TOY/Toy.Data", "unpacked/toy.data", "toy/other.data"])
def test_files_put_by_hand_are_found(cache: Path, place: str) -> None:
    path = put(cache / place)
    result = locate(file_of(other_names=("other.data",)))
    assert result is not None and result.samefile(path)


@pytest.mark.parametrize("kind", list(SUMS))
def test_checksums_are_those_of_the_usual_tools(tmp_path: Path, kind: Any) -> None:
    path = put(tmp_path / "hello")
    assert checksum_of(path, kind) == SUMS[kind]


def test_another_file_is_refused_with_both_checksums_and_the_remedy(tmp_path: Path) -> None:
    path = put(tmp_path / "toy.data", b"another\n")
    with pytest.raises(UserError) as raised:
        verify(path, file_of(checksum=Checksum("md5", SUMS["md5"])))
    message = str(raised.value)
    assert f"{path} is not the published file: its MD5 is " in message
    assert f"it should be {SUMS['md5']}" in message
    assert "Delete it and load again" in message and "http://toy.example" in message


def test_the_first_complete_way_is_used(cache: Path) -> None:
    one, two, three = file_of("one"), file_of("two"), file_of("three")
    need = Need(((one, two), (three,)))
    put(cache / "toy" / "one")
    assert have(need) is None
    put(cache / "toy" / "three")
    assert have(need) == {"three": cache / "toy" / "three"}
    put(cache / "toy" / "two")
    assert have(need) == {"one": cache / "toy" / "one", "two": cache / "toy" / "two"}
