"""How long it takes to tell of every ordered pair whether and how its effect is identified.

    python effects.py

Random DAGs with four neighbours a node on average and five latent variables (two with 20 variables or fewer). CPU
time, the best of three runs for each graph; the median and the slowest of the graphs of each size.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from statistics import median

from lmarvel import PAG, all_effects
from lmarvel.simulate import erdos_renyi, hide

SIZES = (10, 20, 50, 100)


def drawn(size: int, seed: int) -> PAG:
    """Draw the PAG of a DAG with latent variables."""
    latent = 2 if size <= 20 else 5
    return hide(erdos_renyi(size + latent, 4 / (size + latent - 1), seed=seed), latent=latent, seed=seed).pag


def seconds(pag: PAG) -> float:
    """Return the CPU time of the quickest of three runs."""
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        all_effects(pag)
        best = min(best, time.process_time() - begin)
    return best


def main() -> None:
    """Print a line a size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=10, help="graphs of each size")
    chosen = parser.parse_args()
    for size in SIZES:
        pags = [drawn(size, seed) for seed in range(chosen.graphs)]
        told = Counter(one.status for pag in pags for one in all_effects(pag))
        took = [seconds(pag) for pag in pags]
        shares = ", ".join(f"{status} {n / told.total():.1%}" for status, n in told.most_common())
        pairs = f"{size:>4} variables, {size * (size - 1):>5,} pairs"
        print(f"{pairs}: {median(took):.3f} s, at most {max(took):.3f} s ({shares})")


if __name__ == "__main__":
    main()
