"""Graphs of users: true ones, made into the PAG that a learned one is scored against, and those to read effects from.

A truth is a PAG, a MAG or a DAG. Of a DAG some nodes may be hidden: those given, those that a DAGitty text marks as
latent or selected, or those that ``lmarvel simulate`` names in the head of its ``dag.txt``.

Effects are read from a DAG as it is. Where a file has ``<->`` and does not say that it holds a MAG, it is an ADMG: no
unmeasured common cause stands behind an arrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lmarvel.errors import FormatError, GraphError
from lmarvel.graph.kinds import ADMG, DAG, MAG, PAG
from lmarvel.graph.marks import split_names
from lmarvel.graph.mixed import MixedGraph
from lmarvel.graph.projection import without_latent
from lmarvel.interchange.dagitty import loads_study
from lmarvel.interchange.registry import loads, read_content
from lmarvel.orient.equivalence import mag_to_pag
from lmarvel.orient.study import Study


def read_truth(
    path: str | Path, latent: Sequence[str] = (), selection: Sequence[str] = (), format: str | None = None
) -> PAG:
    """Read a true graph and return its PAG over what is observed.

    Parameters
    ----------
    path : str or Path
        A graph in any format that can be read.
    latent, selection : sequences of str
        Nodes of a DAG or MAG that are not measured, or select the sample; added to those that the file names.
    format : str, optional
        The format, where the ending does not tell.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "truth.csv"
    >>> _ = path.write_text("from,to\\nU,A\\nU,B\\nC,B\\n")
    >>> print(read_truth(path, latent=["U"]))
    nodes: A B C
    A o-> B
    C o-> B
    """
    path = Path(path)
    content, form = read_content(path, format)
    try:
        graph = loads(content, form)
        study = _study(graph, content, form)
    except FormatError as error:
        raise error.within(path) from None
    if study is None:
        return pag_of(graph, latent, selection)
    return pag_of(study.dag, (*study.latent, *latent), (*study.selection, *selection))


def read_stated(path: str | Path) -> DAG | ADMG | MAG | PAG:
    """Read a graph that somebody states, to read effects from, without nodes that the file says were not measured.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.txt"
    >>> _ = path.write_text("Z --> X\\nX --> Y\\nZ <-> Y\\n")
    >>> read_stated(path)
    <ADMG: 3 nodes, 3 edges>
    """
    path = Path(path)
    content, form = read_content(path)
    try:
        graph = loads(content, form)
        study = _study(graph, content, form)
    except FormatError as error:
        if form == "text" and (both := _with_two_edges(content)) is not None:
            return both
        raise error.within(path) from None
    if study is not None and study.selection:
        return study.dag.project(study.latent, study.selection)
    if study is not None and study.latent:
        return ADMG(*without_latent(study.dag, study.latent))
    if isinstance(graph, DAG | PAG) or (isinstance(graph, MAG) and _is_said_to_be_a_mag(content, form)):
        return graph
    try:
        return ADMG(graph.names, tuple(graph.edges()))
    except GraphError as error:
        if isinstance(graph, MAG):  # with edges that only selection makes
            return graph
        raise FormatError(str(error), path=path) from None


def _with_two_edges(content: str) -> ADMG | None:
    """Return the graph of a text in which a pair has an arrow and ``<->``; None where it is no ADMG.

    Examples
    --------
    >>> _with_two_edges("X --> Y  # a known effect\\nX <-> Y")
    <ADMG: 2 nodes, 2 edges>
    """
    lines = filter(None, (line.partition("#")[0].strip() for line in content.splitlines()))
    try:
        return ADMG.from_edges(*lines) if "<->" in content else None
    except GraphError:
        return None


def _is_said_to_be_a_mag(content: str, form: str) -> bool:
    """Tell whether a file names the kind, or comes from a program whose graphs without circles are MAGs."""
    if form == "dagitty":
        return content.lstrip().lower().startswith("mag")
    return form in ("pcalg", "tetrad") or (form not in ("text", "edges") and "MAG" in content)


def pag_of(graph: MixedGraph, latent: Sequence[str] = (), selection: Sequence[str] = ()) -> PAG:
    """Return the PAG of a DAG or MAG without its hidden nodes; a PAG stays what it is."""
    latent, selection = tuple(dict.fromkeys(latent)), tuple(dict.fromkeys(selection))
    if isinstance(graph, DAG):
        return Study(graph, latent, selection).pag
    if isinstance(graph, MAG):
        return mag_to_pag(graph.project(latent, selection))
    if latent or selection:
        raise GraphError("only a DAG or a MAG can have latent and selection variables taken out of it")
    if isinstance(graph, PAG):
        return graph
    raise GraphError("the true graph is not a DAG, MAG or PAG: nothing can be scored against it")


def _study(graph: MixedGraph, content: str, form: str) -> Study | None:
    """Return a DAG with the roles that its file gives to nodes; None where the graph is no DAG."""
    if not isinstance(graph, DAG):
        return None
    if form == "dagitty":
        return Study(*loads_study(content))
    roles: dict[str, list[str]] = {"latent": [], "selection": []}
    for line in content.splitlines() if form == "text" else ():
        name, colon, names = line.removeprefix("#").partition(":")
        if line.startswith("#") and colon and name.strip() in roles:
            roles[name.strip()] += split_names(names)
    for node in (*roles["latent"], *roles["selection"]):
        if node not in graph.names:
            raise FormatError(f"the head of the file names {node!r}, which is not a node of its graph")
    return Study(graph, tuple(roles["latent"]), tuple(roles["selection"]))
