"""The engine: data to PAG in Gram products, beside the readable code, and many replicates.

    python engine.py [--rows 2000] [--variables 40] [--seeds 5]

A sparse random graph (mean degree 2, a tenth of the variables latent), single thread. The Gram product is the product
of the table with itself, the least that any method on correlations has to do.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from functools import partial

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from simulation import random_data  # noqa: E402

from lmarvel import FisherZ, LMarvel, learn_many  # noqa: E402


class Readable(FisherZ):
    """The same tests by the same compiled search, with which the readable method runs."""

    def reordered(self, order: list[int]) -> Readable:
        return Readable(self.moments.take(order), compiled=self.compiled)


def best(work: Callable[[], object], repeats: int) -> float:
    """Return the least time of several runs, in microseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def measure(seed: int, variables: int, rows: int) -> tuple[float, float, float, float, float, float]:
    data = np.ascontiguousarray(random_data(seed, variables, rows))
    gram = best(lambda: data.T @ data, 200)
    whole = best(lambda: LMarvel().fit(data), 200)
    # From the correlations on, so that reading the table does not hide the difference.
    moments = FisherZ(data).moments
    compiled = best(lambda: LMarvel(test=FisherZ(moments)).fit(), 100)
    searched = best(lambda: LMarvel(test=Readable(moments)).fit(), 10)
    readable = best(lambda: LMarvel(test=Readable(moments, compiled=False)).fit(), 2)
    rng = np.random.default_rng(seed)
    drawn = [np.corrcoef(data[rng.integers(0, rows, rows)].T) for _ in range(200)]
    each = min(best(partial(learn_many, some, rows, n_jobs=1), 3) / len(some) for some in np.array_split(drawn, 10))
    return gram, whole, compiled, searched, readable, each


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variables", type=int, default=40)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    print(
        "seed  gram us  data-to-PAG us  in Gram products  readable/compiled  readable method, quick search  replicate"
    )
    ratios = []
    for seed in range(asked.seeds):
        gram, whole, compiled, searched, readable, each = measure(seed, asked.variables, asked.rows)
        ratios.append(whole / gram)
        print(
            f"{seed:4d} {gram:8.0f} {whole:15.0f} {whole / gram:17.1f} {readable / compiled:17.0f}x"
            f" {searched / compiled:31.1f}x {each / gram:9.1f} Gram products"
        )
    print(f"median: data to PAG in {statistics.median(ratios):.1f} Gram products")


if __name__ == "__main__":
    main()
