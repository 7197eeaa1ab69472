"""Instruments: what is given is right in every model in which the statement is true, and intervals hold."""

from __future__ import annotations

from itertools import combinations, permutations
from math import inf

import numpy as np
import pytest

from lmarvel import ADMG, DAG, PAG, Dataset, GraphError, Lift, Mark, ParameterError, effect, moments_of, settle
from lmarvel.effects.knowing.instruments import instrument_set
from lmarvel.effects.numbers.table import Columns
from lmarvel.effects.numbers.two_stage import by_instrument
from lmarvel.effects.pag_index import Prepared, Stated
from lmarvel.graph.bitsets import bits, members
from lmarvel.graph.projection import without_latent
from lmarvel.graph.separation import m_separated
from tests.effects.models import Model, model_of

OPEN = PAG.from_edges("nodes: W X Y", "W o-o X", "X o-o Y", "W o-o Y")


def drawn(rng: np.random.Generator) -> tuple[DAG, list[str], Model]:
    n = int(rng.integers(5, 9))
    names = [f"V{i}" for i in rng.permutation(n)]
    pairs = [pair for pair in combinations(names, 2) if rng.random() < 0.4]
    dag = DAG.from_edges(*(f"{a} --> {b}" for a, b in pairs), nodes=names)
    latent = names[: int(rng.integers(1, 3))]
    return dag, latent, model_of(dag, latent, rng)


def below(dag: DAG, v: int) -> set[int]:
    return {dag.index(name) for name in dag.descendants(v)} | {v}


def without_outgoing(dag: DAG, x: int) -> DAG:
    kept = [e for e in dag.edges() if (e.a if e.at_a == Mark.TAIL else e.b) != dag.names[x]]
    return DAG.from_edges(*kept, nodes=dag.names)


def true_instruments(dag: DAG, seen: list[int]) -> list[tuple[int, int, int]]:
    """Return (W, X, Y) such that W is an instrument given some observed set, by definition, on the DAG."""
    found = []
    for x in range(len(seen)):
        cut, affected = without_outgoing(dag, seen[x]), below(dag, seen[x])
        for w, y in permutations([v for v in range(len(seen)) if v != x], 2):
            others = [v for v in seen if v not in affected and v not in (seen[w], seen[y])]
            sets = (bits(z) for k in range(len(others) + 1) for z in combinations(others, k))
            if seen[w] not in affected and any(m_separated(cut, 1 << seen[w], 1 << seen[y], z) for z in sets):
                found.append((w, x, y))
    return found


def ratio(model: Model, w: int, x: int, y: int, z: list[int]) -> float:
    """Cov(w, y | z) / Cov(w, x | z), from the coefficients of w."""
    at = [w, *z]
    both = np.linalg.solve(model.covariance[np.ix_(at, at)], model.covariance[np.ix_(at, [y, x])])[0]
    return float(both[0] / both[1])


@pytest.mark.parametrize("own", [False, True], ids=["class", "own graph"])
def test_a_true_instrument_gives_the_effect(own: bool) -> None:
    rng, found, hidden = np.random.default_rng(5), 0, 0
    for _ in range(150):
        dag, latent, model = drawn(rng)
        ready = Stated(ADMG(*without_latent(dag, latent))) if own else Prepared(model.pag)
        at = {name: model.pag.index(name) for name in model.pag.names}
        for w, x, y in true_instruments(dag, model.observed):
            i, j, k = (ready.graph.index(model.pag.names[v]) for v in (w, x, y))
            z = instrument_set(ready, i, j, k)
            if z is None:
                continue
            given = [at[name] for name in ready.named(z)]
            assert ratio(model, w, x, y, given) == pytest.approx(model.effect(x, y), abs=1e-6)
            found += 1
            hidden += abs(ratio(model, x, x, y, given) - model.effect(x, y)) > 1e-6  # a regression is wrong
    assert found > 300
    assert hidden > 20


