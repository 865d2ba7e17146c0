"""Labels that follow the decisions: in every process alike, in exports, taken back, and never by what judges them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pll.candidates import CandidateSets
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.export.convert import convert
from pll.export.parts import EXPORTS
from pll.export.readme import readme
from pll.export.run_export import export_source
from pll.review.database import Database
from pll.review.decided import Decided
from pll.review.desk import Desk
from pll.review.follow import follow, followed, teaching_decisions
from pll.review.label_snapshot import LabelSnapshot
from pll.review.logit import propose
from pll.review.queue import ReviewQueue
from pll.review.retraining import changed_by_retraining
from pll.review.session import open_review
from pll.review.signals import ReviewSignals, prepare_signals
from pll.runs.config import RunConfig
from pll.runs.registry import RunRegistry
from tests.review_helpers import close
from tests.run_helpers import config, registry_in, write_data


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    with registry_in(folder) as registry:
        run = registry.start(config(write_data(folder / "data.npz"), params={"epochs": 2}))
        run.join(60)
        prepare_signals(run.folder, run.splits().train)  # what every review of a copy would find out anew
        return run.folder.path


@pytest.fixture
def runs(tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunRegistry]:
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PLL_DATABASE_URL", raising=False)
    registry = RunRegistry(tmp_path / "runs")
    shutil.copytree(trained, registry.root / trained.name)
    yield registry
    registry.stop_all()


def opened(runs: RunRegistry) -> ReviewQueue:
    """As one process would have it."""
    run = next(run for run in runs.all() if run.config.decided_sets is None)
    queue = ReviewQueue(open_review(run, Database(), runs.get), runs)
    queue.begin()
    queue.wait()
    return queue


def decide(queue: ReviewQueue, how_many: int) -> None:
    desk = Desk(queue.review, "Ann")
    for _ in range(how_many):
        one = desk.next()
        assert one is not None
        desk.decide(one, "pick", one.choices[-1].label)
    queue.compute_order()


def test_the_undecided_follow_and_every_process_sees_the_same(runs: RunRegistry) -> None:
    queue, other = opened(runs), opened(runs)
    review = queue.review
    assert not review.current.follows and not len(queue.changes())
    decide(queue, 20)
    changed = queue.changes()
    assert len(changed) and (changed.before != changed.after).all()
    assert (review.state.answers[changed.rows] == 0).all()
    assert review.current.labels[changed.rows].tolist() == changed.after.tolist()
    assert review.label_of(int(changed.rows[0])) == changed.after[0]
    assert queue.signals.labels.certainty.identified.tolist() == review.own.certainty.identified.tolist()
    other.review.refresh()
    other.compute_order()
    again = opened(RunRegistry(runs.root))
    for one in (other, again):
        assert np.array_equal(one.review.current.weights, review.current.weights)
    close(review, other.review, again.review)


def test_changes_are_taken_back_one_by_one_or_all_and_an_undo_brings_them_again(runs: RunRegistry) -> None:
    queue = opened(runs)
    decide(queue, 20)
    desk, changed = Desk(queue.review, "Ann"), queue.changes()
    row = int(changed.rows[0])
    desk.restore([row])
    queue.compute_order()
    assert row not in queue.changes().rows and queue.review.label_of(row) == changed.before[0]
    desk.restore(queue.changes().rows)
    queue.compute_order()
    assert not len(queue.changes())
    again = opened(RunRegistry(runs.root))
    assert not len(again.changes()) and again.review.state.rows_as_run == set(changed.rows.tolist())
    desk.undo()
    queue.compute_order()
    assert set(queue.changes().rows.tolist()) == set(changed.rows.tolist()) - {row}
    assert (queue.review.state.answers[changed.rows] == 0).all()  # nobody has decided them
    close(queue.review, again.review)


def test_exports_carry_them(runs: RunRegistry, tmp_path: Path) -> None:
    queue = opened(runs)
    (run,) = runs.all()
    own = export_source(run.folder)
    decide(queue, 20)
    source = export_source(run.folder)
    assert np.array_equal(source.labels.weights, queue.review.current.weights)
    decided = source.learnt["source"] == "human"
    assert decided.sum() == 20
    assert source.learnt["identified_label"][~decided].tolist() == queue.review.current.labels[~decided].tolist()
    convert(run.folder, "csv", tmp_path / "out.csv", tell=lambda notes: None)
    table = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    given_back = dict(zip(table["id"], table["identified_label"], strict=True))
    assert [given_back[name] for name in source.labels.ids.tolist()] == source.learnt["identified_label"].tolist()
    assert "follow the decisions" in readme(source, [], []) and "follow the decisions" not in readme(own, [], [])
    close(queue.review)


def test_a_run_that_learnt_the_decisions_is_followed_on_and_what_it_changed_is_counted(
    runs: RunRegistry,
) -> None:
    queue = opened(runs)
    review = queue.review
    for times in (1, 2):
        decide(queue, 20)
        before = review.current.labels.copy()
        queue.retraining.begin().join(60)
        assert queue.adopt_retrained() and review.current.follows and len(review.versions) == times + 1
        unseen = review.state.answers == 0
        changed = changed_by_retraining(review)
        assert set(changed.rows) == set(np.flatnonzero(unseen & (before != review.current.labels)))
        assert changed.before.tolist() == before[changed.rows].tolist()
    again = opened(RunRegistry(runs.root))
    assert np.array_equal(again.review.current.weights, review.current.weights)
    assert np.array_equal(changed_by_retraining(again.review).rows, changed.rows)
    source = export_source(queue.run.folder)
    assert np.array_equal(source.labels.weights, review.current.weights)
    shutil.rmtree(runs.root / review.root.run)  # without the first run they are its own
    assert not export_source(queue.run.folder).labels.follows
    close(review, again.review)


def test_a_decision_taken_back_after_a_run_learnt_it_is_no_longer_in_its_labels(runs: RunRegistry) -> None:
    queue = opened(runs)
    review, desk = queue.review, Desk(queue.review, "Ann")
    decide(queue, 20)
    queue.retraining.begin().join(60)
    assert queue.adopt_retrained() and queue.retraining.waiting() == 0
    undone = desk.undo().event
    assert undone is not None
    row, given = undone.row, review.root.candidates[undone.row].tolist()
    assert len(given) > 1 and review.current.candidates[row].tolist() != given
    queue.forget(undone)
    assert review.current.candidates[row].tolist() == given
    assert not review.current.certainty.is_given[row] and review.weights_of(row, review.state.outcome(row))
    others = np.delete(np.arange(len(review.root)), row)
    learnt = queue.signals.sets
    assert all(review.current.candidates[other].tolist() == learnt[other].tolist() for other in others.tolist())
    assert queue.retraining.waiting() == 1  # to train without it
    source = export_source(queue.run.folder)
    assert source.labels.candidates == review.current.candidates
    assert np.array_equal(source.labels.weights, review.current.weights)
    assert source.learnt["source"][row] == "model" and source.learnt["candidates"][row].count("|") == len(given) - 1
    queue.retraining.begin().join(60)
    assert queue.adopt_retrained() and queue.retraining.waiting() == 0
    assert queue.signals.sets[row].tolist() == given
    close(review)


def test_a_decision_taken_back_is_forgotten_at_once_where_labels_had_learnt_it(runs: RunRegistry) -> None:
    queue = opened(runs)
    review, desk = queue.review, Desk(queue.review, "Ann")
    decide(queue, 20)
    undone = desk.undo().event
    assert undone is not None
    outcome = review.state.outcome(undone.row)
    assert max(review.weights_of(undone.row, outcome).values()) == 1
    queue.forget(undone)
    assert max(review.weights_of(undone.row, outcome).values()) < 1
    labels = review.current
    one = desk.next()
    assert one is not None
    desk.decide(one, "pick", one.choices[-1].label)
    undone = desk.undo().event
    assert undone is not None
    queue.forget(undone)
    assert review.current is labels  # nothing had learnt that one
    close(review)


def test_what_is_answered_while_people_certify_teaches_nothing_and_moves_no_label(runs: RunRegistry) -> None:
    queue = opened(runs)
    review = queue.review
    decide(queue, 20)
    before = teaching_decisions(review.state, review.own.candidates).rows.tolist()
    review.certify(0.2, 0.8)
    frozen = review.certification.table.labels.tolist() if review.certification else []
    labels, desk = review.current, Desk(review, "Ann")
    desk.release()
    for _ in range(12):
        one = desk.next()
        assert one is not None and one.queue in ("control", "certify")
        desk.decide(one, "pick", one.choices[-1].label)
    queue.compute_order()
    assert review.current is labels
    assert teaching_decisions(review.state, review.own.candidates).rows.tolist() == before
    review.configure(goal="look")
    decide(queue, 10)
    assert review.current is not labels
    assert review.latest_certification is not None
    assert review.latest_certification.table.labels.tolist() == frozen
    review.certify(0.2, 0.8, after=1)  # other labels by now, and another draw
    assert review.certification is not None and review.certification.table.labels.tolist() != frozen
    assert review.certification.plan.draw_number == 2
    close(review)


def certified(queue: ReviewQueue) -> None:
    """Certify the labels of this moment, and answer all that it asks for."""
    queue.review.certify(0.2, 0.8)
    desk = Desk(queue.review, "Ann")
    desk.release()
    while (one := desk.next()) is not None:
        desk.decide(one, "pick", one.choices[-1].label)


def test_the_status_says_how_many_labels_are_no_longer_those_certified(runs: RunRegistry) -> None:
    queue = opened(runs)
    review, (run,) = queue.review, runs.all()
    decide(queue, 20)
    certified(queue)
    claim = queue.status().certificate
    assert claim.startswith("at most") and "differ" not in claim
    review.configure(goal="look")
    assert review.latest_certification is not None
    seen = review.latest_certification.status(review.state).looked_at
    table = review.latest_certification.table.labels
    row = int(np.flatnonzero(~seen & (review.current.labels != review.own.labels))[0])  # it followed the decisions
    Desk(review, "Ann").restore([row])
    queue.compute_order()
    differ = int((review.current.labels != table)[~seen].sum())
    assert differ
    said = f"{claim} That is of the certified labels, from which those of today differ in {differ}."
    assert queue.status().certificate == said
    exported = export_source(run.folder).status
    assert exported is not None and exported.certificate == said
    close(review)


def test_labels_of_another_run_are_not_certified(runs: RunRegistry) -> None:
    queue = opened(runs)
    review, (root,) = queue.review, runs.all()
    decide(queue, 20)
    certified(queue)
    assert queue.status().certificate and review.certification is not None
    again = queue.retraining.begin()
    again.join(60)
    assert queue.adopt_retrained()
    queue.wait()
    assert review.certification is None and review.latest_certification is None
    assert not queue.status().certificate and queue.status().checks is None
    for run, holds in ((root, True), (again, False)):
        source = export_source(run.folder)
        assert source.status is not None and bool(source.status.certificate) == holds == (source.certified is not None)
    review.certify(0.2, 0.8, after=1)  # these get their own, and the others keep theirs
    assert export_source(root.folder).certified is not None and export_source(again.folder).certified is None
    assert review.certification is not None and review.plans[-1].run == again.id
    with pytest.raises(UserError, match=r"no final\.csv any more"):  # as when a button is pressed too late
        EXPORTS["final"].data(export_source(again.folder))
    close(review)


def test_decisions_made_before_count_as_right_in_the_certificate(runs: RunRegistry) -> None:
    queue = opened(runs)
    review = queue.review
    decide(queue, 40)
    review.certify(0.2, 0.8)
    assert review.certification is not None
    status = review.certification.status(review.state)
    assert status.looked_at.sum() == 40 and status.answered > 0 and status.wrong == 0
    with pytest.raises(UserError, match="changed in the meantime"):
        review.certify(0.2, 0.8)
    with pytest.raises(UserError, match="second try"):
        review.certify(0.2, 0.8, after=1)
    close(review)


# Twelve examples; the first six resemble each other, and so do the others. The run says 0 everywhere.
SETS = CandidateSets.from_lists([[0, 1]] * 12, n_classes=2)
NEAR = np.array([[j for j in range(6) if j != i] for i in range(6)] * 2, dtype=np.int32)
NEAR[6:] += 6
OWN = LabelSnapshot("run", np.arange(12).astype(str), SETS, np.tile(np.array([0.6, 0.4], dtype=np.float32), 12))
RUN = ReviewSignals(OWN, neighbours=NEAR)


def test_decisions_change_their_neighbours_and_those_only() -> None:
    decided = Decided.of(SETS, {0: 1, 1: 1, 2: 1, 6: 0, 7: 0, 8: 0})
    result = follow(OWN, propose(RUN, decided))
    assert result.certainty.identified.tolist() == [1] * 6 + [0] * 6
    np.testing.assert_array_equal(result.weights, propose(RUN, decided))
    kept = follow(OWN, propose(RUN, decided), {4})
    assert kept.certainty.identified.tolist() == [1, 1, 1, 1, 0, 1] + [0] * 6


def test_what_is_ruled_out_is_never_the_label_also_of_decisions_too_few_to_learn_from() -> None:
    decided = Decided.of(SETS, {0: 1}, eliminated=[(3, 0)])
    data = PartialLabelDataset(X=np.zeros((12, 1), dtype=np.float32), candidates=SETS)
    result = followed(OWN, RunConfig(Source("data"), "proden"), data, propose(RUN, decided), decided)
    assert result.certainty.identified.tolist() == [0] * 3 + [1] + [0] * 8
    np.testing.assert_array_equal(np.delete(result.weights, [6, 7]), np.delete(OWN.weights, [6, 7]))


def test_a_set_that_may_miss_the_truth_does_not_become_certain() -> None:
    sets = CandidateSets.from_lists([[0, 1]] * 11 + [[0]], n_classes=2)
    weights = np.append(np.tile(np.array([0.6, 0.4], dtype=np.float32), 11), np.float32(1))
    held_out = (0.5 * weights).astype(np.float32)  # of voters: half is for labels that nobody named
    own = LabelSnapshot("run", np.arange(12).astype(str), sets, weights, held_out)
    decided = Decided.of(sets, {0: 1, 1: 1, 2: 1, 6: 0, 7: 0, 8: 0})
    result = follow(own, propose(ReviewSignals(own, neighbours=NEAR), decided))
    assert result.follows and result.certainty.confidence[11] == 0.5
    assert result.certainty.confidence.max() <= 0.5


def test_of_a_run_that_learnt_the_decisions_they_are_judged_by_the_first_run() -> None:
    """There they stand as sets of one, and "none of these" as the other labels, as if all had missed."""
    decided = {row: row % 2 for row in range(3)} | dict.fromkeys(range(3, 9), 4)
    left = {row: [label] if label < 4 else [2, 3] for row, label in decided.items()}
    names = ["a", "b", "c", "d", "e"]
    before, after = (
        CandidateSets.from_lists([some.get(row, [0, 1]) for row in range(16)], 5, names) for some in ({}, left)
    )

    def signals_of(sets: CandidateSets, first: ReviewSignals | None = None) -> ReviewSignals:
        weights = np.where(sets.indices % 2 == 0, 0.6, 0.4).astype(np.float32)
        weights[np.repeat(sets.sizes == 1, sets.sizes)] = 1
        return ReviewSignals(LabelSnapshot("run", np.arange(16).astype(str), sets, weights, weights), first=first)

    first = signals_of(before)
    known, again = Decided.of(before, decided), Decided.of(after, decided)
    at_first, p = propose(first, known), propose(signals_of(after, first), again, known)
    others = slice(9, 16)  # the same sets and weights, so the same is said of them
    np.testing.assert_allclose(
        p[after.positions(np.arange(16)[others])], at_first[before.positions(np.arange(16)[others])]
    )
