"""What counts as a test, and which answers are refused."""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import MAG, CITest, CITestError, FunctionTest, LMarvel, MSeparation, ParameterError
from lmarvel.ci.base import TestsAllPairs as AllPairs
from lmarvel.ci.base import checked_alpha, checked_pvalue


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
    with pytest.raises(CITestError, match="answered nan for A, B given C"):
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


def test_protocols() -> None:
    oracle = MSeparation(MAG.from_edges("A --> B"))
    assert isinstance(oracle, CITest)
    assert isinstance(oracle, AllPairs)
    assert isinstance(Says(0.5), CITest)
    assert not isinstance(Says(0.5), AllPairs)
    assert not isinstance(object(), CITest)


@pytest.mark.parametrize("alpha", [0, 1, -1, 2, float("nan"), "0.05", None])
def test_levels_outside_zero_and_one_are_refused(alpha: object) -> None:
    with pytest.raises(ParameterError, match="level must lie strictly between 0 and 1"):
        checked_alpha(alpha, "level")


@pytest.mark.parametrize("alpha", [0.05, np.float32(0.5), 1e-300])
def test_levels_inside_are_accepted(alpha: float) -> None:
    assert checked_alpha(alpha) == float(alpha)
