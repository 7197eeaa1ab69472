"""Where an effect is not identified: no bound without a limit on unmeasured causes, and one that holds with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lmarvel import DAG, PAG, ParameterError, effect
from lmarvel.effects.pag_index import Prepared, prepare
from lmarvel.effects.ranges import Range, _non_descendants, effect_range
from lmarvel.graph.bitsets import members
from lmarvel.orient.equivalence import mag_to_pag
from tests.cli.running import run, write_csv


def left(covariance: np.ndarray, of: int, given: list[int]) -> float:
    across = covariance[np.ix_(given, [of])]
    solved = np.linalg.solve(covariance[np.ix_(given, given)], across) if given else across
    return float(covariance[of, of] - (across.T @ solved)[0, 0])


def explained(covariance: np.ndarray, of: int, by: list[int], given: list[int]) -> float:
    return 1 - left(covariance, of, given + by) / left(covariance, of, given)


class Model:
    """A linear model over a random DAG, some of whose variables are unmeasured."""

    def __init__(self, seed: int, p: int = 7, hidden: int = 2) -> None:
        rng = np.random.default_rng(seed)
        there = np.triu(rng.random((p, p)) < 0.4, 1)
        self.weights = np.where(there, rng.uniform(0.4, 1, (p, p)) * rng.choice([-1, 1], (p, p)), 0.0)
        self.hidden = sorted(rng.choice(p, hidden, replace=False).tolist())
        self.seen = [v for v in range(p) if v not in self.hidden]
        self.effects = np.linalg.inv(np.eye(p) - self.weights)
        self.covariance = self.effects.T @ self.effects
        dag = DAG.from_edges(*(f"V{i} --> V{j}" for i, j in np.argwhere(there)), nodes=[f"V{k}" for k in range(p)])
        self.mag = dag.project([f"V{k}" for k in self.hidden])
        self.pag = mag_to_pag(self.mag)

    def limit(self, ready: Prepared, x: int, y: int) -> float:
        """Return the larger share of x and of y that the unmeasured causes of x explain beside what is measured."""
        z = [self.seen[k] for k in members(_non_descendants(ready, self.seen.index(x), self.seen.index(y)))]
        causes = [u for u in self.hidden if self.weights[u, x]]
        if not causes:
            return 0.0
        return max(explained(self.covariance, x, causes, z), explained(self.covariance, y, causes, [x, *z]))

    def open_pairs(self) -> Iterator[tuple[int, int, float, Range]]:
        """Iterate over pairs whose effect is not identified, with the true limit and the range under it."""
        ready, mag = prepare(self.pag), Prepared(self.mag)
        for i, x in enumerate(self.seen):
            for j, y in enumerate(self.seen):
                if x != y and effect(ready, i, j).status == "not identified":
                    share = self.limit(mag, x, y) if mag.possible_ancestors(1 << j) >> i & 1 else 0.0
                    yield i, j, share, self.ranged(ready, i, j, share, 10**9, self.covariance)

    def ranged(self, ready: Prepared, i: int, j: int, share: float, rows: int, covariance: np.ndarray) -> Range:
        return effect_range(ready, i, j, covariance[np.ix_(self.seen, self.seen)], 500, min(share, 0.999), rows)


def test_the_truth_lies_within_the_bound_of_its_own_limit() -> None:
    """With exact covariances the bound holds always; half the limit is often not enough."""
    inside, halved, total = 0, 0, 0
    for seed in range(16):
        model = Model(seed)
        for i, j, share, told in model.open_pairs():
            truth = model.effects[model.seen[i], model.seen[j]]
            assert told.bound is not None
            low, high = told.bound
            assert low - 1e-6 <= truth <= high + 1e-6, (seed, i, j, share, told)
            total, inside = total + 1, inside + 1
            less = model.ranged(prepare(model.pag), i, j, share / 2, 10**9, model.covariance).bound
            assert less is not None
            halved += less[0] - 1e-6 <= truth <= less[1] + 1e-6
    assert total > 40
    assert halved < inside


def test_the_bound_holds_on_samples() -> None:
    """Of tables of 300 rows, the truth lies inside in at least 95 %."""
    inside = []
    for seed in range(16):
        model, rng = Model(seed), np.random.default_rng(seed)
        rows = rng.normal(size=(300, 7)) @ model.effects
        for i, j, share, _ in model.open_pairs():
            told = model.ranged(prepare(model.pag), i, j, share, 300, np.cov(rows.T, bias=True))
            truth = model.effects[model.seen[i], model.seen[j]]
            assert told.bound is not None
            inside.append(told.bound[0] <= truth <= told.bound[1])
    assert np.mean(inside) >= 0.95


def test_words() -> None:
    assert str(Range((), 3, 3, True)) == "Nothing bounds this effect: none of 3 explanations identifies it."
    assert str(Range((0.0,), 3, 2, True)) == (
        "Nothing bounds this effect: 2 of 3 explanations do not identify it. The other puts it at 0."
    )
    assert str(Range((), 3, 1, True)) == "Nothing bounds this effect: 1 of 3 explanations does not identify it."
    assert str(Range((0.0, 0.5), 500, 0, False)) == (
        "All of the first 500 explanations put the effect between 0 and 0.5. There are more explanations."
    )
    assert str(Range((0.0,), 3, 1, True, 0.1, (-0.2, 0.7))).endswith(
        "If unmeasured causes explain at most 10 % of what is left of the cause and of the outcome, the effect lies"
        " between -0.2 and 0.7 (95 % intervals included)."
    )


def test_asking_with_a_limit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    z, w, e, f = rng.normal(size=(4, 500))
    x = z + w + e
    table = {"Z": z, "W": w, "X": x, "Y": 0.5 * x + z + f}
    graph = PAG.from_edges("Z o-> X", "W o-> X", "X --> Y", "Z --> Y")
    bounds = [effect(graph, "Z", "Y", table, limit=limit).range.bound for limit in (0, 0.1, 0.3)]  # type: ignore[union-attr]
    assert bounds[2][0] <= bounds[0][0] < bounds[0][1] < bounds[1][1] < bounds[2][1]  # type: ignore[index]
    assert effect(graph, "Z", "Y", table).range.bound is None  # type: ignore[union-attr]
    assert "gives no bound here" in str(effect(graph, "Z", "Y", limit=0.1))
    told = effect(graph, "X", "Y", table, limit=0.1)
    low, high = told.sensitivity[0].within(0.1)
    assert f"If unmeasured causes explain at most 10 % of both, it is between {low:.3g} and {high:.3g}." in str(told)
    for wrong in (-0.1, 1, "half"):
        with pytest.raises(ParameterError, match="limit must be a share"):
            effect(graph, "Z", "Y", table, limit=wrong)  # type: ignore[arg-type]
    data = write_csv(tmp_path / "data.csv", table)
    (tmp_path / "pag.txt").write_text("\n".join(map(str, graph.edges())) + "\n")
    done = run("effect", tmp_path / "pag.txt", data, "Z", "Y", "--limit", "0.1")
    assert "If unmeasured causes explain at most 10 % of what is left" in done.out
