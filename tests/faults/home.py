"""A home with everything that Candid writes, made by using it; and every file of it damaged in every way.

Nothing here lists names of files: what lies in the home, and in the folders of a promise and of a backup beside it, is
found by walking through them, so that a file that is written from tomorrow on is damaged too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pll.errors import UserError
from pll.io import PART
from pll.runs import runner
from pll.runs.folder import RunFolder
from pll.training.metrics import StopTraining
from tests.faults.damage import WAYS, Answer, answer, flipped
from tests.run_helpers import config, write_data

PASSED_OVER = ("*.lock", "*-wal", "*-shm", f"{PART}*")
"""Files without content of their own."""
FOUR_WAYS = ("truncate", "flip", "delete", "empty")
MANY_FLIPS = 40
"""Places of a database at which a bit is flipped: it has no checksums of its own."""
KEPT = ("home", "promise", "backup")
"""What was made, beside the files that were given."""
N = 60
CLASSES = ("late", "lost", "praise")


@dataclass(frozen=True)
class Home:
    """What was made.

    Attributes:
        place: the folder of all.
        runs: role → id of a run: `votes`, `outside`, `stopped`, `other`.
        comparison: id of one.
    """

    place: Path
    runs: dict[str, str] = field(default_factory=dict)
    comparison: str = ""

    @property
    def home(self) -> Path:
        return self.place / "home"


def shell(*arguments: str) -> None:
    """Run a command that must succeed."""
    done = answer(list(arguments), Path(os.devnull))
    assert done.status == 0, (arguments, done.message)


def make_home(place: Path) -> Home:
    """Use everything that writes files; `PLL_HOME` must be `place / "home"`."""
    from pll.review.desk import Desk
    from pll.runs.access import Access, write_access
    from pll.runs.registry import RunRegistry
    from pll.ui import session
    from pll.ui.review import service
    from tests.page_helpers import begun

    made = Home(place, {name: name for name in ("votes", "outside", "stopped")}, "")
    runs = made.home / "runs"
    table, batch = _votes(place)
    fit = ["--threads", "1", "--batch-size", "16"]
    shell(
        *("fit", str(table), "--votes", str(batch), "--answer", "gone=lost", "--rename", "praise=thanks", *fit),
        *("--recipe", "auto", "--epochs", "3", "--out", str(runs / "votes")),
    )
    data = write_data(place / "small.npz")
    flips = ("--flip", "binomial", "--q", "0.4")
    shell(
        "fit",
        str(data),
        *flips,
        *fit,
        "--test",
        str(data),
        "--method",
        "proden-outside",
        "--epochs",
        "3",
        "--out",
        str(runs / "outside"),
    )
    _stopped(runs / "stopped", RunFolder(runs / "votes"))

    registry = RunRegistry(runs)
    own = session.keep_upload("![x](http://evil.test).npz", data.read_bytes())
    lanes = registry.compare([config(Path(str(own.path)), params={"epochs": 2})] * 2, name="two lanes")
    lanes.join(60)
    gone = registry.start(config(data, params={"epochs": 1}))
    gone.join(60)
    registry.delete(gone.id)
    lanes.runs[0].rename("another name")
    for folder in (lanes.folder, runs / "votes"):
        write_access(folder, Access("ada@example.org", {"bob@example.org": "viewer"}))

    manager = begun(registry.get("votes"), overlap=1)
    desk = Desk(manager.review, "Ada")
    for number in range(12):
        one = desk.next()
        assert one is not None
        desk.decide(one, "pick", one.choices[-1 if number % 3 else 0].label)
    registry.stop_all()
    service.store().database.close()

    grid = place / "grid.toml"
    grid.write_text(
        'title = "grid"\nmethods = ["plknn", "proden"]\nholdout = 0.2\n[datasets]\n'
        f'small = {json.dumps(str(data))}\n[[flips]]\nhow = "binomial"\nq = 0.4\n[[settings]]\nepochs = 2\n'
    )
    shell("experiment", str(grid), "--out", str(made.home / "experiments" / "grid"), "--jobs", "1")
    _promise(made)
    shell("backup", str(place / "backup"))
    return Home(place, made.runs | {"other": lanes.runs[1].id}, lanes.id)


def _votes(place: Path) -> tuple[Path, Path]:
    """A table with features, and the answers of a model in words; one class has another name too."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, len(CLASSES), N)
    X = rng.normal(0, 0.7, (N, 3)) + 2 * np.eye(3)[y]
    two = [np.where(rng.random(N) < right, y, rng.integers(0, 3, N)) for right in (0.9, 0.7)]
    rows = "".join(
        f"r{k},{','.join(f'{x:.3f}' for x in X[k])},some words on parcel {k % 7},{CLASSES[two[0][k]]}\n"
        for k in range(N)
    )
    table = place / "table.csv"
    table.write_text("id,a,b,c,text,annotator_1\n" + rows)
    lines = []
    for k in range(N):
        said = "no comment" if k % 20 == 0 else "gone" if k % 9 == 1 else CLASSES[two[1][k]]
        body = {"model": "gpt", "choices": [{"index": 0, "message": {"role": "assistant", "content": said}}]}
        lines.append(json.dumps({"custom_id": f"r{k}", "response": {"status_code": 200, "body": body}, "error": None}))
    batch = place / "gpt.jsonl"
    batch.write_text("\n".join(lines) + "\n")
    return table, batch


