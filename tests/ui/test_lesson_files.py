"""The lesson as a folder: small, whole, and it asks for nothing from elsewhere."""

from __future__ import annotations

import io
import re
import tomllib
import zipfile
from html.parser import HTMLParser
from pathlib import Path

from pll.ui.learn.layout import CHAPTERS, ON_OWN_DATA
from pll.ui.learn.lesson_files import lesson_data, lesson_files, lesson_zip
from tools.lesson import write_lesson

ROOT = Path(__file__).parents[2]
MOST = 300_000


class Links(HTMLParser):
    """What a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("src", "href") and value]


def test_it_is_small_and_loads_nothing_from_elsewhere() -> None:
    files = lesson_files()
    assert sum(map(len, files.values())) < MOST
    for name, content in files.items():
        text = content.decode()
        addresses = set(re.findall(r"https?://[^\s\"'`<)]+", text)) - {"http://www.w3.org/2000/svg"}  # of SVG's names
        assert not addresses, (name, addresses)
        assert not re.search(r"\bfetch\(|XMLHttpRequest|\bimport\b *[({\"']|^export ", text, re.MULTILINE), name
        if name.endswith(".html"):
            links = Links()
            links.feed(text)
            assert {link for link in links.found if not link.startswith("data:")} <= set(files), name
    scripts = set(re.findall(r'src="([^"]+)"', files["index.html"].decode()))
    assert scripts == {name for name in files if name.endswith(".js")}


def test_the_folder_and_its_zip_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "stale.js").touch()
    write_lesson(tmp_path)
    written = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with zipfile.ZipFile(io.BytesIO(lesson_zip())) as archive:
        assert {Path(name).name: archive.read(name) for name in archive.namelist()} == written == lesson_files()


def test_what_python_gives() -> None:
    data = lesson_data()
    assert [*data["titles"], *ON_OWN_DATA] == sorted(CHAPTERS, key=lambda name: name in ON_OWN_DATA)
    assert len(data["digits"]["pixels"]) == 64 * len(data["digits"]["labels"])
    assert len(set(data["digits"]["pixels"])) == 17  # all shades


def test_its_colours_are_those_of_the_app() -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
    light, dark = lesson_files()["page.css"].decode().split("@media (prefers-color-scheme: dark)")
    for colours, text in ((theme["light"], light), (theme["dark"], dark)):
        for name in ("backgroundColor", "secondaryBackgroundColor", "textColor", "borderColor", "linkColor"):
            css = re.sub("[A-Z]", lambda letter: "-" + letter[0].lower(), name)
            assert f"--st-{css}: {colours[name]};" in text
    assert f"--st-primary-color: {theme['light']['primaryColor']};" in light
