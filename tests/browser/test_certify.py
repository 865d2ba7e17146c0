"""A certificate of all labels in a real browser: begun, worked for by keys, taken away, and verified somewhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.app import prepared_run
from tests.browser.conftest import ROOT, NewPage
from tests.browser.test_review import LOOK, enter

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MOST = 60
"""Examples of the run."""


def verify(file: Path, home: Path) -> tuple[int, str]:
    """`candid verify` on another machine, as it were: status and what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "pll", "verify", str(file)],
        cwd=ROOT,
        env=os.environ | {"PLL_HOME": str(home), "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def decide(page: Any) -> bool:
    """Press the key of the first candidate; whether there is a next example."""
    before = page.evaluate("performance.getEntriesByName('candid-key-to-next').length")
    page.keyboard.press(page.locator(".desk .pick kbd").first.inner_text())  # a class keeps its key
    page.wait_for_function(
        "before => performance.getEntriesByName('candid-key-to-next').length > before "
        "|| document.body.innerText.includes('labels were accepted without a look')",
        arg=before,
    )
    page.wait_for_timeout(LOOK)
    return not page.get_by_text("labels were accepted without a look").is_visible()


def test_from_the_browser_to_a_certificate_that_anyone_can_check(
    app: str, app_home: Path, new_page: NewPage, tmp_path: Path
) -> None:
    run_id = prepared_run(app_home, MOST, "certified")
    page = new_page(accept_downloads=True)
    enter(page, f"{app}/review?run={run_id}", "Ann")
    page.get_by_role("button", name="Certify", exact=False).first.click()
    page.get_by_role("radiogroup").get_by_text("Certify", exact=True).click()
    page.get_by_text("Then at most 5 in 100 are wrong").first.wait_for()
    slider = page.get_by_role("slider", name="Wrong labels at most")
    slider.focus()
    page.keyboard.press("End")  # 20 %
    page.get_by_text("20 in 100 (12 of 60)").first.wait_for()
    page.get_by_role("button", name="Start checking").click()
    page.locator(".desk .pick").first.wait_for()
    page.get_by_text("No percentages for the first").wait_for()
    assert "%" not in page.locator(".desk .pick").first.inner_text()
    page.wait_for_timeout(400)

    while decide(page):
        pass
    page.get_by_text("labels were accepted without a look").wait_for()

    with page.expect_download() as download:
        page.get_by_role("button", name="Download certified labels").click()
    at_the_desk = download.value.suggested_filename, Path(download.value.path()).read_text()
    page.get_by_role("link", name="Certificate and other files").click()
    page.get_by_text("Certified labels.").wait_for()
    files = {}
    for name in ("certificate.json", "certificate.html", "final.csv"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        files[name] = tmp_path / name
        download.value.save_as(files[name])
    document = json.loads(files["certificate.json"].read_text())
    assert document["result"]["complete"] and document["result"]["bound"] <= 12
    assert {one["by"] for one in document["decisions"]} == {"Ann"}
    assert any(one["control"] for one in document["decisions"])
    assert at_the_desk == ("final.csv", files["final.csv"].read_text())  # one file, one name
    assert len(at_the_desk[1].splitlines()) == MOST + 1
    assert document["plan"]["draw_hash"] in files["certificate.html"].read_text()

    status, output = verify(files["certificate.json"], tmp_path / "another home")
    assert status == 0 and "is valid" in output
    altered = document["decisions"][3]
    altered["label"] = "something else"
    files["certificate.json"].write_text(json.dumps(document))
    status, output = verify(files["certificate.json"], tmp_path / "another home")
    assert status == 2 and repr(altered["id"]) in output and "Traceback" not in output
