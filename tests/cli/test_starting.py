"""The first tenths of a second of a command, and what they leave alone in a program that has loaded NumPy itself."""

import os
import subprocess
import sys

import pytest

BLAS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "OMP_NUM_THREADS")
INTERRUPTS_ITSELF = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *more):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
import lmarvel.cli
"""


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run lines of Python in a process of their own, whose BLAS nobody has limited but the environment given."""
    inherited = {name: value for name, value in os.environ.items() if name not in BLAS}
    return subprocess.run(
        [sys.executable, "-c", code], env=inherited | environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("before", "environment", "threads"),
    [
        ("", {}, "1"),
        ("", {"OPENBLAS_NUM_THREADS": "3"}, "3"),
        ("", {"OMP_NUM_THREADS": "2"}, "None"),
        ("import numpy; ", {}, "None"),
    ],
)
def test_a_command_gives_blas_one_thread_unless_told_otherwise(
    before: str, environment: dict[str, str], threads: str
) -> None:
    done = python(f"{before}import lmarvel.cli, os; print(os.environ.get('OPENBLAS_NUM_THREADS'))", **environment)
    assert (done.stdout, done.stderr) == (f"{threads}\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
@pytest.mark.parametrize("module", ["numpy", "typer", "lmarvel.cli.learning"])
def test_an_interruption_while_the_program_is_loaded_is_told_in_one_line(module: str) -> None:
    done = python(INTERRUPTS_ITSELF.format(module=module))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "lmarvel: interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_an_interruption_that_is_ignored_stays_so_while_the_program_is_loaded() -> None:
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    still = "print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)"
    done = python(f"{ignoring}\n{INTERRUPTS_ITSELF.format(module='numpy')}\n{still}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_once_loaded_an_interruption_is_the_usual_one() -> None:
    done = python("import lmarvel.cli, signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)")
    assert done.stdout == "True\n"


def test_the_package_loads_nothing_until_something_of_it_is_asked_for() -> None:
    done = python("import lmarvel, sys; print('numpy' in sys.modules); lmarvel.FCI; print('numpy' in sys.modules)")
    assert done.stdout == "False\nTrue\n"


def test_the_package_has_all_its_names_and_no_others() -> None:
    code = """
import lmarvel
assert {*lmarvel.__all__} <= {*dir(lmarvel)} and "__version__" in dir(lmarvel)
from lmarvel import *
assert all(globals()[name] is getattr(lmarvel, name) for name in lmarvel.__all__)
assert lmarvel.graph.marks.Mark is lmarvel.Mark
for name in ("nothing", "__nothing__"):
    assert not hasattr(lmarvel, name)
lmarvel.nothing
"""
    done = python(code)
    assert done.stderr.splitlines()[-1] == "AttributeError: module 'lmarvel' has no attribute 'nothing'"
