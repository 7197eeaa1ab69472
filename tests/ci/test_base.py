"""What counts as a test, and which answers are refused."""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import (
    MAG,
    CITest,
    CITestError,
    FisherZ,
    FunctionTest,
    LMarvel,
    MSeparation,
    ParameterError,
    SepsetQuery,
    find_sepset,
)
from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.test import checked_alpha, checked_pvalue


class Says:
    """A test with one answer to everything."""

    names = ("A", "B", "C")

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def pvalue(self, x: int, y: int, given: list[int]) -> object:
        return self.answer


@pytest.mark.parametrize("answer", [float("nan"), -0.1, 1.0001, float("inf"), "dependent", None, [0.5, 0.5]])
def test_answers_that_are_no_probability_are_refused(answer: object) -> None:
    with pytest.raises(CITestError, match="for A, B given C"):
        checked_pvalue(Says(answer), 0, 1, [2])
    with pytest.raises(CITestError, match="given nothing"):
        checked_pvalue(Says(answer), 0, 1, [])


@pytest.mark.parametrize("answer", [0, 1, 0.25, np.float64(0.5), np.array(0.125), True])
def test_probabilities_of_any_numeric_type_are_accepted(answer: float) -> None:
    value = checked_pvalue(Says(answer), 0, 1, [2])
    assert type(value) is float
    assert value == answer


def test_a_bad_answer_ends_the_run_with_the_question() -> None:
    with pytest.raises(CITestError, match="answered nan for A, B given nothing"):
        LMarvel(test=Says(float("nan"))).fit()


def test_function_test_calls_with_names() -> None:
    calls = []

    def function(x: str, y: str, given: tuple[str, ...]) -> float:
        calls.append((x, y, given))
        return 0.75

    test = FunctionTest(function, ["A", "B", "C"])
    assert test.names == ("A", "B", "C")
    assert test.pvalue(2, 0, [1]) == 0.75
    assert calls == [("C", "A", ("B",))]


def test_function_test_refuses_what_cannot_be_called() -> None:
    with pytest.raises(CITestError, match="not int"):
        FunctionTest(3, ["A", "B"])


@pytest.mark.parametrize("test", [3, None, object(), ["A"]])
def test_what_is_no_test_is_refused(test: object) -> None:
    with pytest.raises(CITestError, match="function"):
        LMarvel(test=test).fit()


def test_abilities_are_declared() -> None:
    oracle = MSeparation(MAG.from_edges("A --> B"))
    assert isinstance(oracle, CITest)
    assert isinstance(Says(0.5), CITest)
    assert not isinstance(object(), CITest)
    assert IndependenceTest(oracle).tests_all_pairs
    plain = IndependenceTest(Says(0.5))
    assert (plain.tests_all_pairs, plain.searches, plain.rows, plain.largest_set) == (False, False, None, 3)
    assert (plain.summary(), plain.moments, plain.pvalue_given_rest(0, 1)) == (None, None, None)
    fisher = IndependenceTest(FisherZ(np.random.default_rng(0).normal(size=(20, 3))))
    assert (fisher.tests_all_pairs, fisher.searches, fisher.rows, fisher.largest_set) == (True, True, 20, 16)


def test_a_test_without_a_search_is_asked_each_question_once() -> None:
    asked = []

    def function(x: str, y: str, given: tuple[str, ...]) -> float:
        asked.append((x, y, given))
        return 0.25

    test = IndependenceTest(FunctionTest(function, ["A", "B", "C"]))
    assert {test.pvalue(0, 1, [2]), test.pvalue(1, 0, [2]), test.pvalue(0, 1, (2,))} == {0.25}
    assert len(asked) == 1


@pytest.mark.parametrize("order", [[2, 0, 1], [0, 1, 2]])
def test_a_reordered_test_answers_about_the_same_variables(order: list[int]) -> None:
    data = np.random.default_rng(0).normal(size=(40, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.7], [0, 0, 1]])
    for test in (FisherZ(data), FunctionTest(lambda x, y, given: len(x + y) / 10 + 0.01 * len(given), "ABC")):
        before, after = IndependenceTest(test), IndependenceTest(test).reordered(order)
        assert after.names == tuple(before.names[v] for v in order)
        assert after.pvalue(0, 1, [2]) == before.pvalue(order[0], order[1], [order[2]])


@pytest.mark.parametrize("position", [3, -1, 10**8, 2.0, "A"])
def test_positions_that_are_not_there_are_refused(position: object) -> None:
    test = FisherZ(np.random.default_rng(0).normal(size=(20, 3)))
    for x, y, given in ((0, position, []), (position, 0, []), (0, 1, [position])):
        with pytest.raises(CITestError, match="position"):
            test.pvalue(x, y, given)
    for query in (SepsetQuery(0, position, ()), SepsetQuery(0, 1, (position,)), SepsetQuery(0, 1, (), (position,))):
        with pytest.raises(CITestError, match="position"):
            find_sepset(test, query)


def test_a_variable_is_not_tested_with_itself() -> None:
    test = FisherZ(np.random.default_rng(0).normal(size=(20, 3)))
    for x, y, given in ((0, 0, []), (0, 1, [0]), (0, 1, [1])):
        with pytest.raises(CITestError, match="given themselves"):
            test.pvalue(x, y, given)


@pytest.mark.parametrize("alpha", [0, 1, -1, 2, float("nan"), "0.05", None])
def test_levels_outside_zero_and_one_are_refused(alpha: object) -> None:
    with pytest.raises(ParameterError, match="level must lie strictly between 0 and 1"):
        checked_alpha(alpha, "level")


@pytest.mark.parametrize("alpha", [0.05, np.float32(0.5), 1e-300])
def test_levels_inside_are_accepted(alpha: float) -> None:
    assert checked_alpha(alpha) == float(alpha)
