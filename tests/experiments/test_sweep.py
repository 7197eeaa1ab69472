"""Sweeps of one's own: settings, tables, figures, resuming, and what is refused."""

from itertools import product

import pytest

from lmarvel.errors import DataError, ParameterError
from lmarvel.experiments import reproduce as module
from lmarvel.experiments.reproduce import EXPERIMENTS, Request, reproduce
from lmarvel.experiments.sweep import Sweep
from tests.cli.running import run


def plan(**changes):
    given = {"structures": ["alarm", "parents=3"], "latent": [0, 4], "selection": [0, 2]} | changes
    return Sweep(**given).experiment(lambda name: 37)


def test_every_combination_is_a_setting_of_its_own():
    experiment = plan(rows=["50x", "1000"], variables=[20, 30])
    places = {(s.structure, s.variables, s.latent, s.selection, s.sample) for s in experiment.settings}
    roles = list(product((0, 4), (0, 2), (None, 1000)))
    assert places == {
        *(("alarm", 37, *role) for role in roles),
        *(("parents<=3", n, *role) for n in (20, 30) for role in roles),
    }
    keys = {(s.panel, s.size) for s in experiment.settings}
    assert len(keys) == len(experiment.settings) == 24
    assert len({s.label for s in experiment.settings}) == 24


@pytest.mark.parametrize(
    ("changes", "across", "panels"),
    [
        ({}, "latent", 4),
        ({"latent": [2]}, "selection", 2),
        ({"latent": [2], "selection": [0], "rows": ["100", "500"]}, "rows", 2),
        ({"latent": [2], "selection": [0], "variables": [20, 30]}, "variables", 2),
        ({"rows": ["100", "500"], "variables": [20, 30]}, "latent", 2 * 2 * (1 + 2)),
    ],
)
def test_the_figure_is_over_what_varies_first(changes, across, panels):
    experiment = plan(**changes)
    figure = experiment.figure
    assert figure.across == across
    assert len(figure.panels) == panels
    drawn = [s for panel in figure.panels for s in figure.among(experiment.settings, panel)]
    assert sorted(drawn, key=str) == sorted(experiment.settings, key=str)


def test_nothing_varied_is_a_table_without_a_figure():
    assert plan(latent=[0], selection=[0]).figure is None


def test_other_ranges_are_other_runs():
    usual, other = plan().settings[0], plan(ranges="random").settings[0]
    assert usual.panel != other.panel
    assert usual.entropy(1, 0) != other.entropy(1, 0)


def test_presets_have_selection_in_random_graphs_and_wider_rates():
    random = EXPERIMENTS["random-selection"].settings
    assert {s.selection for s in random} == {0, 2, 4, 8}
    assert {s.structure for s in random} == {"parents<=3", "erdos-renyi"}
    rates = {(s.latent, s.selection) for s in EXPERIMENTS["rates"].settings}
    assert rates == set(product((0, 2, 4, 8), (0, 2, 4)))


def test_a_sweep_writes_tables_and_figures_and_a_wider_one_goes_on(tmp_path, monkeypatch):
    def ask(**changes):
        sweep = Sweep(["cliques=3", "degree=1"], variables=[8], rows=["200"], **changes)
        return Request(["sweep"], tmp_path, methods=["lmarvel"], reps=1, workers=1, sweep=sweep)

    names = [path.name for path in reproduce(ask(latent=[0, 1]))]
    assert names == ["runs.csv", "sweep.csv", "sweep.md", "sweep.png", "sweep.svg"]
    assert "| skeleton F1 | L-MARVEL |" in (tmp_path / "sweep.md").read_text()
    seen = []

    def spy(jobs, *rest):
        seen.extend(jobs)
        return usual(jobs, *rest)

    usual = module.run_all
    monkeypatch.setattr(module, "run_all", spy)
    reproduce(ask(latent=[0, 1, 2]))
    assert [(job.setting.structure, job.setting.latent) for job in seen] == [("cliques=3", 2), ("degree=1", 2)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"latent": []}, "--latent is empty"),
        ({"latent": [2, 2]}, "--latent names a value twice: 2, 2"),
        ({"selection": [-1]}, "--selection must be at least 0, not -1"),
        ({"variables": [1]}, "--variables must be at least 2, not 1"),
        ({"latent": [36]}, "--latent 36 and --selection 0 leave 1 of the 37 variables of alarm to observe"),
        ({"rows": ["many"]}, "--rows takes sample sizes such as 1000, or 50x for 50 per variable, not 'many'"),
        ({"rows": ["0x"]}, "--rows takes sample sizes"),
        ({"rows": ["050x"]}, "--rows takes sample sizes"),
        ({"rows": ["500", "2"]}, "--rows must be at least 4, not 2"),
        ({"rows": ["1x"], "latent": [35], "selection": [0]}, "--rows 1x is 2 rows for the 2 observed variables of"),
        ({"rows": ["9" * 5000]}, r"--rows takes numbers of at most 9 digits, not 9{40}\.\.\."),
        ({"latent": [10**5000]}, "--latent must be less than 1,000,000,000"),
        ({"ranges": "wide"}, "unknown --ranges 'wide': choose from benchmark"),
        ({"structures": ["parents=x"]}, "--structure parents<=x: parents<= goes with a number of at least 0, not 'x'"),
        ({"structures": ["parents=1_0"]}, "parents<= goes with a number of at least 0, not '1_0'"),
        ({"structures": ["degree=1_0"]}, "degree= goes with a number of at least 0, not '1_0'"),
        ({"structures": ["degree=nan"]}, "degree= goes with a number of at least 0, not 'nan'"),
        ({"structures": ["parents=" + "9" * 5000]}, r"at least 0, not '9{40}\.\.\.' \(at most six digits\)"),
        ({"structures": ["parents=3", "parents=03"]}, "--structure names a value twice: parents<=3, parents<=3"),
        (
            {"structures": ["erdos-renyi=3"], "variables": [5]},
            "--structure erdos-renyi=3 is not a kind of random graph",
        ),
        ({"structures": ["cliques=0"]}, "cliques= goes with a number of at least 1, not '0'"),
        ({"structures": ["alarm"], "variables": [20]}, "--variables is for random graphs, and alarm has its own"),
    ],
)
def test_what_cannot_be_run_is_refused(changes, message):
    with pytest.raises(ParameterError, match=message):
        plan(**changes)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("parents=03", "parents<=3"),
        ("degree=2.50", "degree=2.5"),
        ("degree=2.0", "degree=2"),
        ("degree=0.0001", "degree=0.0001"),
        ("cliques=004", "cliques=4"),
        ("erdos-renyi", "erdos-renyi"),
    ],
)
def test_a_kind_of_random_graph_has_one_name(given, name):
    assert {s.structure for s in plan(structures=[given]).settings} == {name}