def _stopped(folder: Path, like: RunFolder) -> None:
    """A run on the same votes with the recipe that was found, stopped in its third epoch, with a checkpoint."""
    run, batches, told = RunFolder(folder), iter(range(1000)), like.config()
    run.create(replace(told, params=told.params | {"recipe": str(like.path / "recipe.json"), "epochs": 4}))

    def hook() -> None:
        if next(batches) == 10:
            raise StopTraining

    runner.run(run, hook=hook)


def _promise(made: Home) -> None:
    """A plan, what people said, and a certificate."""
    from pll.cli.dataset_promise import read_cells

    place = made.place / "promise"
    place.mkdir()
    run = str(made.home / "runs" / "votes")
    shell("plan", run, "--error", "0.3", "--confidence", "0.8", "--seed", "1", "--out", str(place / "plan.csv"))
    labels = read_cells(Path(run) / "labels.csv").set_index("id")["identified_label"]
    planned = read_cells(place / "plan.csv")["id"]
    (place / "checked.csv").write_text("id,label\n" + "".join(f"{one},{labels[one]}\n" for one in planned))
    shell(*_certify(made, place))


def _certify(made: Home, out: Path) -> list[str]:
    """The arguments of `certify`."""
    place = made.place / "promise"
    return [
        *("certify", str(made.home / "runs" / "votes"), "--plan", str(place / "plan.csv")),
        *("--decisions", str(place / "checked.csv"), "--out", str(out / "certificate.json")),
        *("--labels-out", str(out / "final.csv"), "--next-out", str(out / "next.csv")),
    ]


# ---- what is damaged -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """A file, by its path within the place of all, and what happens to it."""

    file: str
    way: str

    @property
    def top(self) -> str:
        """Where it lies: home/runs, home/experiments, …, promise, backup."""
        parts = self.file.split("/")
        return "/".join(parts[:2]) if parts[0] == "home" and len(parts) > 2 else parts[0] if len(parts) > 1 else ""

    @property
    def run(self) -> str:
        """Id of the run or comparison it is of; "" for none."""
        return self.file.split("/")[2] if self.top == "home/runs" else ""


def faults(made: Home) -> Iterator[Fault]:
    """Yield every kind of file there is, with every way: of files whose names differ in numbers and ids, the first."""
    seen = set()
    for folder in KEPT:
        for file in sorted((made.place / folder).rglob("*"), key=_reviewed_first):
            name = file.relative_to(made.place).as_posix()
            if not file.is_file() or any(Path(name).match(pattern) for pattern in PASSED_OVER):
                continue
            kind = _kind(name)
            content = file.read_bytes()
            if kind in seen or not content:
                continue
            seen.add(kind)
            ways = [*FOUR_WAYS, *(_flips() if name.endswith("sqlite3") and folder == "home" else ())]
            for way in ways:
                if _damaged(content, way) != content:
                    yield Fault(name, way)


def _reviewed_first(file: Path) -> tuple[int, Path]:
    order = ("votes", "stopped", "outside")
    return next((number for number, role in enumerate(order) if role in file.parts), len(order)), file


def _kind(name: str) -> str:
    """The name without ids and numbers; a run and its copy in a backup are of one kind each."""
    parts = name.split("/")
    if parts[1:2] in (["runs"], ["uploads"], ["bin"]):
        parts[2] = "*"
    return re.sub(r"[0-9a-f]{12,}|[0-9]+", "#", "/".join(parts))


def _flips() -> list[str]:
    return [f"flip {number}" for number in range(MANY_FLIPS)]


def _damaged(content: bytes, way: str) -> bytes | None:
    if way in WAYS:
        return WAYS[way](content)
    return flipped(content, (int(way.split()[1]) + 0.5) / MANY_FLIPS)


def damage(place: Path, fault: Fault) -> None:
    """Damage the file."""
    file = place / fault.file
    content = _damaged(file.read_bytes(), fault.way)
    file.unlink() if content is None else file.write_bytes(content)


# ---- what is asked ---------------------------------------------------------------------------------------------------

