"""The curves of a figure can be told apart, in colour and in print."""

from itertools import combinations

import pytest

from lmarvel.experiments import figures
from lmarvel.experiments.figures import styles_of
from lmarvel.experiments.methods import METHODS
from lmarvel.experiments.reproduce import EXPERIMENTS
from lmarvel.experiments.studies import ACCURACY

PEERS = tuple(name for name in METHODS if name.startswith("causal-learn"))
SETS = {name: experiment.methods for name, experiment in EXPERIMENTS.items()}
SETS["accuracy with peers"] = ACCURACY.methods + PEERS


@pytest.mark.parametrize("methods", SETS.values(), ids=SETS)
def test_methods_of_an_experiment_differ_in_colour_and_in_marker(methods):
    styles = styles_of(methods)
    assert list(styles) == list(methods)
    for a, b in combinations(methods, 2):
        assert styles[a].colour != styles[b].colour, (a, b)
        assert styles[a].marker != styles[b].marker, (a, b)


def test_every_method_has_a_style_that_no_other_has():
    assert set(METHODS) <= set(figures._STYLE)
    assert len({(s.colour, s.marker) for s in figures._STYLE.values()}) == len(figures._STYLE)


def test_methods_without_a_style_get_one_each_and_the_same_again():
    names = [*METHODS, *(f"new-{i}" for i in range(42))]
    styles = styles_of(names)
    assert len({(s.colour, s.marker) for s in styles.values()}) == len(names)
    assert styles_of(names) == styles
    first = [styles[f"new-{i}"] for i in range(6)]
    assert len({s.colour for s in first}) == len({s.marker for s in first}) == 6
    assert len(set(styles_of([f"new-{i}" for i in range(168)]).values())) == 168


def test_markers_are_those_of_matplotlib():
    markers = pytest.importorskip("matplotlib.markers").MarkerStyle.markers
    assert {s.marker for s in figures._STYLE.values()} | set(figures._MARKERS) <= set(markers)
