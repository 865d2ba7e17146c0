"""A certificate in ten lines: at most 5 % of all labels are wrong, with 95 % confidence, whoever made the labels.

Here they are those of PRODEN on digits, and the person who checks them is played by the truth. With people in between,
the three commands are `candid plan`, `candid certify`, `candid verify`.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from pll import PRODEN, flip_binomial
from pll.methods.held_out import held_out_weights
from pll.review.certificate import CheckedLabel, LabelTable, judge, verify_document
from pll.review.certification import Certification, draw_plan
from pll.weights import identified_labels, sharpness


def main() -> int:
    """Return how many of the 1,797 labels a person looked at."""
    images, y = load_digits(return_X_y=True)
    X, sets = (images / 16).astype(np.float32), flip_binomial(y, n_classes=10, q=0.3, seed=0)
    proden = PRODEN(epochs=50).fit(X, sets)
    confidence = sharpness(held_out_weights(proden, X, sets), sets).top
    labels = identified_labels(proden.label_weights_, sets).astype(str)

    table = LabelTable([f"d{i}" for i in range(len(y))], labels.tolist(), confidence.astype(np.float64))
    certification = Certification(draw_plan(table, error=0.05, seed=1), table)
    checked: dict[int, CheckedLabel] = {}
    to_check = certification.controls
    while len(to_check):
        checked |= {int(row): CheckedLabel(f"d{row}", str(y[row])) for row in to_check}
        judgement = judge(certification.plan, table, checked.values())
        to_check = np.setdiff1d(judgement.remaining, list(checked))
    certified = certification.certified(list(checked.values()))

    wrong = int((certified.final["identified_label"].to_numpy() != y.astype(str)).sum())
    print(f"{len(checked)} of {len(y)} labels checked; {wrong} of the final labels are wrong ({wrong / len(y):.1%}).")
    print("verify:", verify_document(certified.document) or "valid")
    return len(checked)


if __name__ == "__main__":
    main()
