"""Bad files: each gives a message that names the file and the place, and nothing but a `UserError` ever escapes."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from pll import formats
from pll.errors import UserError
from pll.formats import checks
from pll.formats.tabular import csv

MB = 2**20


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **({"X": np.ones((3, 2))} | arrays))
    return file.getvalue()


def mat(*, compressed: bool = True, **variables: Any) -> bytes:
    file = io.BytesIO()
    fields = {name: value for name, value in ({"data": np.ones((3, 2))} | variables).items() if value is not None}
    scipy.io.savemat(file, fields, do_compression=compressed)
    return file.getvalue()


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def npy_header(shape: str, descr: str = "<f4") -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def npz_bomb() -> bytes:
    """Like `mat_bomb`."""
    return zipped(X=npy_header("(30, 1048576)", "|u1") + bytes(30 * MB))


def mat_bomb() -> bytes:
    """A variable of zeros that is tiny in the file."""
    return mat_element(struct.pack("<II", 14, 30 * MB) + bytes(30 * MB))


def mat_element(matrix: bytes) -> bytes:
    packed = zlib.compress(matrix, 1)
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed


TABLES: dict[str, tuple[str | bytes, str]] = {
    "empty set": ("x,candidates\n1,a\n2,\n", "Row 3 has an empty candidate set"),
    "empty list": ("x,candidates\n1,a\n2,[]\n", "Row 3 has an empty candidate set"),
    "only separators": ("x,candidates\n1, | | \n", "Row 2 has an empty candidate set"),
    "too few fields": ("x,y,candidates\n1,2,a\n1,a\n", "Row 3 has 2 fields, the header has 3"),
    "too many fields": ("x,candidates\n1,a\n\n2,a,b\n", "Row 4 has 3 fields, the header has 2"),
    "blank line of spaces": ("x,candidates\n1,a\n   \n", "Row 3 has 1 field"),
    "same label twice": ("candidates,x,candidates\nb,1,a\n", "Columns 1 and 3 have the same name 'candidates'"),
    "reserved column twice": ("id,x,ID\n1,1,1\n", "Columns 1 and 3 have the same name"),
    "same id twice": ("id,x\na,1\nb,2\na,3\n", "Rows 2 and 4 have the same id 'a'"),
    "empty id": ("id,x\na,1\n,2\n", "Row 3 has an empty id"),
    "no rows": ("x,candidates\n", "not one row"),
    "no rows, no line end": ("x,candidates", "not one row"),
    "blank": ("\n\n \n", "."),
    "text feature": ("x,colour,candidates\n1,2,a\n1,red,a\n", "Row 3, column 'colour' holds 'red'"),
    "decimal comma": ('x,candidates\n"1,500",a\n', "Row 2, column 'x' holds '1,500'"),
    "infinite": ("x,candidates\n1,a\n-inf,a\n", "Row 3, column 'x' holds '-inf'"),
    "too large": ("x,candidates\n1e39,a\n", "Row 2, column 'x' holds '1e39'"),
    "too large for float64": ("x,candidates\n1e999,a\n", "Row 2, column 'x' holds '1e999'"),
    "split": ("x,split\n1,train\n2,half\n", "Row 3, column split holds 'half'"),
    "empty split": ("x,split\n1,train\n2,\n", "Row 3, column split holds ''"),
    "list of two truths": ('x,true_label\n1,"[""a"", ""b""]"\n', "Row 2, column true_label"),
    "number in list": ('x,candidates\n1,"[[""a""]]"\n', "Row 2, column candidates .*entry 1"),
    "deep list": ("x,candidates\n1," + "[" * 10**5 + "]" * 10**5 + "\n", "Row 2, column candidates .*deeply"),
    "open quote": ('x,candidates\n1,a\n2,"b\n3,c\n', "Row 3 opens a double quote"),
    "Latin-1 within UTF-8": ("x,candidates\n1,é|caf".encode() + b"\xe9\n", r"Byte 21 \(line 2\) is 0xE9"),
    "cut character": ("x,candidates\n1,é".encode()[:-1], r"Byte 15 \(line 2\) is 0xC3"),
    "UTF-16, cut": ("x,candidates\n1,a\n".encode("utf-16")[:-1], "UTF-16"),
    "NUL": (b"x,candidates\n1,a\0b\n", r"Byte 16 \(line 2\) is a NUL"),
    "binary": (bytes(range(256)) * 40, "."),
    "JSON": ('{"x": 1\n', "."),
    "too many columns": (",".join(f"c{k}" for k in range(60_001)) + "\n", "60,001 columns"),
    "huge id": ("id,x\n" + "a" * 100_000 + ",1\n" + "".join(f"{k},1\n" for k in range(1000)), "Row 2 has an id"),
    "huge name": ("x,candidates\n1," + "a" * 10**5 + "\n2,b\n", "Row 2, column candidates holds a label of 100,000"),
    "huge row": ("x,candidates\n1," + "a" * (2 * MB) + "\n2,b\n", "longer than 1.0 MB|Row 2"),
}

_object = np.array([[1.0], [1.0, 2.0]], dtype=object)
_X = npy_header("(3, 2)") + np.ones((3, 2), "<f4").tobytes()

ARCHIVES: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    "not a ZIP": (b"this is no archive", "not a whole ZIP archive"),
    "only the start": (npz()[:40], "cut off or damaged"),
    "no X": (zipped(Z=_X), "X .*missing; found Z"),
    "nothing inside": (zipped(), "ZIP archive without arrays"),
    "objects in X": (npz(X=_object), "array X holds Python objects"),
    "objects in class_names": (
        npz(class_names=np.array(["a", None], dtype=object)),
        "class_names holds Python objects",
    ),
    "text features": (npz(X=np.array([["a"], ["b"]])), "X holds text"),
    "complex features": (npz(X=np.ones((3, 2), complex)), "X holds complex"),
    "dates": (npz(X=np.zeros((3, 2), "M8[D]")), "X holds dates"),
    "records": (npz(X=np.zeros(3, [("a", "f4")])), "X holds records"),
    "one dimension": (npz(X=np.ones(3)), r"shape \(3,\).*reshape"),
    "five dimensions": (npz(X=np.ones((1, 1, 1, 1, 1))), "shape"),
    "no examples": (npz(X=np.ones((0, 2))), "no rows"),
    "no features": (npz(X=np.ones((3, 0))), "no features"),
    "NaN": (npz(X=np.array([[1, 2], [3, np.nan]])), "Row 1, feature 1 of X is NaN"),
    "infinite": (npz(X=np.array([[np.inf], [-np.inf]])), "Row 0, feature 0 of X is inf"),
    "too large": (npz(X=np.array([[1.0], [1e300]])), r"Row 1, feature 0 of X is 1e\+300 \(too large"),
    "NaN pixel": (npz(X=np.full((1, 1, 2, 2), np.nan)), r"Row 0, pixel \(0, 0, 0\)"),
    "lengths": (npz(candidates=np.ones((2, 2), bool)), r"candidates has the shape \(2, 2\), but X has 3 rows"),
    "empty set": (npz(candidates=np.array([[1, 0], [0, 0], [1, 1]], bool)), "Row 1 has an empty candidate set"),
    "not a mask": (npz(candidates=np.array([[1, 0], [0, 2], [1, 1]])), "Row 1 of candidates holds 2"),
    "flat mask": (npz(candidates=np.ones(3, bool)), "must be 3 × classes"),
    "scalar mask": (npz(candidates=np.array(True)), "candidates is a single value"),
    "text mask": (npz(candidates=np.array([["a"]] * 3)), "candidates holds text"),
    "mask and rows": (npz(candidates=np.ones((3, 2)), indptr=[0]), "either as the mask"),
    "rows without indices": (npz(indptr=[0, 1, 2, 3]), "either as the mask"),
    "indptr too short": (npz(indptr=[0, 1, 2], indices=[0, 0]), "3 rows of features but 2 candidate sets"),
    "wrapped label": (
        npz(indptr=[0, 1, 2, 3], indices=[0, 2**32, 0], n_classes=2),
        "Row 1: label 4294967296 is unknown",
    ),
    "negative label": (npz(indptr=[0, 1, 2, 3], indices=[0, -1, 0]), "Row 1: label -1 is unknown"),
    "decimal indices": (npz(indptr=[0, 1, 2, 3], indices=[0, 0.5, 0]), "Entry 1 of the indices is 0.5"),
    "absurd classes": (npz(indptr=[0, 1, 2, 3], indices=[0, 10**9, 0]), "1,000,000,001 classes"),
    "absurd n_classes": (npz(n_classes=10**15), "classes"),
    "bad n_classes": (npz(n_classes=np.array([2, 3])), "n_classes must be one whole number"),
    "absurd label": (npz(y=np.array([0, 2**62, 0])), "classes"),
    "huge label": (npz(y=np.array([0, 2**63 + 5, 0], np.uint64)), "Row 1 .*label -9223372036854775803 is unknown"),
    "label below": (npz(y=[0, -2, 0]), "Row 1 .*label -2 is unknown"),
    "decimal label": (npz(y=[0, 1.5, 0]), "Entry 1 of the true labels in y .*is 1.5"),
    "votes, turned": (npz(votes=[[0, 1, 0], [1, 1, 0]]), r"votes has the shape \(2, 3\), .*3 × voters"),
    "NaN label": (npz(y=[0, np.nan, 0]), "Entry 1 of the true labels in y .*−1 where not known.* is nan"),
    "text label": (npz(y=["a", "b", "c"], candidates=np.ones((3, 2), bool)), "y holds text"),
    "matrix of labels": (npz(y=np.full((3, 3), 2)), "Row 0 of y holds 2"),
    "too few names": (npz(class_names=["a"], candidates=np.ones((3, 2))), "1 class names for 2 classes"),
    "huge name": (npz(class_names=["a" * 5000]), "class_names holds a name of 5,000"),
    "names as a table": (npz(class_names=[["a"]]), "class_names holds text in the shape"),
    "names as decimals": (npz(class_names=[0.5]), "class_names holds decimal numbers"),
    "names not UTF-8": (npz(class_names=np.array([b"\xff"])), "class_names holds bytes"),
    "same id twice": (npz(ids=["a", "b", "a"]), "Rows 0 and 2 have the same id 'a'"),
    "empty id": (npz(ids=["a", "", "b"]), "Row 1 has an empty id"),
    "split word": (npz(split=["train", "test", "dev"]), "Row 2 of split is 'dev'"),
    "split number": (npz(is_test=[0, 1, 2]), "Row 2 of is_test is '2'"),
    "split shape": (npz(is_test=np.eye(3)), "is_test holds"),
    "two splits": (npz(is_test=[0, 0, 0], split=[0, 0, 0]), "both is_test and split"),
    "pictures": (npz(images=np.zeros((3, 2, 2))), "images has the shape"),
    "feature names": (npz(feature_names=["a"]), "2 features but 1 feature names"),
    "declared too large": (zipped(X=npy_header("(1000000, 1000000)") + b"1234"), "array X is damaged"),
    "declared too small": (zipped(X=npy_header("(1, 1)") + bytes(400)), "array X is damaged"),
    "widthless text": (zipped(X=_X, ids=npy_header("(1000000000000,)", "<U0")), "ids is damaged"),
    "negative shape": (zipped(X=npy_header("(-1, 1)") + bytes(400)), "X"),
    "no header": (zipped(X=b"junk"), "array X cannot be read"),
    "code in the header": (zipped(X=npy_header("__import__('os').getcwd()")), "array X cannot be read"),
    "long header": (zipped(X=npy_header("(" + "1," * 30_000 + ")")[:60_000]), "array X cannot be read"),
    "bomb": (npz_bomb, "files made to fill the memory"),
}

_target = np.array([[1, 1, 0], [0, 1, 1]])  # c × n

MATRICES: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    "not MATLAB": (b"something else entirely", "not a MATLAB v5 file"),
    "v7.3": (b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n", "HDF5 inside cannot be read"),
    "only a header": (mat()[:128], "variable data .*missing; found none"),
    "half a header": (mat()[:60], "ends after 60 bytes"),
    "half a tag": (mat()[:131], "ends inside its variable number 1"),
    "half a variable": (mat()[:150], "ends inside its variable number 1"),
    "no data": (mat(data=None, Z=1, W=2), "variable data .*missing; found Z, W"),
    "cells": (mat(data=np.array([[1, "a"]], dtype=object)), "data is a cell array"),
    "text": (mat(data="words"), "data is text"),
    "struct": (mat(data={"a": 1}), "data is a struct"),
    "complex": (mat(data=np.ones((3, 2), complex)), "data is complex"),
    "three dimensions": (mat(data=np.ones((2, 2, 2))), r"data has the shape \(2, 2, 2\)"),
    "no examples": (mat(data=np.ones((0, 2))), r"data has the shape \(0, 2\)"),
    "NaN": (mat(data=np.array([[1, 2], [np.nan, 1]])), "Row 1, feature 0 of data is NaN"),
    "infinite": (mat(data=np.array([[np.inf, -np.inf]])), "Row 0, feature 0 of data is inf"),
    "shapes": (mat(partial_target=np.ones((4, 5))), r"partial_target has the shape \(4, 5\), but data has 3 rows"),
    "two sizes": (
        mat(partial_target=np.ones((4, 3)), target=np.ones((4, 2))),
        r"target has the shape \(4, 2\), but data has 3 rows",
    ),
    "empty set": (mat(partial_target=[[1, 0, 1]]), "Row 1 has an empty candidate set"),
    "not 0 or 1": (mat(partial_target=_target * 2), "Row 0 of partial_target holds 2"),
    "NaN candidate": (mat(partial_target=[[1, np.nan, 1]]), "Row 1 of partial_target holds nan"),
    "not 0 or 1, sparse": (mat(partial_target=scipy.sparse.csc_matrix(_target * 3)), "Row 0 of partial_target holds 3"),
    "two truths": (mat(target=_target, partial_target=_target), "Row 1 of target marks 2 labels"),
    "negative truth": (mat(target=-_target), "Row 0 of target holds"),
    "classes differ": (mat(partial_target=_target, target=np.eye(3)), "partial_target has 2 classes, target has 3"),
    "cell target": (mat(target=np.array(["a", 1, "b"], dtype=object)), "target is a cell array"),
    "huge sparse": (mat(data=scipy.sparse.csc_matrix((10**6, 10**6))), "would take"),
    "bomb": (mat_bomb, "files made to fill the memory"),
    "longer than declared": (mat_element(mat(compressed=False)[128:] + bytes(8)), r"damaged \(its length\)"),
    "shorter than declared": (mat_element(mat(compressed=False)[128:-8]), "damaged"),
    "not a matrix inside": (mat_element(struct.pack("<II", 9, 8) + bytes(8)), "an element of type 9"),
    "unknown element": (mat()[:128] + struct.pack("<II", 99, 0), "type 99"),
}


def matrix() -> Iterator[Any]:
    for suffix, cases in (("csv", TABLES), ("npz", ARCHIVES), ("mat", MATRICES)):
        for name, (content, words) in cases.items():
            yield pytest.param(suffix, content, words, id=f"{suffix}-{name}")


@pytest.mark.parametrize(("suffix", "content", "words"), matrix())
def test_the_message_names_the_file_and_the_place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    content: str | bytes | Callable[[], bytes],
    words: str,
) -> None:
    monkeypatch.setattr(checks, "BOMB_BYTES", 16 * MB)  # in test_damaged.py bombs have their full size
    monkeypatch.setattr(csv, "MAX_RECORD_BYTES", MB)
    path = tmp_path / f"bad.{suffix}"
    if callable(content):
        content = content()  # a bomb, built only where it is read
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(UserError, match=rf"(?s)^bad\.{suffix}: .*{words}") as caught:
        formats.read(path)
    message = str(caught.value)
    assert len(message) < 1000 and "Traceback" not in message
    if "Row" in words:
        assert "counted" in message  # how rows are counted is said wherever a row is named
