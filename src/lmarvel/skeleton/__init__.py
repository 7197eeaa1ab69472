"""Skeletons: which variables are adjacent, and what separates the others."""
