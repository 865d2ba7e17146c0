"""What Candid does with damaged runs, full disks and kills: writes docs/reliability.csv and docs/reliability.md.

    python -m benchmarks.reliability                      everything (hours of kills apart, some minutes)
    python -m benchmarks.reliability --only commands      one part; the others stay as they are in the file
    python -m benchmarks.reliability --only kills --kills 200
    python -m benchmarks.reliability --only home --faults 60          a sample, drawn with a fixed seed

Parts: `commands` and `pages` (every file of a run damaged in every way), `resume` (the same for a stopped run that is
resumed), `home` and `home-pages` (every kind of file that is found in a home with runs on votes, a review, a
comparison, an experiment, a promise and a backup: `tests/faults/home.py`), `disk` (a write fails at every size of
file), `kills` (kill -9 at random moments, then `--resume`).
"""

from __future__ import annotations

import argparse
import csv
import importlib
import logging
import os
import platform
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pll.errors import UserError
from pll.io import PART
from pll.runs import runner
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder
from pll.runs.registry import default_registry
from pll.training.metrics import StopTraining
from tests.faults.damage import COMMANDS, Answer, answer, cases, damaged, verdict
from tests.faults.home import KEPT, Ask, Fault, Home, asked, commands_for, copy_of, damage, faults, make_home, outcome
from tests.run_helpers import config, result_of, write_data

ROOT = Path(__file__).parents[1]
OTHERS = "<!-- below: not written by benchmarks.reliability -->"
TABLE, PAGE = ROOT / "docs" / "reliability.csv", ROOT / "docs" / "reliability.md"
FIELDS = ("part", "what", "outcome", "count", "made")
COUNTED = dict[tuple[str, str], int]
"""(what, outcome) → count."""
WAYS = ("truncate", "flip", "delete", "empty")
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("home", {}),
    ("train", {"run": "bad"}),
    ("export", {"run": "bad"}),
    ("review", {"run": "bad"}),
    ("compare", {"comparison": "both"}),
    ("compare", {}),
    ("review", {}),
    ("export", {}),
)


def small(data: Path, **options: Any) -> RunConfig:
    """A run of a second, on 96 examples of 4 classes."""
    return config(data, params={"epochs": 4}, **options)


def finished(folder: Path, data: Path) -> Path:
    """A run that has ended."""
    run = RunFolder(folder)
    run.create(small(data))
    runner.run(run)
    return folder


def stopped(folder: Path, data: Path) -> Path:
    """A run that was stopped in its third epoch, with a checkpoint."""
    run, batches = RunFolder(folder), iter(range(1000))
    run.create(small(data))

    def hook() -> None:
        if next(batches) == 15:
            raise StopTraining

    runner.run(run, hook=hook)
    return folder


def of_commands(place: Path, _: argparse.Namespace) -> COUNTED:
    """Every file of a run damaged in every way, through the commands."""
    data = write_data(place / "small.npz")
    run, found = finished(place / "run", data), Counter[tuple[str, str]]()

    def ask(command: str, folder: Path) -> Answer:
        out = place / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        return answer(COMMANDS[command](folder, data, out), out)

    sound = {command: ask(command, run) for command in COMMANDS}
    for case in cases(run):
        folder = damaged(run, case, place / "bad")
        for command, expected in sound.items():
            if command == "export" and case.way not in WAYS:
                continue  # three seconds each
            outcome = verdict(expected, ask(command, folder))
            found[command, outcome] += 1
            if outcome in ("traceback", "wrong"):
                print(f"{command}: {case} {outcome}", file=sys.stderr)
    return found


def of_resume(place: Path, _: argparse.Namespace) -> COUNTED:
    """Every file of a stopped run damaged in every way, then resumed."""
    data, found = write_data(place / "small.npz"), Counter[tuple[str, str]]()
    run = stopped(place / "run", data)
    whole = RunFolder(Path(shutil.copytree(run, place / "whole")))
    runner.run(whole)
    expected = result_of(whole)
    for case in cases(run):
        folder = RunFolder(damaged(run, case, place / "bad"))
        try:
            runner.run(folder)
            now = result_of(folder)
            same = all(now[name] == expected[name] for name in ("state", "final", "labels.csv", "model"))
            outcome = "same" if same else "wrong"
        except UserError:
            outcome = "refused"
        except Exception:
            outcome = "traceback"
        found["resume", outcome] += 1
        if outcome in ("traceback", "wrong"):
            print(f"resume: {case} {outcome}", file=sys.stderr)
    return found


