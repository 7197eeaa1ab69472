"""The result file: its records as plain data and back, its parts, each checked, and the whole."""
