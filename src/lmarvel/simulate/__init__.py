"""Graphs, models and data with known truth.

A :class:`Study` is a DAG some of whose variables are latent or select the sample. :mod:`~lmarvel.simulate.graphs` draws
DAGs, :mod:`~lmarvel.simulate.networks` has well-known ones, :func:`hide` chooses the roles, and a model
(:class:`LinearSEM`, :class:`AdditiveSEM`, :class:`DiscreteNetwork`, :class:`MixedSEM`) draws data from what is seen.

Examples
--------
>>> from lmarvel.simulate import LinearSEM, hide, load_network
>>> study = hide(load_network("alarm"), latent=4, selection=2, seed=1)
>>> data = LinearSEM.random(study.dag, seed=2).sample(study, rows=1550, seed=3)
>>> data.shape, study.pag
((1550, 31), <PAG: 31 nodes, 44 edges>)
"""

from lmarvel.orient.study import Study
from lmarvel.simulate.additive import AdditiveSEM
from lmarvel.simulate.discrete import DiscreteNetwork
from lmarvel.simulate.graphs import bounded_parents, cliques, erdos_renyi, hide, scale_free
from lmarvel.simulate.mixed import MixedSEM
from lmarvel.simulate.networks import NETWORKS, load_network
from lmarvel.simulate.published import PublishedModel, load_model
from lmarvel.simulate.sem import RANGES, LinearSEM, Ranges

__all__ = [
    "NETWORKS",
    "RANGES",
    "AdditiveSEM",
    "DiscreteNetwork",
    "LinearSEM",
    "MixedSEM",
    "PublishedModel",
    "Ranges",
    "Study",
    "bounded_parents",
    "cliques",
    "erdos_renyi",
    "hide",
    "load_model",
    "load_network",
    "scale_free",
]
