"""Result files: what is saved comes back equal, and what is damaged is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import DAG, FCI, M3HC, MBCS, PAG, RFCI, Discovery, Knowledge, Lift, LMarvel, MSeparation
from lmarvel.datasets import CARS
from lmarvel.deferred import Deferred
from lmarvel.drawing import draw
from lmarvel.errors import ResultError
from lmarvel.interchange.registry import read_graph
from lmarvel.result.display import CAPTIONS
from lmarvel.result.file.parts import checksum
from lmarvel.result.support.grounds import Grounds
from lmarvel.simulate import LinearSEM, Study, erdos_renyi, hide
from tests.generators import studies

METHODS = [LMarvel, FCI, RFCI, MBCS, M3HC]


def table(seed, n=10, rows=300):
    study = hide(erdos_renyi(n, 0.3, seed=seed), 2, 1, seed=seed)
    data = LinearSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed)
    return dict(zip(study.observed, data.T, strict=True))


def again(found):
    """Through JSON text and back."""
    return Discovery.from_dict(json.loads(json.dumps(found.to_dict())))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "options",
    [{}, {"max_tests": 50}, {"max_conditioning": 1}, {"boundary": "iamb"}, {"boundary": "none"}, {"max_tests": 3}],
)
@pytest.mark.filterwarnings("ignore::lmarvel.LMarvelWarning")
def test_results_come_back_equal(method, options):
    if method is LMarvel and options.get("boundary") == "none":
        options = {"boundary": "gs", "max_conditioning": 1}
    found = method(**options).fit(table(1)).result_
    back = again(found)
    assert back == found
    assert back.to_dict() == found.to_dict()
    assert back.sepsets == found.sepsets
    assert dict(back.sepsets) == dict(found.sepsets)
    names = found.pag.names
    for a, b in ((names[0], names[1]), (names[2], names[4])):
        assert str(back.explain(a, b)) == str(found.explain(a, b))


@settings(deadline=None, max_examples=40)
@given(studies(max_nodes=8), st.lists(st.text(min_size=1, max_size=6), min_size=12, max_size=12, unique=True))
def test_any_names_and_graphs_come_back(drawn, names):
    study = Study(*drawn)
    safe = [name.encode("utf-8", "replace").decode() + f"~{i}" for i, name in enumerate(names)]
    hostile = dict(zip(study.observed, safe, strict=False))
    dag = study.dag.relabel(hostile)
    found = LMarvel(test=MSeparation(dag, study.latent, study.selection)).fit().result_
    assert again(found) == found


def test_other_results_are_not_equal():
    one, two = LMarvel().fit(table(1)).result_, LMarvel().fit(table(2)).result_
    assert again(one) != two
    assert again(one) != LMarvel(alpha=0.02).fit(table(1)).result_


def test_a_file_holds_everything(tmp_path):
    found = LMarvel().fit(CARS).result_
    path = tmp_path / "cars.json"
    found.save(path)
    plain = json.loads(path.read_text())
    assert plain["format"] == "lmarvel-result"
    assert plain["version"] == 4
    assert plain["settings"]["alpha"] == 0.01
    assert plain["data"]["rows"] == 392
    assert len(plain["data"]["fingerprint"]) == 16
    assert plain["versions"]["lmarvel"]
    assert {e["event"] for e in plain["trace"]} >= {"removed", "adjacent", "separated", "rule"}
    assert Discovery.load(path) == found
    assert read_graph(path) == found.pag


def test_the_fingerprint_tells_tables_apart():
    one, same, other = (LMarvel().fit(table(seed)).result_.data for seed in (1, 1, 2))
    assert one == same
    assert one["fingerprint"] != other["fingerprint"]
    changed = table(1)
    name = next(iter(changed))
    changed[name] = changed[name].copy()
    changed[name][0] += 0.001
    assert LMarvel().fit(changed).result_.data["fingerprint"] != one["fingerprint"]
    order = np.random.default_rng(0).permutation(300)
    shuffled = {k: v[order] for k, v in table(1).items()}
    assert LMarvel().fit(shuffled).result_.data["fingerprint"] != one["fingerprint"]  # values in their order


@pytest.fixture
def plain():
    return LMarvel().fit(CARS).result_.to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.update(version=5), "version 5, and version 4 is read; install a newer lmarvel"),
        (lambda p: p.update(version=3), "version 3, and version 4 is read; learn it again"),
        (lambda p: p.update(version="x"), "version 'x'"),
        (lambda p: p.update(format="other"), "this is not a result of lmarvel"),
        (lambda p: p["edges"].pop(), "checksum does not fit"),
        (lambda p: p.pop("trace"), "checksum does not fit"),
        (lambda p: p.pop("checksum"), "checksum does not fit"),
    ],
)
def test_changed_files_are_refused(plain, change, message):
    change(plain)
    with pytest.raises(ResultError, match=message):
        Discovery.from_dict(plain)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("nodes", 3),
        ("nodes", ["A"]),
        ("edges", ["A -> "]),
        ("sepsets", {}),
        ("sepsets", {"implied": True, "found": [{"pair": ["A", "Q"], "sepset": []}], "cut_short": {}}),
        ("boundaries", []),
        ("tests", {"adjacency": 3}),
        ("seconds", {"data": "soon"}),
        ("settings", 1),
        ("undecided", [["A"]]),
        ("mag", ["A --> B"]),
        ("bic", "low"),
        ("data", 4),
        ("trace", [{"event": "miracle"}]),
        ("trace", [{"event": "separated", "x": "Weight"}]),
        ("trace", [{"event": "rule", "rule": "R0", "nodes": ["?"], "written": [], "refused": []}]),
        ("trace", [{"event": "budget ended", "reason": 3}]),
        ("trace", [{"event": "rule", "rule": "R99", "nodes": ["Weight"] * 3, "written": [], "refused": []}]),
        ("trace", [{"event": "rule", "rule": "R1", "nodes": ["Weight"], "written": [], "refused": []}]),
        ("undecided", [["Weight", "Wheels"]]),
        ("settings", {"alpha": None}),
        ("settings", {"alpha": 0.01, "rows": "x"}),
        ("settings", {"alpha": [0.01]}),
        ("data", {}),
        ("data", {"rows": 3, "fingerprint": "x", "columns": [{"mean": 1.0}]}),
    ],
)
def test_parts_that_make_no_sense_are_named(plain, part, value):
    """Also where the checksum was made to fit."""
    content = {**plain, part: value}
    content.pop("checksum")
    with pytest.raises(ResultError, match="the result file is damaged: '"):
        Discovery.from_dict({**content, "checksum": checksum(content)})
    missing = {k: v for k, v in content.items() if k != part}
    with pytest.raises(ResultError, match=f"it lacks '{part}'"):
        Discovery.from_dict({**missing, "checksum": checksum(missing)})


def test_files_that_cannot_be_read_are_refused(tmp_path):
    path = tmp_path / "r.json"
    with pytest.raises(ResultError, match=r"there is no file .*r\.json"):
        Discovery.load(path)
    LMarvel().fit(CARS).result_.save(path)
    text = path.read_text()
    for cut in (1, 50, len(text) // 2):
        path.write_text(text[:-cut] if cut > 1 else text[: len(text) // 3])
        with pytest.raises(ResultError, match="is cut off, or not a result"):
            Discovery.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ResultError, match="not a result"):
        Discovery.load(path)
    path.write_text("[" * 100_000)
    with pytest.raises(ResultError, match="not a result"):
        Discovery.load(path)
    path.write_text("[1]")
    with pytest.raises(ResultError, match=r"r\.json: this is not a result"):
        Discovery.load(path)
    with pytest.raises(ResultError, match="cannot read"):
        Discovery.load(tmp_path)


def test_layout_of_the_json_does_not_matter(tmp_path):
    found = LMarvel().fit(CARS).result_
    path = tmp_path / "r.json"
    path.write_text(json.dumps(found.to_dict(), sort_keys=True, separators=(",", ":")))
    assert Discovery.load(path) == found


def test_the_docs_name_every_key_of_a_file():
    told = (Path(__file__).parents[2] / "docs" / "result-file.md").read_text()
    listed = [line.split(" | ")[0] for line in told.split("## The trace")[0].splitlines() if line.startswith("| `")]
    named = {name for cell in listed for name in cell.split("`")[1::2]}
    oracle = LMarvel(test=MSeparation(DAG.from_edges("A --> B"))).fit().result_
    knowing = LMarvel(knowledge=Knowledge(tiers=[["Weight"], ["MilesPerGallon"]]))
    skipped = replace(oracle, later_grounds=Deferred.of(Grounds(skipped="time")))
    results = (oracle, skipped, Lift().fit(CARS).result_, knowing.fit(CARS, bootstrap=3).result_)
    assert set().union(*(found.to_dict() for found in results)) == named


def test_a_graph_shows_itself_in_a_notebook():
    found = LMarvel().fit(CARS).result_
    assert found.pag._repr_svg_() == draw(found.pag)
    assert found.draw().startswith("<svg")
    assert found.draw() == draw(found.shown(), caption=CAPTIONS["supported"])
    assert PAG.from_edges("A o-> B")._repr_svg_().count('class="node"') == 2
