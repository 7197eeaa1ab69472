"""Effects where statements leave some of the graphs of a class: the graph that they share, and its members."""
