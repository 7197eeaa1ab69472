"""Scores: how well a graph fits a table."""
