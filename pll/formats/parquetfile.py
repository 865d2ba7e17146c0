"""A Parquet file opened without trusting it; whatever Arrow makes of a damaged one reaches the user in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pll.formats.checks import check_unpacked_size, parsing

ROWS = 4096
"""Rows that are read and written at once."""


@contextmanager
def opened(path: Path, *, whole: bool = True) -> Iterator[pq.ParquetFile]:
    """A Parquet file.

    Args:
        whole: it will be in memory as a whole: text is then read as dictionaries, so that one long text in many rows
            is held once. Read piece by piece, columns can stay of the type they are.

    Raises:
        UserError: a file that cannot be read.
    """
    with parsing("the Parquet file", "it is not whole: copy or export it again"):
        texts = _texts(path) if whole else []
        file = pq.ParquetFile(path, read_dictionary=texts, thrift_string_size_limit=2**26)
    with file:
        try:
            yield file
        except (pa.ArrowException, OSError):
            with parsing("the table"):
                raise


def batches(file: pq.ParquetFile, used: Sequence[int], max_bytes: int, packed: int) -> Iterator[dict[int, pa.Array]]:
    """Some columns, by their position, `ROWS` rows at a time.

    Args:
        used: positions of the columns; of the first where there are none.
        max_bytes: what their text may take in memory.
        packed: bytes of the file.

    Raises:
        UserError: text that is not UTF-8, or too much of it.
    """
    names = file.schema_arrow.names
    room = max_bytes
    with parsing("the table"):
        for batch in file.iter_batches(ROWS, columns=[names[at] for at in used] or names[:1]):
            found = {at: batch.column(k) for k, at in enumerate(used or [0])}
            for column in found.values():
                column.validate(full=True)  # text that is not UTF-8, above all
            room -= sum(_text_bytes(column) for column in found.values())
            check_unpacked_size(max_bytes - room, packed, max_bytes, "the text of this table")
            yield found


def _texts(path: Path) -> list[str]:
    """Columns of text."""
    schema = pq.read_schema(path)
    return [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]


def _text_bytes(column: pa.Array) -> int:
    if not pa.types.is_dictionary(column.type):
        return column.nbytes
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(pc.sum(lengths).as_py() or 0)
