"""Files and frames as people bring them: marked numbers, titles, units, no header, and codes for missing values."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lmarvel import DataError, Dataset, LMarvel, LMarvelWarning, Moments
from lmarvel.data.profile.patterns import missing_codes_among
from tests.cli.test_tables import sheet

Writer = Callable[..., Path]
ROWS = "".join(f"{i},{i * i % 7}.5,{i * 3 % 5}\n" for i in range(1, 13))
PLAIN = [[i, i * i % 7 + 0.5, i * 3 % 5] for i in range(1, 13)]


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    def writer(content: str, name: str = "data.csv") -> Path:
        (tmp_path / name).write_text(content, encoding="utf-8")
        return tmp_path / name

    return writer


def opened(data: object, **options: object) -> tuple[Dataset, list[str]]:
    """Return a dataset whose rows were read, and what was said about it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = Dataset.of(data, **options)  # type: ignore[arg-type]
        found.rows()
    assert all(warning.category is LMarvelWarning for warning in said)
    return found, [str(warning.message) for warning in said]


# --- numbers with marks -----------------------------------------------------------------------------------

MARKED = {
    "percent": (["12%", "7.5 %", "-3%", "0%"], [12, 7.5, -3, 0], "% signs"),
    "dollars": (["$1,250.50", "$980", "-$3", "$ 4"], [1250.5, 980, -3, 4], "$ signs and thousands separators"),
    "euros": (["12 €", "7.5€", "3 €", "0 €"], [12, 7.5, 3, 0], "€ signs"),
    "thousands": (["1,234", "12,345,678", "967", "-4,000"], [1234, 12345678, 967, -4000], "thousands separators"),
    "thousands with blanks": (["1 234", "12 345", "967", "4"], [1234, 12345, 967, 4], "thousands separators"),
    "decimal commas": (["1,25", "12,5", "967", "4"], [1.25, 12.5, 967, 4], ""),
    "percent with decimal commas": (["12,5%", "7%", "3,25%", "0%"], [12.5, 7, 3.25, 0], "% signs"),
}


@pytest.mark.parametrize("case", MARKED)
@pytest.mark.parametrize("where", ["file", "mapping"])
def test_marked_numbers_are_numbers_and_that_is_said(case: str, where: str, write: Writer) -> None:
    cells, numbers, marks = MARKED[case]
    path = write("a,b\n" + "".join(f'"{cell}",{i}\n' for i, cell in enumerate(cells)))
    found, said = opened(path if where == "file" else {"a": cells, "b": [0, 1, 2, 3]})
    assert found.rows()[:, 0].tolist() == numbers
    assert said == ([f"column 'a' is read as numbers, without {marks}"] if marks else [])


def test_european_numbers_of_a_file_with_semicolons(write: Writer) -> None:
    found, said = opened(write("a;b\n1.234,50 €;1,5\n980,25 €;2,5\n12,00 €;3,125\n7,10 €;4,5\n"))
    assert found.rows().tolist() == [[1234.5, 1.5], [980.25, 2.5], [12, 3.125], [7.1, 4.5]]
    assert said == ["column 'a' is read as numbers, without € signs and thousands separators"]


def test_columns_with_the_same_marks_are_named_together(write: Writer) -> None:
    _, said = opened(write("a,b\n1%,2%\n2%,1%\n5%,7%\n"))
    assert said == ["columns 'a', 'b' are read as numbers, without % signs"]


def test_text_with_numbers_in_it_stays_text() -> None:
    found = Dataset.of({"a": ["p1", "p2", "p1", "p2"], "b": ["1 mm", "2 mm", "2 mm", "1 mm"]})
    assert found.levels == (("p1", "p2"), ("1 mm", "2 mm"))


def test_what_is_no_number_among_marked_ones_is_named(write: Writer) -> None:
    with pytest.raises(DataError, match=r"column 'a', line 4: 'n\.k\.' is not a number\. Mend the value, treat it"):
        Dataset.of(write("a,b\n1%,2\n2%,1\nn.k.,7\n5%,3\n")).rows()


# --- titles, units, blank lines, no header ----------------------------------------------------------------

ABOVE = {
    "a title": ("Survey 2024\na,b,c\n", ["1 title row was skipped ('Survey 2024')"]),
    "a title with commas": ("Survey 2024, wave 2\na,b,c\n", ["1 title row was skipped ('Survey 2024, wave 2')"]),
    "titles of a spreadsheet": ("Survey,,\nby us,,\n,,\na,b,c\n", ["3 title rows were skipped ('Survey')"]),
    "blank lines": ("\n\n\na,b,c\n", []),
    "units": ("a,b,c\nmm,kg,%\n", ["1 row below the header was skipped, since it is text above numbers ('mm, kg, %')"]),
    "units of some": ("a,b,c\n(mm),(kg),\n", ["1 row below the header was skipped"]),
    "questions and keys": ("a,b,c\nHow?,Why?,Who?\nk1,k2,k3\n", ["2 rows below the header were skipped"]),
    "a title and units": ("Survey\n\na,b,c\nmm,kg,%\n", ["1 title row was", "1 row below the header was skipped"]),
    "an empty column at the end": ("a,b,c,\n", ["the last column has neither names nor values: it is left out"]),
}


