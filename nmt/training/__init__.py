"""Batches, Adadelta, the loop and its checkpoints."""
