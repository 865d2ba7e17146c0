"""With a login: every page and every route of the real server, Streamlit's own too, tried by everybody.

    python -m pytest -m slow -s tests/faults/test_ownership.py        prints the outcomes and their number

A run, a comparison and an experiment belong to Ada; they are shared by name with Vic (viewer) and Rita (reviewer), and
not with Eve; Root is an administrator. Tabs are websockets, as a browser opens them, with the signed cookie of a login.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import streamlit
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME, XSRF_COOKIE_NAME
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from benchmarks.app import ROOT, Server
from pll.experiments.execution import ExperimentFolder
from pll.experiments.experiment import changed, preset
from pll.runs.access import Access, Person, Role, write_access
from pll.runs.folder import list_runs
from pll.runs.lanes import lane_configs
from pll.runs.registry import RunRegistry
from pll.ui.routes import PAGES
from tests.page_helpers import IRIS

pytestmark = pytest.mark.slow
SECRET = "long enough to be a secret, and known to nobody"
PATIENCE = 180.0
WHO = ("anonymous", "eve", "vic", "rita", "ada", "root")
SHARED: dict[str, Role] = {"vic@example.org": "viewer", "rita@example.org": "reviewer"}


@dataclass
class Tab:
    """A websocket of somebody, and what the server has sent: all its text, the buttons, addresses of files."""

    socket: ClientConnection
    page: str
    query: str
    session: str = ""
    script: str = ""
    text: str = ""
    buttons: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    deferred: list[str] = field(default_factory=list)
    failed: bool = False

    async def run(self, button: str = "") -> Tab:
        """Have the page run, perhaps with a button by its id, and take in what it shows."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = self.query, self.script
        if not self.script:
            state.page_name = self.page
        if button:
            widget = state.widget_states.widgets.add()
            widget.id, widget.trigger_value = button, True
        await self.socket.send(message.SerializeToString())
        self.text, self.buttons, self.files, self.deferred = "", {}, [], []
        while True:
            content = await asyncio.wait_for(self.socket.recv(), PATIENCE)
            assert isinstance(content, bytes)
            told = ForwardMsg.FromString(content)
            kind = told.WhichOneof("type")
            if kind == "new_session":
                self.session = told.new_session.initialize.session_id
            elif kind == "navigation":
                self.script = told.navigation.page_script_hash
            elif kind == "page_info_changed":
                self.query = told.page_info_changed.query_string
            elif kind == "delta":
                self.text += str(told.delta)
                element = told.delta.new_element
                self.failed |= element.WhichOneof("type") == "exception"
                if element.WhichOneof("type") == "button":
                    self.buttons[element.button.label] = element.button.id
                if element.WhichOneof("type") == "download_button" and element.download_button.deferred_file_id:
                    self.deferred.append(element.download_button.deferred_file_id)
                self.files += re.findall(r'url: "(/media/[^"]+)"', str(told.delta))
            elif kind == "script_finished":
                return self

    async def download(self) -> str:
        """Ask for the first file that is made only then, and return its address."""
        message = BackMsg()
        message.backend_operation_request.request_id = "one"
        message.backend_operation_request.session_id = self.session
        message.backend_operation_request.deferred_file.file_id = self.deferred[0]
        await self.socket.send(message.SerializeToString())
        while True:
            content = await asyncio.wait_for(self.socket.recv(), PATIENCE)
            assert isinstance(content, bytes)
            told = ForwardMsg.FromString(content)
            if told.WhichOneof("type") == "backend_operation_response":
                return told.backend_operation_response.deferred_file.url


