"""Scores: how well a graph fits a table, and the search for the graph that fits best."""
