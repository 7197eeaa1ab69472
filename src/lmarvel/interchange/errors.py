"""The error of every reader and writer of graphs."""

from __future__ import annotations

from pathlib import Path

from lmarvel.errors import LMarvelError


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


def refuse_name(name: str, form: str, why: str) -> FormatError:
    """Return the error for a variable whose name a format has no way to write."""
    return FormatError(f"{form} cannot hold the variable name {name!r}: {why}. Rename it, or choose another format")
