"""The options of the command line are the parameters of the methods."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from lmarvel import FCI, M3HC
from lmarvel.cli.options import documented_parameters, method_options, shared_options
from lmarvel.datasets import CARS
from lmarvel.estimators import METHODS
from tests.cli.running import confounded, run, write_csv

# Knowledge has options of its own: tests/knowledge/test_command_line.py.
PARAMETERS = [
    (method, name)
    for method in METHODS
    for name in inspect.signature(METHODS[method]).parameters
    if name != "knowledge"
]
VALUES: dict[str, Any] = {
    "alpha": 0.02,
    "test": "fisher-z",
    "boundary": "iamb",
    "boundary_alpha": 0.003,
    "removal_threshold": 0.7,
    "penalty": 1.5,
    "restarts": 2,
    "seed": 3,
    "colliders": "majority",
    "possible_d_sep": "classic",
    "n_jobs": 2,
    "max_k": 3,
    "tabu": 4,
    "patience": 5,
    "max_iterations": 6,
    "start": "lmarvel",
    "max_conditioning": 3,
    "max_tests": 100_000,
    "max_seconds": 50.0,
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("options") / "data.csv", confounded(200))


@pytest.mark.parametrize(("method", "name"), PARAMETERS)
def test_every_parameter_of_every_method_can_be_given(method: str, name: str, table: Path) -> None:
    option = method_options()[name]
    default = inspect.signature(METHODS[method]).parameters[name].default
    if option.kind is bool:
        value: Any = not default
        words = [option.flag if value else option.flag.replace("--", "--no-", 1)]
    else:
        value = VALUES[name]
        words = [option.flag, str(value)]
    done = run("learn", table, "--method", method, *words, "--format", "json")
    assert done.code in (0, 3), done.err
    assert json.loads(done.out)["settings"][name] == value


@pytest.mark.parametrize("method", METHODS)
def test_an_option_of_other_methods_is_refused_with_their_names(method: str, table: Path) -> None:
    for name, option in method_options().items():
        if method not in option.methods:
            words = [option.flag] if option.kind is bool else [option.flag, str(VALUES[name])]
            owners = " and ".join(option.methods)
            done = run("learn", table, "--method", method, *words)
            message = f"lmarvel: {option.flag} is an option of {owners}, not of {method}: leave it out\n"
            assert done == (2, "", message)


def test_without_options_a_method_has_its_own_defaults(table: Path) -> None:
    for method, estimator in METHODS.items():
        settings = json.loads(run("learn", table, "--method", method, "--format", "json").out)["settings"]
        expected = estimator().fit(table).result_.settings
        assert settings == json.loads(json.dumps(dict(expected)))


def test_several_options_at_once() -> None:
    words = ("--colliders", "majority", "--max-p", "--possible-d-sep", "classic", "--n-jobs", "2")
    done = run("learn", CARS, "--method", "fci", *words, "--format", "edges", "--marks", "all")
    expected = FCI(colliders="majority", max_p=True, possible_d_sep="classic", n_jobs=2).fit(CARS).pag_
    assert (done.code, done.out) == (0, f"{expected}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "fci", "--colliders", "vote"), "colliders must be one of"),
        (("--method", "m3hc", "--tabu", "-1"), "tabu must be a whole number"),
        (("--method", "m3hc", "--start", "fci"), "start must be one of empty, lmarvel, lift"),
        (("--method", "m3hc", "--start", "lmarvel", "--boundary", "none"), "needs Markov boundaries"),
        (("--boundary", "none"), "boundary must be one of"),
        (("--test", "chi"), "test must be"),
    ],
)
def test_values_that_make_no_sense_are_refused(words: tuple[str, ...], message: str) -> None:
    done = run("learn", CARS, *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


def test_help_says_what_each_option_is_for() -> None:
    options = method_options()
    assert all(option.sentence.endswith(".") for option in options.values())
    assert options["colliders"].choices == ("standard", "conservative", "majority")
    assert options["tabu"].help == "m3hc: How many of the last graphs not to go back to."
    assert options["alpha"].help == "Significance level of the independence tests."
    shown = "".join(run("learn", "--help").out.split())
    assert "--max-iterations" in shown
    assert set(documented_parameters(M3HC)) >= {"max_k", "tabu", "patience", "max_iterations", "boundary"}


def test_a_comparison_has_the_options_that_all_methods_share() -> None:
    shared = shared_options()
    assert {"alpha", "boundary", "boundary_alpha", "selection", "max_seconds"} <= set(shared)
    assert "tabu" not in shared
    words = ("--methods", "lmarvel,mbcs", "--boundary-alpha", "0.004", "--no-selection", "--format", "json")
    compared = json.loads(run("compare", CARS, *words).out)
    for found in compared["methods"].values():
        assert (
            found["result"]["settings"].items()
            >= {"boundary_alpha": 0.004, "selection": False, "max_seconds": 60.0}.items()
        )
    assert run("compare", CARS, "--tabu", "3").code == 2
    done = run("compare", CARS, "--alpha", "2")
    assert (done.code, "alpha must lie" in done.err) == (2, True)