def page_of(name: str, query: dict[str, str]) -> Any:
    """A page as a new server shows it; of a review, after its reviewer has given a name."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    from pll.runs.process import PerProcess
    from tests.page_helpers import entered

    st.cache_resource.clear()
    PerProcess.forget_all()
    page = AppTest.from_file(str(ROOT / "pll" / "ui" / "main.py"), default_timeout=120)
    for key, value in query.items():
        page.query_params[key] = value
    page.run()
    if name != "home":
        page.switch_page(f"../../pages/{name}.py").run()
    return entered(page) if name == "review" and query and page.text_input and not page.exception else page


def of_pages(place: Path, _: argparse.Namespace) -> COUNTED:
    """Every file of a run damaged in every way, through the pages; another run is sound."""
    from pll.runs.comparison import LaneList

    logging.disable(logging.CRITICAL)
    os.environ["PLL_HOME"] = str(place / "home")
    runs = place / "home" / "runs"
    data, found = write_data(place / "small.npz"), Counter[tuple[str, str]]()
    run = finished(place / "run", data)
    finished(runs / "other", data)
    LaneList(("other", "bad"), False, "both").write(runs / "both")

    for case in cases(run, most_frames=1):
        if case.way not in WAYS:
            continue
        damaged(run, case, runs / "bad")
        for name, query in PAGES:
            page = page_of(name, query)
            outcome = "exception box" if page.exception else "message" if page.error else "shown"
            whose = "of the run" if query else "of everybody"
            found[f"{name}, {whose}", outcome] += 1
            if page.exception:
                print(f"{name} {query}: {case}", file=sys.stderr)
    return found


def _home_in(place: Path) -> tuple[Home, Path]:
    """A home with everything that Candid writes, and a copy of it that stays sound."""
    from pll.export import backup

    logging.disable(logging.CRITICAL)
    backup.TRIES = 1  # no run is trained here that it would have to wait for
    os.environ["PLL_HOME"] = str(place / "home")
    made, sound = make_home(place), place / "sound"
    for name in KEPT:
        shutil.copytree(place / name, sound / name)
    return made, sound


def _drawn(made: Home, given: argparse.Namespace, among: Callable[[Fault], bool]) -> list[Fault]:
    """All faults, or a sample of them in a random order; how many of them is told under the table."""
    every = [fault for fault in faults(made) if among(fault)]
    if given.faults and given.faults < len(every):
        given.sample = f"{given.faults} of {len(every)} faults, drawn at random; "
        return random.Random(0).sample(every, given.faults)
    return every


def of_home(place: Path, given: argparse.Namespace) -> COUNTED:
    """Every kind of file in a home, of a promise and of a backup damaged, through the commands that read it."""
    (made, sound), found = _home_in(place), Counter[tuple[str, str]]()
    expected: dict[tuple[str, str], Answer] = {}

    def ask(what: Ask, run: str) -> Answer:
        out = place / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        return asked(made, what(made, run, out), out)

    for fault in _drawn(made, given, lambda fault: True):
        run = fault.run if fault.run in made.runs.values() else "votes"
        for name, what in commands_for(fault).items():
            if (name, run) not in expected:
                copy_of(made, sound)
                expected[name, run] = ask(what, run)
            copy_of(made, sound)
            damage(place, fault)
            answered = ask(what, run)
            result = outcome(expected[name, run], answered)
            found[f"{name}, {fault.top or fault.file}", result] += 1
            if result in ("traceback", "wrong", "told"):
                print(f"{name}: {fault} {result} {answered.message[-800:]}", file=sys.stderr, flush=True)
    return found


def of_home_pages(place: Path, given: argparse.Namespace) -> COUNTED:
    """The same, through the pages; what is of one run must not hide another."""
    (made, sound), found = _home_in(place), Counter[tuple[str, str]]()
    both = made.runs | {"comparison": made.comparison}
    pages: dict[str, tuple[tuple[str, dict[str, str]], ...]] = {
        "home/runs": (
            ("home", {}),
            *((name, {"run": "RUN"}) for name in ("train", "export", "review")),
            ("compare", {"comparison": both["comparison"]}),
        ),
        "home/experiments": (("experiments", {}), ("experiments", {"experiment": "grid"})),
        "": (("home", {}), ("data", {}), ("review", {"run": "votes"}), ("export", {"run": "votes"})),
    }
    for fault in _drawn(made, given, lambda fault: fault.file.startswith("home/")):
        run = fault.run if fault.run in made.runs.values() else "votes"
        copy_of(made, sound)
        damage(place, fault)
        for name, query in pages.get(fault.top, pages[""]):
            if fault.way not in WAYS and name not in ("review", "export"):
                continue
            page = page_of(name, {key: value.replace("RUN", run) for key, value in query.items()})
            said = "exception box" if page.exception else "message" if page.error else "shown"
            found[f"{name}, {fault.top or fault.file}", said] += 1
            if page.exception:
                trace = page.exception[0].value + "\n" + "\n".join(page.exception[0].stack_trace[-6:])
                print(f"{name} {query}: {fault} {trace}", file=sys.stderr, flush=True)
        default_registry().stop_all()
    return found


def of_disk(place: Path, _: argparse.Namespace) -> COUNTED:
    """A write of a run fails at a certain size of the file, as on a full disk; then there is space, and it goes on."""
    data, found = write_data(place / "small.npz"), Counter[tuple[str, str]]()
    runner.CHECKPOINT_EVERY, runner.CHECKPOINT_SHARE = 0.0, float("inf")
    expected = result_of(RunFolder(finished(place / "whole", data)))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in range(0, 14_000, 200):
        run = RunFolder(place / str(size))
        run.create(small(data))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            runner.run(run)
            outcome = "not full"
        except UserError as error:
            outcome = "told" if "full" in str(error).lower() else "other message"
        except Exception:
            outcome = "traceback"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        found["a run while the disk is full", outcome] += 1
        runner.run(run)
        same = result_of(run) == expected
        found["the same run resumed when there is space", "bit-identical" if same else "different"] += 1
    return found


ONE_THREAD = ("--threads", "1")
FITS: dict[str, tuple[str, ...]] = {
    "proden, linear": ("--epochs", "40", *ONE_THREAD),
    "proden, mlp": ("--model", "mlp", "--epochs", "15", *ONE_THREAD),
    "proden, recipe auto": ("--recipe", "auto", "--epochs", "20", *ONE_THREAD),
    "proden-outside": ("--method", "proden-outside", "--epochs", "30", *ONE_THREAD),
    "lws": ("--method", "lws", "--epochs", "40", *ONE_THREAD),
    "cavl": ("--method", "cavl", "--epochs", "40", *ONE_THREAD),
    "pop": ("--method", "pop", "--epochs", "40", *ONE_THREAD),
    "ipal": ("--method", "ipal"),
}
"""Runs that are killed → their options of `fit`."""
SELDOM = ("proden, recipe auto", "proden-outside")
"""Killed a third as often as the others: they fit several times."""
MOMENTS = ("before its first checkpoint", "between two writes", "while a file was written")
"""When a run was killed."""


def of_kills(place: Path, given: argparse.Namespace) -> COUNTED:
    """`fit` killed with -9 at a random moment, then resumed: state, final metrics and label weights, every frame of the
    history, labels.csv and the model must have the bits of the run that nobody disturbed.

    Each `fit` is a process of its own, forked from one that has loaded the program and trained nothing. Checkpoints
    are written fifty times a second, so that many kills fall into writing one. A run that ends before its kill is not
    counted, and done again.
    """
    data, found = write_data(place / "small.npz", n=200), Counter[tuple[str, str]]()
    chance = random.Random(0)
    fit = ["fit", str(data), "--flip", "binomial", "--q", "0.4", "--holdout", "0.2"]
    runner.CHECKPOINT_EVERY, runner.CHECKPOINT_SHARE = 0.02, float("inf")
    _load_program([*fit, "--epochs", "1"], place)
    often = [name for name in FITS if name not in SELDOM]
    names = [*often, *SELDOM, *often, *often][: max(1, given.kills)]
    whole = {name: _undisturbed([*fit, *FITS[name]], place / f"whole {name}") for name in dict.fromkeys(names)}
    for number in range(given.kills):
        name = names[number % len(names)]
        expected, seconds = whole[name]
        folder, before = RunFolder(place / str(number)), 0
        command = [*fit, *FITS[name], "--out", str(folder.path)]
        while before != -signal.SIGKILL:
            shutil.rmtree(folder.path, ignore_errors=True)
            began, process = time.monotonic(), _forked(command)
            time.sleep(chance.uniform(0.0, 1.0) * seconds)
            process.kill()
            before = process.wait()
            seconds = seconds if before else min(seconds, time.monotonic() - began)  # the machine is less busy now
        at = MOMENTS[(folder.path / "checkpoint" / "checkpoint.pt").exists()]
        at = MOMENTS[2] if any(folder.path.rglob(f"{PART}*")) else at
        done = _forked([*command, "--resume"]).wait()
        same = done == 0 and result_of(folder) == expected
        found[f"{name}: killed with -9 {at}, resumed", "bit-identical" if same else "different"] += 1
        print(f"{number + 1} of {given.kills}: {name}, {at}: {'same' if same else 'DIFFERENT'}, {done}", flush=True)
        if same:
            shutil.rmtree(folder.path)
        else:
            shutil.copytree(folder.path, Path(tempfile.mkdtemp(prefix="candid-kill-")) / "run")
    return found


def _load_program(fit: list[str], place: Path) -> None:
    """Import what a fit imports, so that no fit spends most of its time on that."""
    told = place / "modules.txt"
    _forked([*fit, "--out", str(place / "first")], lambda: told.write_text("\n".join(sys.modules))).wait()
    for name in told.read_text().splitlines():
        if name not in sys.modules and name != "__mp_main__":
            with suppress(Exception):  # some are made, not imported
                importlib.import_module(name)


def _undisturbed(command: list[str], folder: Path) -> tuple[dict[str, Any], float]:
    """What a fit leaves, and the seconds that it takes."""
    began = time.monotonic()
    assert _forked([*command, "--out", str(folder)]).wait() == 0, command
    return result_of(RunFolder(folder)), time.monotonic() - began


class _Forked:
    """A command of Candid in a process of its own."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """The exit status; negative where a signal ended it."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _forked(command: list[str], at_end: Callable[[], object] | None = None) -> _Forked:
    from pll.cli.main import main as candid

    if (pid := os.fork()) == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        status = candid(command)
        if at_end is not None:
            at_end()
        os._exit(status)
    return _Forked(pid)


