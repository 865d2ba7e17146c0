"""The train page: from nothing to settings to a run, and every view of a run that has ended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from streamlit.elements.lib import policies

from pll.catalog.sources import Source
from pll.methods import recipe
from pll.review.desk import Desk
from pll.runs.config import DataConfig
from pll.runs.fit_loop import FitLoop
from pll.runs.folder import RunFolder
from pll.runs.history import History
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.training import devices
from pll.ui import session
from pll.ui.train import ended
from pll.ui.train.views import VIEWS
from pll.weights import CONFIDENT, taken_home
from tests.page_helpers import IRIS, begun, button, said


def test_a_recipe_is_searched_and_told(open_page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "COMPARED_AFTER", (2, 4))
    monkeypatch.setattr(recipe, "SURVIVING", (1.0, 0.2))
    page = open_page("home")
    page.session_state["choice"] = DataConfig(Source("iris"), flip=Flip("binomial", 0.3))
    page.switch_page("../../pages/train.py").run()
    button(page, "Start training").click().run()
    assert not page.exception
    (run,) = session.registry().all()
    run.join(60)
    page.run()
    assert not page.exception
    assert "Settings of the recipe auto" in " ".join(run.snapshot().lane.notes)
    chosen = run.folder.recipe()
    assert chosen is not None and chosen.complete and run.snapshot().epoch == chosen.settings["epochs"]


@pytest.fixture
def irises(open_page: Any) -> Any:
    """The page before a run on irises."""
    page = open_page("home")
    page.session_state["choice"] = DataConfig(Source("iris"), flip=Flip("binomial", 0.3))
    return page.switch_page("../../pages/train.py").run()


def field(page: Any, label: str) -> Any:
    (found,) = [one for one in (*page.number_input, *page.selectbox) if one.label == label]
    return found


def test_a_reload_has_the_data_and_the_settings_again(irises: Any, open_page: Any) -> None:
    page = field(irises, "Method").set_value("proden-naive").run()
    page = field(page, "Recipe").set_value("default").run()
    page = field(page, "Epochs").set_value(37).run()
    page = field(page, "Model").set_value("mlp").run()
    name = page.query_params["setup"]
    again = open_page("train", setup=name)  # another session, as after F5
    assert not again.exception and not again.info
    held = {label: field(again, label).value for label in ("Method", "Recipe", "Epochs", "Model")}
    assert held == {"Method": "proden-naive", "Recipe": "default", "Epochs": 37.0, "Model": "mlp"}
    button(again, "Reset").click().run()  # of this tab alone
    assert field(page.run(), "Epochs").value == 37
    data = again.switch_page("../../pages/data.py").run()
    assert data.selectbox(key="dataset").value == "iris"  # it is open there too
    assert "Nothing to train on yet" in open_page("train", setup="another").info[0].value
    page = button(page, "Start training").click().run()
    assert "setup" not in page.query_params and "run" in page.query_params


def test_data_chosen_in_one_tab_leaves_what_another_tabs_address_names(irises: Any, open_page: Any) -> None:
    name = irises.query_params["setup"]
    page = open_page("train", setup=name).switch_page("../../pages/data.py").run()
    page = button(page.selectbox(key="dataset").set_value("digits").run(), "Settings").click().run()
    page = page.switch_page("../../pages/train.py").run()
    assert "**digits**" in said(page) and page.query_params["setup"] != name
    page = field(page, "Epochs").set_value(37).run()
    assert "**iris**" in said(open_page("train", setup=name))
    digits = page.query_params["setup"]
    for address, data, epochs in ((name, "iris", None), (digits, "digits", 37)):  # Back and Forward of the browser
        page.query_params["setup"] = address
        page.run()
        assert f"**{data}**" in said(page) and page.query_params["setup"] == address
        assert field(page, "Epochs").value == epochs


def test_a_setting_of_one_tab_is_not_that_of_another_at_the_same_address(irises: Any, open_page: Any) -> None:
    name = irises.query_params["setup"]
    first = field(irises, "Epochs").set_value(37).run()
    second = open_page("train", setup=name).run()
    assert second.query_params["setup"] == name and field(second, "Epochs").value == 37
    second = field(second, "Epochs").set_value(5).run().run()
    assert field(open_page("train", setup=name), "Epochs").value == 37
    own = second.query_params["setup"]
    assert own != name and field(open_page("train", setup=own), "Epochs").value == 5
    second = field(second, "Epochs").set_value(6).run()
    assert second.query_params["setup"] == own  # and Back does not go through every setting
    first = field(first, "Epochs").set_value(38).run()
    assert first.query_params["setup"] == name and field(open_page("train", setup=name), "Epochs").value == 38


def test_a_reload_has_the_held_out_share_again_and_no_warning_in_the_log(
    irises: Any, open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "_shown_default_value_warning", False)
    irises.slider[0].set_value(0.35).run()
    again = open_page("train", setup=irises.query_params["setup"])
    assert not again.exception and again.slider[0].value == 0.35
    assert not policies._shown_default_value_warning


@pytest.mark.usefixtures("login")
def test_what_one_person_chose_is_nobody_elses(open_page: Any) -> None:
    ann, bob = ({"is_logged_in": True, "email": f"{who}@example.org"} for who in ("ann", "bob"))
    page = open_page("home", user=ann)
    page.session_state["choice"] = DataConfig(Source("iris"), flip=Flip("binomial", 0.3))
    name = page.switch_page("../../pages/train.py").run().query_params["setup"]
    assert not open_page("train", user=ann, setup=name).info
    assert "Nothing to train on yet" in open_page("train", user=bob, setup=name).info[0].value


def test_start_says_all_that_is_wrong_as_the_page_names_it(irises: Any) -> None:
    wrong = {
        "Epochs": 1e9,
        "Learning rate": 0,
        "Batch size": 1.5,
        "Weight decay": -1,
        "Momentum": 1,
        "Seed": -1,
        "CPU threads": 5000,
    }
    page = irises
    for name, value in wrong.items():
        page = field(page, name).set_value(value).run()
        assert not page.exception and button(page, "Start training").disabled
    (message,) = page.error
    for name in wrong:
        assert f"{name} is " in message.value and any(f":red[{name} is " in one.value for one in page.caption)
    page = button(page, "Reset").click().run()
    assert not page.error and not button(page, "Start training").disabled


def test_the_fields_hold_what_the_recipe_uses_and_keep_what_was_put_in(irises: Any) -> None:
    page = irises.selectbox(key="setup-recipe").set_value("default").run()
    names = ("Epochs", "Learning rate", "Batch size", "Weight decay")
    assert [field(page, name).value for name in names] == [100, 0.05, 32, 0.001]
    page = page.selectbox(key="setup-recipe").set_value("auto").run()
    assert [field(page, name).value for name in names] == [None] * 4
    page = page.selectbox(key="setup-recipe").set_value("paper").run()
    assert field(page, "Epochs").value == 500 and field(page, "Momentum").value == 0.9
    page = field(page, "Epochs").set_value(100).run()  # which is the default
    page = field(page, "Optimiser").set_value("sgd").run()
    page = field(page, "Loss").set_value("gce").run()
    button(page, "Start training").click().run()
    assert not page.exception
    (run,) = session.registry().all()
    assert run.config.params == {"model": "linear", "recipe": "paper", "epochs": 100, "loss": "gce", "threads": 1} | {
        "threads": run.config.params["threads"]
    }
    run.stop()


def test_where_there_are_gpus_one_can_be_chosen(irises: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not [one for one in irises.selectbox if one.label == "Device"]  # the CPU alone: there is nothing to choose
    monkeypatch.setattr("pll.ui.train.settings_form.devices", lambda: ("auto", "cuda:0", "cuda:1", "cpu"))
    monkeypatch.setattr(
        "pll.training.devices.memory_of", lambda name: None if name == "cpu" else devices.Memory(21 * 10**9, 24 * 10**9)
    )
    page = irises.run()
    assert field(page, "Device").options == ["Automatic", "GPU 0, 3 of 24 GB", "GPU 1, 3 of 24 GB", "CPU"]
    page = field(page, "Device").set_value("cpu").run()
    button(page, "Start training").click().run()
    (run,) = session.registry().all()
    assert run.config.params["device"] == "cpu"
    run.stop()


def run_asked_for(page: Any) -> str:
    """The run in the address."""
    value = page.query_params["run"]
    return str(value[0] if isinstance(value, list) else value)


def test_a_request_with_the_replaced_id_does_not_bring_the_old_run_back(open_page: Any, finished: Run) -> None:
    page = open_page("train", run=finished.id)
    button(page, "Restart").click().run()
    (new,) = [run for run in session.registry().all() if run.id != finished.id]
    assert run_asked_for(page) == new.id
    for _ in range(2):  # a refresh and a press, both sent before the browser heard of the new address
        page.query_params["run"] = finished.id
        page.run()
        assert run_asked_for(page) == new.id
    page.run()  # the browser knows the new address
    page.query_params["run"] = finished.id  # and is then led to the old run on purpose
    page.run()
    assert run_asked_for(page) == finished.id


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_a_finished_run(open_page: Any, finished: Run, view: str) -> None:
    page = open_page("train", run=finished.id)
    page.session_state[f"run-view-{finished.id}"].view = view
    page.run()
    assert not page.exception
    told = {"Pictures": "Where each example is heading", "Examples": "Least sharp", "Map": "Neighbours are alike"}
    assert told[view] in said(page) + str([option for one in page.button_group for option in one.options])
    assert ("that of the trained model alone" in said(page)) == (view == "Examples")  # since the export may differ


def test_an_example_that_somebody_decided_says_so(open_page: Any, finished: Run) -> None:
    queue = begun(finished)
    one = Desk(queue.review, "Ada").show(3)
    Desk(queue.review, "Ada").decide(one, "pick", one.choices[-1].label)
    page = open_page("train", run=finished.id)
    looking = page.session_state[f"run-view-{finished.id}"]
    looking.view, looking.selected = "Examples", 3
    page.run()
    assert not page.exception and f"decided: {one.choices[-1].label}" in said(page)
    looking.selected = 4
    assert "decided: " not in said(page.run())
    queue.wait()


def test_settings_of_a_run_are_called_as_in_the_form(open_page: Any, finished: Run) -> None:
    page = open_page("train", run=finished.id)
    page.session_state[f"expert-view-{finished.id}"] = "Settings"
    table = next(one.value for one in page.run().dataframe if "setting" in one.value)
    shown = dict(zip(table["setting"], table["value"], strict=True))
    assert "Learning rate" in shown and shown["Loss"] == "Cross-entropy"
    assert not [name for name in shown if "_" in name or name[0].islower()]


def test_slow_motion_goes_through_four_steps_and_takes_the_last(open_page: Any, finished: Run) -> None:
    page = open_page("train", run=finished.id)
    button(page, "Restart").click().run()
    run = session.registry().get(page.session_state["run"])
    run.wait_until_paused(30)
    page.session_state[f"expert-view-{run.id}"] = "Slow motion"
    page.run()
    for step in ("loss", "gradient", "new weights"):
        button(page, f"Next: {step}").click().run()
        assert not page.exception
    sheet = page.dataframe[-1].value
    assert sheet["old weight w"].sum() == pytest.approx(1, abs=1e-6)
    assert sheet["new weight"].sum() == pytest.approx(1, abs=1e-6)
    button(page, "Take this step").click().run()
    run.wait_until_paused(30)
    assert not page.exception
    record, data = run.snapshot().lane.record, run.splits().train
    assert record is not None and record.epoch == 1  # an epoch of irises is one mini-batch
    weights = record.label_weights
    names = list(sheet["candidate"])
    found = [
        row
        for row in range(len(data))
        if data.sets().names(row) == names
        and np.array_equal(weights[data.sets().positions(np.array([row]))].astype(np.float64), sheet["new weight"])
    ]
    assert found  # exactly the weights that had been shown


def test_the_result_counts_what_was_found_out_on_unseen_examples(
    open_page: Any, finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[int] = []
    monkeypatch.setattr(ended, "taken_home", lambda *args: computed.append(1) or taken_home(*args))
    train = finished.splits().train
    held_out = finished.folder.held_out(train.sets())
    labels = taken_home(History(finished.folder.history, train.sets()).final(), held_out, train.sets())
    certain = labels.confidence >= CONFIDENT
    page = open_page("train", run=finished.id)
    assert f"{certain.sum():,} certain, {(~certain).sum():,} worth a look" in said(page)
    wrong = float((1 - labels.confidence[certain]).sum())
    assert (f"About {round(wrong)} of the {certain.sum():,} may be wrong" in said(page)) == (wrong >= 0.5)
    page.session_state[f"run-view-{finished.id}"].look(3, False, 1)  # as the timeline does
    assert f"{certain.sum():,} certain" in said(page.run())
    assert len(computed) == 1


def test_where_it_was_skipped_nothing_is_called_certain_until_it_is_found_out(open_page: Any) -> None:
    page = open_page("train")
    folder = RunFolder(session.registry().root / "skipped")
    folder.create(IRIS)
    loop = FitLoop(folder, on_step=lambda *_: loop.skip())
    loop.train()
    page.query_params["run"] = "skipped"
    page = page.run()
    assert "How sure they are is not known" in said(page) and " certain" not in said(page)
    button(page, "Find out how sure").click().run()
    session.registry().get("skipped").join(60)
    assert " certain, " in said(page.run())
