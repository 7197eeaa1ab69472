"""The command line: ``lmarvel learn data.csv``.

Exit codes: 0 success, 2 bad input or usage, 3 a limit ended the search early (what was found so far
is printed), 130 interrupted.
"""

from lmarvel.cli import describing, effects, learning, reproducing, showing, simulating  # they register themselves
from lmarvel.cli.app import app, main

__all__ = ["app", "describing", "effects", "learning", "main", "reproducing", "showing", "simulating"]
