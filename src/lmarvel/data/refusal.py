"""Columns with levels that no test can be run on, all named at once."""

from __future__ import annotations

import numpy as np

from lmarvel.data.table import Table
from lmarvel.errors import DataError

MOST_LEVELS = 100


def check_levels(table: Table) -> None:
    """Refuse columns with too many levels, and levels with a single row."""
    if table.levels is None:
        return
    counts = [np.zeros(0 if levels is None else len(levels.names), dtype=np.int64) for levels in table.levels]
    for batch in table.batches(1 << 20):
        for i, count in enumerate(counts):
            if count.size:
                codes = batch[:, i]
                count += np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=count.size)
    faults = []
    for name, levels, count in zip(table.names, table.levels, counts, strict=True):
        if levels is None:
            continue
        if count.size > min(MOST_LEVELS, max(int(count.sum()) // 2, 2)):
            faults.append(f"{name!r} has {count.size} levels in {count.sum()} rows, as an id or free text has")
        elif (count == 1).any() and count.size > 1:
            alone = [level for level, k in zip(levels.names, count.tolist(), strict=True) if k == 1]
            faults.append(f"the level {alone[0]!r} of {name!r} has 1 row")
    if faults:
        raise DataError(f"{'; '.join(faults)}: leave such columns out, or merge their levels")
