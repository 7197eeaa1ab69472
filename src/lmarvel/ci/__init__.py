"""Conditional-independence tests, the search for separating sets, and the ledger that counts them."""
