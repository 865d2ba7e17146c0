"""Orders between processes: each is for one holder, taken once, in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pll.errors import UserError
from pll.runs import control
from pll.runs.folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    made = RunFolder(tmp_path / "run")
    made.lock()
    yield made
    made.unlock()


def test_requests_are_taken_once_oldest_first_by_the_one_they_are_for(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "ANSWER", 0.0)
    holder = control.announce(folder.path, "run", takes=control.ALL)
    assert control.holder_of(folder.path) == holder
    with pytest.raises(UserError, match="has not answered"):
        control.send(folder.path, holder, "step", epochs=5)
    with pytest.raises(UserError, match="has not answered"):
        control.send(folder.path, holder, "stop")
    assert [(order.what, order.epochs) for order in control.take(folder.path, holder)] == [("step", 5), ("stop", None)]
    assert control.take(folder.path, holder) == []
    with pytest.raises(UserError, match="has not answered"):
        control.send(folder.path, holder, "stop")
    later = control.announce(folder.path, "run", takes=control.ALL)  # another piece of work: not for it
    assert control.take(folder.path, later) == []
    with pytest.raises(UserError, match="has not answered"):
        control.send(folder.path, holder, "stop")
    assert control.take(folder.path, later) == []


def test_whoever_gives_an_order_waits_until_it_is_taken(folder: RunFolder) -> None:
    holder = control.announce(folder.path, "run", takes=("stop",))
    sending = threading.Thread(target=control.send, args=(folder.path, holder, "stop"))
    sending.start()
    while not (taken := control.take(folder.path, holder)):
        pass
    sending.join(10)
    assert not sending.is_alive() and [order.what for order in taken] == ["stop"]


def test_nobody_holds_what_nobody_has_locked_or_what_takes_no_requests(folder: RunFolder) -> None:
    assert control.holder_of(folder.path) is None
    control.announce(folder.path, "run")
    assert control.holder_of(folder.path) is None
    only_stop = control.announce(folder.path, "run", takes=("stop",))
    with pytest.raises(UserError, match="cannot be asked to pause"):
        control.send(folder.path, only_stop, "pause")
    folder.unlock()
    assert control.holder_of(folder.path) is None
    folder.lock()
    assert control.holder_of(folder.path) == only_stop
    control.withdraw(folder.path)
    assert control.holder_of(folder.path) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"what": "delete", "to": "x"}', '{"what": "step", "to": "x", "epochs": -1}']
)
def test_a_damaged_order_or_holder_is_none(folder: RunFolder, text: str) -> None:
    holder = control.announce(folder.path, "run", takes=control.ALL)
    (folder.path / "control").mkdir()
    (folder.path / "control" / "1.json").write_text(text.replace('"x"', f'"{holder.id}"'))
    assert control.take(folder.path, holder) == []
    (folder.path / control.HOLDER_FILE).write_text(text)
    assert control.holder_of(folder.path) is None
