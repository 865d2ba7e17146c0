"""Several people's labels for the same examples: what they said, how far to rely on them, candidate sets from it.

>>> annotations = Annotations.from_votes([[0, 0], [1, 2]], ["cat", "dog", "fox"])
>>> resolve(annotations, SetRule("union")).candidates.sizes.tolist()
[1, 2]
"""

from pll.annotations.data import ALL_WRONG, Annotations
from pll.annotations.rules import SET_RULES, Resolved, SetRule, resolve, rule_table

__all__ = ["ALL_WRONG", "SET_RULES", "Annotations", "Resolved", "SetRule", "resolve", "rule_table"]
