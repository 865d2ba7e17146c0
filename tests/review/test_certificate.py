"""The certificate: plan, draw and rule; what counts, what is refused, and that every alteration shows."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from html import unescape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from pll.errors import UserError
from pll.export.rendered import certificate_html
from pll.review.certificate import (
    INFORMATION,
    PLAN_NOTES,
    RIGHT,
    UNANSWERED,
    WRONG,
    CheckedLabel,
    DrawnPlan,
    LabelTable,
    Plan,
    certificate_document,
    controls_of,
    count_accepted,
    draw_controls,
    judge,
    label_order,
    plan_controls,
    verify_document,
)
from pll.review.certification import Certification, draw_plan
from pll.review.events import CHAIN_START, broken_links, chained

IDS = [f"r{i}" for i in range(400)]


@pytest.mark.parametrize(
    ("n", "error", "expected"),
    [
        (2299, 0.03, (13, 549)),
        (2299, 0.05, (17, 426)),
        (2299, 0.10, (29, 339)),
        (10_000, 0.03, (36, 1381)),
        (10_000, 0.05, (52, 1164)),
        (10_000, 0.10, (84, 913)),
    ],
)
def test_plans_are_those_of_the_prototype(n, error, expected):
    plan = plan_controls(n, error)
    assert (plan.tolerated, plan.controls) == expected


@given(st.integers(1, 400), st.floats(0.005, 0.6), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_risk_of_a_plan_is_within_alpha_and_that_of_scipy(n, error, level):
    plan = plan_controls(n, error, level)
    m = plan.allowed + 1 + plan.tolerated
    reference = hypergeom.cdf(plan.tolerated, n, m, plan.controls)
    assert plan.attained == pytest.approx(reference, rel=1e-7, abs=1e-12)
    assert plan.attained <= 1 - level + 1e-9


@pytest.mark.parametrize("n_wrong", range(7))
@pytest.mark.parametrize("tolerated", [0, 1, 2, 4, 5, 9])
def test_no_dataset_of_six_breaks_the_certificate_more_often_than_attained(n_wrong, tolerated):
    """Every draw of every arrangement of wrong labels, counted; also of plans that nobody would make."""
    n, K = 6, 4
    plan = Plan(n, 0.2, 0.6, K, tolerated)
    bar = Fraction(round(plan.attained * math.comb(n, K)), math.comb(n, K))
    order = np.arange(n)
    for wrong_rows in itertools.combinations(range(n), n_wrong):
        wrong = np.isin(order, wrong_rows)
        broken = 0
        for drawn in itertools.combinations(range(n), K):
            controls = np.array(drawn)
            answers = np.where(wrong[controls], WRONG, RIGHT).astype(np.int8)
            accepted = order[: count_accepted(order, controls, answers, plan.tolerated)]
            broken += wrong[np.setdiff1d(accepted, controls)].sum() > plan.allowed
        assert Fraction(broken, math.comb(n, K)) <= bar


@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.integers(0, 5))
def test_the_cut(seed, rate, tolerated):
    rng = np.random.default_rng(seed)
    n = 60
    order, controls = rng.permutation(n), rng.permutation(n)[:20]
    wrong = rng.random(n) < rate
    answers = np.where(wrong[controls], WRONG, RIGHT).astype(np.int8)
    cut = count_accepted(order, controls, answers, tolerated)
    accepted = set(order[:cut].tolist())
    assert sum(wrong[c] for c in controls if c in accepted) <= tolerated
    if cut < n:  # it ends at the wrong control after those tolerated
        assert order[cut] in controls and wrong[order[cut]]
        assert sum(wrong[c] for c in controls if c in accepted) == tolerated
    hidden = answers.copy()
    hidden[rng.random(20) < 0.4] = UNANSWERED
    assert count_accepted(order, controls, hidden, tolerated) >= cut  # what is missing is waited for


def simulate(n, wrong_at, plan, sims, seed, shared=None):
    """How often a certificate is wrong, written without the library's rule.

    Args:
        shared: a function that makes the order from the draw's membership: what must not happen.
    """
    rng = np.random.default_rng(seed)
    broken = 0
    for _ in range(sims):
        inside = np.zeros(n, dtype=bool)
        inside[rng.choice(n, plan.controls, replace=False)] = True
        wrong, member = wrong_at, inside
        if shared is not None:
            order = shared(wrong_at, inside, rng)
            wrong, member = wrong_at[order], inside[order]
        hits = np.flatnonzero(wrong & member)
        cut = n if len(hits) <= plan.tolerated else hits[plan.tolerated]
        broken += (wrong[:cut].sum() - (wrong & member)[:cut].sum()) > plan.allowed
    return broken / sims


def test_one_stream_for_ties_and_draw_makes_wrong_certificates():
    """All confidences are tied; the order is made of the numbers that drew the controls: those not drawn lead."""
    n, plan = 500, plan_controls(500, 0.05)
    wrong = np.arange(n) % 5 == 0

    def same_stream(_, inside, rng):
        return np.argsort(inside + 0.5 * rng.random(n), kind="stable")

    assert simulate(n, wrong, plan, 300, 2, same_stream) > 0.5
    ids = [f"r{i}" for i in range(n)]  # the library's: which rows are controls says nothing about their place
    places = []
    for seed in range(60):
        order = label_order(np.ones(n), seed, ids)
        place = np.argsort(order)
        places.append(place[draw_controls(plan.controls, seed, ids)].mean())
    assert abs(np.mean(places) - (n - 1) / 2) < 4 * np.std(places) / math.sqrt(60) + 1


def test_file_order_does_not_leak_the_truth_into_ties():
    """A file sorted by truth (wrong labels last): with ties in file order the cut would be nearly an oracle's."""
    ids, n = IDS, len(IDS)
    confidence = np.full(n, 0.9)
    order = label_order(confidence, 7, ids)
    wrong = np.arange(n) >= 300
    assert abs(np.argsort(order)[wrong].mean() - n / 2) < 40
    shuffled = np.random.default_rng(0).permutation(n)  # the same file, sorted otherwise: the same order of ids
    again = label_order(confidence, 7, [ids[i] for i in shuffled])
    assert [ids[i] for i in order] == [ids[shuffled[i]] for i in again]
    plan = plan_controls(n, 0.05)
    drawn = {ids[i] for i in draw_controls(plan.controls, 7, ids)}
    assert drawn == {ids[shuffled[i]] for i in draw_controls(plan.controls, 7, [ids[i] for i in shuffled])}


