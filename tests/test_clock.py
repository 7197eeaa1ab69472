"""One clock for a run: nested clocks, clocks that stand still, and what they end."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from lmarvel import Lift, LMarvel
from lmarvel.budget.clock import Clock, current
from lmarvel.ci import registry
from lmarvel.cli import learning
from lmarvel.data.dataset import Dataset
from lmarvel.data.levels import Column
from lmarvel.data.missing.em import em_moments
from lmarvel.data.sources import csv_typed
from lmarvel.datasets import CARS
from lmarvel.errors import BudgetSpent
from lmarvel.estimators.discover import discover
from lmarvel.report import write_report
from lmarvel.result.support.check import Cut
from tests.cli.running import run


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    return moment


def test_a_clock_runs_while_somebody_works_and_stands_still_otherwise(now: list[float]) -> None:
    clock = Clock(10.0)
    with clock.running():
        now[0] += 4
        assert clock.left() == 6
    now[0] += 1000
    assert clock.left() == 6
    assert not clock.is_late()
    with clock.running(), clock.running():
        now[0] += 5
    assert clock.left() == 1
    with clock.running():
        now[0] += 2
        assert clock.is_late()
        with pytest.raises(BudgetSpent, match="max_seconds is used up"):
            clock.check()


def test_a_clock_inside_another_one_ends_no_later(now: list[float]) -> None:
    with Clock(10.0).running() as outer:
        inner = Clock(60.0)
        assert inner.deadline == outer.deadline
        with inner.running():
            assert current() is inner
            now[0] += 8
        assert current() is outer
        assert inner.left() == 2
    assert current().left() == float("inf")


def test_no_more_columns_of_text_are_read_once_the_time_is_over(
    now: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = csv_typed._column

    def slowly(*column: object) -> Column:
        now[0] += 6
        return read(*column)

    monkeypatch.setattr(csv_typed, "_column", slowly)
    (tmp_path / "words.csv").write_text("a,b,c,d\n" + "x,y,z,1\ny,z,x,2\n" * 20)
    found = discover(tmp_path / "words.csv", LMarvel(max_seconds=10.0))
    assert found.nothing_learned
    assert now[0] == 112.0  # two of four


def test_what_an_outer_clock_holds_back_is_taken_once_where_a_search_begins(now: list[float]) -> None:
    with Clock(10.0).running() as command:
        outer = Clock()
        outer.held = lambda left: 0.25 * left
        with outer.running():
            inner = Clock(60.0)
            now[0] += 2
            with inner.running():
                inner.begin_search()
                assert (inner.left(), outer.left(), command.left()) == (6, 6, 8)
                Clock().begin_search()
                assert inner.left() == 6
    endless = Clock()
    endless.held = lambda left: 1.0
    endless.begin_search()
    assert endless.left() == float("inf")


@pytest.mark.parametrize(
    ("method", "file", "held"), [("fci", "a.json", 6.1), ("fci", "a.txt", 0.1), ("lmarvel", "a.json", 0.1)]
)
def test_a_command_holds_back_time_to_list_the_sets_that_separate_all_pairs(
    method: str, file: str, held: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(Clock, "begin_search", lambda clock: asked.append(clock._outer.held))
    monkeypatch.setattr(learning, "_PER_SET", 1.0)  # second
    assert run("learn", CARS, "--method", method, "-q", "--max-seconds", "60", "-o", tmp_path / file).code == 0
    assert asked[0](10.0) == pytest.approx(held, abs=1e-3)


def test_time_before_the_clock_was_made_counts(now: list[float]) -> None:
    assert Clock(10.0, began=now[0] - 4).left() == 6


def test_em_ends_with_the_clock() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 3))
    rows[::3, 1] = np.nan
    with Clock(1e-9).running(), pytest.raises(BudgetSpent):
        em_moments(rows, ("a", "b", "c"))


def test_a_run_whose_time_is_up_in_em_has_decided_nothing() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 3))
    rows[::3, 1] = np.nan
    found = discover(Dataset.of(rows, missing="em"), LMarvel(max_seconds=1e-9))
    assert found.nothing_learned
    assert found.budget_ended == "max_seconds is used up"


def test_looks_that_take_too_long_are_broken_off_and_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    as_ci_test = registry.as_ci_test

    def slow(*arguments: object, measured: bool = False) -> object:
        if measured:
            raise BudgetSpent("max_seconds is used up")
        return as_ci_test(*arguments)

    monkeypatch.setattr(registry, "as_ci_test", slow)
    found = Lift(max_seconds=60.0).fit(CARS).result_
    assert found.settings["test"] == "fisher-z"
    assert "time ran out before it was known" in found.settings["test_chosen"]
    assert found.pag.n_edges


def test_what_is_not_examined_for_time_is_told_in_the_result_and_on_the_page(tmp_path) -> None:
    clock = Clock()
    with clock.running():
        found = discover(CARS, LMarvel(), clock=clock)
    clock._left, clock.deadline = 0.0, 0.0  # the time is up when somebody looks
    assert found.check is not None
    assert found.check.cut is Cut.TIME
    assert "time ran out" in str(found.check)
    with Clock(1e-9).running():
        write_report(found, tmp_path / "page.html", data=CARS)
    page = (tmp_path / "page.html").read_text("utf-8")
    for said in (
        "Not explained here: time ran out",
        "before the effects of all pairs",
        "before 7 edges could be explained here",
        "for the result here",
    ):
        assert said in page
    write_report(found, tmp_path / "whole.html", data=CARS)
    assert "ran out (max_seconds)" not in (tmp_path / "whole.html").read_text("utf-8")
