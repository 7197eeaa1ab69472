"""What would settle a question: each way does, no smaller one does, and what is true settles it rightly."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest

from lmarvel import ADMG, MAG, PAG, Discovery, Knowledge, ParameterError, Statistics, effect, settle
from lmarvel.effects.classify import classify
from lmarvel.effects.knowing.informed import informed
from lmarvel.knowledge.contradictions import known_of
from tests.cli.running import run
from tests.effects.classes import classes
from tests.effects.informed import models
from tests.effects.test_informed import check_pair

SAMPLE = classes()[5:200:20]
CHAIN = PAG.from_edges("X o-> Y", "Z o-> Y")


def test_each_way_settles_it_rightly_and_no_part_of_it_does() -> None:
    rng, found = np.random.default_rng(3), 0
    for pag in SAMPLE:
        for x, y in rng.permutation(list(permutations(range(5), 2)))[:4].tolist():
            for way in rng.permutation(np.array(settle(pag, x, y, seconds=2.0).ways, dtype=object))[:4]:
                said = [Knowledge.parse(text) for text in way.statements]
                knowledge = Knowledge().and_(*said)
                truth = models(pag, known_of(knowledge, pag.names), rng, 30)
                assert truth.mags, "nothing fits"
                assert check_pair(informed(pag, knowledge), truth, x, y) == way.status
                for fewer in combinations(said, len(said) - 1):
                    less = Knowledge().and_(*fewer)
                    assert classify(informed(pag, less), x, y).status == "not identified"
                found += 1
    assert found > 40


def test_what_effect_calls_enough_is_what_settle_finds() -> None:
    rng, found = np.random.default_rng(4), 0
    for pag in SAMPLE:
        for x, y in rng.permutation(list(permutations(range(5), 2)))[:4].tolist():
            told = effect(pag, pag.names[x], pag.names[y])
            ways = settle(pag, x, y, most=1, seconds=60).ways
            assert set(told.enough) <= {way for way in ways if way.status != "none"}
            for way in told.enough:
                assert effect(informed(pag, Knowledge.parse(way.statements[0])), x, y).status == way.status
            assert ("would be enough: " in told.sentence) == bool(told.enough)
            assert ("It would help if " in told.sentence) == (told.status == "not identified")
            found += len(told.enough)
    assert found > 20


def test_measuring_a_common_cause_does_the_work_of_the_statement() -> None:
    way = next(way for way in settle(CHAIN, "X", "Y").ways if way.measure)
    assert (way.statements, way.measure) == (("X and Y share no unmeasured cause",), (("X", "Y"),))
    rng = np.random.default_rng(0)
    u, z, e, f = rng.normal(size=(4, 4000))
    x = u + e
    table = {"U": u, "Z": z, "X": x, "Y": 0.5 * x + u + z + f}
    measured = informed(
        PAG.from_edges("U o-o X", "X o-> Y", "U o-> Y", "Z o-> Y"),
        Knowledge.parse("X and Y share no unmeasured cause\ntiers: U < X < Y\nU and X share no unmeasured cause"),
    )
    [estimate] = effect(measured, "X", "Y", table).estimates
    assert "U" in (estimate.adjusted or ())
    assert estimate.low < 0.5 < estimate.high


def test_a_pair_of_open_ends_needs_more_than_the_common_cause() -> None:
    assert not any(way.measure for way in settle(PAG.from_edges("X o-o Y"), "X", "Y").ways)


def test_statements_come_beside_those_already_made() -> None:
    said = Knowledge(not_causes=[("Y", "X")])
    ready = informed(PAG.from_edges("X o-o Y"), said)
    assert [way.statements for way in settle(ready, "X", "Y").ways] == [
        ("X is randomised",),
        ("X and Y share no unmeasured cause",),
        ("X does not cause Y",),
    ]


def test_graphs_of_ones_own() -> None:
    told = settle(ADMG.from_edges("Z --> X", "X --> Y", "X <-> Y"), "X", "Y")
    assert [way.statements for way in told.ways] == [("X and Y share no unmeasured cause",)]
    assert str(told).endswith("take the <-> that it excludes out of your graph.")
    assert [way.status for way in settle(MAG.from_edges("X --> Y"), "X", "Y").ways] == ["adjustment", "adjustment"]


def test_what_is_settled_needs_nothing() -> None:
    pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y")
    assert str(settle(pag, "X", "Y")) == (
        "Nothing is left to settle: the effect of X on Y is identified in this graph."
        " How far the data support that graph is what 'effect' reports."
    )
    assert settle(pag, "Y", "X").settled


def test_time_and_size_are_bounded() -> None:
    dense = PAG.from_edges(*(f"V{i} o-o V{j}" for i, j in combinations(range(7), 2)))
    told = settle(dense, "V0", "V6", seconds=0.0)
    assert not told.complete
    assert told.planned > told.tried == 0
    assert "There may be more ways: --seconds gives more time." in str(told)
    assert all(len(way.statements) == 1 for way in settle(CHAIN, "X", "Y", most=1).ways)
    with pytest.raises(ParameterError, match="at least 1"):
        settle(CHAIN, "X", "Y", most=0)


def test_the_command_says_the_same_and_effect_names_it(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    Discovery(CHAIN, {}, {}, Statistics({}, {})).save(path)
    done = run("settle", path, "X", "Y")
    assert (done.code, done.out) == (0, f"{settle(CHAIN, 'X', 'Y')}\n")
    assert '"X does not cause Y"' in run("settle", path, "X", "Y", "--format", "json").out
    assert str(effect(CHAIN, "X", "Y")).endswith("\nWhat would settle it: lmarvel settle RESULT X Y")
    assert run("settle", path, "X", "Q").code == 2


@pytest.mark.parametrize(("more", "found"), [(96, True), (97, False)])
def test_in_large_graphs_nobody_is_kept_waiting_for_statements_that_would_be_enough(more: int, found: bool) -> None:
    others = " ".join(f"V{v}" for v in range(more))
    pag = PAG.from_edges(f"nodes: A B X Y {others}", "A o-> X", "B o-> X", "X --> Y", "A --> Y")
    assert bool(effect(pag, "A", "Y").enough) == found