@pytest.mark.parametrize(
    ("values", "words"),
    [((0, 0.05), "no labels"), ((100, 0), "between 0 and 1"), ((100, 1.5), "between 0 and 1")],
)
def test_impossible_plans_are_refused(values, words):
    with pytest.raises(UserError, match=words):
        plan_controls(*values)


def test_too_few_controls_are_refused_with_the_number_that_would_do():
    with pytest.raises(UserError, match="Draw at least 57"):
        plan_controls(2000, 0.05, controls=20)
    assert plan_controls(2000, 0.05, controls=57).tolerated == 0
    with pytest.raises(UserError, match="Draw 1 to 10"):
        plan_controls(10, 0.05, controls=11)


def changed(value):
    """Another value of the same kind."""
    return not value if isinstance(value, bool) else f"{value}g" if isinstance(value, str) else value + 1


@pytest.mark.parametrize("name", [field.name for field in fields(DrawnPlan) if field.name not in PLAN_NOTES])
def test_the_hash_of_the_draw_binds_every_field_of_a_plan_but_its_notes(name):
    plan = draw_plan(table(), 0.1, seed=1)
    other = replace(plan, **{name: changed(getattr(plan, name))})
    assert other.draw_hash != plan.draw_hash
    with pytest.raises(UserError, match="draw_hash"):  # and its file has every one of them
        DrawnPlan.from_json(other.to_json() | {"draw_hash": plan.draw_hash})


def test_a_field_that_is_added_to_plans_is_bound_by_the_hash_of_the_draw():
    @dataclass(frozen=True, kw_only=True)
    class Longer(DrawnPlan):
        further: int = 0

    plan = draw_plan(table(), 0.1, seed=1)
    longer = Longer(**{field.name: getattr(plan, field.name) for field in fields(plan)})
    assert len({plan.draw_hash, longer.draw_hash, replace(longer, further=1).draw_hash}) == 3


