"""Text features: TF-IDF followed by truncated SVD (latent semantic analysis, Deerwester et al. 1990).

Both are scikit-learn's. The saved state is the vocabulary, the IDF weights and the SVD components.
"""

from __future__ import annotations

import re
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features.base import Features, Featuriser, whole_argument
from pll.io import Arrays, Progress, blocks
from pll.training.devices import one_blas_thread

COMPONENTS = 300
VOCABULARY_SIZE = 20_000
"""Largest vocabulary; the most frequent words are kept. The components then take 24 MB."""

DOCUMENTS_AT_ONCE = 4096
SEED = 0  # of the randomised SVD

NGRAMS = (1, 3)
"""Characters of an n-gram, at least and at most."""
WORD = re.compile(r"\b\w\w+\b")
"""A word, as scikit-learn has it."""
UNSPACED = re.compile(
    r"[\u0e00-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff66-\uff9f\U00020000-\U0003ffff]+"
)
"""A run of scripts without spaces: Thai to Burmese, Khmer, Japanese and Chinese."""


class TextFeatures(Featuriser):
    """TF-IDF of words (of character n-grams in scripts without spaces), then truncated SVD.

    Parameters
    ----------
    components
        Number of features; reduced if there are fewer texts or words.
    unit
        `"word"`, `"character"` for n-grams of one to three characters, `"mixed"` for words and, in runs of a script
        without spaces, n-grams, or `"auto"` to choose by the texts.
    """

    name = "tfidf"
    title = "Words of a text (TF-IDF and truncated SVD)"
    reads = ("texts",)
    _words: TfidfVectorizer
    _svd: TruncatedSVD

    def __init__(self, components: int = COMPONENTS, unit: str = "auto") -> None:
        self.components = components
        self.unit = unit
        self._alone = ""
        """Message on training texts that share no word with another, if words of single texts are in the vocabulary."""

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        return cls() if not argument else cls(whole_argument(argument, "The number of text features", 10_000))

    def fit(self, data: PartialLabelDataset, progress: Progress | None = None) -> Self:
        texts = texts_of(data)
        if self.unit == "auto":
            self.unit = _unit_of(texts)
        counted = self._count(data, texts)
        n, result = counted.shape
        self.components = max(1, min(self.components, n - 1, result - 1))
        self._svd = TruncatedSVD(self.components, random_state=SEED)
        with np.errstate(invalid="ignore"), one_blas_thread():  # the variance ratio of a single text is 0 / 0
            self._svd.fit(counted)
        self._svd.components_ = self._svd.components_.astype(np.float32)
        return self

    def _count(self, data: PartialLabelDataset, texts: list[str]) -> scipy.sparse.csr_array:
        for least in (2, 1):  # words of a single text only if no others are left
            words = _vectorizer(self.unit, min_df=least, max_features=VOCABULARY_SIZE)
            try:
                counted = words.fit_transform(texts)
            except ValueError:  # no word is left
                continue
            if counted.shape[1] >= 2:
                self._words = words
                alone = _texts_alone(counted)
                self._alone = f"{alone} of {len(texts)} texts" if alone else ""
                return counted
        raise UserError(
            f"The texts of {data.name} hold fewer than two different words; there is nothing to learn from."
        )

    def transform(self, data: PartialLabelDataset, progress: Progress | None = None) -> Features:
        texts = texts_of(data)
        features = np.zeros((len(texts), self.components), dtype=np.float32)
        for some in blocks(len(texts), DOCUMENTS_AT_ONCE):
            features[some] = self._svd.transform(self._words.transform(texts[some]))
            if progress is not None:
                progress("texts", some.stop, len(texts))
        return features

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"text {k + 1}" for k in range(self.components))

    def notes(self, data: PartialLabelDataset) -> tuple[str, ...]:
        counts = self._words.transform(texts_of(data))
        empty = int((np.diff(counts.indptr) == 0).sum())
        result = (
            [
                f"{empty} texts hold no word that training knew; their features are 0."
                if empty > 1
                else "1 text holds no word that training knew; its features are 0."
            ]
            if empty
            else []
        )
        if self._alone:
            result.append(
                f"{self._alone} share no word with any other: nothing learnt about one text "
                "says anything about them. Bring more texts, or longer ones."
            )
        return tuple(result)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        words = self._words.get_feature_names_out().tolist()
        return {"unit": self.unit, "words": words}, {"idf": self._words.idf_, "components": self._svd.components_}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: Arrays) -> Self:
        components, idf = arrays["components"], arrays["idf"]
        words = [str(word) for word in settings["words"]]
        if components.ndim != 2 or components.shape[1] != len(words) or idf.shape != (len(words),):
            raise ValueError(f"{len(words)} words, but directions of shape {components.shape}")
        made = cls(len(components), str(settings["unit"]))
        made._words = _vectorizer(made.unit, vocabulary=words)
        made._words.idf_ = idf
        made._svd = TruncatedSVD(made.components)
        made._svd.components_ = components
        return made


def _texts_alone(counted: scipy.sparse.csr_array) -> int:
    """Return the number of non-empty rows of `counted` (texts, words) that share no word with another row."""
    present = (counted > 0).astype(np.int64)
    shared = present @ (np.asarray(present.sum(axis=0)).ravel() > 1)
    return int(((shared == 0) & (np.diff(counted.indptr) > 0)).sum())


def _vectorizer(unit: str, **settings: Any) -> TfidfVectorizer:
    by: dict[str, dict[str, Any]] = {
        "word": {"analyzer": "word"},
        "character": {"analyzer": "char", "ngram_range": NGRAMS},
        "mixed": {"analyzer": _words_and_ngrams},
    }
    if unit not in by:
        raise UserError(f"Texts are taken apart by word or by character, or both (mixed), not by {unit!r}.")
    return TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **by[unit], **settings)


def _words_and_ngrams(text: str) -> list[str]:
    """Return the words of a text; of runs of a script without spaces, the n-grams.

    Examples
    --------
    >>> _words_and_ngrams("The A4用紙")
    ['the', 'a4', '用', '紙', '用紙']
    """
    least, most = NGRAMS
    return WORD.findall(UNSPACED.sub(" ", text.lower())) + [
        run[start : start + size]
        for run in UNSPACED.findall(text)
        for size in range(least, most + 1)
        for start in range(len(run) - size + 1)
    ]


def texts_of(data: PartialLabelDataset) -> list[str]:
    if data.texts is None:
        raise UserError(f"{data.name} has no texts; say which column holds them.")
    return ["" if text is None else str(text) for text in data.texts]


def _unit_of(texts: list[str]) -> str:
    """How texts are taken apart; Chinese, Japanese and Thai texts have at most one space in forty characters."""
    letters = sum(len(text) for text in texts)
    spaces = sum(text.count(" ") for text in texts)
    if 20 * spaces < letters:
        return "character"
    return "mixed" if any(map(UNSPACED.search, texts)) else "word"
