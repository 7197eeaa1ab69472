"""The compiled engine: from correlations to a PAG on flat arrays, without Python's lock."""
