"""``explain``, ``report``, ``draw``, ``convert``, ``score`` and the files of ``learn``, as a user types them."""

import json

import numpy as np
import pytest

from lmarvel import DAG, PAG, Discovery, LMarvel
from lmarvel.datasets import CARS
from lmarvel.interchange.registry import FORMATS, read_graph
from lmarvel.interchange.truth import read_truth
from tests.cli.running import run


@pytest.fixture
def result(tmp_path):
    path = tmp_path / "cars.json"
    assert run("learn", CARS, "-o", path, "-q") == (0, "", "")
    return path


def test_from_a_table_to_a_report_with_one_command(tmp_path):
    done = run("learn", CARS, "--report", tmp_path / "cars.html")
    assert done.code == 0
    assert f"Written to {tmp_path / 'cars.html'}" in done.out
    text = (tmp_path / "cars.html").read_text()
    assert "<title>cars.csv</title>" in text
    assert "MilesPerGallon" in text


@pytest.mark.parametrize(
    "name", ["pag.json", "pag.txt", "pag.dot", "pag.csv", "pag.graphml", "pag.svg", "pag.png", "pag.pdf"]
)
def test_learn_writes_by_the_ending(tmp_path, name):
    done = run("learn", CARS, "--output", tmp_path / name)
    assert done.code == 0, done.err
    if name.split(".")[1] in ("svg", "png", "pdf"):
        heads = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}
        assert (tmp_path / name).read_bytes().startswith(heads[name.split(".")[1]])
    else:
        found = LMarvel().fit(CARS).result_
        written = read_graph(tmp_path / name)
        assert PAG(written.names, written.marks) == (found.pag if name == "pag.json" else found.shown())
        run("learn", CARS, "--output", tmp_path / name, "--marks", "all")
        written = read_graph(tmp_path / name)
        assert PAG(written.names, written.marks) == found.pag


def test_the_result_file_is_the_result(result):
    stored, learned = Discovery.load(result), LMarvel().fit(CARS).result_
    assert stored.pag == learned.pag
    assert stored.trace == learned.trace
    assert stored.sepsets == learned.sepsets


def test_explain(result):
    done = run("explain", result, "Weight", "SecondsTo60")
    assert done.code == 0
    edge = Discovery.load(result).pag.edge("Weight", "SecondsTo60")
    assert done.out.startswith(f"{edge}\nMeaning: ")
    assert "At SecondsTo60 an arrowhead: R0" in done.out
    plain = json.loads(run("explain", result, "Weight", "SecondsTo60", "--format", "json").out)
    assert plain["why"][1]["because"]
    around = run("explain", result, "Weight").out
    assert around.startswith("Weight: 3 edges\n")
    found = Discovery.load(result)
    for other in found.pag.adjacent("Weight"):
        assert f"{found.pag.edge('Weight', other)}   {found.describe_edge('Weight', other)}" in around


def test_report_and_draw_from_a_result_file(result, tmp_path):
    assert run("report", result, tmp_path / "r.html", "--title", "Cars").code == 0
    assert "<title>Cars</title>" in (tmp_path / "r.html").read_text()
    assert run("draw", result, tmp_path / "r.svg", "--layout", "layered").code == 0
    assert (tmp_path / "r.svg").read_text().count('class="node"') == 6


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.loads is not None])
def test_convert_there_and_back(result, tmp_path, name):
    there, back = tmp_path / "there.x", tmp_path / "back.txt"
    assert run("convert", result, there, "--to", name).code == 0
    done = run("convert", there, back, "--from", name)
    assert done.code == 0, done.err
    assert PAG.from_edges(back.read_text()) == LMarvel().fit(CARS).pag_


def test_score_against_every_kind_of_truth(tmp_path):
    study = tmp_path / "study"
    run("simulate", study, "--variables", "12", "--latent", "2", "--selection", "1", "--rows", "5000", "--seed", "2")
    run("learn", study / "data.csv", "-o", tmp_path / "l.json", "-q")
    truths = [study / name for name in ("pag.txt", "mag.txt", "dag.txt")]
    outputs = [run("score", tmp_path / "l.json", truth) for truth in truths]
    assert all(done.code == 0 for done in outputs), outputs
    assert len({done.out for done in outputs}) == 1
    assert "Structural Hamming distance" in outputs[0].out
    plain = json.loads(run("score", tmp_path / "l.json", study / "pag.txt", "--format", "json").out)
    assert 0.5 < plain["skeleton"]["f1"] <= 1
    assert f"skeleton {plain['skeleton']['precision']:>13.3f}" in outputs[0].out
    perfect = json.loads(run("score", study / "pag.txt", study / "dag.txt", "--format", "json").out)
    assert (perfect["hamming"], perfect["marks"]["f1"]) == (0, 1.0)


TETRAD = "Graph Nodes:\nU;A;B;C\n\nGraph Edges:\n1. U --> A\n2. U --> B\n3. C --> B\n"
DOT = "digraph { U -> A; U -> B; C -> B }"
EDGES = "from,to\nU,A\nU,B\nC,B\n"
DAGITTY = "dag { U [latent] U -> A; U -> B; C -> B }"