PARTS: dict[str, Callable[[Path, argparse.Namespace], COUNTED]] = {
    "commands": of_commands,
    "resume": of_resume,
    "pages": of_pages,
    "home": of_home,
    "home-pages": of_home_pages,
    "disk": of_disk,
    "kills": of_kills,
}
TITLES = {
    "commands": "Every file of a run damaged, through the commands",
    "resume": "Every file of a stopped run damaged, then resumed",
    "pages": "Every file of a run damaged, through the pages",
    "home": "Every kind of file in a home with everything in it, through the commands that read it",
    "home-pages": "The same, through the pages",
    "disk": "A disk that is full at some write",
    "kills": "Kills",
}


def written(rows: list[dict[str, str]]) -> str:
    """The page: a table for each part."""
    lines = [
        "# Reliability",
        "",
        "Made by `python -m benchmarks.reliability`, which says how each part is done. A run is damaged by cutting a",
        "file in half, flipping a bit, deleting it or emptying it. *same*: the answer is that of the sound run, to the",
        "last bit; *refused*: a message names what is wrong; *told*: another answer, and a message about it; *wrong*",
        "would be a label or prediction that differs without a word.",
        "",
    ]
    for part in (part for part in PARTS if any(row["part"] == part for row in rows)):
        own = [row for row in rows if row["part"] == part]
        lines += [f"## {TITLES[part]}", "", "| what | outcome | count |", "|---|---|---|"]
        lines += [f"| {row['what']} | {row['outcome']} | {row['count']} |" for row in own]
        lines += ["", f"Made: {own[0]['made']}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _kept(without: str) -> Iterator[dict[str, str]]:
    if TABLE.exists():
        with TABLE.open(encoding="utf-8", newline="") as stream:
            yield from (row for row in csv.DictReader(stream) if row["part"] != without)


def kept(page: Path) -> str:
    """The part of the page that other benchmarks and people write."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return "\n" + text[text.index(OTHERS) :] if OTHERS in text else ""


def main() -> None:
    """Measure the parts asked for, and write table and page after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(PARTS))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument(
        "--faults", type=int, default=0, help="of home and home-pages: so many, drawn at random; 0: all"
    )
    given = parser.parse_args()
    for part in [given.only] if given.only else PARTS:
        given.sample = ""
        with tempfile.TemporaryDirectory() as place:
            found = PARTS[part](Path(place), given)
        made = f"{given.sample}{datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()}"
        rows = list(_kept(part))
        rows += [
            {"part": part, "what": what, "outcome": outcome, "count": str(count), "made": made}
            for (what, outcome), count in sorted(found.items())
        ]
        rows.sort(key=lambda row: list(PARTS).index(row["part"]))
        with TABLE.open("w", encoding="utf-8", newline="") as stream:
            table = csv.DictWriter(stream, FIELDS, lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
        PAGE.write_text(written(rows) + kept(PAGE), encoding="utf-8")
        print(part, dict(found))


if __name__ == "__main__":
    main()
