"""Markov boundaries: where L-MARVEL starts."""
