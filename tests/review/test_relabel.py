"""Proposals that people take over: new labels of the same run, which restarts, other processes and exports find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.export import archive_data
from pll.export.convert import convert
from pll.export.readme import readme
from pll.export.run_export import export_source
from pll.review import certification
from pll.review.decided import Decided
from pll.review.desk import Desk
from pll.review.logit import propose
from pll.review.queue_manager import QueueManager
from pll.review.relabel import ProposedLabels, proposals, teaching_decisions
from pll.review.session import Settings, open_review
from pll.review.signals import ReviewSignals
from pll.runs.registry import RunRegistry
from pll.store import Database, Store
from pll.store.tables import Opened
from tests.review_helpers import close
from tests.run_helpers import config, write_data

WITHOUT = Settings()


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
    manager = QueueManager(open_review(run, Store(Database()), runs.get, settings=settings), runs)
    manager.begin()
    manager.wait()
    return manager


def decide(manager: QueueManager, how_many: int) -> None:
    desk = Desk(manager.review, "Ann")
    for _ in range(how_many):
        one = desk.next()
        assert one is not None
        desk.decide(one, "pick", one.choices[-1].label)


def relabelled(manager: QueueManager) -> ProposedLabels:
    proposed = manager.proposed()
    assert len(proposed) and manager.relabel(proposed)
    manager.wait()
    return proposed


def test_taken_over_they_are_the_labels_and_get_a_draw_of_their_own(runs: RunRegistry) -> None:
    manager = opened(runs)
    review = manager.review
    decide(manager, 20)
    before = review.current
    proposed = manager.proposed()
    assert (proposed.before != proposed.after).all() and (np.diff(proposed.confidence) <= 0).all()
    assert (review.state.answers[proposed.rows] == 0).all()
    assert review.current is before and len(review.rounds) == 1  # to look at them changes nothing
    assert manager.relabel(proposed, by="Ann", verified=True) and not manager.relabel(proposed, by="Bob")
    assert review.round.opened == Opened("taken over", "Ann", verified=True)
    manager.wait()
    assert review.round.number == 2
    assert review.current.labels[proposed.rows].tolist() == proposed.after.tolist()
    assert review.current.run == before.run and review.previous is not None
    assert review.previous.fingerprint == before.fingerprint
    assert len(manager.proposed()) == 0  # they would change nothing more
    assert manager.signals.sharp.identified.tolist() == review.current.sharp.identified.tolist()
    assert review.order[0] == "learning"
    close(review)


def test_a_restart_and_other_processes_find_them(runs: RunRegistry) -> None:
    manager, other = opened(runs), opened(runs)
    decide(manager, 20)
    stale = other.review.refresh() or other.proposed()
    proposed = relabelled(manager)
    assert isinstance(stale, ProposedLabels) and not other.relabel(stale)  # the other was before us
    assert other.review.current.fingerprint == proposed.labels.fingerprint
    again = opened(RunRegistry(runs.root))
    assert again.review.current.fingerprint == proposed.labels.fingerprint
    assert np.array_equal(again.review.current.weights, proposed.labels.weights)
    assert len(again.review.rounds) == 2
    close(manager.review, other.review, again.review)


@pytest.mark.parametrize("harm", ["missing", "damaged", "other"])
def test_without_their_file_it_says_what_to_do(runs: RunRegistry, harm: str) -> None:
    manager = opened(runs)
    decide(manager, 20)
    proposed = relabelled(manager)
    (run,) = runs.all()
    file = run.folder.path / "review" / f"labels-{proposed.labels.fingerprint}.npy"
    if harm == "missing":
        file.unlink()
    elif harm == "damaged":
        file.write_bytes(file.read_bytes()[:50])
    else:
        np.save(file, manager.review.root.weights)
    for read in (lambda: opened(RunRegistry(runs.root)), lambda: export_source(run.folder)):
        with pytest.raises(UserError, match=r"labels-.* Put the file back"):
            read()
    close(manager.review)


def test_exports_carry_them(runs: RunRegistry, tmp_path: Path) -> None:
    manager = opened(runs)
    (run,) = runs.all()
    own = export_source(run.folder)
    proposed = relabelled(manager)  # before the first answer
    source = export_source(run.folder)
    assert (
        source.learnt["identified_label"].tolist()
        == proposed.labels.labels.tolist()
        != own.learnt["identified_label"].tolist()
    )
    decide(manager, 10)
    source = export_source(run.folder)
    assert np.array_equal(source.label_weights, proposed.labels.weights)
    assert np.array_equal(source.learnt["confidence"].to_numpy(np.float32), proposed.labels.sharp.confidence)
    decided = source.learnt["source"] == "human"
    assert decided.sum() == 10
    assert source.learnt["identified_label"][~decided].tolist() == proposed.labels.labels[~decided].tolist()
    convert(str(run.folder.path), "csv", tmp_path / "out.csv", tell=lambda notes: None)
    table = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert set(source.frame["identified_label"]) == set(table["identified_label"]) - {""}
    given_back = dict(zip(table["id"], table["identified_label"], strict=True))
    assert [given_back[name] for name in source.ids.tolist()] == source.learnt["identified_label"].tolist()
    assert "taken over in the review" in readme(source, [], []) and "taken over" not in readme(own, [], [])
    assert archive_data(source)
    close(manager.review)


def test_controls_of_no_round_ever_teach(runs: RunRegistry) -> None:
    manager = opened(runs, Settings())
    review = manager.review
    certification.promise_all_labels(review, 0.3, level=0.8)
    desk = Desk(review, "Ann")
    asked = []
    for turn in range(8):
        one = desk.next()
        while one is not None and not one.is_control:
            desk.decide(one, "skip")
            one = desk.next()
        assert one is not None
        asked.append(one.row)
        if turn % 2 and len(one.choices) > 2:
            desk.decide(one, "eliminate", one.choices[0].label)
        else:
            desk.decide(one, "pick", one.choices[-1].label)
    untaught = manager.proposed().labels.fingerprint
    nothing = opened(runs)
    assert teaching_decisions(review).rows.tolist() == []
    assert manager.proposed().decisions == 0
    relabelled(manager)
    assert review.current.fingerprint == untaught
    review.configure(goal="look")
    decide(manager, 12)
    taught = teaching_decisions(review)
    assert len(taught) and not set(taught.rows.tolist()) & set(asked)
    assert taught.eliminated is None or not taught.eliminated.any()
    close(review, nothing.review)


def test_calibration_leaves_out_what_they_were_told(runs: RunRegistry) -> None:
    manager = opened(runs, Settings())
    review = manager.review
    decide(manager, 50)
    taught = set(teaching_decisions(review).rows.tolist())
    proposed = manager.proposed()
    assert manager.relabel(proposed)
    manager.wait()
    decide(manager, 46)
    many = {row for row in taught if review.root.candidates.sizes[row] > 1}
    decided = review.state.rows_with("label", "none").tolist()
    counted = [row for row in decided if row not in many]
    assert many and certification.calibration(review).decisions == len(counted) < len(decided)
    close(review)


def test_what_was_learnt_before_a_taught_run_is_not_lost(runs: RunRegistry) -> None:
    manager = opened(runs)
    decide(manager, 30)
    before = manager.proposed().decisions
    assert before > 10
    manager.teacher.begin().join(60)
    assert manager.learnt()
    manager.wait()
    taught = teaching_decisions(manager.review)
    assert (manager.signals.sets.sizes[taught.rows] == 1).sum() > 10
    again = opened(RunRegistry(runs.root))  # and a restart does not lose it
    for one in (manager, again):
        earlier = one.teaching_decisions().earlier
        assert earlier is not None and len(earlier) > 10
        assert one.proposed().decisions == len(earlier)
    proposed = relabelled(manager)  # the labels of a taught run can be taken over, too
    assert manager.review.current.run == proposed.labels.run != manager.review.root.run
    assert again.review.refresh()
    assert again.review.current.fingerprint == proposed.labels.fingerprint
    close(manager.review, again.review)


# Twelve examples; the first six resemble each other, and so do the others. The run says 0 everywhere.
SETS = CandidateSets.from_lists([[0, 1]] * 12, n_classes=2)
NEAR = np.array([[j for j in range(6) if j != i] for i in range(6)] * 2, dtype=np.int32)
NEAR[6:] += 6
RUN = ReviewSignals(SETS, np.tile(np.array([0.6, 0.4], dtype=np.float32), 12), neighbours=NEAR)


def test_without_decisions_nothing_changes() -> None:
    made = proposals(RUN)
    assert made.labels.tolist() == [0] * 12
    assert made.changed.tolist() == []


def test_decisions_change_their_neighbours_and_those_only() -> None:
    decided = {0: 1, 1: 1, 2: 1, 6: 0, 7: 0, 8: 0}
    made = proposals(RUN, decided)
    assert set(made.changed.tolist()) == {3, 4, 5}
    assert made.labels.tolist() == [1] * 6 + [0] * 6
    assert (np.diff(made.confidence[made.changed]) <= 0).all()
    np.testing.assert_array_equal(made.weights, propose(RUN, Decided.of(SETS, decided)))
