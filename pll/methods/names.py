"""The methods by name: how pages, shell and files call them, and how people do. Light: nothing is imported for it."""

from __future__ import annotations

TITLES = {
    "proden": "PRODEN",
    "proden-itera": "PRODEN-itera",
    "proden-sudden": "PRODEN-sudden",
    "proden-naive": "PRODEN-naive",
    "pn-oracle": "PN-oracle",
    "pn-decomp": "PN-decomp",
    "d2cnn": "D²CNN",
    "ga": "GA",
    "sure": "SURE",
    "clpl": "CLPL",
    "ecoc": "PL-ECOC",
    "plsvm": "PL-SVM",
    "plknn": "PL-kNN",
    "ipal": "IPAL",
    "majority": "Majority vote",
    "dawid-skene": "Dawid-Skene",
    "cc": "CC",
    "rc": "RC",
    "lws": "LWS",
    "cavl": "CAVL",
    "pop": "POP",
    "cr-dpll": "CR-DPLL",
    "proden-outside": "PRODEN-outside",
}
"""Name of a method in the registry → the name that papers give it."""
