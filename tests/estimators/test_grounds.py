"""What grades the marks, unasked: curves that are there are found, resamples are made in time, and at a look."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import DAG, FCI, Dataset, Discovery, Lift, LMarvel, MSeparation
from lmarvel.budget.clock import Clock
from lmarvel.cli.text import as_text
from lmarvel.datasets import CARS
from lmarvel.estimators import grounds
from lmarvel.estimators.grounds import RESAMPLES, bends_of, later_grounds, resampled
from lmarvel.result.display import unsampled
from lmarvel.result.statistics import Statistics
from lmarvel.result.support.frequencies import Stability
from lmarvel.result.support.grounds import Grounds
from lmarvel.result.trace import BudgetEnded
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

Table = dict[str, Any]


def bent(curve: Callable[[np.ndarray], np.ndarray], rows: int = 500, seed: int = 0) -> Table:
    """Return B as a curve of A with noise, and C along a straight line."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=rows)
    return {"A": a, "B": curve(a) + 0.5 * rng.normal(size=rows), "C": a + rng.normal(size=rows)}


def linear(seed: int, rows: int = 300) -> Table:
    study = hide(erdos_renyi(6, 0.4, seed=seed), 1, 0, seed=seed)
    data = LinearSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed)
    return dict(zip(study.observed, data.T, strict=True))


def bends(table: Table, method: Any = None, **said: Any) -> list[tuple[str, str]]:
    """Return the pairs that bend, the strongest first."""
    data = Dataset.of(table, **said)
    return [(bend.x, bend.y) for bend in bends_of((method or LMarvel()).fit(data).result_, data)]


# --- curves -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "curve",
    [
        pytest.param(lambda a: a + a**2, id="line and square"),
        pytest.param(lambda a: a**2, id="square"),
        pytest.param(lambda a: 3 * np.tanh(2 * a), id="tanh"),
        pytest.param(np.exp, id="exponential"),
    ],
)
@pytest.mark.parametrize("method", [LMarvel, Lift])
def test_curves_are_found_and_straight_lines_beside_them_are_not(curve: Any, method: Any) -> None:
    found = bends(bent(curve), method(test="fisher-z"))
    assert found[0] == ("A", "B")
    assert ("A", "C") not in found


def test_a_bend_has_the_sign_of_its_curve_and_a_p_value() -> None:
    for sign in (1, -1):
        data = Dataset.of(bent(lambda a, sign=sign: a + sign * a**2))
        first = bends_of(LMarvel().fit(data).result_, data)[0]
        assert 0.5 < sign * first.correlation < 1
        assert first.pvalue < 1e-4


def test_a_curve_that_changes_nothing_is_not_noticed_however_many_rows_there_are() -> None:
    assert bends(bent(lambda a: a + 0.01 * a**2, rows=50_000)) == []
    assert bends(bent(lambda a: a + 0.2 * a**2, rows=50_000))[0] == ("A", "B")


def test_on_straight_lines_with_normal_noise_bends_are_as_rare_as_the_level_says() -> None:
    with_bends = sum(bool(bends(linear(seed))) for seed in range(200))
    assert with_bends <= 10  # of 200, at .05


def test_values_that_lie_far_out_are_noted_with_the_bend() -> None:
    for curve, far_out in ((lambda a: a + a**2, False), (lambda a: np.exp(2 * a), True)):
        data = Dataset.of(bent(curve, rows=5000))
        first = bends_of(LMarvel().fit(data).result_, data)[0]
        assert (first.x, first.y, first.outlying) == ("A", "B", far_out)


def test_of_many_pairs_a_few_real_bends_are_found_and_hardly_another() -> None:
    rng = np.random.default_rng(0)
    table = {f"V{v}": column for v, column in enumerate(rng.normal(size=(30, 400)))}
    for v in range(5):
        table[f"B{v}"] = table[f"V{v}"] ** 2 + table[f"V{v}"] + rng.normal(size=400)
    found = bends(table)
    assert {(f"V{v}", f"B{v}") for v in range(5)} <= set(found)
    assert sum(frozenset(name[1:] for name in pair) not in ({str(v)} for v in range(5)) for pair in found) <= 1


def test_unequal_variances_are_not_taken_for_curves() -> None:
    found = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        a = rng.normal(size=500)
        found += bool(bends({"A": a, "B": a + (0.3 + np.abs(a)) * rng.normal(size=500)}))
    assert found <= 5


@pytest.mark.parametrize("test", ["curved", "rank"])
def test_a_test_that_sees_curves_needs_no_look_for_them(test: str) -> None:
    table = bent(lambda a: a + a**2)
    assert bends(table, LMarvel(test="fisher-z"))
    assert bends(table, LMarvel(test=test)) == []
    assert LMarvel(test=test).fit(table).result_.verdict.curved == ()


