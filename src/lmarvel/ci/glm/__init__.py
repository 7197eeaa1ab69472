"""Generalised linear models of the variables of a table: basis columns, fits, and the test made of their residuals."""