Ask = Callable[[Home, str, Path], list[str]]
"""Arguments of a command, of what was made, the id of a run, and a folder to write into."""
OF_RUN: dict[str, Ask] = {
    "convert": lambda made, run, out: [
        *("convert", str(made.home / "runs" / run), "--to", "csv", "--out", str(out / "labels.csv")),
    ],
    "predict": lambda made, run, out: [
        *("predict", str(made.home / "runs" / run), _data(made, run), "--out", str(out / "predictions.csv")),
    ],
    "check": lambda made, run, out: ["check", str(made.home / "runs" / run)],
    "plan": lambda made, run, out: [
        *("plan", str(made.home / "runs" / run), "--error", "0.3", "--confidence", "0.8", "--seed", "1"),
        *("--out", str(out / "plan.csv")),
    ],
}
"""Commands on a run; `export`, whose labels are those of `convert`, has a part of its own (`commands`)."""
RESUME = "resume"
"""`fit --resume`, without its options."""
OF_HOME: dict[str, Ask] = {
    "backup": lambda made, run, out: ["backup", str(out / "backup")],
    "gc": lambda made, run, out: ["gc"],
}
OF_EXPERIMENT: dict[str, Ask] = {
    "experiment": lambda made, run, out: ["experiment", str(made.home / "experiments" / "grid"), "--jobs", "1"],
}
OF_PROMISE: dict[str, Ask] = {
    "certify": lambda made, run, out: _certify(made, out),
    "verify": lambda made, run, out: ["verify", str(made.place / "promise" / "certificate.json")],
}
OF_BACKUP: dict[str, Ask] = {"restore": lambda made, run, out: ["restore", str(made.place / "backup")]}


def _data(made: Home, run: str) -> str:
    return str(made.place / ("table.csv" if run in ("votes", "stopped") else "small.npz"))


def commands_for(fault: Fault) -> dict[str, Ask]:
    """The commands that read the file."""
    asked = OF_HOME if fault.file.startswith("home") and fault.way in FOUR_WAYS else {}
    if fault.top == "home/runs":
        resumed = {RESUME: lambda made, run, out: [RESUME, str(made.home / "runs" / run)]}
        return OF_RUN | asked | (resumed if fault.run == "stopped" else {})
    if fault.top == "home/experiments":
        return OF_EXPERIMENT | asked
    return asked | {"promise": OF_PROMISE, "backup": OF_BACKUP}.get(fault.top, {}) | _of_decisions(fault)


def _of_decisions(fault: Fault) -> dict[str, Ask]:
    return {"convert": OF_RUN["convert"]} if fault.file == "home/reviews.sqlite3" else {}


def copy_of(made: Home, pristine: Path) -> None:
    """Put everything back as it was."""
    for name in (*KEPT, "empty"):
        shutil.rmtree(made.place / name, ignore_errors=True)
        if (pristine / name).exists():
            shutil.copytree(pristine / name, made.place / name)


ANSWERS = ("labels.csv", "labels.jsonl", "predictions.csv", "final.csv", "results.csv", "plan.csv", "certificate.json")
"""What must not differ without a word."""
VOLATILE = ("seconds", "made_at", "created", "decided_at", "at")
"""Fields that tell when something was done."""


def same_answer(sound: Answer, found: Answer) -> bool:
    """Whether everything that counts is the same, but the time at which it was made."""
    names = [name for name in ANSWERS if name in sound.files]
    return all(_timeless(name, sound.files[name]) == _timeless(name, found.files.get(name, b"")) for name in names)


def _timeless(name: str, content: bytes) -> Any:
    if name.endswith(".json"):
        told = json.loads(content or b"null")
        return told.get("result") if isinstance(told, dict) else told
    if name == "results.csv":
        import io

        import pandas as pd

        return pd.read_csv(io.BytesIO(content)).drop(columns="seconds").to_csv()
    return content


def asked(made: Home, arguments: list[str], out: Path) -> Answer:
    """Run a command on what was made; `restore` goes to an empty home."""
    if arguments[0] == "restore":
        before = os.environ["PLL_HOME"]
        os.environ["PLL_HOME"] = str(made.place / "empty")
        try:
            return answer(arguments, out)
        finally:
            os.environ["PLL_HOME"] = before
    if arguments[0] == RESUME:
        return _resumed(Path(arguments[1]))
    place = made.home / "experiments" / "grid" if arguments[0] == "experiment" else out
    return answer(arguments, place)


def _resumed(folder: Path) -> Answer:
    try:
        runner.run(RunFolder(folder))
        return Answer(0, "", {"labels.csv": (folder / "labels.csv").read_bytes()})
    except UserError as error:
        return Answer(2, str(error), {})
    except Exception:
        return Answer(None, traceback.format_exc(), {})


def outcome(sound: Answer, found: Answer) -> str:
    """Return "same", "refused", "told" (another answer, with a note), "traceback" or "wrong"."""
    if found.status is None or "Traceback" in found.message:
        return "traceback"
    if found.status != 0:
        return "refused"
    if same_answer(sound, found):
        return "same"
    return "told" if "damaged" in found.message or "holds no review" in found.message else "wrong"
