"""What would settle a question about an effect, in words: statements, measurements, instruments and experiments."""

from __future__ import annotations

from dataclasses import dataclass

from lmarvel.effects.classify import Identified, Status
from lmarvel.text import ShownAsText, counted, listing, readable

MOST_SHOWN = 12  # ways that are printed


@dataclass(frozen=True)
class Way:
    """Statements under which an effect is identified, and what the answer would be.

    Attributes
    ----------
    statements : tuple of str
        What to state, as a file of statements has it.
    status : 'none', 'adjustment' or 'formula'
        What the answer would be: no effect, or identified by adjustment or by a formula.
    adjustment : tuple of str or None
        A smallest set to adjust for.
    measure : tuple of (str, str)
        Pairs of variables; measuring every common cause of them would do the same as stating that there is none.

    Examples
    --------
    >>> print(Way(("X and Y share no unmeasured cause",), "adjustment", ("A",)))
    X and Y share no unmeasured cause: the effect is then identified by adjusting for A.
    """

    statements: tuple[str, ...]
    status: Status
    adjustment: tuple[str, ...] | None = None
    measure: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        then = {
            "none": "there is then no effect",
            "formula": "the effect is then identified by a formula",
            "adjustment": f"the effect is then identified {self._by}",
        }[self.status]
        pairs = " and of ".join(f"{readable(a)} and {readable(b)}" for a, b in self.measure)
        instead = f" Measuring every common cause of {pairs} would do as well." if pairs else ""
        return f"{'; '.join(map(readable, self.statements))}: {then}.{instead}"

    @property
    def _by(self) -> str:
        return f"by adjusting for {listing(sorted(self.adjustment))}" if self.adjustment else "without adjustment"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        adjustment = None if self.adjustment is None else list(self.adjustment)
        measure = [list(pair) for pair in self.measure]
        return {
            "statements": list(self.statements),
            "status": self.status,
            "adjustment": adjustment,
            "measure": measure,
        }


@dataclass(frozen=True)
class Settling(ShownAsText):
    """What would settle a question about an effect; print it to read it.

    Attributes
    ----------
    identified : Identified
        What the graph says now.
    ways : tuple of Way
        The smallest sets of statements that settle it, the smaller ones first.
    tried : int
        How many sets of statements were tried.
    complete : bool
        False where the time was too short for all.
    planned : int
        How many sets of statements there were to try.
    stated : bool
        Whether the graph is a DAG or ADMG that the user gave.
    instruments : tuple of (str, tuple of str)
        Variables that could be instruments, each with what has to be held fixed.

    Examples
    --------
    >>> from lmarvel import PAG, settle
    >>> print(settle(PAG.from_edges("X o-o Y"), "X", "Y").ways[0])
    X is randomised: the effect is then identified without adjustment.
    """

    identified: Identified
    ways: tuple[Way, ...]
    tried: int
    complete: bool
    stated: bool = False
    instruments: tuple[tuple[str, tuple[str, ...]], ...] = ()
    planned: int = 0

    @property
    def settled(self) -> bool:
        """Whether the question has an answer already."""
        return self.identified.status != "not identified"

    def __str__(self) -> str:
        x, y = readable(self.identified.x), readable(self.identified.y)
        if self.settled:
            now = "is identified in this graph" if self.identified.status != "none" else "does not exist in this graph"
            given = "" if self.stated else " How far the data support that graph is what 'effect' reports."
            return f"Nothing is left to settle: the effect of {x} on {y} {now}.{given}"
        lines = [f"The effect of {x} on {y} is not identified, because {self.identified.because}."]
        for size in sorted({len(way.statements) for way in self.ways}):
            some = [way for way in self.ways if len(way.statements) == size]
            so_would = "So would" if size > len(self.ways[0].statements) else "Each line would settle it,"
            lines.append("Each of these statements would settle it:" if size == 1 else f"{so_would} {size} together:")
            lines += [f"  {way}" for way in some[:MOST_SHOWN]]
            if len(some) > MOST_SHOWN:
                lines.append(f"  and {len(some) - MOST_SHOWN:,} more")
        if not self.ways:
            lines.append("No statement that was tried would settle it, alone or with another one.")
        lines += self._instrumental(x, y)
        if not self.complete:
            lines.append(
                f"The time allowed for {self.tried:,} of {counted(self.planned, 'set')} of statements, the smallest"
                " first. There may be more ways: --seconds gives more time."
            )
        lines.append(f"An experiment that sets {x} at random would settle it in any case.")
        if self.ways and self.stated:
            lines.append("State only what you know: take the <-> that it excludes out of your graph.")
        elif self.ways:
            lines.append("State only what you know: write it into a file and learn with it (--knowledge FILE).")
        return "\n".join(lines)

    def _instrumental(self, x: str, y: str) -> list[str]:
        """What could be an instrument."""
        if not self.instruments:
            return []
        shown = [
            readable(w) + (f" (given {listing(sorted(z))})" if z else "") for w, z in self.instruments[:MOST_SHOWN]
        ]
        if self.stated:
            return [f"With linear effects, an instrument in your graph (effect --instrument): {', '.join(shown)}."]
        return [
            f"With linear effects, an instrument would do (effect --instrument): {' or '.join(shown)}, if {x} does not"
            f" affect it and it affects {y} only through {x}."
        ]

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data, ready for JSON."""
        return {
            **self.identified.to_dict(),
            "settled": self.settled,
            "ways": [way.to_dict() for way in self.ways],
            "instruments": [{"name": w, "given": list(z)} for w, z in self.instruments],
            "tried": self.tried,
            "planned": self.planned,
            "complete": self.complete,
        }