def test_categories_are_left_out_and_gaps_end_the_look() -> None:
    table = bent(lambda a: a + a**2)
    coded = {**table, "A": np.where(table["A"] > 0, "high", "low"), "D": table["A"]}
    assert bends(coded, Lift()) == []  # whose score follows such curves
    slight = {**coded, "B": bent(lambda a: a + 0.2 * a**2)["B"]}
    assert bends(slight, Lift())[0] == ("D", "B")  # whose score is of straight lines here
    assert not any("A" in pair for pair in bends(slight, Lift()))
    assert bends(coded, LMarvel(test="mixed")) == []  # which sees bends
    gaps = {**table, "C": [None, *table["C"][1:]]}
    assert bends(gaps, missing="em") == []
    assert bends(gaps, missing="drop")[0] == ("A", "B")


def test_few_rows_and_many_neighbours_give_no_error() -> None:
    rng = np.random.default_rng(0)
    u = rng.normal(size=12)
    data = Dataset.of({f"V{v}": u + 0.1 * rng.normal(size=12) for v in range(8)})
    assert all(0 <= bend.pvalue <= 1 for bend in bends_of(FCI(boundary="none").fit(data).result_, data))


# --- resamples --------------------------------------------------------------------------------------------


def test_the_resamples_are_those_of_a_bootstrap_with_seed_0() -> None:
    for method in (LMarvel(), Lift()):
        asked = method.fit(CARS, bootstrap=RESAMPLES, seed=0).result_.stability
        assert method.fit(CARS).result_.grounds.resamples == asked


def test_the_same_table_gives_the_same_grounds_in_any_order_of_its_columns() -> None:
    table = bent(lambda a: a + a**2)
    turned = dict(reversed(table.items()))
    one, same, other = (Lift().fit(data).result_ for data in (table, dict(table), turned))
    assert one.grounds == same.grounds
    assert [(b.x, b.y) for b in other.grounds.bends] == [(b.x, b.y) for b in one.grounds.bends]
    at = [other.pag.index(name) for name in one.pag.names]
    assert one.grounds.resamples is not None
    assert other.grounds.resamples is not None
    turned_back = other.grounds.resamples.counts[:, at][:, :, at]
    assert np.array_equal(turned_back, one.grounds.resamples.counts)
    assert np.array_equal(other.grades.marks[np.ix_(at, at)], one.grades.marks)


def test_a_time_limit_gives_no_resamples() -> None:
    data = Dataset.of(CARS)
    assert isinstance(resampled(data, LMarvel(), 60.0), Stability)
    assert resampled(data, LMarvel(), 1e-9) == "time"


def test_resamples_that_would_take_too_long_are_given_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, calls = [0.0], counted(monkeypatch, "replicate")

    def thread_time() -> float:
        clock[0] += 0.25  # seconds per resample, where 40 may take 2
        return clock[0]

    monkeypatch.setattr(time, "thread_time", thread_time)
    assert resampled(Dataset.of(CARS), LMarvel(), 2.0) == "time"
    assert len(calls) == 1


def test_of_slower_methods_fewer_resamples_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, calls = [0.0], counted(monkeypatch, "replicate")

    def thread_time() -> float:
        clock[0] += 0.15  # seconds per resample: 40 would take 6, and 20 take 3
        return clock[0]

    monkeypatch.setattr(time, "thread_time", thread_time)
    some = resampled(Dataset.of(CARS), LMarvel(), 2.0, 4.0)
    assert isinstance(some, Stability)
    assert some.replicates == len(calls) == grounds.FEWER


def test_resamples_that_nothing_is_learned_from_are_not_said_to_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounds, "replicate", lambda *_: "column 'A' is constant")
    assert resampled(Dataset.of(CARS), LMarvel(), 60.0) == "unusable"
    found = LMarvel().fit(CARS).result_
    assert found.grounds.skipped == "unusable"
    assert Discovery.from_dict(found.to_dict()).grounds == found.grounds
    assert unsampled(found) == (
        "no resample could be used, because no graph could be learned from any of them, so marks are not graded"
    )


def test_a_few_resamples_that_nothing_is_learned_from_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["column 'A' is constant"] * 10 + [np.zeros((6, 6), dtype=np.int8)] * 30)
    monkeypatch.setattr(grounds, "replicate", lambda *_: next(answers))
    some = resampled(Dataset.of(CARS), LMarvel(), 60.0)
    assert isinstance(some, Stability)
    assert (some.replicates, some.drawn) == (30, 40)


# --- when they are made -----------------------------------------------------------------------------------


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """Return a list that grows with every call of a function of the module."""
    calls: list[Any] = []
    original = getattr(grounds, name)

    def call(*args: Any, **options: Any) -> Any:
        calls.append(args)
        return original(*args, **options)

    monkeypatch.setattr(grounds, name, call)
    return calls


def test_nothing_is_made_until_somebody_looks_and_then_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, looked = counted(monkeypatch, "replicate"), counted(monkeypatch, "bends_of")
    model = LMarvel().fit(CARS)
    found = model.result_
    assert model.pag_.n_edges == len(list(found.pag.edges()))
    assert found.sepsets
    assert found.check
    assert found.shown("all") == found.pag
    assert (len(drawn), len(looked)) == (0, 0)
    assert found.grade("Weight", "MilesPerGallon") == "open"
    assert (len(drawn), len(looked)) == (RESAMPLES, 1)
    found.verdict, as_text(found), found.to_dict(), found.shown(), found._repr_html_()
    replace(found, stats=Statistics({}, {})).grades  # noqa: B018
    assert (len(drawn), len(looked)) == (RESAMPLES, 1)


