"""Scores, tables and figures."""
