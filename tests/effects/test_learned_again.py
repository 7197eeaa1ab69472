"""An effect over graphs that were learned again from resamples of the rows."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lmarvel import PAG, DataError, Dataset, GraphError, LMarvel, ParameterError, effect, effect_learned_again
from lmarvel.estimators.bootstrap import bootstrap_graphs
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


def test_learning_again_with_levels_only_counts() -> None:
    rng = np.random.default_rng(4)
    group = rng.integers(0, 3, 400)
    table = {"g": [f"l{i}" for i in group], "x": group + rng.normal(size=400), "y": rng.normal(size=400)}
    told = effect_learned_again(LMarvel().fit(table).result_, "x", "y", table, 5)
    assert told.counted
    assert not told.values
    assert "median" not in str(told)
    assert told.to_dict()["quantiles"] is None


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
    with pytest.raises(GraphError, match="X9"):
        effect_learned_again(found, "X0", "X9", table, 5)


def test_on_the_command_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    a, b, e, f = rng.normal(size=(4, 500))
    data = write_csv(tmp_path / "data.csv", {"A": a, "B": b, "X": a + b + e, "Y": a + b + e + f})
    result = tmp_path / "result.json"
    assert run("learn", data, "--method", "lmarvel", "-o", result).code == 0
    asked = ("effect", result, data, "X", "Y", "--learn-again", "10", "--seed", "1")
    last = run(*asked).out.splitlines()[-1]
    assert last.startswith("Learned again from 10 resamples, each with its own graph: ")
    assert "the effect of X on Y: median " in last
    plain = json.loads(run(*asked, "--format", "json").out)["learned_again"]
    assert sum(plain["statuses"].values()) == 10
    assert set(plain["quantiles"]) == {"0.05", "0.5", "0.95"}
    done = run(*asked[:-4], "--learn-again", "0")
    assert (done.code, done.out) == (2, "")
    assert "--learn-again" in done.err
