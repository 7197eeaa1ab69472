"""What is made when somebody looks at it: a value, a tuple, a mapping, or a module that is loaded.

A run that took a millisecond should not spend three more on records that nobody reads. A :class:`LazyTuple` and a
:class:`LazyMapping` read like the tuple or the mapping that they stand for: they have the same items, equality, hash
and text, and are stored and copied as that. They are not of that type: ``isinstance(x, tuple)`` and
``isinstance(x, dict)`` are false, tuples can be added but not compared by ``<`` or repeated by ``*``, and what asks for
the type itself (``json``, ``%`` formatting) wants ``tuple(x)`` or ``dict(x)``.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key")
Value = TypeVar("Value")


class Deferred(Generic[Value]):
    """A value that is made at the first look; it travels, and is compared, as what it is.

    Examples
    --------
    >>> square = Deferred(lambda: 3**2)
    >>> square.is_made, square.made, square.is_made, square == Deferred.of(9)
    (False, 9, True, True)
    """

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make: Callable[[], Value] | None = make
        self._made: Any = None

    @classmethod
    def of(cls, value: Value) -> Deferred[Value]:
        """Return a value that is made already."""
        deferred = cls(lambda: value)
        deferred.made  # noqa: B018  # for the side effect
        return deferred

    @property
    def made(self) -> Value:
        """The value itself."""
        make = self._make
        if make is not None:  # two threads may both make it, of the same parts
            self._made = make()
            self._make = None  # which lets go of what it was made of
        value: Value = self._made
        return value

    @property
    def is_made(self) -> bool:
        """Whether somebody has looked."""
        return self._make is None

    def __eq__(self, other: object) -> bool:
        return self.made == (other.made if isinstance(other, Deferred) else other)

    def __hash__(self) -> int:
        return hash(self.made)

    def __repr__(self) -> str:
        return repr(self.made)

    def __reduce__(self) -> tuple[Any, ...]:
        return Deferred.of, (self.made,)


class LazyTuple(Deferred[tuple[Item, ...]], Sequence[Item]):
    """A sequence that reads like a tuple, which is made at the first look.

    Examples
    --------
    >>> squares = LazyTuple(lambda: tuple(x * x for x in range(4)))
    >>> squares[2], len(squares), squares == (0, 1, 4, 9), squares
    (4, 4, True, (0, 1, 4, 9))
    >>> squares + (16,), isinstance(squares, tuple)
    ((0, 1, 4, 9, 16), False)
    """

    def __len__(self) -> int:
        return len(self.made)

    def __getitem__(self, index: Any) -> Any:
        return self.made[index]

    def __iter__(self) -> Iterator[Item]:
        return iter(self.made)

    def __add__(self, other: tuple[Any, ...] | LazyTuple[Any]) -> tuple[Any, ...]:
        if isinstance(other, LazyTuple):
            return self.made + other.made
        return self.made + other if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: tuple[Any, ...]) -> tuple[Any, ...]:
        return other + self.made if isinstance(other, tuple) else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.made,)


class LazyMapping(Deferred[Mapping[Key, Value]], Mapping[Key, Value]):
    """A mapping that is made at the first look; it reads like a dict, and cannot be changed.

    Examples
    --------
    >>> lengths = LazyMapping(lambda: {"one": 3, "three": 5})
    >>> lengths["one"], len(lengths), lengths == {"one": 3, "three": 5}
    (3, 2, True)
    >>> lengths | {"two": 3}, isinstance(lengths, dict)
    ({'one': 3, 'three': 5, 'two': 3}, False)
    """

    def __getitem__(self, key: Key) -> Value:
        return self.made[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)

    def __contains__(self, key: object) -> bool:
        return key in self.made

    def __or__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return dict(self.made.items()) | dict(other.items()) if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return dict(other.items()) | dict(self.made.items()) if isinstance(other, Mapping) else NotImplemented

    def copy(self) -> dict[Key, Value]:
        """Return the mapping as a dict, which can be changed."""
        return dict(self.made)

    __hash__ = None  # type: ignore[assignment]

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
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            self._module = import_module(self._name)
        return getattr(self._module, attribute)


def late(name: str) -> Any:
    """Return a module of a dependency that is loaded when it is used first, so that a command starts without it.

    Examples
    --------
    >>> textwrap = late("textwrap")
    >>> textwrap.shorten("one two three", 9)
    'one [...]'
    """
    return _Late(name)