def test_no_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "cars.csv"
    path.write_bytes(Path(CARS).read_bytes())
    found = LMarvel().fit(path).result_
    path.unlink()
    assert found.grades.basis == "resamples"
    assert found.grounds.bends


def test_a_bootstrap_that_was_asked_for_leaves_no_resamples_to_make(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = counted(monkeypatch, "replicate")
    found = LMarvel().fit(CARS, bootstrap=5).result_
    assert found.grades.basis == "resamples"
    assert found.grounds.resamples is None
    assert found.grounds.bends
    assert drawn == []


def test_a_method_that_takes_long_on_one_resample_is_not_run_on_forty(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, table = counted(monkeypatch, "replicate"), Dataset.of(CARS)
    limits = []

    def late(data: object, method: Lift) -> Discovery:
        limits.append(method.max_seconds)
        return replace(Lift().fit(table).result_, trace=(BudgetEnded("max_seconds is used up"),))

    found = Lift(test="fisher-z").fit(table).result_
    monkeypatch.setattr(grounds, "discover", late)
    assert found.grounds.resamples is None
    assert found.grounds.bends
    assert limits == [grounds.SLOW_SECONDS / 4] * 2
    assert drawn == []
    assert found.grounds.skipped == "time"
    hurried = later_grounds(found, table, Lift(test="fisher-z"), Clock(1.0))  # in which others might not end, either
    assert hurried.made.skipped == "budget"


def test_loading_at_first_use_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run of a method may load modules for longer than it may take; the second one may not."""
    runs, plain = [], grounds.discover

    def slow_at_first(data: Any, method: Any) -> Discovery:
        runs.append(method.max_seconds)
        found = plain(data, type(method)(**(method.get_params() | {"max_seconds": None})))
        return replace(found, trace=(BudgetEnded("max_seconds is used up"),)) if len(runs) == 1 else found

    found = LMarvel().fit(CARS).result_
    monkeypatch.setattr(grounds, "discover", slow_at_first)
    assert found.grounds.resamples is not None
    assert len(runs) == 2


@pytest.mark.parametrize(("took", "tries"), [(0.5, 2), (1.5, 1), (4.5, 0)])
def test_a_search_that_took_long_is_tried_less_often(monkeypatch: pytest.MonkeyPatch, took: float, tries: int) -> None:
    table, runs = Dataset.of(CARS), []
    found = LMarvel().fit(table).result_
    spent = replace(found, stats=Statistics({}, {"data": 9.0, "score": 9.0, "skeleton": took}))

    def late(data: object, method: LMarvel) -> Discovery:
        runs.append(method.max_seconds)
        return replace(found, trace=(BudgetEnded("max_seconds is used up"),))

    monkeypatch.setattr(grounds, "discover", late)
    assert later_grounds(spent, table, LMarvel(), Clock()).made.skipped == "time"
    assert runs == [grounds.SLOW_SECONDS / 4] * tries


def test_a_budget_of_seconds_holds_for_the_grounds_too(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, table = counted(monkeypatch, "replicate"), Dataset.of(CARS)
    method = LMarvel(max_seconds=60.0)
    found = method.fit(table).result_
    spent = later_grounds(found, table, method, Clock(60.0, time.monotonic() - 61))
    assert spent.made == Grounds(skipped="budget")
    assert drawn == []
    assert found.grounds.resamples == LMarvel().fit(CARS).result_.grounds.resamples


@pytest.mark.parametrize(
    "learn",
    [
        pytest.param(lambda: LMarvel(test=MSeparation(DAG.from_edges("A --> B"))).fit(), id="oracle"),
        pytest.param(lambda: LMarvel(test=lambda x, y, z: 0.0).fit(names=["A", "B"]), id="test of the user's own"),
        pytest.param(lambda: LMarvel(max_tests=3).fit(CARS), id="undecided"),
        pytest.param(lambda: LMarvel().fit(np.random.default_rng(3).normal(size=(200, 2))), id="no edge"),
    ],
)
def test_where_there_is_nothing_to_grade_there_are_no_grounds(learn: Callable[[], Any]) -> None:
    found: Discovery = learn().result_
    assert found.later_grounds.is_made  # so that no table is kept
    assert found.grounds == Grounds()
    assert found.resamples is None


def test_a_large_table_is_not_kept_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not LMarvel().fit(CARS).result_.later_grounds.is_made
    monkeypatch.setattr(grounds, "SMALL", 392 * 6 - 1)
    large = LMarvel().fit(CARS).result_
    assert large.later_grounds.is_made
    assert large.grounds == Grounds(skipped="size")


def test_of_very_many_variables_no_resample_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """To count the paths of one graph of 3,000 variables took three seconds, beyond any limit."""
    monkeypatch.setattr(grounds, "replicate", lambda *_: pytest.fail("a resample was begun"))
    table = Dataset.of(np.random.default_rng(0).normal(size=(30, 3000)))
    assert resampled(table, LMarvel(), 2.0, 4.0) == "time"
