"""Recurrent units."""
