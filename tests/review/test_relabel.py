"""Proposals that people take over: new labels of the same run, which restarts, other processes and exports find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pll.errors import UserError
from pll.export import archive_data
from pll.export.convert import convert
from pll.export.readme import readme
from pll.export.run_export import export_source
from pll.review.opening import open_review
from pll.review.queue_manager import QueueManager
from pll.review.relabel import Offer, teaching_decisions
from pll.review.rounds import Promise, certificate_of
from pll.review.settings import Settings
from pll.runs.registry import RunRegistry
from pll.store import Database, Store
from pll.store.records import Opened
from tests.review_helpers import close
from tests.run_helpers import config, write_data

WITHOUT = Settings(mix=0.0, promise=Promise(share=0.2, max_error=0.3))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunRegistry]:
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PLL_DATABASE_URL", raising=False)
    registry = RunRegistry(tmp_path / "runs")
    registry.start(config(write_data(tmp_path / "data.npz"), params={"epochs": 2})).join(60)
    yield registry
    registry.stop_all()


def opened(runs: RunRegistry, settings: Settings = WITHOUT) -> QueueManager:
    """As one process would have it."""
    run = next(run for run in runs.all() if run.config.decided_sets is None)
    guide = QueueManager(open_review(run, Store(Database()), runs.get, settings=settings), runs)
    guide.begin()
    guide.wait()
    return guide


def decide(guide: QueueManager, how_many: int) -> None:
    desk = guide.reviewing.desk("Ann")
    for _ in range(how_many):
        one = desk.next()
        assert one is not None
        desk.decide(one, "pick", one.choices[-1].label)


def taken_over(guide: QueueManager) -> Offer:
    offer = guide.offer()
    assert len(offer) and guide.take_over(offer)
    guide.wait()
    return offer


def test_taken_over_they_are_the_labels_and_get_a_draw_of_their_own(runs: RunRegistry) -> None:
    guide = opened(runs)
    review = guide.reviewing
    decide(guide, 20)
    before, first = review.current, review.round
    offer = guide.offer()
    assert (offer.before != offer.after).all() and (np.diff(offer.confidence) <= 0).all()
    assert (review.state.answers[offer.rows] == 0).all()
    assert review.current is before and len(review.rounds) == 1  # to look at them changes nothing
    assert guide.take_over(offer, by="Ann", verified=True) and not guide.take_over(offer, by="Bob")
    assert review.round.opened == Opened("taken over", "Ann", verified=True)
    guide.wait()
    assert review.round.number == 2 and review.round.seed != first.seed
    assert review.current.labels[offer.rows].tolist() == offer.after.tolist()
    assert review.current.run == before.run and review.previous is not None
    assert review.previous.fingerprint == before.fingerprint
    assert len(guide.offer()) == 0  # they would change nothing more
    assert guide.signals.sharp.identified.tolist() == review.current.sharp.identified.tolist()
    assert review.order[0] == "learning"
    review.certificate()
    with pytest.raises(UserError, match="have changed since its controls were drawn"):
        certificate_of(first, review.current, review.state, review.asked)
    close(review)


def test_a_restart_and_other_processes_find_them(runs: RunRegistry) -> None:
    guide, other = opened(runs), opened(runs)
    decide(guide, 20)
    stale = other.reviewing.refresh() or other.offer()
    offer = taken_over(guide)
    assert isinstance(stale, Offer) and not other.take_over(stale)  # the other was before us
    assert other.reviewing.current.fingerprint == offer.labels.fingerprint
    again = opened(RunRegistry(runs.root))
    assert again.reviewing.current.fingerprint == offer.labels.fingerprint
    assert np.array_equal(again.reviewing.current.weights, offer.labels.weights)
    assert len(again.reviewing.rounds) == 2
    close(guide.reviewing, other.reviewing, again.reviewing)


@pytest.mark.parametrize("harm", ["missing", "damaged", "other"])
def test_without_their_file_it_says_what_to_do(runs: RunRegistry, harm: str) -> None:
    guide = opened(runs)
    decide(guide, 20)
    offer = taken_over(guide)
    (run,) = runs.all()
    file = run.folder.path / "review" / f"labels-{offer.labels.fingerprint}.npy"
    if harm == "missing":
        file.unlink()
    elif harm == "damaged":
        file.write_bytes(file.read_bytes()[:50])
    else:
        np.save(file, guide.reviewing.root.weights)
    for read in (lambda: opened(RunRegistry(runs.root)), lambda: export_source(run.folder)):
        with pytest.raises(UserError, match=r"labels-.* Put the file back"):
            read()
    close(guide.reviewing)


def test_exports_carry_them(runs: RunRegistry, tmp_path: Path) -> None:
    guide = opened(runs)
    (run,) = runs.all()
    own = export_source(run.folder)
    offer = taken_over(guide)  # before the first answer
    source = export_source(run.folder)
    assert (
        source.frame["identified_label"].tolist()
        == offer.labels.labels.tolist()
        != own.frame["identified_label"].tolist()
    )
    decide(guide, 10)
    source = export_source(run.folder)
    assert np.array_equal(source.label_weights, offer.labels.weights)
    assert np.array_equal(source.frame["confidence"].to_numpy(np.float32), offer.labels.sharp.confidence)
    decided = source.frame["source"] == "human"
    assert decided.sum() == 10
    assert source.frame["identified_label"][~decided].tolist() == offer.labels.labels[~decided].tolist()
    convert(str(run.folder.path), "csv", tmp_path / "out.csv", tell=lambda notes: None)
    table = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert set(source.frame["identified_label"]) == set(table["identified_label"]) - {""}
    given_back = dict(zip(table["id"], table["identified_label"], strict=True))
    assert [given_back[name] for name in source.ids.tolist()] == source.frame["identified_label"].tolist()
    assert "taken over in the review" in readme(source, [], []) and "taken over" not in readme(own, [], [])
    assert archive_data(source)
    close(guide.reviewing)


def test_controls_of_no_round_ever_teach(runs: RunRegistry) -> None:
    guide = opened(runs, Settings(mix=1.0, promise=Promise(share=0.3, max_error=0.3)))
    review = guide.reviewing
    desk = review.desk("Ann")
    asked = []
    for turn in range(8):
        one = desk.next()
        assert one is not None and one.is_control
        asked.append(one.row)
        if turn % 2 and len(one.choices) > 2:
            desk.decide(one, "eliminate", one.choices[0].label)
        else:
            desk.decide(one, "pick", one.choices[-1].label)
    untaught = guide.offer().labels.fingerprint
    nothing = opened(runs)
    assert teaching_decisions(review).rows.tolist() == []
    assert guide.offer().decisions == 0
    taken_over(guide)
    assert review.current.fingerprint == untaught
    review.configure(mix=0.0)
    decide(guide, 12)
    taught = teaching_decisions(review)
    assert len(taught) and not set(taught.rows.tolist()) & set(asked)
    assert taught.eliminated is None or not taught.eliminated.any()
    close(review, nothing.reviewing)


def test_calibration_leaves_out_what_they_were_told(runs: RunRegistry) -> None:
    guide = opened(runs, Settings(mix=0.0, promise=Promise(share=0.9, max_error=0.3)))
    review = guide.reviewing
    decide(guide, 50)
    told = set(teaching_decisions(review).rows.tolist())
    offer = guide.offer()
    assert guide.take_over(offer)
    guide.wait()
    decide(guide, 46)
    many = {row for row in told if review.root.candidates.sizes[row] > 1}
    counted = [row for row in review.round.controls if row not in many]
    assert many and review.calibration().decisions == len(counted) < len(review.round.controls)
    close(review)


def test_what_was_learnt_before_a_taught_run_is_not_lost(runs: RunRegistry) -> None:
    guide = opened(runs)
    decide(guide, 30)
    before = guide.offer().decisions
    assert before > 10
    guide.teacher.begin().join(60)
    assert guide.learnt()
    guide.wait()
    taught = teaching_decisions(guide.reviewing)
    assert (guide.signals.sets.sizes[taught.rows] == 1).sum() > 10
    again = opened(RunRegistry(runs.root))  # and a restart does not lose it
    for one in (guide, again):
        earlier = one.teaching_decisions().earlier
        assert earlier is not None and len(earlier) > 10
        assert one.offer().decisions == len(earlier)
    offer = taken_over(guide)  # the labels of a taught run can be taken over, too
    assert guide.reviewing.current.run == offer.labels.run != guide.reviewing.root.run
    assert again.reviewing.refresh()
    assert again.reviewing.current.fingerprint == offer.labels.fingerprint
    close(guide.reviewing, again.reviewing)
