"""What auto takes for tables of numbers: as they are, as normal scores, with the shape of noise, or behind ties."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lmarvel import Dataset, Lift
from lmarvel.ci.registry import as_ci_test, chosen_for
from lmarvel.engine.run import is_built
from lmarvel.estimators.scoring import scored_table, thinning_test
from lmarvel.search.lift import lift

pytestmark = pytest.mark.skipif(not is_built(), reason="a look at a table is a search of the compiled engine")
Values = np.ndarray
Draw = Callable[[np.random.Generator, int], tuple[Values, Values, Values]]


def chain(noise: Draw) -> dict[str, Values]:
    """Return a --> b --> c along straight lines."""
    a, b, c = noise(np.random.default_rng(1), 2_000)
    return {"a": a, "b": a + b, "c": a + b + c}


def changing(rng: np.random.Generator) -> dict[str, Values]:
    """Return a --> b --> c --> d whose noise grows with the cause."""
    columns = [rng.normal(size=2_000)]
    for _ in range(3):
        cause = columns[-1] / columns[-1].std()
        columns.append(cause + rng.normal(size=2_000) * (0.5 + np.abs(cause)))
    return dict(zip("abcd", columns, strict=True))


@pytest.mark.parametrize(
    ("table", "test"),
    [
        (chain(lambda rng, n: tuple(rng.normal(size=(3, n)))), "fisher-z"),
        (chain(lambda rng, n: tuple(rng.uniform(size=(3, n)))), "fisher-z"),
        (chain(lambda rng, n: tuple(rng.standard_t(5, size=(3, n)))), "curved"),
        (chain(lambda rng, n: tuple(rng.exponential(size=(3, n)))), "skewed"),
        (chain(lambda rng, n: tuple(-rng.gamma(2, size=(3, n)))), "skewed"),
        (changing(np.random.default_rng(1)), "rank"),
        ({name: np.exp(v) for name, v in chain(lambda rng, n: tuple(rng.normal(size=(3, n)))).items()}, "rank"),
    ],
    ids=[
        "gaussian",
        "uniform",
        "heavy tails",
        "skewed noise",
        "skewed to the left",
        "unequal noise",
        "exponential scales",
    ],
)
def test_the_scale_that_fits_is_taken(table: dict[str, Values], test: str) -> None:
    assert chosen_for(Dataset.of(table), measured=True)[0] == test


def test_what_is_behind_the_ties_of_a_count_separates() -> None:
    rng = np.random.default_rng(0)
    a, u, v = rng.normal(size=(3, 10_000))
    behind = a + u
    table = {"a": a, "count": np.round(np.exp(behind / 1.4 + 1)), "c": behind + v}
    test = as_ci_test("rank", Dataset.of(table))
    assert test.pvalue(0, 2, (1,)) < 1e-6  # the count itself does not
    pag = Lift(test="rank").fit(table).pag_
    assert pag.n_edges == 2
    assert not pag.has_edge("a", "c")


def test_a_coarse_number_that_is_itself_a_cause_is_taken_as_it_is() -> None:
    rng = np.random.default_rng(0)
    a, u, v, w = rng.normal(size=(4, 10_000))
    coarse = np.round((a + u) / 1.4)
    data = Dataset.of({"a": a, "coarse": coarse, "c": coarse + v, "d": coarse + w})
    test = as_ci_test("rank", data)
    assert scored_table(test, data, 2.0) is test.moments


@pytest.mark.parametrize("seed", range(3))
def test_edges_are_thinned_in_the_scale_of_the_score(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, noise, other = rng.normal(size=(3, 1_000))
    table = {"a": np.exp(4 * a), "b": np.exp(4 * (0.15 * a + noise)), "c": np.exp(4 * other)}
    data = Dataset.of(table)
    test = as_ci_test("curved", data)
    asked = thinning_test(test, data)
    assert asked(0, 1, ()) < 0.001 < test.pvalue(0, 1, ())  # a few values far out are all that the test sees
    assert asked(0, 2, ()) > 0.001
    plain = Dataset.of({name: np.log(column) for name, column in table.items()})
    test = as_ci_test("curved", plain)
    assert thinning_test(test, plain)(0, 1, (2,)) == test.pvalue(0, 1, (2,))


# --- selection nodes that would stand for many weak causes -------------------------------------------------------


def weak_causes(seed: int, rows: int = 1000, genes: int = 30) -> np.ndarray:
    """Genes that depend on each other weakly, and four traits with ten weak causes each; nothing is selected."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(rows, genes + 4))
    for gene in range(1, genes):
        for cause in rng.choice(gene, size=min(gene, 2), replace=False):
            table[:, gene] += rng.choice([-1, 1]) * rng.uniform(0.08, 0.3) * table[:, cause]
    for trait in range(genes, genes + 4):
        causes = rng.choice(genes, 10, replace=False)
        table[:, trait] += table[:, causes] @ (rng.choice([-1, 1], 10) * rng.uniform(0.06, 0.3, 10))
        if trait > genes:
            table[:, trait] += rng.uniform(0.3, 0.8) * table[:, trait - 1]
    return table


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_many_weak_causes_are_not_taken_for_selection(seed: int) -> None:
    table = weak_causes(seed)
    tempted = lift(np.corrcoef(table.T), len(table))
    assert any(node.kind == "selection" for node in tempted.hidden)  # the score alone would take them
    found = Lift(test="fisher-z").fit(table).result_
    assert all(kind != "selection" for kind, *_ in found.hidden)
    assert found.pag.n_edges < np.count_nonzero(tempted.pag) // 2


def test_a_selected_sample_is_still_found() -> None:
    rng = np.random.default_rng(4)
    a, b, c, d = rng.normal(size=(4, 12000))
    x, y = a + b + rng.normal(size=12000), c + d + rng.normal(size=12000)
    sampled = x + y + 0.5 * rng.normal(size=12000) > 2.5
    found = Lift(test="fisher-z").fit(np.column_stack([a, b, c, d, x, y])[sampled]).result_
    assert any(kind == "selection" for kind, *_ in found.hidden)