@pytest.mark.parametrize("case", ABOVE)
def test_what_stands_above_the_data_is_skipped_and_said(case: str, write: Writer) -> None:
    above, notes = ABOVE[case]
    rows = ROWS.replace("\n", ",\n") if case == "an empty column at the end" else ROWS
    found, said = opened(write(above + rows))
    assert found.names == ("a", "b", "c")
    assert found.rows().tolist() == PLAIN
    assert len(said) == len(notes)
    for sentence, note in zip(said, notes, strict=True):
        assert sentence.startswith(f"data.csv: {note}")


def test_a_byte_order_mark_goes_before_data_without_a_header(write: Writer) -> None:
    found, _ = opened(write("\ufeff" + ROWS), header=False)
    assert found.rows().tolist() == PLAIN


@pytest.mark.parametrize("rows", [ROWS, "Survey\n" + ROWS])
def test_lines_are_skipped_as_they_are_counted(rows: str, write: Writer) -> None:
    found, said = opened(write("one\n\nthree,3\na,b,c\n" + ROWS), skip_rows=3)
    assert (found.names, found.rows().tolist(), said) == (("a", "b", "c"), PLAIN, [])
    with pytest.raises(DataError, match="is empty after the first 90 lines: skip fewer"):
        Dataset.of(write("a,b,c\n" + rows), skip_rows=90)


def test_nothing_is_skipped_where_that_is_said(write: Writer) -> None:
    with pytest.raises(DataError, match="'mm' is not a number"):
        Dataset.of(write("a,b,c\nmm,kg,%\n" + ROWS), skip_rows=0).rows()


def test_an_ordinary_file_loses_nothing(write: Writer) -> None:
    """Text in the first row of data, short headers and gaps are no titles and no units."""
    found, said = opened(write("a,b,c\nNA,red,1\n" + "".join(f"{i},blue,{i % 3}\n" for i in range(9))))
    assert (found.n, said) == (10, [])
    with pytest.raises(DataError, match="3 fields where the header has 2"):
        Dataset.of(write("a,b\n" + ROWS)).rows()


