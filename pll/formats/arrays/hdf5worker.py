"""Reads a MATLAB v7.3 file (HDF5) in a process of its own.

    python -I hdf5worker.py FILE OUT MAX_BYTES BOMB_BYTES BOMB_RATIO

HDF5's library trusts the sizes in a file, so that a damaged one can crash it or make it allocate any amount of
memory. Here only this process crashes. It imports nothing of Candid. OUT becomes an .npz file of plain arrays,
named as in MATLAB, with `a/b` for field b of struct a and `a{3}` for the third cell; a sparse matrix is `a:data`,
`a:ir`, `a:jc` and `a:shape`. What went wrong is one line on stdout. Nothing outside the file is read, though HDF5
could; and what is larger than BOMB_BYTES and grows by more than BOMB_RATIO is refused.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

MEMORY = 2 * 2**30
"""Bytes in addition to the data itself: for the interpreter, the library, and a copy while it is written."""

_MAX_PARTS = 10_000
_MAX_DEPTH = 4
_INTERNAL = "#"


def main() -> int:
    """Read FILE, write OUT; returns the exit status."""
    file, out = sys.argv[1:3]
    max_bytes, bomb_bytes, bomb_ratio = map(int, sys.argv[3:6])
    with suppress(ImportError, ValueError, OSError):  # not on Windows, or less is allowed already
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (2 * max_bytes + MEMORY, 2 * max_bytes + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        import h5py
        import numpy as np

        with h5py.File(file, "r") as opened:
            reader = _Hdf5Reader(opened, max_bytes, bomb_bytes, bomb_ratio)
            for name in opened:
                if not name.startswith(_INTERNAL):
                    reader.read(name, reader.inside(opened, name), 0)
        with Path(out).open("wb") as target:
            np.savez(target, **reader.arrays)
    except Exception as error:  # whatever HDF5 makes of a damaged file
        words = str(error).strip().splitlines() or [type(error).__name__]
        print(words[0][:300])
        return 1
    return 0


class _Hdf5Reader:
    def __init__(self, file: Any, max_bytes: int, bomb_bytes: int, bomb_ratio: int) -> None:
        self.file, self.room = file, max_bytes
        self.bomb_bytes, self.bomb_ratio = bomb_bytes, bomb_ratio
        self.unpacked, self.packed = 0, 0
        self.arrays: dict[str, Any] = {}

    def inside(self, group: Any, name: str) -> Any:
        """What a group holds under a name; never a link that leads to another file."""
        import h5py

        if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
            raise ValueError(f"{name} is a link to another file")
        return group[name]

    def read(self, name: str, item: Any, depth: int) -> None:
        """Take one variable, field or cell."""
        import h5py

        if depth > _MAX_DEPTH or len(self.arrays) > _MAX_PARTS:
            raise ValueError(f"{name} is nested too deeply, or has too many parts")
        kind = item.attrs.get("MATLAB_class", b"")
        kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
        if isinstance(item, h5py.Group):
            if "MATLAB_sparse" in item.attrs:
                self._sparse(name, item)
            else:
                for field in item:
                    self.read(f"{name}/{field}", self.inside(item, field), depth + 1)
        elif kind == "cell":
            self._check(item)
            for at, reference in enumerate(item[()].ravel()):
                self.read(f"{name}{{{at + 1}}}", self.file[reference], depth + 1)
        elif item.dtype.kind in "biuf" and "MATLAB_empty" not in item.attrs and kind != "char":
            self._check(item)
            self.arrays[name] = item[()].T  # HDF5 has the axes the other way round

    def _sparse(self, name: str, group: Any) -> None:
        import numpy as np

        arrays = {part: self.inside(group, part) for part in ("data", "ir", "jc") if part in group}
        for part in arrays.values():
            self._check(part)
        starts = arrays["jc"][()].astype(np.int64)
        height = int(group.attrs["MATLAB_sparse"])
        empty = np.zeros(0)
        self.arrays[f"{name}:data"] = arrays["data"][()].astype(np.float64) if "data" in arrays else empty
        self.arrays[f"{name}:ir"] = arrays["ir"][()].astype(np.int64) if "ir" in arrays else empty.astype(np.int64)
        self.arrays[f"{name}:jc"] = starts
        self.arrays[f"{name}:shape"] = np.array([height, len(starts) - 1])

    def _check(self, item: Any) -> None:
        if item.external or item.is_virtual:
            raise ValueError(f"the data of {item.name} are in another file")
        size = int(item.size) * max(int(item.dtype.itemsize), 1)
        self.room -= size
        if self.room < 0:
            raise ValueError("it would take more memory than is allowed")
        self.unpacked += size
        self.packed += max(int(item.id.get_storage_size()), 1)
        if self.unpacked > self.bomb_bytes and self.unpacked > self.bomb_ratio * self.packed:
            raise ValueError("it would grow as files do that are made to fill the memory")


if __name__ == "__main__":
    sys.exit(main())
