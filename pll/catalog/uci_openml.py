"""Tables: Yeast, Dermatology and Synthetic Control from the UCI repository, Texture from OpenML.

UCI's files have no header line, copies elsewhere often do; both are read. Sizes are those of the .names files, except
Yeast's class EXC: 37 in the .names file, 35 in every copy of the data.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from pll.catalog.entry import Entry, File, Need, files
from pll.dataset import PartialLabelDataset
from pll.errors import UserError

_UCI = "https://archive.ics.uci.edu"
_MISSING = "?"
_TEXTURE_ID = 40499
_TEXTURE_PAGE = f"https://www.openml.org/d/{_TEXTURE_ID}"

_YEAST_FEATURES = ("mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc")
_YEAST_CLASSES = ("CYT", "NUC", "MIT", "ME3", "ME2", "ME1", "EXC", "VAC", "POX", "ERL")

_DERMATOLOGY_FEATURES = (
    *("erythema", "scaling", "definite borders", "itching", "koebner phenomenon", "polygonal papules"),
    *("follicular papules", "oral mucosal involvement", "knee and elbow involvement", "scalp involvement"),
    *("family history", "melanin incontinence", "eosinophils in the infiltrate", "PNL infiltrate"),
    *("fibrosis of the papillary dermis", "exocytosis", "acanthosis", "hyperkeratosis", "parakeratosis"),
    *("clubbing of the rete ridges", "elongation of the rete ridges"),
    *("thinning of the suprapapillary epidermis", "spongiform pustule", "munro microabcess"),
    *("focal hypergranulosis", "disappearance of the granular layer"),
    *("vacuolisation and damage of basal layer", "spongiosis", "saw-tooth appearance of retes"),
    *("follicular horn plug", "perifollicular parakeratosis", "inflammatory monoluclear inflitrate"),
    *("band-like infiltrate", "age"),
)
_DERMATOLOGY_CLASSES = (  # as the file spells them; coded 1 … 6
    *("psoriasis", "seboreic dermatitis", "lichen planus"),
    *("pityriasis rosea", "cronic dermatitis", "pityriasis rubra pilaris"),
)

_CONTROL_CLASSES = (  # 100 rows each, in this order
    *("normal", "cyclic", "increasing trend"),
    *("decreasing trend", "upward shift", "downward shift"),
)


def _yeast(paths: Mapping[str, Path]) -> PartialLabelDataset:
    path = paths["yeast.data"]
    width = len(_YEAST_FEATURES) + 2  # a name in front, the class behind
    rows = _rows(path, None, width, first_number=1, last_number=width - 2)
    codes = {name: code for code, name in enumerate(_YEAST_CLASSES)}
    return PartialLabelDataset(
        X=np.array([_numbers(path, line, cells[1:-1]) for line, cells in rows], dtype=np.float32),
        y=_labels(path, rows, codes),
        class_names=_YEAST_CLASSES,
        feature_names=_YEAST_FEATURES,
        kind="table",
        notes=("The names of the sequences are left out: they are no features, and some stand twice.",),
    )


def _dermatology(paths: Mapping[str, Path]) -> PartialLabelDataset:
    path = paths["dermatology.data"]
    width = len(_DERMATOLOGY_FEATURES) + 1
    rows = _rows(path, ",", width, first_number=0, last_number=width - 1)
    codes = {str(code + 1): code for code in range(len(_DERMATOLOGY_CLASSES))}
    return PartialLabelDataset(
        X=np.array([_numbers(path, line, cells[:-1]) for line, cells in rows], dtype=np.float32),
        y=_labels(path, rows, codes),
        class_names=_DERMATOLOGY_CLASSES,
        feature_names=_DERMATOLOGY_FEATURES,
        kind="table",
    )


def _synthetic_control(paths: Mapping[str, Path]) -> PartialLabelDataset:
    path = paths["synthetic_control.data"]
    rows = _rows(path, None, 60, first_number=0, last_number=59)
    c = len(_CONTROL_CLASSES)
    if len(rows) % c:
        raise _wrong(path, f"it has {len(rows)} rows, not as many for each of {c} classes")
    return PartialLabelDataset(
        X=np.array([_numbers(path, line, cells) for line, cells in rows], dtype=np.float32),
        y=np.repeat(np.arange(c), len(rows) // c),
        class_names=_CONTROL_CLASSES,
        feature_names=tuple(f"t{t}" for t in range(1, 61)),
        kind="table",
    )


def _texture(paths: Mapping[str, Path]) -> PartialLabelDataset:
    """Read the ARFF file: 40 numeric attributes, then the class."""
    from scipy.io import arff

    path = paths["texture.arff"]
    limit = csv.field_size_limit()  # SciPy lifts it for the whole process, and our tables count on it
    # What SciPy raises for a file that is not, or not quite, an ARFF file (or has unsupported attributes):
    unreadable = (arff.ArffError, NotImplementedError, ValueError, LookupError, StopIteration)
    try:
        with path.open(encoding="utf-8") as stream:
            rows, about = arff.loadarff(stream)
    except unreadable as error:
        raise _wrong(path, f"it cannot be read as ARFF ({error or type(error).__name__})") from error
    finally:
        csv.field_size_limit(limit)
    *features, target = about.names()
    kinds = about.types()
    if kinds[-1] != "nominal" or set(kinds[:-1]) != {"numeric"}:
        raise _wrong(path, "its attributes are not numbers followed by a class")
    coded = [name.decode() for name in rows[target].tolist()]
    names = sorted(set(coded), key=lambda name: (len(name), name))  # the codes are whole numbers
    codes = {name: code for code, name in enumerate(names)}
    return PartialLabelDataset(
        X=np.stack([rows[name] for name in features], axis=1).astype(np.float32),
        y=np.array([codes[name] for name in coded]),
        class_names=tuple(names),
        feature_names=tuple(features),
        kind="table",
    )


_Row = tuple[int, list[str]]  # the number of its line in the file, and its cells


def _rows(path: Path, separator: str | None, width: int, first_number: int, last_number: int) -> list[_Row]:
    """Return the rows of a text table without blank lines and header."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise _wrong(path, "it is not plain text") from error
    rows = [(i, line.strip().split(separator)) for i, line in enumerate(lines, start=1) if line.strip()]
    for number, cells in rows:
        if len(cells) != width:
            raise _wrong(path, f"line {number} has {len(cells)} columns where {width} are expected")
    if rows and not any(_is_number(cell) for cell in rows[0][1][first_number : last_number + 1]):
        del rows[0]
    if not rows:
        raise _wrong(path, "it has no rows")
    return rows


