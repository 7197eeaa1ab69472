"""Graphs: marks, mixed graphs and their kinds, m-separation, latent projection."""
