"""Sequences and mappings that are made when somebody looks at them.

A run that took a millisecond should not spend three more on records that nobody reads. What stands here is the same
as the tuple or the mapping that it stands for, to everyone who looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key")
Value = TypeVar("Value")


class LazyTuple(Sequence[Item]):
    """A tuple that is made at the first look.

    Examples
    --------
    >>> squares = LazyTuple(lambda: tuple(x * x for x in range(4)))
    >>> squares[2], len(squares), squares == (0, 1, 4, 9), squares
    (4, 4, True, (0, 1, 4, 9))
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

    def __len__(self) -> int:
        return len(self.made)

    def __getitem__(self, index: Any) -> Any:
        return self.made[index]

    def __iter__(self) -> Iterator[Item]:
        return iter(self.made)

    def __eq__(self, other: object) -> bool:
        return self.made == (other.made if isinstance(other, LazyTuple) else other)

    def __hash__(self) -> int:
        return hash(self.made)

    def __repr__(self) -> str:
        return repr(self.made)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.made,)


class LazyMapping(Mapping[Key, Value]):
    """A mapping that is made at the first look.

    Examples
    --------
    >>> lengths = LazyMapping(lambda: {"one": 3, "three": 5})
    >>> lengths["one"], len(lengths), lengths == {"one": 3, "three": 5}
    (3, 2, True)
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

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.made)

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self.made,)


def _itself(value: Any) -> Any:
    """Return what was passed: a mapping that was made is stored as what it stands for."""
    return value
