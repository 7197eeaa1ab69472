"""Files that are no text: damaged ones, some that hold no table, and some that are too large to be read."""

import importlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import DataError, LMarvelError, moments_of
from lmarvel.budget import memory
from lmarvel.data.sources import statfiles
from lmarvel.errors import TooLarge
from tests.cli.test_tables import sheet
from tests.effort import examples

GOOD = pl.DataFrame({"a": np.random.default_rng(0).normal(size=500), "b": np.random.default_rng(1).normal(size=500)})


def bytes_of(ending: str, folder: Path) -> bytes:
    path = folder / f"good.{ending}"
    GOOD.write_parquet(path) if ending == "parquet" else GOOD.write_ipc(path)
    return path.read_bytes()


DAMAGE = {
    "empty": lambda good: b"",
    "only the first bytes": lambda good: good[:8],
    "first half": lambda good: good[: len(good) // 2],
    "last bytes missing": lambda good: good[:-3],
    "last bytes overwritten": lambda good: good[:-20] + b"\xff" * 20,
    "CSV under another name": lambda good: b"a,b\n1,2\n2,1\n3,5\n",
    "zeros": lambda good: bytes(len(good)),
}


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_named(damage: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.{ending}"
    path.write_bytes(DAMAGE[damage](bytes_of(ending, tmp_path)))
    with pytest.raises(DataError, match=rf"cannot read .*data\.{ending}.*damaged"):
        moments_of(path)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_file_without_rows_or_with_one_column_is_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.{ending}"
    for frame, message in ((GOOD.clear(), "no rows"), (GOOD.select("a"), "1 column"), (GOOD[:1], "one row")):
        frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
        with pytest.raises(DataError, match=message):
            moments_of(path)


@examples(60)
@given(ending=st.sampled_from(["parquet", "feather"]), seed=st.integers(0, 10**6))
def test_changed_bytes_give_a_table_or_a_message(
    ending: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    rng = np.random.default_rng(seed)
    content = bytearray(bytes_of(ending, folder))
    for _ in range(3):  # near the end, where both formats keep their tables of contents
        content[len(content) - 1 - int(rng.integers(600))] = int(rng.integers(256))
    path = folder / f"data.{ending}"
    path.write_bytes(content)
    with suppress(LMarvelError):
        moments_of(path)


class OnlyHeads:
    """A library that reads heads of files, and no rows."""

    def __init__(self, library: str) -> None:
        found = importlib.import_module(library)
        for name in statfiles.STATISTICS.values():
            setattr(self, name, self.reader(getattr(found, name)))

    @staticmethod
    def reader(read):
        def reads_heads(*words, metadataonly: bool = False, **options):
            assert metadataonly, "the rows are read"
            return read(*words, metadataonly=True, **options)

        return reads_heads


@pytest.mark.parametrize("ending", ["dta", "sav", "zsav", "xpt", "por"])
def test_a_statistics_file_that_is_too_large_is_refused_by_its_head(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, pd = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    kind = {"zsav": "sav", "xpt": "xport"}.get(ending, ending)
    path = tmp_path / f"data.{ending}"
    getattr(writer, f"write_{kind}")(pd.DataFrame(GOOD.to_dict(as_series=False)), path)
    monkeypatch.setattr(statfiles, "_library", lambda name, path: OnlyHeads(name))
    monkeypatch.setattr(memory, "left", lambda: 10_000)
    with pytest.raises(TooLarge, match=rf"data\.{ending}: its rows need about .* of memory") as refused:
        moments_of(path)
    about = float(str(refused.value).split("about ")[1].split()[0])
    true = 500 * 2 * 52 / 1e6  # a portable file does not count its rows, and its numbers are as long as they like
    assert about >= true if ending == "por" else about == pytest.approx(true, rel=0.2 if ending == "xpt" else 0.01)


def test_a_spreadsheet_that_is_too_large_is_refused_by_its_size_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fastexcel")
    path = sheet(tmp_path / "data.xlsx", {name: GOOD[name].to_list() for name in GOOD.columns})
    monkeypatch.setattr(memory, "left", lambda: 10_000)
    with pytest.raises(TooLarge, match=r"data\.xlsx: its cells need about .* of memory"):
        moments_of(path)
