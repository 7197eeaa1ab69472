"""A Parquet file, or a folder of them, larger than the memory that the process may use: the same result as in memory.

The file is written in row groups, with ``--parts`` a file each, then read in a child whose data segment is limited
(RLIMIT_DATA, Linux).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COLUMNS = 100


def rows_of(seed: int, rows: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((rows, COLUMNS))
    parents = np.random.default_rng(0)
    for j in range(1, COLUMNS):
        data[:, j] += 0.7 * data[:, parents.integers(j)]
    return data


def write(path: Path, groups: int, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{j}" for j in range(COLUMNS)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    files = [path] if path.suffix else [path / f"part-{group:04}.parquet" for group in range(groups)]
    files[0].parent.mkdir(exist_ok=True)
    for k, file in enumerate(files):
        with pq.ParquetWriter(file, schema, compression="none") as writer:
            for group in range(k, groups, len(files)):
                data = rows_of(group, rows)
                writer.write_table(pa.table([data[:, j] for j in range(COLUMNS)], schema=schema), row_group_size=rows)


def learn(path: str, limit_mb: int) -> None:
    if limit_mb:
        resource.setrlimit(resource.RLIMIT_DATA, (limit_mb << 20, limit_mb << 20))
    from lmarvel import LMarvel
    from lmarvel.data.sources import parquet

    found = LMarvel().fit(path).result_
    parquet._end_idle()  # the process that reads files, which counts once it has ended
    peak, reader = (
        resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    told = {"edges": str(found.pag), "rows": found.settings["rows"], "peak_mb": peak, "reader_mb": reader}
    print(json.dumps(told))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learn", nargs=2)
    parser.add_argument("--groups", type=int, default=60)
    parser.add_argument("--limit-mb", type=int, default=1500)
    parser.add_argument("--parts", action="store_true", help="a folder of files")
    options = parser.parse_args()
    if options.learn:
        learn(options.learn[0], int(options.learn[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("large" if options.parts else "large.parquet")
        write(path, options.groups, 50_000)
        files = list(path.iterdir()) if options.parts else [path]
        size = sum(file.stat().st_size for file in files) / 2**20
        results = []
        for limit in (options.limit_mb, 0):
            command = [sys.executable, __file__, "--learn", str(path), str(limit)]
            run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "POLARS_MAX_THREADS": "2"})
            if run.returncode:
                sys.exit(run.stderr)
            results.append(json.loads(run.stdout))
        data = np.concatenate([rows_of(group, 50_000) for group in range(options.groups)])
        from lmarvel import LMarvel

        memory = LMarvel().fit(data, names=[f"x{j}" for j in range(COLUMNS)]).pag_
        same = results[0]["edges"] == results[1]["edges"] == str(memory)
        print(f"{len(files)} files, {size:,.0f} MB, limit {options.limit_mb:,} MB, {results[0]['rows']:,} rows")
        peaks = f"peak resident {results[0]['peak_mb']:,.0f} MB, of the reader {results[0]['reader_mb']:,.0f} MB"
        print(f"{peaks}; same result as in memory: {same}")


if __name__ == "__main__":
    main()
