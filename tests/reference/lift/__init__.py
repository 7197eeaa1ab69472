"""Lift over its whole length in Python, to be read and to hold the compiled search against; it takes its time."""
