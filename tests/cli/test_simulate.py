"""``lmarvel simulate`` and ``lmarvel reproduce`` as a user types them."""

import signal
import sys
import time

import numpy as np
import pytest

from lmarvel import DAG, MAG, PAG, LMarvel, mag_to_pag, moments_of
from tests.cli.running import run, spawn
from tests.experiments.finished import finished

FILES = ["dag.txt", "data.csv", "mag.txt", "pag.txt"]


def test_simulate_writes_data_and_truth(tmp_path):
    out = tmp_path / "study"
    done = run("simulate", out, "--variables", "12", "--latent", "2", "--selection", "1", "--rows", "300")
    assert done.code == 0
    assert "300 rows of 9 variables (2 latent, 1 selecting) from erdos-renyi, seed 0" in done.out
    assert sorted(p.name for p in out.iterdir()) == FILES
    text = (out / "dag.txt").read_text()
    roles = {line.split(":")[0][2:]: line.split(":")[1].split() for line in text.splitlines() if line.startswith("#")}
    dag, mag, pag = DAG.from_edges(text), MAG.from_edges((out / "mag.txt").read_text()), (out / "pag.txt").read_text()
    assert dag.project(roles["latent"], roles["selection"]) == mag
    assert mag_to_pag(mag) == PAG.from_edges(pag)
    moments = moments_of(out / "data.csv")
    assert moments.names == mag.names
    assert moments.n == 300


@pytest.mark.parametrize(
    "options",
    [
        ("--structure", "alarm", "--latent", "4", "--selection", "2", "--ranges", "appendix"),
        ("--structure", "parents", "--density", "4"),
        ("--structure", "scale-free", "--variables", "15"),
        ("--noise", "laplace", "--function", "tanh", "--selection", "2"),
        ("--states", "3", "--selection", "1"),
    ],
)
def test_every_kind_repeats_by_seed(tmp_path, options):
    for name in ("a", "b"):
        assert run("simulate", tmp_path / name, *options, "--rows", "50", "--seed", "4", "-q") == (0, "", "")
    assert run("simulate", tmp_path / "c", *options, "--rows", "50", "--seed", "5", "-q").code == 0
    a, b, c = ([(tmp_path / name / file).read_bytes() for file in FILES] for name in "abc")
    assert a == b
    assert a[1] != c[1]


def test_published_parameters_are_drawn_from_by_name_of_state(tmp_path):
    path = tmp_path / "net.bif"
    path.write_text(
        "variable A { type discrete [ 2 ] { low, high }; }\nvariable B { type discrete [ 2 ] { low, high }; }\n"
        "probability ( A ) { table 0.5, 0.5; }\nprobability ( B | A ) { (low) 1.0, 0.0; (high) 0.0, 1.0; }\n"
    )
    done = run("simulate", tmp_path / "out", "--network", path, "--true-parameters", "--rows", "40")
    assert done.code == 0
    lines = (tmp_path / "out" / "data.csv").read_text().split()
    assert lines[0] == "A,B"
    assert set(lines[1:]) == {"low,low", "high,high"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--true-parameters",), "--true-parameters needs a published network, and erdos-renyi is a random graph"),
        (("--network", "x.bif", "--true-parameters"), "x.bif: there is no such file"),
        (("--network", "x.bif", "--true-parameters", "--states", "2"), "--true-parameters says how to draw"),
        (("--network", "x.bif", "--true-parameters", "--density", "2"), "are for random graphs, and x.bif is not one"),
    ],
)
def test_true_parameters_that_cannot_be_had_are_refused(tmp_path, options, message):
    done = run("simulate", tmp_path / "out", *options)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_simulated_data_can_be_learned_from(tmp_path):
    run("simulate", tmp_path / "s", "--rows", "20000", "--latent", "2", "--seed", "3")
    learned = LMarvel().fit(tmp_path / "s" / "data.csv").pag_
    truth = PAG.from_edges((tmp_path / "s" / "pag.txt").read_text())
    assert np.mean((learned.marks > 0) == (truth.marks > 0)) > 0.95


