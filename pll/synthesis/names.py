"""The ways to make candidate sets of true labels, by name. Light: nothing is imported for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """A way to synthesise candidate sets.

    Attributes
    ----------
    title
        Shown on pages.
    draw
        Function of `pll.synthesis.flips` that draws the sets. It takes (y, n_classes), the settings below by name,
        seed and class_names.
    matrix
        Function there that returns Pr(j ∈ S | y), (c, c), of n_classes and the settings.
    needs
        Settings of `Flip` that must be given.
    takes
        Settings that may be given.
    by_example
        Whether every example has chances of its own, by a classifier: both functions then take `probabilities` (n, c)
        too, and that of the matrix y.
    help
        Of its q, for a page.
    usual
        What a form begins with for a setting that may be given.
    without
        What holds where it is not given, in words.
    """

    title: str
    draw: str
    matrix: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    by_example: bool = False
    help: str = ""
    usual: float | None = None
    without: str = ""


FLIPS: dict[str, Way] = {
    "binomial": Way(
        "Binomial: wrong labels enter with probability q, one at least",
        *("flip_binomial", "binomial_matrix", ("q",)),
        help="Probability that a wrong label becomes a candidate. Whoever gets none is given one at random (the "
        "paper's rule), so that at 0 every example has two candidates; at 1 it has all.",
    ),
    "pair": Way(
        "Pair: only the next class enters, with probability q",
        *("flip_pair", "pair_matrix", ("q",)),
        help="Probability that the class after the true one becomes a candidate. 0: nothing is ambiguous, 1: all.",
    ),
    "uniform": Way(
        *("Uniform: any set, or any of a given size, is equally likely", "flip_uniform", "uniform_matrix"),
        takes=("size",),
        without="any size",
    ),
    "matrix": Way(
        "Matrix: a probability for each pair of classes", "flip_with_matrix", "checked_matrix", needs=("matrix",)
    ),
    "instance": Way(
        "By example: labels a classifier finds likely enter",
        *("flip_by_instance", "mean_instance_matrix", (), ("q",)),
        by_example=True,
        help="The mean over the wrong labels.",
        usual=0.4,
        without="as the classifier has it",
    ),
}
"""The ways by the name the pages and the command line use; a new one is a line here and its two functions."""

NOISY = {
    "topk": ("What a classifier finds likeliest joins", 2.0),
    "confusion": ("What the label is often confused with joins", 0.05),
}
"""The ways to make candidate sets of labels that may be wrong: title, and the number each takes where none is given."""

FLIP_SETTINGS = {
    "q": "q, the probability that a wrong label enters (0-1)",
    "size": "the size of the sets",
    "matrix": "a matrix, Pr(j is a candidate) for each true label (row) and label j (column)",
}
"""Settings of a way, in words."""