@dataclass(frozen=True)
class Visitors:
    """Everybody, as a server knows them."""

    server: Server

    def cookies(self, who: str, token: str = "") -> dict[str, str]:
        found = {XSRF_COOKIE_NAME: token} if token else {}
        if who == "anonymous":
            return found
        claims = {"origin": self.server.url, "is_logged_in": True, "email": f"{who}@example.org", "name": who}
        return found | {USER_COOKIE_NAME: create_signed_value(SECRET, USER_COOKIE_NAME, json.dumps(claims)).decode()}

    def headers(self, who: str, token: str = "") -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies(who, token).items())}

    async def connect(
        self, who: str, *, session: str = "", origin: str = "", token: str | None = None, cookie: str = ""
    ) -> ClientConnection:
        token = generate_xsrf_token_string(None, None) if token is None else token
        headers = self.headers(who, token)
        if cookie:
            headers["Cookie"] += f"; {USER_COOKIE_NAME}={cookie}"
        protocols: Any = ["streamlit", token or "none", *([session] if session else [])]
        return await connect(
            f"ws://localhost:{self.server.port}/_stcore/stream",
            subprotocols=protocols,
            additional_headers=headers,
            origin=origin or self.server.url,  # type: ignore[arg-type]
            max_size=None,
            open_timeout=PATIENCE,
        )

    async def open(self, who: str, page: str, query: str = "", **how: Any) -> Tab:
        return await Tab(await self.connect(who, **how), "" if page == "home" else page, query).run()

    def request(self, who: str, method: str, path: str, body: bytes = b"", **headers: str) -> int:
        """The status of the answer; redirects are not followed."""
        with closing(HTTPConnection("localhost", self.server.port, timeout=60)) as connection:
            connection.request(method, path, body or None, self.headers(who) | headers)
            return connection.getresponse().status


