"""Record what a fixed set of runs gives, and compare later: for changes that must not change any result.

    python tools/frozen_runs.py record FILE             # run everything, and write a digest of each part of each run
    python tools/frozen_runs.py compare FILE            # run everything again, and list what differs
    python tools/frozen_runs.py compare FILE --only lift --parts pag,sepsets,tests,score

A run is a method on a table: every method; linear, curved, discrete and mixed tables, with gaps, weights and clusters;
with knowledge, budgets of tests, bootstraps and oracles. Of each result the graph, the separating sets, the counts of
tests, the score, the result file (without seconds and versions) and the printed page are kept apart, so that a change
of wording shows as one. All seeds are fixed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lmarvel import FCI, M3HC, MBCS, RFCI, Auto, Discovery, Knowledge, Lift, LMarvel, MSeparation
from lmarvel.datasets import CARS
from lmarvel.simulate import AdditiveSEM, DiscreteNetwork, LinearSEM, MixedSEM, erdos_renyi, hide, load_network

PARTS = ("pag", "sepsets", "tests", "score", "file", "page")
UNSTEADY = ("seconds", "versions", "digest", "checksum", "sha256")
Run = Callable[[], Discovery]


# --- tables -----------------------------------------------------------------------------------------------


def linear(seed: int, variables: int = 14, rows: int = 400, degree: float = 3.0, hidden: int = 2) -> dict[str, Any]:
    """Return a linear Gaussian table with latent and selecting variables."""
    study = hide(erdos_renyi(variables, degree / variables, seed=seed), hidden, hidden // 2, seed=seed)
    drawn = LinearSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed)
    return dict(zip(study.observed, drawn.T, strict=True))


def network(name: str, seed: int) -> dict[str, Any]:
    """Return a table of one of the paper's structures."""
    study = hide(load_network(name), 3, 2, seed=seed)
    drawn = LinearSEM.random(study.dag, "benchmark", seed=seed).sample(study, 50 * len(study.observed), seed=seed)
    return dict(zip(study.observed, drawn.T, strict=True))


def curved(seed: int, rows: int = 600) -> dict[str, Any]:
    """Return a table whose effects are curves."""
    study = hide(erdos_renyi(9, 0.3, seed=seed), 1, 0, seed=seed)
    drawn = AdditiveSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed)
    return dict(zip(study.observed, drawn.T, strict=True))


def discrete(seed: int, rows: int = 500) -> dict[str, Any]:
    """Return a table of categories, as text."""
    study = hide(erdos_renyi(8, 0.3, seed=seed), 1, 0, seed=seed)
    drawn = DiscreteNetwork.random(study.dag, states=3, seed=seed).sample(study, rows, seed=seed)
    return {
        name: np.array([f"v{code}" for code in column]) for name, column in zip(study.observed, drawn.T, strict=True)
    }


def mixed(seed: int, rows: int = 600) -> dict[str, Any]:
    """Return a table of numbers, counts and categories."""
    kinds = ("continuous", "binary", "nominal", "ordinal", "count")
    study = hide(erdos_renyi(9, 0.3, seed=seed), 1, 0, seed=seed)
    return MixedSEM.random(study.dag, kinds, seed=seed).sample(study, rows, seed=seed)


