"""The table of rules: what others read off it."""

from __future__ import annotations

import dataclasses

import pytest

from lmarvel.graph.marks import ARROW, TAIL
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.rule import Stage
from lmarvel.orient.rules import RULES


def test_every_rule_stands_under_its_name() -> None:
    assert list(RULES) == [f"R{k}" for k in range(11)]
    assert all(name == rule.name for name, rule in RULES.items())


def test_rules_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        RULES["R11"] = RULES["R0"]  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        RULES["R1"].least = 2  # type: ignore[misc]


def test_the_stages_are_those_of_zhang() -> None:
    stages = {stage: [rule.name for rule in RULES.values() if rule.stage == stage] for stage in Stage}
    assert list(stages.values()) == [["R0"], ["R1", "R2", "R3", "R4"], ["R5"], ["R6", "R7"], ["R8", "R9", "R10"]]
    assert [rule.name for rule in RULES.values() if rule.needs_selection] == ["R5", "R6", "R7"]


@pytest.mark.parametrize(
    ("use", "admitted"),
    [
        (RuleApplication("R1", (0, 1, 2), ((2, 1, TAIL), (1, 2, ARROW))), True),
        (RuleApplication("R1", (0, 1, 2), (), ((2, 1, TAIL),)), True),
        (RuleApplication("R1", (1, 2), ((2, 1, TAIL),)), False),  # too few nodes
        (RuleApplication("R1", (0, 1, 2), ()), False),  # no mark
        (RuleApplication("R2", (0, 1, 2), ((0, 2, ARROW),)), False),  # of another rule
        (RuleApplication("R1", (0, 1, 2), ((3, 1, TAIL),)), False),  # a mark elsewhere
    ],
)
def test_a_record_that_cannot_be_a_use_of_the_rule_is_known(use: RuleApplication, admitted: bool) -> None:
    assert RULES["R1"].admits(use) == admitted
