"""Write docs/datasets.md from the catalogue: `python -m tools.pages`."""

from __future__ import annotations

from pathlib import Path

from benchmarks.marked import table
from pll.catalog import CATALOG
from pll.catalog.entry import Entry, File
from pll.catalog.files import archive_name, is_archive

PATH = Path(__file__).parents[1] / "docs" / "datasets.md"

_HEAD = """\
# Datasets

<!-- Written by `python -m tools.pages` from pll/catalog. Change it there. -->

For whoever wants data to try, or the paper's datasets.

Every dataset of the paper and a few more, by name: on the Data page, in the shell (`python -m pll datasets`,
`python -m pll fit yeast --flip binomial --q 0.5 …`) and in Python:

```python
from pll.catalog import load

data = load("yeast", progress=lambda done, total: print(done, total))
```

*image* and *table* sets have true labels only: make candidate sets from them (`--flip`). *partial* sets bring
their own. Look at a licence before you use a dataset.
"""

_FILES = """\
## Where the files are, and without a network

A dataset that needs files is downloaded when it is first used, checked, and kept in
`~/.candid/data/<folder>/` (in `data` of `PLL_HOME`, where that is set; `PLL_DATA` names another place). Where there
is no network, put the files below there by hand, or into any folder named in `PLL_DATA_PATH` (several are separated
as in `PATH`; they are only read): there they are found by name, directly in it or in a folder inside it. An archive
that holds the file will do as well. Checksums are compared wherever one is published; besides, a dataset is
refused if its numbers of examples, features, classes or candidates are not those of the table.
"""

_TAIL = """\
## Notes

- **MNIST**: the four files are judged by their *uncompressed* bytes, so a copy that was compressed again is
  accepted. Fashion-MNIST and Kuzushiji-MNIST use the same file names, hence each is looked for in folders of
  its own name only (`mnist`, `fashion-mnist`, `kuzushiji-mnist`, or torchvision's `MNIST/raw`,
  `FashionMNIST/raw`, `KMNIST/raw`).
- **CIFAR-10** is published as Python pickles. They are unpickled by torchvision, and only after each has the
  published checksum. The archive or its unpacked folder will do.
- **Lost, BirdSong, MSRCv2, Soccer Player, Yahoo! News** are published as `.rar`. Unpacking one needs a program
  (unrar, unar, 7-Zip or bsdtar) unless it is only stored; without it Candid says so, and the unpacked `.mat`
  can be put in place by hand.
- **20 Newsgroups**: TF-IDF (sublinear, English stop words out, words in at least 2 texts and at most half of
  them) and truncated SVD, both fitted on the training part; about a minute the first time, then kept.
- **Dermatology**: the eight missing ages stay missing (NaN) and are imputed in training.

## Images as sprites

`cifar10-subset` reads CIFAR-10 from lossless pictures of 100 × 100 tiles (`data_batch_1.webp`, `test_batch.webp`,
with `labels.npz`), put into the folder `cifar10`. The same in a few lines of Python, with the votes of CIFAR-10H
(about 51 people an image) in `human_labels.npz`:

```python
import numpy as np
from PIL import Image

sheet = np.asarray(Image.open("cifar10/test_batch.webp").convert("RGB"))  # (3200, 3200, 3)
tiles = sheet.reshape(100, 32, 100, 32, 3).swapaxes(1, 2)  # image i at [i // 100, i % 100]
X = tiles.reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2).astype(np.float32) / 255  # (10000, 3, 32, 32)

labels = np.load("cifar10/labels.npz", allow_pickle=False)
y = labels["test"].astype(np.int64)
votes = np.load("cifar10/human_labels.npz", allow_pickle=False)["cifar10h_counts"]  # (10000, 10)

np.savez("cifar10h.npz", X=X, candidates=votes >= 2, y=y, class_names=labels["names"])
```

`python -m pll fit cifar10h.npz --model convnet …` then trains on it.
"""


def markdown() -> str:
    """The whole page."""
    columns = ("name", "what it is", "kind", "examples", "features", "classes", "candidates", "split", "MB")
    sets = table([*columns, "licence", "source"], [_set_row(entry) for entry in CATALOG.values()])
    places = table(["folder", "file", "for", "from", "checked by"], _file_rows())
    return "\n".join((_HEAD, sets, "", _FILES, places, "", _TAIL))


def _set_row(entry: Entry) -> list[str]:
    return [
        f"`{entry.name}`",
        entry.about,
        entry.kind,
        f"{entry.n:,}",
        " × ".join(map(str, entry.shape)),
        str(entry.c),
        "" if entry.mean_candidates is None else f"{entry.mean_candidates:.2f}",
        entry.split,
        _size(entry),
        entry.licence,
        f"[{entry.title}]({entry.page})",
    ]


def _file_rows() -> list[list[str]]:
    users: dict[File, list[str]] = {}
    for entry in CATALOG.values():
        for file in (file for need in entry.needs for way in need.ways for file in way):
            users.setdefault(file, []).append(f"`{entry.name}`")
    return [
        [f"`{file.folder}`", f"`{file.name}`", ", ".join(names), _source(file), _proof(file)]
        for file, names in users.items()
    ]


def _size(entry: Entry) -> str:
    if entry.embedded:
        return "in scikit-learn"
    return f"{entry.size_mb:.1f}" if entry.size_mb >= 0.1 else f"{entry.size_mb:.2f}"


def _source(file: File) -> str:
    if not file.urls:
        return f"[page]({file.page})" if "://" in file.page else "by hand"
    url = file.urls[0]
    return f"[{archive_name(url)}]({url})" if is_archive(url, file) else f"[file]({url})"


def _proof(file: File) -> str:
    if file.checksum is not None:
        return f"{file.checksum.label} `{file.checksum.value[:12]}…`"
    return "MD5 of OpenML" if file.openml is not None else "content"
