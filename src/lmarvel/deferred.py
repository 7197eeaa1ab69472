"""Sequences and mappings that are made when somebody looks at them.

A run that took a millisecond should not spend three more on records that nobody reads. What stands here reads like the
tuple or the mapping that it stands for: it has the same items, equality, hash and text, and is stored and copied as
that. It is not of that type: ``isinstance(x, tuple)`` and ``isinstance(x, dict)`` are false, tuples can be added but
not compared by ``<`` or repeated by ``*``, and what asks for the type itself (``json``, ``%`` formatting) wants
``tuple(x)`` or ``dict(x)``.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key")
Value = TypeVar("Value")


class LazyTuple(Sequence[Item]):
    """A sequence that reads like a tuple, which is made at the first look.

    Examples
    --------
    >>> squares = LazyTuple(lambda: tuple(x * x for x in range(4)))
    >>> squares[2], len(squares), squares == (0, 1, 4, 9), squares
    (4, 4, True, (0, 1, 4, 9))
    >>> squares + (16,), isinstance(squares, tuple)
    ((0, 1, 4, 9, 16), False)
    """

    def __init__(self, make: Callable[[], tuple[Item, ...]]) -> None:
        self._make: Callable[[], tuple[Item, ...]] | None = make
        self._made: tuple[Item, ...] = ()

    @property
    def made(self) -> tuple[Item, ...]:
        """The tuple itself."""
        make = self._make
        if make is not None:  # two threads may both make it, of the same parts
            self._made = make()
            self._make = None
        return self._made

    @property
    def is_made(self) -> bool:
        """Whether somebody has looked."""
        return self._make is None

    def __len__(self) -> int:
        return len(self.made)

    def __getitem__(self, index: Any) -> Any:
        return self.made[index]

    def __iter__(self) -> Iterator[Item]:
        return iter(self.made)

    def __eq__(self, other: object) -> bool:
        return self.made == (other.made if isinstance(other, LazyTuple) else other)

    def __add__(self, other: tuple[Any, ...] | LazyTuple[Any]) -> tuple[Any, ...]:
        if isinstance(other, LazyTuple):
            return self.made + other.made
        return self.made + other if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: tuple[Any, ...]) -> tuple[Any, ...]:
        return other + self.made if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.made)

    def __repr__(self) -> str:
        return repr(self.made)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.made,)


class LazyMapping(Mapping[Key, Value]):
    """A mapping that is made at the first look; it reads like a dict, and cannot be changed.

    Examples
    --------
    >>> lengths = LazyMapping(lambda: {"one": 3, "three": 5})
    >>> lengths["one"], len(lengths), lengths == {"one": 3, "three": 5}
    (3, 2, True)
    >>> lengths | {"two": 3}, isinstance(lengths, dict)
    ({'one': 3, 'three': 5, 'two': 3}, False)
    """

    def __init__(self, make: Callable[[], Mapping[Key, Value]]) -> None:
        self._make: Callable[[], Mapping[Key, Value]] | None = make
        self._made: Mapping[Key, Value] = {}

    @property
    def made(self) -> Mapping[Key, Value]:
        """The mapping itself."""
        make = self._make
        if make is not None:
            self._made = make()
            self._make = None
        return self._made

    def __getitem__(self, key: Key) -> Value:
        return self.made[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)

    def __contains__(self, key: object) -> bool:
        return key in self.made

    def __eq__(self, other: object) -> bool:
        return self.made == (other.made if isinstance(other, LazyMapping) else other)

    def __or__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return dict(self.made.items()) | dict(other.items()) if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return dict(other.items()) | dict(self.made.items()) if isinstance(other, Mapping) else NotImplemented

    def copy(self) -> dict[Key, Value]:
        """Return the mapping as a dict, which can be changed."""
        return dict(self.made)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.made)

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self.made,)


def _itself(value: Any) -> Any:
    """Return what was passed: a mapping that was made is stored as what it stands for."""
    return value


@contextmanager
def without_collection() -> Iterator[None]:
    """Make very many small objects without having the garbage collector look at all of them again and again.

    Examples
    --------
    >>> with without_collection():
    ...     gc.isenabled()
    False
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Late:
    """A module that is loaded when something of it is asked for first."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


def late(name: str) -> Any:
    """Return a module of a dependency that is loaded when it is used first, so that a command starts without it.

    Examples
    --------
    >>> textwrap = late("textwrap")
    >>> textwrap.shorten("one two three", 9)
    'one [...]'
    """
    return _Late(name)
