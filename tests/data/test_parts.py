"""Tables in parts: folders and patterns of files are one table, in bounded memory."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from lmarvel import DataError, Dataset, LMarvel
from tests.cli.running import run

N = 600
RNG = np.random.default_rng(0)
A = RNG.normal(size=N)
NUMBERS = pl.DataFrame({"a": A, "b": A + RNG.normal(size=N), "c": RNG.normal(size=N)})
MIXED = NUMBERS.with_columns(
    pl.Series("d", RNG.choice(["low", "high", "mid"], N)), pl.Series("e", RNG.integers(0, 2, N)).cast(pl.Boolean)
)


def write(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".feather":
        frame.write_ipc(path)
    else:
        frame.write_parquet(path)


def cut(frame: pl.DataFrame, folder: Path, ending: str, many: int = 3) -> Path:
    """Write a table in parts, the columns of the second in another order, beside notes that are no part of it."""
    folder.mkdir(exist_ok=True)
    size = N // many
    for k in range(many):
        part = frame[k * size : (k + 1) * size]
        write(part.select(reversed(part.columns)) if k == 1 else part, folder / f"part-{k}{ending}")
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.crc").touch()
    return folder


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
@pytest.mark.parametrize("frame", [NUMBERS, MIXED], ids=["numbers", "mixed"])
@pytest.mark.parametrize("named", ["folder", "pattern"])
def test_parts_are_one_table(tmp_path: Path, frame: pl.DataFrame, ending: str, named: str) -> None:
    folder = cut(frame, tmp_path / "parts", ending)
    write(frame, tmp_path / f"whole{ending}")
    whole = Dataset.of(tmp_path / f"whole{ending}")
    parts = Dataset.of(folder if named == "folder" else str(folder / f"part-*{ending}"))
    assert (parts.names, parts.n, parts.levels, parts.kinds) == (whole.names, whole.n, whole.levels, whole.kinds)
    assert parts.fingerprint == whole.fingerprint
    assert np.array_equal(parts.rows(), whole.rows())


def test_options_reach_every_part(tmp_path: Path) -> None:
    folder = cut(MIXED, tmp_path / "parts", ".csv")
    MIXED.write_csv(tmp_path / "whole.csv")
    said: dict[str, Any] = {"drop": ["e"], "ordinal": {"d": ["low", "high"]}, "na": {"d": ["mid"]}}
    parts, whole = Dataset.of(folder, **said), Dataset.of(tmp_path / "whole.csv", **said)
    assert (parts.names, parts.levels, parts.missing) == (whole.names, whole.levels, whole.missing)
    assert parts.fingerprint == whole.fingerprint


def test_a_column_is_judged_by_all_its_parts(tmp_path: Path) -> None:
    for name, values in (("1.csv", "1,5\n2,7\n1,6"), ("2.csv", "x,2\ny,1\nx,4"), ("3.csv", "z,5\ny,6\ny,1")):
        (tmp_path / name).write_text(f"a,b\n{values}\n")
    table = Dataset.of(tmp_path)
    assert table.levels[0] == ("1", "2", "x", "y", "z")
    assert table.rows()[:, 0].tolist() == [0, 1, 0, 2, 3, 2, 4, 3, 3]
    (tmp_path / "2.csv").write_text("a,b\n3,2\n4,1\n7,4\n")
    with pytest.raises(DataError, match=r"column 'a' of 3.csv: 'z' is not a number"):
        Dataset.of(tmp_path).moments  # noqa: B018


def test_files_that_do_not_belong_together_are_refused_by_name(tmp_path: Path) -> None:
    folder = cut(NUMBERS, tmp_path / "parts", ".csv")
    NUMBERS.drop("c").write_csv(folder / "part-3.csv")
    with pytest.raises(DataError, match=r"part-3\.csv lacks 1 column \('c'\) compared with part-0\.csv"):
        Dataset.of(folder)
    MIXED.drop("d").write_csv(folder / "part-3.csv")
    with pytest.raises(DataError, match=r"part-3\.csv adds 1 column \('e'\)"):
        Dataset.of(folder)
    NUMBERS.write_parquet(folder / "part-3.parquet")
    with pytest.raises(DataError, match=r"has \.csv and \.parquet files: name those to read with a pattern"):
        Dataset.of(folder)


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a directory without tables"):
        Dataset.of(tmp_path)
    with pytest.raises(DataError, match="no file matches"):
        Dataset.of(tmp_path / "*.parquet")
    (tmp_path / "odd[1].csv").write_text("a,b\n1,2\n2,5\n3,1\n")  # a file, though its name looks like a pattern
    assert Dataset.of(tmp_path / "odd[1].csv").n == 3


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    folder = cut(NUMBERS, tmp_path / "parts", ".parquet")
    (folder / "part-1.parquet").write_bytes(b"nonsense")
    with pytest.raises(DataError, match=r"part-1\.parquet"):
        Dataset.of(folder)


def test_the_command_line_reads_parts(tmp_path: Path) -> None:
    folder = cut(NUMBERS, tmp_path / "parts", ".parquet")
    expected = [str(edge) for edge in LMarvel().fit(NUMBERS).pag_.edges()]
    for named in (folder, folder / "*.parquet"):
        done = run("learn", named, "--format", "edges")
        assert (done.code, done.out.splitlines()[1:]) == (0, expected)
    described = run("describe", folder)
    assert "600 rows, 3 columns" in described.out


def test_many_small_files_take_no_memory(tmp_path: Path) -> None:
    """No part is kept once its rows were read."""
    import tracemalloc

    row = ",".join(["1.25"] * 40) + "\n"
    header = ",".join(f"x{i}" for i in range(40))
    rng = np.random.default_rng(1)

    def peak(many: int) -> int:
        folder = tmp_path / str(many)
        folder.mkdir()
        for k in range(many):
            body = "".join(",".join(f"{v:.3f}" for v in rng.normal(size=40)) + "\n" for _ in range(3))
            (folder / f"{k:04}.csv").write_text(f"{header}\n{body}{row * 700}")
        tracemalloc.start()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("lmarvel.data.table.KEPT", 0)
            assert Dataset.of(folder).moments.n == 703 * many
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(2)  # what is loaded at first use
    assert peak(24) < 1.5 * peak(6) + 1_000_000


def test_a_pattern_that_the_shell_replaced_is_noticed(tmp_path: Path) -> None:
    folder = cut(NUMBERS, tmp_path / "parts", ".parquet")
    refused = run("learn", *sorted(folder.glob("*.parquet")))
    assert refused.code == 2
    assert "quote a pattern such as 'data/*.parquet'" in refused.err