def test_the_notes_of_a_plan_are_not_in_its_hash_and_come_back():
    plan = draw_plan(table(), 0.1, seed=1, drawn={"another"})
    assert plan.draw_number == 2 and plan.made_at
    assert replace(plan, draw_number=7, made_at="").draw_hash == plan.draw_hash
    assert DrawnPlan.from_json(plan.to_json() | {"made_at": plan.made_at}) == plan


INVALID = {
    "error": 1.5,
    "level": float("nan"),
    "controls": 0,
    "tolerated": 10**6,  # A + 1 + c > n: no dataset has so many wrong labels
    "seed": -1,
    "fingerprint": "of other labels",
    "n": 10**6,
}


@pytest.mark.parametrize("change", [*({name: value} for name, value in INVALID.items()), {"tolerated": 26}])
def test_an_invalid_plan_gives_no_controls_and_no_certificate(change):
    """Its hash is its own: whoever makes a plan by hand can make that too."""
    labels, plan, decisions, judgement, _ = whole()
    bad = replace(plan, **change)
    bad = DrawnPlan.from_json(json.loads(json.dumps(bad.to_json())))
    for read in (controls_of, Certification):
        with pytest.raises(UserError):
            read(bad, labels)
    document = certificate_document(labels, decisions, judgement)
    assert verify_document(forged(document, ("plan",), bad.to_json() | {"rule": document["plan"]["rule"]}))


# ---- decisions and the document

N = 300


def table(seed=0):
    rng = np.random.default_rng(seed)
    ids = np.array([f"id{i}" for i in range(N)])
    labels = np.array(["cat", "dog"])[rng.integers(0, 2, N)]
    return LabelTable(ids, labels, np.round(rng.random(N), 2))


def truth_of(labels, seed=0):
    """The larger the confidence, the more often right."""
    rng = np.random.default_rng(seed + 1)
    wrong = rng.random(len(labels)) < 0.7 * (1 - labels.confidence) ** 2
    return np.where(wrong, "fox", labels.labels), wrong


def decided(labels, plan, truth, rows=None):
    rows = controls_of(plan, labels) if rows is None else rows
    return [CheckedLabel(str(labels.ids[row]), str(truth[row]), by="Ada") for row in rows]


def whole(seed=0, *, error=0.08):
    """A table, a plan, everything that people are asked, and what follows."""
    labels = table(seed)
    truth, wrong = truth_of(labels, seed)
    plan = draw_plan(labels, error, 0.9, seed=seed)
    decisions = decided(labels, plan, truth)
    decisions += decided(labels, plan, truth, judge(plan, labels, decisions).remaining)
    return labels, plan, decisions, judge(plan, labels, decisions), wrong


def test_a_finished_review():
    labels, _, decisions, judgement, wrong = whole()
    document = certificate_document(labels, decisions, judgement)
    result = document["result"]
    assert result["complete"] and result["to_be_looked_at"] == 0 and not len(judgement.remaining)
    assert result["accepted_unseen"] + result["looked_at"] == N
    assert result["bound"] == 24 and result["attained_alpha"] <= 0.1
    assert wrong[judgement.accepted & ~judgement.looked_at].sum() <= 24  # this draw; tests of the rule say how often
    assert verify_document(json.loads(json.dumps(document))) == []


def test_unsure_counts_as_wrong():
    labels = table()
    truth, _ = truth_of(labels)
    plan = draw_plan(labels, 0.08, 0.9, seed=1)
    decisions = decided(labels, plan, truth)
    before = judge(plan, labels, decisions)
    inside = next(k for k, one in enumerate(decisions) if before.accepted[int(one.id[2:])] and one.label != "fox")
    decisions[inside] = CheckedLabel(decisions[inside].id, None)
    after = judge(plan, labels, decisions)
    assert after.accepted.sum() <= before.accepted.sum() and after.unsure.sum() == before.unsure.sum() + 1
    assert after.unsure[int(decisions[inside].id[2:])]
    document = certificate_document(labels, decisions, after)
    assert (
        document["result"]["unsure"] == 1
        and document["result"]["bound"] == 25
        and "could not tell" in document["result"]["statement"]
    )


