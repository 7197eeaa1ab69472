"""Random MAGs and PAGs without undirected edges, and dagitty's minimal adjustment sets for every pair of each.

    pip download --no-deps jupyterlab-dagitty==1.0.0 && unzip jupyterlab_dagitty-1.0.0-py3-none-any.whl -d wheel
    python tests/agreement/make_dagitty.py wheel/*.data/data/share/jupyter/labextensions/jupyterlab-dagitty/static

The wheel carries dagitty's own algorithms, which run under Node.js (``ask_dagitty.js``). ``dagitty.json`` holds for
each graph its kind, its edges, and the sets of each pair that has any.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from lmarvel import DAG, MAG, PAG, mag_to_pag

HERE = Path(__file__).parent
GRAPHS, SEED = 60, 11


def random_mag(rng: np.random.Generator) -> MAG:
    """Draw a DAG, and hide some of its nodes."""
    hidden, n = int(rng.integers(0, 4)), int(rng.integers(5, 8))
    names = [f"V{i}" for i in range(n + hidden)]
    chance = rng.uniform(0.2, 0.6)
    arrows = [f"{a} --> {b}" for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < chance]
    return DAG.from_edges(*arrows, nodes=names).project([names[i] for i in rng.permutation(n + hidden)[:hidden]])


def question(graph: MAG | PAG) -> dict[str, object]:
    """Write a graph as dagitty reads it, where a circle is an @ and marks stand on one side of one dash."""
    edges = "; ".join(str(edge).replace("o", "@").replace("--", "-") for edge in graph.edges())
    kind = "pag" if isinstance(graph, PAG) else "mag"
    return {"text": f"{kind} {{ {'; '.join(graph.names)}; {edges} }}", "names": graph.names}


def kept(graph: MAG | PAG, sets: dict[str, list[list[str]]]) -> dict[str, object]:
    """Return what is stored of a graph and its answers."""
    edges = [str(edge) for edge in graph.edges()]
    return {"kind": type(graph).__name__, "nodes": " ".join(graph.names), "edges": edges, "sets": sets}


def main() -> None:
    """Ask, and write what was answered."""
    rng = np.random.default_rng(SEED)
    mags = [random_mag(rng) for _ in range(GRAPHS)]
    graphs: list[MAG | PAG] = [*mags, *(mag_to_pag(mag) for mag in mags)]
    asked = json.dumps([question(graph) for graph in graphs])
    command = ["node", str(HERE / "ask_dagitty.js"), sys.argv[1]]
    told = json.loads(subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout)
    lines = ",\n".join(json.dumps(kept(graph, sets)) for graph, sets in zip(graphs, told, strict=True))
    (HERE / "dagitty.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
