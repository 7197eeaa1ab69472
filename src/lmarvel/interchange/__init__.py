"""Graphs in and out: the text forms and objects of other programs.

:func:`lmarvel.interchange.registry.read_graph` and :func:`~lmarvel.interchange.registry.write_graph` work on
files, with the format chosen by the ending or by name. Each format has a module of its own with ``dumps`` and
``loads``: :mod:`text <lmarvel.interchange.text>` (this package's own), :mod:`json_graph
<lmarvel.interchange.json_graph>`, :mod:`dot <lmarvel.interchange.dot>`, :mod:`graphml
<lmarvel.interchange.graphml>`, :mod:`pcalg <lmarvel.interchange.pcalg>`, :mod:`tetrad
<lmarvel.interchange.tetrad>`, :mod:`dagitty <lmarvel.interchange.dagitty>`, :mod:`edge_list
<lmarvel.interchange.edge_list>` and, for writing only, :mod:`mermaid <lmarvel.interchange.mermaid>`. Objects of
other packages are turned by :mod:`networkx_graph <lmarvel.interchange.networkx_graph>` and :mod:`causallearn
<lmarvel.interchange.causallearn>`.

Where a format does not say what kind of graph it holds, the most special kind that fits is returned: a PAG if
there is a circle, else a DAG, else a MAG, else a plain mixed graph.
"""

from lmarvel.interchange import networkx_graph as networkx_graph  # so that graphs have its methods