def table(rows: int, seed: int = 0, strength: float = 1.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    w, u, e, f = rng.normal(size=(4, rows))
    x = strength * w + u + e
    return {"W": w, "X": x, "Y": 0.5 * x + u + f * (1 + 0.3 * np.abs(w))}


def test_intervals_hold_for_strong_and_for_weak_instruments() -> None:
    for strength in (1.0, 0.05):
        tables = (Columns(Dataset.of(table(200, seed, strength))) for seed in range(150))
        found = [by_instrument(one, "W", "X", "Y", ()) for one in tables]
        assert 0.91 <= np.mean([one.covers(0.5) for one in found]) <= 0.985
        unbounded = np.mean([one.low == -inf or one.high == inf for one in found])
        assert unbounded == 0 if strength == 1 else unbounded > 0.5


def test_an_unbounded_interval_is_called_so() -> None:
    weak = next(
        one
        for one in (effect(OPEN, "X", "Y", table(200, seed, 0.0), instrument="W") for seed in range(9))
        if one.instrument is not None and one.instrument.pieces == ((-inf, inf),)
    )
    assert "(the interval has no bounds)." in str(weak)
    assert "W is a weak instrument" in str(weak)
    assert weak.to_dict()["instrument"]["pieces"] == [[None, None]]  # type: ignore[index]


def test_a_stated_instrument_gives_the_number_with_the_statement() -> None:
    told = effect(OPEN, "X", "Y", table(2000), instrument="W")
    assert told.status == "not identified"
    assert told.instrument is not None
    assert told.value == told.instrument.value
    assert told.instrument.covers(0.5)
    first, second, third, *_ = str(told).splitlines()
    assert first.startswith("With W as an instrument, as you stated, X affects Y by 0.")
    assert "Anderson-Rubin interval, first-stage F = " in second
    assert third.startswith(
        "You stated: X does not affect W, and W affects Y only through X and shares no unmeasured cause with Y."
    )
    assert settle(OPEN, "X", "Y").instruments == (("W", ()),)
    assert "(effect --instrument): W, if X does not affect it" in str(settle(OPEN, "X", "Y"))


def test_kinds_weights_gaps_and_matrices() -> None:
    rng = np.random.default_rng(2)
    rows = table(3000)
    half = Columns(Dataset.of({**rows, "W": np.where(rows["W"] > 0, "high", "low")}))
    assert by_instrument(half, "W", "X", "Y", ()).covers(0.5)
    gaps = {name: np.where((rng.random(3000) < 0.1) & (name != "W"), np.nan, values) for name, values in rows.items()}
    assert by_instrument(Columns(Dataset.of(gaps)), "W", "X", "Y", ()).covers(0.5)
    matrix = Dataset.of(moments_of(rows))
    whole, part = (
        by_instrument(Columns(Dataset.of(rows)), "W", "X", "Y", ()),
        by_instrument(Columns(matrix), "W", "X", "Y", ()),
    )
    assert part.value == pytest.approx(whole.value)
    assert part.high - part.low == pytest.approx(whole.high - whole.low, rel=0.3)


def test_what_cannot_be_an_instrument_is_refused() -> None:
    rows = table(100)
    chain = PAG.from_edges("nodes: A B X W Y", "A o-> X", "B o-> X", "X --> W", "W --> Y")
    with pytest.raises(GraphError, match="because X affects W"):
        effect(chain, "X", "Y", {**rows, "A": rows["Y"] ** 2, "B": rows["X"] ** 2}, instrument="W")
    apart = PAG.from_edges("nodes: W X Y", "X o-o Y")
    with pytest.raises(GraphError, match="W is not an instrument for the effect of X on Y"):
        effect(apart, "X", "Y", rows, instrument="W")
    with pytest.raises(ParameterError, match="X is asked about"):
        effect(OPEN, "X", "Y", rows, instrument="X")
    with pytest.raises(ParameterError, match="needs a table"):
        effect(OPEN, "X", "Y", instrument="W")


def test_a_graph_of_ones_own_decides_by_itself() -> None:
    mine = ADMG.from_edges("W --> X", "X --> Y", "X <-> Y", "Z --> W", "Z --> Y")
    ready = Stated(mine)
    at = ready.graph.index
    z = instrument_set(ready, at("W"), at("X"), at("Y"))
    assert z is not None
    assert ready.named([*members(z)]) == ("Z",)
    direct = Stated(ADMG.from_edges("W --> X", "X --> Y", "X <-> Y", "W --> Y"))
    assert instrument_set(direct, *(direct.graph.index(v) for v in "WXY")) is None


def test_the_number_is_as_firm_as_what_the_graph_adds_to_the_statement() -> None:
    """What has to be held fixed is read from the learned graph; the edge of instrument and outcome is stated."""
    sentences = {}
    for rows, strength in ((4000, 0.8), (500, 0.3)):
        rng = np.random.default_rng(2)
        c, d, u, e, f, g = rng.normal(size=(6, rows))
        w = strength * (c + d) + g
        x = w + u + e
        table = {"C": c, "D": d, "W": w, "X": x, "Y": 0.5 * x + u + strength * c + f}
        told = effect(Lift().fit(table).result_, "X", "Y", table, instrument="W")
        one = told.instrument
        assert one is not None
        assert one.to_dict()["grade"] == one.grade
        assert one.to_dict()["cautions"] == list(one.cautions)
        sentences[one.grade] = str(one)
        assert told.estimates == ()
    assert set(sentences) <= {"firm", "likely", "open"}
    assert len(sentences) == 2
    assert "With W as an instrument, as you stated, X possibly affects Y by" in sentences["open"]
    assert "This is unreliable." in sentences["open"]
