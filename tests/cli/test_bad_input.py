"""Bad input: exit code 2, one line that names the culprit, no traceback, nothing written."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.running import confounded, run, write_csv

GOOD = "a,b\n1,2\n2,1\n3,5\n4,4\n5,3\n"


def numbers(**columns: np.ndarray) -> str:
    rows = np.column_stack(list(columns.values())).tolist()
    return "\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)])


RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=(3, 50))

# name: (content, expected words); the file is data.csv
TABLES: dict[str, tuple[str | bytes, list[str]]] = {
    "empty file": ("", ["data.csv", "empty"]),
    "blank file": ("\n\n", ["data.csv", "empty"]),
    "header only": ("a,b\n", ["no rows"]),
    "header and blank lines": ("a,b\n\n\n", ["no rows"]),
    "one column": ("a\n1\n2\n3\n", ["1 column"]),
    "one row": ("a,b\n1,2\n", ["one row"]),
    "three rows": ("a,b\n1,2\n2,1\n3,5\n", ["3 rows are too few"]),
    "text": ("a,b\n1,2\n2,tall\n3,1\n", ["'b'", "line 3", "'tall'"]),
    "text in the last of many rows": ("a,b\n" + "1,2\n" * 999 + "2,x\n", ["'b'", "line 1001", "'x'"]),
    "duplicate name": ("a,b,a\n1,2,3\n2,1,4\n", ["duplicate", "'a'"]),
    "empty name": ("a,,b\n1,2,3\n2,1,4\n", ["column number 2", "empty name"]),
    "constant column": ("a,b\n1,2\n1,3\n1,4\n1,9\n", ["constant", "'a'"]),
    "collinear columns": (numbers(x=X, y=Y, z=Z, total=X + 2 * Y), ["'total'", "'x'", "'y'", "collinear"]),
    "duplicated columns": (numbers(x=X, y=Y, again=X), ["'x' and 'again'", "copies"]),
    "duplicated columns up to scale": (numbers(x=X, y=Y, again=-2 * X + 1), ["'x' and 'again'", "copies"]),
    "missing values": (
        "a,b,c\n1,,3\n2,NA,1\n3,4,\n1,1,1\n",
        ["at most 3 rows have both of two variables, and 20 are needed"],
    ),
    "infinities": ("a,b\n1,2\n2,inf\n3,-inf\n4,1\n", ["infinite", "'b' (2)"]),
    "values beyond range": ("a,b\n1,1e200\n2,-1e200\n3,3e200\n4,1\n", ["'b'", "rescale"]),
    "numbers beyond range": ("a,b\n1,1e308\n2,-1e308\n3,1e308\n4,1\n", ["'b'", "rescale"]),
    "latin-1 in a value": ("a,b\n1,2\n2,\xe9\n".encode("latin-1"), ["'b'", "line 3", "'é'"]),
    "UTF-16": (GOOD.encode("utf-16"), ["data.csv", "UTF-8"]),
    "long row": ("a,b\n1,2\n2,1,7\n3,5\n4,4\n", ["line 3", "3 fields", "header has 2"]),
    "short row": ("a,b,c\n1,2,3\n2,1\n3,5,1\n4,4,2\n", ["line 3", "2 fields", "header has 3"]),
    "quote without end": ('a,b\n1,2\n2,"1\n3,5\n', ["data.csv"]),
    "lone quote": ('a,b\n1,2\n2,"', ["data.csv"]),
    "null bytes": (b"a,b\n1,2\n\x00,\x00\n3,5\n", ["line 3"]),
}

# name: (arguments, expected words); the file is good
ARGUMENTS: dict[str, tuple[list[str], list[str]]] = {
    **{
        f"alpha {alpha}": (["--alpha", alpha], ["alpha", "between 0 and 1", str(float(alpha))])
        for alpha in ("0", "1", "2", "-1", "nan", "inf")
    },
    "boundary level": (["--boundary-alpha", "1"], ["--boundary-alpha must"]),
    "removal threshold": (["--removal-threshold", "0"], ["--removal-threshold must"]),
    "unknown column": (["--columns", "A,Nope"], ["columns", "'Nope'", "A, B, C, D"]),
    "unknown dropped column": (["--drop", "Nope"], ["drop", "'Nope'", "A, B, C, D"]),
    "too few columns chosen": (["--columns", "A"], ["1 column"]),
    "all columns dropped": (["--drop", "A,B,C,D"], ["0 column"]),
    "unknown boundary": (["--boundary", "pc"], ["boundary", "'pc'", "iamb"]),
    "negative number of tests": (["--max-tests", "-1"], ["--max-tests must", "-1"]),
    "negative conditioning size": (["--max-conditioning", "-1"], ["--max-conditioning must", "-1"]),
    "negative seconds": (["--max-seconds", "-1"], ["--max-seconds must", "-1"]),
    "no seconds": (["--max-seconds", "0"], ["--max-seconds must", "0"]),
    "seconds that are no number": (["--max-seconds", "nan"], ["--max-seconds must", "nan"]),
    "long separator": (["--separator", ",,"], ["separator", "',,'"]),
    "empty separator": (["--separator", ""], ["separator", "''"]),
    "separator beyond ASCII": (["--separator", "€"], ["separator", "'€'"]),
    "line end as separator": (["--separator", "\n"], ["separator"]),
    "quote as separator": (["--separator", '"'], ["separator"]),
}

# name: (option with its value, expected words); refused by the parser of the command line
USAGE: dict[str, tuple[list[str], list[str]]] = {
    "alpha abc": (["--alpha", "abc"], ["--alpha"]),
    "tests in words": (["--max-tests", "many"], ["--max-tests"]),
    "half a test": (["--max-tests", "1.5"], ["--max-tests"]),
    "unknown format": (["--format", "xml"], ["--format", "xml"]),
    "unknown option": (["--nope"], ["--nope"]),
    "option without a value": (["--alpha"], ["--alpha"]),
    "a second table": (["other.csv"], ["other.csv"]),
}


def parquet(frame: pl.DataFrame, path: Path) -> bytes:
    frame.write_parquet(path)
    content = path.read_bytes()
    path.unlink()
    return content


def write(path: Path, content: bytes | str = GOOD) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


FRAME = pl.DataFrame(confounded(500))
# name: (make the path, expected words)
PATHS: dict[str, tuple[Callable[[Path], Path], list[str]]] = {
    "missing file": (lambda folder: folder / "nothing.csv", ["no file", "nothing.csv"]),
    "file in a missing directory": (lambda folder: folder / "no" / "data.csv", ["no file", "data.csv"]),
    "directory": (lambda folder: folder, ["directory"]),
    "file below a file": (lambda folder: write(folder / "f.csv") / "data.csv", ["data.csv"]),
    "name too long": (lambda folder: folder / ("a" * 300 + ".csv"), ["aaa.csv"]),
    "unknown ending": (lambda folder: write(folder / "data.doc"), ["'data.doc'", "ending"]),
    "no ending": (lambda folder: write(folder / "data"), ["'data'", "ending"]),
    "truncated Parquet": (
        lambda folder: write(folder / "data.parquet", parquet(FRAME, folder / "t")[:5000]),
        ["data.parquet", "damaged"],
    ),
    "CSV saved as Parquet": (lambda folder: write(folder / "data.parquet"), ["data.parquet", "another format"]),
    "CSV saved as Feather": (lambda folder: write(folder / "data.feather"), ["data.feather", "another format"]),
    "empty Parquet": (lambda folder: write(folder / "data.parquet", b""), ["data.parquet"]),
    "text in Parquet": (
        lambda folder: write(
            folder / "data.parquet", parquet(FRAME.with_columns(pl.lit("x").alias("note")), folder / "t")
        ),
        ["'note'", "constant", "--drop note"],
    ),
    "truncated gzip": (
        lambda folder: write(folder / "data.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b"),
        ["data.csv.gz"],
    ),
    "damaged gzip": (
        lambda folder: write(folder / "data.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + b"\xff" * 30),
        ["data.csv.gz"],
    ),
    "CSV saved as gzip": (lambda folder: write(folder / "data.csv.gz"), ["data.csv.gz"]),
}

# name: (path of the output in the folder, expected words)
OUTPUTS: dict[str, tuple[str, list[str]]] = {
    "missing directory": ("no/such/pag.json", ["no/such"]),
    "a directory": ("folder.json", ["folder.json", "directory"]),
    "wrong ending": ("pag.xlsx", ["pag.xlsx", ".json", ".dot"]),
    "the table itself": ("data.csv", ["data.csv", "is the file to read from"]),
    "no ending": ("pag", ["pag", ".json"]),
    "below a file": ("data.csv/pag.json", ["data.csv"]),
    "name too long": ("a" * 300 + ".json", ["aaa.json"]),
}


def everything_in(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def refuse(folder: Path, words: list[str], *arguments: str | Path) -> None:
    """Run a command that must be refused, and check everything that holds for all of them."""
    before = everything_in(folder)
    code, out, err = run("learn", *arguments)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert everything_in(folder) == before
    for word in words:
        assert word in err
    assert err.startswith("lmarvel: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("case", TABLES)
def test_a_bad_table_is_refused(case: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    content, words = TABLES[case]
    refuse(tmp_path, words, write(tmp_path / "data.csv", content), "-o", tmp_path / "pag.json")
    assert capfd.readouterr() == ("", "")  # nor does a library write past us


@pytest.mark.parametrize("case", PATHS)
def test_a_bad_path_is_refused(case: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make, words = PATHS[case]
    refuse(tmp_path, words, make(tmp_path), "-o", tmp_path / "pag.json")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("case", ARGUMENTS)
def test_a_bad_argument_is_refused(case: str, tmp_path: Path) -> None:
    arguments, words = ARGUMENTS[case]
    path = write_csv(tmp_path / "data.csv", confounded(100))
    refuse(tmp_path, words, path, *arguments, "-o", tmp_path / "pag.json")


@pytest.mark.parametrize("separator", ["€", "\n", '"'])
def test_a_bad_separator_is_refused_also_where_the_file_has_it(separator: str, tmp_path: Path) -> None:
    path = write(tmp_path / "data.csv", GOOD.replace(",", separator))
    refuse(tmp_path, ["separator"], path, "--separator", separator)


@pytest.mark.parametrize("case", USAGE)
def test_bad_usage_is_refused(case: str, tmp_path: Path) -> None:
    arguments, words = USAGE[case]
    path = write_csv(tmp_path / "data.csv", confounded(100))
    refuse(tmp_path, words, path, *arguments)


@pytest.mark.parametrize("case", OUTPUTS)
def test_a_bad_output_is_refused_before_the_table_is_read(case: str, tmp_path: Path) -> None:
    name, words = OUTPUTS[case]
    (tmp_path / "folder.json").mkdir()
    bad = write(tmp_path / "data.csv", "a,b\n1,x\n")
    refuse(tmp_path, words, bad, "-o", tmp_path / name)


def test_collinear_columns_are_no_crash_with_fewer_rows_than_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = {f"X{i}": rng.normal(size=30) for i in range(40)}
    columns["sum"] = columns["X0"] + 2 * columns["X1"]
    code, _, err = run("learn", write_csv(tmp_path / "data.csv", columns))
    assert code in (0, 2)
    assert "Traceback" not in err


def test_no_table_at_all_is_refused() -> None:
    code, out, err = run("learn")
    assert (code, out) == (2, "")
    assert "data" in err.lower()


def test_an_unknown_command_is_refused() -> None:
    code, _, err = run("teach")
    assert code == 2
    assert "teach" in err


# --- what is read is not written over ---------------------------------------------------------------------


def test_a_report_does_not_replace_its_table(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "d.html", confounded(100))
    (tmp_path / "link.html").hardlink_to(path)
    for report in (path, tmp_path / "link.html", tmp_path / "." / "d.html"):
        words = [path, "--separator", ",", "--report", report]
        refuse(tmp_path, ["is the file to read from: write to another"], *words)


def test_two_outputs_do_not_go_into_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_csv(tmp_path / "data.csv", confounded(100))
    monkeypatch.chdir(tmp_path)
    both = ["-o", tmp_path / "r.html", "--report", "r.html"]
    refuse(tmp_path, ["is to be written twice"], path, *both)


@pytest.mark.parametrize(("command", "name"), [("report", "r.html"), ("draw", "r.svg"), ("convert", "r.txt")])
def test_a_result_is_not_replaced_by_what_is_made_of_it(command: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    run("learn", write_csv(tmp_path / "data.csv", confounded(100)), "-o", path, "-q")
    path.rename(tmp_path / name)
    before = (tmp_path / name).read_bytes()
    done = run(command, tmp_path / name, tmp_path / name)
    assert (done.code, "is the file to read from" in done.err) == (2, True)
    assert (tmp_path / name).read_bytes() == before


def test_names_in_messages_do_not_reach_the_terminal_raw(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "data.csv", confounded(100))
    for words in (["--columns", "A,\x1b[31mred"], ["--alpha", "\x1b[31m"], ["--\x1b[31m"], ["--method", "\x9b31m"]):
        code, out, err = run("learn", path, *words)
        assert (code, out) == (2, "")
        assert "\x1b" not in err
        assert "\x9b" not in err
