"""Beam search, and the commands that translate and score text with a trained model."""