def test_an_edge_list_of_the_users(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("cause,effect\nsmoking,cancer\nalone\n")
    assert run("simulate", tmp_path / "out", "--structure", path).code == 0
    assert (tmp_path / "out" / "data.csv").read_text().startswith("smoking,cancer,alone\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--structure", "alrm"), "unknown structure 'alrm'"),
        (("--structure", "no.csv"), "no.csv: there is no such file"),
        (("--latent", "20"), "leave none of the 20 to observe"),
        (
            ("--latent", "10", "--selection", "9"),
            "--latent 10 and --selection 9 leave 1 of the 20 variables",
        ),
        (("--structure", "alarm", "--latent", "40"), "leave none of the 37 to observe"),
        (("--variables", "1"), "--variables must be a whole number of at least 2, not 1"),
        (("--variables", "0"), "--variables must be a whole number of at least 2, not 0"),
        (("--variables", "-4"), "--variables must be a whole number of at least 2, not -4"),
        (("--variables", "40000"), "40,000 nodes are too many: a graph holds at most 20,000"),
        (("--latent", "-1"), "--latent must be a whole number of at least 0, not -1"),
        (("--selection", "-1"), "--selection must be a whole number of at least 0, not -1"),
        (("--rows", "-5"), "--rows must be a whole number of at least 1, not -5"),
        (("--states", "1"), "--states must be a whole number of at least 2, not 1"),
        (("--structure", "scale-free", "--density", "0"), "--density must be a whole number of at least 1, not 0"),
        (("--structure", "parents", "--density", "-1"), "--density must be a whole number of at least 0, not -1"),
        (("--rows", "0"), "rows must be a whole number of at least 1"),
        (("--seed", "-1"), "the seed must not be negative"),
        (("--noise", "pink"), "unknown noise 'pink'"),
        (("--ranges", "wide"), "unknown parameter ranges 'wide'"),
        (("--structure", "parents", "--density", "2.5"), "density counts parents for parents: give a whole number"),
        (("--density", "3"), "the chance of an edge must lie between 0 and 1"),
        (("--states", "2", "--noise", "laplace"), "a discrete network has no noise, functions or ranges"),
        (("--states", "2", "--ranges", "random"), "a discrete network has no noise, functions or ranges"),
        (("--structure", "alarm", "--variables", "5"), "--variables and --density are for random graphs"),
        (("--structure", "parents", "--density", "nan"), "density must be a number, not nan"),
        (("--structure", "x" * 300), "unknown structure 'xxx"),
        (("--rows", str(10**30)), "do not fit into any memory"),
        (("--variables", "60", "--density", "1", "--function", "quadratic"), "grow beyond all numbers"),
    ],
)
def test_mistakes_get_a_message_and_write_nothing(tmp_path, options, message):
    done = run("simulate", tmp_path / "out", *options)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [("simulate",), ("reproduce", "table2", "--out")])
@pytest.mark.parametrize("folder", ["", "  "])
def test_an_empty_directory_is_not_taken_for_the_current_one(tmp_path, monkeypatch, command, folder):
    monkeypatch.chdir(tmp_path)
    done = run(*command, folder)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "lmarvel: the directory to write into has an empty name: give one, or a dot for the current one\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_one_are_singular(tmp_path):
    assert "1 row of 2 variables (0 latent," in run("simulate", tmp_path / "o", "--variables", "2", "--rows", "1").out


