"""Missing values: where they are, moments around them, and completed tables."""
