"""What an answer shows at the prompt of a notebook or of IPython: its words, and not the fields that hold them."""

from __future__ import annotations

from typing import Any


class ShownAsText:
    """An object that shows, where it is the last line of a cell, what printing it shows.

    Examples
    --------
    >>> class Answer(ShownAsText):
    ...     def __str__(self) -> str:
    ...         return "yes"
    >>> Answer()._repr_mimebundle_()
    {'text/plain': 'yes'}
    """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the words; IPython looks here first, and for its other ways only beside a class's own ``__repr__``."""
        return {"text/plain": str(self)}
