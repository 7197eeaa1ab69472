"""Text files: separators, quotes, blanks, encodings, and messages that name the line."""

import gzip
import random
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmarvel import DataError, Dataset, LMarvelError, LMarvelWarning, moments_of
from tests.effort import examples

GOOD = "a,b\n1,2\n2,1\n3,5\n4,4\n"
Writer = Callable[..., Path]
Folders = pytest.TempPathFactory


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    def writer(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writer


def assert_good(path: Path, **options: str) -> None:
    found, expected = moments_of(path, **options), moments_of([[1, 2], [2, 1], [3, 5], [4, 4]])
    assert found.n == 4
    np.testing.assert_array_equal(found.mean, expected.mean)
    np.testing.assert_array_equal(found.covariance, expected.covariance)


def complaint(path: Path) -> str | None:
    """Return the message with which a file is refused, None if it is read."""
    try:
        moments_of(path)
    except LMarvelError as error:
        return str(error)
    return None


# --- read -------------------------------------------------------------------------------------------------

READ = {
    "no line end at the end": GOOD.rstrip("\n"),
    "Windows line ends": GOOD.replace("\n", "\r\n"),
    "a byte-order mark": "\ufeff" + GOOD,
    "blank lines before": "\n\n" + GOOD,
    "a blank line behind": GOOD + "\n",
    "blank lines behind": GOOD + "\n\n\n",
    "blank Windows lines behind": (GOOD + "\n\n").replace("\n", "\r\n"),
    "a blank line between": "a,b\n1,2\n\n2,1\n3,5\n4,4\n",
    "numbers in quotes": 'a,b\n"1","2"\n2,"1"\n3,5\n"4",4\n',
    "names in quotes": '"a","b"\n1,2\n2,1\n3,5\n4,4\n',
    "plus signs, points and exponents": "a,b\n+1,2.\n2.0,1e0\n.3E1,5\n0.4e+1,4.00\n",
    "blanks before numbers": "a,b\n1, 2\n2, 1\n3, 5\n 4, 4\n",
    "semicolons": GOOD.replace(",", ";"),
    "tabs": GOOD.replace(",", "\t"),
    "bars": GOOD.replace(",", "|"),
    "semicolons and decimal commas": "a;b\n1,0;2,0\n2,0;1\n3;5,0\n4;4\n",
    "decimal commas in quotes": 'a,b\n"1,0",2\n"2,0",1\n3,5\n4,4\n',
}


@pytest.mark.parametrize("case", READ)
def test_a_csv_file_is_read_with(case: str, write: Writer) -> None:
    assert_good(write(READ[case]))


@pytest.mark.parametrize("separator", [";", "\t", "|", " ", ":"])
@pytest.mark.parametrize("name", ["data.csv", "data.txt", "data.dat", "data"])
def test_a_separator_overrides_the_ending(separator: str, name: str, write: Writer) -> None:
    assert_good(write(GOOD.replace(",", separator), name), separator=separator)


@pytest.mark.parametrize("name", ["data.csv.gz", "data.CSV.gz", "data.tsv.gz"])
def test_compressed_text_is_read(name: str, write: Writer) -> None:
    text = GOOD.replace(",", "\t") if "tsv" in name else GOOD
    assert_good(write(gzip.compress(text.encode()), name))


@pytest.mark.parametrize("name", ["b,c", 'say "b"', "b\nc", " b ", "é", "日本", "b;c"])
def test_any_name_survives_in_quotes(name: str, write: Writer) -> None:
    header = "a,{}\n".format('"' + name.replace('"', '""') + '"')
    found = moments_of(write(header + GOOD.split("\n", 1)[1]))
    assert found.names == ("a", name)
    assert found.n == 4


def test_columns_that_are_not_used_may_hold_anything(write: Writer) -> None:
    path = write('id,a,note,b\nx1,1,"one, two",2\nx2,2,,1\nx3,3,"say ""yes""",5\nx4,4,"new\nline",4\n')
    chosen = moments_of(path, columns=["a", "b"])
    assert chosen.names == ("a", "b")
    assert chosen.n == 4
    assert moments_of(path, drop=["id", "note"]).mean.tolist() == [2.5, 3.0]


def test_a_file_of_many_batches_is_read_whole(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(0).normal(size=(5000, 3)).round(6)
    path = write("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in table.tolist()))
    whole = moments_of(path)
    monkeypatch.setattr("lmarvel.data.scan.BATCH_BYTES", 8 * 3 * 100)
    assert moments_of(path).n == 5000
    np.testing.assert_allclose(moments_of(path).covariance, whole.covariance, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("first", [0, 1])
def test_row_numbers_without_a_name_are_left_out(first: int, write: Writer) -> None:
    rows = ["1,2,u", "2,1,v", "4,0,u", "3,3,v"]
    path = write(",a,b,c\n" + "".join(f"{first + i},{row}\n" for i, row in enumerate(rows)))
    with pytest.warns(LMarvelWarning, match="numbers or names the rows: it is left out"):
        data = Dataset.of(path, categorical=["c"])
    assert data.names == ("a", "b", "c")
    assert data.values().tolist() == [[1, 2, 0], [2, 1, 1], [4, 0, 0], [3, 3, 1]]


@pytest.mark.parametrize("labels", [("85", "4", "226"), ("Mazda RX4", "Fiat 128", "Lotus Europa"), ("1", "b", "3")])
def test_labels_of_rows_without_a_name_are_left_out(labels: tuple[str, ...], write: Writer) -> None:
    path = write(",a,b\n" + "".join(f"{label},{i},{i * i % 3}\n" for i, label in enumerate(labels)))
    with pytest.warns(LMarvelWarning, match="no name, and numbers or names the rows: it is left out"):
        assert Dataset.of(path).names == ("a", "b")


@pytest.mark.parametrize("first", [("5", "3", "5"), ("5.5", "3", "4"), ("5", "", "4"), ("1e3", "3", "4")])
def test_a_first_column_without_a_name_that_measures_something_is_kept(first: tuple[str, ...], write: Writer) -> None:
    rows = zip(first, ("1,2", "2,1", "4,0"), strict=True)
    assert Dataset.of(write(",a,b\n" + "".join(",".join(row) + "\n" for row in rows))).names == ("column 1", "a", "b")


# --- refused ----------------------------------------------------------------------------------------------

REFUSED = {
    "empty": ("", "is empty"),
    "only blank lines": ("\n\n\r\n", "is empty"),
    "only a byte-order mark": ("\ufeff", "is empty"),
    "header only": ("a,b\n", "no rows"),
    "header without line end": ("a,b", "no rows"),
    "header and blank lines": ("a,b\n\n\n", "no rows"),
    "one row": ("a,b\n1,2\n", "one row"),
    "one column": ("a\n1\n2\n", "1 column is not enough"),
    "empty name": ("a,,b\n1,2,3\n", "column number 2 has an empty name"),
    "duplicate name": ("a,b,a\n1,2,3\n", "duplicate column name 'a'"),
    "text": ("a,b\n1,2\n2,tall\n", "column 'b', line 3: 'tall' is not a number"),
    "text far down": ("a,b\n" + "1,2\n" * 5000 + "2,tall\n", "column 'b', line 5002: 'tall' is not a number"),
    "dates": ("a,b\n1,2020-01-01\n2,2020-01-02\n4,2020-01-03\n", "column 'b' has 3 categories in 3 rows, as an id"),
    "underscores": ("a,b\n1_0,2\n2,3\n", "column 'a', line 2: '1_0' is not a number"),
    "a long row": ("a,b\n1,2\n2,1,9\n3,5\n", "line 3: 3 fields where the header has 2"),
    "a short row": ("a,b,c\n1,2,4\n2,1\n3,5,6\n", "line 3: 2 fields where the header has 3"),
    "cut off": ("a,b,c\n1,2,4\n3,5,6\n2,1", "line 4: 2 fields where the header has 3"),
    "missing": ("a,b\n1,\n2,NA\n,3\n4,nan\n5,4\n", r"missing values in 2 of 2 columns: 'a' \(1\), 'b' \(3\)"),
    "infinite": ("a,b\n1,inf\n2,-Infinity\n3,1e999\n4,1\n", r"infinite values in 'b' \(3\)"),
    "constant": ("a,b\n1,2\n1,3\n1,4\n", "column 'a' is constant: drop it"),
    "quote without end": ('a,b\n1,2\n3,"4\n5,6\n', "cannot read .*data.csv"),
    "quote without end in the header": ('a,"b\n1,2\n3,4\n', "cannot read .*data.csv"),
    "latin-1 value": ("a,b\n1,2\n2,é\n".encode("latin-1"), "column 'b', line 3: 'é' is not a number"),
    "UTF-16": (GOOD.encode("utf-16"), "is UTF-16 text: save it as UTF-8"),
    "null bytes": (b"a,b\n1,2\n\x00,1\n3,4\n", "line 3"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_csv_file_is_refused_because_of(case: str, write: Writer) -> None:
    content, message = REFUSED[case]
    with pytest.raises(DataError, match=message):
        _ = Dataset.of(write(content), missing="refuse").moments


def test_blanks_behind_a_number_are_read_or_named(write: Writer) -> None:
    message = complaint(write("a,b\n1,2\n2,1 \n3,5\n4,4\n"))
    assert message is None or "column 'b', line 3: '1 '" in message


@pytest.mark.parametrize("separator", ["", ",,", "\\t", "€", "é", "\n", '"'])
def test_a_separator_that_is_not_one_plain_character_is_refused(separator: str, write: Writer) -> None:
    for text in (GOOD, GOOD.replace(",", separator or ",")):
        with pytest.raises(LMarvelError):
            moments_of(write(text), separator=separator)


@pytest.mark.parametrize("damage", [lambda z: z[:40], lambda z: z[:-8], lambda z: z[:14] + b"\xff" * 8 + z[22:]])
def test_damaged_compressed_text_is_refused(damage: Callable[[bytes], bytes], write: Writer) -> None:
    table = np.random.default_rng(0).normal(size=(200, 2))
    packed = gzip.compress(("a,b\n" + "\n".join(f"{x},{y}" for x, y in table)).encode())
    with pytest.raises(DataError, match=r"data\.csv\.gz"):
        moments_of(write(damage(packed), "data.csv.gz"))


@pytest.mark.parametrize("rows", [10, 50_000])
def test_rows_before_a_damaged_end_are_not_taken_for_the_whole_file(
    rows: int, write: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lmarvel.data.scan.BATCH_BYTES", 1 << 12)
    path = write("a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(rows)) + '2,"')
    with pytest.raises(DataError, match=r"data\.csv"):
        moments_of(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no file .*nothing.csv"):
        moments_of(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="is a directory"):
        moments_of(tmp_path)
    with pytest.raises(DataError):
        moments_of(tmp_path / ("a" * 300 + ".csv"))


@pytest.mark.parametrize("name", ["data.doc", "data", "data.csv.zip", "data.gz"])
def test_an_unknown_ending_is_named(name: str, write: Writer) -> None:
    with pytest.raises(DataError, match=f"cannot infer the format of '{name}' by its ending"):
        moments_of(write(GOOD, name))


# --- fuzz: a table or a message, nothing else ------------------------------------------------------------

CELLS = st.sampled_from(
    ["0", "1", "-2.5", "3e2", "1e308", "-1e308", "1e-320", "inf", "NA", "", " ", "x", '"', '"1"', "é", "\x00", "1_0"]
)
BREAKS = st.sampled_from([",", ",", ",", "\n", "\n", "\r\n", "\r", ";", "\t", ",,", "\n\n"])
ALMOST_CSV = st.lists(st.tuples(CELLS, BREAKS).map("".join), max_size=30).map("".join)


def read(content: bytes, name: str, folder: Path) -> None:
    path = folder / name
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LMarvelWarning)  # on what is skipped, or taken for a header
        assert "\n" not in (complaint(path) or "")


@examples(100)
@given(content=st.binary(max_size=80), ending=st.sampled_from(["csv", "tsv", "csv.gz", "parquet", "feather"]))
def test_random_bytes_give_a_table_or_a_message(content: bytes, ending: str, tmp_path_factory: Folders) -> None:
    read(content, f"data.{ending}", tmp_path_factory.getbasetemp())


@examples(150)
@given(header=st.sampled_from(["", "a,b\n", "a,b,c\n", "\ufeffa,b\n", '"a","b"\n']), body=ALMOST_CSV)
def test_text_that_is_almost_csv_gives_a_table_or_a_message(header: str, body: str, tmp_path_factory: Folders) -> None:
    read((header + body).encode(), "data.csv", tmp_path_factory.getbasetemp())


@examples(60)
@given(seed=st.integers(0, 10**6), packed=st.booleans())
def test_good_files_with_a_few_bytes_changed_give_a_table_or_a_message(
    seed: int, packed: bool, tmp_path_factory: Folders
) -> None:
    rng = random.Random(seed)
    text = "a,b,c\n" + "".join(f"{rng.gauss(0, 1)},{rng.random()},{rng.randrange(9)}\n" for _ in range(30))
    content = bytearray(gzip.compress(text.encode()) if packed else text.encode())
    for _ in range(rng.randrange(1, 4)):
        content[rng.randrange(len(content))] = rng.choice([10, 13, 34, 44, 0, 255, 195, 32, rng.randrange(256)])
    read(bytes(content), "data.csv.gz" if packed else "data.csv", tmp_path_factory.getbasetemp())