def _numbers(path: Path, line: int, cells: Sequence[str]) -> list[float]:
    for cell in cells:
        if not _is_number(cell):
            raise _wrong(path, f"line {line} holds {cell!r} where a number is expected")
    return [math.nan if cell.strip() == _MISSING else float(cell) for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        return cell.strip() == _MISSING or math.isfinite(float(cell))
    except ValueError:
        return False


def _labels(path: Path, rows: Sequence[_Row], codes: Mapping[str, int]) -> np.ndarray:
    for line, cells in rows:
        if cells[-1].strip() not in codes:
            raise _wrong(path, f"line {line} ends in {cells[-1]!r}; a class is one of {', '.join(codes)}")
    return np.array([codes[cells[-1].strip()] for _, cells in rows], dtype=np.int64)


def _wrong(path: Path, reason: str) -> UserError:
    page = next(entry.page for entry in ENTRIES if entry.files[0].name == path.name)
    return UserError(
        f"{path} is not the published file: {reason}. Delete it and load again, or replace it by the one from {page}."
    )


def _files(name: str, number: int, archive: str, legacy: str, megabytes: float) -> tuple[Need, ...]:
    return files(
        File(
            name=PurePosixPath(legacy).name,
            folder=name,
            page=f"{_UCI}/dataset/{number}",
            urls=(
                f"{_UCI}/static/public/{number}/{archive}.zip",
                f"{_UCI}/ml/machine-learning-databases/{legacy}",
            ),
            megabytes=megabytes,
        )
    )


ENTRIES = (
    Entry(
        name="yeast",
        title="Yeast",
        about="Where in the cell a yeast protein is found, by eight scores of its sequence.",
        kind="table",
        n=1484,
        shape=(8,),
        c=10,
        licence="CC BY 4.0",
        page=f"{_UCI}/dataset/110",
        needs=_files("yeast", 110, "yeast", "yeast/yeast.data", 0.1),
        loader=_yeast,
        class_sizes=(463, 429, 244, 163, 51, 44, 35, 30, 20, 5),
    ),
    Entry(
        name="dermatology",
        title="Dermatology",
        about="Six skin diseases by 34 findings on patients and under the microscope; 8 ages are missing.",
        kind="table",
        n=366,
        shape=(34,),
        c=6,
        licence="CC BY 4.0",
        page=f"{_UCI}/dataset/33",
        needs=_files("dermatology", 33, "dermatology", "dermatology/dermatology.data", 0.03),
        loader=_dermatology,
        class_sizes=(112, 61, 72, 49, 52, 20),
    ),
    Entry(
        name="synthetic-control",
        title="Synthetic Control",
        about="Synthetic control charts: six kinds of courses over sixty time steps.",
        kind="table",
        n=600,
        shape=(60,),
        c=6,
        licence="CC BY 4.0",
        page=f"{_UCI}/dataset/139",
        needs=_files(
            "synthetic-control",
            139,
            "synthetic+control+chart+time+series",
            "synthetic_control-mld/synthetic_control.data",
            0.3,
        ),
        loader=_synthetic_control,
        class_sizes=(100,) * 6,
    ),
    Entry(
        name="texture",
        title="Texture",
        about="Eleven natural textures (grass, leather, sand, …) by forty statistics of small patches.",
        kind="table",
        n=5500,
        shape=(40,),
        c=11,
        licence="public (as OpenML states it)",
        page=_TEXTURE_PAGE,
        needs=files(File("texture.arff", folder="texture", page=_TEXTURE_PAGE, openml=_TEXTURE_ID, megabytes=2.5)),
        loader=_texture,
    ),
)
