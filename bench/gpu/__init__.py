"""Measurements of a GPU; `python -m bench.gpu` makes them."""
