"""γ with what belongs to it, against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.analysis.theory.degree import examples_to_tell, label_cooccurrence, still_together
from pll.candidates import CandidateSets
from pll.synthesis import flip_binomial, flip_pair
from pll.synthesis.ambiguity import ambiguity_degree


def test_gamma_names_its_pair_and_its_examples() -> None:
    sets = CandidateSets.from_lists([[0, 1], [0, 1], [0, 2], [1], [2, 0]], 3)
    y = np.array([0, 0, 0, 1, 2])
    found = label_cooccurrence(sets, y, estimated=False)
    assert found.gamma == ambiguity_degree(sets, y) == 1.0
    assert found.pair == (2, 0) and found.together == (1, 1)
    without = label_cooccurrence(sets, np.array([0, 0, 0, 1, -1]), estimated=True)
    assert without.gamma == pytest.approx(2 / 3) and without.pair == (0, 1) and without.together == (2, 3)
    assert without.unlabelled == 1 and without.is_estimated


def test_it_is_what_synthesis_put_in() -> None:
    y = np.arange(30_000) % 6
    binomial = label_cooccurrence(flip_binomial(y, 6, 0.1, 0), y, estimated=False)
    assert binomial.gamma == pytest.approx(0.1 + 0.9**5 / 5, abs=0.02)
    pair = label_cooccurrence(flip_pair(y, 6, 0.8, 0), y, estimated=False)
    assert pair.gamma == pytest.approx(0.8, abs=0.02) and pair.pair[1] == (pair.pair[0] + 1) % 6
    low, high = pair.interval()
    assert low < pair.gamma < high and high - low < 0.03


@given(st.floats(0.01, 0.99), st.floats(0.001, 0.5))
def test_examples_to_tell_is_the_fewest(gamma: float, doubt: float) -> None:
    m = int(examples_to_tell(gamma, doubt))
    assert still_together(gamma, m) <= doubt * (1 + 1e-9)
    assert m == 1 or still_together(gamma, m - 1) > doubt * (1 - 1e-9)
