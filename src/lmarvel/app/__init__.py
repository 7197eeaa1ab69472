"""The app: a table, what is known, a run, its graph, questions and files, in a browser on this computer.

A :class:`~lmarvel.app.project.Project` is a folder of plain files and the only thing that is kept. The server
(:mod:`~lmarvel.app.server`, behind :mod:`~lmarvel.app.guard`) reads and writes it and computes nothing itself: tables
are read, and graphs learned, in child processes (:mod:`~lmarvel.app.worker`), which can be ended at any time.
"""
