"""Tests of tables with missing values."""
