"""Statements about causes, as a person makes them.

**What they say.** Marks of a MAG speak of ancestors, not of edges, and so do statements. Let M be the MAG over the
measured variables.

* *A causes B*: a directed path leads from A to B in M.
* *A does not cause B*: A is not anterior to B in M, that is, no path of undirected and then directed edges leads from A
  to B. So an edge between the two has an arrowhead at A, and A is a cause neither of B nor, together with B, of being
  in the sample.
* *tiers*: nothing in a later tier causes anything in an earlier one. *A is exogenous*: nothing measured causes A.
* *A, B do not cause each other*: no one of them causes another one.
* *A and B share no unmeasured cause*: an edge between the two is not A <-> B, and no unmeasured cause is behind an
  arrow between them: not one of both, and no chain of them linked by variables that cause A or B. So the arrow is
  visible.
* *no unmeasured causes of A*: A shares none with any other variable.
* *A is randomised*: nothing measured causes A, and it shares no unmeasured cause with any other variable. So each of
  its edges is a visible arrow out of A.
* *edge A - B*, *no edge A - B*: the two are, or are not, adjacent in M.
* *no selection*: M has no undirected edge. *no latents*: M has no bidirected edge.

**Selection.** A later variable that influences being in the sample can have a tail towards an earlier one: it causes
the sample, not that variable. A statement that A does not cause B excludes this too. It is what the arrowhead says,
and without it tiers would say hardly anything. Whoever thinks that A and B both influence being in the sample should
not say it of them. It follows from "A is a cause neither of B nor of being in the sample".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmarvel.errors import KnowledgeError
from lmarvel.knowledge.contradictions import check_as_written
from lmarvel.knowledge.text import as_tetrad, parse, read
from lmarvel.knowledge.vocabulary import Statement

Pair = tuple[str, str]
PAIRS = ("causes", "not_causes", "edges", "no_edges", "unconfounded")
SINGLE = ("exogenous", "randomised")
PARTS = ("tiers", "more_tiers", *PAIRS[:-1], *SINGLE, "apart", PAIRS[-1])


@dataclass(frozen=True)
class Knowledge:
    """What is known already, in statements; see :mod:`lmarvel.knowledge.statements` for what each says exactly.

    Names can be patterns: ``lab_*`` is every variable whose name begins so (``*`` any characters, ``?`` one).

    Parameters
    ----------
    tiers : sequence of sequences of names
        Earlier tiers first: nothing in a later one causes anything in an earlier one. Not all variables need a tier.
    causes, not_causes : sequence of (name, name)
        The first is, or is not, a cause of the second, direct or not.
    edges, no_edges : sequence of (name, name)
        The two are adjacent, or not, whichever other variables are measured.
    exogenous : sequence of names
        Nothing measured causes these.
    randomised : sequence of names
        Nothing, measured or not, causes these or shares a cause with them.
    apart : sequence of sequences of names
        Groups, such as tiers, within which nothing causes anything.
    unconfounded : sequence of (name, name)
        The two share no unmeasured cause; ``("A", "*")``: A shares none with any other variable.
    more_tiers : sequence of tiers
        Further lists like ``tiers``, each independent of the others.
    selection : bool
        False: what is measured had no influence on who is in the sample.
    latents : bool
        False: no unmeasured variable is a cause of two measured ones.

    Examples
    --------
    >>> known = Knowledge(tiers=[["age", "sex"], ["smoking"], ["bp"]], causes=[("smoking", "bp")], selection=False)
    >>> print(known)
    tiers: age, sex < smoking < bp
    smoking causes bp
    no selection
    >>> Knowledge(tiers=[["age"], ["bp"]], causes=[("bp", "age")])
    Traceback (most recent call last):
    ...
    lmarvel.errors.KnowledgeError: these statements contradict each other: 'tiers: age < bp' and \
