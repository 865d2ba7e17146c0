"""Answers of three models → one label each, against a majority vote and Dawid-Skene.

The truth is known here, and counted. Of three invented models one is good, one fair, and one says the same
class whenever it does not know. Features are those of the digits; a text column of a CSV would do as well
(`candid fit answers.csv`).
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from pll import CandidateSets, DawidSkene, Majority
from pll.annotations import Annotations
from pll.methods.aggregation import aggregate


def answers(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n, 3) int64 answers of three models to examples whose truth is y."""
    shares = (0.75, 0.6, 0.5)
    wrong = (y[:, None] + rng.integers(1, 10, (len(y), 3))) % 10
    wrong[:, 2] = 8
    return np.where(rng.random((len(y), 3)) < shares, y[:, None], wrong)


def main() -> dict[str, float]:
    """Return the share of right labels by the way they were made."""
    images, y = load_digits(return_X_y=True)
    X = (images / 16).astype(np.float32)
    votes = answers(y, np.random.default_rng(0))
    sets = CandidateSets.from_lists([sorted(set(row)) for row in votes.tolist()], n_classes=10)
    classes = [str(digit) for digit in range(10)]
    labels = {
        "majority": Majority().fit(X, sets, votes=votes).identify(),
        "Dawid-Skene": DawidSkene().fit(X, sets, votes=votes).identify(),
        "votes and features": aggregate(X, Annotations.from_votes(votes, classes)).voters.posterior.argmax(axis=1),
    }
    right = {name: float((found == y).mean()) for name, found in labels.items()}
    for name, share in right.items():
        print(f"{name:20} {share:.1%} of {len(y)} right")
    return right


if __name__ == "__main__":
    main()
