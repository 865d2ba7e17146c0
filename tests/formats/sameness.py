"""What two readings of one table must have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from pll.dataset import PartialLabelDataset


def essence(data: PartialLabelDataset) -> dict[str, Any]:
    """By id, in plain values: candidates, truth, features, words, texts and votes; whatever the order.

    Classes are named, so that their order does not matter either.
    """
    names, sets, votes = data.class_names, data.candidates, data.annotations
    flat = data.X.reshape(len(data), -1)
    features = data.feature_names or tuple(map(str, range(flat.shape[1])))
    contents: dict[str, Any] = {}
    for row, example in enumerate(data.row_ids.tolist()):
        contents[example] = {
            "candidates": None if sets is None else sorted(sets.names(row)),
            "truth": None if data.y is None or data.y[row] < 0 else names[data.y[row]],
            "features": {name: None if np.isnan(x) else float(x) for name, x in zip(features, flat[row], strict=True)},
            "words": {name: cells[row] for name, cells in sorted({**data.categories, **data.extras}.items())},
            "text": None if data.texts is None else data.texts[row],
        }
        if votes is not None:
            mine = votes.rows == row
            pairs = zip(votes.annotators[mine].tolist(), votes.labels[mine].tolist(), strict=True)
            who_of = [""] * votes.n_annotators if votes.anonymous else votes.annotator_names
            contents[example]["votes"] = sorted((who_of[who], names[label]) for who, label in pairs)
    return contents
