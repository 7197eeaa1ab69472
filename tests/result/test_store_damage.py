"""Whatever is wrong with a result file, it is refused in words, or what it holds can be shown and written."""

import json
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from lmarvel import FCI, M3HC, PAG, Discovery, LMarvel, Statistics
from lmarvel.datasets import CARS
from lmarvel.errors import ResultError
from lmarvel.report import page_of, render_page
from lmarvel.result.file.parts import checksum
from lmarvel.result.statistics import AllPairs
from lmarvel.result.trace import BudgetEnded
from tests.cli.running import run

ODD: list[Any] = [
    None, True, 0, -1, 10**400, 2**70, 0.5, float("nan"), float("inf"), -float("inf"), 1e308, "", "Weight", "\ud800",
    "\x1b[31m", "a\nb", "A o-> B", "nodes: A", [], [[]], ["Weight"], ["Weight", "Weight"], {}, {"Weight": 1}, "all",
    "all undecided", "R10", "tail",
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in nested data, containers included."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed(plain: dict[str, Any], path: tuple[Any, ...], odd: Any) -> dict[str, Any]:
    """A copy with one place changed, and a checksum that fits."""
    copy = json.loads(json.dumps(plain))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = odd
    copy.pop("checksum", None)
    copy["checksum"] = checksum(copy)
    return copy


def use(plain: dict[str, Any]) -> None:
    """Do everything that can be done with a result."""
    found = Discovery.from_dict(plain)
    back = Discovery.from_dict(json.loads(json.dumps(found.to_dict())))
    assert back == found
    names = found.pag.names
    for a, b in combinations(names, 2):
        str(found.explain(a, b))
        found.describe(a, b)
        found.origin(a, b)
    render_page(page_of(found)).encode()
    json.dumps(found.to_dict(), ensure_ascii=False).encode()


RESULTS = {
    "lmarvel": lambda: LMarvel().fit(CARS),
    "cut short": lambda: LMarvel(max_tests=22).fit(CARS),
    "fci": lambda: FCI(boundary="iamb", max_conditioning=1, colliders="majority").fit(CARS),
    "m3hc": lambda: M3HC(max_k=1).fit(CARS),
    "nothing": lambda: LMarvel(max_tests=0).fit(CARS),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in ("fci", "m3hc") else name for name in RESULTS]
)
@pytest.mark.filterwarnings("ignore::lmarvel.LMarvelWarning")
def test_a_changed_file_is_refused_in_words_or_can_be_used(name: str) -> None:
    plain = RESULTS[name]().result_.to_dict()
    use(plain)
    rng = np.random.default_rng(0)
    everywhere = [(path, odd) for path in places(plain) if path != ("checksum",) for odd in ODD]
    refused = 0
    for k in rng.permutation(len(everywhere))[:300]:
        path, odd = everywhere[k]
        try:
            use(changed(plain, path, odd))
        except ResultError:
            refused += 1
    assert refused > 150


@pytest.mark.parametrize(
    ("path", "odd"),
    [
        (("tests", "adjacency", "0"), float("inf")),
        (("tests", "adjacency", "0"), 10**400),
        (("data", "rows"), float("inf")),
        (("data", "columns", 0, "mean"), float("nan")),
        (("seconds", "data"), float("inf")),
        (("settings", "rows"), 2**70),
        (("settings", "alpha"), float("nan")),
        (("settings", "selection"), "yes"),
        (("bic",), 10**400),
        (("nodes", 0), "\ud800"),
    ],
)
def test_numbers_that_are_none_end_the_program_with_a_line(path: tuple[Any, ...], odd: Any, tmp_path: Any) -> None:
    plain = changed(LMarvel().fit(CARS).result_.to_dict(), path, odd)
    (tmp_path / "r.json").write_text(json.dumps(plain))
    for command in (("explain", tmp_path / "r.json", "Weight"), ("report", tmp_path / "r.json", tmp_path / "r.html")):
        done = run(*command)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert f"the result file is damaged: '{path[0]}' makes no sense" in done.err


# --- many undecided pairs ---------------------------------------------------------------------------------


def half_open(size: int, step: int) -> Discovery:
    """A result of which every ``step``-th pair is undecided, and every pair an edge; a few have other marks."""
    names = tuple(f"V{i}" for i in range(size))
    marks = np.ones((size, size), dtype=np.int8) - np.eye(size, dtype=np.int8)
    marks[0, 1:9], marks[1:9, 0] = 2, 3
    pairs = tuple(combinations(names, 2))[::step]
    ended = (BudgetEnded("max_tests=9 is used up"),)
    return Discovery(PAG(names, marks), {}, {}, Statistics({}, {}), ended, undecided=pairs)


@pytest.mark.parametrize("step", [1, 2, 3, 5000])
def test_many_undecided_pairs_take_little_room(step: int) -> None:
    found = half_open(120, step)
    text = json.dumps(found.to_dict())
    assert Discovery.from_dict(json.loads(text)) == found
    decided = 120 * 119 // 2 - len(found.undecided)
    assert len(text) < 4000 + 16 * (decided + 8)


def test_where_nothing_was_decided_the_file_says_so_once() -> None:
    size = 1500
    names = tuple(f"V{i}" for i in range(size))
    marks = np.ones((size, size), dtype=np.int8) - np.eye(size, dtype=np.int8)
    ended = (BudgetEnded("max_tests=0 is used up"),)
    found = Discovery(PAG._trusted(names, marks), {}, {}, Statistics({}, {}), ended, undecided=AllPairs(names))
    plain = found.to_dict()
    assert (plain["edges"], plain["undecided"]) == ("all undecided", "all")
    assert len(json.dumps(plain)) < 20_000
    back = Discovery.from_dict(plain)
    assert back == found
    assert "nothing was learned" in back.notes[0]


def test_pairs_that_are_undecided_need_not_be_edges() -> None:
    found = M3HC(max_conditioning=1).fit(CARS).result_
    bare = Discovery(PAG.from_edges("A o-o B", nodes=list("ABC")), {}, {}, Statistics({}, {}), undecided=(("A", "C"),))
    for result in (found, bare):
        assert Discovery.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_bits_that_do_not_fit_are_refused() -> None:
    plain = half_open(120, 2).to_dict()
    for odd in ("", "AAAA", "?", plain["undecided"]["bits"][:-4] + "////", 3):
        with pytest.raises(ResultError, match="'undecided' makes no sense"):
            Discovery.from_dict(changed(plain, ("undecided", "bits"), odd))
    with pytest.raises(ResultError, match="'undecided' makes no sense"):
        Discovery.from_dict(changed(plain, ("undecided", "pairs"), 7))


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("lmarvel.result.file.whole.MOST_BYTES", 1 << 30)
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate((1 << 30) + 1)  # a hole: nothing is written
    with pytest.raises(ResultError, match="has more than 1 GiB"):
        Discovery.load(path)
