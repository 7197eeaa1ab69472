"""Many matrices at once give what each gives alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from lmarvel import FCI, MBCS, RFCI, DataError, Dataset, Lift, LMarvel, Moments, ParameterError, learn_many
from lmarvel.estimators import PagEstimator, many
from lmarvel.estimators.discover import discover, discover_marks
from tests.engine.twins import moments, population


def matrices(k: int, p: int, n: int) -> list[Any]:
    rng = np.random.default_rng(7)
    return [moments(rng, population(rng, p, 2, 1, 2.0, False), n, exact=False).correlation() for _ in range(k)]


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(
    "settings", [{}, {"alpha": 0.05, "faithful": True}, {"max_tests": 60}, {"max_conditioning": 2}]
)
def test_each_is_as_if_learned_alone(n_jobs: int, settings: dict[str, Any]) -> None:
    given = matrices(6, 9, 300)
    found = learn_many(given, 300, n_jobs=n_jobs, **settings)
    assert len(found) == 6
    for i, matrix in enumerate(given):
        alone = LMarvel(**settings).fit(Moments(found.names, 300, np.zeros(9), matrix)).result_
        assert found.pag(i) == alone.pag
        assert found.tests[i] == alone.stats.n_tests
        assert found.undecided[i] == alone.undecided
        assert found.ended[i] == alone.budget_ended


def test_a_stack_of_matrices_is_taken_and_names_are_kept() -> None:
    found = learn_many(np.stack(matrices(2, 4, 50)), 50, names=list("ABCD"))
    assert found.names == ("A", "B", "C", "D")
    assert found.marks.shape == (2, 4, 4)
    assert not found.marks.flags.writeable


WRONG: list[tuple[Any, str]] = [
    ([], "no correlation matrix"),
    ([np.eye(3), np.eye(4)], "differ in size"),
    ([np.ones((2, 3))], "number 1 must be square"),
    ([np.eye(3), np.full((3, 3), np.nan)], "matrix 2 is not a"),
    ([np.eye(3) * 2], "matrix 1 is not a"),
    ([np.eye(3) + np.triu(np.ones((3, 3)), 1) / 2], "matrix 1 is not a"),
    ([np.eye(3), np.ones((3, 3))], "number 2: the columns 'X0' and 'X1' are copies"),
    ([["a", "b"], ["c", "d"]], "does not consist of numbers"),
    ([[[1, 10**400], [1, 1]]], "number 1 does not consist of numbers"),
    (5, "correlations must be an array of shape .* not int"),
    (None, "correlations must be .* not NoneType"),
    (np.array(5.0), "correlations must be .* not ndarray"),
]


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_what_is_no_correlation_matrix_is_refused_by_its_number(given: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        learn_many(given, 100)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(DataError, match="n must be a whole number"):
        learn_many([np.eye(3)], 3)
    with pytest.raises(ParameterError, match="n_jobs"):
        learn_many([np.eye(3)], 30, n_jobs=0)
    with pytest.raises(ParameterError, match="alpha"):
        learn_many([np.eye(3)], 30, alpha=2)
    with pytest.raises(DataError, match="names must be 3 different"):
        learn_many([np.eye(3)], 30, names=["A", "A", "B"])


@pytest.mark.parametrize("n", [2**53 + 1, 2**62 + 10, 2**70, 10**5000], ids=["2^53", "2^62", "2^70", "many digits"])
def test_more_rows_than_can_be_counted_are_refused(n: int) -> None:
    with pytest.raises(DataError, match="n, the rows behind each matrix, must be at most"):
        learn_many([np.eye(3)], n)


@pytest.mark.parametrize("n", [-(10**5000), 10.0, True, "10"], ids=["many digits", "float", "bool", "text"])
def test_a_number_of_rows_that_is_none_is_refused(n: Any) -> None:
    with pytest.raises(DataError, match="n must be a whole number of at least 4"):
        learn_many([np.eye(3)], n)


@pytest.mark.parametrize("names", [5, ["A", "B"], ["A", "B", ""], [["A"], "B", "C"]])
def test_names_that_are_none_are_refused(names: Any) -> None:
    with pytest.raises(DataError, match="names must be 3 different strings"):
        learn_many([np.eye(3)], 30, names=names)


def test_whole_numbers_of_numpy_will_do() -> None:
    found = learn_many([np.eye(3)], np.int32(30), n_jobs=np.int64(2))  # type: ignore[arg-type]
    assert len(found) == 1
    for wrong in (2.0, True, np.int64(0), -(10**5000)):
        with pytest.raises(ParameterError, match="n_jobs must be a whole number of at least 1"):
            learn_many([np.eye(3)], 30, n_jobs=wrong)  # type: ignore[arg-type]


def test_an_error_in_making_a_matrix_is_left_as_it_is() -> None:
    def broken() -> Any:
        yield np.eye(3)
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        learn_many(broken(), 30)


def test_the_matrices_of_an_iterator_are_not_held_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are taken as threads come free for them: a bootstrap of any size takes the same memory."""
    learned, drawn, waiting = many._learned, [0, 0], []

    def counted(*given: Any) -> Any:
        drawn[1] += 1
        return learned(*given)

    def tables() -> Iterator[np.ndarray]:
        for _ in range(300):
            drawn[0] += 1
            waiting.append(drawn[0] - drawn[1])
            yield np.eye(3)

    monkeypatch.setattr(many, "_learned", counted)
    assert len(learn_many(tables(), n=100, n_jobs=2)) == 300
    assert max(waiting) < 60


def test_a_wrong_matrix_of_an_iterator_ends_the_run() -> None:
    with pytest.raises(DataError, match="matrix 3"):
        learn_many(iter([np.eye(3), np.eye(3), 2 * np.eye(3)]), n=100)
    with pytest.raises(DataError, match="no correlation matrix"):
        learn_many(iter([]), n=100)


@pytest.mark.parametrize("method", [LMarvel, FCI, RFCI, MBCS])
@pytest.mark.parametrize("settings", [{}, {"max_tests": 40}, {"max_conditioning": 1}, {"max_seconds": 60.0}])
def test_marks_alone_are_those_of_the_whole_result(method: type[PagEstimator], settings: dict[str, Any]) -> None:
    for matrix in matrices(4, 9, 300):
        table = Moments(tuple("ABCDEFGHI"), 300, np.zeros(9), matrix)
        chosen = method(**settings)
        assert np.array_equal(discover_marks(table, chosen), discover(table, chosen).pag.marks)


def test_marks_alone_of_a_table_with_levels() -> None:
    rng = np.random.default_rng(8)
    group = rng.integers(0, 3, 300)
    table = Dataset.of({"g": [f"l{i}" for i in group], "x": group + rng.normal(size=300), "y": rng.normal(size=300)})
    for method in (LMarvel(), LMarvel(test="rank"), Lift()):
        assert np.array_equal(discover_marks(table, method), discover(table, method).pag.marks)
