"""How well a result is supported: its check, its evidence, what recurs in resamples, and the grades that follow."""
