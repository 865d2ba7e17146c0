"""What describes a run: each field once, with its name, kind, limits, default and words.

The options of the shell, the parts of a share link, the fields of an experiment's TOML and the form on the page are
made of these. Light: nothing is imported that computes, so that `--help` is quick.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pll.errors import UserError, did_you_mean
from pll.methods.names import MOST_EPOCHS, MOST_IN_A_STEP, MOST_SEED, RECIPES
from pll.training.losses import LOSSES
from pll.training.names import AUGMENTATIONS, MODELS, OPTIMISERS, PRECISIONS, SCALES

FieldKind = Literal["whole", "number", "text", "flag"]


@dataclass(frozen=True)
class Field:
    """A field of a run.

    Attributes
    ----------
    name
        In config.json, in Python, in a link and a TOML file; in the shell with `-` for `_`.
    title
        On a page.
    words
        What it is, as a clause: the shell shows it as it stands, a page as a sentence.
    kind
        What its values are; None means that it is not given.
    default
        Of a run; None for the settings of a method, whose own default it is.
    least, most
        Limits of a number, in Python too; only a learning rate may there be 0, or so large that training diverges.
    above, below
        Whether it must be more than `least`, less than `most`.
    step
        Of the buttons beside the number on a page.
    choices
        Values by name, with what people call them.
    others
        Whether the method judges values that are no choices.
    metavar
        What stands for the value in the shell.
    """

    name: str
    title: str
    words: str
    kind: FieldKind = "text"
    default: Any = None
    least: float = 0
    most: float = 1
    above: bool = False
    below: bool = False
    step: float = 1
    choices: Mapping[str, str] | None = None
    others: bool = False
    metavar: str | None = None

    @property
    def sentence(self) -> str:
        """The words as a sentence."""
        return f"{self.words[0].upper()}{self.words[1:]}."

    def number(self, value: float) -> float:
        """A number as the methods take it: an int where it is to be whole, and is."""
        return int(value) if self.kind == "whole" and value == int(value) else float(value)

    @property
    def wanted(self) -> str:
        """What its value must be, in words.

        Examples
        --------
        >>> RUN_FIELDS["epochs"].wanted, RUN_FIELDS["momentum"].wanted, RUN_FIELDS["strict"].wanted
        ('a whole number from 1 to 100,000', 'a number from 0 to 1, less than 1', 'true or false')
        """
        if self.kind == "flag":
            return "true or false"
        if self.kind == "text":
            return "text" if self.choices is None else f"one of {', '.join(self.choices)}"
        if self.above and self.below:
            return f"a number between {_shown(self.least)} and {_shown(self.most)}"
        ends = f"from {_shown(self.least)} to {_shown(self.most)}"
        more = f", more than {_shown(self.least)}" * self.above + f", less than {_shown(self.most)}" * self.below
        return f"a {'whole ' * (self.kind == 'whole')}number {ends}{more}"

    def problem(self, value: Any, called: str = "") -> str:
        """Say what is wrong with a value; "" where nothing is.

        Parameters
        ----------
        value
            Of the field.
        called
            What to call the field; its title where nothing is given.

        Examples
        --------
        >>> RUN_FIELDS["batch_size"].problem(1.5), RUN_FIELDS["epochs"].problem(5)
        ('Batch size is 1.5; it must be a whole number from 1 to 1,000,000.', '')
        """
        if value is None or self._takes(value):
            return ""
        return f"{called or self.title} is {_shown(value)}; it must be {self.wanted}."

    def value_of(self, text: str) -> Any:
        """Return the value that a text says.

        Parameters
        ----------
        text
            As it is typed, or stands in a link.

        Raises
        ------
        UserError
            It must be another one.

        Examples
        --------
        >>> RUN_FIELDS["epochs"].value_of("5"), RUN_FIELDS["lr"].value_of("1"), RUN_FIELDS["strict"].value_of("true")
        (5, 1.0, True)
        """
        value = text if self.kind == "text" else plain_value(text)
        problem = self.problem(text if value is None and self.default is not None else value, self.name)
        if problem:
            raise UserError(f"{problem}{did_you_mean(text, self.choices or ())}")
        return value if value is None else {"whole": int, "number": float}.get(self.kind, lambda same: same)(value)

    def _takes(self, value: Any) -> bool:
        if self.kind == "text":
            return isinstance(value, str) and (self.choices is None or self.others or value in self.choices)
        if self.kind == "flag":
            return isinstance(value, bool)
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.least <= value <= self.most:
            return False
        if (self.above and value == self.least) or (self.below and value == self.most):
            return False
        return self.kind == "number" or value == int(value)


def _shown(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"


def _named(names: tuple[str, ...]) -> dict[str, str]:
    return {name: name for name in names}


def _titled(table: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """Return the titles, which are the first of each entry."""
    return {name: str(entry[0]) for name, entry in table.items()}


_OF_TASKS = (
    Field("flip", "How wrong labels enter", "make candidates of true labels"),
    Field("q", "Flipping probability q", "probability that a wrong label enters", "number", most=1, step=0.05),
    Field("size", "Size of the sets", "labels in a set", "whole", least=1, most=10**6),
    Field("noisy", "What joins a label", "make candidates of single labels that may be wrong"),
    Field("features", "Features", "of texts, pictures, words: auto, none, tfidf:100",
          default="auto", metavar="SPEC"),
    Field("holdout", "Held out to test on", "test on this share of the data, 0-1",
          "number", None, 0, 1, True, True, 0.05, metavar="SHARE"),
    Field("strict", "Strict", "refuse a truth that is not among the candidates", "flag", False),
    Field("seed", "Seed", "the same seed, the same result",
          "whole", 0, most=MOST_SEED),
    Field("method", "Method", "candid methods lists them", default="proden"),
)  # fmt: skip
_OF_METHODS = (
    Field("recipe", "Recipe", "where other settings come from",
          choices=_titled(RECIPES), others=True),
    Field("model", "Model", "the network, also torchvision:NAME", choices=_titled(MODELS), others=True),
    Field("loss", "Loss", "the loss of one label",
          choices=_titled(LOSSES), others=True),
    Field("epochs", "Epochs", "passes over all examples", "whole", None, 1, MOST_EPOCHS, step=10),
    Field("batch_size", "Batch size", "examples a step", "whole", None, 1, MOST_IN_A_STEP, step=32),
    Field("lr", "Learning rate", "size of a step; too large diverges, too small is slow",
          "number", None, 0, 10, True, step=0.01),
    Field("weight_decay", "Weight decay", "keeps parameters small; more for few examples", "number",
          most=10, step=0.0001),
    Field("momentum", "Momentum", "share of the last steps in the next one",
          "number", None, 0, 1, below=True, step=0.05),
    Field("optimiser", "Optimiser", "Adam suits networks whose learning rate nobody tuned", choices=OPTIMISERS),
    Field("lr_decay", "Decay of the learning rate", "what it is multiplied by every so many epochs",
          "number", None, 0, 1, True, step=0.05),
    Field("lr_decay_every", "Epochs between decays", "1: after every epoch", "whole", None, 1, MOST_EPOCHS, step=5),
    Field("update_every", "Update weights every", "epochs between two updates of the weights",
          "whole", None, 1, MOST_EPOCHS, step=5),
    Field("augment", "Vary images while training",
          "random shifts of up to 4 pixels, and mirrored; helps large networks", choices=_named(AUGMENTATIONS)),
    Field("scale", "Scaling of features", "of features; auto is z-scores, for images by channel",
          choices=_named(SCALES)),
    Field("precision", "Precision", "numbers of the training passes", choices=_named(PRECISIONS)),
    Field("device", "Device", "auto, cpu, cuda, cuda:1, mps or xpu"),
    Field("threads", "CPU threads", "if not given, one less than there are cores", "whole", None,
          1, 1024),
)  # fmt: skip
METHOD_SETTINGS = tuple(one.name for one in _OF_METHODS)
"""The fields that are settings of methods; single methods have more."""
RUN_FIELDS = {one.name: one for one in (*_OF_TASKS, *_OF_METHODS)}
"""Every field by its name."""


def in_words(name: str, value: Any) -> tuple[str, str]:
    """Return what people call a setting, and its value.

    Parameters
    ----------
    name
        Of the setting, described or of a single method.
    value
        As a method takes it.

    Examples
    --------
    >>> in_words("lr", 0.05), in_words("loss", "ce"), in_words("batch_size", None), in_words("n_neighbours", 10)
    (('Learning rate', '0.05'), ('Loss', 'Cross-entropy'), ('Batch size', 'by the data'), ('N neighbours', '10'))
    """
    one = RUN_FIELDS.get(name)
    if value is None:
        shown = BY_DATA
    elif one is not None and one.choices is not None:
        shown = one.choices.get(value, str(value))
    else:
        shown = _shown(value) if isinstance(value, bool | int | float) else str(value)
    return name.replace("_", " ").capitalize() if one is None else one.title, shown


def setting_clause(name: str, value: Any) -> str:
    """Return a setting and its value within a sentence.

    Parameters
    ----------
    name
        Of the setting.
    value
        As a method takes it.

    Examples
    --------
    >>> setting_clause("lr", 0.05), setting_clause("threads", 2)
    ('learning rate 0.05', 'CPU threads 2')
    """
    title, shown = in_words(name, value)
    return f"{title if title[:2].isupper() else title[0].lower() + title[1:]} {shown}"


BY_DATA = "by the data"
"""Shown for a setting that is not given."""
_WORDS: dict[str, bool | None] = {"none": None, "true": True, "false": False}


def setting_of(name: str, text: str) -> int | float | str | bool | None:
    """Return the value of a setting as a method takes it: a number, a word, or none, true, false.

    Parameters
    ----------
    name
        Of the setting.
    text
        As it is typed.

    Raises
    ------
    UserError
        The setting is described, and its value must be another one.

    Examples
    --------
    >>> [setting_of("k", text) for text in ("3", "1e-3", "rbf", "none", "true")], setting_of("augment", "none")
    ([3, 0.001, 'rbf', None, True], 'none')
    """
    field = RUN_FIELDS.get(name)
    value: int | float | str | bool | None = plain_value(text) if field is None else field.value_of(text)
    return value


def plain_value(text: str) -> int | float | str | bool | None:
    """Return what a text is: a number, none, true or false; else the text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):  # also a whole number of hundreds of digits
        return text
    try:
        return int(text)
    except ValueError:
        return number
