"""One pass over the rows of a table, made when something is asked that only the rows can tell."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget import memory
from lmarvel.data.columns import TwoValued, few_whole, not_one_a_row
from lmarvel.data.moments import Moments, Running
from lmarvel.data.table import Table
from lmarvel.errors import DataError

BATCH_BYTES = 64 << 20
SMALL = 1 << 21  # values of a table, 16 MB: up to here a digest may wait until it is asked for
Tick = Callable[[], None]
Weights = NDArray[np.float64] | NDArray[np.int64]


def batch_rows(p: int) -> int:
    """Return how many rows of p columns make a batch."""
    return max(BATCH_BYTES // (8 * p), 16)


class Scan:
    """What one pass over the rows tells: their number, gaps, moments, columns of two values, and a digest.

    Files are digested in the same pass, since to read them again costs more. Of a table in memory the digest is taken
    when it is asked for, and so is which columns have two values: a quick fit does not pay for it. A small table is
    kept for that as it was read, so that nothing is told of values that were overwritten in the meantime.
    """

    def __init__(self, table: Table, weights: Weights | None) -> None:
        self.table, self._weights = table, weights
        self._done: tuple[Running, TwoValued | None] | None = None
        self._moments: Moments | None = None
        self._fingerprint: str | None = None
        self._few: tuple[int, ...] | None = None
        self._kept: list[NDArray[np.float64]] | None = None  # the rows of a small table in memory, as they were read

    def moments(self, tick: Tick | None = None) -> Moments:
        """Return the moments; the rows are read the first time only."""
        if self._moments is None:
            running = self.running(tick)
            with np.errstate(all="ignore"):
                self._moments = running.finish()
        return self._moments

    def running(self, tick: Tick | None = None) -> Running:
        """Return what adding the rows up told."""
        return self.done(tick)[0]

    def two_valued(self) -> TwoValued:
        """Return which columns have two values."""
        running, told = self.done()
        if told is None:
            told = TwoValued(len(self.table.names))
            for batch in self._rows():
                told.add(batch)
            self._done = running, told
        return told

    def few_whole(self) -> tuple[int, ...]:
        """Return how many different whole numbers the columns have, as far as the first rows show."""
        if self._few is None:
            self._few = few_whole(next(iter(self._rows()), np.empty((0, len(self.table.names)))))
        return self._few

    def done(self, tick: Tick | None = None) -> tuple[Running, TwoValued | None]:
        """Make the pass if it was not made; ``tick`` is called with each batch, and ends the pass if it raises."""
        if self._done is None:
            try:
                self._done = self._pass(tick)
            except MemoryError:
                p = len(self.table.names)
                raise DataError(
                    f"the covariance of {p} columns needs {8 * p * p / 2**30:.1f} GiB, more memory than there is:"
                    " choose fewer columns"
                ) from None
        return self._done

    def _pass(self, tick: Tick | None) -> tuple[Running, TwoValued | None]:
        p = len(self.table.names)
        memory.check(8.0 * p * p, f"correlations of {p:,} columns")
        again = self.table.in_memory  # then a second look costs little, and may never be needed
        running, two_valued = Running(self.table.names), None if again else TwoValued(len(self.table.names))
        digest = None if again else self._new_digest()
        kept: list[NDArray[np.float64]] = []
        with np.errstate(all="ignore"):  # what overflows is looked at, and named
            for batch, weights in self._batches():
                if tick is not None:
                    tick()
                if again and (running.n + len(batch)) * batch.shape[1] <= SMALL:
                    kept.append(batch if self.table.private else batch.copy())
                    batch = kept[-1]  # what was just written is the quickest to read
                running.add(batch, weights)
                memory.watch(f"rows of {p:,} columns")
                if two_valued is not None and digest is not None:
                    self._few = few_whole(batch) if self._few is None else self._few
                    two_valued.add(batch)
                    digest.update(_bytes(batch))
        if self._weights is not None and len(self._weights) != running.n:
            raise not_one_a_row("weights", len(self._weights), running.n)
        if digest is not None:
            self._fingerprint = digest.hexdigest()[:16]
        self._kept = kept if again and sum(map(len, kept)) == running.n else None
        return running, two_valued

    def read_rows(self) -> NDArray[np.float64] | None:
        """Return the rows of a small table in memory as they were read, None where they were not kept."""
        return self._kept[0] if self._kept is not None and len(self._kept) == 1 else None

    def _rows(self) -> Iterable[NDArray[np.float64]]:
        return self.table.batches(batch_rows(len(self.table.names))) if self._kept is None else self._kept

    def _batches(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64] | None]]:
        """Iterate over batches with their weights, which are put below 1 so that their squares stay in range."""
        start = 0
        scale = 1.0 if self._weights is None else float(self._weights.max(initial=0)) or 1.0
        for batch in self.table.batches(batch_rows(len(self.table.names))):
            if self._weights is None:
                yield batch, None
                continue
            weights = self._weights[start : start + len(batch)] / scale
            start += len(batch)
            yield batch, np.pad(weights, (0, len(batch) - len(weights)))  # too few are refused at the end

    def fingerprint(self) -> str:
        """Return a digest of names, weights and values, 16 hexadecimal digits."""
        if not self.table.in_memory:
            self.done()
        if self._fingerprint is None:
            digest = self._new_digest()
            for batch in self._rows():
                digest.update(_bytes(batch))
            self._fingerprint = digest.hexdigest()[:16]
        return self._fingerprint

    def _new_digest(self) -> hashlib._Hash:
        digest = hashlib.sha256(json.dumps(self.table.names).encode())  # processors have instructions for it
        if self.table.levels is not None:
            digest.update(json.dumps(self.table.levels).encode())
        if self._weights is not None:
            digest.update(b"weights" + _bytes(self._weights))
        return digest


def _bytes(numbers: NDArray[np.float64] | NDArray[np.int64]) -> memoryview:
    """Return the bytes of numbers row by row as little-endian float64, so that a digest is the same everywhere."""
    return np.ascontiguousarray(numbers, dtype="<f8").data
