"""The promise about all labels on the pages: made, kept at the desk, taken away, verified elsewhere."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pll.cli.main import main
from pll.export.run_export import export_run
from pll.review import certification
from pll.review.desk import Desk
from pll.runs.run import Run
from pll.ui.review import promise_panel, service
from tests.page_helpers import begun, button, entered, figures, labels, said, turned_to


def decide_all(run: Run, name: str = "Ada") -> None:
    """Answer what the desk hands out, as someone who agrees with the model two times out of three."""
    desk = Desk(service.manager_of(run).review, name)
    while (one := desk.next()) is not None:
        other = next((choice.label for choice in one.choices if choice.label != one.identified), one.identified)
        desk.decide(one, "pick", other if one.row % 7 == 0 else one.identified, blind=True)


def test_a_promise_about_all_labels_from_the_form_to_a_certificate_checked_elsewhere(
    open_page: Any, finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    page = entered(open_page("review", run=finished.id))
    page = turned_to(page, finished)
    page.session_state[promise_panel.BOX] = True
    page = page.run()
    review = service.manager_of(finished).review
    (goal,) = page.radio
    assert goal.value == "look" and not page.exception
    page = goal.set_value("certify").run()
    page = page.select_slider(key=f"review-all-{review.id}-error").set_value(0.2).run()
    assert not page.exception and "then at most 20 in 100 are wrong" in said(page)
    page = button(page, "Start checking").click().run()
    assert not page.exception
    promise = review.promise
    assert promise is not None and (promise.record.error, promise.record.made_by) == (0.2, "Ada")
    assert page.session_state["review-sitting"][1].hides
    page = turned_to(page, finished)
    assert not page.exception and {"Checks to go", "Minutes to go"} <= figures(page).keys()
    (bar,) = page.get("progress")
    assert bar.proto.text.startswith("Check about") and "controls" not in said(page).lower()

    export = open_page("export", run=finished.id)
    assert not export.exception and "before these labels are certified" in said(export)
    decide_all(finished)
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    assert not page.exception and "Certified: at most 20 in 100" in said(page)
    page = turned_to(page, finished, "One by one")
    assert not page.exception and "Certified: at most 20 in 100" in said(page)
    assert [one.proto.label for one in page.get("download_button")] == ["Download certified labels"]
    export = open_page("export", run=finished.id)
    assert not export.exception and "of all 150 labels" in said(export)

    labels = [one.proto.label for one in export.get("download_button")]
    assert labels[:3] == ["Download final.csv", "Download certificate.html", "Download certificate.json"]
    export_run(finished.folder, tmp_path / "out")
    with zipfile.ZipFile(next((tmp_path / "out").glob("*.zip"))) as archive:
        assert {"certificate.json", "certificate.html", "final.csv"} <= {*archive.namelist()}
        document, told = json.loads(archive.read("certificate.json")), archive.read("README.md").decode()
        assert len(archive.read("final.csv").splitlines()) == 151
    assert document["result"]["statement"] in told and "candid verify certificate.json" in told
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(document))
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "another home"))
    assert main(["verify", str(file)]) == 0
    document["decisions"][9]["label"] = "altered"
    file.write_text(json.dumps(document))
    capsys.readouterr()
    assert main(["verify", str(file)]) == 2
    assert repr(document["decisions"][9]["id"]) in capsys.readouterr().err


def test_a_promise_can_be_made_later(open_page: Any, finished: Run) -> None:
    review = begun(finished).review
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    assert not page.get("progress")
    certification.promise_all_labels(review, 0.1, by="Ada")
    desk = Desk(review, "Ada")
    for _ in range(12):
        one = desk.next()
        assert one is not None
        desk.decide(one, "pick", one.identified)
    page = turned_to(page, finished, "One by one")
    page = turned_to(page, finished)
    assert not page.exception
    found = promise_panel.standing_of(page.session_state["review-sitting"][1], review.promise)
    assert found.words.startswith("Check about") and found.words.endswith("10 in 100 are wrong (sure to 95 %).")
    assert found.note
    assert "Start checking" not in labels(page)  # in a popover, closed
    assert len(review.rounds) == 1

    page.session_state[promise_panel.BOX] = True
    assert not button(page.run(), "Start checking").disabled  # 5 %; 10 % are promised already


def test_whether_people_look_or_certify_is_kept(open_page: Any, finished: Run) -> None:
    review = begun(finished).review
    certification.promise_all_labels(review, 0.05, by="Ada")
    page = entered(open_page("review", run=finished.id))
    page.session_state[promise_panel.BOX] = True  # offered at the desk too
    page = page.run()
    (goal,) = page.radio
    assert goal.value == "certify" and "Begun 2 times" in said(page)
    assert button(page, "Start checking").disabled  # the same promise again
    page = goal.set_value("look").run()
    page = button(page, "Look").click().run()
    assert not page.exception and review.promise is None and not page.session_state["review-sitting"][1].hides
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    assert not page.get("progress")
    assert "before these labels are certified" in said(open_page("export", run=finished.id))  # it is not forgotten
    page.session_state[promise_panel.BOX] = True
    page = page.run().radio[0].set_value("certify").run()
    page = button(page, "Certify").click().run()
    made = service.manager_of(finished).review.promise
    assert not page.exception and made is not None and made.promise.draw_number == 1
