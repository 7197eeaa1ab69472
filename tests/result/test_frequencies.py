"""Frequencies over replicates are plain counts, and what they count is true of every graph of a class."""

import sys

import numpy as np
import pytest

from lmarvel import PAG, ParameterError
from lmarvel.graph.bitsets import closure
from lmarvel.result.support.frequencies import Stability, Tally, reachable
from lmarvel.simulate import Study
from tests.generators import random_study

NAMES = ["A", "B", "C"]


def pags(*texts):
    return [PAG.from_edges(*text.split(", "), nodes=NAMES) if text else PAG.from_edges(nodes=NAMES) for text in texts]


def test_shares_are_counts_over_all_replicates_and_over_those_with_the_edge():
    found = Stability.of(pags("A o-> C, B o-> C", "A --> C, B o-> C", "A --> C", "A --> C, A --> B"), selection=False)
    assert found.replicates == 4
    assert (found.edge("B", "C"), found.edge("C", "B"), found.edge("A", "C")) == (0.5, 0.5, 1.0)
    assert found.mark("C", "A") == {"circle": 0.25, "arrowhead": 0.0, "tail": 0.75}
    assert found.mark("C", "B") == {"circle": 1.0, "arrowhead": 0.0, "tail": 0.0}
    assert found.mark("A", "B") == {"circle": 0.0, "arrowhead": 1.0, "tail": 0.0}
    assert (found.causes_share("A", "C"), found.causes_share("A", "B")) == (0.75, 0.25)
    assert found.not_causes_share("C", "A") == 1.0
    assert found.not_causes_share("A", "B") == 0.75  # in three graphs no path leads from A to B


@pytest.mark.parametrize("after", range(1, 15))
def test_an_interruption_at_any_step_leaves_no_graph_half_counted(after):
    """A signal may arrive between any two lines: a trace function raises at each line of ``add`` in turn."""
    tally, graphs, steps = Tally(NAMES), pags("A --> C, B o-> C", "A o-> C"), 0
    tally.add(graphs[0].marks)
    before = tally.stability()

    def interrupting(frame, event, _):
        nonlocal steps
        if frame.f_code is not Tally.add.__code__:
            return None
        steps += event == "line"
        if event == "line" and steps == after:
            raise KeyboardInterrupt
        return interrupting

    traced = sys.gettrace()
    sys.settrace(interrupting)
    try:
        tally.add(graphs[1].marks)
        expected = None
    except KeyboardInterrupt:
        expected = before
    finally:
        sys.settrace(traced)
    assert tally.stability() == (expected or Stability.of(graphs))


def test_a_claim_holds_in_the_true_graph_whatever_was_hidden():
    claimed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        study = Study(*random_study(rng, 6, latent=2, selection=seed % 3, heavy=seed % 2 == 1))
        tally = Tally(study.pag.names, selection=bool(study.selection))
        tally.add(study.pag.marks)
        found = tally.stability()
        above = [closure(study.dag.masks.parents, 1 << v) for v in range(len(study.dag))]
        for x in study.observed:
            for y in study.observed:
                is_cause = x != y and above[study.dag.index(y)] >> study.dag.index(x) & 1
                if found.causes_share(x, y):
                    claimed += 1
                    assert is_cause, (seed, x, y)
                if found.not_causes_share(x, y):
                    claimed += 1
                    assert not is_cause, (seed, x, y)
    assert claimed > 300


def test_the_stable_part_keeps_what_recurs_and_turns_other_marks_into_circles():
    learned, *others = pags("A --> C, B o-> C", "A --> C, B o-> C", "A o-> C, B o-> C", "A o-> C", "A o-> C, A o-o B")
    found = Stability.of([learned, *others])
    assert str(found.stable(learned, 0.5)) == "nodes: A B C\nA o-> C\nB o-> C"
    assert str(found.stable(learned, 0.7)) == "nodes: A B C\nA o-> C"
    assert str(found.stable(learned, 0.0)) == str(learned)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        found.stable(learned, 1.5)
    with pytest.raises(ParameterError, match="same variables"):
        found.stable(PAG.from_edges("A o-o B"))


def test_many_steps_are_reached_like_few():
    rng = np.random.default_rng(0)
    for p in (1, 2, 7, 40):
        step = rng.random((p, p)) < 1.5 / p
        power, expected = step.copy(), step.copy()
        for _ in range(p):
            power = (power.astype(int) @ step.astype(int)) > 0
            expected |= power
        np.testing.assert_array_equal(reachable(step), expected)


def test_counts_of_nothing_and_of_strangers_are_refused():
    with pytest.raises(ParameterError, match="no graph"):
        Stability.of([])
    with pytest.raises(ParameterError, match="same variables"):
        Stability.of([PAG.from_edges("A o-o B"), PAG.from_edges("A o-o C")])
    with pytest.raises(ParameterError, match="no variable 'Q'"):
        Stability.of(pags("A --> C")).edge("A", "Q")
    assert not Stability.of(pags("A --> C")).adjacent.flags.writeable
