"""A real Label Studio and a real Candid: predictions and their order, annotations, restarts.

Label Studio is installed from the package index into an environment of its own, or taken from the folder that
`CANDID_LABEL_STUDIO` names. Slow: some minutes, most of them the installation and the start of Label Studio.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from pll.review.database import Database
from pll.review.events import Event
from pll.review.label_snapshot import review_id
from pll.review.store import reading
from pll.runs.folder import RunFolder

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

VERSION = "1.23.2"
ROOT = Path(__file__).resolve().parents[2]
WORDS = {"fish": "water fin scale swim river", "bird": "wing nest feather fly egg", "tree": "leaf root bark branch oak"}
CLASSES = list(WORDS)
N = 200
CONFIG = """<View><Text name="t" value="$text"/><Choices name="kind" toName="t" choice="single">
<Choice value="fish"/><Choice value="bird"/><Choice value="tree"/></Choices></View>"""
TOKEN = "0123456789abcdef0123456789abcdef01234567"
PORT_OF_CANDID, PORT_OF_STUDIO = 8971, 8972


def text(row: int) -> str:
    return f"{WORDS[CLASSES[row % 3]]} number {row}"


def wait(until: Callable[[], Any], what: str, seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if found := until():
                return found
        except requests.RequestException:
            pass
        time.sleep(0.5)
    raise AssertionError(f"waited {seconds:.0f} s in vain for {what}")


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Asks Label Studio's API: (method, path, JSON) → JSON."""
    folder = tmp_path_factory.mktemp("studio")
    installed = Path(os.environ.get("CANDID_LABEL_STUDIO") or folder / "venv")
    if not (installed / "bin" / "label-studio").exists():
        venv.create(installed, with_pip=True)
        pip = [installed / "bin" / "pip", "install", "-q", f"label-studio=={VERSION}"]
        if subprocess.run(pip, timeout=1200, check=False).returncode:
            pytest.skip("label-studio cannot be installed here")
    environment = os.environ | {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder / "data"),
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "ML_BLOCK_LOCAL_IP": "false",  # Candid is on this machine …
        "SSRF_PROTECTION_ENABLED": "false",  # … for its webhooks too
        "COLLECT_ANALYTICS": "false",
        # Where the tests share the machine with other work, its one second is short.
        **dict.fromkeys(("ML_CONNECTION_TIMEOUT", "ML_TIMEOUT_HEALTH", "ML_TIMEOUT_SETUP", "WEBHOOK_TIMEOUT"), "15"),
    }
    command = [installed / "bin" / "label-studio", "start", "--no-browser", "--port", str(PORT_OF_STUDIO)]
    command += ["--username", "ann@example.org", "--password", "secret-of-ann", "--user-token", TOKEN]
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
    url = f"http://127.0.0.1:{PORT_OF_STUDIO}"

    def ask(method: str, path: str, body: Any = None, *, status: tuple[int, ...] = (200, 201, 204)) -> Any:
        answer = requests.request(
            method, f"{url}/api/{path}", json=body, headers={"Authorization": f"Token {TOKEN}"}, timeout=120
        )
        assert answer.status_code in status, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content else None

    try:
        wait(lambda: requests.get(f"{url}/health", timeout=5).ok, "Label Studio", 600)
        print(f"\nLabel Studio {ask('GET', 'version')['release']}")
        yield ask
    finally:
        process.terminate()
        process.wait(60)


def project_of_all(studio: Callable[..., Any], title: str) -> tuple[int, dict[int, int]]:
    """A project with a task of each example: its id, and the row of each task by the task's id."""
    settings = {"title": title, "label_config": CONFIG, "sampling": "Uncertainty sampling"}
    project = studio("POST", "projects", settings)["id"]
    studio("POST", f"projects/{project}/import", [{"text": text(row)} for row in range(N)])
    tasks = studio("GET", f"tasks?project={project}&page_size={N}")["tasks"]
    assert len(tasks) == N
    return project, {task["id"]: int(task["data"]["text"].split()[-1]) for task in tasks}


