"""What is handed to other programs says no more than the data do."""

from __future__ import annotations

import pytest

from lmarvel import ADMG, PAG, GraphError, all_effects, effect, mag_to_pag
from lmarvel.effects import exported
from lmarvel.effects.knowing.informed import informed
from lmarvel.graph.projection import without_latent
from lmarvel.knowledge import Knowledge
from tests.effects.classes import classes
from tests.effects.test_answer import BACKDOOR


@pytest.mark.parametrize("number", range(0, 300, 25))
def test_what_is_not_identified_is_not_identified_in_what_is_exported(number: int) -> None:
    pag = classes()[number]
    for one in all_effects(pag):
        out = exported(pag, one.x, one.y)
        assert mag_to_pag(out.dag.project(out.latent)) == pag
        assert out.dowhy["status"] == one.status
        if one.status == "not identified":
            assert out.because == out.dowhy["because"] == one.because
            admg = ADMG(*without_latent(out.dag, out.latent))
            assert effect(admg, one.x, one.y).status == "not identified"


def test_effects_that_differ_between_explanations_are_refused() -> None:
    ready = informed(PAG.from_edges("X o-o Y"), Knowledge(latents=False))
    with pytest.raises(GraphError, match="is not identified, and no single graph shows that: another program"):
        exported(ready, "X", "Y")


def test_econml_gets_the_controls_or_nothing() -> None:
    assert exported(BACKDOOR, "X", "Y").econml == {"Y": "Y", "T": "X", "W": ["A"]}
    with pytest.raises(GraphError, match="EconML adjusts for controls, and for the effect of A on Y it is not"):
        _ = exported(BACKDOOR, "A", "Y").econml


def test_what_was_stated_is_in_the_graph() -> None:
    out = exported(informed(PAG.from_edges("X o-o Y", "Y o-o Z"), Knowledge(randomised=["Z"])), "Z", "X")
    assert out.status == "adjustment"
    assert out.latent == ()
    assert out.dag.parents("Y") == {"Z"}
