"""Microseconds a test: the compiled search against the readable one, conditioning sets of 0 to 6."""

from __future__ import annotations

import time

import numpy as np

from lmarvel import FisherZ, SepsetQuery, find_sepset


def measure(test: FisherZ, pool: int, repeats: int) -> tuple[int, float]:
    query = SepsetQuery(0, 1, tuple(range(2, 2 + pool)), max_size=6, alpha=0.01)
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        answer = find_sepset(test, query)
        best = min(best, time.perf_counter() - start)
    tests = sum(answer.tests_by_size)
    assert answer.sepset is None
    return tests, best / tests * 1e6


def main() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((20_000, 1)) + rng.standard_normal((20_000, 26))  # everything depends on everything
    compiled = measure(FisherZ(data), 24, 5)
    readable = measure(FisherZ(data, compiled=False), 10, 3)
    print(f"compiled {compiled[1]:.3f} us a test ({compiled[0]:,} tests), readable {readable[1]:.1f} us")
    print(f"ratio {readable[1] / compiled[1]:.0f}x")


if __name__ == "__main__":
    main()