class Candid:
    """A Candid server with one finished run, which can be restarted."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log = home.parent / "candid.log"
        self.env = os.environ | {"PLL_HOME": str(home), "OMP_NUM_THREADS": "1", "STREAMLIT_SERVER_HEADLESS": "true"}
        self.env["STREAMLIT_LOGGER_LEVEL"] = "debug"  # no secret is in the log, however much is
        table = home / "texts.csv"
        home.mkdir(parents=True)
        lines = [f"{text(row)},{CLASSES[row % 3]}|{CLASSES[(row + 1 + row // 15) % 3]}" for row in range(N)]
        table.write_text("text,candidates\n" + "\n".join(lines) + "\n")
        self.run_dir = home / "runs" / "live"
        self.command("fit", str(table), "--features", "tfidf", "--recipe", "default", "--out", str(self.run_dir))
        told = self.command("labelstudio", str(self.run_dir), "--url", f"http://127.0.0.1:{PORT_OF_CANDID}")
        self.told: dict[str, str] = json.loads(told.splitlines()[-1])
        self.start()

    def command(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pll", *arguments],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self) -> None:
        """Until the database is open, too: Label Studio waits one second for its first answer."""
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(PORT_OF_CANDID)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=log, stderr=log)
        url = f"http://127.0.0.1:{PORT_OF_CANDID}/ready"
        wait(lambda: requests.get(url, timeout=5).ok, "Candid", 120)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)

    def events(self) -> list[Event]:
        database = Database(self.home / "reviews.sqlite3")
        with reading(database, review_id(RunFolder(self.run_dir))) as reader:
            result = reader.events()
        database.close()
        return result


@pytest.fixture(scope="module")
def candid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Candid]:
    server = Candid(tmp_path_factory.mktemp("candid") / "home")
    yield server
    server.stop()


def test_a_project_is_labelled_with_candid(studio: Callable[..., Any], candid: Candid) -> None:
    project, row_of = project_of_all(studio, "Live")

    wrong = re.sub(r":[^:@/]+@", ":wrong@", candid.told["url_with_secret"])
    assert wrong != candid.told["url_with_secret"]
    refused = studio("POST", "ml", {"project": project, "url": wrong, "title": "Wrong"}, status=(400,))
    assert "authentication" in json.dumps(refused)

    backend = studio("POST", "ml", {"project": project, "url": candid.told["url_with_secret"], "title": "Candid"})
    assert backend["state"] == "CO", backend
    studio(
        "POST",
        f"dm/actions?id=retrieve_tasks_predictions&project={project}",
        {"selectedItems": {"all": True, "excluded": []}},
    )

    def predictions() -> list[Any]:
        return studio("GET", f"predictions?project={project}")

    wait(lambda: len(predictions()) >= N, "predictions", 120)
    by_task = {one["task"]: one for one in predictions()}
    right = [by_task[number]["result"][0]["value"]["choices"] == [CLASSES[row % 3]] for number, row in row_of.items()]
    assert len(right) == N and sum(right) > 0.9 * N
    studio("PATCH", f"projects/{project}", {"model_version": next(iter(by_task.values()))["model_version"]})
    least = min(one["score"] for one in by_task.values())
    assert by_task[studio("GET", f"projects/{project}/next")["id"]]["score"] == pytest.approx(least, abs=1e-5)

    chosen = sorted(row_of)[:20]
    made = {}
    for count, number in enumerate(chosen):
        if count == 10:  # a restart in the middle loses nothing that was answered
            candid.stop()
            candid.start()
        label = CLASSES[row_of[number] % 3]
        result = [{"from_name": "kind", "to_name": "t", "type": "choices", "value": {"choices": [label]}}]
        made[number] = studio("POST", f"tasks/{number}/annotations", {"result": result})["id"]
    hooks = [(hook["is_active"], hook["send_payload"]) for hook in studio("GET", f"webhooks/?project={project}")]
    assert hooks == [(True, True)]
    wait(lambda: len(candid.events()) == 20, "20 decisions", 60)
    events = candid.events()
    assert {event.reviewer for event in events} == {"Label Studio user 1"}  # its webhooks tell the number alone
    assert {event.row: event.label for event in events} == {row_of[n]: CLASSES[row_of[n] % 3] for n in chosen}

    studio("DELETE", f"annotations/{made[chosen[3]]}")
    wait(lambda: len(candid.events()) == 21, "the decision to be taken back", 60)
    undo = candid.events()[-1]
    assert undo.kind == "undo" and undo.row == row_of[chosen[3]]

    studio("POST", f"ml/{backend['id']}/train", {})
    wait(lambda: len(list((candid.home / "runs").iterdir())) == 2, "a run that is trained on the decisions", 60)
