"""Exceptions and warnings, each with a message that a user can act on.

Everything that the package raises on bad input derives from :class:`LMarvelError`, which is a
:class:`ValueError`: code that knows nothing of this package still catches it. The message names the
culprit (the column, the edge, the parameter) and says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class LMarvelError(ValueError):
    """Base of all errors that this package raises on purpose.

    Attributes
    ----------
    parameter : str or None
        The parameter that the message is about, and with which it begins.

    Examples
    --------
    >>> issubclass(GraphError, LMarvelError) and issubclass(LMarvelError, ValueError)
    True
    >>> error = ParameterError("must be at least 1, not 0", parameter="max_tests")
    >>> str(error), error.naming("--max-tests")
    ('max_tests must be at least 1, not 0', '--max-tests must be at least 1, not 0')
    """

    def __init__(self, message: str = "", *, parameter: str | None = None) -> None:
        super().__init__(message if parameter is None else f"{parameter} {message}")
        self.message, self.parameter = message, parameter

    def naming(self, name: str) -> str:
        """Return the message with its parameter under another name, such as that of an option."""
        return f"{name} {self.message}"


class GraphError(LMarvelError):
    """A graph is malformed, or is not of the kind it claims to be.

    Examples
    --------
    >>> from lmarvel import DAG
    >>> DAG.from_edges("A --> B", "B --> A")
    Traceback (most recent call last):
    ...
    lmarvel.errors.GraphError: the pair A, B has two edges, 'A --> B' and 'B --> A': a graph has one edge per pair
    """


class CITestError(LMarvelError):
    """A conditional-independence test cannot answer, or answered nonsense.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> LMarvel(test=lambda x, y, given: 2.0).fit(names=["A", "B"])
    Traceback (most recent call last):
    ...
    lmarvel.errors.CITestError: the test answered 2.0 for A, B given nothing: a p-value between 0 and 1 is needed
    """


class ParameterError(LMarvelError):
    """A parameter has a value that makes no sense; the message names it and its range.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> LMarvel(alpha=1.5).fit({"A": [1, 2, 3], "B": [2, 1, 4]})
    Traceback (most recent call last):
    ...
    lmarvel.errors.ParameterError: alpha must lie strictly between 0 and 1, not 1.5; 0.01 is a usual choice
    """


class DataError(LMarvelError):
    """A table cannot be used as it is; the message names the column, row or value.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> LMarvel().fit({"dose": [1, 2, 4, 3], "y": [7, 5, 6, 9]}, categorical=["does"])
    Traceback (most recent call last):
    ...
    lmarvel.errors.DataError: categorical names 'does', but the table has no such column: dose, y; did you mean 'dose'?
    """


class UnusableError(DataError):
    """A table that can be read, but that no test can be run on as it is; something has to be left out or mended.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> LMarvel().fit({"A": [1, 2, 3, 4, 5], "B": [7, 7, 7, 7, 7]})
    Traceback (most recent call last):
    ...
    lmarvel.errors.UnusableError: column 'B' is constant: drop it
    """


class LMarvelWarning(UserWarning):
    """Something a user should know, though the result is valid.

    Examples
    --------
    >>> issubclass(LMarvelWarning, UserWarning)
    True
    """


class KnowledgeError(ParameterError):
    """Statements cannot be used: unreadable, about unknown variables, or contradictory."""


class OutputError(LMarvelError):
    """A file cannot be written where it was asked for."""


class SettingsError(LMarvelError):
    """A settings file cannot be read, or says what no command knows."""


class WorkerError(LMarvelError):
    """Workers died or cannot be reached."""


class PeerError(LMarvelError):
    """A program of others failed."""


class ResultError(LMarvelError):
    """A result file cannot be used: damaged, of a newer version, or something else altogether."""


class FormatError(LMarvelError):
    """A graph cannot be read from, or written to, a format.

    Attributes
    ----------
    reason : str
        What is wrong, and what to do.
    line : int or None
        The line of the text at fault, counted from 1.
    path : Path or None
        The file.

    Examples
    --------
    >>> str(FormatError("the edge is cut off", line=3).within(Path("found.txt")))
    'found.txt, line 3: the edge is cut off'
    """

    def __init__(self, reason: str, line: int | None = None, path: Path | None = None) -> None:
        place = ", ".join([*([str(path)] if path else []), *([f"line {line}"] if line else [])])
        super().__init__(f"{place}: {reason}" if place else reason)
        self.reason, self.line, self.path = reason, line, path

    def within(self, path: Path) -> FormatError:
        """Return the same error with the file named."""
        return FormatError(self.reason, self.line, path)


class EdgeListError(GraphError):
    """A list of edges cannot be read; ``reason`` says why, and ``line`` where (None where it is no single line)."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.reason, self.line = reason, line


class Determined(UnusableError):
    """A column is a combination of others; ``culprit`` is the one to drop.

    Examples
    --------
    >>> print(Determined("total", ["a", "b"]))
    the column 'total' is determined by 'a', 'b': together they are collinear. Drop one of them
    """

    def __init__(self, culprit: str, others: Sequence[str]) -> None:
        shown = ", ".join(repr(name) for name in dict.fromkeys(others) if name != culprit)
        super().__init__(
            f"the column {culprit!r} is determined by {shown}: together they are collinear. Drop one of them"
        )
        self.culprit, self.others = culprit, tuple(dict.fromkeys(name for name in others if name != culprit))


class DeterminedVariable(DataError):
    """A variable, by its number, that those before it determine; ``others`` are the numbers of these."""

    def __init__(self, variable: int, others: Sequence[int]) -> None:
        super().__init__(f"the variable number {variable} is determined by those before it: drop one of them")
        self.variable, self.others = variable, others

    def named(self, names: Sequence[str]) -> Determined:
        """Return the same error with the names of the variables."""
        return Determined(names[self.variable], [names[v] for v in self.others])


class Degenerate(DataError):
    """The covariance of some variables is singular, as far as rounding lets one see."""

    def __init__(self, variables: Sequence[int], names: Sequence[str] | None = None) -> None:
        shown = ", ".join(f"number {v}" if names is None else repr(names[v]) for v in variables)
        super().__init__(f"the likelihood has no maximum: the variables {shown} are collinear. Drop one of them")
        self.variables = variables


class BudgetSpent(Exception):
    """A budget ran out; what is known so far stands."""


class TooLarge(DataError):
    """A table needs more memory than a run may take; the message says how much."""


class NotNumbers(DataError):
    """A file that is read in pieces as numbers holds something else: it has to be read into memory, with levels."""


class NotUnicode(DataError):
    """A text file is not in UTF-8."""


class OutOfTime(Exception):
    """The deadline has passed."""