def gappy(table: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return a table of numbers with 3 % of its values missing."""
    rng = np.random.default_rng(seed)
    return {name: np.where(rng.random(len(v)) < 0.03, np.nan, v) for name, v in table.items()}


def statements(table: dict[str, Any]) -> dict[str, Knowledge]:
    """Return knowledge of several kinds over the columns of a table; nothing says that it is true."""
    names = list(table)
    third = max(len(names) // 3, 1)
    return {
        "tiers": Knowledge(tiers=[names[:third], names[third : 2 * third], names[2 * third :]], selection=False),
        "not-causes": Knowledge(
            not_causes=[(names[0], names[1]), (names[2], names[0])], no_edges=[(names[1], names[3])]
        ),
        "edges": Knowledge(edges=[(names[0], names[2])], exogenous=[names[1]]),
        "no-latents": Knowledge(latents=False),
    }


# --- runs -------------------------------------------------------------------------------------------------


def runs() -> Iterator[tuple[str, Run]]:
    """Iterate over all runs by name."""
    yield from _by_kind()
    yield from _with_knowledge()
    yield from _with_budgets()
    yield from _as_told()
    yield from _drawn_again()
    yield from _by_oracle()


def _fit(model: Any, table: Any, **told: Any) -> Run:
    return lambda: model.fit(table, **told).result_


def _methods() -> dict[str, Callable[..., Any]]:
    return {"lmarvel": LMarvel, "fci": FCI, "rfci": RFCI, "mbcs": MBCS, "lift": Lift, "m3hc": M3HC, "auto": Auto}


_VARIANTS: dict[str, Any] = {
    "lmarvel-faithful": LMarvel(faithful=True),
    "lmarvel-chordal": LMarvel(assume_chordal=True, boundary="iamb"),
    "lmarvel-gs": LMarvel(boundary="gs", alpha=0.05),
    "lmarvel-inter": LMarvel(boundary="inter-iamb"),
    "lmarvel-fast": LMarvel(boundary="fast-iamb", selection=False),
    "fci-none": FCI(boundary="none", max_conditioning=3),
    "fci-classic": FCI(possible_d_sep="classic", max_conditioning=4),
    "fci-majority": FCI(colliders="majority"),
    "fci-max-p": FCI(max_p=True, max_conditioning=3),
    "rfci-none": RFCI(boundary="none", max_conditioning=3),
    "rfci-conservative": RFCI(colliders="conservative"),
    "lift-observed": Lift(latents=False),
    "lift-unselected": Lift(selection=False),
    "lift-bic": Lift(penalty=1.0),
    "lift-restarts": Lift(restarts=2, seed=3),
    "lift-auto": Lift(penalty="auto"),
    "m3hc-empty": M3HC(start="empty", max_iterations=40),
    "lmarvel-auto": LMarvel(alpha="auto"),
}


def _by_kind() -> Iterator[tuple[str, Run]]:
    for seed in range(6):
        for name, method in _methods().items():
            yield f"linear-{seed}/{name}", _fit(method(), linear(seed))
    for seed in range(4):
        for name, model in _VARIANTS.items():
            yield f"linear-{seed}/{name}", _fit(model, linear(10 + seed, degree=2.5))
    for name in ("alarm", "insurance", "ecoli70"):
        for method in ("lmarvel", "rfci", "mbcs", "lift"):
            yield f"{name}/{method}", _fit(_methods()[method](), network(name, 5))
    for seed in range(3):
        for name in ("lmarvel", "fci", "rfci", "mbcs", "lift", "auto"):
            yield f"curved-{seed}/{name}", _fit(_methods()[name](test="curved"), curved(seed))
            yield f"discrete-{seed}/{name}", _fit(_methods()[name](), discrete(seed))
            yield f"mixed-{seed}/{name}", _fit(_methods()[name](), mixed(seed))
    for name, method in _methods().items():
        yield f"cars/{name}", _fit(method(), CARS)
        yield f"cars/{name}-rank", _fit(method(test="rank"), CARS)
        if name != "m3hc":
            yield f"wide/{name}", _fit(method(), linear(31, variables=60, rows=55))


def _with_knowledge() -> Iterator[tuple[str, Run]]:
    for seed in range(3):
        table = linear(20 + seed, variables=11, degree=2.5)
        for said, knowledge in statements(table).items():
            for name in ("lmarvel", "fci", "rfci", "mbcs", "lift"):
                yield f"knowledge-{seed}/{name}-{said}", _fit(_methods()[name](knowledge=knowledge), table)
    table = discrete(7)
    for said, knowledge in statements(table).items():
        for name in ("lmarvel", "fci", "lift"):
            yield f"knowledge-discrete/{name}-{said}", _fit(_methods()[name](knowledge=knowledge), table)


def _with_budgets() -> Iterator[tuple[str, Run]]:
    for most in (40, 150, 400):
        for name in ("lmarvel", "fci", "rfci", "mbcs"):
            for told in ("tc", "iamb"):
                model = _methods()[name](max_tests=most, boundary=told)
                yield f"budget-{most}/{name}-{told}", _fit(model, linear(2, degree=4.0))
    for most in (0, 1, 2):
        for name in ("lmarvel", "fci", "rfci", "mbcs", "lift"):
            yield f"sets-of-{most}/{name}", _fit(_methods()[name](max_conditioning=most), linear(3, degree=4.0))


def _as_told() -> Iterator[tuple[str, Run]]:
    table = linear(4)
    gaps = gappy(table, 4)
    rng = np.random.default_rng(1)
    weights, groups = rng.uniform(0.2, 2.0, 400), np.repeat(np.arange(80), 5)
    for name in ("lmarvel", "fci", "lift", "auto"):
        method = _methods()[name]
        yield f"gaps/{name}-drop", _fit(method(), gaps, missing="drop")
        yield f"gaps/{name}-em", _fit(method(), gaps, missing="em")
        yield f"weights/{name}", _fit(method(), table, weights=weights)
        yield f"clusters/{name}", _fit(method(), table, cluster=groups)


def _drawn_again() -> Iterator[tuple[str, Run]]:
    for name in ("lmarvel", "fci", "rfci", "mbcs", "lift"):
        yield f"bootstrap/{name}", _fit(_methods()[name](), linear(6, variables=10), bootstrap=8, seed=2)
    for kind, make in (("discrete", discrete), ("mixed", mixed)):
        yield f"bootstrap/{kind}", _fit(LMarvel(), make(5, rows=300), bootstrap=5, seed=2)
    table = linear(21, variables=8)
    tiers = statements(table)["tiers"]
    yield "bootstrap/knowledge", _fit(LMarvel(knowledge=tiers), table, bootstrap=5, seed=2)
    yield "bootstrap/lift-knowledge", _fit(Lift(knowledge=tiers), table, bootstrap=3, seed=2)
    yield "bootstrap/clusters", _fit(LMarvel(), table, bootstrap=6, seed=1, cluster=np.repeat(np.arange(100), 4))


def _by_oracle() -> Iterator[tuple[str, Run]]:
    for seed in range(8):
        study = hide(erdos_renyi(9, 0.35, seed=seed), 1, 1, seed=seed)
        oracle = MSeparation(study.dag, latent=study.latent, selection=study.selection)
        names = list(study.observed)
        for name in ("lmarvel", "fci", "rfci", "mbcs"):
            yield f"oracle-{seed}/{name}", _fit(_methods()[name](test=oracle), None)
        known = Knowledge(exogenous=[names[0]])
        yield f"oracle-{seed}/lmarvel-exogenous", _fit(LMarvel(test=oracle, knowledge=known), None)


# --- what is kept of a run ---------------------------------------------------------------------------------


def parts_of(run: Run) -> dict[str, str]:
    """Return a digest of each part of what a run gives; of one that is refused, of its message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = run()
        except Exception as error:
            return {"refused": f"{type(error).__name__}: {error}"}
        plain = found.to_dict()
        sepsets = sorted((sorted(pair), sorted(given)) for pair, given in found.sepsets.items())
        score = [None if found.bic is None else found.bic.hex(), None if found.mag is None else str(found.mag)]
        kept = {name: value for name, value in plain.items() if name not in UNSTEADY}
        return {
            "pag": digest(str(found.pag)),
            "sepsets": digest(sepsets),
            "tests": digest({phase: dict(sizes) for phase, sizes in found.stats.tests.items()}),
            "score": digest(score),
            "file": digest(kept),
            "page": digest(str(found)),
        }


def digest(value: Any) -> str:
    """Return a short digest of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def main() -> int:
    """Record, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="runs whose name has this in it")
    parser.add_argument("--parts", default=",".join(PARTS), help="parts to compare, with commas")
    asked = parser.parse_args()
    wanted = {*asked.parts.split(","), "refused"}
    now = {name: parts_of(run) for name, run in runs() if asked.only in name}
    if asked.what == "record":
        asked.file.write_text(json.dumps(now, indent=0, sort_keys=True) + "\n")
        print(f"{len(now)} runs recorded, {sum('refused' in parts for parts in now.values())} of them refusals")
        return 0
    before = {name: parts for name, parts in json.loads(asked.file.read_text()).items() if asked.only in name}
    differ = 0
    for name in sorted({*before, *now}):
        one, other = before.get(name, {}), now.get(name, {})
        parts = [part for part in {*one, *other} if part in wanted and one.get(part) != other.get(part)]
        if parts:
            differ += 1
            print(
                f"{name}: {', '.join(sorted(parts))}",
                *([other["refused"]] if "refused" in parts and "refused" in other else []),
            )
    print(f"{len(now)} runs, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
