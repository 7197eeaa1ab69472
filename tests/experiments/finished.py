"""What is on disk while a command runs, seen past its lock."""

import sqlite3
from contextlib import closing


def finished(folder):
    """Return how many runs a results directory holds."""
    try:
        with closing(sqlite3.connect(f"file:{folder}/runs.sqlite?mode=ro&immutable=1", uri=True)) as database:
            return database.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.DatabaseError:  # not there yet, or being written just now
        return 0


def recovered(folder):
    """Return how many runs there are once what a kill cut off is rolled back."""
    with closing(sqlite3.connect(f"{folder}/runs.sqlite")) as database:
        return database.execute("SELECT count(*) FROM runs").fetchone()[0]
