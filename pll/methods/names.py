"""The methods by name: where each is, and what people call it. Light: nothing is imported for it."""

from __future__ import annotations

REGISTERED = {
    "proden": ("proden", "PRODEN", "PRODEN"),
    "proden-itera": ("proden", "PRODENItera", "PRODEN-itera"),
    "proden-sudden": ("proden", "PRODENSudden", "PRODEN-sudden"),
    "proden-naive": ("proden", "PRODENNaive", "PRODEN-naive"),
    "pn-oracle": ("proden", "PNOracle", "PN-oracle"),
    "pn-decomp": ("decomp", "PNDecomp", "PN-decomp"),
    "d2cnn": ("d2cnn", "D2CNN", "D²CNN"),
    "ga": ("ga", "GA", "GA"),
    "sure": ("sure", "SURE", "SURE"),
    "clpl": ("clpl", "CLPL", "CLPL"),
    "ecoc": ("ecoc", "PLECOC", "PL-ECOC"),
    "plsvm": ("plsvm", "PLSVM", "PL-SVM"),
    "plknn": ("plknn", "PLKNN", "PL-kNN"),
    "ipal": ("ipal", "IPAL", "IPAL"),
    "majority": ("voting", "Majority", "Majority vote"),
    "dawid-skene": ("voting", "DawidSkene", "Dawid-Skene"),
    "cc": ("cc", "CC", "CC"),
    "rc": ("cc", "RC", "RC"),
    "lws": ("lws", "LWS", "LWS"),
    "cavl": ("cavl", "CAVL", "CAVL"),
    "pop": ("pop", "POP", "POP"),
    "cr-dpll": ("crdpll", "CRDPLL", "CR-DPLL"),
    "proden-outside": ("outside", "PRODENOutside", "PRODEN-outside"),
}
"""Name of a method → its file in this folder, its class, and the name that papers give it. A new method is a file, and
a line here; `make generated` writes what lists them."""

MOST_EPOCHS, MOST_IN_A_STEP, MOST_SEED = 100_000, 1_000_000, 2**32 - 1
"""Limits of settings: of all that is counted in epochs, of the examples of a step, of seeds (NumPy's)."""

RECIPES = {
    "auto": (
        "Auto",
        "Tries representations, models and settings first, without true labels; about a minute for most data. "
        "What is changed by hand stays.",
    ),
    "default": ("Default", "The settings shown below."),
    "paper": ("Paper", "The paper's published settings, where there are some for this data."),
}
"""How the settings of a method are chosen: title and description of each way."""

TITLES = {name: title for name, (_, _, title) in REGISTERED.items()}
"""Name of a method → the name that papers give it."""

CLASS_TITLES = {kind: title for _, kind, title in REGISTERED.values()}
"""Class of a method → the same."""
