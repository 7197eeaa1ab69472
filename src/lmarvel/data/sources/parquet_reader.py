"""The process that reads Parquet and Feather files for ``data/sources/parquet.py``; run as a script.

It takes a request a line, as JSON, and answers each with lines of JSON, those that announce rows followed by the
bytes of as many rows of float64. What Polars refuses is an answer too. After a panic it says so and ends, since Polars
may hold locks, or worse. Where Polars takes the whole process down it cannot even say that, and the end of the pipe
does.
"""

from __future__ import annotations

import glob
import json
import math
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    import polars.selectors as cs


def main() -> None:
    """Serve requests until there are no more; the first line is the path on which packages are found."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # panics are printed by Polars itself
    os.dup2(nowhere, 2)
    sys.path[:] = json.loads(sys.stdin.buffer.readline())
    globals().update(pl=import_module("polars"), cs=import_module("polars.selectors"))  # found on that path only
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            for header, body in _ANSWERS[request["ask"]](request):
                _say(answers, header, body)
        except (pl.exceptions.PolarsError, OSError) as error:
            _say(answers, {"error": _first_line(error), "sound": True}, b"")
        except (pl.exceptions.PanicException, Exception) as error:
            _say(answers, {"error": _first_line(error)}, b"")
            return


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _say(answers: IO[bytes], header: dict[str, Any], body: Any) -> None:
    answers.write(json.dumps(header).encode() + b"\n")
    answers.write(body)
    answers.flush()


def _scan(request: dict[str, Any]) -> Any:
    scan = pl.scan_parquet if request["format"] == "parquet" else pl.scan_ipc
    return scan(glob.escape(request["path"]), hive_partitioning=False)


def _header(request: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:

    schema = _scan(request).collect_schema()
    yield {"names": schema.names(), "types": [_sort(dtype) for dtype in schema.dtypes()]}, b""


def _sort(dtype: Any) -> str:
    """Return what a column is to be read as: numbers, truth values, text, categories in an order, or its type."""
    if dtype.is_numeric() or dtype == pl.Null:
        return "numbers"
    if dtype == pl.Boolean:
        return "truth"
    if dtype == pl.Enum:
        return "ordered"
    return "text" if dtype in (pl.String, pl.Categorical) else str(dtype)


def _text(name: str) -> Any:
    return cs.by_name(name).cast(pl.String)


def _distinct(request: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Answer with the different values of columns of text, and with the order that categories have."""
    schema = _scan(request).collect_schema()
    for name in request["columns"]:
        values = _scan(request).select(_text(name).unique(maintain_order=True).drop_nulls()).collect()
        order = schema[name].categories.to_list() if _sort(schema[name]) == "ordered" else None
        yield {"values": values.to_series().to_list(), "order": order}, b""


def _rows(request: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    texts: dict[str, list[str]] = request["texts"]
    columns = [
        _text(name).cast(pl.Enum(texts[name])).to_physical() if name in texts else cs.by_name(name)
        for name in request["columns"]  # to pl.col() a star or ^...$ would be a pattern
    ]
    frame = _scan(request).select([column.cast(pl.Float64).fill_null(math.nan) for column in columns])
    for batch in frame.collect_batches(chunk_size=request["rows"], maintain_order=True):
        numbers = batch.to_numpy(order="c")
        if len(numbers):
            yield {"rows": len(numbers)}, memoryview(numbers).cast("B")
    yield {"rows": 0}, b""


_ANSWERS = {"header": _header, "distinct": _distinct, "rows": _rows}

if __name__ == "__main__":
    main()
