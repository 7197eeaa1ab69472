"""Published networks with their parameters, so that tables have the strengths of the models that people compare on.

Two formats are read: the Bayesian interchange format (BIF), which has a table of chances for each variable, and JSON
of linear Gaussian networks that pgmpy packages (``nodes``, ``arcs`` and ``cpds``, with coefficients and a variance for
each variable). A model is given as a file, or by its name where pgmpy is installed, whose wheel carries the networks of
the Bayesian network repository. pgmpy itself is not imported.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.errors import DataError
from lmarvel.graph.kinds import DAG
from lmarvel.graph.marks import Edge, Mark
from lmarvel.orient.study import Study
from lmarvel.simulate.discrete import MAX_CELLS, DiscreteNetwork
from lmarvel.simulate.graphs import Seed
from lmarvel.simulate.networks import bif_family, bif_tokens, checked_dag, read_network_text
from lmarvel.simulate.sem import LinearSEM
from lmarvel.text import did_you_mean

_FORMATS = (".bif", ".json")


@dataclass(frozen=True)
class PublishedModel:
    """A network with the parameters that it was published with.

    Attributes
    ----------
    model : DiscreteNetwork or LinearSEM
        Its structure and parameters.
    states : mapping from names to states
        What the codes of a discrete variable stand for; empty for a linear model.
    intercepts : array
        The constant in the equation of each variable; zero for a discrete one.
    """

    model: DiscreteNetwork | LinearSEM
    states: Mapping[str, tuple[str, ...]]
    intercepts: NDArray[np.float64]

    @property
    def dag(self) -> DAG:
        """Its structure."""
        return self.model.dag

    def sample(self, study: Study, rows: int, *, seed: Seed) -> dict[str, NDArray[Any]]:
        """Draw rows of the observed variables: states by their names, or numbers."""
        drawn = self.model.sample(study, rows, seed=seed)
        if isinstance(self.model, DiscreteNetwork):
            return {name: np.array(self.states[name])[drawn[:, j]] for j, name in enumerate(study.observed)}
        means = np.linalg.solve(np.eye(len(self.dag)) - self.model.weights, self.intercepts)
        return {name: drawn[:, j] + means[self.dag.index(name)] for j, name in enumerate(study.observed)}


def load_model(name: str | Path) -> PublishedModel:
    """Return a network with its published parameters, by name or from a file.

    Parameters
    ----------
    name : str or path
        A file that ends in ``.bif`` or ``.json`` (or that and ``.gz``), or the name of a network that pgmpy has, such
        as alarm, insurance, hepar2, ecoli70 or magic-niab.

    Raises
    ------
    DataError
        If the file is not such a model, or pgmpy is not installed; the message says what to do.

    Examples
    --------
    >>> load_model("nowhere.bif")
    Traceback (most recent call last):
    ...
    lmarvel.errors.DataError: nowhere.bif: there is no such file
    """
    path = Path(name)
    suffix = ([s.lower() for s in path.suffixes if s.lower() != ".gz"] or [""])[-1]
    if suffix not in _FORMATS:
        path = _packaged(str(name))
        suffix = ".json" if path.name.endswith(".json") else ".bif"
    text = read_network_text(path)
    return _from_json(text, str(path)) if suffix == ".json" else _from_bif(text, str(path))


def _packaged(name: str) -> Path:
    """Return the file of a network in pgmpy's wheel."""
    found = find_spec("pgmpy")
    if found is None or not found.submodule_search_locations:
        raise DataError(
            f"the parameters of {name!r} come with pgmpy, which is not installed:"
            " pip install pgmpy --no-deps, or give a file that ends in .bif or .json"
        )
    folder = Path(found.submodule_search_locations[0]) / "utils" / "example_models"
    there = {path.name.split(".")[0]: path for ending in (".bif.gz", ".json") for path in folder.glob(f"*{ending}")}
    wanted = name.replace("_", "-")
    if wanted not in there:
        meant = did_you_mean(wanted, tuple(sorted(there)))
        raise DataError(f"pgmpy has no parameters of {name!r}: give a file that ends in .bif or .json{meant}")
    return there[wanted]


# --- tables of chances ------------------------------------------------------------------------------------

_Rows = dict[tuple[str, ...], list[str]]


def _from_bif(text: str, source: str) -> PublishedModel:
    """Read variables with their states, and the chances of each given its parents."""
    states: dict[str, tuple[str, ...]] = {}
    families: dict[str, tuple[list[str], _Rows]] = {}
    tokens = bif_tokens(text)
    for token in tokens:
        if token == "network":
            next(tokens, "")  # its name, which may be any word
            _statements(tokens)
        elif token == "variable":
            name = next(tokens, "").strip('"')
            states[name] = _states(_statements(tokens), name, source)
        elif token == "probability":
            child, *parents = bif_family(tokens, source)
            families[child] = parents, _chances(_statements(tokens), child, parents, source)
    if not states:
        raise DataError(f"{source} names no variable: a BIF file has 'variable NAME {{ ... }}' blocks")
    edges = [Edge(p, child, Mark.TAIL, Mark.ARROW) for child, (parents, _) in families.items() for p in parents]
    dag = checked_dag(edges, list(states), source)
    tables = {}
    for name in states:
        if name not in families:
            raise DataError(f"{source} has no chances of {name!r}: a 'probability ( {name} )' block is missing")
        tables[dag.index(name)] = _table(name, *families[name], states, dag, source)
    return PublishedModel(DiscreteNetwork(dag, tables), states, np.zeros(len(dag)))