HEADERS = {
    "fractions": ("0.5,1.5,2", "there is no header, since the first row is numbers", 13),
    "the same twice": ("4,4,2", "there is no header, since the first row is numbers", 13),
    "years": ("2001,2002,2003", "the names of the columns are numbers; --no-header takes the first row for data", 12),
    "names": ("a,b,c", "", 12),
    "names that begin with numbers": ("1st,2nd,3rd", "", 12),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_first_row_of_numbers_is_no_header(case: str, write: Writer) -> None:
    first, note, rows = HEADERS[case]
    found, said = opened(write(f"{first}\n{ROWS}"))
    assert found.n == rows
    assert found.names == (("column1", "column2", "column3") if rows == 13 else tuple(first.split(",")))
    assert [sentence.startswith(f"data.csv: {note}") for sentence in said] == [True] * bool(note)
    if case != "the same twice":
        assert opened(write(f"{first}\n{ROWS}"), header=True)[0].names == tuple(first.split(","))


def test_numbers_and_text_like_those_below_are_no_header(write: Writer) -> None:
    rows = "".join(f"{i}.5,{'red' if i % 2 else 'blue'}\n" for i in range(12))
    found, said = opened(write(rows))
    assert (found.n, found.names) == (12, ("column1", "column2"))
    assert said[0].startswith("data.csv: there is no header, since the first row is like the others")


def test_genes_with_numbers_for_names_are_columns(write: Writer) -> None:
    rows = "".join(f"{i}.25,{i * i % 7}.5,{i * 3 % 5}.125\n" for i in range(12))
    found, said = opened(write("539,4,17\n" + rows))
    assert (found.names, len(said)) == (("539", "4", "17"), 1)


def test_rows_of_nothing_but_separators_are_blank_lines(write: Writer) -> None:
    assert Dataset.of(write("a,b,c\n" + ROWS + ",,\n,,\n")).rows().tolist() == PLAIN
    with pytest.warns(LMarvelWarning, match="left out 2 rows in which every value is missing"):
        assert Dataset.of(write("a,b,c\n" + ROWS + "NA,NA,NA\nNA,,\n")).rows().tolist() == PLAIN


@pytest.mark.parametrize("skip", [None, 1])
def test_the_title_of_a_spreadsheet_is_skipped(skip: int | None, tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    rows = [["a", "b", "c"], ["mm", "kg", "%"], *PLAIN]
    columns = zip(("Survey", "", " "), map(list, zip(*rows, strict=True)), strict=True)
    found, said = opened(sheet(tmp_path / "data.xlsx", dict(columns)), skip_rows=skip)
    assert (found.names, found.rows().tolist()) == (("a", "b", "c"), PLAIN)
    notes = ["data.xlsx: 1 title row was skipped ('Survey')"] * (skip is None) + ["data.xlsx: 1 row below the header"]
    assert [sentence.startswith(note) for sentence, note in zip(said, notes, strict=True)] == [True] * len(notes)


def test_a_spreadsheet_without_a_header_is_read(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    columns = {str(first): [*rest] for first, *rest in zip(*PLAIN, strict=True)}
    found, said = opened(sheet(tmp_path / "data.xlsx", columns), header=False)
    assert (found.names, found.n, said) == (("column1", "column2", "column3"), len(PLAIN), [])


# --- values that stand for a missing one ------------------------------------------------------------------

CODED = {"age": [30, -9, 41, 52, -9, 38], "kind": ["a", "b", "DK", "b", "a", "a"], "n": [1.0, -9, 3, 4, 5, 7]}


@pytest.mark.parametrize(
    ("na", "missing"),
    [
        (-9, (2, 0, 1)),
        ("-9", (2, 0, 1)),
        ([-9.0, "DK"], (2, 1, 1)),
        ({"age": -9}, (2, 0, 0)),
        ({"age": [-9, 30], "kind": "DK"}, (3, 1, 0)),
        (None, (0, 0, 0)),
    ],
)
@pytest.mark.parametrize("make", ["mapping", "csv", "parquet", "polars", "categories"])
def test_values_are_taken_for_missing_in_any_table(make: str, na: object, missing: object, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(CODED)
    frame.write_csv(tmp_path / "data.csv")
    frame.write_parquet(tmp_path / "data.parquet")
    data = {
        "mapping": CODED,
        "csv": tmp_path / "data.csv",
        "parquet": tmp_path / "data.parquet",
        "polars": frame,
        "categories": frame.with_columns(polars.col("kind").cast(polars.Categorical)),
    }[make]
    found = Dataset.of(data, na=na)
    assert found.missing == missing
    assert found.levels[1] == (("a", "b") if missing[1] else ("DK", "a", "b"))  # type: ignore[index]


def test_numbers_but_for_a_word_are_numbers(write: Writer) -> None:
    path = write("a,b\n1,2\nRefused,3\n2,5\n7,1\n")
    assert np.isnan(Dataset.of(path, na="Refused").rows()[1, 0])
    assert Dataset.of({"a": [1, "Refused", 3, 5], "b": [1, 2, 4, 8]}, na="Refused").kinds[0] == "continuous"
    with pytest.raises(DataError, match="na names 'c', but the table has no such column"):
        Dataset.of(path, na={"c": 1})


def test_a_dataset_takes_values_for_missing_later() -> None:
    before = Dataset.of(CODED, categorical=["kind"])
    assert Dataset.of(before, na=-9, missing="drop").n == 4


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([18, 22, 35, 47, 80, -9, -9], [-9]),
        ([18, 22, 35, 47, 80, -9], []),
        ([1, 2, 3, 4, 5, 99], [99]),
        ([1, 2, 3, 4, 5, 8, 9, 9], [8, 9]),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 9], []),
        ([-12, -9, -9, -3, 0, 4, 11], []),
        ([20, 35, 50, 70, 99, 99], []),
        ([0.5, 1.5, 1.0, 2.0, -99], [-99]),
        ([20, 25, 31, 44, 998, 999, 999], [998, 999]),
    ],
)
def test_codes_are_far_from_the_rest(values: list[float], codes: list[float]) -> None:
    distinct, counts = np.unique(np.array(values, dtype=float), return_counts=True)
    assert missing_codes_among(distinct, counts) == codes


# --- matrices ---------------------------------------------------------------------------------------------


def test_a_matrix_is_refused_and_what_the_message_says_works() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 4)) @ np.triu(np.ones((4, 4)))
    matrix = np.corrcoef(rows.T)
    with pytest.raises(DataError, match=r"this is a correlation matrix, .* Moments\.of\(matrix, n\)"):
        LMarvel().fit(matrix)
    with pytest.raises(DataError, match="this is a correlation matrix"):
        LMarvel().fit(np.where(np.tri(4) > 0, matrix, np.nan))
    names = ("a", "b", "c", "d")
    found = LMarvel().fit(Moments.of(matrix, 200, names))
    assert found.pag_ == LMarvel().fit(rows, names=list(names)).pag_