def test_earlier_files_are_kept_unless_forced(tmp_path):
    out = tmp_path / "out"
    run("simulate", out, "--seed", "1")
    before = (out / "data.csv").read_bytes()
    done = run("simulate", out, "--seed", "2")
    assert done.code == 2
    assert "has data.csv, dag.txt, mag.txt, pag.txt already: choose another directory, or give --force" in done.err
    assert (out / "data.csv").read_bytes() == before
    assert run("simulate", out, "--seed", "2", "--force").code == 0
    assert (out / "data.csv").read_bytes() != before
    file = tmp_path / "file"
    file.write_text("precious")
    assert f"cannot write into {file}: {file} is a file" in run("simulate", file).err
    assert f"cannot write into {file / 'sub'}: {file} is a file" in run("simulate", file / "sub").err
    assert file.read_text() == "precious"
    (tmp_path / "half" / "pag.txt").mkdir(parents=True)
    assert "it is a directory" in run("simulate", tmp_path / "half", "--force").err
    assert [path.name for path in (tmp_path / "half").iterdir()] == ["pag.txt"]


def test_a_cyclic_edge_list_is_refused(tmp_path):
    (tmp_path / "carpo.csv").write_text("A,B\nB,C\nC,A\n")
    for command in (("simulate", tmp_path / "o", "--structure", tmp_path / "carpo.csv"),):
        done = run(*command)
        assert (done.code, "directed cycle: A --> B --> C --> A" in done.err) == (2, True)
    done = run("reproduce", "table1", "--networks", tmp_path, "--out", tmp_path / "r")
    assert (done.code, "directed cycle" in done.err) == (2, True)


# --- reproduce --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("table3",), "unknown experiment 'table3': choose from table1, table2, figure3, figure4, all"),
        (("table2", "--methods", "pc"), "unknown method 'pc': choose from lmarvel"),
        (("table2", "--without", "asia"), "cannot leave out 'asia'"),
        (("table1",), "the structure carpo is not part of the package"),
        (("table1", "--networks", "nowhere"), "there is no directory nowhere"),
        (("table2", "--reps", "0"), "reps must be at least 1"),
    ],
)
def test_mistakes_are_told_before_the_work(tmp_path, options, message):
    done = run("reproduce", *options, "--out", tmp_path / "r")
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "r").exists()


def test_reproduce_says_what_it_wrote(tmp_path):
    done = run("reproduce", "table2", "--reps", "1", "--methods", "lmarvel", "--jobs", "1", "--out", tmp_path / "r")
    assert done.code == 0, done.err
    assert str(tmp_path / "r" / "table2.md") in done.out
    assert "table2: 6 of 6 runs" in done.err
    again = run("reproduce", "table2", "--reps", "1", "--methods", "lmarvel", "--seed", "5", "--out", tmp_path / "r")
    assert (again.code, "was written with other settings (not the same: seed)" in again.err) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interruption_keeps_what_is_finished(tmp_path):
    out = tmp_path / "r"
    options = ("reproduce", "table2", "--methods", "m3hc", "--reps", "20", "--jobs", "1", "--out", out)
    with spawn(*options) as process:
        runs, deadline = out / "runs.csv", time.monotonic() + 60
        while time.monotonic() < deadline and finished(out) < 3:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; finished runs are kept in" in err
    assert 4 <= runs.read_text().count("\n") < 121
    assert "Traceback" not in err


def test_simulate_makes_columns_of_several_kinds(tmp_path):
    out = tmp_path / "mixed"
    kinds = "continuous,count,ordinal,nominal"
    done = run("simulate", out, "--variables", "12", "--latent", "1", "--rows", "80", "--kinds", kinds, "--levels", "4")
    assert done.code == 0, done.err
    header, *lines = (out / "data.csv").read_text().splitlines()
    assert len(header.split(",")) == 11
    assert len(lines) == 80
    assert "\nordinal: X" in done.out
    assert set("abcd") & set((out / "data.csv").read_text())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--kinds", "nominal,texts"), "--kinds does not know texts: choose from continuous, curved"),
        (("--kinds", "nominal", "--states", "2"), "leave --noise, --function, --ranges and --states out"),
        (("--levels", "3"), "give --kinds too"),
        (("--kinds", "nominal", "--levels", "1"), "--levels must be a whole number of at least 2, not 1"),
    ],
)
def test_kinds_that_cannot_be_made_are_named(tmp_path, options, message):
    done = run("simulate", tmp_path / "x", *options)
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "x").exists()
