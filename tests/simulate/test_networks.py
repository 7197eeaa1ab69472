"""The structures that come with the package, and those from files."""

import contextlib
import gzip
import time
from pathlib import Path

import pytest

from lmarvel import DAG, DataError
from lmarvel.simulate import NETWORKS, load_network, networks

COUNTS = {
    "insurance": (27, 52),
    "alarm": (37, 46),
    "ecoli70": (46, 70),
    "barley": (48, 84),
    "hailfinder": (56, 66),
    "arth150": (107, 150),
    "mildew": (35, 46),
    "water": (32, 66),
}
SHARED = Path(__file__).parents[3] / "shared" / "networks"


@pytest.mark.parametrize("name", NETWORKS)
def test_structures_have_their_nodes_and_edges(name):
    dag = load_network(name)
    assert (len(dag), dag.n_edges) == COUNTS[name]
    assert set(NETWORKS) == set(COUNTS)


def test_a_known_edge():
    assert load_network("alarm").parents("LVEDVOLUME") == {"HYPOVOLEMIA", "LVFAILURE"}


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs a folder of structures beside the project")
@pytest.mark.parametrize("name", [*NETWORKS, "carpo"])
def test_structures_agree_with_an_independent_copy(name):
    dag = load_network(SHARED / f"{name}.csv")
    if name == "carpo":
        assert (len(dag), dag.n_edges) == (61, 74)
        assert sum(not dag.adjacent(v) for v in dag.names) == 1
    else:
        assert dag == load_network(name)


def test_edge_lists(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text("from,to\nA,B\n# a comment\n\nB,C\nlonely\n")
    assert str(load_network(path)) == "nodes: A B C lonely\nA --> B\nB --> C"
    for text in ("A\tB\nB\tC\n", "A B\nB C\n", "A,B\rB,C\r", "# a, comment\nA\tB\nB\tC\n", "# head\nfrom,to\nA,B\nB,C"):
        path.write_text(text)
        assert str(load_network(str(path))) == "nodes: A B C\nA --> B\nB --> C"
    path.write_text('"#x",B\n')
    assert load_network(path).names == ("#x", "B")
    own = "# latent: U\nnodes: A B U\nU --> A\nU --> B\n"
    path.write_text(own)
    assert load_network(path) == DAG.from_edges(own)
    path.write_text("A,B\nB,C\n")
    (tmp_path / "net.nodes.csv").write_text("node\nC\nZ\nA\nB\n")
    assert load_network(path).names == ("C", "Z", "A", "B")


BIF = """network unknown { }
variable "the rain" { type discrete [ 2 ] { yes, no }; }
variable wet { type discrete [ 2 ] { yes, no }; }  // probability ( wet | nothing )
variable sprinkler { type discrete [ 2 ] { yes, no }; }
probability ( "the rain" ) { table 0.2, 0.8; }
probability ( sprinkler | "the rain" ) { (yes) 0.1, 0.9; (no) 0.5, 0.5; }
probability ( wet | "the rain", sprinkler ) { (yes, yes) 0.9, 0.1; }
"""


def test_bif_blocks_are_passed_over(tmp_path):
    path = tmp_path / "net.bif"
    path.write_text(
        'network n { property "the variable speed"; }\n'
        'variable "a (b)" { type discrete [2] {variable x, no}; property "probability ( z | w )"; }\n'
        'variable c { type discrete [2] { 1, 2 }; }\nprobability ( c | "a (b)" ) { table 1, 2; }\n'
    )
    assert str(load_network(path)) == 'nodes: "a (b)" c\n"a (b)" --> c'


def test_bif_files(tmp_path):
    path = tmp_path / "net.bif"
    path.write_text(BIF)
    dag = load_network(path)
    assert dag.names == ("the rain", "wet", "sprinkler")
    assert dag.parents("wet") == {"the rain", "sprinkler"}
    assert dag.n_edges == 3
    packed = tmp_path / "net2.bif.gz"
    packed.write_bytes(gzip.compress(BIF.encode()))
    assert load_network(packed) == dag


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "A,B\nB,C\nC,A\n", "x.csv is not a DAG: directed cycle"),
        ("x.csv", "A,B\nA,B\n", "the pair A, B is given twice"),
        ("x.csv", "A,A\n", "self-loop at A"),
        ("x.csv", "A,B,C\n", "line 1: an edge is 'cause,effect'"),
        ("x.csv", "from,to\n,B\n", "line 2: this row has no name in its first cell: an edge is"),
        ("x.csv", "", "holds no edge"),
        ("x.csv", "A\nB\n", "holds no edge"),
        ("x.txt", "A -> B\nB -> C\n", "an edge is 'cause,effect'"),
        ("x.txt", "digraph { A -> B; }", "cannot read"),
        ("x.csv", '"A,B\nB,C\n', "line 1: this is not a list of edges: unexpected end of data"),
        (
            "x.csv",
            "A," + '"' + "x" * 200_000 + '"\n',
            "line 1: .* field larger than field limit",
        ),
        ("x.xlsx", "A,B\n", "a structure is read from a file that ends in .csv"),
        ("x.csv.gz", gzip.compress(b"A,B\n" * 50, mtime=0)[:12] + b"garbage" * 9, "cannot unpack"),
        ("x.csv", b"\xff\xfe\x00", "x.csv: this is not UTF-8 text"),
        ("x.csv", b"A,B\n\x00,C\n", "x.csv: this is not text .byte 4 is null."),
        ("x.bif", "variable A { }\nprobability ( A", "cut off, or is not a BIF file"),
        ("x.bif", "variable A { }\nprobability A { }", "cut off, or is not a BIF file"),
        ("x.bif", "variable A { }\nvariable B { }\nprobability ( A | B { }", "cut off, or is not a BIF file"),
        ("x.csv", "from,to,edge\nA,B,<->\n", "x.csv is not a DAG: a DAG has directed edges only"),
        ("x.csv.gz", "A,B\n", "cannot read"),
        ("x.bif", "nothing here", "names no variable"),
        ("x.bif", "variable A { }\nprobability ( B | A ) { }", "unknown node 'B'"),
    ],
)
def test_bad_files_are_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        load_network(path)


