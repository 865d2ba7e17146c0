from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.annotations import SET_RULES, Annotations, SetRule, resolve, rule_table
from pll.annotations.voters import fit_voters
from pll.errors import UserError
from tests.annotations.test_data import made, triples

Case = tuple[list[tuple[int, int, int]], int, int, int]


@given(triples(), st.integers(1, 4))
def test_sets_equal_counting_the_votes(case: Case, k: int) -> None:
    found, n, a, c = case
    said = made(found, n, a, c)
    if not found:
        with pytest.raises(UserError, match="Nobody annotated anything"):
            resolve(said, SetRule("union"))
        return
    by_union, by_votes = resolve(said, SetRule("union")), resolve(said, SetRule("votes", k))
    assert by_union.rows.tolist() == sorted({row for row, _, _ in found}) == by_votes.rows.tolist()
    assert by_union.unannotated == n - len(by_union.rows)
    assert len(by_union.fallback) == 0
    for at, row in enumerate(by_votes.rows.tolist()):
        votes = {j: len({who for r, who, label in set(found) if (r, label) == (row, j)}) for j in range(c)}
        assert by_union.candidates[at].tolist() == [j for j in votes if votes[j]]
        enough = [j for j in votes if votes[j] >= k]
        most = [j for j in votes if votes[j] == max(votes.values())]
        assert by_votes.candidates[at].tolist() == (enough or most)
        assert (row in by_votes.fallback) == (not enough)


class TestRule:
    @pytest.mark.parametrize("how", SET_RULES)
    def test_is_read_back_as_it_is_written(self, how: str) -> None:
        assert SetRule.parse(str(SetRule(how))) == SetRule(how)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("best", "no rule called 'best'; use one of union, votes, reliability"),
            ("union:2", "The rule union has no value"),
            ("votes:0", "must be a whole number, 1 or more"),
            ("votes:1.5", "must be a whole number"),
            ("votes:many", "'many' is not a number; write for example votes:2"),
            ("reliability:0", "must lie between 0 and 1"),
            ("reliability:nan", "must lie between 0 and 1"),
        ],
    )
    def test_a_rule_that_makes_no_sense_is_refused(self, text: str, message: str) -> None:
        with pytest.raises(UserError) as caught:
            SetRule.parse(text)
        assert message in str(caught.value)


def simulated(
    c: int, reliability: np.ndarray, n: int = 3000, answered: float = 0.5, seed: int = 0
) -> tuple[Annotations, np.ndarray]:
    """One-coin annotators, and the truth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, n)
    a = len(reliability)
    right = rng.random((n, a)) < reliability
    said = np.where(right, y[:, None], (y[:, None] + rng.integers(1, c, (n, a))) % c)
    rows, who = np.nonzero(rng.random((n, a)) < answered)
    return Annotations(rows, who, said[rows, who], n, tuple(map(str, range(c))), tuple(map(str, range(a)))), y


class TestReliability:
    @pytest.mark.parametrize("c", [2, 5, 40])
    def test_finds_how_reliable_simulated_annotators_are(self, c: int) -> None:
        reliability = np.array([0.95, 0.9, 0.8, 0.7, 0.6, 0.92])
        said, _ = simulated(c, reliability)
        # A share of 1,500 answers has a standard deviation of at most .013; estimated truth adds to it.
        np.testing.assert_allclose(fit_voters(said, kind="one-coin").accuracy, reliability, atol=0.05)

    def test_keeps_the_truth_better_than_votes_with_no_more_candidates(self) -> None:
        said, y = simulated(5, np.array([0.97, 0.95, 0.5, 0.45, 0.4, 0.35]), seed=3)
        by_votes, by_reliable = resolve(said, SetRule("votes", 2)), resolve(said, SetRule("reliability", 0.05))
        inside = [made.candidates.contains(y[made.rows]).mean() for made in (by_votes, by_reliable)]
        sizes = [made.candidates.sizes.mean() for made in (by_votes, by_reliable)]
        assert inside[1] > inside[0] + 0.02 and sizes[1] < sizes[0] + 0.05

    def test_the_posterior_is_that_of_the_model(self) -> None:
        """Against a dense computation over all labels, at the accuracies that were found."""
        said, _ = simulated(4, np.array([0.9, 0.7, 0.6]), n=400, seed=1)
        result = fit_voters(said, kind="one-coin")
        log = np.zeros((said.n_rows, 4))
        for row, who, label in zip(said.rows, said.annotators, said.labels, strict=True):
            r = result.accuracy[who]
            log[row] += np.where(np.arange(4) == label, np.log(r), np.log((1 - r) / 3))
        dense = np.exp(log) / np.exp(log).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(result.product, dense, atol=0.03)  # accuracies are drawn a little to the common one

    def test_an_answer_that_names_several_weighs_less_and_one_that_names_all_nothing(self) -> None:
        rows = [0, 0, 0, 1, 1, 1, 1, 1]
        who = [0, 1, 1, 0, 1, 1, 1, 1]
        labels = [0, 1, 2, 0, 0, 1, 2, 3]
        said = Annotations(rows, who, labels, 2, ("a", "b", "c", "d"), ("sure", "broad"))
        of = fit_voters(said, kind="one-coin").product
        assert of[0, 0] > of[0, 1] == of[0, 2]
        assert of[1, 0] > of[1, 1] == of[1, 2] == of[1, 3]


class TestTable:
    def test_counts_rows_by_size(self) -> None:
        said = Annotations.from_votes([[0, 0, 0], [0, 1, 2], [1, 2, 2], [-1, -1, -1]])
        table = rule_table(said, y=np.array([0, 0, 1, -1])).set_index("rule")
        assert table.index.tolist() == ["union", "votes:2", "votes:3", "reliability:0.05"]
        assert table.loc["union", ["1", "2", "3", "4", "5+"]].tolist() == [1, 1, 1, 0, 0]
        assert table.loc["union", "mean_candidates"] == 2
        assert table.loc["votes:2", ["1", "3"]].tolist() == [2, 1] and table.loc["votes:2", "fallback"] == 1
        assert table.loc["votes:2", "truth_inside"] == pytest.approx(2 / 3)
        assert (table["rows"] == 3).all()

    def test_anonymous_votes_have_no_row_for_reliability(self) -> None:
        assert rule_table(Annotations.from_counts([[2, 1]]))["rule"].tolist() == ["union", "votes:2"]
