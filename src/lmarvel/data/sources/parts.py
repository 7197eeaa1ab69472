"""Tables in parts: the files of a folder, or those that a pattern names, one after the other as one table.

Files come in the order of their names. All must have the same columns, in any order. Only the header of each is read
when the table is opened, and no more than one file is open at a time, so that memory does not grow with their number.
"""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lmarvel.data.levels import MIXED, Column, How, Levels, Mixture, Wish, as_levels, column_of_codes, written
from lmarvel.data.sources.base import Rows, Source, rows_of
from lmarvel.errors import DataError, NotNumbers, UnusableError
from lmarvel.text import counted, joined, readable

Opener = Callable[[Path], Source]
_PACKED = (".gz",)


def parts_of(path: Path, known: Sequence[str]) -> list[Path] | None:
    """Return the files of a folder, or those that a pattern names; None where the path is neither.

    Of a folder these are the files with one of the known endings, without those whose names begin with a dot or an
    underscore: Spark and others leave notes there.
    """
    if os.path.isdir(path):  # which is False of names that no file can have
        return _in_folder(path, known)
    if os.path.exists(path) or not glob.has_magic(str(path)):
        return None
    found = sorted(Path(name) for name in glob.glob(str(path), recursive=True) if Path(name).is_file())
    if not found:
        raise DataError(f"no file matches {readable(str(path))}: check the pattern and the folder")
    return found


def _in_folder(folder: Path, known: Sequence[str]) -> list[Path]:
    try:
        files = [file for file in sorted(folder.iterdir()) if file.is_file() and file.name[0] not in "._"]
    except OSError as error:
        raise DataError(f"cannot read {readable(str(folder))}: {error.strerror or error}") from None
    tables = [file for file in files if _ending(file) in known]
    endings = sorted({_ending(file) for file in tables})
    shown = readable(str(folder))
    if not tables:
        pattern = readable(str(folder / "**" / "*.parquet"))
        raise DataError(
            f"{shown} is a directory without tables: name a file, or the files with a pattern ('{pattern}')"
        )
    if len(endings) > 1:
        pattern = readable(str(folder / f"*{endings[0]}"))
        raise DataError(f"{shown} has {joined(endings)} files: name those to read with a pattern, such as '{pattern}'")
    return tables


def _ending(file: Path) -> str:
    return (file.with_suffix("") if file.suffix.lower() in _PACKED else file).suffix.lower()


def open_parts(files: Sequence[Path], opener: Opener) -> Source:
    """Open files as one table; refuse one whose columns differ from those of the first."""
    if len(files) == 1:
        return opener(files[0])
    names = opener(files[0]).names
    places = [_places(file, files[0], opener, names) for file in files]

    def choose(columns: Sequence[int], wish: Wish) -> Rows:
        def rows(k: int, lenient: bool) -> Rows:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is said of a file was said when it was opened first
                source = opener(files[k])
            asked = wish.at(places[k])
            return source.choose([places[k][i] for i in columns], asked._replace(lenient=lenient or asked.lenient))

        def batches(size: int) -> Iterator[NDArray[np.float64]]:
            for k in range(len(files)):
                part = rows(k, lenient=False)
                if part.levels is not None:
                    raise NotNumbers(f"{files[k]} holds text")
                yield from part.batches(size)

        def load() -> Rows:
            loaded = [_loaded(rows(k, lenient=True), len(columns)) for k in range(len(files))]
            return rows_of(_joined([names[i] for i in columns], loaded, [wish.of(i) for i in columns], files))

        return Rows(batches, None, load)

    return Source(names, choose, in_memory=False)


def _places(file: Path, first: Path, opener: Opener, names: Sequence[str]) -> list[int]:
    """Return where the columns of the first file stand in another."""
    here = opener(file).names
    if here == names:
        return list(range(len(names)))
    lacks, more = [n for n in names if n not in set(here)], [n for n in here if n not in set(names)]
    if lacks or more or len(here) != len(names):
        parts = [
            f"{verb} {counted(len(which), 'column')} ({joined(map(repr, which[:3]))}{', ...' * (len(which) > 3)})"
            for verb, which in (("lacks", lacks), ("adds", more))
            if which
        ]
        differs = joined(parts) if parts else "repeats a column"
        raise DataError(
            f"{readable(str(file))} {differs} compared with {first.name}: all parts of a table need the same columns"
        )
    return [here.index(name) for name in names]


def _loaded(rows: Rows, width: int) -> list[Column]:
    """Return the columns of one file, in memory."""
    rows = rows if rows.load is None else rows.load()
    whole = np.concatenate([np.empty((0, width)), *rows.batches(1 << 62)])
    return [Column(whole[:, i], None if rows.levels is None else rows.levels[i]) for i in range(width)]


def _joined(names: Sequence[str], parts: list[list[Column]], how: Sequence[How], files: Sequence[Path]) -> list[Column]:
    found, strange = [], []
    for i, name in enumerate(names):
        column = [part[i] for part in parts]
        try:
            found.append(_one_column(name, column, how[i]))
        except Mixture as mixed:
            k = int(np.searchsorted(np.cumsum([len(part.numbers) for part in column]), mixed.row, side="right"))
            strange.append(f"column {name!r} of {files[k].name}: {mixed.value!r} is not a number")
    if strange:
        raise UnusableError(f"{'; '.join(strange[:20])}. {MIXED}")
    return found


def _one_column(name: str, parts: Sequence[Column], how: How) -> Column:
    """Return the parts of a column as one: numbers if all are, else codes of all their levels."""
    known = [part.levels for part in parts if part.levels is not None]
    if not known:
        return Column(np.concatenate([part.numbers for part in parts]))
    texts = [_levels(part) for part in parts]
    distinct = list(dict.fromkeys(text for part in texts for text in part.names))
    place = {text: code for code, text in enumerate(distinct)}
    codes = np.concatenate([_codes(part, texts[k], place) for k, part in enumerate(parts)])
    ordered = all(levels.ordered and levels.names == known[0].names for levels in known)
    made = column_of_codes(codes, distinct, how._replace(text=how.text or ordered))
    return as_levels(name, made, known[0].names) if ordered else made


def _levels(part: Column) -> Levels:
    """Return the levels of a part of a column; numbers are levels of the names that they would have."""
    if part.levels is not None:
        return part.levels
    return Levels(tuple(map(written, np.unique(part.numbers[~np.isnan(part.numbers)]).tolist())))


def _codes(part: Column, levels: Levels, place: dict[str, int]) -> NDArray[np.intp]:
    """Return codes among all levels of a column, -1 where a value is missing."""
    gaps = np.isnan(part.numbers)
    values = np.unique(part.numbers[~gaps]) if part.levels is None else np.arange(len(levels.names))
    at = np.array([*(place[text] for text in levels.names), -1], dtype=np.intp)
    return np.asarray(at[np.where(gaps, len(levels.names), np.searchsorted(values, part.numbers))])
