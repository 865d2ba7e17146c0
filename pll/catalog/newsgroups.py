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

from pll.catalog.entry import Checksum, Entry, File, files
from pll.catalog.files import damaged, folder_of, temporary
from pll.dataset import PartialLabelDataset

COMPONENTS = 300
SEED = 0  # of the randomised SVD
_PARTS = {"20news-bydate-train": False, "20news-bydate-test": True}  # folder in the archive: is it the test part

_ARCHIVE = File(
    name="20news-bydate.tar.gz",
    folder="20newsgroups",
    page="http://qwone.com/~jason/20Newsgroups/",
    urls=(
        "https://ndownloader.figshare.com/files/5975967",
        "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
    ),
    megabytes=14.5,
    # scikit-learn's (a test compares them)
    checksum=Checksum("sha256", "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610"),
)


def features(texts: Sequence[str], is_test: npt.NDArray[np.bool_], components: int) -> npt.NDArray[np.float32]:
    """Return (n, components) float32 features: TF-IDF and truncated SVD, both fitted on the training texts."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2, max_df=0.5, dtype=np.float32)
    words.fit([text for text, test in zip(texts, is_test, strict=True) if not test])
    counted = words.transform(texts)
    svd = TruncatedSVD(components, random_state=SEED).fit(counted[~is_test])
    reduced: npt.NDArray[np.float32] = svd.transform(counted).astype(np.float32)
    return reduced


def _newsgroups(paths: Mapping[str, Path]) -> PartialLabelDataset:
    ids, groups, is_test, texts = _read(paths[_ARCHIVE.name])
    names = sorted(set(groups))
    codes = {name: code for code, name in enumerate(names)}
    return PartialLabelDataset(
        X=_kept(ids, texts, np.array(is_test)),
        y=np.array([codes[group] for group in groups]),
        class_names=tuple(names),
        ids=np.array(ids),
        is_test=np.array(is_test),
        kind="array",
        notes=("Each text is 300 numbers: TF-IDF and truncated SVD, fitted on the training part.",),
    )


def _read(archive: Path) -> tuple[list[str], list[str], list[bool], list[str]]:
    """Return ids (`train/<group>/<number>`), groups, test flags and texts, sorted by id."""
    found = []
    try:
        with tarfile.open(archive) as members:
            for member in members:
                place = PurePosixPath(member.name).parts
                if not member.isfile() or len(place) != 3 or place[0] not in _PARTS:
                    continue
                content = members.extractfile(member)
                assert content is not None  # a plain file always has content
                test = _PARTS[place[0]]
                identity = f"{'test' if test else 'train'}/{place[1]}/{place[2]}"
                found.append((identity, place[1], test, content.read().decode("latin-1")))
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise damaged(archive, error) from error
    if not found:
        raise damaged(archive, "it holds none of the texts")
    ids, groups, is_test, texts = (list(column) for column in zip(*sorted(found), strict=True))
    return ids, groups, is_test, texts


def _kept(ids: list[str], texts: list[str], is_test: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """Return the features, from the cache if they were computed before."""
    import sklearn

    folder = folder_of(_ARCHIVE)
    path = folder / f"features-svd{COMPONENTS}-scikit-learn-{sklearn.__version__}.npz"
    unreadable = (OSError, ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile)
    with contextlib.suppress(*unreadable), np.load(path, allow_pickle=False) as kept:  # else computed again
        if kept["ids"].tolist() == ids:
            known: npt.NDArray[np.float32] = kept["X"]
            return known
    X = features(texts, is_test, COMPONENTS)
    with contextlib.suppress(OSError):  # a cache that cannot be written to costs a minute, nothing else
        folder.mkdir(parents=True, exist_ok=True)
        with temporary(folder) as part:
            with part.open("wb") as out:
                np.savez(out, X=X, ids=np.array(ids))
            part.replace(path)
    return X


ENTRIES = (
    Entry(
        name="20newsgroups",
        title="20 Newsgroups",
        about="Posts to twenty newsgroups, as 300 features each (TF-IDF and truncated SVD).",
        kind="table",
        n=18_846,
        shape=(COMPONENTS,),
        c=20,
        licence="none stated",
        page=_ARCHIVE.page,
        needs=files(_ARCHIVE),
        loader=_newsgroups,
        split="11,314 + 7,532 (by date)",
    ),
)
