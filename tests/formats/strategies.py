"""Random datasets for round trips, with the names that break careless readers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.formats.labels import sets_of
from pll.images import Pictures

AWKWARD_NAMES = (
    *("NA", "None", "nan", "1", "01", "1.0", "日本語", "a|b", "a;b", "a,b", "|", ";", "true", "-", "?", "null"),
    *(" padded ", "", '["q"]', "[UNK]", "[1]", "[", "two\nlines", "cr\rlf\r\n", '"quoted"', '"', "tab\tbed", "'", "#x"),
)

# Text that UTF-8 and numpy can both hold: no half characters, no NUL.
any_text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=6)
names = st.one_of(st.sampled_from(AWKWARD_NAMES), any_text)
finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def datasets(
    draw: Callable[..., Any],
    *,
    class_names: st.SearchStrategy[str] | None = names,
    missing_cells: bool = False,
    images: bool = False,
    extras: bool = True,
) -> PartialLabelDataset:
    """A dataset with any of the optional parts.

    Args:
        class_names: what classes may be called; None for the default names.
        missing_cells: a table whose cells may be missing.
        images: features of (C, H, W).
        extras: ids, split marks and names of features.
    """
    n, c = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    shape = (n, draw(st.sampled_from((1, 3))), draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    if not images:
        shape = (n, draw(st.integers(1, 4)))
    cells = st.one_of(finite, st.just(np.nan)) if missing_cells else finite
    X = draw(hnp.arrays(np.float32, shape, elements=cells))
    called = tuple(str(k) for k in range(c))
    if class_names is not None:
        called = tuple(draw(st.lists(class_names, min_size=c, max_size=c, unique=True)))
    row = st.lists(st.integers(0, c - 1), min_size=1, unique=True)
    sets = draw(st.none() | st.lists(row, min_size=n, max_size=n))
    y = draw(st.none() | hnp.arrays(np.int64, n, elements=st.integers(-1, c - 1)))
    optional: dict[str, Any] = {}
    if extras:
        an_id = names.filter(bool)
        optional["ids"] = draw(st.none() | st.lists(an_id, min_size=n, max_size=n, unique=True).map(np.array))
        optional["is_test"] = draw(st.none() | hnp.arrays(np.bool_, n))
        if not images:
            optional["feature_names"] = tuple(f"feature {k}, of {shape[1]}" for k in range(shape[1]))
    return PartialLabelDataset(
        X=X,
        candidates=None if sets is None else CandidateSets.from_lists(sets, c, called),
        y=y,
        class_names=called,
        kind="image" if images else "table" if missing_cells else "array",
        **optional,
    )


plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | finite | names,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(any_text, inner, max_size=2),
    max_leaves=4,
)
"""What JSON can hold."""


@st.composite
def rich_datasets(draw: Callable[..., Any], *, missing_cells: bool = True) -> PartialLabelDataset:
    """A dataset with texts, pictures (by name), columns of words, columns carried along, annotators: any of them."""
    base = draw(st.one_of(datasets(missing_cells=missing_cells), datasets(extras=False)))
    n, c = len(base), base.n_classes

    def column(cells: st.SearchStrategy[Any]) -> Any:
        values = draw(st.lists(cells, min_size=n, max_size=n))
        return np.fromiter(values, dtype=object, count=n)

    def columns(cells: st.SearchStrategy[Any]) -> dict[str, Any]:
        return {name: column(cells) for name in draw(st.lists(names, max_size=2, unique=True))}

    fields: dict[str, Any] = {}
    if draw(st.booleans()):
        fields["X"] = np.empty((n, 0), dtype=np.float32)
        fields["feature_names"] = ()
        fields["kind"] = "array"
    if draw(st.booleans()):
        fields["texts"] = column(names)
    if draw(st.booleans()):
        fields["pictures"] = Pictures(column(st.sampled_from(["a.png", "b/c.jpg", "https://x.org/1.png?a=b"])))
    words = st.none() | st.sampled_from(["red", "blue", "1", "NA", " padded", ""])
    fields["categories"] = columns(words)
    fields["extras"] = {k: v for k, v in columns(plain_values).items() if k not in fields["categories"]}
    if base.candidates is not None and draw(st.booleans()):
        said = st.tuples(st.integers(0, n - 1), st.integers(0, 2), st.integers(0, c - 1))
        triples = np.array(draw(st.lists(said, min_size=1, max_size=8)), dtype=np.int64)
        people = tuple(draw(st.lists(names.filter(bool), min_size=3, max_size=3, unique=True)))
        fields["annotations"] = Annotations(*triples.T, n, base.class_names, people)
        if draw(st.booleans()):
            fields["candidates"] = sets_of(fields["annotations"])[0]
    return replace(base, **fields)


def check_held(back: PartialLabelDataset, data: PartialLabelDataset, lost: list[str]) -> None:
    """Everything came back but what was said to be lost (where that is more than the numbers of classes, no matter)."""
    about_classes = ("Classes that", "The order of")
    lost = [sentence for sentence in lost if not sentence.startswith("Which tool")]  # the reader is named
    if all(sentence.startswith(about_classes) for sentence in lost):
        check_same(back, data, classes=not lost)


def check_same(back: PartialLabelDataset, data: PartialLabelDataset, *, classes: bool = True) -> None:
    """Everything a reader may have to give back.

    Args:
        classes: the numbers of the classes too, and classes that do not occur.
    """
    assert same(back.X, data.X) and same(np.signbit(back.X), np.signbit(data.X))
    assert (named_sets(back), named_truth(back)) == (named_sets(data), named_truth(data))
    assert same(back.is_test, data.is_test) and same(back.row_ids, data.row_ids)
    if classes:
        assert back.class_names == data.class_names
        assert back.candidates == data.candidates and same(back.y, data.y)
    invented = () if data.is_image else tuple(f"x{k}" for k in range(data.X.shape[1]))
    assert back.feature_names == data.feature_names or (not data.feature_names and back.feature_names == invented)
    texts, names = (
        [None if one is None else one.tolist() for one in both]
        for both in (
            (back.texts, data.texts),
            (back.pictures and back.pictures.names, data.pictures and data.pictures.names),
        )
    )
    assert texts[0] == texts[1] and names[0] == names[1]
    for part in ("categories", "extras"):
        before, after = ({k: v.tolist() for k, v in getattr(one, part).items()} for one in (data, back))
        assert after == before
    assert answers(back) == answers(data)


def answers(data: PartialLabelDataset) -> list[tuple[int, str, str]] | None:
    """Who said what, by name."""
    annotations = data.annotations
    if annotations is None:
        return None
    triples = zip(annotations.rows.tolist(), annotations.annotators.tolist(), annotations.labels.tolist(), strict=True)
    return sorted(
        (row, annotations.annotator_names[who], annotations.class_names[label]) for row, who, label in triples
    )


def same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Equal arrays, NaN to NaN; or neither there."""
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def named_sets(data: PartialLabelDataset) -> list[set[str]] | None:
    """The candidates of each row by name, whatever the order of the classes."""
    if data.candidates is None:
        return None
    return [set(data.candidates.names(i)) for i in range(len(data))]


def named_truth(data: PartialLabelDataset) -> list[str | None] | None:
    """The true label of each row by name."""
    return None if data.y is None else [None if k < 0 else data.class_names[k] for k in data.y.tolist()]