def test_four_rows_will_do():
    assert {s.rows for s in plan(rows=["4"]).settings} == {4}
    assert {s.rows for s in plan(structures=["alarm"], latent=[35], selection=[0], rows=["2x"]).settings} == {4}


def test_only_what_is_asked_for_is_named(tmp_path):
    def refusal(*structures):
        with pytest.raises(DataError) as caught:
            Request(["sweep"], tmp_path, networks=tmp_path / "none", sweep=Sweep(structures)).check()
        return str(caught.value)

    assert refusal("alarm").endswith("--networks names one that holds structures that are not part of the package")
    assert refusal("asia").endswith("--networks names one that holds asia.csv")
    with pytest.raises(DataError, match="the structure asia is not part of the package"):
        Request(["sweep"], tmp_path, sweep=Sweep(["asia"], variables=[5])).check()


def test_an_unknown_structure_and_options_without_a_sweep_are_refused(tmp_path):
    with pytest.raises(DataError, match="the structure asia is not part of the package: give --networks"):
        reproduce(Request(["sweep"], tmp_path / "r", sweep=Sweep(["asia"])))
    with pytest.raises(ParameterError, match="what to vary is for sweep, not for table2: leave it out"):
        reproduce(Request(["table2"], tmp_path / "r", sweep=Sweep(["alarm"])))
    assert not (tmp_path / "r").exists()


# --- the command line -------------------------------------------------------------------------------------


def test_a_sweep_from_the_command_line(tmp_path):
    options = ("--structure", "parents=2", "--variables", "8", "--latent", "0,1", "--selection", "0,1", "--rows", "200")
    done = run(
        "reproduce", "sweep", *options, "--methods", "lmarvel", "--reps", "1", "--jobs", "1", "--out", tmp_path / "r"
    )
    assert done.code == 0, done.err
    assert "parents<=2 (6,1,1) 200" in (tmp_path / "r" / "sweep.md").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("sweep", "--latent", "0,two"), "--latent takes whole numbers with commas between them, not 'two'"),
        (("sweep", "--latent", "9" * 5000), "--latent takes numbers of at most 9 digits, not 999"),
        (("sweep", "--rows", "9" * 5000), "--rows takes numbers of at most 9 digits, not 999"),
        (("sweep", "--rows", "2"), "--rows must be at least 4, not 2"),
        (("sweep", "--latent", "39"), "leave 1 of the 40 variables of parents<=3 to observe"),
        (("table2", "--latent", "0"), "what to vary is for sweep, not for table2"),
        (("sweep", "--structure", "asia"), "the structure asia is not part of the package"),
    ],
)
def test_mistakes_are_told(tmp_path, options, message):
    done = run("reproduce", *options, "--out", tmp_path / "r")
    assert (done.code, message in done.err) == (2, True)
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("name", "runs", "note"),
    [
        ("figure2", "figure3", "note: figure2 is now figure3"),
        ("figure3", "figure3", "note: figure3 is the paper's Figure 3, on random graphs"),
        ("random-graphs", "figure3", ""),
        ("sample-size", "figure4", ""),
    ],
)
def test_old_names_of_figures_are_told_what_they_mean_now(tmp_path, name, runs, note):
    assert [e.name for e in Request([name], tmp_path).check()] == [runs]
    done = run("reproduce", name, "--reps", "0", "--out", tmp_path / "r")  # refused after the note
    assert done.code == 2
    assert note in done.err
    assert ("note:" in done.err) == bool(note)
