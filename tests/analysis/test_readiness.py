"""What nothing can be learnt from is refused; what a person should know before is said."""

from __future__ import annotations

import numpy as np
import pytest

from pll.analysis.readiness import check_features, check_trainable, warnings_about
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from tests.dataset_helpers import X, made


class TestWarnings:
    def test_truth_outside_is_counted(self) -> None:
        data = made(y=[2, 1, 2, 0])
        assert data.truth_outside().tolist() == [0, 3]
        assert any(
            text.startswith("2 of 4 true labels are not among their candidates") for text in warnings_about(data)
        )

    def test_whole_sets_missing_classes_and_singletons(self) -> None:
        assert any("1 of 4 examples have every class" in text for text in warnings_about(made()))
        certain = CandidateSets.from_labels([0, 0, 1, 1], 3)
        result = " ".join(warnings_about(made(candidates=certain, y=None)))
        assert "nothing is ambiguous" in result and "1 of 3 classes are never a candidate" in result

    def test_missing_cells_of_a_table(self) -> None:
        data = made(X=np.where(X > 9, np.nan, X), kind="table", notes=("a note of the reader",))
        assert "2 cells are missing" in warnings_about(data)[-1]
        assert warnings_about(data)[0] == "a note of the reader"


class TestTrainable:
    @pytest.mark.parametrize(
        ("data", "strict", "message"),
        [
            (made().take([0]), False, "data has 1 example to learn from; at least 2 are needed"),
            (made().take([]), False, "data has 0 examples to learn from"),
            (made(candidates=CandidateSets.from_labels([0] * 4, 1), y=None), False, "data has one class (0)"),
            (made(candidates=None), False, "synthesise them from the true labels"),
            (made(candidates=None, y=None, name="x.csv"), False, "x.csv has no candidate sets; add a column"),
            (made(y=[2, 1, 2, 0], ids=list("abcd")), True, "true label of row 0 (id a) is not among its candidates"),
        ],
    )
    def test_what_nothing_can_be_learnt_from_is_refused(
        self, data: PartialLabelDataset, strict: bool, message: str
    ) -> None:
        with pytest.raises(UserError) as caught:
            check_trainable(data, strict=strict)
        assert message in str(caught.value)


def test_where_nothing_is_learnt_from_it_names_the_columns_that_could_be() -> None:
    data = PartialLabelDataset(
        X=np.zeros((2, 0), dtype=np.float32),
        candidates=CandidateSets.from_lists([[0], [0, 1]], 2),
        extras={"snippet": np.array(["a b", "c d"])},
    )
    with pytest.raises(UserError, match=r"nothing to learn from.*carried along: snippet.*--column NAME=text"):
        check_features(data)
