"""The bootstrap on the command line: it goes on from what a file holds, and an interruption keeps what was counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lmarvel.data.dataset import Dataset
from lmarvel.encoding import ResultError
from lmarvel.estimators import PagEstimator
from lmarvel.result import Discovery
from lmarvel.stability.bootstrap import Interrupted
from lmarvel.wording import readable


@dataclass
class Drawing:
    """How many tables to draw, from which seed, by how many workers; and the file that keeps the counts.

    ``stopped`` is what to say of an interruption that came while tables were drawn.
    """

    replicates: int | None
    seed: int
    n_jobs: int
    output: Path | None
    stopped: str = ""

    def fit(self, model: PagEstimator, data: Dataset, show: Callable[[str, int, int], None]) -> Discovery:
        """Learn, and draw tables again where that was asked for."""
        if self.replicates is None:
            return model.fit(data, progress=show).result_
        many, before = self.replicates, self._before()
        try:
            fitted = model.fit(data, progress=show, bootstrap=many, seed=self.seed, n_jobs=self.n_jobs, resume=before)
        except Interrupted as end:
            if self._kept is None or not end.stability.replicates:
                raise
            done = f"interrupted after {end.stability.drawn:,} of {self.replicates:,} draws"
            self.stopped = f"{done}; {readable(str(self._kept))} has them, and the same command goes on from there"
            return model.result_
        return fitted.result_

    @property
    def _kept(self) -> Path | None:
        """The file that keeps a whole result, where one is written."""
        return self.output if self.output is not None and self.output.suffix.lower() == ".json" else None

    def _before(self) -> Discovery | None:
        """Return the result that the file holds; anything else in its place is written over, as without a bootstrap."""
        if self._kept is None or not self._kept.exists():
            return None
        try:
            return Discovery.load(self._kept)
        except ResultError:
            return None