def _statements(tokens: Iterator[str]) -> list[list[str]]:
    """Return the statements of a block in braces; each ends with a semicolon, and may hold braces itself."""
    statements: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        if token == "{":
            depth += 1
            if depth == 1:
                continue
        elif token == "}":
            depth -= 1
            if depth <= 0:
                break
        if token == ";" and depth == 1:
            statements.append([])
        else:
            statements[-1].append(token)
    return [statement for statement in statements if statement]


def _states(statements: list[list[str]], name: str, source: str) -> tuple[str, ...]:
    for statement in statements:
        if statement[0] == "type" and "{" in statement:
            inside = statement[statement.index("{") + 1 :]
            states = tuple(token.strip('"') for token in inside if token not in (",", "}"))
            if len(set(states)) == len(states) > 0:
                return states
    raise DataError(f"{source}: {name!r} needs 'type discrete [ K ] {{ STATE, ... }};' with different states")


def _chances(statements: list[list[str]], child: str, parents: list[str], source: str) -> _Rows:
    """Return the chances by the states of the parents; those of every other state stand under an empty key."""
    rows: _Rows = {}
    for statement in statements:
        if statement[0] == "(" and ")" in statement:
            end = statement.index(")")
            key = tuple(token.strip('"') for token in statement[1:end] if token != ",")
            if len(key) != len(parents) or not parents:
                raise DataError(f"{source}: the chances of {child!r} need one state for each of its parents")
            rows[key] = [token for token in statement[end + 1 :] if token != ","]
        elif statement[0] == "default" or (statement[0] == "table" and not parents):
            rows[()] = [token for token in statement[1:] if token != ","]
        elif statement[0] == "table":
            raise DataError(
                f"{source}: write the chances of {child!r} in rows, '( STATE, ... ) P1, P2;', not as one table"
            )
    return rows


def _table(
    name: str, parents: list[str], rows: _Rows, states: Mapping[str, tuple[str, ...]], dag: DAG, source: str
) -> NDArray[np.float64]:
    """Return chances with an axis for each parent, in the order of the DAG, and a last one for the variable."""
    shape = [len(states[v]) for v in (*parents, name)]
    if math.prod(shape) > MAX_CELLS:
        raise DataError(f"{source}: the table of {name!r} has {math.prod(shape):,} cells, above {MAX_CELLS:,}")
    table = np.full(shape, np.nan)
    places = [{state: k for k, state in enumerate(states[p])} for p in parents]
    if any(len(numbers) != shape[-1] for numbers in rows.values()):
        raise DataError(f"{source}: {name!r} needs {shape[-1]} chances in each row")
    try:
        for key in sorted(rows, key=len):  # the default comes first
            at = tuple(place[state] for place, state in zip(places, key, strict=False))
            table[at] = [float(number) for number in rows[key]]
    except KeyError as wrong:
        raise DataError(f"{source}: the chances of {name!r} name the unknown state {wrong.args[0]!r}") from None
    except ValueError:
        raise DataError(f"{source}: {name!r} has chances that are not numbers") from None
    total = table.sum(axis=-1, keepdims=True)
    if not (np.isfinite(table).all() and (table >= 0).all() and (np.abs(total - 1) < 0.05).all()):
        raise DataError(f"{source}: the chances of {name!r} are incomplete, or a row does not add up to 1")
    order = [parents.index(p) for p in sorted(parents, key=dag.index)]
    return np.ascontiguousarray(np.transpose(table / total, (*order, len(parents))))


# --- linear Gaussian equations ----------------------------------------------------------------------------


def _from_json(text: str, source: str) -> PublishedModel:
    """Read nodes, arcs, and for each node coefficients by parent, ``(Intercept)`` among them, and a variance."""
    try:
        read = json.loads(text)
        names, arcs, cpds = [str(v) for v in read["nodes"]], read["arcs"], read["cpds"]
        edges = [Edge(str(a), str(b), Mark.TAIL, Mark.ARROW) for a, b in arcs]
        equations = {v: (cpds[v]["coefficients"], float(_only(cpds[v]["variance"]))) for v in names}
    except (ValueError, TypeError, KeyError, RecursionError) as wrong:
        raise DataError(
            f"{source} is not a linear Gaussian network ('nodes', 'arcs', 'cpds' with 'coefficients' and 'variance'):"
            f" {type(wrong).__name__} {wrong}"
        ) from None
    dag = checked_dag(edges, names, source)
    weights, intercepts, deviations = np.zeros((len(dag), len(dag))), np.zeros(len(dag)), np.zeros(len(dag))
    for name, (coefficients, variance) in equations.items():
        v = dag.index(name)
        parents = {dag.names[p] for p in range(len(dag)) if dag.masks.parents[v] >> p & 1}
        try:
            values = {str(key): float(_only(value)) for key, value in coefficients.items()}
        except (ValueError, TypeError, AttributeError):
            raise DataError(f"{source}: the coefficients of {name!r} are not numbers by parent") from None
        intercepts[v] = values.pop("(Intercept)", 0.0)
        if set(values) != parents:
            raise DataError(f"{source}: the coefficients of {name!r} are not those of its parents")
        if not (variance > 0 and all(map(math.isfinite, (variance, intercepts[v], *values.values())))):
            raise DataError(f"{source}: {name!r} needs finite coefficients and a variance above 0")
        deviations[v] = math.sqrt(variance)
        for parent, value in values.items():
            weights[v, dag.index(parent)] = value
    return PublishedModel(LinearSEM(dag, weights, deviations), {}, intercepts)


def _only(value: Any) -> Any:
    """Return the one element of a list, or what is not in a list itself."""
    if isinstance(value, list):
        (value,) = value
    return value