@dataclass(frozen=True)
class Stage:
    """A server with what belongs to Ada."""

    home: Path
    visitors: Visitors
    run: str
    comparison: str

    def query(self, page: str) -> str:
        asked = {"compare": f"comparison={self.comparison}", "experiments": "experiment=of-ada"}
        return asked.get(page, f"run={self.run}")

    def state(self) -> dict[str, str]:
        """Everything that somebody could have changed: the runs, and where they stand."""
        return {
            folder.path.name: json.dumps([folder.config().name, folder.state()["state"], len(folder.metrics())])
            for folder in list_runs(self.home / "runs")
        }


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    home = tmp_path_factory.mktemp("home")
    registry = RunRegistry(home / "runs")
    mine = registry.for_person(Person("ada@example.org"))
    made = mine.start(IRIS), mine.start(*lane_configs(IRIS, ["proden", "proden-naive"]))
    for one in made:
        one.join(PATIENCE)
    experiment = ExperimentFolder(home / "experiments" / "of-ada")
    experiment.create(changed(preset("uci-binomial"), title="Irises of hers"))
    for one in made:
        write_access(one.path, Access("ada@example.org", SHARED))
    write_access(experiment.path, Access("ada@example.org"))
    secrets = home / "secrets.toml"
    server = Server(home, f"--secrets.files={secrets}")
    secrets.write_text(
        f"""[auth]
redirect_uri = "{server.url}/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "candid"
client_secret = "of the provider"
server_metadata_url = "http://localhost:1/nobody"
"""
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLL_ADMINS", "root@example.org")
        server.start()
    yield Stage(home, Visitors(server), *(one.id for one in made))
    server.kill()


# ---- pages -----------------------------------------------------------------------------------------------------------

OF_THE_OWNER = {"home": "Delete", "train": "Restart", "compare": "Restart"}
"""A button of each page that only somebody who may do everything with the run has."""
#              anonymous   Eve        Vic               Rita          Ada         Root
EXPECTED = {
    "home": ("log in", "open", "sees it", "sees it", "controls", "open"),
    "data": ("log in", "open", "open", "open", "open", "open"),
    "train": ("log in", "refused", "sees it", "sees it", "controls", "controls"),
    "review": ("log in", "refused", "may not review", "may review", "sees it", "sees it"),
    "compare": ("log in", "refused", "sees it", "sees it", "controls", "controls"),
    "export": ("log in", "refused", "sees it", "sees it", "sees it", "sees it"),
    "experiments": ("log in", "refused", "refused", "refused", "sees it", "sees it"),
    "learn": ("log in", "open", "open", "open", "open", "open"),
}
WORDS = {
    "log in": "Log in to see your runs",
    "refused": "not shared with you",
    "may not review": "not to review",
    "may review": "has not started the review",
}


def outcome(tab: Tab, page: str) -> str:
    shows = "irises" in tab.text.lower()
    for name, words in WORDS.items():
        if words in tab.text:
            assert name not in ("log in", "refused") or not shows, (page, name)
            return name
    return "controls" if OF_THE_OWNER.get(page) in tab.buttons else "sees it" if shows else "open"


def test_every_page_as_everybody(stage: Stage) -> None:
    async def walk() -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {page: [] for page in PAGES}
        for who in WHO:
            for page in PAGES:
                tab = await stage.visitors.open(who, page, stage.query(page))
                found[page].append(outcome(tab, page))
                await tab.socket.close()
        return {page: tuple(outcomes) for page, outcomes in found.items()}

    found = asyncio.run(walk())
    assert found == EXPECTED
    told(f"{len(PAGES)} pages as {len(WHO)} people", len(PAGES) * len(WHO))


def told(what: str, number: int) -> None:
    print(f"{what}: {number} attempts, each with the outcome expected")


# ---- what is done on them --------------------------------------------------------------------------------------------


def test_buttons_of_the_owner_do_nothing_for_others(stage: Stage) -> None:
    """Others send what Ada's browser would, by the ids of every button that she has and they have not."""

    async def walk() -> int:
        attempts = 0
        for page in PAGES:
            hers = await stage.visitors.open("ada", page, stage.query(page))
            assert OF_THE_OWNER.get(page, "") in (*hers.buttons, "")
            for who in ("anonymous", "eve", "vic", "rita"):
                theirs = await stage.visitors.open(who, page, stage.query(page))
                await theirs.socket.close()
                for label in sorted(set(hers.buttons) - set(theirs.buttons)):
                    tab = await stage.visitors.open(who, page, stage.query(page))
                    await tab.run(hers.buttons[label])
                    await tab.socket.close()
                    assert not tab.failed, (page, who, label)
                    attempts += 1
            await hers.socket.close()
        return attempts

    before = stage.state()
    attempts = asyncio.run(walk())
    assert stage.state() == before and not (stage.home / "bin").exists()
    assert attempts >= 4 * len(OF_THE_OWNER)
    told("buttons of the owner, pressed by others", attempts)


def test_nobody_gets_into_the_tab_of_another(stage: Stage) -> None:
    """By the id of her session, from a foreign page, with a cookie that the server did not make."""

    async def walk() -> int:
        visitors, query = stage.visitors, stage.query("train")
        hers = await visitors.open("ada", "train", query)
        taken = [await visitors.open(who, "train", query, session=hers.session) for who in ("anonymous", "eve")]
        assert all(tab.session != hers.session and "irises" not in tab.text for tab in taken)
        forged = await visitors.open("ada", "train", query, token="")  # as a foreign page would send her cookie
        assert outcome(forged, "train") == "log in"
        with pytest.raises(InvalidStatus):
            await visitors.connect("ada", origin="https://evil.example.org")
        claims = {"origin": visitors.server.url, "is_logged_in": True, "email": "ada@example.org"}
        wrong = (("another secret of the same length", claims), (SECRET, claims | {"origin": "https://other.example"}))
        for secret, content in wrong:
            value = create_signed_value(secret, USER_COOKIE_NAME, json.dumps(content)).decode()
            tab = await Tab(await visitors.connect("anonymous", cookie=value), "train", query).run()
            assert outcome(tab, "train") == "log in"
            await tab.socket.close()
            assert visitors.request("anonymous", "GET", "/media/x.csv", Cookie=f"{USER_COOKIE_NAME}={value}") == 403
        for tab in (hers, *taken, forged):
            await tab.socket.close()
        return 8

    told("ways into the tab of another", asyncio.run(walk()))


# ---- routes ----------------------------------------------------------------------------------------------------------

LISTED = """
import json
from app import app
routes = app._build_starlette_app().routes
print(json.dumps([route.path for route in routes]))
"""
ALL, NOBODY = (200,) * 6, (403,) * 6
#              anonymous  Eve  Vic  Rita Ada  Root
ROUTES: Mapping[str, list[tuple[str, str, tuple[int, ...]]]] = {
    "/health": [("GET", "/health", ALL)],
    "/ready": [("GET", "/ready", ALL)],
    "/_stcore/metrics": [("GET", "/_stcore/metrics", NOBODY)],
    "/_stcore/health": [("GET", "/_stcore/health", ALL)],
    "/_stcore/host-config": [("GET", "/_stcore/host-config", ALL)],
    "/media/{file_id:path}": [
        ("GET", "{download}", (403, 403, 403, 403, 200, 403)),
        ("HEAD", "{download}", (403, 403, 403, 403, 200, 403)),
        ("GET", "/media/0123456789abcdef.csv", (403, 404, 404, 404, 404, 404)),
    ],
    "/_stcore/upload_file/{session_id}/{file_id}": [
        ("PUT", "/_stcore/upload_file/{session}/of-somebody", (403, 403, 403, 403, 204, 403)),
        ("DELETE", "/_stcore/upload_file/{session}/of-somebody", (403, 403, 403, 403, 204, 403)),
        ("PUT", "/_stcore/upload_file/{anonymous}/of-somebody", NOBODY),
    ],
    "/component/{path:path}": [("GET", "/component/x/index.html", (403, 404, 404, 404, 404, 404))],
    "/_stcore/bidi-components/{path:path}": [
        ("GET", "/_stcore/bidi-components/x/index.js", (403, 404, 404, 404, 404, 404))
    ],
    "/_stcore/stream": [],  # the tabs above
    "/auth/login": [("GET", "/auth/login", (302,) * 6)],
    "/auth/logout": [("GET", "/auth/logout", (302,) * 6)],
    "/oauth2callback": [("GET", "/oauth2callback", (302,) * 6)],
    "/_stcore/agent/interact": [("POST", "/_stcore/agent/interact", NOBODY)],  # off
    "/_stcore/agent/openapi.json": [("GET", "/_stcore/agent/openapi.json", ALL)],  # says that it is off
    "/_stcore/agent/mcp": [("POST", "/_stcore/agent/mcp", (400,) * 6)],
    "/labelstudio/{run}/{name}": [  # it has secrets of its own
        ("GET", "/labelstudio/0/health", (401,) * 6),
        ("POST", "/labelstudio/0/predict", (401,) * 6),
    ],
    "": [  # the empty shell, and its fonts
        ("GET", path, ALL) for path in ("/", *(f"/{page}" for page in PAGES if page != "home"), "/static/media/{font}")
    ],
}


def test_every_route_as_everybody(stage: Stage) -> None:
    """Every path that the server answers is in the table, and answers everybody as it says."""
    listed = subprocess.run(
        [sys.executable, "-c", LISTED], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    assert set(json.loads(listed.stdout.splitlines()[-1])) == set(ROUTES)

    async def walk() -> int:
        visitors = stage.visitors
        export = await visitors.open("ada", "export", stage.query("export"))
        download = await export.download()
        font = next((Path(streamlit.__file__).parent / "static" / "static" / "media").iterdir()).name
        tabs = {who: await visitors.open(who, "data") for who in WHO}
        known = {"download": download, "font": font}
        known |= {"session": tabs["ada"].session, "anonymous": tabs["anonymous"].session}
        token = generate_xsrf_token_string(None, None)
        form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na\r\n--x--\r\n'
        attempts, wrong = 0, []
        for requests in ROUTES.values():
            for method, path, expected in requests:
                for who, status in zip(WHO, expected, strict=True):
                    headers = visitors.headers(who, token) | {"X-Xsrftoken": token}
                    headers |= {"Content-Type": "multipart/form-data; boundary=x"} if method == "PUT" else {}
                    body = form if method == "PUT" else b""
                    address = path.format(**known)
                    found = await asyncio.to_thread(visitors.request, who, method, address, body, **headers)
                    attempts += 1
                    if found != status:
                        wrong.append((method, path, who, found, status))
        for tab in (export, *tabs.values()):
            await tab.socket.close()
        assert not wrong, "\n".join(map(str, wrong))
        return attempts

    told(f"{len(ROUTES)} routes as {len(WHO)} people", asyncio.run(walk()))
