"""What an answer shows at the prompt of a notebook or of IPython: its words, and not the fields that hold them."""

from __future__ import annotations

from typing import Protocol


class Printer(Protocol):
    """What IPython hands to an object that is to show itself."""

    def text(self, obj: str) -> None:
        """Show a text."""


class ShownAsText:
    """An object that shows, where it is the last line of a cell, what printing it shows.

    Examples
    --------
    >>> class Answer(ShownAsText):
    ...     def __str__(self) -> str:
    ...         return "yes"
    >>> class Screen:
    ...     def text(self, obj: str) -> None:
    ...         print(obj)
    >>> Answer()._repr_pretty_(Screen(), False)
    yes
    """

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        printer.text(str(self))
