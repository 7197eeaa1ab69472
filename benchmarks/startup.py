"""Start-up: what importing lmarvel costs over NumPy, and the whole command line on 5,000 rows x 100 columns of CSV."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def best(command: list[str], repeats: int = 7) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    numpy = best([sys.executable, "-c", "import numpy"])
    package = best([sys.executable, "-c", "import lmarvel; lmarvel.LMarvel"])  # which loads the names
    rng = np.random.default_rng(0)
    data = rng.standard_normal((5_000, 100))
    for j in range(1, 100):
        data[:, j] += 0.7 * data[:, rng.integers(j)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        np.savetxt(path, data, delimiter=",", header=",".join(f"x{i}" for i in range(100)), comments="", fmt="%.6f")
        cli = best([sys.executable, "-c", "from lmarvel.cli import main; main()", "learn", str(path)])
    print(f"import numpy {numpy:.3f} s, lmarvel with its names {package:.3f} s: {package - numpy:.3f} s more")
    print(f"lmarvel learn on 5,000 rows x 100 columns of CSV: {cli:.3f} s")


if __name__ == "__main__":
    main()