@pytest.mark.parametrize(
    ("name", "text"), [("t.txt", TETRAD), ("t.dot", DOT), ("t.csv", EDGES), ("t.dagitty", DAGITTY)]
)
def test_truth_files_of_users(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    learned = tmp_path / "learned.txt"
    learned.write_text("A o-> B\nC o-> B\n")
    latent = () if name == "t.dagitty" else ("--latent", "U")
    done = run("score", learned, tmp_path / name, *latent)
    assert done.code == 0, done.err
    assert "Structural Hamming distance 0" in done.out


def test_a_truth_can_be_a_dag_with_bidirected_edges(tmp_path):
    (tmp_path / "t.dagitty").write_text("dag { A <-> B; C -> B }")
    assert str(read_truth(tmp_path / "t.dagitty")) == "nodes: A B C\nA o-> B\nC o-> B"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("explain", "no.json", "A", "B"), "there is no file no.json"),
        (("explain", "RESULT", "Weight", "Wheels"), "unknown node 'Wheels'"),
        (("explain", "RESULT", "Wheels"), "unknown node 'Wheels'"),
        (("explain", "RESULT", "Weight", "Weight"), "was given twice"),
        (("report", "RESULT", "OUT/r.txt"), "should end in .html"),
        (("report", "RESULT", "OUT/no/r.html"), "there is no directory"),
        (("draw", "RESULT", "OUT/r.jpg"), "must end in .svg, .png or .pdf"),
        (("draw", "RESULT", "OUT/r.svg", "--layout", "round"), "layout must be one of"),
        (("convert", "RESULT", "OUT/r.xyz"), "cannot infer the format of 'r.xyz'"),
        (("convert", "RESULT", "OUT/r.dot", "--to", "visio"), "there is no format 'visio'"),
        (("convert", "OUT/none.dot", "OUT/r.txt"), "there is no such file"),
        (("score", "RESULT", "OUT/none.txt"), "there is no such file"),
        (("learn", "CARS", "--output", "OUT/r.xyz"), "cannot infer the format of 'r.xyz'"),
        (("learn", "CARS", "--report", "OUT/r.pdf"), "should end in .html"),
    ],
)
def test_mistakes_get_a_message_and_write_nothing(result, tmp_path, command, message):
    out = tmp_path / "out"
    out.mkdir()
    filled = [
        str(part).replace("RESULT", str(result)).replace("OUT", str(out)).replace("CARS", str(CARS)) for part in command
    ]
    done = run(*filled)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert list(out.iterdir()) == []


def test_a_damaged_result_file_is_refused(result, tmp_path):
    text = result.read_text()
    result.write_text(text.replace("-->", "<->", 1))
    done = run("explain", result, "Weight", "SecondsTo60")
    assert (done.code, "checksum does not fit" in done.err) == (2, True)
    result.write_text(text[:100])
    assert "is cut off, or not a result" in run("report", result, tmp_path / "r.html").err
    assert "is cut off, or not a result" in run("explain", CARS, "Weight", "Cylinders").err


@pytest.mark.parametrize("command", [("convert", "out.txt"), ("draw", "out.svg")])
def test_a_changed_result_file_is_nowhere_taken_for_a_graph(result, tmp_path, command):
    edge = str(Discovery.load(result).pag.edge("Weight", "SecondsTo60"))
    result.write_text(result.read_text().replace(edge, "Weight o-o SecondsTo60"))
    done = run(command[0], result, tmp_path / command[1])
    assert (done.code, "checksum does not fit" in done.err) == (2, True)
    assert not (tmp_path / command[1]).exists()


def test_a_variable_as_json(result):
    plain = json.loads(run("explain", result, "Weight", "--format", "json").out)
    pag = Discovery.load(result).pag
    around = sorted(pag.adjacent("Weight"))
    assert [one["title"] for one in plain] == [str(pag.edge("Weight", other)) for other in around]


def test_names_do_not_reach_the_terminal_raw(tmp_path):
    table = tmp_path / "t.csv"
    names = ["\x1b[31mred", "up\u202edown", "c"]
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    rows = np.column_stack([a, b, a + b + rng.normal(size=500)]).tolist()
    table.write_text(",".join(names) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows))
    for form in ("text", "edges", "json"):
        out = run("learn", table, "--format", form).out
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert "\\u001b[31mred" in out
    assert PAG.from_edges(run("learn", table, "--format", "edges").out) == LMarvel().fit(table).pag_
    assert "\x1b" not in run("compare", table, "--methods", "lmarvel,m3hc", "--alpha", "0.5").out
    run("learn", table, "-o", tmp_path / "r.json", "-q")
    (tmp_path / "truth.txt").write_text(PAG.from_edges(nodes=names).__str__())
    assert "\x1b" not in run("score", tmp_path / "r.json", tmp_path / "truth.txt").out
    for words in (("c",), ("c", names[0]), (names[0], names[1])):
        out = run("explain", tmp_path / "r.json", *words).out
        assert "\x1b" not in out
        assert "\u202e" not in out
    assert "\\u001b[31mred" in out


def test_scoring_needs_the_same_variables(result, tmp_path):
    (tmp_path / "t.csv").write_text("from,to\nWeight,Wheels\n")
    done = run("score", result, tmp_path / "t.csv")
    assert done.code == 2
    assert "different variables (learned only: Cylinders" in done.err
    (tmp_path / "p.txt").write_text("A o-> B\n")
    assert "only a DAG or a MAG can have latent" in run("score", result, tmp_path / "p.txt", "--latent", "A").err
    (tmp_path / "d.txt").write_text("# latent: Q\nA --> B\n")
    assert "names 'Q', which is not a node of its graph" in run("score", result, tmp_path / "d.txt").err


def test_roles_in_the_head_of_a_file(tmp_path):
    (tmp_path / "d.txt").write_text(
        '# latent: "the gene" L2\n# selection: S\n"the gene" --> A\n"the gene" --> B\nL2 --> S\nC --> S\nA --> S\n'
    )
    truth = read_truth(tmp_path / "d.txt")
    dag = DAG.from_edges('"the gene" --> A', '"the gene" --> B', "L2 --> S", "C --> S", "A --> S")
    assert set(truth.names) == {"A", "B", "C"}
    assert {str(e) for e in truth.edges()} == {"A o-o B", "A o-o C"}
    assert dag.n_edges == 5
