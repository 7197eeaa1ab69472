"""Models with their published parameters: what is read is what was written, and bad files are refused in one line."""

import gzip
import json

import numpy as np
import pytest

import lmarvel.simulate.published as published
from lmarvel import DataError
from lmarvel.simulate import DiscreteNetwork, LinearSEM, Study, load_model

BIF = """network "rain" { property author x; }
variable Wet { type discrete [ 2 ] { yes, no }; property "note ; {odd}"; }
variable Rain { type discrete [3] { none, some, "a lot" }; }
variable Sprinkler { type discrete [ 2 ] { on, off }; }
// a comment with { braces
probability ( Rain ) { table 0.5, 0.3, 0.2; }
probability ( Sprinkler ) { table 0.25, 0.75; }
probability ( Wet | Sprinkler, Rain ) {
  default 0.5, 0.5;
  (on, none) 0.9, 0.1;
  (on, "a lot") 1.0, 0.0;
  (off, none) 0.0, 1.0;
}
"""
GAUSSIAN = {
    "nodes": ["b", "a", "c"],
    "arcs": [["a", "b"], ["b", "c"]],
    "cpds": {
        "a": {"coefficients": {"(Intercept)": [2.0]}, "variance": [4.0], "parents": []},
        "b": {"coefficients": {"(Intercept)": [1.0], "a": [-0.5]}, "variance": [0.25], "parents": ["a"]},
        "c": {"coefficients": {"b": 3.0}, "variance": 1.0, "parents": ["b"]},
    },
}


def test_a_bif_file_has_its_states_and_chances(tmp_path):
    path = tmp_path / "rain.bif.gz"
    path.write_bytes(gzip.compress(BIF.encode()))
    read = load_model(path)
    assert isinstance(read.model, DiscreteNetwork)
    assert read.dag.names == ("Wet", "Rain", "Sprinkler")
    assert read.states["Rain"] == ("none", "some", "a lot")
    wet = read.model.tables[0]
    assert wet.shape == (3, 2, 2)  # Rain stands before Sprinkler in the DAG, behind it in the file
    assert wet[0, 0].tolist() == [0.9, 0.1]
    assert wet[2, 0].tolist() == [1.0, 0.0]
    assert wet[0, 1].tolist() == [0.0, 1.0]
    assert wet[1].tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_a_sample_has_states_by_name_with_the_chances_of_the_file(tmp_path):
    path = tmp_path / "rain.bif"
    path.write_text(BIF)
    read = load_model(path)
    table = read.sample(Study(read.dag, latent=("Sprinkler",)), 20_000, seed=1)
    assert list(table) == ["Wet", "Rain"]
    assert np.mean(table["Rain"] == "a lot") == pytest.approx(0.2, abs=0.01)
    dry = table["Wet"][table["Rain"] == "none"] == "no"
    assert np.mean(dry) == pytest.approx(0.25 * 0.1 + 0.75, abs=0.01)


