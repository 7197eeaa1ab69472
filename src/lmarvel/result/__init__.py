"""What a run gives: the graph, everything that led to it, how firm it is, and how it is shown and stored."""
