"""The paper's experiments: what was run, how to run it again, and its tables and figures beside ours.

``plan`` lists the experiments, ``run`` does one run, ``store`` keeps what was finished, ``workers`` spreads runs over
processes or a cluster, ``summary``, ``tables`` and ``figures`` show the outcome, ``reproduce`` puts it all together.
"""
