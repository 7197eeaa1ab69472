"""Programs of others, for comparison: FCI, BOSS and GRaSP of causal-learn, where that is installed.

BOSS and GRaSP learn the class of a DAG; here that is read as the class of a MAG, which its PAG stands for. A program
that cannot be told when to stop runs in a process of its own, which ends itself when its time is up::

    python -m lmarvel.experiments.peers fci 0.01 120 < rows.npy
"""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from lmarvel.errors import ParameterError, PeerError
from lmarvel.estimators.base import Estimator
from lmarvel.graph.kinds import PAG
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.causallearn import from_causallearn
from lmarvel.orient.equivalence import orient_mag
from lmarvel.result.discovery import Discovery
from lmarvel.result.statistics import Statistics
from lmarvel.result.trace import BudgetEnded

_LATE = 124  # what the shell's timeout answers, too
_STARTING = 60.0  # seconds, at the very most, to import everything


@dataclass(kw_only=True, repr=False, eq=False)
class Peer(Estimator):
    """A program of causal-learn with the manners of an estimator.

    Parameters
    ----------
    program : {"fci", "boss", "grasp"}
        Which one.
    alpha : float
        Level of the tests of FCI; the other two score by BIC.
    max_seconds : float, optional
        When to give up; 120 by default.

    Attributes
    ----------
    result_ : Discovery
        Its PAG and its seconds; what led to it is not known.
    """

    program: str = "fci"
    alpha: float = 0.01
    max_seconds: float | None = None

    def check_installed(self) -> None:
        """Say before the work, not after, that causal-learn is missing."""
        if find_spec("causallearn") is None:
            raise ParameterError(f"{self.program} of causal-learn needs causal-learn: pip install causal-learn")

    def fit(self, data: Mapping[str, np.ndarray]) -> Peer:
        """Run the program on named columns."""
        names = tuple(data)
        answer = self._ask(np.column_stack(list(data.values())))
        if answer is None:
            nothing, ended = PAG.from_edges(nodes=names), (BudgetEnded("max_seconds"),)
            self.result_ = Discovery(nothing, {}, {}, Statistics({}, {}), ended)
        else:
            pag = PAG(names, np.array(answer["marks"], dtype=np.int8))
            self.result_ = Discovery(pag, {}, {}, Statistics({}, {"search": answer["seconds"]}))
        return self

    def _ask(self, rows: np.ndarray) -> dict[str, Any] | None:
        """Return the answer of the process, None if it did not finish in time."""
        limit = 120.0 if self.max_seconds is None else self.max_seconds
        stream = io.BytesIO()
        np.save(stream, rows)
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, "-m", __name__, self.program, str(self.alpha), str(limit)]
        try:
            done = subprocess.run(
                command,
                input=stream.getvalue(),
                capture_output=True,
                env=os.environ | threads,
                timeout=limit + _STARTING,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode == _LATE:
            return None
        if done.returncode != 0:
            stderr = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
            raise PeerError(f"{self.program} of causal-learn failed: {stderr[-1]}")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


def _search(program: str) -> Callable[[np.ndarray, float], MixedGraph]:
    """Import a program and return it as a function of rows and level."""
    if program == "fci":
        from causallearn.search.ConstraintBased.FCI import fci

        return lambda rows, alpha: from_causallearn(fci(rows, "fisherz", alpha, show_progress=False)[0])
    if program == "boss":
        from causallearn.search.PermutationBased.BOSS import boss

        return lambda rows, alpha: pag_of_cpdag(from_causallearn(boss(rows, verbose=False)))
    from causallearn.search.PermutationBased.GRaSP import grasp

    return lambda rows, alpha: pag_of_cpdag(from_causallearn(grasp(rows, verbose=False)))


def pag_of_cpdag(cpdag: MixedGraph) -> PAG:
    """Return the PAG of the DAGs that a CPDAG stands for, undirected edges being those of either direction.

    The rules need adjacencies and colliders only, and a CPDAG shows those of all its DAGs.

    Examples
    --------
    >>> print(pag_of_cpdag(MixedGraph.from_edges("A --- B", "B --> D", "C --> D")))
    nodes: A B D C
    A o-o B
    B o-> D
    C o-> D
    """
    return PAG(cpdag.names, orient_mag(cpdag).marks)


def _main(program: str, alpha: str, seconds: str) -> None:
    """Read rows from standard input, run the program, and write its marks and seconds as JSON."""
    warnings.simplefilter("ignore")
    rows = np.load(io.BytesIO(sys.stdin.buffer.read()))
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the programs print as they go
    search = _search(program)
    random.seed(0)  # BOSS and GRaSP shuffle
    clock = threading.Timer(float(seconds), os._exit, (_LATE,))
    clock.daemon = True
    clock.start()
    started = time.perf_counter()
    marks = search(rows, float(alpha)).marks
    with answer:
        json.dump({"seconds": time.perf_counter() - started, "marks": marks.tolist()}, answer)


if __name__ == "__main__":
    _main(*sys.argv[1:])
