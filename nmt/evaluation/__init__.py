"""Measuring: BLEU, its significance, and what the shortlists cover."""
