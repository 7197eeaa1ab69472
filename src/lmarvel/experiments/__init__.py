"""The paper's experiments and our own: what to run, how to run it, and its tables and figures.

``plan`` says what an experiment is, ``paper`` and ``accuracy`` hold them as data, ``catalogue`` lists them; ``methods``
and ``measures`` are the registries of what is run and what is measured, ``peers`` runs programs of others. ``run`` does
one run, ``store`` keeps what was finished, ``workers`` spreads runs over processes or a cluster, ``summary``,
``tables`` and ``figures`` show the outcome, ``reproduce`` puts it all together.
"""