def all_unsure():
    """Nobody could tell any label."""
    labels, plan, *_ = whole()
    decisions = [CheckedLabel(one, None) for one in labels.ids.tolist()]
    return labels, decisions, judge(plan, labels, decisions)


def test_no_more_labels_are_wrong_than_there_are():
    labels, decisions, judgement = all_unsure()
    document = certificate_document(labels, decisions, judgement)
    assert document["result"]["bound"] == N and document["result"]["bound_share"] == 1
    assert "At most 300 of all 300 labels (100.00 %) are wrong" in document["result"]["statement"]
    assert verify_document(json.loads(json.dumps(document))) == []


def test_the_statement_calls_nothing_wrong_that_could_not_be_told_and_speaks_of_unseen_labels_where_there_are_any():
    labels, _, decisions, judgement, _ = whole()
    said = certificate_document(labels, decisions, judgement)["result"]["statement"]
    assert f"{judgement.unseen} labels are accepted without anybody having looked at them; all of a conf" in said
    assert "are accepted. " in said and said.endswith(f"{judgement.wrong} of them had a wrong label.")
    said = certificate_document(*all_unsure())["result"]["statement"]
    assert "without anybody" not in said and said.endswith("of them had a wrong label or could not be told.")


TRUSTING = (
    "This takes on trust that reviewers answered truly, and that the labels and their one draw were fixed before the "
    "first answer."
)


@pytest.mark.parametrize(
    ("made", "bound", "statement"),
    [
        (
            lambda: (whole()[0], whole()[2], whole()[3]),
            24,
            f"At most 24 of all 300 labels (8.00 %) are wrong, sure to 90 %. {TRUSTING} 135 labels are accepted "
            "without anybody having looked at them, among them all of a confidence above 0.39. 93 random controls were "
            "drawn, 24 of them had a wrong label.",
        ),
        (
            all_unsure,
            324,
            "At most 324 of all 300 labels (108.00 %) are wrong, sure to 90 %. Of 300 of these, reviewers could not "
            f"tell the label or did not agree on it. {TRUSTING} 0 labels are accepted without anybody having looked at "
            "them, among them all of a confidence above 0.96. 93 random controls were drawn, 93 of them had a wrong "
            "label.",
        ),
    ],
)
def test_a_certificate_of_the_version_before_is_verified_as_it_was_stated(made, bound, statement):
    document = certificate_document(*made())
    as_stated = {"bound": bound, "bound_share": bound / N, "statement": statement}
    old = forged(document | {"version": 7}, ("result",), document["result"] | as_stated)
    assert verify_document(old) == []
    assert verify_document(forged(old, ("version",), 8)) and verify_document(forged(document, ("version",), 7))
    with pytest.raises(UserError, match="another version"):
        verify_document(old | {"version": 6})


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
    plan = draw_plan(labels, 0.08, 0.9, seed=0)
    with pytest.raises(UserError, match=words):
        controls_of(plan, LabelTable(*change(labels)))


@pytest.mark.parametrize(
    ("decisions", "words"),
    [
        ([CheckedLabel("nobody", "cat")], "no such id"),
        ([CheckedLabel("id1", "cat"), CheckedLabel("id1", "dog")], "two decisions on 'id1'"),
    ],
)
def test_decisions_that_do_not_belong_are_refused(decisions, words):
    labels = table()
    plan = draw_plan(labels, 0.08, 0.9, seed=0)
    with pytest.raises(UserError, match=words):
        judge(plan, labels, decisions)


def altered(document, path, value):
    result = copy.deepcopy(document)
    place = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return result


def test_every_alteration_shows():
    labels, _, decisions, judgement, _ = whole()
    document = certificate_document(labels, decisions, judgement)
    one = document["decisions"][7]["id"]
    problems = verify_document(altered(document, ("decisions", 7, "label"), "cow"))
    assert len(problems) == 1 and repr(one) in problems[0]
    removed = copy.deepcopy(document)
    del removed["decisions"][7]
    assert repr(removed["decisions"][7]["id"]) in verify_document(removed)[0]
    for path, value in [
        (("labels", "identified_label", 5), "cow"),
        (("labels", "confidence", 5), 0.123456),
        (("plan", "seed"), 99),
        (("plan", "error"), 0.01),
        (("plan", "tolerated"), document["plan"]["tolerated"] + 1),
        (("result", "accepted"), N),
        (("result", "bound"), 1),
        (("result", "accepted_unseen"), N),
        (("result", "attained_alpha"), 0.001),
        (("result", "statement"), "All is well."),
    ]:
        assert verify_document(altered(document, path, value)), path
    assert "damaged" in verify_document({name: document[name] for name in ("format", "version")})[0]


