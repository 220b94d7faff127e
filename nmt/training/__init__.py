"""Training: batches, optimizers, updates, the loop and its checkpoints."""