'bp causes age'
    """

    tiers: tuple[tuple[str, ...], ...] = ()
    causes: tuple[Pair, ...] = ()
    not_causes: tuple[Pair, ...] = ()
    edges: tuple[Pair, ...] = ()
    no_edges: tuple[Pair, ...] = ()
    exogenous: tuple[str, ...] = ()
    selection: bool = True
    latents: bool = True
    randomised: tuple[str, ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()
    unconfounded: tuple[Pair, ...] = ()
    more_tiers: tuple[tuple[tuple[str, ...], ...], ...] = ()

    def with_tiers(self, tiers: Sequence[Sequence[str]]) -> Knowledge:
        """Return the same, and that nothing in a later one of these tiers causes anything in an earlier one.

        Examples
        --------
        >>> print(Knowledge(causes=[("a", "b")]).with_tiers([["a"], ["b"]]))
        tiers: a < b
        a causes b
        >>> print(Knowledge(tiers=[["x", "b"], ["y"]]).with_tiers([["a"], ["b"]]))
        tiers: x, b < y
        tiers: a < b
        """
        return self.and_(Knowledge(tiers=tuple(map(tuple, tiers))))

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "tiers", _tiers(self.tiers, "tiers"))
        more = dict.fromkeys(_tiers(tiers, "more_tiers") for tiers in _listed(self.more_tiers, "more_tiers"))
        put(self, "more_tiers", tuple(tiers for tiers in more if tiers != self.tiers))
        for part in PAIRS:
            put(self, part, tuple(dict.fromkeys(_pair(pair, part) for pair in _listed(vars(self)[part], part))))
        for part in SINGLE:
            put(self, part, tuple(dict.fromkeys(_names(vars(self)[part], part))))
        put(self, "apart", tuple(dict.fromkeys(_group(group) for group in _listed(self.apart, "apart"))))
        for part in ("selection", "latents"):
            if not isinstance(vars(self)[part], bool):
                raise KnowledgeError(f"must be True or False, not {vars(self)[part]!r}", parameter=part)
        check_as_written(self)

    def __bool__(self) -> bool:
        return any(True for _ in self.statements)

    def __str__(self) -> str:
        return "\n".join(map(str, self.statements)) or "# nothing is known"

    @property
    def statements(self) -> Iterator[Statement]:
        """The statements one by one; a list of tiers is one."""
        yield from (Statement("tiers", tiers) for tiers in (self.tiers, *self.more_tiers) if tiers)
        for part in PAIRS:
            yield from (Statement(part, pair) for pair in vars(self)[part])
        for part in SINGLE:
            yield from (Statement(part, (name,)) for name in vars(self)[part])
        yield from (Statement("apart", group) for group in self.apart)
        yield from (Statement(part) for part in ("selection", "latents") if not vars(self)[part])

    @classmethod
    def of(cls, statements: Iterable[Statement]) -> Knowledge:
        """Return the knowledge that consists of these statements."""
        return cls(**_parts(statements))

    def and_(self, *others: Knowledge) -> Knowledge:
        """Return all that is known from here and from others.

        Examples
        --------
        >>> print(Knowledge(tiers=[["A"], ["B"]]).and_(Knowledge(no_edges=[("A", "B")])))
        tiers: A < B
        no edge A - B
        """
        return Knowledge.of(dict.fromkeys(s for known in (self, *others) for s in known.statements))

    @classmethod
    def parse(cls, text: str) -> Knowledge:
        """Return the knowledge of a text: one statement per line, or Tetrad's form (:mod:`lmarvel.knowledge.text`).

        Examples
        --------
        >>> Knowledge.parse("smoking causes bp").causes
        (('smoking', 'bp'),)
        """
        return cls.of(parse(text))

    @classmethod
    def read(cls, path: str | Path) -> Knowledge:
        """Read a file of such text."""
        return cls.of(read(path))

    def to_tetrad(self) -> str:
        """Return the text that Tetrad reads; what it has no words for is refused."""
        return as_tetrad(self)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, ready for JSON; parts that say nothing are left out."""
        plain: dict[str, Any] = {part: _plain(vars(self)[part]) for part in PARTS if vars(self)[part]}
        return plain | {part: False for part in ("selection", "latents") if not vars(self)[part]}

    @classmethod
    def from_dict(cls, plain: Any) -> Knowledge:
        """Return what :meth:`to_dict` gave."""
        if not isinstance(plain, Mapping) or not {*plain} <= {*PARTS, "selection", "latents"}:
            raise KnowledgeError(f"knowledge has the parts {', '.join(PARTS)}, selection and latents")
        return cls(**plain)


def _plain(item: Any) -> Any:
    return item if isinstance(item, str) else [_plain(part) for part in item]


def _parts(statements: Iterable[Statement]) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for kind, about in statements:
        if kind == "tiers" and kind not in parts:
            parts["tiers"] = about
        elif kind in ("selection", "latents"):
            parts[kind] = False
        else:
            part = "more_tiers" if kind == "tiers" else kind
            parts.setdefault(part, []).append(about[0] if kind in SINGLE else about)
    return parts


def _listed(value: Any, part: str) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise KnowledgeError(f"must be a list, not {value!r}", parameter=part)
    return list(value)


def _names(value: Any, part: str) -> tuple[str, ...]:
    names = tuple(_listed(value, part))
    for name in names:
        if not isinstance(name, str) or not name:
            raise KnowledgeError(f"must hold names of variables, not {name!r}", parameter=part)
    return names


def _pair(value: Any, part: str) -> Pair:
    names = _names(value, part)
    if len(names) != 2:
        raise KnowledgeError(f"must hold pairs of names, such as ('A', 'B'), not {value!r}", parameter=part)
    if names[0] == names[1] and not any(c in names[0] for c in "*?["):
        raise KnowledgeError(f"{part} says something of {names[0]} and itself: a pair needs two variables")
    return names[0], names[1]


def _group(value: Any) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(_names(value, "apart")))
    if len(names) < 2 and not any(c in name for name in names for c in "*?["):
        raise KnowledgeError(f"must hold groups of two or more names, not {value!r}", parameter="apart")
    return names


def _tiers(value: Any, part: str) -> tuple[tuple[str, ...], ...]:
    tiers = tuple(_names(tier, part) for tier in _listed(value, part))
    if not all(tiers):
        raise KnowledgeError(f"{part} has an empty tier: leave it out")
    seen: set[str] = set()
    for name in (name for tier in tiers for name in tier):
        if name in seen:
            raise KnowledgeError(f"{name} is in two tiers: it can be in one only")
        seen.add(name)
    return tiers
