"""Random arguments: whatever they are, the program ends by itself and without a traceback."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cli.running import confounded, run, write_csv
from tests.effort import examples

SOME_TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.one_of(
    st.sampled_from(["0", "1", "-1", "0.01", "0.5", "1e-9", "nan", "inf", "-inf", "1e999", "9" * 30, "", "٣", "1_0"]),
    st.floats().map(str),
    st.integers().map(str),
)

OPTIONS = {
    "--alpha": NUMBERS,
    "--boundary": st.sampled_from(["auto", "tc", "gs", "iamb", "inter-iamb", "fast-iamb", "AUTO", ""]),
    "--boundary-alpha": NUMBERS,
    "--removal-threshold": NUMBERS,
    "--columns": st.sampled_from(["A,B", "A", "A,,B", ",", "", "A,A,B", "a,b", "D,C,B,A"]) | SOME_TEXT,
    "--drop": st.sampled_from(["A", "A,B,C,D", "", "A,A"]) | SOME_TEXT,
    "--separator": st.sampled_from([",", ";", "\\t", "", ",,", "\n", '"', "1", "."]) | SOME_TEXT,
    "--max-conditioning": NUMBERS,
    "--max-tests": NUMBERS,
    "--max-seconds": NUMBERS,
    "--format": st.sampled_from(["text", "edges", "json", "JSON", ""]),
    "--output": st.sampled_from(["pag.json", "pag.txt", "pag.xml", ".", "no/pag.json", "data.csv/x.txt", ""]),
}
FLAGS = st.sampled_from(["--quiet", "-q", "--assume-chordal", "--no-selection", "--help", "--version", "--", "-"])
OPTION = st.sampled_from(sorted(OPTIONS)).flatmap(lambda name: OPTIONS[name].map(lambda value: [name, value]))
WORDS = st.one_of(OPTION, OPTION, OPTION, FLAGS.map(lambda flag: [flag]), SOME_TEXT.map(lambda text: [text]))
TABLES = st.sampled_from(["data.csv", "data.csv", "data.csv", "bad.csv", "none.csv", "."])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fuzz")
    write_csv(path / "data.csv", confounded(60))
    (path / "bad.csv").write_text("a,b\n1,x\n")
    return path


@examples(80)
@given(table=TABLES, words=st.lists(WORDS, max_size=5))
@example(table="data.csv", words=[["--alpha", "1e-300"]])
@example(table="data.csv", words=[["--alpha", "0.9999999999999999"]])
@example(table="data.csv", words=[["--max-tests", "9" * 30]])
@example(table="data.csv", words=[["--max-seconds", "1e-300"]])
@example(table="data.csv", words=[["--output", ""]])
@example(table="", words=[])
def test_random_arguments_never_give_a_traceback(folder: Path, table: str, words: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        code, _, err = run("learn", table, *[part for word in words for part in word])
    assert code in (0, 2, 3)
    assert "Traceback" not in err
    assert (code == 0) <= (err == "")


@given(words=st.lists(st.one_of(SOME_TEXT, st.sampled_from(["learn", "demo", "--version", "-h", "--"])), max_size=3))
def test_random_words_never_give_a_traceback(folder: Path, words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        code, _, err = run(*words)
    assert code in (0, 2)
    assert "Traceback" not in err
