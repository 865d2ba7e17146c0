"""The certificate of a whole dataset: what counts, what is refused, and that every alteration shows."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from pll.errors import UserError
from pll.review import dataset_certificate as dc
from pll.review.tables import START, broken_links, chained

N = 300


def table(seed=0):
    rng = np.random.default_rng(seed)
    ids = np.array([f"id{i}" for i in range(N)])
    labels = np.array(["cat", "dog"])[rng.integers(0, 2, N)]
    return dc.LabelTable(ids, labels, np.round(rng.random(N), 2))


def truth_of(labels, seed=0):
    """The larger the confidence, the more often right."""
    rng = np.random.default_rng(seed + 1)
    wrong = rng.random(len(labels)) < 0.7 * (1 - labels.confidence) ** 2
    return np.where(wrong, "fox", labels.labels), wrong


def decided(labels, promise, truth, rows=None):
    rows = dc.controls_of(promise, labels) if rows is None else rows
    return [dc.CheckedLabel(str(labels.ids[row]), str(truth[row]), by="Ada") for row in rows]


def whole(seed=0, *, reranked=False, error=0.08):
    """A table, a promise, everything that people are asked, and what follows."""
    labels = table(seed)
    truth, wrong = truth_of(labels, seed)
    promise = dc.make_promise(labels, error, 0.9, seed=seed, reranked=reranked)
    said = decided(labels, promise, truth)
    for _ in range(N):
        found = dc.judge(promise, labels, said)
        if not len(found.remaining) or found.wrong_inside <= promise.plan.tolerated:
            break
        said += decided(labels, promise, truth, found.remaining[:10])
    said += decided(labels, promise, truth, dc.judge(promise, labels, said).remaining)
    return labels, promise, said, dc.judge(promise, labels, said), wrong


@pytest.mark.parametrize("reranked", [False, True])
def test_a_finished_review(reranked):
    labels, promise, said, found, wrong = whole(reranked=reranked)
    document = dc.certificate_document(promise, labels, said, found)
    result = document["result"]
    assert result["complete"] and result["to_be_looked_at"] == 0 and not len(found.remaining)
    assert result["accepted_unseen"] + result["looked_at"] == N
    assert result["bound"] == 24 and result["attained_alpha"] <= 0.1
    assert wrong[found.accepted & ~found.looked_at].sum() <= 24  # this draw; tests of the rule say how often
    assert dc.verify_document(json.loads(json.dumps(document))) == []


def test_unsure_counts_as_wrong():
    labels = table()
    truth, _ = truth_of(labels)
    promise = dc.make_promise(labels, 0.08, 0.9, seed=1)
    said = decided(labels, promise, truth)
    before = dc.judge(promise, labels, said)
    inside = next(k for k, one in enumerate(said) if before.accepted[int(one.id[2:])] and one.label != "fox")
    said[inside] = dc.CheckedLabel(said[inside].id, None)
    after = dc.judge(promise, labels, said)
    assert after.accepted.sum() <= before.accepted.sum() and after.unsure == before.unsure + 1
    assert not after.checked[int(said[inside].id[2:])]
    document = dc.certificate_document(promise, labels, said, after)
    assert (
        document["result"]["unsure"] == 1
        and document["result"]["bound"] == 25
        and "could not tell" in document["result"]["statement"]
    )


def test_a_reranked_review_that_has_not_ended_says_what_to_look_at_next():
    labels = table()
    truth, _ = truth_of(labels)
    promise = dc.make_promise(labels, 0.08, 0.9, seed=0, reranked=True)
    said = decided(labels, promise, truth)
    found = dc.judge(promise, labels, said)
    assert not found.accepted.any()
    with pytest.raises(UserError, match=r"Go on .*next"):
        dc.certificate_document(promise, labels, said, found)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: (t.ids, np.where(t.ids == "id3", "fox", t.labels), t.confidence), "have changed"),
        (lambda t: (t.ids, t.labels, t.confidence + 1e-9), "have changed"),
        (lambda t: (t.ids[:-1], t.labels[:-1], t.confidence[:-1]), "have changed"),
    ],
)
def test_changed_labels_are_refused(change, words):
    labels = table()
    promise = dc.make_promise(labels, 0.08, 0.9, seed=0)
    with pytest.raises(UserError, match=words):
        dc.controls_of(promise, dc.LabelTable(*change(labels)))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([dc.CheckedLabel("nobody", "cat")], "no such id"),
        ([dc.CheckedLabel("id1", "cat"), dc.CheckedLabel("id1", "dog")], "two decisions on 'id1'"),
    ],
)
def test_decisions_that_do_not_belong_are_refused(said, words):
    labels = table()
    promise = dc.make_promise(labels, 0.08, 0.9, seed=0)
    with pytest.raises(UserError, match=words):
        dc.judge(promise, labels, said)


def altered(document, path, value):
    found = copy.deepcopy(document)
    place = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return found


def test_every_alteration_shows():
    labels, promise, said, found, _ = whole()
    document = dc.certificate_document(promise, labels, said, found)
    one = document["decisions"][7]["id"]
    problems = dc.verify_document(altered(document, ("decisions", 7, "label"), "cow"))
    assert len(problems) == 1 and repr(one) in problems[0]
    removed = copy.deepcopy(document)
    del removed["decisions"][7]
    assert repr(removed["decisions"][7]["id"]) in dc.verify_document(removed)[0]
    for path, value in [
        (("labels", "identified_label", 5), "cow"),
        (("labels", "confidence", 5), 0.123456),
        (("promise", "seed"), 99),
        (("promise", "error"), 0.01),
        (("plan", "tolerated"), document["plan"]["tolerated"] + 1),
        (("result", "accepted"), N),
        (("result", "bound"), 1),
        (("result", "accepted_unseen"), N),
        (("result", "attained_alpha"), 0.001),
        (("result", "statement"), "All is well."),
    ]:
        assert dc.verify_document(altered(document, path, value)), path
    assert "damaged" in dc.verify_document({name: document[name] for name in ("format", "version")})[0]


def test_a_forged_chain_with_controls_chosen_by_hand_shows():
    """Whoever makes all hashes anew still cannot choose the controls: the draw follows from the committed seed."""
    labels, promise, said, found, _ = whole()
    document = dc.certificate_document(promise, labels, said, found)
    forged = copy.deepcopy(document)
    entries = [{k: v for k, v in one.items() if k != "hash"} for one in forged["decisions"]]
    easy = next(one for one in entries if not one["control"])
    easy["control"] = True
    forged["decisions"] = chained(entries, forged["promise"]["draw_hash"])
    assert any("control" in problem and repr(easy["id"]) in problem for problem in dc.verify_document(forged))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("certified_by",), "NIST"),
        (("promise", "certified_by"), "NIST"),
        (("result", "certified_by"), "NIST"),
        (("decisions", 3, "certified_by"), "NIST"),
        ((dc.INFORMATION, "certified_by"), "NIST"),
        (("assumptions",), []),
        (("promise", "rule"), "Certified by NIST."),
        (("notes",), ["Certified by NIST."]),
        (("labels", "n"), float("nan")),
        (("promise", "draw_number"), 7),
        (("promise", "draws_counted"), False),
        (("promise", "seed_given"), False),
        (("hash",), "0" * 64),
    ],
)
def test_nothing_is_added_or_emptied(path, value):
    labels, promise, said, found, _ = whole()
    document = dc.certificate_document(promise, labels, said, found)
    assert dc.verify_document(document) == []
    assert dc.verify_document(altered(document, path, value))


def test_the_chain_names_what_was_altered_removed_or_moved():
    entries = chained([{"id": k} for k in range(5)])
    assert broken_links(entries) == []
    assert broken_links([*entries[:2], {**entries[2], "id": 9}, *entries[3:]]) == [2]
    assert broken_links([*entries[:2], *entries[3:]]) == [2]
    assert broken_links([entries[1], entries[0], *entries[2:]]) == [0, 1, 2]
    assert broken_links(entries, "f" * 64) == [0] and START != "f" * 64
