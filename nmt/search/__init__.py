"""Beam search and translation of files."""
