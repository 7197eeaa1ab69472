"""The paper's experiments and our own: what to run, how to run it, and its tables and figures.

``plan`` says what an experiment is, ``paper`` and ``studies`` hold them as data, ``sweep`` makes one of what a user
varies; ``methods`` and ``measures`` are the registries of what is run and what is measured, ``peers`` runs programs of
others. ``run`` does one run, here, in processes or on a cluster, ``store`` keeps what was finished, ``summary``,
``tables`` and ``figures`` show the outcome, ``reproduce`` lists the experiments and puts it all together.
"""
