"""The scoreboard: each rival answers in the common form, one that is late or fails counts as such, and runs resume."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lmarvel import DAG, PAG

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "scoreboard"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the benchmarks are not here")
TRUTH = PAG.from_edges("X0 o-> X2", "X1 o-> X2", "X2 --> X3", nodes=["X0", "X1", "X2", "X3"])
TRUTH_DAG = DAG.from_edges("A --> B")
NUMBERS = ("number",) * 4
MODULES = ("run", "child", "environments", "store", "tables", "figures", "real", "chambers", "families")


@pytest.fixture(scope="module")
def board():
    before = {name: sys.modules.pop(name, None) for name in MODULES}
    sys.path.insert(0, str(FOLDER))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in MODULES[:8]})
    finally:
        for name in MODULES:
            sys.modules.pop(name, None)
        sys.modules.update({name: module for name, module in before.items() if module is not None})
        sys.path[:] = [place for place in sys.path if not place.startswith(str(FOLDER.parent))]


@pytest.fixture(scope="module")
def rows():
    noise = np.random.default_rng(5).normal(size=(2000, 4))
    noise[:, 2] += noise[:, 0] + noise[:, 1]
    noise[:, 3] += noise[:, 2]
    return noise


@pytest.fixture
def opened(board, tmp_path):
    """Open stores, and close them in the end."""
    stores = []

    def make(name="s.sqlite", text=None):
        stores.append(board.store.Store(tmp_path / name, text))
        return stores[-1]

    yield make
    for store in stores:
        store.base.close()


def rival_of(board, path, python=sys.executable):
    made = board.run.Rival.__new__(board.run.Rival)
    made.name, made.path, made.module, made.python = path.stem, path, board.child.load(path), python
    made.process = made.only = None
    return made


@pytest.mark.parametrize("name", ["ours", "causal_learn", "pgmpy", "rcd", "tetrad_port"])
def test_every_method_of_a_rival_finds_a_collider(board, rows, name):
    path = FOLDER / "rivals" / f"{name}.py"
    python = board.environments.installed(board.child.load(path))
    if python is None:
        pytest.skip(f"{name} is not installed")
    rival = rival_of(board, path, python)
    answers = rival.ask(list(rival.methods), rows, NUMBERS, 30)
    rival.stop()
    for method, answer in answers.items():
        if answer["outcome"] == "failed" and "No module named" in answer["why"]:
            pytest.skip(f"{name} is installed without all that it needs")
        assert answer["outcome"] == "ended", (method, answer)
        pag = rival.pag(method, TRUTH.names, answer["marks"])
        if method in getattr(rival.module, "SKELETONS", ()):
            assert np.array_equal(pag.marks > 0, TRUTH.marks > 0)
        else:
            found = (pag.marks > 0)[TRUTH.marks > 0]
            assert found.all() if method == "hill-climb" else pag == TRUTH, method  # it stays on a lower hill here
        assert answer["seconds"] > 0
        assert answer["version"].startswith(next(iter(rival.module.PACKAGES)))


def test_the_files_of_rivals_are_those_that_are_tested(board):
    assert list(board.environments.rivals()) == ["ours", "causal_learn", "pgmpy", "rcd", "tetrad_port"]


@pytest.mark.parametrize(
    ("body", "outcome", "why"),
    [
        ("while True: pass", "late", None),
        ("raise ValueError('no such table')", "failed", "ValueError: no such table"),
        ("import os; os._exit(0)", "failed", "exit code 0"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "failed", "signal 11"),
    ],
)
def test_a_rival_that_does_not_answer_counts_as_such_and_the_next_is_asked(board, rows, tmp_path, body, outcome, why):
    file = tmp_path / "bad.py"
    file.write_text(
        "PACKAGES = {}\nMETHODS = ('bad', 'good')\nDAGS = ()\n\ndef prepare(method):\n    def search(rows, kinds):\n"
        f"        if method == 'bad' and len(kinds) > 3:\n            {body}\n"
        "        return [[0] * len(kinds)] * len(kinds)\n    return search\n"
    )
    rival = rival_of(board, file)
    answers = rival.ask(["bad", "good"], rows, NUMBERS, 1)
    rival.stop()
    assert (answers["bad"]["outcome"], answers["bad"].get("why")) == (outcome, why)
    assert answers["good"]["outcome"] == "ended"


class Counted:
    """A rival that answers at once, and counts what it is asked."""

    def __init__(self, name, outcome="ended", version="rival 1"):
        self.name, self.outcome, self.version, self.asked = name, outcome, version, []
        self.module, self.methods = SimpleNamespace(DAGS=()), ("only",)

    def key(self, method):
        return f"{self.name} {method}"

    def ask(self, methods, values, kinds, limit):
        self.asked.append(values.shape)
        marks = np.zeros((len(kinds), len(kinds)), int).tolist()
        return {m: {"outcome": self.outcome, "marks": marks, "seconds": 1.0, "version": self.version} for m in methods}

    def pag(self, method, names, marks):
        return PAG(names, np.array(marks, dtype=np.int8))


def test_what_is_kept_is_not_run_again(board, opened):
    rival = Counted("rival")
    for tables in (2, 2, 3):
        store = opened()
        board.run.fill(store, [rival], ["Tetrad, 20 variables"], tables, 5)
    assert len(rival.asked) == 3
    assert [row["number"] for row in store.rows("graphs")] == [0, 1, 2]
    assert all(row["marks"] == 0 and row["outcome"] == "ended" for row in store.rows())


def test_our_own_results_are_measured_anew_when_the_code_changes(board, opened, monkeypatch):
    store, ours = opened(), Counted("ours")
    rival = Counted("rival")
    for version in ("lmarvel a", "lmarvel a", "lmarvel b"):
        monkeypatch.setattr(board.run, "own_version", lambda version=version: version)
        board.run.fill(store, [ours, rival], ["Tetrad, 20 variables"], 1, 5)
    assert len(ours.asked) == 2
    assert len(rival.asked) == 1
    assert {row["version"] for row in store.rows()} == {"lmarvel b", "rival 1"}
    board.run.fill(store, [ours, rival], ["Tetrad, 20 variables"], 1, 5, ["ours only"])
    assert (len(ours.asked), len(rival.asked)) == (3, 1)  # asked for again


def test_the_version_of_ours_is_that_of_the_code_which_decides_results(board, tmp_path, monkeypatch):
    monkeypatch.setattr(board.store, "SOURCE", tmp_path)
    for room in ("search", "cli"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "a.py").write_text("1")
    first = board.store.own_version()
    (tmp_path / "cli" / "a.py").write_text("2")
    (tmp_path / "search" / "a.py").write_text("'Words on it.'\n1  # and more")
    assert board.store.own_version() == first
    (tmp_path / "search" / "a.py").write_text("2")
    assert board.store.own_version() != first


def test_a_method_that_was_late_is_not_run_on_larger_tables(board, opened):
    store, rival = opened(), Counted("rival", "late")
    board.run.fill(store, [rival], ["Tetrad, 20 variables"], 5, 5)
    assert sorted(rival.asked) == [(500, 20), (1000, 20), (2000, 20)]  # one for each density
    assert [row["outcome"] for row in store.rows()] == ["late"] * 5
    assert [row["why"] is None for row in store.rows()] == [True, True, True, False, False]
    rival.outcome = "ended"
    board.run.fill(store, [rival], ["Tetrad, 20 variables"], 5, 10)
    assert len(rival.asked) == 8  # with more time all are tried again
    assert {row["outcome"] for row in store.rows()} == {"ended"}


def test_a_store_is_the_same_after_it_was_written_as_text(board, opened, tmp_path):
    store = opened("a.sqlite")
    board.run.fill(store, [Counted("rival"), Counted("slow", "late")], ["Tetrad, 20 variables"], 2, 5)
    store.state("order", "cars", "auto", "v", {"on": 3, "back": 1})
    store.write(tmp_path / "runs.csv")
    again = opened("b.sqlite", tmp_path / "runs.csv")
    assert again.rows() == store.rows()
    assert again.facts() == store.facts()


def test_tables_are_drawn_from_their_family_and_number_alone(board):
    family = "Tetrad, 50 variables"
    table = board.tables.draw(family, 2)
    assert table.values.shape == (2000, 50)
    assert len(table.study.latent) == 5
    assert np.array_equal(table.values, board.tables.draw(family, 2).values)
    assert not np.array_equal(table.values[:500], board.tables.draw(family, 0).values)


def test_text_becomes_codes_and_its_kind_is_told(board):
    study = board.tables.Study(TRUTH_DAG)
    table = board.tables.coded(study, {"A": np.array(["x", "y", "x"]), "B": np.array([1.5, 2, 3])}, ("B",))
    assert table.values.tolist() == [[0, 1.5], [1, 2], [0, 3]]
    assert table.kinds == ("category", "ordinal")


def test_figures_count_what_did_not_end_and_compare_on_the_same_tables(board, monkeypatch):
    def run(method, number, marks, outcome="ended"):
        return {
            "family": "alarm",
            "method": method,
            "number": number,
            "marks": marks,
            "skeleton": marks,
            "outcome": outcome,
            "seconds": 1.0 if outcome == "ended" else None,
            "limit_seconds": 20.0,
            "version": "v",
        }

    runs = [run("auto", 0, 0.8), run("auto", 1, 0.6), run("tetrad_port boss", 0, 0.9)]
    runs += [run("tetrad_port boss", 1, None, "late"), run("causal_learn fci", 0, 0.5), run("causal_learn fci", 1, 0.5)]
    monkeypatch.setattr(board.figures, "TABLES", 2)
    figures = board.figures.summed([*runs, run("lift", 0, None, "late") | {"limit_seconds": 5.0}], [])
    assert "lift" not in figures["graphs"]["alarm"]  # it had less time, and is to be repeated
    boss = figures["graphs"]["alarm"]["tetrad_port boss"]
    assert (boss["marks"], boss["marks where ended"], boss["ahead"], boss["late"]) == (0.45, 0.9, 0.1, 1)
    assert figures["standing"]["families"]["alarm"] == {"best rival": "tetrad_port boss", "ahead": 0.1, "leads": False}
    assert figures["standing"]["behind by more than the bar"] == ["alarm"]


def test_a_page_is_filled_with_figures(board):
    figures = {"speed": {"rcd l-marvel": 31.5}, "protocol": {"runs": 1234}}
    page = "<!-- figure: speed/rcd l-marvel -->9<!-- end --> of <!-- figure: protocol/runs --><!-- end -->"
    filled = board.figures.filled(page, figures)
    assert (
        filled
        == "<!-- figure: speed/rcd l-marvel -->31.5<!-- end --> of <!-- figure: protocol/runs -->1,234<!-- end -->"
    )


def test_arrows_are_counted_by_the_order_in_time(board):
    pag = PAG.from_edges("A --> B", "C --> A", "B o-> D", nodes=["A", "B", "C", "D"])
    assert board.real.arrows(pag) == [("A", "B"), ("C", "A")]
    assert board.real.between(board.real.arrows(pag), {"A": 0, "B": 1, "C": 1}) == {"on": 1, "back": 1}


def test_real_tables_are_read_with_their_kinds_and_tiers(board, tmp_path):
    place = tmp_path / "cars"
    place.mkdir()
    (place / "cars.mixed.maximum.2.txt").write_text("a\tb\tc\n1\tx\t0\n2\ty\t1\n*\tx\t1\n")
    (place / "cars.knowledge.txt").write_text("/knowledge\naddtemporal\n\n1 b\n2 a\n\nforbiddirect\n\nrequiredirect\n")
    (table,) = board.real.tables(tmp_path)
    assert table.categorical == ("a", "b", "c")  # at most two values each
    assert table.tiers == {"a": 1, "b": 0}
    values, kinds = table.coded()
    assert values.shape == (2, 3)
    assert set(kinds) == {"category"}
