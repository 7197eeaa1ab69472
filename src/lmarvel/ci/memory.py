"""The memory: which conditioning sets were tried for a pair, and which came closest to separating it.

Families of sets (:class:`~lmarvel.ci.test.Tried`) are kept, not single tests. That is exact, small, and simple enough
for a compiled search to honour. With it no test is counted twice, which Proposition 3 of the paper needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from lmarvel.ci.search import covers
from lmarvel.ci.test import SepsetAnswer, SepsetQuery, Tried

Pair = tuple[int, int]


class Memory:
    """What is known of each pair x < y.

    Examples
    --------
    >>> memory = Memory()
    >>> memory.note(0, 1, (2,), pvalue=0.004)
    >>> memory.was_tried(0, 1, (2,)), memory.was_tried(0, 1, (3,)), memory.closest(1, 0)
    (True, False, (0.004, frozenset({2})))
    """

    def __init__(self) -> None:
        self._tried: dict[Pair, list[Tried]] = defaultdict(list)
        self._given_rest: Tried | None = None
        self._closest: dict[Pair, tuple[float, frozenset[int]]] = {}
        self._rounds = Rounds()

    def families(self, x: int, y: int, smallest: int, largest: int, afresh: bool = False) -> list[Tried]:
        """Return the families tried for a pair that hold sets of these sizes; ``afresh`` leaves searches out."""
        families = [] if afresh else self._tried.get((x, y), [])
        if families and (smallest > 0 or len(families) > 8):
            families = [f for f in families if _overlaps(f, smallest, largest)]
        if self._rounds:
            families = [*families, *self._rounds.families(x, y, smallest, largest)]
        if self._given_rest is not None and largest >= self._given_rest.smallest:
            return [*families, self._given_rest]
        return families

    def was_tried(self, x: int, y: int, given: tuple[int, ...], afresh: bool = False) -> bool:
        """Tell whether this very test was made."""
        full = frozenset(given)
        return any(covers(family, full) for family in self.families(x, y, len(given), len(given), afresh))

    def note(self, x: int, y: int, given: tuple[int, ...], pvalue: float, keep: bool = True) -> None:
        """Remember a single test, unless the method asks each set once; compare it with the closest in any case."""
        self._compare(x, y, pvalue, frozenset(given))
        if keep:
            self._tried[x, y].append(Tried((), given, len(given), len(given), None, pvalue))

    def note_search(self, query: SepsetQuery, answer: SepsetAnswer, keep: bool = True) -> None:
        """Remember the family of sets that did not separate the pair, and the set that did."""
        if answer.sepset is None and answer.strongest is not None:
            self._compare(query.x, query.y, answer.pvalue, answer.strongest)
        if not keep:
            return
        assert query.max_size is not None
        largest = query.max_size if answer.stopped is None else len(answer.stopped) - 1
        families = self._tried[query.x, query.y]
        if largest >= query.min_size or answer.stopped:
            level = query.alpha
            if answer.sepset is None:
                known = [family.level for family in query.tried if family.level <= level]
                level = max([answer.pvalue, *known])
            families.append(Tried(query.always, query.pool, query.min_size, largest, answer.stopped, level))
        if answer.sepset is not None:
            zs = tuple(sorted(answer.sepset))
            families.append(Tried((), zs, len(zs), len(zs), None, answer.pvalue))

    def note_all_pairs(self, n: int) -> None:
        """Remember that each pair was tested given all other variables."""
        self._given_rest = Tried((), tuple(range(n)), n - 2, n, None, 1.0)

    def note_round(self, target: int, members: frozenset[int], n: int) -> int:
        """Remember that each of n variables outside a set was tested with a target; return how many tests were new."""
        return self._rounds.outside(target, members, n)

    def note_inside(self, target: int, members: frozenset[int]) -> int:
        """Remember that each member of a set was tested with a target given the others; return how many were new."""
        return self._rounds.inside(target, members)

    def asked(self) -> list[tuple[int, int, frozenset[int]]]:
        """Return what boundary searches asked: (x, y, set), or (target, -1, set) for all variables outside a set."""
        return self._rounds.asked()

    def note_asked(self, asked: Iterable[tuple[int, int, frozenset[int]]]) -> None:
        """Remember what boundary searches asked elsewhere, in the form of :meth:`asked`."""
        self._rounds.enter(asked)

    def closest(self, x: int, y: int) -> tuple[float, frozenset[int] | None]:
        """Return the largest p-value that a test of a pair had without separating it, and the set; else (0, None)."""
        return self._closest.get((x, y) if x < y else (y, x), (0.0, None))

    def _compare(self, x: int, y: int, pvalue: float, given: frozenset[int]) -> None:
        best = self._closest.get((x, y))
        if best is None or pvalue > best[0]:
            self._closest[x, y] = (pvalue, given)


def _overlaps(family: Tried, smallest: int, largest: int) -> bool:
    base = len(family.always)
    top = family.largest + (family.stop is not None)
    return base + family.smallest <= largest and base + top >= smallest


class Rounds:
    """What searches of Markov boundaries asked: a target with every variable outside a set, or with each member.

    A round is kept as one entry, whatever the number of variables. Whether a test was made before, by the same target
    or by the other end as the target, is told from the sets.

    Examples
    --------
    >>> rounds = Rounds()
    >>> rounds.outside(0, frozenset(), n=4), rounds.outside(1, frozenset(), n=4)  # 0 and 1 were tested by then
    (3, 2)
    >>> rounds.inside(1, frozenset({0}))
    0
    """

    def __init__(self) -> None:
        self._targets: dict[frozenset[int], set[int]] = defaultdict(set)
        self._sets: dict[int, list[frozenset[int]]] = defaultdict(list)
        self._members: dict[frozenset[int], set[Pair]] = defaultdict(set)
        self._singly: dict[Pair, list[frozenset[int]]] = defaultdict(list)

    def __bool__(self) -> bool:
        return bool(self._targets)

    def outside(self, target: int, members: frozenset[int], n: int) -> int:
        """Enter a round; return how many of its tests are new."""
        targets = self._targets[members]
        if target in targets:
            return 0
        singly = {x if y == target else y for x, y in self._members.get(members, ()) if target in (x, y)}
        known = len(targets | singly)
        targets.add(target)
        self._sets[target].append(members)
        return n - 1 - len(members) - known

    def inside(self, target: int, members: frozenset[int]) -> int:
        """Enter the tests of each member given the others; return how many are new."""
        new = 0
        for v in members:
            rest = members - {v}
            pair = (target, v) if target < v else (v, target)
            if target in self._targets.get(rest, ()) or v in self._targets.get(rest, ()) or pair in self._members[rest]:
                continue
            self._members[rest].add(pair)
            self._singly[pair].append(rest)
            new += 1
        return new

    def enter(self, asked: Iterable[tuple[int, int, frozenset[int]]]) -> None:
        """Enter tests that were made elsewhere, none of them twice."""
        for x, y, members in asked:
            if y < 0:
                self._targets[members].add(x)
                self._sets[x].append(members)
            else:
                self._members[members].add((x, y))
                self._singly[x, y].append(members)

    def asked(self) -> list[tuple[int, int, frozenset[int]]]:
        """Return every entry: a pair with a set, or a target and -1 with a set."""
        rounds = [(target, -1, s) for target, sets in self._sets.items() for s in sets]
        return rounds + [(x, y, s) for (x, y), sets in self._singly.items() for s in sets]

    def families(self, x: int, y: int, smallest: int, largest: int) -> list[Tried]:
        """Return the sets of these sizes that were asked about a pair, without what was answered."""
        asked = [s for s in self._sets.get(x, ()) if y not in s] + [s for s in self._sets.get(y, ()) if x not in s]
        asked += self._singly.get((x, y), ())
        return [
            Tried((), tuple(sorted(s)), len(s), len(s), None, 1.0)
            for s in dict.fromkeys(asked)
            if smallest <= len(s) <= largest
        ]
