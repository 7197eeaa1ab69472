"""The command line: ``lmarvel learn data.csv``.

Exit codes: 0 success, 2 bad input or usage, 3 a limit ended the search early (what was found so far
is printed), 130 interrupted.
"""

from lmarvel.budget.starting import loading

with loading():
    from lmarvel.cli import (  # they register themselves
        checking,
        describing,
        effects,
        learning,
        reproducing,
        showing,
        simulating,
    )
    from lmarvel.cli.app import app, main, ordered

__all__ = ["app", "checking", "describing", "effects", "learning", "main", "reproducing", "showing", "simulating"]

# As somebody comes upon them: a look, a table, a result and what is asked of it; then the research.
ordered(
    *("demo", "app", "describe", "learn", "compare", "tune", "check", "explain", "causes", "effect", "settle"),
    *("report", "draw", "convert", "score", "simulate", "reproduce"),
)
