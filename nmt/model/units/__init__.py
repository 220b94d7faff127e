"""Recurrent units, for encoder and decoder."""
