"""The program that benchmarks/authors_program.py writes anew: right with an oracle, and run from the command line."""

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.paper.census import all_classes, all_mags

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "authors_program.py"
pytestmark = pytest.mark.skipif(not PATH.exists(), reason="the benchmarks are not here")


@pytest.fixture(scope="module")
def program():
    spec = importlib.util.spec_from_file_location("authors_program", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def learn(program, mag):
    def independent(x, y, given, level):
        return mag.m_separated(x, y, list(given))

    return program.AuthorsProgram(len(mag), independent).learn()


def skeleton(mag):
    return {frozenset((mag.index(edge.a), mag.index(edge.b))) for edge in mag.edges()}


def test_it_is_right_where_the_paper_says_so(program):
    for mag in (*all_mags().chordal[::3], *all_classes().chordal[::200]):
        found = learn(program, mag)
        assert found.edges == skeleton(mag)
        assert found.left == set()


def test_it_stops_where_nothing_is_removable(program, monkeypatch):
    monkeypatch.setattr(program.AuthorsProgram, "_is_removable", lambda self, x, mb: False)
    found = learn(program, all_mags().mags[-1])
    assert found.left == {0, 1, 2, 3}
    assert len(found.distinct) <= found.tests


def test_one_data_set_by_both_programs(program, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["authors_program.py", "--reps", "1"])
    program.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[1] for line in lines[2:]] == [
        "authors",
        "authors, our order",
        "lmarvel",
        "lmarvel-chordal",
    ]


def test_an_unknown_column_is_refused(program, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["authors_program.py", "--panels", "asia"])
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 2
    assert "unknown panel 'asia': choose from insurance" in capsys.readouterr().err
