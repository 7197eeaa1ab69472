"""What columns measure: told by types and by users, in every source alike."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lmarvel import DataError, Dataset, Kind, LMarvel
from lmarvel.data.levels import written

RNG = np.random.default_rng(0)
N = 60
SIZES = ["small", "medium", "large"]
COLUMNS: dict[str, list[Any]] = {
    "x": RNG.normal(size=N).tolist(),
    "colour": RNG.choice(["red", "blue", "Grün"], N).tolist(),
    "flag": RNG.choice([True, False], N).tolist(),
    "size": RNG.choice(SIZES, N).tolist(),
    "count": RNG.integers(0, 4, N).tolist(),
}
KINDS = (Kind.CONTINUOUS, Kind.NOMINAL, Kind.BINARY, Kind.NOMINAL, Kind.CONTINUOUS)
LEVELS = (None, ("Grün", "blue", "red"), ("False", "True"), ("large", "medium", "small"), None)
FRAME = pl.DataFrame(COLUMNS)


def written_to(name: str, **options: Any) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        endings: dict[str, Callable[[Path], Any]] = {
            "parquet": FRAME.write_parquet,
            "feather": FRAME.write_ipc,
            "csv": lambda path: pd.DataFrame(COLUMNS).to_csv(path, index=False, **options),
        }
        endings[name.split(".")[-1]](path)
        return path

    return make


SOURCES: dict[str, Callable[[Path], Any]] = {
    "mapping": lambda _: COLUMNS,
    "mapping of arrays": lambda _: {name: np.array(values) for name, values in COLUMNS.items()},
    "mapping of series": lambda _: {name: pd.Series(values) for name, values in COLUMNS.items()},
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas with Arrow types": lambda _: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas with categories": lambda _: pd.DataFrame(COLUMNS).astype({"colour": "category", "size": "category"}),
    "Polars": lambda _: FRAME,
    "Polars with categories": lambda _: FRAME.cast({"colour": pl.Categorical, "size": pl.Categorical}),
    "PyArrow": lambda _: pa.table(COLUMNS),
    "CSV": written_to("data.csv"),
    "CSV in Latin-1": written_to("data.csv", encoding="latin-1"),
    "CSV with semicolons and decimal commas": written_to("data.csv", sep=";", decimal=","),
    "Parquet": written_to("data.parquet"),
    "Feather": written_to("data.feather"),
}


@pytest.fixture(params=SOURCES)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return SOURCES[request.param](tmp_path)


def test_every_source_gives_the_same_kinds_levels_and_codes(source: Any) -> None:
    data, expected = Dataset.of(source), Dataset.of(COLUMNS)
    assert (data.kinds, data.levels) == (KINDS, LEVELS)
    np.testing.assert_array_equal(data.codes(), expected.codes())
    np.testing.assert_array_equal(data.values(), expected.values())
    assert data.fingerprint == expected.fingerprint
    levels = LEVELS[1]
    assert levels is not None
    assert [levels[code] for code in data.codes()[:, 1]] == COLUMNS["colour"]


def test_every_source_takes_an_order(source: Any) -> None:
    data = Dataset.of(source, ordinal={"size": SIZES, "count": None})
    assert data.kinds[3:] == (Kind.ORDINAL, Kind.ORDINAL)
    assert data.levels[3:] == (tuple(SIZES), ("0", "1", "2", "3"))
    assert [SIZES[code] for code in data.codes()[:, 3]] == COLUMNS["size"]
    np.testing.assert_array_equal(data.codes()[:, 4], COLUMNS["count"])


def test_every_source_leaves_out_what_is_not_numbers(source: Any) -> None:
    with pytest.warns(UserWarning, match="left out, because they are not numbers: colour, flag, size"):
        data = Dataset.of(source, numeric_only=True)
    assert data.names == ("x", "count")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS).assign(size=pd.Categorical(COLUMNS["size"], categories=[*SIZES, "huge"], ordered=True)),
        FRAME.cast({"size": pl.Enum([*SIZES, "huge"])}),
    ],
    ids=["pandas", "Polars"],
)
def test_categories_in_an_order_are_ordinal_and_only_those_that_occur(frame: Any, tmp_path: Path) -> None:
    sources = [frame]
    if isinstance(frame, pl.DataFrame):
        frame.write_parquet(tmp_path / "data.parquet")
        sources.append(tmp_path / "data.parquet")
    for source in sources:
        data = Dataset.of(source)
        assert (data.kinds[3], data.levels[3]) == (Kind.ORDINAL, tuple(SIZES))


def test_levels_that_are_numbers_are_sorted_by_value() -> None:
    data = Dataset.of({"a": [10, 9, 10, 9, 100, 100], "b": RNG.normal(size=6)}, categorical=["a"])
    assert data.levels[0] == ("9", "10", "100")
    assert data.kinds[0] is Kind.NOMINAL
    text = Dataset.of({"a": ["10", "9", "10", "9", "100", "100"], "b": RNG.normal(size=6)}, categorical=["a"])
    assert text.levels[0] == data.levels[0]
    assert (written(1e20), written(-0.25)) == ("1e+20", "-0.25")


def test_a_column_of_two_values_is_binary_whatever_is_said() -> None:
    data = Dataset.of({"a": [1, 2, 2, 1], "b": ["u", "u", "v", "v"], "c": [1.5, 2.0, 0.1, 0.4]}, ordinal=["a"])
    assert data.kinds == (Kind.BINARY, Kind.BINARY, Kind.CONTINUOUS)
    assert data.levels == (("1", "2"), ("u", "v"), None)


def test_the_names_of_levels_do_not_change_the_kinds_but_the_fingerprint() -> None:
    one = Dataset.of({"a": list("xyxyxy"), "b": [1.5, 2.0, 0.1, 0.4, 0.3, 1.0]})
    other = Dataset.of({"a": list("uvuvuv"), "b": [1.5, 2.0, 0.1, 0.4, 0.3, 1.0]})
    assert one.kinds == other.kinds
    assert one.fingerprint != other.fingerprint


WRONG = {
    "categorical names 'colr', but .* did you mean 'colour'?": {"categorical": ["colr"]},
    "ordinal names 'Size', but .* did you mean 'size'?": {"ordinal": ["Size"]},
    "'size' holds text, which has no order of its own: .* as in size=large<medium<small": {"ordinal": ["size"]},
    "the order of 'size' leaves out 'medium'": {"ordinal": {"size": ["small", "large"]}},
    "'size' is named in categorical and in ordinal": {"categorical": ["size"], "ordinal": {"size": SIZES}},
    "column 'x' has 60 categories in 60 rows, as an id": {"categorical": ["x"]},
    "weights names 'w', but the table has no such column": {"weights": "w"},
    "cluster names 'site', but the table has no such column": {"cluster": "site"},
    "column of weights 'colour' holds text": {"weights": "colour"},
    "missing must be one of": {"missing": "impute"},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_makes_no_sense_is_named(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _ = Dataset.of(COLUMNS, **WRONG[message]).moments  # type: ignore[arg-type]


def test_fit_takes_what_is_said_and_the_result_tells_it() -> None:
    numbers = {f"v{i}": RNG.normal(size=N) for i in range(3)} | {
        "grade": RNG.integers(0, 4, N),
        "w": RNG.uniform(1, 2, N),
    }
    found = LMarvel(test="fisher-z").fit(numbers, ordinal=["grade"], weights="w").result_
    assert found.settings["weights"] == "w"
    assert found.settings["kinds"] == "3 continuous, 1 ordinal: grade"
    assert found.settings["rows"] < N
    assert found.data is not None
    assert found.data["columns"][3]["levels"] == ["0", "1", "2", "3"]
    assert found.data["rows"] == N


def test_few_whole_numbers_are_noted() -> None:
    numbers = {f"v{i}": RNG.normal(size=N) for i in range(2)} | {"grade": RNG.integers(0, 4, N)}
    found = LMarvel(test="fisher-z").fit(numbers).result_
    assert any(note.startswith("grade has few different whole numbers") for note in found.notes)
    said = LMarvel(test="fisher-z").fit(numbers, ordinal=["grade"]).result_
    assert not any("whole numbers" in note for note in said.notes)


def test_something_said_of_no_table_is_refused() -> None:
    with pytest.raises(DataError, match="no table to describe"):
        LMarvel(test=lambda x, y, given: 0.5).fit(names=["a", "b"], categorical=["a"])


def test_what_was_said_stays_with_a_dataset_of_fewer_columns() -> None:
    data = Dataset.of(COLUMNS, ordinal={"size": SIZES}, missing="drop")
    some = Dataset.of(data, drop=["flag", "count"])
    assert some.names == ("x", "colour", "size")
    assert some.levels[2] == tuple(SIZES)
    assert Dataset.of(some, drop=["size"]).names == ("x", "colour")
