"""Skeletons learned from tables with levels whose truth is known.

    python levels.py [--sets 20] [--networks 3] [--only NETWORK ...] [--limit 60] [--lift]

Mixed tables (continuous, count, binary, ordinal, nominal): `mixed`, `curved`, Fisher's z on the codes of levels, and
`g-square` after all numbers were cut into terciles; with --lift also Lift. Then networks of the package as
multinomials with random tables: L-MARVEL and MBCS* with `g-square` beside causal-learn's FCI with its own, all at one
level. Set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
from peers import limited

from lmarvel import MBCS, Dataset, Lift, LMarvel
from lmarvel.simulate import DiscreteNetwork, MixedSEM, bounded_parents, hide, load_network

ALPHA = 0.01
KINDS = ("continuous", "count", "binary", "ordinal", "nominal")
NETWORKS = ("insurance", "alarm", "ecoli70", "water", "mildew", "barley", "hailfinder")


def f1(learned: np.ndarray, truth: np.ndarray) -> float:
    """Return F1 of a skeleton."""
    hits = np.count_nonzero((truth > 0) & (learned > 0))
    return 2 * hits / max(np.count_nonzero(truth) + np.count_nonzero(learned), 1)


def as_numbers(column: np.ndarray) -> np.ndarray:
    return np.unique(column, return_inverse=True)[1].astype(float) if column.dtype.kind == "U" else column.astype(float)


def terciles(column: np.ndarray) -> list[str]:
    if column.dtype.kind == "U" or len(np.unique(column)) < 4:
        return [f"v{value}" for value in column.tolist()]
    return [f"t{code}" for code in np.digitize(column, np.quantile(column, [1 / 3, 2 / 3])).tolist()]


def mixed_tables(sets: int, lift: bool) -> None:
    ways = ["`mixed`", "fisher-z on codes", "`g-square` on terciles", "`curved`"] + ["Lift"] * lift
    print(f"| variables | rows | {' | '.join(ways)} | sets on which `mixed` is the best of the first three |")
    print("|---|---|" + "---|" * (len(ways) + 1))
    for p in (10, 30, 50):
        found: list[list[float]] = []
        for seed in range(sets):
            study = hide(bounded_parents(p + p // 10, 2, seed=seed), latent=p // 10, seed=seed)
            model = MixedSEM.random(study.dag, KINDS, seed=seed)
            table = model.sample(study, 2000, seed=seed)
            kinds = dict(zip(model.dag.names, model.kinds, strict=True))
            data = Dataset.of(table, ordinal=[name for name in table if kinds[name] == "ordinal"])
            truth = study.mag.marks
            codes = np.column_stack([as_numbers(np.asarray(column)) for column in table.values()])
            classes = {name: terciles(np.asarray(column)) for name, column in table.items()}
            asked: list[tuple[Any, str]] = [(data, "mixed"), (codes, "fisher-z"), (classes, "g-square")]
            asked.append((data, "curved"))
            found.append([f1(LMarvel(alpha=ALPHA, test=test).fit(source).pag_.marks, truth) for source, test in asked])
            if lift:
                found[-1].append(f1(Lift().fit(data).pag_.marks, truth))
        means = [statistics.mean(column) for column in zip(*found, strict=True)]
        best = sum(values[0] >= max(values[1:3]) for values in found)
        print(f"| {p} | 2,000 | " + " | ".join(f"{mean:.3f}" for mean in means) + f" | {best} of {sets} |", flush=True)


def causal_learn_fci(codes: np.ndarray) -> dict[str, object]:
    from causallearn.search.ConstraintBased.FCI import fci

    graph, _ = fci(codes, "gsq", ALPHA, show_progress=False)
    return {"skeleton": graph.graph != 0}


def networks(names: Sequence[str], sets: int, limit: float) -> None:
    print("\n| network | observed | rows | L-MARVEL | MBCS* | causal-learn FCI |")
    print("|---|---|---|---|---|---|")
    for name in names:
        dag = load_network(name)
        found: dict[str, list[float]] = {"L-MARVEL": [], "MBCS*": [], "FCI": []}
        late = 0
        for seed in range(sets):
            study = hide(dag, latent=max(len(dag) // 10, 1), seed=seed)
            codes = DiscreteNetwork.random(dag, states=3, concentration=0.5, seed=seed).sample(study, 5000, seed=seed)
            codes = codes[:, [len(np.unique(column)) > 1 for column in codes.T]]
            if codes.shape[1] < len(study.observed):
                continue
            data = Dataset.of(codes, list(study.observed), categorical=list(study.observed))
            truth = study.mag.marks
            try:
                for label, method in (("L-MARVEL", LMarvel), ("MBCS*", MBCS)):
                    learned = method(alpha=ALPHA, test="g-square", max_seconds=limit).fit(data).pag_
                    found[label].append(f1(learned.marks, truth))
            except ValueError as refused:  # such as a level with one row
                print("  skipped:", str(refused)[:100])
                continue
            theirs = limited(causal_learn_fci, codes, limit)
            late += theirs is None
            if theirs is not None:
                found["FCI"].append(f1(np.asarray(theirs["skeleton"]), truth))
        shown = " | ".join(f"{statistics.mean(values):.3f}" if values else "none in time" for values in found.values())
        note = f" ({late} of {sets} over {limit:.0f} s)" if late else ""
        print(f"| {name} | {len(study.observed)} | 5,000 | {shown}{note} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--networks", type=int, default=3, help="data sets of each network")
    parser.add_argument("--only", nargs="+", choices=NETWORKS, default=NETWORKS, help="networks, of all that there are")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a method on one data set")
    parser.add_argument("--lift", action="store_true", help="learn with Lift as well, which takes minutes")
    asked = parser.parse_args()
    if asked.sets:
        mixed_tables(asked.sets, asked.lift)
    if asked.networks:
        networks(asked.only, asked.networks, asked.limit)


if __name__ == "__main__":
    main()
