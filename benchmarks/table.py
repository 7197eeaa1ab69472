"""Every bar in one table: what is asked, what was recorded last, and what is measured now.

    python table.py [--only "40 variables"] [--limit 300] [--networks folder] [--dry]

Each bar is measured in a process of its own, one thread, with a limit of seconds; programs are compared in CPU time.
What is measured is added to recorded.csv (date, version, bar, figure), unless --dry. Figures compare on one machine
only.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from peers import causal_learn_fci, limited, ours, rcd_skeleton  # noqa: E402
from simulation import STRUCTURES, draw, random_data, structures  # noqa: E402

from engine import best  # noqa: E402
from lmarvel.simulate import erdos_renyi  # noqa: E402

HERE = Path(__file__).resolve().parent
RECORD = HERE / "recorded.csv"
PEER_SECONDS = 20.0
SPARSE = (25, 40, 60, 90)  # variables of the sparse random graphs, 50 rows for each


class Bar(NamedTuple):
    name: str
    aim: str
    measure: Callable[[Path | None], float]


def tables(networks: Path | None) -> list[np.ndarray]:
    """Return a table of each structure of the paper, and of sparse random graphs."""
    found = []
    for name, dag in structures(networks).items():
        observed, latent, selection = STRUCTURES[name]
        found.append(draw([0, observed], dag, latent, selection, 50 * observed).data)
    return found + [np.ascontiguousarray(random_data(p, p, 50 * p)) for p in SPARSE]


def beside(peer: Callable[[np.ndarray], dict[str, object]], networks: Path | None) -> float:
    """Return how many times as long a program takes, the median; one that does not finish counts with its limit."""
    ratios = []
    for data in tables(networks):
        theirs = limited(peer, data, PEER_SECONDS)
        seconds = PEER_SECONDS if theirs is None else float(theirs["seconds"])  # type: ignore[arg-type]
        ratios.append(seconds / float(ours(data)["seconds"]))  # type: ignore[arg-type]
    return statistics.median(ratios)


def forty(_: Path | None) -> float:
    from lmarvel import LMarvel

    ratios = []
    for seed in range(5):
        data = np.ascontiguousarray(random_data(seed, 40, 2000))
        gram = best(lambda data=data: data.T @ data, 300)
        ratios.append(best(lambda data=data: LMarvel().fit(data), 300) / gram)
    return statistics.median(ratios)


def scaled(p: int, rows: int) -> float:
    from scaling import one

    found = one(p, rows)
    return float(found["seconds"]) / float(found["gram"])  # type: ignore[arg-type]


def largest(_: Path | None) -> float:
    """Return the seconds for 20,000 variables, or fail if they take more than 16 GB."""
    from lmarvel import LMarvel

    rng = np.random.default_rng(1)
    data = rng.normal(size=(500, 20_000))
    for v in range(1, 20_000):  # mean degree 2: each has one cause; graphs of the package end at 20,000 nodes
        data[:, v] += rng.choice([-1, 1]) * rng.uniform(0.5, 1.0) * data[:, rng.integers(v)]
    start = time.perf_counter()
    LMarvel().fit(data)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if peak > 16:
        raise MemoryError(f"{peak:.1f} GiB")
    return seconds


def replicates(_: Path | None) -> float:
    from lmarvel import learn_many
    from lmarvel.data.resampling import Resampling

    data = np.ascontiguousarray(random_data(1, 37, 2000))
    gram = best(lambda: data.T @ data, 300)
    drawn = Resampling(data)
    start = time.process_time()
    learn_many((drawn.moments(0, i).correlation() for i in range(1000)), n=len(data), n_jobs=1)
    return (time.process_time() - start) * 1e6 / 1000 / gram


def beside_readable(_: Path | None) -> float:
    """Return how many times as long the readable method takes for a draw as the bootstrap does."""
    from engine import Readable
    from lmarvel import Dataset, LMarvel
    from lmarvel.estimators.bootstrap import bootstrap_method

    data = np.ascontiguousarray(random_data(1, 37, 2000))
    start = time.process_time()
    bootstrap_method(Dataset.of(data), LMarvel(), 1000, 0, 1)
    quick = (time.process_time() - start) / 1000
    rng, slow = np.random.default_rng(0), []
    for _ in range(30):
        rows = data[rng.integers(0, len(data), len(data))]
        start = time.process_time()
        LMarvel(test=Readable(Dataset.of(rows).moments)).fit()
        slow.append(time.process_time() - start)
    return statistics.median(slow) / quick


def budget(_: Path | None) -> float:
    """Return the seconds from the start of a command to its end, its result written."""
    n = 1650
    data = draw([3], erdos_renyi(n, 12 / (n - 1), seed=3), 150, 0, 500).data
    with tempfile.TemporaryDirectory() as folder:
        table, result = Path(folder, "data.csv"), Path(folder, "result.json")
        np.savetxt(table, data, delimiter=",", fmt="%.6g", header=",".join(f"V{i}" for i in range(1500)), comments="")
        command = [sys.executable, "-c", "from lmarvel.cli import main; main()", "learn", str(table), "--quiet"]
        start = time.perf_counter()
        subprocess.run([*command, "--method", "fci", "--max-seconds", "5", "-o", str(result)], check=False)
        seconds = time.perf_counter() - start
        if not result.exists():
            raise RuntimeError("no result was written")
    return seconds


def fci(networks: Path | None) -> float:
    from cohort import timed

    ratios = []
    for data in tables(networks):
        theirs = limited(causal_learn_fci, data, PEER_SECONDS)
        seconds = PEER_SECONDS if theirs is None else float(theirs["seconds"])  # type: ignore[arg-type]
        ratios.append(seconds / timed("fci", data, boundary="none")[0])
    return statistics.median(ratios)


def boss_seconds(data: np.ndarray) -> dict[str, object]:
    from causallearn.search.PermutationBased.BOSS import boss

    start = time.process_time()
    boss(data, verbose=False)
    return {"seconds": time.process_time() - start}


def lift_seconds(data: np.ndarray) -> float:
    from lmarvel import Lift

    start = time.process_time()
    Lift().fit(data)
    return time.process_time() - start


def weighed_seconds(data: np.ndarray) -> float:
    """Return the seconds of Lift and of what speaks for each edge, gap and mark, which waits until somebody looks."""
    from lmarvel import Lift

    start = time.process_time()
    len(Lift().fit(data).result_.trace)
    return time.process_time() - start


def stages_seconds(data: np.ndarray) -> float:
    """Return the seconds of what Lift and BOSS both do, the search over orders, and of the climb that follows."""
    from lmarvel.search.lift import lift

    class Enough(Exception):
        pass

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "hidden":
            raise Enough

    start = time.process_time()
    with contextlib.suppress(Enough):
        lift(np.corrcoef(data.T), len(data), progress=progress)
    return time.process_time() - start


def boss(ours: Callable[[np.ndarray], float]) -> Callable[[Path | None], float]:
    def ratio(_: Path | None) -> float:
        data = random_data(0, 40, 2000)
        theirs = limited(boss_seconds, data, 10 * PEER_SECONDS)
        seconds = 10 * PEER_SECONDS if theirs is None else float(theirs["seconds"])  # type: ignore[arg-type]
        return seconds / min(ours(data) for _ in range(3))

    return ratio


def structure(name: str) -> Callable[[Path | None], float]:
    def measured(networks: Path | None) -> float:
        observed, latent, selection = STRUCTURES[name]
        return lift_seconds(draw([0, observed], structures(networks)[name], latent, selection, 50 * observed).data)

    return measured


BARS = [
    Bar("rcd's skeleton, median of all tables, times ours", ">= 100", lambda n: beside(rcd_skeleton, n)),
    Bar("causal-learn's FCI, median of all tables, times ours", ">= 500", lambda n: beside(causal_learn_fci, n)),
    Bar("40 variables, 2,000 rows, in Gram products", "<= 5", forty),
    Bar("2,000 variables, 5,000 rows, in Gram products", "<= 1.5", lambda n: scaled(2_000, 5_000)),
    Bar("5,000 variables, 10,000 rows, in Gram products", "<= 1.5", lambda n: scaled(5_000, 10_000)),
    Bar("5,000 variables, 500 rows, in Gram products", "<= 3", lambda n: scaled(5_000, 500)),
    Bar("a replicate of 1,000, 37 variables, in Gram products", "<= 10", replicates),
    Bar("the readable method on a draw, times a replicate of the bootstrap", ">= 20", beside_readable),
    Bar("learn --method fci --max-seconds 5, 1,500 variables, seconds", "<= 5.5", budget),
    Bar("causal-learn's FCI, median of all tables, times our FCI", ">= 100", fci),
    Bar("causal-learn's BOSS, 40 variables, 2,000 rows, times Lift", ">= 100", boss(lift_seconds)),
    Bar("causal-learn's BOSS, the same, times Lift with what each edge is worth", "", boss(weighed_seconds)),
    Bar("causal-learn's BOSS, the same, times Lift's orders and climb", "", boss(stages_seconds)),
    Bar("Lift on barley, seconds", "", structure("barley")),
    Bar("Lift on arth150, seconds", "", structure("arth150")),
    Bar("20,000 variables, 500 rows, seconds within 16 GB", "", largest),
]


def recorded() -> dict[str, str]:
    """Return the last figure of each bar."""
    if not RECORD.exists():
        return {}
    with RECORD.open(newline="") as lines:
        return {row["bar"]: row["figure"] for row in csv.DictReader(lines)}


def record(name: str, figure: str) -> None:
    from lmarvel import __version__

    fresh = not RECORD.exists()
    with RECORD.open("a", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        if fresh:
            writer.writerow(["date", "version", "bar", "figure"])
        writer.writerow([datetime.date.today().isoformat(), __version__, name, figure])


def measured(at: int, limit: float, networks: Path | None) -> str:
    """Measure a bar in a process of its own; what went wrong is said in place of a figure."""
    command = [sys.executable, __file__, "--measure", str(at)]
    command += [] if networks is None else ["--networks", str(networks)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, cwd=HERE)
    except subprocess.TimeoutExpired:
        return f"over {limit:.0f} s"
    words = (done.stderr if done.returncode else done.stdout).strip().splitlines() or ["nothing"]
    return words[-1][:60]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="measure the bars whose name holds this")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one bar")
    parser.add_argument("--networks", type=Path, help="folder with carpo.csv, which the package does not have")
    parser.add_argument("--dry", action="store_true", help="do not record")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure is not None:
        print(f"{BARS[asked.measure].measure(asked.networks):.4g}")
        return
    before = recorded()
    print("| bar | aim | last | now |\n|---|---|---|---|")
    for at, bar in enumerate(BARS):
        if asked.only not in bar.name:
            continue
        now = measured(at, asked.limit, asked.networks)
        print(f"| {bar.name} | {bar.aim} | {before.get(bar.name, '')} | {now} |", flush=True)
        if not asked.dry and now[0].isdigit():
            record(bar.name, now)


if __name__ == "__main__":
    main()
