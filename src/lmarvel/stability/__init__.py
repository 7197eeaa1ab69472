"""How firm a result is: the bootstrap, the level, and the graph held against the data."""
