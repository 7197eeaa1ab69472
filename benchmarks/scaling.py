"""Time and memory from 100 to 5,000 variables, as ratios to one BLAS Gram product of the same data, one thread.

    python scaling.py [--plot growth.png]

Sparse random models: mean degree 2, 10 % latent variables. Each case runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

CASES = [(100, 5_000), (200, 5_000), (500, 5_000), (1_000, 5_000), (2_000, 5_000), (5_000, 10_000), (5_000, 500)]


def one(p: int, rows: int) -> dict[str, object]:
    from simulation import random_data

    from lmarvel import LMarvel

    data = random_data(p, p, rows)
    gram = min(_timed(lambda: data.T @ data) for _ in range(3))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    found = LMarvel().fit(data).result_
    runs = [time.process_time() - start]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    runs += [_timed(lambda: LMarvel().fit(data)) for _ in range(2)]
    start = time.perf_counter()
    illegal = found.why_illegal is not None
    return {
        "p": p,
        "rows": rows,
        "gram": gram,
        "seconds": min(runs),
        "phases": dict(found.stats.seconds),
        "boundary": found.settings["boundary"],
        "edges": found.pag.n_edges,
        "illegal": illegal,
        "legality_seconds": time.perf_counter() - start,
        "peak_mb": peak / 1024,
        "before_mb": before / 1024,
        "allowed_mb": (4 * data.nbytes + 6 * 8 * p * p) / 2**20,
    }


def _timed(work: object) -> float:
    """Return the seconds of the processor: of one thread that is what a clock shows on an idle machine."""
    start = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot")
    parser.add_argument("--one", nargs=2, type=int)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    print("| p | rows | boundaries | Gram s | whole run s | ratio | peak MB | allowed MB | seconds by phase |")
    print("|---|---|---|---|---|---|---|---|---|")
    results = []
    for p, rows in CASES:
        command = [sys.executable, __file__, "--one", str(p), str(rows)]
        out = json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)
        results.append(out)
        phases = ", ".join(f"{v:.3f}" for v in out["phases"].values())
        print(
            f"| {p:,} | {rows:,} | {out['boundary']} | {out['gram']:.3f} | {out['seconds']:.3f} |"
            f" {out['seconds'] / out['gram']:.2f} | {out['peak_mb']:,.0f} | {out['allowed_mb']:,.0f} | {phases} |",
            flush=True,
        )
    if options.plot:
        plot(results, options.plot)


def plot(results: list[dict[str, object]], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    enough = [r for r in results if r["rows"] > r["p"]]
    p = [r["p"] for r in enough]
    figure, axes = plt.subplots(figsize=(7, 4.5))
    axes.loglog(p, [r["seconds"] for r in enough], "o-", label="lmarvel, data to PAG")
    axes.loglog(p, [r["gram"] for r in enough], "s--", label="one BLAS Gram product")
    after = [r["phases"]["skeleton"] + r["phases"]["orientation"] for r in enough]
    axes.loglog(p, after, "^:", label="of which skeleton and orientation")
    axes.set_xlabel("variables")
    axes.set_ylabel("seconds, one thread")
    axes.set_xticks(p, [f"{v:,}" for v in p])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
