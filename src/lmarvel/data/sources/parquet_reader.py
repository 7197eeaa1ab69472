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
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def main() -> None:
    """Serve requests until there are no more; the first line is the path on which packages are found."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # panics are printed by Polars itself
    os.dup2(nowhere, 2)
    sys.path[:] = json.loads(sys.stdin.buffer.readline())
    globals().update(pl=import_module("polars"))  # found on that path only
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


def _rows(request: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Answer with rows of columns of numbers."""
    scan = _scan(request)
    frame = scan.select([column.cast(pl.Float64).fill_null(math.nan) for column in _columns(scan, request["columns"])])
    announced = 0
    for header, body in _announced(frame.collect_batches(chunk_size=request["rows"], maintain_order=True)):
        announced += header["rows"]
        if not header["rows"] and announced != (rows := scan.select(pl.len()).collect().item()):
            raise pl.exceptions.ComputeError(f"only {announced} of {rows} rows could be read")  # old Polars is silent
        yield header, body


def _columns(scan: Any, names: list[str]) -> list[Any]:
    """Return columns by their places: a name with a star, or ^...$, would be a pattern."""
    places = {name: at for at, name in enumerate(scan.collect_schema().names())}
    return [pl.nth(places[name]) for name in names]


def _load(request: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Answer with the different values of columns of text, with the orders that categories have, and with all rows."""
    names, text = request["columns"], request["text"]
    scan = _scan(request)
    schema = scan.collect_schema()
    columns = zip(names, _columns(scan, names), strict=True)
    frame = scan.select([column.cast(pl.String) if name in text else column for name, column in columns]).collect()
    values = {name: frame[name].unique(maintain_order=True).drop_nulls() for name in text}
    yield {"values": {name: found.to_list() for name, found in values.items()}}, b""
    ordered = {name: _sort(schema[name]) == "ordered" for name in text}
    yield {"orders": {name: schema[name].categories.to_list() if ordered[name] else None for name in text}}, b""
    codes = [frame[name].cast(pl.Enum(values[name])).to_physical() if name in values else frame[name] for name in names]
    numbers = pl.DataFrame([column.cast(pl.Float64).fill_null(math.nan) for column in codes])
    yield from _announced(numbers.iter_slices(request["rows"]))


def _announced(batches: Iterable[Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Iterate over batches of rows, each with its number in front, and an empty one at the end."""
    for batch in batches:
        numbers = batch.to_numpy(order="c")
        if len(numbers):
            yield {"rows": len(numbers)}, memoryview(numbers).cast("B")
    yield {"rows": 0}, b""


_ANSWERS = {"header": _header, "rows": _rows, "load": _load}

if __name__ == "__main__":
    main()
