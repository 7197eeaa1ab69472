"""Replicates are drawn from a seed and their number alone, and counts add up."""

import joblib
import numpy as np
import pytest

from lmarvel import M3HC, DataError, Dataset, Lift, LMarvel, ParameterError
from lmarvel.ci.registry import as_ci_test
from lmarvel.datasets import CARS
from lmarvel.estimators import PagEstimator
from lmarvel.estimators import discover as discovering
from lmarvel.estimators.bootstrap import Interrupted, bootstrap, drawn_graphs, started
from lmarvel.estimators.discover import discover_marks

RNG = np.random.default_rng(3)
TABLE = {"A": RNG.normal(size=120), "B": RNG.normal(size=120)}
TABLE["C"] = TABLE["A"] + RNG.normal(size=120)


def joined(data):
    """Join what correlates; the arrowhead points from the column that varies less."""
    R = data.moments.correlation()
    near = np.abs(R) > 0.15
    np.fill_diagonal(near, False)
    spread = data.moments.covariance.diagonal()
    return np.where(near, np.where(spread[:, None] < spread, 2, 3), 0).astype(np.int8)


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("adjacent", "marks", "causes", "not_causes", "replicates", "drawn")
    )


def test_frequencies_are_those_of_tables_drawn_one_by_one():
    data = Dataset.of(TABLE)
    found = bootstrap(data, joined, 30, seed=7)
    graphs = [joined(data.resample([7, i])) for i in range(30)]
    np.testing.assert_array_equal(found.adjacent, sum(g != 0 for g in graphs))
    np.testing.assert_array_equal(found.marks[1], sum(g == 2 for g in graphs))
    assert 0 < found.edge("A", "B") < 1


@pytest.mark.parametrize("threads", [True, False])
def test_workers_do_not_change_the_counts(threads):
    data = Dataset.of(TABLE)
    one = bootstrap(data, joined, 12, seed=1)
    assert same(one, bootstrap(data, joined, 12, seed=1, n_jobs=2, threads=threads))
    assert not same(one, bootstrap(data, joined, 12, seed=2))


def test_an_interrupted_bootstrap_goes_on_where_it_stopped():
    data, calls = Dataset.of(TABLE), []

    def until(table):
        calls.append(0)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return joined(table)

    with pytest.raises(Interrupted) as stopped:
        bootstrap(data, until, 20, seed=4)
    half = stopped.value.stability
    assert half.drawn == 8
    done = []
    whole = bootstrap(data, joined, 20, seed=4, known=half, progress=lambda *step: done.append(step))
    assert same(whole, bootstrap(data, joined, 20, seed=4))
    assert done[0] == (8, 20)
    assert done[-1] == (20, 20)
    with pytest.raises(ParameterError, match="another seed"):
        bootstrap(data, joined, 20, seed=5, known=half)


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_moves_with_every_resample(workers):
    done = []
    bootstrap(Dataset.of(TABLE), joined, 12, n_jobs=workers, threads=True, progress=lambda *step: done.append(step))
    assert done == [(i, 12) for i in range(13)]


def test_a_table_that_nothing_can_be_learned_from_is_left_out_and_counted():
    rare = {"A": np.arange(8.0), "B": np.array([0, 0, 0, 0, 0, 0, 0, 1.0])}  # one row in three tables is missing
    found = bootstrap(Dataset.of(rare), joined, 60, seed=0)
    assert found.drawn == 60
    assert 20 < found.replicates < 55

    def never(table):
        raise DataError("the column 'B' is constant")

    with pytest.raises(DataError, match=r"from any of 5 resamples: the column 'B' is constant"):
        bootstrap(Dataset.of(rare), never, 5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"replicates": 0}, "bootstrap must be a whole number of at least 1, not 0"),
        ({"replicates": 2.5}, "bootstrap must be"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_settings_that_make_no_sense_are_named_before_any_work(settings, message):
    def never(table):
        raise AssertionError

    with pytest.raises(ParameterError, match=message):
        bootstrap(Dataset.of(TABLE), never, **{"replicates": 3, **settings})


@pytest.mark.parametrize("method", [Lift(), LMarvel(), M3HC()], ids=lambda method: type(method).__name__)
def test_a_replicate_builds_its_test_once(method: PagEstimator, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(discovering, "as_ci_test", lambda *given, **how: made.append(1) or as_ci_test(*given, **how))
    marks = discover_marks(Dataset.of(CARS).resample(3), method)
    assert marks.shape == (6, 6)
    assert len(made) == 1


@pytest.mark.parametrize("threads", [True, False])
def test_no_more_workers_are_started_than_there_are_resamples(threads: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    parallel = joblib.Parallel
    monkeypatch.setattr(joblib, "Parallel", lambda n_jobs, **how: asked.append(n_jobs) or parallel(1, **how))
    table = Dataset.of(np.random.default_rng(0).normal(size=(50, 2)))
    for n_jobs in (2, 100_000, -1):
        graphs = drawn_graphs(table, _nothing, 3, n_jobs=n_jobs, threads=threads)
        assert sum(found is not None for found in graphs) == 3
    assert asked == [2, 3, -1]
    assert started(10**9, 10**9) <= 4 * joblib.cpu_count()


def _nothing(data: object) -> np.ndarray:
    return np.zeros((2, 2), np.int8)