def test_an_edge_to_a_node_that_the_list_of_nodes_lacks_is_refused(tmp_path):
    (tmp_path / "net.csv").write_text("A,B\n")
    (tmp_path / "net.nodes.csv").write_text("node\nA\n")
    with pytest.raises(DataError, match="line 1: 'B' is not in the list of nodes"):
        load_network(tmp_path / "net.csv")


def test_unknown_names_and_missing_files_are_refused(tmp_path):
    with pytest.raises(DataError, match="unknown structure 'alrm': choose from insurance, alarm"):
        load_network("alrm")
    with pytest.raises(DataError, match=r"none\.csv: there is no such file"):
        load_network(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is read from a file that ends in"):
        load_network(tmp_path)
    with pytest.raises(DataError, match="unknown structure 'xxx"):
        load_network("x" * 300)


# --- large and odd BIF files ------------------------------------------------------------------------------


def bif_of(n: int) -> str:
    """A chain of n variables, with tables such as files of this format have."""
    rows = "".join(f"  (s{k}) 0.1, 0.9;\n" for k in range(4))
    return "".join(
        f"variable X{i} {{\n  type discrete [ 2 ] {{ yes, no }};\n}}\n"
        f"probability ( X{i} {f'| X{i - 1} ' if i else ''}) {{\n{rows}}}\n"
        for i in range(n)
    )


def test_bif_files_are_read_in_time_that_grows_with_their_size(monkeypatch):
    monkeypatch.setattr(networks, "checked_dag", lambda edges, names, source: (len(names), len(edges)))

    def seconds(n):
        text = bif_of(n)
        began = time.process_time()
        assert networks._from_bif(text, "x.bif") == (n, n - 1)
        return time.process_time() - began

    small, large = (min(seconds(n) for _ in range(3)) for n in (500, 4_000))
    assert large < 30 * small  # eight times the size; a square would make it sixty-four times


@pytest.mark.parametrize("flood", ["/*", "probability (", "probability ) ", '"', "{", "variable "])
def test_a_flood_in_a_bif_file_ends_soon(tmp_path, flood):
    path = tmp_path / "net.bif"
    path.write_text("variable A { }\n" + flood * 200_000)
    began = time.perf_counter()
    with contextlib.suppress(DataError):
        load_network(path)
    assert time.perf_counter() - began < 10


def test_slashes_in_quotes_and_words_are_no_comments(tmp_path):
    path = tmp_path / "net.bif"
    path.write_text(
        'network probability { property "see http://example.org"; }\n'
        'variable "a//b" { }\nvariable c/d { }  // variable e { }\n/* variable f { } */ variable g { }\n'
        'probability ( c/d | "a//b" ) { }\n'
    )
    assert str(load_network(path)) == "nodes: a//b c/d g\na//b --> c/d"
