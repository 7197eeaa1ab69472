"""An effect over graphs that were learned again from resamples of the rows."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lmarvel import (
    M3HC,
    PAG,
    Auto,
    DataError,
    Dataset,
    Discovery,
    GraphError,
    Knowledge,
    Lift,
    LMarvel,
    ParameterError,
    effect,
    effect_learned_again,
)
from lmarvel.app.tasks import ask
from lmarvel.data.resampling import Resampling
from lmarvel.effects.numbers import again as learning_again
from lmarvel.effects.numbers.again import learned_again, over_graphs, too_long
from lmarvel.effects.numbers.estimate import Estimate, Estimation
from lmarvel.effects.numbers.estimating import adjusted_estimates
from lmarvel.effects.numbers.resampled import Tally
from lmarvel.effects.numbers.table import Columns
from lmarvel.effects.pag_index import prepare
from lmarvel.effects.spread import Spread
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.bootstrap import bootstrap_graphs
from lmarvel.report.effects import effects_of
from lmarvel.result.file.reading import read_as_before
from tests.cli.running import run, write_csv


def test_the_spread_over_graphs_learned_again_holds_the_chance_of_another_graph() -> None:
    rng = np.random.default_rng(3)
    a, b, e, f = rng.normal(size=(4, 600))
    table = {"A": a, "B": b, "X": a + b + e}
    table["Y"] = 0.25 * table["X"] + 0.2 * a + f
    found = LMarvel().fit(table).result_
    one = effect_learned_again(found, "X", "Y", table, 60, seed=2)
    assert sum(one.statuses.values()) == 60
    assert len(one.statuses) > 1  # whether A acts on Y by itself is at the border, and graphs differ
    assert one == effect_learned_again(found, "X", "Y", table, 60, seed=2, n_jobs=2)
    by_hand = [g for g, _ in bootstrap_graphs(Dataset.of(table), LMarvel(), 60, seed=2)]
    counts = Counter(status_in(g) for g in by_hand)
    assert dict(counts) == one.statuses
    shares = LMarvel().fit(table, bootstrap=60, seed=2).result_.stability
    assert shares.edge("A", "Y") == np.mean([g.has_edge("A", "Y") for g in by_hand])  # the same draws


def status_in(graph: PAG) -> str:
    try:
        return effect(graph, "X", "Y").status
    except GraphError:
        return "illegal"


def test_the_same_estimator_and_units_as_the_number_above_it() -> None:
    """A cause coded 1 and 11, or as text, is compared category by category in resamples, too."""
    rng = np.random.default_rng(4)
    a, b, e, f = rng.normal(size=(4, 1500))
    on = 2 * a + 2 * b + e > 0
    y = 1.5 * on + f
    for cause in (np.where(on, 11, 1), ["yes" if one else "no" for one in on]):
        table = {"A": a, "B": b, "X": cause, "Y": y}
        found = Lift().fit(table).result_
        told = effect(found, "X", "Y", table, again=25)
        (estimate,) = told.estimates
        assert told.again is not None
        assert list(told.again.contrasts) == [estimate.contrast]
        assert told.again.quantile(0.5) == pytest.approx(1.5, abs=0.15)  # per category
        over = told.again.interval()
        assert over is not None
        assert (estimate.low, estimate.high) == (min(estimate.in_graph[0], over[0]), max(estimate.in_graph[1], over[1]))
        assert estimate.fixed == pytest.approx((estimate.value - 0.13, estimate.value + 0.13), abs=0.05)
        assert "taken as given, it is" in str(told)
        assert "ignores uncertainty" not in told.rests_on
        assert json.loads(json.dumps(told.to_dict()))["learned_again"]["contrasts"]


def test_each_resample_gives_what_the_table_of_its_rows_gives() -> None:
    rng = np.random.default_rng(7)
    group, a, e, f = rng.integers(0, 3, 600), *rng.normal(size=(3, 600))
    b = 1.0 * (group == 1) - (group == 2)
    x = a + b + e
    names = {"g": [f"c{k}" for k in group], "A": a, "X": x, "Y": 0.5 * x + b + f, "ill": (x + f > 0).astype(int)}
    table = Dataset.of(names)
    graph = PAG.from_edges("g o-> X", "A o-> X", "X --> Y", "g --> Y", "X --> ill", nodes=list(names))
    ready, how = prepare(graph), Estimation(intervals=False)
    for y, adjusted in (("Y", ("g",)), ("ill", ())):
        tally = Tally(table, "X", y, seed=3)
        for number in range(4):
            tally.add(ready, number)
        by_hand = [
            adjusted_estimates(Columns(table.resample([3, number])), "X", y, adjusted, how)[0] for number in range(4)
        ]
        assert tally.values == {by_hand[0].contrast: tuple(sorted(one.value for one in by_hand))}
    tally = Tally(table, "A", "Y", seed=3)
    tally.add(prepare(PAG.from_edges("A o-> X", "g o-> X", "X --> Y", nodes=list(names))), 0)
    assert tally.statuses == {"not identified": 1}
    assert tally.values == {}


def test_numbers_take_the_short_way_to_the_same_values() -> None:
    rng = np.random.default_rng(8)
    a, b, e, f = rng.normal(size=(4, 400))
    x = a + b + e
    table = Dataset.of({"A": a, "B": b > 0, "X": x, "Y": 0.3 * x + a + f})
    ready = prepare(PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y"))
    tally = Tally(table, "X", "Y", how=Estimation(values=(1, 3)), source=Resampling(table), seed=5)
    for number in range(3):
        tally.add(ready, number)
    columns = [Columns(table.resample([5, number])) for number in range(3)]
    by_hand = sorted(adjusted_estimates(one, "X", "Y", ["A"], Estimation(values=(1, 3)))[0].value for one in columns)
    assert tally.values["X 3 in place of 1"] == pytest.approx(by_hand)


def test_long_learning_is_not_begun_without_being_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    a, b, e, f = rng.normal(size=(4, 300))
    table = {"A": a, "B": b, "X": a + b + e, "Y": a + b + e + f}
    found = LMarvel().fit(table).result_
    told = learned_again(found, [("X", "Y")], table, 200, within=0.0)
    assert isinstance(told, float)
    assert told > 0
    alone = effect_learned_again(found, "A", "Y", table, 100)
    monkeypatch.setattr(learning_again, "process_time", iter((0.0, 0.2)).__next__)  # 3 resamples in 0.2 s
    fewer = learned_again(found, [("X", "Y"), ("A", "Y")], table, 200, within=8)
    assert isinstance(fewer, list)
    assert [sum(one.statuses.values()) for one in fewer] == [100, 100]
    assert fewer[1] == alone  # whichever others are asked for


def test_the_time_of_other_processes_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    a, b, e, f = rng.normal(size=(4, 300))
    table = {"A": a, "B": b, "X": a + b + e, "Y": a + b + e + f}
    found = LMarvel().fit(table).result_
    monkeypatch.setattr(learning_again, "monotonic", iter((0.0, 6.0)).__next__)  # 3 resamples in 6 s
    assert learned_again(found, [("X", "Y")], table, 200, n_jobs=2, within=10.0) == 400.0


@pytest.mark.parametrize("phase", ["boundary", "search", "skeleton", "orientation"])
def test_where_any_phase_of_the_search_took_long_no_resample_is_begun(phase: str) -> None:
    rng = np.random.default_rng(9)
    a, b, e, f = rng.normal(size=(4, 300))
    table = {"A": a, "B": b, "X": a + b + e, "Y": a + b + e + f}
    found = LMarvel().fit(table).result_
    slow = replace(found, stats=replace(found.stats, seconds={phase: 2.0}))
    assert learned_again(slow, [("X", "Y")], table, 200, within=10.0) == 400.0


def test_the_reason_is_given_where_nothing_is_learned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    a, b, e, f = rng.normal(size=(4, 300))
    table = {"A": a, "B": b, "X": a + b + e, "Y": a + b + e + f}
    found = LMarvel().fit(table).result_
    told = effect(found, "X", "Y", table, again="auto")
    assert told.again is not None
    assert told == over_graphs(found, effect(found, "X", "Y", table), table)
    monkeypatch.setattr(learning_again, "WITHIN", 0.0)
    told = effect(found, "X", "Y", table, again="auto")
    assert told.again is None
    assert "The interval ignores uncertainty about the graph, because learning again from 200 res" in told.rests_on
    assert told.rests_on.endswith(" s (--learn-again 200, or again=200, does so).")
    other = over_graphs(found, effect(found, "X", "Y", table), {name: values[:200] for name, values in table.items()})
    assert "because the table is not the one that the result was learned from" in other.rests_on
    assert too_long(0.2).startswith("learning again from 200 resamples would take about 1 s")


def test_python_the_command_line_the_app_and_the_report_have_the_same_interval(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    a, b, e, f = rng.normal(size=(4, 400))
    x = a + b + e
    data = write_csv(tmp_path / "data.csv", {"A": a, "B": b, "X": x, "Y": 0.4 * x + 0.3 * a + f})
    result = tmp_path / "result.json"
    assert run("learn", data, "--method", "lmarvel", "-o", result, "--report", tmp_path / "page.html").code == 0
    found = Discovery.load(result)
    told = effect(found, "X", "Y", data, again="auto")
    (number,) = told.estimates
    assert number.fixed is not None
    shown = json.loads(run("effect", result, data, "X", "Y", "--format", "json").out)["estimates"]
    assert [(one["value"], one["low"], one["high"]) for one in shown] == [(number.value, number.low, number.high)]
    asked = ask(str(result), str(data), "X", "Y", lambda *_: None)
    page = effects_of(found, read_as_before(data, found.data))
    in_report = page["pairs"][f"{found.pag.index('X')},{found.pag.index('Y')}"]
    assert asked["numbers"][0][:2] == in_report["numbers"][0][:2] == [number.contrast, str(number)]
    assert asked["again"] == in_report["again"]
    assert asked["again"] in str(told)
    assert (
        "Intervals are over graphs learned again from 200 resamples, as those of 'lmarvel effect' are." in page["notes"]
    )


def test_a_report_with_time_for_fewer_resamples_does_not_say_that_others_take_as_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    a, b, e, f = rng.normal(size=(4, 400))
    table = Dataset.of({"A": a, "B": b, "X": a + b + e, "Y": a + b + e + f})
    found = LMarvel().fit(table).result_
    monkeypatch.setattr(learning_again, "process_time", iter((0.0, 0.25)).__next__)  # 3 resamples in 0.25 s
    assert "Intervals are over graphs learned again from 100 resamples." in effects_of(found, table)["notes"]


def test_tables_of_categories_are_learned_again() -> None:
    """Where counts are scored, no boundaries are looked for, and a result says so; its resamples look for none, too."""
    rng = np.random.default_rng(2)
    a, b = rng.random((2, 800)) < 0.5
    x = rng.random(800) < 0.15 + 0.35 * a + 0.35 * b
    y = rng.random(800) < 0.2 + 0.6 * x
    table = {name: np.where(values, "yes", "no") for name, values in {"A": a, "B": b, "X": x, "Y": y}.items()}
    found = Auto().fit(table).result_
    assert found.settings["boundary"] == "none"
    one = effect_learned_again(found, "X", "Y", table, 5)
    assert sum(one.statuses.values()) == 5


def test_learning_again_needs_the_table_and_the_method_of_the_result() -> None:
    rng = np.random.default_rng(5)
    table, other = rng.normal(size=(2, 200, 3))
    found = LMarvel().fit(table).result_
    with pytest.raises(DataError, match="not the one that the result was learned from"):
        effect_learned_again(found, "X0", "X1", other, 5)
    own = LMarvel(test=lambda x, y, given: 0.5).fit(names=["X0", "X1", "X2"]).result_
    with pytest.raises(ParameterError, match="a test of your own"):
        effect_learned_again(own, "X0", "X1", table, 5)
    with pytest.raises(ParameterError, match="bootstrap must be a whole number"):
        effect_learned_again(found, "X0", "X1", table, 0)
    with pytest.raises(ParameterError, match="again needs a result and its table"):
        effect(found.pag, "X0", "X1", table, again=5)
    with pytest.raises(GraphError, match="X9"):
        effect_learned_again(found, "X0", "X9", table, 5)


def test_on_the_command_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    a, b, e, f = rng.normal(size=(4, 500))
    data = write_csv(tmp_path / "data.csv", {"A": a, "B": b, "X": a + b + e, "Y": a + b + e + f})
    result = tmp_path / "result.json"
    assert run("learn", data, "--method", "lmarvel", "-o", result).code == 0
    asked = ("effect", result, data, "X", "Y", "--learn-again", "10", "--seed", "1")
    lines = run(*asked).out.splitlines()
    (line,) = (line for line in lines if line.startswith("Learned again from 10 resamples, each with its own graph: "))
    assert "the effect of X on Y: median " in line  # too few for an interval
    assert lines[-1].endswith("The interval ignores uncertainty about the graph.")
    plain = json.loads(run(*asked, "--format", "json").out)["learned_again"]
    assert sum(plain["statuses"].values()) == 10
    assert set(plain["quantiles"]) == {"0.025", "0.5", "0.975"}
    usual = run(*asked[:-4])
    assert "Learned again from 200 resamples, each with its own graph: " in usual.out
    assert "of 200 graphs identify the effect" in usual.out
    assert "With the learned graph taken as given, it is " in usual.out
    assert "earn" not in run(*asked[:-4], "--learn-again", "0").out.replace("learned graph", "")
    done = run(*asked[:-4], "--learn-again", "-1")
    assert (done.code, done.out) == (2, "")
    assert "--learn-again" in done.err


@pytest.mark.parametrize("method", [Lift, LMarvel, M3HC])
@pytest.mark.parametrize("stated", [Knowledge(tiers=[["A", "B"], ["X"], ["Y"]]), Knowledge(latents=False)])
def test_resamples_learn_with_what_was_stated(method: type[PagEstimator], stated: Knowledge) -> None:
    """Each resample says what a result of its rows says that was learned with the same statements."""
    rng = np.random.default_rng(1)
    a, b, e, f = rng.normal(size=(4, 300))
    x = 0.5 * a + 0.5 * b + e
    table = Dataset.of({"A": a, "B": b, "X": x, "Y": 0.5 * x + 0.4 * a + f})
    found = method(knowledge=stated).fit(table).result_
    by_hand: Counter[str] = Counter()
    for number in range(12):
        again = method(knowledge=stated).fit(table.resample([3, number])).result_
        try:
            by_hand[again.effect("X", "Y").status] += 1
        except GraphError:
            by_hand["illegal"] += 1
    assert effect_learned_again(found, "X", "Y", table, 12, seed=3).statuses == dict(by_hand)
    shares = method(knowledge=stated).fit(table, bootstrap=12, seed=3).result_.stability
    assert shares is not None  # so do the resamples behind grades
    assert shares.edge("X", "Y") > 0.5
    assert not stated.tiers or shares.causes_share("Y", "X") == 0


def test_graphs_that_do_not_identify_the_effect_are_counted_and_are_a_caution() -> None:
    told = effect(PAG.from_edges("A o-> X", "B o-> X", "X --> Y"), "X", "Y")
    values = tuple(np.linspace(0.4, 0.6, 97))
    one = Estimate("one unit more of X", 0.5, 0.05, 0.38, 0.55, "least squares, HC3", ())
    told = replace(told, estimates=(one,), rests_on="This rests on the graph.")
    few = told.over(Spread("X", "Y", {"adjustment": 97, "not identified": 2}, {one.contrast: values}))
    assert (few.estimates[0].low, few.estimates[0].high) == (0.38, pytest.approx(0.595))
    assert few.cautions == ()
    many = told.over(Spread("X", "Y", {"adjustment": 97, "not identified": 3}, {one.contrast: values}))
    assert many.estimates == few.estimates  # in these graphs nothing bounds it, so they have no value
    assert many.cautions == ("of 100 graphs learned again from resamples, 3 do not identify the effect",)
    assert "In 3 graphs nothing bounds the effect, which the interval leaves out." in str(many)
    maybe = told.over(Spread("X", "Y", {"adjustment": 97, "not identified": 3}, {one.contrast: values}, maybe_none=3))
    assert (maybe.estimates[0].low, maybe.estimates[0].high) == pytest.approx((0.19, 0.595), abs=1e-3)
    assert "Of these, 3 leave open whether there is an effect, and count as 0." in str(maybe)
    hardly = told.over(Spread("X", "Y", {"adjustment": 1, "not identified": 59}, {one.contrast: (0.7,)}))
    assert (hardly.estimates[0].low, hardly.estimates[0].high) == (0.38, 0.7)
    assert told.over(Spread("X", "Y", {"not identified": 60}, {})).estimates == (one,)
    none = told.over(Spread("X", "Y", {"adjustment": 50, "none": 3}, {one.contrast: (0.0, 0.0, 0.0, *values[:50])}))
    assert none.cautions == ("of 53 graphs learned again from resamples, 3 find no effect",)
    assert none.estimates[0].low == 0
