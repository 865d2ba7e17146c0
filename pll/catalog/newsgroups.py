"""20 Newsgroups as 300 numbers a text: TF-IDF, then truncated SVD.

Read from the published archive, since scikit-learn's cache of it is a pickle. Both steps are fitted on the published
training part only. The result is cached beside the archive; computing it takes about a minute.
"""

from __future__ import annotations

import contextlib
import tarfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt

from pll.catalog.files import damaged, data_folder
from pll.dataset import PartialLabelDataset
from pll.io import write_atomically

NEWSGROUPS_COMPONENTS = 300
NEWSGROUPS_SEED = 0  # of the randomised SVD
_SPLITS = {"20news-bydate-train": False, "20news-bydate-test": True}  # folder in the archive → is test part


def features(texts: Sequence[str], is_test: npt.NDArray[np.bool_], components: int) -> npt.NDArray[np.float32]:
    """Return (n, components) float32 features: TF-IDF and truncated SVD, both fitted on the training texts.

    Parameters
    ----------
    texts
        (n,) texts.
    is_test
        (n,) bool.
    components
        How many there are after the reduction.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2, max_df=0.5, dtype=np.float32)
    words.fit([text for text, test in zip(texts, is_test, strict=True) if not test])
    counted = words.transform(texts)
    svd = TruncatedSVD(components, random_state=NEWSGROUPS_SEED).fit(counted[~is_test])
    reduced: npt.NDArray[np.float32] = svd.transform(counted).astype(np.float32)
    return reduced


def load(paths: Mapping[str, Path]) -> PartialLabelDataset:
    """Return the texts of the published archive as numbers; they are kept beside it.

    Raises
    ------
    UserError
        a damaged archive, or another one.
    """
    (archive,) = paths.values()
    ids, groups, is_test, texts = _read(archive)
    names = sorted(set(groups))
    codes = {name: code for code, name in enumerate(names)}
    return PartialLabelDataset(
        X=_cached_features(ids, texts, np.array(is_test)),
        y=np.array([codes[group] for group in groups]),
        class_names=tuple(names),
        ids=np.array(ids),
        is_test=np.array(is_test),
        kind="array",
        notes=("Each text is 300 numbers: TF-IDF and truncated SVD, fitted on the training part.",),
    )


def _read(archive: Path) -> tuple[list[str], list[str], list[bool], list[str]]:
    """Return ids (`train/<group>/<number>`), groups, test flags and texts, sorted by id."""
    result = []
    try:
        with tarfile.open(archive) as members:
            for member in members:
                place = PurePosixPath(member.name).parts
                if not member.isfile() or len(place) != 3 or place[0] not in _SPLITS:
                    continue
                content = members.extractfile(member)
                assert content is not None  # a plain file always has content
                test = _SPLITS[place[0]]
                identity = f"{'test' if test else 'train'}/{place[1]}/{place[2]}"
                result.append((identity, place[1], test, content.read().decode("latin-1")))
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise damaged(archive, error) from error
    if not result:
        raise damaged(archive, "it holds none of the texts")
    ids, groups, is_test, texts = (list(column) for column in zip(*sorted(result), strict=True))
    return ids, groups, is_test, texts


def _cached_features(ids: list[str], texts: list[str], is_test: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """Return the features, from the cache if they were computed before."""
    import sklearn

    name = f"features-svd{NEWSGROUPS_COMPONENTS}-scikit-learn-{sklearn.__version__}.npz"
    path = data_folder() / "20newsgroups" / name
    unreadable = (OSError, ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile)
    with contextlib.suppress(*unreadable), np.load(path, allow_pickle=False) as cached:  # else computed again
        if cached["ids"].tolist() == ids:
            vectors: npt.NDArray[np.float32] = cached["X"]
            return vectors
    X = features(texts, is_test, NEWSGROUPS_COMPONENTS)
    with contextlib.suppress(OSError):  # without a cache the computation is repeated
        write_atomically(path, lambda part: np.savez(part, X=X, ids=np.array(ids)))
    return X
