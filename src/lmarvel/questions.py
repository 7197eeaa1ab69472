"""The questions that a result answers itself, by asking :mod:`lmarvel.effects`.

Effects are read from results, so they stand above them; what a result needs of them is loaded when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from lmarvel.effects.causes import Causes
    from lmarvel.effects.told import Effect
    from lmarvel.result import Discovery


class Questions:
    """What a result can be asked about causes and effects."""

    def causes(self, y: str) -> Causes:
        """Return which variables cause ``y`` under every explanation of the data, under some, and under none.

        Examples
        --------
        >>> from lmarvel import DAG, LMarvel, MSeparation
        >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
        >>> LMarvel(test=MSeparation(truth)).fit().result_.causes("D").definite
        ('C',)
        """
        from lmarvel.effects.causes import causes

        return causes(cast("Discovery", self), y)

    def effect(
        self,
        x: str,
        y: str,
        data: Any = None,
        *,
        given: str | Iterable[str] = (),
        bootstrap: int | None = None,
        seed: int = 0,
        nominal: Sequence[str] = (),
    ) -> Effect:
        """Return whether ``x`` affects ``y``, and by how much; see :func:`lmarvel.effect`.

        Examples
        --------
        >>> from lmarvel import DAG, LMarvel, MSeparation
        >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
        >>> LMarvel(test=MSeparation(truth)).fit().result_.effect("C", "D").status
        'adjustment'
        """
        from lmarvel.effects.answer import effect

        return effect(cast("Discovery", self), x, y, data, given=given, bootstrap=bootstrap, seed=seed, nominal=nominal)
