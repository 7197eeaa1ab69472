"""GraphML, the XML format that networkx, igraph, Gephi and yEd read.

Marks are the attributes ``at_source`` and ``at_target`` of an edge: ``circle``, ``arrow`` or ``tail``. All edges are
declared as directed, so that readers that know nothing of marks keep source and target apart. An edge without marks
is ``-->`` if it is directed, and ``---`` if not. Where every node has an attribute ``name``, as igraph writes them,
that is the name, and else the identifier is.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from xml.parsers import expat

from lmarvel.errors import FormatError
from lmarvel.graph.marks import Edge, Mark
from lmarvel.graph.mixed import MixedGraph
from lmarvel.interchange.assemble import KINDS, WORDS, Located, assemble, check_names, mark_of, refuse_name
from lmarvel.text import readable

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEYS = {"kind": "graph", "at_source": "edge", "at_target": "edge"}


def dumps(graph: MixedGraph) -> str:
    """Return a graph in GraphML; its kind is kept.

    Examples
    --------
    >>> loads(dumps(MixedGraph.from_edges("A o-> B")))
    <MixedGraph: 2 nodes, 1 edge>
    """
    root = ET.Element("graphml", xmlns=NAMESPACE)
    for key, owner in _KEYS.items():
        ET.SubElement(root, "key", {"id": key, "for": owner, "attr.name": key, "attr.type": "string"})
    body = ET.SubElement(root, "graph", edgedefault="directed")
    ET.SubElement(body, "data", key="kind").text = next(n for n, kind in KINDS.items() if isinstance(graph, kind))
    for name in graph.names:
        if _FORBIDDEN.search(name):
            raise refuse_name(name, "GraphML", "it holds a control character, and XML has no way to write one")
        ET.SubElement(body, "node", id=name)
    for edge in graph.edges():
        element = ET.SubElement(body, "edge", source=edge.a, target=edge.b)
        ET.SubElement(element, "data", key="at_source").text = WORDS[edge.at_a]
        ET.SubElement(element, "data", key="at_target").text = WORDS[edge.at_b]
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def loads(text: str) -> MixedGraph:
    """Read a graph in GraphML; document type definitions, and with them entities, are refused.

    Examples
    --------
    >>> print(loads('<graphml><graph edgedefault="directed"><node id="A"/><node id="B"/>'
    ...             '<edge source="A" target="B"/></graph></graphml>'))
    nodes: A B
    A --> B
    """
    tree = _Tree(text)
    body = _only_graph(tree)
    names = _names(tree, body)
    edges = [_edge(tree, element, names, body) for element in body.iterfind("edge")]
    kind = tree.data(body).get("kind")
    return assemble(list(names.values()), edges, kind if kind in KINDS else None)


class _Tree:
    """The elements of a GraphML text without their namespaces, and the line where each begins."""

    def __init__(self, text: str) -> None:
        self.lines: dict[ET.Element, int] = {}
        self.builder = ET.TreeBuilder()
        self.parser = expat.ParserCreate(namespace_separator="}")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = lambda tag: self.builder.end(tag.rsplit("}", 1)[-1])
        self.parser.CharacterDataHandler = self.builder.data
        try:
            self.parser.Parse(text, True)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            raise FormatError(f"this is not XML: {reason}. Is the file cut off?", error.lineno) from None
        except UnicodeEncodeError:
            raise FormatError("this is not XML: it holds half of a surrogate pair") from None
        self.root = self.builder.close()
        keys = self.root.findall("key")
        self.keys = {key.get("id"): key.get("attr.name", key.get("id", "")) for key in keys}
        self.defaults = {
            (key.get("for"), self.keys[key.get("id")]): text.text or ""
            for key in keys
            for text in key.iterfind("default")
        }

    def _refuse(self, *_: object) -> None:
        raise FormatError("document type definitions are not read: delete the <!DOCTYPE", self.parser.CurrentLineNumber)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = self.builder.start(tag.rsplit("}", 1)[-1], attributes)
        self.lines[element] = self.parser.CurrentLineNumber

    def data(self, element: ET.Element) -> dict[str, str]:
        """Return the attributes of an element by name, with the defaults of those that are not given."""
        attributes = {name: text for (tag, name), text in self.defaults.items() if tag in (element.tag, "all")}
        for child in element.iterfind("data"):
            attributes[self.keys.get(child.get("key"), child.get("key", ""))] = child.text or ""
        return attributes

    def attribute(self, element: ET.Element, name: str) -> str:
        """Return an XML attribute that has to be there."""
        value = element.get(name)
        if value is None:
            raise FormatError(f"this <{element.tag}> has no {name}: give it one", self.lines[element])
        return value


def _only_graph(tree: _Tree) -> ET.Element:
    """Return the graph, and refuse what GraphML has and a graph here has not."""
    graphs = list(tree.root.iter("graph"))
    if tree.root.tag != "graphml" or not graphs:
        raise FormatError("this XML is not GraphML: a <graph> within <graphml> is needed")
    for element in (*graphs[1:], *tree.root.iter("hyperedge")):
        raise FormatError(
            f"a second graph or a hyperedge is not read: delete this <{element.tag}>", tree.lines[element]
        )
    return graphs[0]


def _names(tree: _Tree, graph: ET.Element) -> dict[str, str]:
    """Return the name of each node by its identifier."""
    nodes = graph.findall("node")
    identifiers = [tree.attribute(node, "id") for node in nodes]
    check_names(identifiers)
    named = [tree.data(node).get("name", "") for node in nodes]
    return dict(zip(identifiers, named if named and all(named) else identifiers, strict=True))


def _edge(tree: _Tree, element: ET.Element, names: dict[str, str], graph: ET.Element) -> Located:
    line = tree.lines[element]
    ends = [tree.attribute(element, end) for end in ("source", "target")]
    for end in ends:
        if end not in names:
            raise FormatError(f"this edge names {end!r}, which is not among the nodes: add it there", line)
    directed = element.get("directed", str(graph.get("edgedefault") != "undirected")).lower() == "true"
    attributes = tree.data(element)
    shown = "-".join(map(readable, ends))
    at_a = mark_of(attributes["at_source"], shown, line) if "at_source" in attributes else Mark.TAIL
    plain = Mark.ARROW if directed else Mark.TAIL
    at_b = mark_of(attributes["at_target"], shown, line) if "at_target" in attributes else plain
    return Edge(names[ends[0]], names[ends[1]], at_a, at_b), line
