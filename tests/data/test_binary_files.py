"""Parquet and Feather files that are damaged, or hold no table."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import DataError, LMarvelError, moments_of
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
