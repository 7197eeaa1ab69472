"""What answers questions about effects is loaded when somebody asks, and asks for the same things under both names."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import lmarvel
from lmarvel import asking, effects

NAMES = [name for name, value in vars(asking).items() if inspect.isfunction(value)]


def test_importing_the_package_does_not_load_what_answers() -> None:
    script = """
import sys, lmarvel
print([name for name in sys.modules if name.startswith("lmarvel.effects")])
print(lmarvel.effect(lmarvel.PAG.from_edges("A o-> C", "B o-> C", "C --> D"), "C", "D").status)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "adjustment"]


@pytest.mark.parametrize("name", [name for name in NAMES if name in effects.__all__])
def test_a_question_takes_what_the_answer_takes(name: str) -> None:
    asked, answers = inspect.signature(vars(lmarvel)[name]), inspect.signature(vars(effects)[name])
    plain = [[(p.name, p.kind, p.default) for p in one.parameters.values()] for one in (asked, answers)]
    assert plain[0] == plain[1]


def test_all_questions_are_offered() -> None:
    assert len(NAMES) == 8
    assert [name for name in NAMES if name not in effects.__all__] == ["effect_learned_again"]  # which learns as well
    assert set(NAMES) <= set(lmarvel.__all__)
