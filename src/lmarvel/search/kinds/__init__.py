"""Lift on tables of other kinds than numbers: categories by their counts, and groups of columns."""
