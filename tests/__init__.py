"""Tests of lmarvel."""
