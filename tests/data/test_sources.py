"""The same table gives the same moments, bit for bit, whatever it comes in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from lmarvel import DataError, Dataset, LMarvel, moments_of

NAMES = ("height", "blood pressure", "log(dose), mg", "Größe")
TABLE = np.random.default_rng(0).normal(size=(500, 4)) @ np.random.default_rng(1).normal(size=(4, 4)) + [1, 1e6, -5, 0]
COLUMNS = {name: TABLE[:, i] for i, name in enumerate(NAMES)}


def written(write: Callable[[Path], Any], name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        write(folder / name)
        return folder / name

    return make


def text(separator: str) -> Callable[[Path], None]:
    return lambda path: pd.DataFrame(COLUMNS).to_csv(path, index=False, sep=separator)


SOURCES: dict[str, Callable[[Path], Any]] = {
    "mapping of arrays": lambda _: COLUMNS,
    "mapping of lists": lambda _: {name: values.tolist() for name, values in COLUMNS.items()},
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas with an index": lambda _: pd.DataFrame(COLUMNS, index=range(500, 0, -1)),
    "pandas with Arrow types": lambda _: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "Polars": lambda _: pl.DataFrame(COLUMNS),
    "Polars in pieces": lambda _: pl.concat([pl.DataFrame(COLUMNS)[:7], pl.DataFrame(COLUMNS)[7:]], rechunk=False),
    "PyArrow": lambda _: pa.table(COLUMNS),
    "CSV": written(text(","), "data.csv"),
    "CSV in capitals": written(text(","), "DATA.CSV"),
    "CSV by string": lambda folder: str(SOURCES["CSV"](folder)),
    "CSV with a byte-order mark": written(
        lambda path: pd.DataFrame(COLUMNS).to_csv(path, index=False, encoding="utf-8-sig"), "data.csv"
    ),
    "CSV with Windows line ends": written(
        lambda path: pd.DataFrame(COLUMNS).to_csv(path, index=False, lineterminator="\r\n"), "data.csv"
    ),
    "compressed CSV": written(lambda path: pd.DataFrame(COLUMNS).to_csv(path, index=False), "data.csv.gz"),
    "TSV": written(text("\t"), "data.tsv"),
    "tab": written(text("\t"), "data.tab"),
    "Parquet by Polars": written(pl.DataFrame(COLUMNS).write_parquet, "data.parquet"),
    "Parquet by PyArrow": written(
        lambda path: pa.parquet.write_table(pa.table(COLUMNS), path, row_group_size=64), "data.pq"
    ),
    "Feather by Polars": written(pl.DataFrame(COLUMNS).write_ipc, "data.feather"),
    "Feather by PyArrow": written(
        lambda path: pa.feather.write_feather(pa.table(COLUMNS), path, chunksize=64), "data.arrow"
    ),
}


@pytest.fixture(params=SOURCES)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return SOURCES[request.param](tmp_path)


def test_every_source_gives_the_same_moments(source: Any) -> None:
    expected, found = moments_of(TABLE, names=NAMES), moments_of(source)
    assert found.names == NAMES
    assert found.n == 500
    np.testing.assert_array_equal(found.mean, expected.mean)
    np.testing.assert_array_equal(found.covariance, expected.covariance)


def test_every_source_gives_the_same_moments_in_small_batches(source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lmarvel.data.scan.BATCH_BYTES", 8 * 4 * 37)
    np.testing.assert_array_equal(moments_of(source).covariance, moments_of(TABLE).covariance)


def test_columns_are_chosen_and_dropped_in_the_order_of_the_table(source: Any) -> None:
    some = moments_of(source, columns=["Größe", "height", "log(dose), mg"], drop=["height"])
    assert some.names == ("log(dose), mg", "Größe")
    np.testing.assert_array_equal(some.covariance, moments_of(TABLE[:, 2:]).covariance)
    assert moments_of(source, drop=["height"]).names == NAMES[1:]


@pytest.mark.parametrize("choice", [{"columns": ["height", "Height"]}, {"drop": ["Height"]}])
def test_an_unknown_column_is_named_with_those_that_there_are(source: Any, choice: dict[str, list[str]]) -> None:
    with pytest.raises(DataError, match="'Height', but the table has no such column: height, blood pressure"):
        moments_of(source, **choice)


def test_every_source_gives_the_same_graph(source: Any) -> None:
    assert LMarvel().fit(source).pag_ == LMarvel().fit(COLUMNS).pag_


# --- arrays -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [TABLE.tolist(), [tuple(row) for row in TABLE], np.asfortranarray(TABLE), np.repeat(TABLE, 2, axis=1)[:, ::2]],
    ids=["lists", "tuples", "by columns", "a view"],
)
def test_arrays_of_any_layout_give_the_same_moments(array: Any) -> None:
    assert moments_of(array).names == ("X0", "X1", "X2", "X3")
    np.testing.assert_array_equal(moments_of(array).covariance, moments_of(TABLE).covariance)


def test_single_precision_is_widened_before_anything_is_summed() -> None:
    narrow = TABLE.astype(np.float32)
    np.testing.assert_array_equal(moments_of(narrow).covariance, moments_of(narrow.astype(np.float64)).covariance)


def test_a_numpy_array_is_left_as_it_was() -> None:
    array = TABLE.copy()
    LMarvel().fit(array)
    np.testing.assert_array_equal(array, TABLE)


BAD_ARRAYS = {
    "an array of data has two dimensions, rows and columns, not 1": ([1.0, 2.0, 3.0], None),
    "an array of data has two dimensions, rows and columns, not 3": (np.zeros((2, 2, 2)), None),
    "the rows of a list must be equally long": ([[1.0, 2.0], [3.0]], None),
    "3 names for 4 columns": (TABLE, ["a", "b", "c"]),
    "column names must be strings": (TABLE, ["a", "b", "c", 4]),
    "duplicate column name 'a'": (TABLE, ["a", "b", "a", "d"]),
    "column number 3 has an empty name": (TABLE, ["a", "b", " ", "d"]),
    "1 column is not enough": (TABLE[:, :1], None),
    "1 name for 4 columns": (TABLE, ["a"]),
    "the table has no columns": (np.zeros((5, 0)), None),
    "the table has no rows": (np.zeros((0, 3)), None),
    "column 'X1', row 2: 'tall' is not a number": ([[1.0, 2.0], [3.0, "tall"]], None),
    "complex numbers": (TABLE * 1j, None),
    "cannot read data of type int": (5, None),
    "must be one-dimensional and equally long": ({"a": [1.0, 2.0], "b": [1.0]}, None),
}


@pytest.mark.parametrize("message", BAD_ARRAYS)
def test_an_array_that_is_no_table_is_refused(message: str) -> None:
    array, names = BAD_ARRAYS[message]
    with pytest.raises(DataError, match=message):
        moments_of(array, names=names)


# --- types ------------------------------------------------------------------------------------------------

NUMBERS = {"flag": [True, False, True, True, False], "count": [3, 1, 4, 1, 5], "share": [0.5, 0.25, 1.0, 0.125, 0.0]}
FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "mapping": dict,
    "pandas": pd.DataFrame,
    "pandas with missing-value types": lambda data: pd.DataFrame(data).convert_dtypes(),
    "Polars": pl.DataFrame,
    "PyArrow": pa.table,
}
in_every_frame = pytest.mark.parametrize("frame", FRAMES)


@in_every_frame
def test_truth_values_and_whole_numbers_are_numbers(frame: str) -> None:
    plain = np.array([list(map(float, values)) for values in NUMBERS.values()]).T
    np.testing.assert_array_equal(moments_of(FRAMES[frame](NUMBERS)).covariance, moments_of(plain).covariance)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_types_survive_in_binary_files(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.{ending}"
    frame = pl.DataFrame(NUMBERS).with_columns(pl.col("count").cast(pl.UInt8), pl.col("share").cast(pl.Float32))
    frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    np.testing.assert_array_equal(moments_of(path).covariance, moments_of(NUMBERS).covariance)


@pytest.mark.parametrize("frame", ["pandas", "Polars", "PyArrow"])
def test_text_in_a_column_is_named_with_its_row(frame: str) -> None:
    data = {"a": ["1.5", "tall", "2"], "b": [1.0, 2.0, 3.0]}
    with pytest.raises(DataError, match=r"column 'a', row 2: 'tall' is not a number"):
        moments_of(FRAMES[frame](data))


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_text_column_of_a_binary_file_is_named_unless_it_is_left_out(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.{ending}"
    frame = pl.DataFrame({**NUMBERS, "name": list("abcde")})
    frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    with pytest.raises(DataError, match="column 'name' has 5 categories in 5 rows"):
        moments_of(path)
    assert moments_of(path, drop=["name"]).names == tuple(NUMBERS)


OTHER = {
    "text after nothing": pl.Series([None, "x", "y", "z", "z"]),
    "lists": pl.Series([[1], [2], [3], [4], [5]]),
    "dates": pl.Series(pd.date_range("2020-01-01", periods=5).to_list()),
}


@pytest.mark.parametrize("column", OTHER.values(), ids=OTHER)
def test_columns_of_other_types_are_named(column: pl.Series) -> None:
    with pytest.raises(DataError, match="column 'other'"):
        moments_of(pl.DataFrame({**NUMBERS, "other": column}))


def test_categories_with_too_many_levels_are_refused_by_name() -> None:
    with pytest.raises(DataError, match="column 'other'"):
        moments_of(pd.DataFrame({**NUMBERS, "other": pd.Categorical(list("abcab"))}))


def test_duplicate_names_in_pandas_are_refused_by_name() -> None:
    frame = pd.DataFrame(TABLE, columns=["a", "b", "a", "d"])
    with pytest.raises(DataError, match="'a'"):
        moments_of(frame)


def test_column_labels_that_are_numbers_become_names() -> None:
    assert moments_of(pd.DataFrame(TABLE)).names == ("0", "1", "2", "3")


def test_a_lazy_frame_is_refused_with_a_hint() -> None:
    with pytest.raises(DataError, match="collected"):
        moments_of(pl.DataFrame(COLUMNS).lazy())


# --- missing and infinite values --------------------------------------------------------------------------


@in_every_frame
def test_missing_values_are_counted_by_column(frame: str) -> None:
    data = {"a": [1.0, None, 3.0, None], "b": [1.0, 2.0, 3.0, 5.0], "c": [None, 2, 3, 4]}
    with pytest.raises(DataError, match=r"missing values in 2 of 3 columns: 'a' \(2\), 'c' \(1\)\. Let"):
        _ = Dataset.of(FRAMES[frame](data), missing="refuse").moments


@in_every_frame
def test_nan_counts_as_missing(frame: str) -> None:
    data = {"a": [1.0, float("nan"), 3.0], "b": [1.0, 2.0, float("nan")], "c": [0.0, 1.0, 3.0]}
    with pytest.raises(DataError, match=r"missing values in 2 of 3 columns: 'a' \(1\), 'b' \(1\)"):
        _ = Dataset.of(FRAMES[frame](data), missing="refuse").moments


@pytest.mark.parametrize("ending", ["parquet", "feather", "csv"])
def test_missing_values_in_files_are_counted_by_column(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.{ending}"
    frame = pl.DataFrame({"a": [1.0, None, 3.0], "b": [None, float("nan"), 1.0], "c": [1, 2, 4]})
    {"parquet": frame.write_parquet, "feather": frame.write_ipc, "csv": frame.write_csv}[ending](path)
    with pytest.raises(DataError, match=r"missing values in 2 of 3 columns: 'a' \(1\), 'b' \(2\)"):
        _ = Dataset.of(path, missing="refuse").moments


def test_missing_values_are_counted_over_all_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lmarvel.data.scan.BATCH_BYTES", 1)  # 16 rows
    table = TABLE.copy()
    table[[3, 100, 499], 1] = np.nan
    table[[200, 201], 3] = np.nan
    with pytest.raises(DataError, match=r"in 2 of 4 columns: 'X1' \(3\), 'X3' \(2\)"):
        _ = Dataset.of(table, missing="refuse").moments


@in_every_frame
@pytest.mark.parametrize("bad", [[float("inf")], [float("-inf")], [float("inf"), float("-inf")]])
def test_infinite_values_are_counted_by_column(frame: str, bad: list[float]) -> None:
    column = [3.0, *bad, 1.0]
    data = {"a": [float(i * i) for i in range(len(column))], "b": column}
    with np.errstate(invalid="ignore"):  # pandas looks whether they are whole numbers
        made = FRAMES[frame](data)
    with pytest.raises(DataError, match=rf"infinite values in 'b' \({len(bad)}\)"):
        moments_of(made)


def test_an_infinite_first_value_is_counted_too() -> None:
    table = TABLE.copy()
    table[0, 2] = -np.inf
    with pytest.raises(DataError, match=r"infinite values in 'X2' \(1\)"):
        moments_of(table)


MASKED = np.ma.masked_equal([[1, 2], [3, -9], [-9, 5], [-9, 8]], -9)
WITH_GAPS: dict[str, Any] = {
    "masked array": MASKED,
    "masked floats": MASKED.astype(float),
    "rows of masked arrays": list(MASKED),
    "mapping of masked columns": {"X0": MASKED[:, 0], "X1": MASKED[:, 1]},
    "objects with pandas' NA": np.array([[1, 2], [3, pd.NA], [pd.NA, 5], [None, 8]], dtype=object),
    "pandas with objects": pd.DataFrame({"X0": pd.Series([1, 3, pd.NA, None], dtype=object), "X1": [2, pd.NA, 5, 8]}),
    "mapping of pandas columns": {"X0": pd.array([1, 3, None, None], "Int64"), "X1": pd.Series([2, None, 5, 8])},
    "mapping of nullable columns": {
        k: pd.Series(v, dtype="Int64") for k, v in {"X0": [1, 3, None, None], "X1": [2, None, 5, 8]}.items()
    },
    "mapping of Polars columns": {"X0": pl.Series([1, 3, None, None]), "X1": pl.Series([2, None, 5, 8])},
}


@pytest.mark.parametrize("case", WITH_GAPS)
def test_values_that_are_masked_or_null_are_missing(case: str) -> None:
    with pytest.raises(DataError, match=r"missing values in 2 of 2 columns: 'X0' \(2\), 'X1' \(1\)"):
        _ = Dataset.of(WITH_GAPS[case], missing="refuse").moments


def test_a_mask_that_hides_nothing_changes_nothing() -> None:
    np.testing.assert_array_equal(moments_of(np.ma.array(TABLE)).covariance, moments_of(TABLE).covariance)


def test_names_are_given_to_columns_of_every_source(source: Any) -> None:
    found = moments_of(source, names=["p", "q", "r", "s"], drop=["q"])
    assert found.names == ("p", "r", "s")
    np.testing.assert_array_equal(found.mean, moments_of(TABLE).mean[[0, 2, 3]])
    with pytest.raises(DataError, match="3 names for 4 columns"):
        moments_of(source, names=["p", "q", "r"])


def test_no_column_and_one_column_are_said_in_their_numbers() -> None:
    with pytest.raises(DataError, match=r"^1 column is not enough: at least 2"):
        moments_of(COLUMNS, columns=["height"])
    with pytest.raises(DataError, match=r"^0 columns are not enough: at least 2"):
        moments_of(COLUMNS, drop=NAMES)
