"""Orientation: the rules of Zhang (2008), and the way between MAGs and PAGs."""
