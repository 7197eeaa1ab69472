"""Very many separated pairs are written as columns: the same result comes back, and what is damaged is refused."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lmarvel import FCI, Discovery
from lmarvel.errors import ResultError
from lmarvel.result.file.parts import checksum, json_text
from lmarvel.result.sepsets import MANY, pack_sets, unpack_sets
from lmarvel.result.trace import Separated, Trace, but_separated, separations_of


@pytest.fixture(scope="module")
def found() -> Discovery:
    rng = np.random.default_rng(5)
    loud = rng.normal(size=(300, 20))
    rows = np.hstack([loud, loud[:, :5] + rng.normal(size=(300, 5)), rng.normal(size=(300, 135))])
    return FCI(boundary="none", max_tests=12_730).fit(rows).result_


@pytest.fixture(scope="module")
def plain(found: Discovery) -> dict[str, Any]:
    return json.loads(json_text(found.to_dict()))


def test_records_are_written_without_being_made() -> None:
    rng = np.random.default_rng(5)
    fresh = FCI(boundary="none").fit(rng.normal(size=(300, 150))).result_
    fresh.to_dict()
    assert isinstance(fresh.trace, Trace)
    assert not fresh.trace.is_made


def test_what_is_loaded_is_what_was_saved(found: Discovery, plain: dict[str, Any]) -> None:
    packed = [e for e in plain["trace"] if e["event"] == "separated pairs"]
    assert sum(e["pairs"] for e in packed) > MANY
    assert plain["sepsets"]["found"]["pairs"] > MANY
    again = Discovery.from_dict(plain)
    assert again == found
    assert tuple(again.trace) == tuple(found.trace)
    assert again.budget_ended == found.budget_ended is not None
    assert json.loads(json_text(again.to_dict())) == json.loads(json_text(found.to_dict())) == plain


def test_columns_are_those_of_the_records(found: Discovery) -> None:
    trace = found.trace
    assert isinstance(trace, Trace)
    others = [e for e in tuple(trace) if not isinstance(e, Separated)]
    assert list(but_separated(trace)) == others


def change(part: str, at: int, value: float) -> Callable[[dict[str, Any]], None]:
    def changed(packed: dict[str, Any]) -> None:
        kind = "<f8" if part == "pvalues" else "<i4"
        column = np.frombuffer(base64.b64decode(packed[part]), dtype=kind).copy()
        column[at] = value
        packed[part] = base64.b64encode(column.tobytes()).decode()

    return changed


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (change("x", 3, 160), "a position is beyond them"),
        (change("y", 0, -1), "a position is beyond them"),
        (change("sizes", 0, -1), "a set a size"),
        (change("sizes", 0, 7), "numbers are needed"),
        (change("pvalues", 5, 1.5), "a p-value lies between 0 and 1"),
        (change("pvalues", 5, float("nan")), "a p-value lies between 0 and 1"),
        (lambda e: e.update(x=e["x"][4:]), "make|sense"),
        (lambda e: e.update(x=5), "numbers as text are needed"),
        (lambda e: e.update(pairs=True), "a number of pairs"),
        (lambda e: e.update(y=e["x"]), "a pair needs two variables"),
        (lambda e: e.update(phase=3), "text is needed"),
        (lambda e: e.pop("members"), "members"),
    ],
)
def test_what_is_damaged_is_refused(plain: dict[str, Any], damage: Callable[[dict[str, Any]], Any], said: str) -> None:
    content = json.loads(json.dumps(plain))
    damage(next(e for e in content["trace"] if e["event"] == "separated pairs"))
    del content["checksum"]
    with pytest.raises(ResultError, match=said):
        Discovery.from_dict({**content, "checksum": checksum(content)})


@pytest.mark.parametrize(
    ("sizes", "members"), [([2, 1], [2, 1, 0]), ([2, 1], [1, 1, 0]), ([3, 0], [0, 2, 1]), ([0, 3], [2, 1, 3])]
)
def test_members_must_be_ascending(sizes: list[int], members: list[int]) -> None:
    columns = (np.array(column) for column in ([4, 4], [5, 6], sizes, members))
    with pytest.raises(ValueError, match="ascending"):
        unpack_sets(pack_sets(*columns), 9)


@pytest.mark.parametrize("sizes", [[0, 0], [2, 1], [0, 3], [3, 0], [1, 2]])
def test_sets_come_back(sizes: list[int]) -> None:
    members = list(range(sum(sizes)))
    columns = (np.array(column, dtype=int) for column in ([4, 6], [5, 4], sizes, members))
    (first, a), (second, b) = unpack_sets(json.loads(json.dumps(pack_sets(*columns))), 9)
    assert (first, second) == ((4, 5), (6, 4))
    assert (a, b) == (frozenset(members[: sizes[0]]), frozenset(members[sizes[0] :]))


def test_the_records_of_a_pair_are_found_without_making_the_others() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 9)).cumsum(axis=1)
    found = FCI().fit(rows).result_
    assert isinstance(found.trace, Trace)
    records = len(found.trace)
    pairs = list(itertools.permutations(range(9), 2))
    by_pair = {pair: separations_of(found.trace, *pair) for pair in pairs}
    assert not found.trace.is_made
    everything = tuple(found.trace)
    assert len(everything) == records
    for (x, y), listed in by_pair.items():
        assert listed == [e for e in everything if isinstance(e, Separated) and {e.x, e.y} == {x, y}]
    assert sum(map(len, by_pair.values())) == 2 * sum(isinstance(e, Separated) for e in everything) > 0