def test_a_forged_chain_with_controls_chosen_by_hand_shows():
    """Whoever makes all hashes anew still cannot choose the controls: the draw follows from the committed seed."""
    labels, _, decisions, judgement, _ = whole()
    document = certificate_document(labels, decisions, judgement)
    forged = copy.deepcopy(document)
    entries = [{k: v for k, v in one.items() if k != "hash"} for one in forged["decisions"]]
    easy = next(one for one in entries if not one["control"])
    easy["control"] = True
    forged["decisions"] = chained(entries, forged["plan"]["draw_hash"])
    assert any("control" in problem and repr(easy["id"]) in problem for problem in verify_document(forged))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("certified_by",), "NIST"),
        (("plan", "certified_by"), "NIST"),
        (("result", "certified_by"), "NIST"),
        (("decisions", 3, "certified_by"), "NIST"),
        ((INFORMATION, "certified_by"), "NIST"),
        (("taken_on_trust",), []),
        (("plan", "rule"), "Certified by NIST."),
        (("notes",), ["Certified by NIST."]),
        (("labels", "n"), float("nan")),
        (("plan", "draw_number"), 7),
        (("plan", "draws_counted"), False),
        (("plan", "seed_given"), False),
        (("hash",), "0" * 64),
    ],
)
def test_nothing_is_added_or_emptied(path, value):
    labels, _, decisions, judgement, _ = whole()
    document = certificate_document(labels, decisions, judgement)
    assert verify_document(document) == []
    assert verify_document(altered(document, path, value))


def forged(document, path, value):
    """Altered, and all hashes made anew."""
    result = altered(document, path, value)
    entries = [{name: value for name, value in one.items() if name != "hash"} for one in result["decisions"]]
    result["decisions"] = chained(entries, result["plan"]["draw_hash"])
    proof = {name: value for name, value in result.items() if name not in (INFORMATION, "hash")}
    result["hash"] = hashlib.sha256(json.dumps(proof, sort_keys=True).encode()).hexdigest()
    return result


def test_what_the_number_rests_on_is_computed_again_and_never_believed():
    """Each entry of the result and the plan, changed with all hashes made anew."""
    labels, _, decisions, judgement, _ = whole()
    document = certificate_document(labels, decisions, judgement)
    assert verify_document(forged(document, ("format",), document["format"])) == []
    for part in ("result", "plan"):
        for name, value in document[part].items():
            if name not in ("draw_number", "draws_counted", "draw_hash"):  # the first two are taken on trust
                assert verify_document(forged(document, (part, name), changed(value))), (part, name)
    left = [str(labels.ids[row]) for row in judgement.controls if judgement.answers[row] == WRONG]
    assert verify_document(forged(document, ("result", "left_the_pool"), left))


def test_what_is_taken_on_trust_is_said_at_the_beginning():
    labels, _, decisions, judgement, _ = whole()
    document = certificate_document(labels, decisions, judgement)
    claim, trust = document["result"]["statement"].split(". ")[:2]
    assert "of all 300 labels" in claim and trust.startswith("This takes on trust")
    assert all(one in unescape(certificate_html(document)) for one in document["taken_on_trust"])


def test_the_chain_names_what_was_altered_removed_or_moved():
    entries = chained([{"id": k} for k in range(5)])
    assert broken_links(entries) == []
    assert broken_links([*entries[:2], {**entries[2], "id": 9}, *entries[3:]]) == [2]
    assert broken_links([*entries[:2], *entries[3:]]) == [2]
    assert broken_links([entries[1], entries[0], *entries[2:]]) == [0, 1, 2]
    assert broken_links(entries, "f" * 64) == [0] and CHAIN_START != "f" * 64