def test_a_gaussian_network_has_its_means_and_covariances(tmp_path):
    path = tmp_path / "net.json"
    path.write_text(json.dumps(GAUSSIAN))
    read = load_model(path)
    assert isinstance(read.model, LinearSEM)
    table = read.sample(Study(read.dag), 200_000, seed=2)
    values = np.array([table[name] for name in ("a", "b", "c")])
    assert values.mean(axis=1) == pytest.approx([2.0, 0.0, 0.0], abs=0.03)
    assert np.cov(values)[0] == pytest.approx([4.0, -2.0, -6.0], abs=0.1)
    assert values[1].var() == pytest.approx(1.25, abs=0.02)
    assert values[2].var() == pytest.approx(9 * 1.25 + 1, abs=0.15)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(on, none) 0.9, 0.1;", "(on, none) 0.9;", "'Wet' needs 2 chances in each row"),
        ("(on, none) 0.9, 0.1;", "(on, none) 0.9, x;", "'Wet' has chances that are not numbers"),
        ("(on, none) 0.9, 0.1;", "(on, none) 0.9, 0.4;", "the chances of 'Wet' are incomplete, or a row"),
        ("(on, none) 0.9, 0.1;", "(on, nil) 0.9, 0.1;", "the chances of 'Wet' name the unknown state 'nil'"),
        ("(on, none) 0.9, 0.1;", "(on) 0.9, 0.1;", "the chances of 'Wet' need one state for each of its parents"),
        ("default 0.5, 0.5;", "", "the chances of 'Wet' are incomplete"),
        ("default 0.5, 0.5;", "table 0.5, 0.5;", "write the chances of 'Wet' in rows"),
        ("probability ( Rain ) { table 0.5, 0.3, 0.2; }", "", "has no chances of 'Rain'"),
        ("{ on, off }", "{ on, on }", "'Sprinkler' needs 'type discrete"),
        ("Wet | Sprinkler", "Wet | Hose", "unknown node 'Hose'"),
    ],
)
def test_a_wrong_bif_file_is_refused_by_name(tmp_path, old, new, message):
    path = tmp_path / "rain.bif"
    assert BIF.count(old) == 1
    path.write_text(BIF.replace(old, new))
    with pytest.raises(DataError, match=r"rain\.bif") as refused:
        load_model(path)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_table_that_would_be_huge_is_refused_before_it_is_made(tmp_path):
    states = ", ".join(f"s{k}" for k in range(400))
    names = "ABCD"
    variables = "".join(f"variable {v} {{ type discrete [ 400 ] {{ {states} }}; }}\n" for v in names)
    path = tmp_path / "huge.bif"
    path.write_text(variables + "probability ( A | B, C, D ) { default 1; }\n" + "probability ( B ) { table 1; }\n")
    with pytest.raises(DataError, match="the table of 'A' has 25,600,000,000 cells"):
        load_model(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda net: net.pop("cpds"), "is not a linear Gaussian network"),
        (lambda net: net["cpds"].pop("a"), "is not a linear Gaussian network"),
        (lambda net: net["cpds"]["b"]["coefficients"].pop("a"), "the coefficients of 'b' are not those of its parents"),
        (lambda net: net["cpds"]["b"].update(variance=[0.0]), "'b' needs finite coefficients and a variance above 0"),
        (lambda net: net["cpds"]["b"].update(coefficients=[1]), "the coefficients of 'b' are not numbers by parent"),
        (lambda net: net["arcs"].append(["c", "a"]), "is not a DAG"),
    ],
)
def test_a_wrong_gaussian_network_is_refused_by_name(tmp_path, change, message):
    net = json.loads(json.dumps(GAUSSIAN))
    change(net)
    path = tmp_path / "net.json"
    path.write_text(json.dumps(net))
    with pytest.raises(DataError, match=r"net\.json") as refused:
        load_model(path)
    assert message in str(refused.value)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null", '{"nodes": 3}'])
def test_any_other_text_is_no_gaussian_network(tmp_path, text):
    path = tmp_path / "net.json"
    path.write_text(text)
    with pytest.raises(DataError, match="is not a linear Gaussian network"):
        load_model(path)


def test_a_name_needs_pgmpy_and_the_message_says_so(monkeypatch):
    monkeypatch.setattr(published, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"parameters of 'alarm' come with pgmpy.*pip install pgmpy --no-deps"):
        load_model("alarm")


def test_a_name_is_looked_up_in_the_files_of_pgmpy(tmp_path, monkeypatch):
    folder = tmp_path / "utils" / "example_models"
    folder.mkdir(parents=True)
    (folder / "rain.bif.gz").write_bytes(gzip.compress(BIF.encode()))
    (folder / "two-genes.json").write_text(json.dumps(GAUSSIAN))
    package = type("Spec", (), {"submodule_search_locations": [str(tmp_path)]})
    monkeypatch.setattr(published, "find_spec", lambda name: package)
    assert load_model("rain").dag.names == ("Wet", "Rain", "Sprinkler")
    assert load_model("two_genes").dag.names == ("b", "a", "c")
    with pytest.raises(DataError, match=r"pgmpy has no parameters of 'rains'.*did you mean 'rain'"):
        load_model("rains")
