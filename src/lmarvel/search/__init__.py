"""Search by score: the graph with latent and selection nodes that fits a table best."""
